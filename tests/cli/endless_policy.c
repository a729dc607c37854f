/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A policy that never comes to rest, for the test of that. For a scenario of exactly two jobs in one
 * queue: first come first served as the example, but whoever waits has the one that runs evicted.
 */
#define fleetsim_policy example_policy
#include "docs/examples/fifo_policy/fifo.c"
#undef fleetsim_policy

#define BEING_EVICTED INT64_MAX /* as the time of creation */

static void endless_input(void *ctx, int64_t now, const struct policy_input *in, struct policy_outputs *out)
{
    struct fifo *p = ctx;
    if (in->kind != POLICY_IN_RELEASED) {
        fifo_input(ctx, now, in, out);
        return;
    }
    leave(p, in->workload);
    p->workloads[in->workload].created_ns = now; /* behind the other one */
    enqueue(p, in->workload);
}

static enum policy_cycle endless_cycle(void *ctx, int64_t now, struct policy_outputs *out)
{
    struct fifo *p = ctx;
    struct queue *q = &p->queues[0];
    enum policy_cycle result = fifo_cycle(ctx, now, out);
    if (result != POLICY_CYCLE_IDENTICAL || q->count != 1 || q->admitted != 1)
        return result;
    uint32_t waits = q->head, runs = 1 - waits;
    if (p->workloads[runs].created_ns == BEING_EVICTED)
        return result;
    p->workloads[runs].created_ns = BEING_EVICTED;
    append(out, (struct policy_output){.kind = POLICY_DO_EVICT,
                                       .workload = runs,
                                       .time_ns = now,
                                       .u.evict = {.reason = POLICY_EVICT_IN_CLUSTER_QUEUE, .preemptor = waits}});
    return POLICY_CYCLE_CHANGED;
}

const struct policy_ops *fleetsim_policy(void);

const struct policy_ops *fleetsim_policy(void)
{
    (void)example_policy;
    static const struct policy_ops ops = {.abi = POLICY_ABI,
                                          .size = sizeof ops,
                                          .name = "endless",
                                          .create = fifo_create,
                                          .destroy = fifo_destroy,
                                          .register_shape = fifo_register_shape,
                                          .input = endless_input,
                                          .cycle = endless_cycle,
                                          .repeat = fifo_repeat,
                                          .observed = fifo_observed,
                                          .due = fifo_due,
                                          .next_due = fifo_next_due,
                                          .idle_limit = fifo_idle_limit,
                                          .place = fifo_place,
                                          .quota = fifo_quota,
                                          .pending_count = fifo_pending_count,
                                          .admitted_count = fifo_admitted_count,
                                          .pending = fifo_pending,
                                          .reason = fifo_reason,
                                          .share = fifo_share,
                                          .release_outputs = fifo_release_outputs};
    return &ops;
}
