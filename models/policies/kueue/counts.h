/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an instance of the Kueue engine has decided, and what that cost. A decision is one line of
 * the real scheduler's log: one head of one queue in one cycle, with its outcome (admitted,
 * preempting, skipped, requeued or parked). It counts whether it was
 *
 *   evaluated  computed: flavors, modes, victims, processing
 *   proven     a proof stood in for the evaluation (fast.h), and its class was parked
 *   repeated   the head met the state that it had met before, in a tree that nothing had changed
 *
 * The three together are the same with proofs and without, and without them they are what
 * `record_entries` writes. Not counted: cycles that the host has repeated because nothing more
 * follows (idle), and workloads that are parked or woken with their class, although the real
 * controller touches them one by one.
 */
#ifndef MODELS_POLICIES_KUEUE_COUNTS_H
#define MODELS_POLICIES_KUEUE_COUNTS_H

#include <stdint.h>

struct kq_counts {
    uint64_t cycles; /* with those that were counted and not run */
    uint64_t evaluated, proven, repeated;
    uint64_t idle; /* heads of the cycles that `repeat` counted */
    uint64_t proofs; /* work: one class, or the bounds of one queue, against the state */
};

static inline uint64_t kq_decisions(const struct kq_counts *c)
{
    return c->evaluated + c->proven + c->repeated;
}

/* Of an instance made by policy_kueue()->create. */
struct kq_counts kq_counts_of(const void *policy);

#endif
