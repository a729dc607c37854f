/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast a gang runs on the nodes that it got (models/demand/communication.h over
 * models/fleet/span.h). Part of its computing time goes into waiting for the network: the cards look
 * busy (nvidia-smi counts the kernels that wait), the work does not advance. The ledger books it as
 * `sharing_overhead`, the bucket of design 3.3 for computing that is neither useful nor rework, so useful
 * card-time of a job is its work, wherever it ran. With packed durations the work holds what the network
 * takes at the best placement, and only what comes on top is overhead.
 */
#ifndef MODELS_WORLD_GANG_SPEED_H
#define MODELS_WORLD_GANG_SPEED_H

#include "models/world/record_text.h"

/* Of jobs whose stream has a communication model. */
struct gang_network {
    i128 *computed, *lost; /* [pool] mcns; computed: useful or again */
    uint64_t runs, across; /* begun on several nodes; of them: leaving an innermost domain */
};

void gang_init(struct world *w);
/* Part of its speed that the network leaves a gang whose run begins now, ppm, 1 .. SPEED_ONE. */
int32_t gang_speed_ppm(struct world *w, const struct job *j);
/* "; two nodes, across level rack: speed 0.7500", of a job with a model that has its cards; else nothing. */
void gang_say(struct record_text *t, const struct world *w, uint32_t job);
/* That part of an amount. */
i128 gang_part(i128 mcns, int32_t ppm);
/* The workload of a job computed so much and lost so much. */
void gang_note(struct world *w, uint32_t wl, i128 computed, i128 lost);
/* So far, in a pool or LEDGER_ANY; card-time of the streams without a model is not in it. */
i128 gang_lost(const struct world *w, int32_t pool);
i128 gang_computed(const struct world *w, int32_t pool);
void gang_emit(struct world *w);

#endif
