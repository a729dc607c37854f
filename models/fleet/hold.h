/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker on a certain node: room kept for it there, and placing it there. For preemptors, whose
 * node kube-scheduler notes as status.nominatedNodeName. It lets another pod of no higher
 * priority on a node only if that fits beside the nominated ones (RunFilterPluginsWithNominatedPods,
 * kubernetes/kubernetes, pkg/scheduler/framework/runtime/framework.go); here the room is taken while the
 * other one is placed, so that every mechanism and placement rule keeps to it.
 */
#ifndef MODELS_FLEET_HOLD_H
#define MODELS_FLEET_HOLD_H

#include "models/fleet/fleet.h"

/* Takes into the lease what is there now of what one worker of the request needs on the node; give it
 * back with fleet_release. What is missing is still in use, so that no more can be taken:
 *  - amounts and whole cards: as many as are free;
 *  - a share: the card where it fits; replicas: as many as are free;
 *  - when a share, or some of the whole cards, are missing: all that is left of the shared cards on which
 *    the `leaving` parts lie. They go, and these cards are what the worker waits for. (An instance of a MIG
 *    layout is taken or not: nothing else need be kept.)
 * Placement rules see the node as full as that. */
void fleet_hold(struct fleet *f, struct lease_id lease, int32_t node, const struct place_request *req,
                const struct lease_part *leaving, int32_t leaving_count);

/* Adds one worker of the request on this node, if it fits there, as fleet_place does. */
bool fleet_place_on(struct fleet *f, struct lease_id lease, int32_t node, const struct place_request *req);

#endif
