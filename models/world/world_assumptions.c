/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The assumptions that mattered for this run, in words of a planner: each with its value, source
 * class and the share of the fleet's card time that it touches, so that `run` can print the
 * largest. All assumptions, also those without a share: docs/fidelity.md.
 */
#include <stdio.h>

#include "models/world/gang_speed.h"
#include "models/world/tables.h"
#include "models/world/world_managed.h"
#include "models/world/world_priv.h"
#include "models/world/world_sharing.h"

/* Part of capacity, 0..1. */
static double share(const struct world *w, i128 mcns)
{
    double part = i128_ratio(mcns, ledger_capacity_integral(w->ledger, LEDGER_ANY, LEDGER_ANY));
    return part < 1.0 ? part : 1.0; /* more may be offered than there is */
}

static i128 sum_of(const struct world *w, enum ledger_bucket bucket, int32_t team, int32_t cls)
{
    struct ledger_query q = ledger_query_all();
    q.bucket = (int32_t)bucket;
    q.team = team;
    q.workload_class = cls;
    return ledger_sum(w->ledger, q);
}

struct claim {
    const char *name, *value, *source, *confidence;
};

static void say(struct world *w, struct claim c, double touches)
{
    if (!(touches > 0))
        return;
    struct record_value v[] = {rec_int(w->opt.run_id), rec_text(c.name),       rec_text(c.value),
                               rec_text(c.source),     rec_text(c.confidence), rec_real(touches)};
    record_row(&w->opt.sink, &table_assumption, v);
}

/* ---- demand ---- */

static void say_demand(struct world *w)
{
    say(w, (struct claim){"demand is drawn from distributions, not recorded",
                          "arrivals, sizes, run times and traffic of the scenario", "scenario", "A"},
        share(w, w->offered_drawn));
}

/* More than one card type among those that the stream may run on. */
static bool mixed_cards(const struct world *w, int32_t stream)
{
    const struct source_pools *sp = &w->sources[stream];
    int32_t card = -1;
    struct queue_config q = w->s->quota.queues[w->s->demand.streams[stream].queue];
    for (int32_t i = 0; i < q.quota_count; i++)
        for (int32_t k = 0; q.quotas[i].resource < 0 && k < sp->counts[q.quotas[i].flavor]; k++) {
            int32_t c = w->s->fleet.pools[sp->pools[q.quotas[i].flavor][k]].card;
            if (card >= 0 && c != card)
                return true;
            card = c;
        }
    return false;
}

static void say_training(struct world *w)
{
    i128 computing = sum_of(w, LEDGER_TRAINING_USEFUL, LEDGER_ANY, LEDGER_CLASS_TRAINING) +
                     sum_of(w, LEDGER_TRAINING_REWORK, LEDGER_ANY, LEDGER_CLASS_TRAINING);
    say(w, (struct claim){"a gang's speed does not depend on which nodes of a pool it gets",
                          "measured loss 2-5 % from 8 to 128 cards on a fast fabric",
                          "workload-models 4.3", "D"},
        share(w, computing - gang_computed(w, LEDGER_ANY)));
    say(w, (struct claim){"a gang loses speed to the network as its communication model says; traffic of others is not seen",
                          "published fits 6-9 % mean error; domains by oversubscription", "workload-models 4.3", "D"},
        share(w, gang_computed(w, LEDGER_ANY) + gang_lost(w, LEDGER_ANY)));
    i128 mixed = 0;
    for (int32_t t = 0; t < w->s->quota.team_count; t++) {
        bool any = false;
        for (int32_t k = 0; k < w->s->demand.stream_count; k++) {
            const struct job_stream_config *c = &w->s->demand.streams[k];
            any |= c->team == t && c->cls == CLASS_TRAINING && !c->reference_speed && mixed_cards(w, k);
        }
        if (any)
            mixed += sum_of(w, LEDGER_TRAINING_USEFUL, t, LEDGER_CLASS_TRAINING);
    }
    say(w, (struct claim){"a job runs equally long on every card type that it may get",
                          "referenceSpeed false", "scenario", "A"},
        share(w, mixed));
    char text[64];
    (void)snprintf(text, sizeof text, "%s, %.0f s grace", w->arb->checkpoint ? "checkpoints as configured" : "none",
                   sim_time_seconds(w->arb->eviction_grace));
    say(w, (struct claim){"a preempted job loses its work since the last checkpoint; none is written at the end",
                          text, "cache-and-checkpoint 5", "A"},
        share(w, sum_of(w, LEDGER_TRAINING_REWORK, LEDGER_ANY, LEDGER_ANY)));
    say(w, (struct claim){"a job that takes a whole card is idle on it when it has nothing for it to do",
                          "its duty; of LoRA jobs without one their share", "workload-models 5.3", "A"},
        share(w, sum_of(w, LEDGER_INPUT_WAIT, LEDGER_ANY, LEDGER_ANY)));
}

/* ---- inference ---- */

static void say_inference(struct world *w)
{
    i128 ready = sum_of(w, LEDGER_SERVING, LEDGER_ANY, LEDGER_ANY) +
                 sum_of(w, LEDGER_SERVING_HEADROOM, LEDGER_ANY, LEDGER_ANY);
    char text[96];
    (void)snprintf(text, sizeof text, "steps of %.0f s; means within 6 %% of event simulations",
                   sim_time_seconds(w->s->demand.traffic_step));
    say(w, (struct claim){"latency comes from queueing formulas per traffic step, not from single requests",
                          text, "workload-models 2", "D"},
        share(w, ready));
    i128 llm = 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        llm += w->llm_held[p];
    say(w, (struct claim){"the speed of LLM replicas follows the scenario's laws",
                          "fitted to published runs 0.4-6 %, from data sheets 10-30 %",
                          "workload-models 1.8, 1.10", "D"},
        share(w, llm));
    if (w->arb->scaler == SCALER_NONE) {
        say(w, (struct claim){"replicas stay at maxReplicaCount, sized for the peak", "no scaler", "scenario", "A"},
            share(w, ready));
        return;
    }
    (void)snprintf(text, sizeof text, "targetLoad %.2g", w->s->scaling.target_load);
    say(w, (struct claim){"the scaler leaves a part of what a replica could carry within its SLO as headroom",
                          text, "scenario", "A"},
        share(w, ready));
}

/* ---- fleet and money ---- */

static void say_fleet(struct world *w)
{
    char text[96];
    (void)snprintf(text, sizeof text, "image %.3g, object store %.3g, node disk %.3g GB/s",
                   w->s->transfer.image_bytes_per_s / 1e9, w->s->transfer.store_bytes_per_s / 1e9,
                   w->s->transfer.node_bytes_per_s / 1e9);
    say(w, (struct claim){"a cold start moves image and weights at fixed rates, whoever else loads", text,
                          "cache-and-checkpoint 3, 4", "B"},
        share(w, sum_of(w, LEDGER_STARTING, LEDGER_ANY, LEDGER_ANY) +
                     sum_of(w, LEDGER_LOADING, LEDGER_ANY, LEDGER_ANY)));
    say(w, (struct claim){"a gang is placed whole within one node pool, or waits with its quota", "placement",
                          "ours", "A"},
        share(w, sum_of(w, LEDGER_IDLE_FRAGMENTED, LEDGER_ANY, LEDGER_ANY)));
    i128 unlisted = 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        if (w->s->fleet.pools[p].instance == NULL && w->s->fleet.pools[p].price_uusd_per_node_h > 0)
            unlisted += ledger_capacity_integral(w->ledger, p, LEDGER_ANY);
    say(w, (struct claim){"some node pools cost what the scenario says, not what a price list says",
                          "money only", "scenario", "A"},
        share(w, unlisted));
}

static void say_sharing(struct world *w)
{
    i128 shared = 0, made = 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++) {
        struct share_pool_use *u = &w->sharing->pools[p];
        sharing_advance(u, w->now);
        made += u->made_mcns;
        shared += u->cards.kind != SHARE_WHOLE ? u->shared_ns * SHARE_CARD_MILLI : 0;
    }
    say(w, (struct claim){"tenants of a shared card slow each other by closed forms",
                          "parameters fitted to public measurements, see sharingModel", "gpu-sharing 4.3", "D"},
        share(w, shared));
    say(w, (struct claim){"a MIG instance is made, and destroyed, in a fixed time, and no plugin or scheduler adds to it",
                          "createInstance, destroyInstance: 1 s unless set; no measurement is public", "gpu-sharing 1.6", "A"},
        share(w, made));
}

void assumptions_emit(struct world *w)
{
    say_demand(w);
    say_training(w);
    say_inference(w);
    say_fleet(w);
    say_sharing(w);
}
