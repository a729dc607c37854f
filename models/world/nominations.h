/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What evaluations looked at, beside the rows of table `decision`: each flavor that was tried, with
 * its grade and numbers, as table `nomination`, the shares before and after as `decision_share`, whom
 * fill-back spared as `decision_spared` (docs/results-schema.md). The policy says an
 * evaluation before the decision that came of it; it is held here until the row of that decision is
 * made. Used by worlds and by replays of manifests.
 */
#ifndef MODELS_WORLD_NOMINATIONS_H
#define MODELS_WORLD_NOMINATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "models/policies/policy.h"
#include "sim/arena.h"
#include "sim/record.h"

struct nomination { /* of row `row` of the decisions */
    size_t row;
    struct policy_try tried;
};

struct nomination_share { /* fair sharing, of the same row */
    size_t row;
    const char *queue;
    double before, after; /* thousandths; infinite: weight 0 and borrowing */
};

struct nomination_spared { /* a candidate that fill-back gave back */
    size_t row;
    const char *workload;
};

struct nominations {
    struct nomination *items;
    size_t count, capacity;
    struct nomination_share *kept_shares;
    size_t kept_share_count, kept_share_capacity;
    struct nomination_spared *spared;
    size_t spared_count, spared_capacity;
    struct arena names; /* of the two lists */
    /* the evaluation that has no row yet; its lists are owned */
    bool held;
    uint32_t workload;
    struct policy_try *tries;
    uint32_t *filled_back;
    struct policy_shares *shares;
    size_t try_count, try_capacity, back_count, back_capacity, share_count, share_capacity;
};

struct nomination_names { /* any result may be NULL: not known */
    void *ctx;
    const char *(*flavor)(void *ctx, uint32_t id);
    const char *(*resource)(void *ctx, uint32_t id);
    const char *(*queue)(void *ctx, uint32_t id);
    const char *(*workload)(void *ctx, uint32_t id);
    double (*unit)(void *ctx, uint32_t resource); /* amounts are divided by it: 1000 of milli-cores */
};

void nominations_fini(struct nominations *n);

void nominations_hold(struct nominations *n, const struct policy_evaluation *e);

/* The next row is about this workload (POLICY_NONE: about the group that is told next): what is held
 * for it is kept under that row. False: nothing is. */
bool nominations_take(struct nominations *n, const struct nomination_names *names, uint32_t workload, size_t row);

/* After a take that was true: "; fill-back spared a/x, a/y; share of q 125 before, 250 after". "" when
 * there is nothing of that kind. */
void nominations_text(const struct nominations *n, const struct nomination_names *names, char *text, size_t size);

/* Rows of decision_share and decision_spared. */
void nominations_emit_beside(const struct nominations *n, int64_t run_id, const struct record_sink *sink);

/* Rows of nomination; the number of a decision is its `seq`. */
void nominations_emit(const struct nominations *n, const struct nomination_names *names, int64_t run_id,
                      const struct record_sink *sink);

#endif
