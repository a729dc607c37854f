/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The assumptions that mattered for this run: each with its source class and the share of the
 * fleet's card time that it touches, so that `run` can print the largest (docs/fidelity.md).
 */
#include <stdio.h>

#include "models/world/tables.h"
#include "models/world/world_priv.h"

static double share_of(const struct world *w, const enum ledger_bucket *buckets, size_t n, int32_t cls)
{
    i128 sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct ledger_query q = ledger_query_all();
        q.bucket = (int32_t)buckets[i];
        q.workload_class = cls;
        sum += ledger_sum(w->ledger, q);
    }
    return i128_ratio(sum, ledger_capacity_integral(w->ledger, LEDGER_ANY, LEDGER_ANY));
}

static void say(struct world *w, const char *name, const char *value, const char *source,
                const char *confidence, double touches)
{
    if (!(touches > 0))
        return;
    struct record_value v[] = {rec_int(w->opt.run_id), rec_text(name),       rec_text(value),
                               rec_text(source),       rec_text(confidence), rec_real(touches)};
    record_row(&w->opt.sink, &table_assumption, v);
}

void assumptions_emit(struct world *w)
{
    static const enum ledger_bucket serving[] = {LEDGER_SERVING, LEDGER_SERVING_HEADROOM};
    static const enum ledger_bucket cold[] = {LEDGER_STARTING, LEDGER_LOADING};
    static const enum ledger_bucket saved[] = {LEDGER_CHECKPOINT_STALL, LEDGER_TRAINING_REWORK};
    static const enum ledger_bucket input[] = {LEDGER_INPUT_WAIT};
    static const enum ledger_bucket run[] = {LEDGER_TRAINING_USEFUL, LEDGER_TRAINING_REWORK};
    static const enum ledger_bucket unplaced[] = {LEDGER_IDLE_FRAGMENTED};
    char text[128];
    say(w, "inference is fluid: queueing formulas per traffic step, not single requests",
        "workload-models 2", "closed forms checked against event simulation, TTFT within 5 %", "D",
        share_of(w, serving, 2, LEDGER_ANY));
    (void)snprintf(text, sizeof text, "store %.3g GB/s, image %.3g GB/s per node",
                   w->s->transfer.store_bytes_per_s / 1e9, w->s->transfer.image_bytes_per_s / 1e9);
    say(w, "cold starts move bytes at fixed rates; links are not contended", text, "scenario", "A",
        share_of(w, cold, 2, LEDGER_ANY));
    say(w, "an eviction loses the work since the last checkpoint; no final checkpoint is written",
        w->arb->checkpoint ? "checkpoints on" : "no checkpoints", "scenario", "A",
        share_of(w, saved, 2, LEDGER_CLASS_TRAINING));
    say(w, "training speed does not depend on which nodes a gang gets", "one pool per gang",
        "workload-models 4.3: 2-5 % from 8 to 128 cards on a fast fabric", "D",
        share_of(w, run, 2, LEDGER_CLASS_TRAINING));
    say(w, "a LoRA job on a whole card computes for its share of the time", "share = duty cycle",
        "workload-models 5.3", "A", share_of(w, input, 1, LEDGER_CLASS_LORA));
    say(w, "a gang is placed in one node pool or not at all", "placement", "ours", "A",
        share_of(w, unplaced, 1, LEDGER_ANY));
}
