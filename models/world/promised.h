/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes promised to preemptors, which kube-scheduler calls nominated (status.nominatedNodeName):
 *
 *  - A preemptor is promised the nodes of its plan, one entry per worker, until it has a place anywhere, no
 *    longer wants one, finds neither room nor victims, or a higher priority preempts on one of the nodes
 *    (getLowerPriorityNominatedPods in framework/preemption; a gang then loses all of its entries).
 *  - Who has no higher priority than a promise gets room on its node only beside the promised workers
 *    (RunFilterPluginsWithNominatedPods). Nodes are chosen as if nothing were promised (kube-scheduler's scores
 *    know of no nominated pods); when one of them has promised room, that is held (models/fleet/hold.h) and they
 *    are chosen again. So what finds no room at all costs nothing more.
 *  - A single worker tries its promised node first, then all others (evaluateNominatedNode).
 *
 * Nothing is promised without schedulerPreemption; then each of these calls is one test.
 */
#ifndef MODELS_WORLD_PROMISED_H
#define MODELS_WORLD_PROMISED_H

#include "models/fleet/preempt.h"
#include "models/world/world_priv.h"

void promised_init(struct world *w, int64_t nodes);
void promised_fini(struct world *w);

/* The unplaced workload has room for one more worker on the node when its victims are gone. */
void promise(struct world *w, uint32_t wl, int32_t node);
/* Nothing is promised to it any more. parts: where it is now, or none. Unless that is where it was promised, others
 * may fit that did not. */
void promised_end(struct world *w, uint32_t wl, const struct lease_part *parts, int32_t count);
/* Have promises left room to others since this was last asked? */
bool promised_room(struct world *w);

/* A workload of lower priority with a promise on the node, or NONE32. */
uint32_t promised_below(const struct world *w, int32_t node, int64_t priority);
/* Do pods still leave the workload's promised nodes for a preemptor? */
bool promised_waits(struct world *w, uint32_t wl);

/* fleet_place in one pool, into an empty lease, beside what is promised to others. */
int32_t promised_place(struct world *w, uint32_t wl, struct lease_id lease, const struct place_request *req,
                       int32_t workers, bool all_or_nothing);
/* Workers promised to others on this node come first in the view. */
void promised_view(const struct world *w, uint32_t wl, struct preempt_view *view, int32_t node);

#endif
