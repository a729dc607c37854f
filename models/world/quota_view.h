/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The quota objects as one arbiter sees them: the scenario's cohorts and queues, changed by the
 * arbiter's switches (borrowing off, strict FIFO, BorrowLimit, overrides of single queues, ...),
 * in the form of policy.h. Resource 0 is the card, resource i + 1 is fleet.resources[i].
 */
#ifndef MODELS_WORLD_QUOTA_VIEW_H
#define MODELS_WORLD_QUOTA_VIEW_H

#include "models/policies/policy.h"
#include "models/world/scenario.h"

/* Everything it points to lives in the arena (and in the scenario). */
struct policy_config *quota_view_config(struct arena *a, const struct scenario *s,
                                        const struct arbiter_config *arb);

/* The queue after the arbiter's changes. */
struct queue_config quota_view_queue(const struct scenario *s, const struct arbiter_config *arb,
                                     int32_t queue);

#endif
