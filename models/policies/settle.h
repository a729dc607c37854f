/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What follows from the events of one instant, until nothing more follows. One function for the
 * simulated world and for the comparison with recorded decisions alike (design, section 3.5). The
 * order is that of the recorder (tests/policies/data/README.md has it in full):
 *
 *   1 objects   2 finished, by name   3 releases due, by name   3a ready and unready, by name
 *   3b timeouts and ends of back-off, by name   3c evictions of 3b that complete at once
 *   3d usage samples   4 submissions, in list order   5 wakes
 *   6 cycles until no active queue has anything or `idle_limit` of them changed nothing. After
 *     each: watch events of the workloads that changed, by name; evictions that complete at once,
 *     by name; wakes that are due at once.
 *
 * A settle belongs to one policy instance. No allocation in steady state.
 */
#ifndef MODELS_POLICIES_SETTLE_H
#define MODELS_POLICIES_SETTLE_H

#include "models/policies/policy.h"

struct settle;

struct settle_config {
    /* Time from an eviction decision to the release of its quota. Negative: the host says when,
     * with settle_release_at from within `apply` or later, or with POLICY_IN_RELEASED. */
    int64_t eviction_ns;
    /* An instant with this many cycles that is not at rest is a loop; 0: no such limit. One in
     * which the same workload is evicted 64 times is one in any case. */
    uint32_t cycle_cap;
};

/* Called with outputs in order, as soon as the step that made them is complete: once after each
 * input, timer, cycle. The host may call settle_release_at and settle_inject from inside. */
struct settle_host {
    void *ctx;
    void (*apply)(void *ctx, int64_t now, const struct policy_output *outputs, size_t count);
    /* Optional: a cycle and what follows from it at once is over; whether it changed anything. */
    void (*cycle)(void *ctx, int64_t now, bool changed);
};

enum settle_status {
    SETTLE_REST,   /* nothing more follows at this instant */
    SETTLE_LOOP,   /* it does not come to rest: cut off, see settle_loop */
    SETTLE_BLOCKED /* a cycle is suspended until some workload is ready (or gone) */
};

/* Workloads that evict each other: victims[i] was evicted for preemptors[i], by rule[i]. */
struct settle_loop {
    int64_t time_ns;
    uint32_t cycles;
    uint32_t count;
    const uint32_t *preemptors, *victims;
    const enum policy_evict_reason *rules;
};

struct settle *settle_create(const struct policy_ops *ops, void *policy,
                             const struct settle_config *config, const struct settle_host *host);
void settle_destroy(struct settle *s);

/* Applies the inputs of instant `now` (sorted here by kind, then by name for workloads; objects
 * and submissions keep their order) and settles. now never goes back. */
enum settle_status policy_settle(struct settle *s, int64_t now, const struct policy_input *inputs,
                                 size_t count);

/* Earliest instant after which something is due by itself: releases, wakes, timeouts, ends of
 * back-off, samples. POLICY_NEVER: nothing. `with_samples` false leaves usage samples out. */
int64_t settle_next(struct settle *s, bool with_samples);

/* The eviction of `workload` completes at t >= now. At t == now it completes in this instant. */
void settle_release_at(struct settle *s, uint32_t workload, int64_t t);

/* From within apply: number, in the instant where it began, of the cycle that the outputs tell of. */
uint32_t settle_cycles(const struct settle *s);

/* The loop found by the last call that returned SETTLE_LOOP, else one seen over time: the same two
 * workloads evicting each other again and again although each instant came to rest. NULL: none. */
const struct settle_loop *settle_loop(struct settle *s);

#endif
