/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What fails on shared cards, and who dies with it (models/fleet/sharing/blast.h): running out of
 * memory when a tenant reaches its peak, and GPU faults that tenants cause. Victims restart as after
 * a failure: jobs from their last checkpoint on the same cards, replicas as new workloads, both after
 * the kubelet's back-off (10 s doubling to 5 min while a tenant fails again and again).
 *
 * Peaks and times of faults are drawn per (workload, start), so that the same job fails by itself at
 * the same points of its life under every arbiter; mechanisms differ in who goes with it.
 */
#ifndef MODELS_WORLD_WORLD_INCIDENTS_H
#define MODELS_WORLD_WORLD_INCIDENTS_H

#include "models/world/world_priv.h"

/* The workload has just begun to run. It may be gone or starting again when this returns. */
void incident_running(struct world *w, uint32_t wl);
/* Its fault is due (EV_FAULT). */
void incident_fault(struct world *w, uint32_t wl);

/* Delay of a start after so many failures in a row. */
sim_time incident_backoff(uint32_t crashes);

#endif
