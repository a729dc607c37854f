/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/metric_defs.h"

#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const char use[] = "cards in use, %";
static const char idle[] = "cards idle because, %";
static const char training[] = "training jobs";
static const char inference[] = "inference";
static const char cost[] = "cost, same fleet";

/* Tolerances: what a planner would call "the same": one point of a fraction, 5 % of a time or a
 * count that noise moves, 1 % of money. */
static const struct metric_def defs[] = {
    {"demand.offered", "fraction", 0, 0.01, "demand", "offered, % of fleet",
     "Demand offered, as a share of the fleet's card time", METRIC_PERCENT},

    {"utilization.allocated", "fraction", 0, 0.01, use, "allocated (requests)",
     "Allocated: cards that somebody holds", METRIC_PERCENT},
    {"utilization.real", "fraction", 1, 0.01, use, "real (computing)",
     "Real utilisation: cards that compute", METRIC_PERCENT},
    {"utilization.useful", "fraction", 1, 0.01, use, "useful (no rework)",
     "Useful: computing without rework and sharing overhead", METRIC_PERCENT},
    {"utilization.work", "fraction", 1, 0.01, use, "work done of possible",
     "Work: work done of the work all cards could do", METRIC_PERCENT},

    {"idle.no_demand", "fraction", 0, 0.01, idle, "nobody wants them",
     "Idle: nobody wants the card", METRIC_PERCENT},
    {"idle.quota", "fraction", -1, 0.01, idle, "quota forbids",
     "Idle while a workload waits for quota", METRIC_PERCENT},
    {"idle.blocked", "fraction", -1, 0.01, idle, "queue blocked",
     "Idle while a workload waits for its turn or for more cards", METRIC_PERCENT},
    {"idle.fragmented", "fraction", -1, 0.01, idle, "no place fits",
     "Idle while an admitted workload finds no place that fits", METRIC_PERCENT},
    {"idle.reserved", "fraction", -1, 0.01, idle, "held in reserve", "Idle: held in reserve",
     METRIC_PERCENT},

    {"training.wait.p50", "seconds", -1, 0.05, training, "wait, median",
     "Wait of a training job, median", METRIC_DURATION},
    {"training.wait.p95", "seconds", -1, 0.05, training, "wait, 95th percentile",
     "Wait of a training job, 95th percentile", METRIC_DURATION},
    {"training.unfinished", "card-hours", -1, 0.05, training, "unfinished, card-h",
     "Work not finished at the end", METRIC_AMOUNT},
    {"training.rework", "card-hours", -1, 0.05, training, "rework, card-h",
     "Work done again after evictions and failures", METRIC_AMOUNT},
    {"training.lost", "card-hours", -1, 0.05, training, "lost, card-h",
     "Work that evictions and failures threw away", METRIC_AMOUNT},
    {"training.preemptions", "count", -1, 0.05, training, "preemptions",
     "Training jobs preempted", METRIC_COUNT},
    {"training.failed", "count", -1, 0.05, NULL, "given up", "Training jobs given up after their retries",
     METRIC_COUNT},
    {"training.abandoned", "card-hours", -1, 0.05, NULL, "given up, card-h",
     "Work left in training jobs that were given up", METRIC_AMOUNT},
    {"training.network_loss", "card-hours", -1, 0.05, training, "lost to network, card-h",
     "Card-hours that training gangs waited for the network", METRIC_AMOUNT},
    {"training.gang_speed", "fraction", 1, 0.01, training, "gang speed, %",
     "Speed that the network leaves training gangs", METRIC_PERCENT},
    {"training.across_domains", "fraction", 0, 0.05, NULL, "gangs across, %",
     "Gangs on several nodes that leave an innermost network domain", METRIC_PERCENT},
    {"training.started", "count", 1, 0.01, NULL, "jobs started", "Training jobs started",
     METRIC_COUNT},
    {"training.finished", "count", 1, 0.01, NULL, "jobs finished", "Training jobs finished",
     METRIC_COUNT},
    {"training.submitted", "count", 0, 0.0, NULL, "jobs submitted", "Training jobs submitted",
     METRIC_COUNT},
    {"training.evictions", "count", -1, 0.05, NULL, "evictions", "Evictions of training jobs",
     METRIC_COUNT},
    {"scheduler.preemptions", "count", -1, 0.05, NULL, "evicted by the scheduler",
     "Pods and gangs the scheduler evicted for a higher priority", METRIC_COUNT},
    {"scheduler.gangs_broken", "count", -1, 0.05, NULL, "gangs broken",
     "Evictions by the scheduler that stopped a gang of more than one pod", METRIC_COUNT},
    {"scheduler.gang_lost", "card-hours", -1, 0.05, NULL, "gangs broken, card-h",
     "Work such gangs had done since their last checkpoint", METRIC_AMOUNT},
    {"lora.wait.p50", "seconds", -1, 0.05, NULL, "LoRA wait, median", "Wait of a LoRA job, median",
     METRIC_DURATION},
    {"lora.wait.p95", "seconds", -1, 0.05, NULL, "LoRA wait, 95th pct",
     "Wait of a LoRA job, 95th percentile", METRIC_DURATION},
    {"lora.cards_peak", "cards", -1, 0.05, NULL, "LoRA cards, most",
     "Cards that tenants of a base held at most", METRIC_AMOUNT},
    {"lora.cards_mean", "cards", -1, 0.05, NULL, "LoRA cards, mean",
     "Cards that tenants of a base held on average", METRIC_AMOUNT},
    {"lora.stretch", "times", -1, 0.05, NULL, "LoRA time / work",
     "Time from start to end of a LoRA job over its undisturbed run time, mean", METRIC_AMOUNT},
    {"lora.unfinished", "card-hours", -1, 0.05, NULL, "LoRA unfinished, card-h",
     "LoRA work not finished at the end", METRIC_AMOUNT},
    {"lora.rework", "card-hours", -1, 0.05, NULL, "LoRA rework, card-h",
     "LoRA work done again after evictions and failures", METRIC_AMOUNT},
    {"lora.lost", "card-hours", -1, 0.05, NULL, "LoRA lost, card-h",
     "LoRA work that evictions and failures threw away", METRIC_AMOUNT},
    {"lora.preemptions", "count", -1, 0.05, NULL, "LoRA preemptions", "LoRA jobs preempted",
     METRIC_COUNT},
    {"lora.failed", "count", -1, 0.05, NULL, "LoRA given up", "LoRA jobs given up after their retries",
     METRIC_COUNT},
    {"lora.abandoned", "card-hours", -1, 0.05, NULL, "LoRA given up, card-h",
     "Work left in LoRA jobs that were given up", METRIC_AMOUNT},
    {"lora.started", "count", 1, 0.01, NULL, "LoRA jobs started", "LoRA jobs started",
     METRIC_COUNT},
    {"lora.finished", "count", 1, 0.01, NULL, "LoRA jobs finished", "LoRA jobs finished",
     METRIC_COUNT},
    {"lora.submitted", "count", 0, 0.0, NULL, "LoRA jobs submitted", "LoRA jobs submitted",
     METRIC_COUNT},

    {"inference.latency.p50", "seconds", -1, 0.05, inference, "latency, median",
     "Latency of a request, median", METRIC_DURATION},
    {"inference.latency.p99", "seconds", -1, 0.05, inference, "latency, 99th percentile",
     "Latency of a request, 99th percentile", METRIC_DURATION},
    {"inference.slo_attainment", "fraction", 1, 0.001, inference, "within SLO, %",
     "Requests answered within their target", METRIC_PERCENT},
    {"inference.cold_starts", "count", -1, 0.05, inference, "cold starts",
     "Replicas started cold", METRIC_COUNT},
    {"inference.ttft.p50", "seconds", -1, 0.05, NULL, "first token, median",
     "Time to first token, median", METRIC_DURATION},
    {"inference.ttft.p99", "seconds", -1, 0.05, NULL, "first token, 99th pct",
     "Time to first token, 99th percentile", METRIC_DURATION},
    {"inference.arrived", "count", 0, 0.0, NULL, "requests", "Requests arrived", METRIC_COUNT},
    {"inference.served", "count", 1, 0.001, NULL, "served", "Requests served", METRIC_COUNT},
    {"inference.rejected", "count", -1, 0.05, NULL, "rejected", "Requests rejected", METRIC_COUNT},
    {"inference.timed_out", "count", -1, 0.05, NULL, "timed out", "Requests timed out",
     METRIC_COUNT},
    {"inference.queued", "count", -1, 0.05, NULL, "queued at the end",
     "Requests still queued at the end", METRIC_COUNT},
    {"inference.tokens", "tokens", 1, 0.001, NULL, "tokens served", "Tokens served",
     METRIC_AMOUNT},
    {"inference.tokens_arrived", "tokens", 0, 0.0, NULL, "tokens asked", "Tokens of all requests",
     METRIC_AMOUNT},
    {"inference.tokens_lost", "tokens", -1, 0.05, NULL, "tokens lost",
     "Tokens of rejected and timed-out requests", METRIC_AMOUNT},
    {"inference.tokens_queued", "tokens", -1, 0.05, NULL, "tokens queued at the end",
     "Tokens of requests still queued at the end", METRIC_AMOUNT},
    {"sharing.asked", "card-hours", 0, 0.0, NULL, "share asked", "Share of cards a tenant asked for", METRIC_AMOUNT},
    {"sharing.got", "card-hours", 0, 0.0, NULL, "share got", "Share of cards a tenant computed with", METRIC_AMOUNT},
    {"sharing.lost", "card-hours", -1, 0.05, NULL, "share lost", "Share of cards a tenant lost to sharing", METRIC_AMOUNT},
    {"sharing.overhead", "fraction", -1, 0.01, NULL, "lost to sharing, %",
     "Card time lost to switching, hooks and interference", METRIC_PERCENT},
    {"sharing.incidents", "count", -1, 0.05, NULL, "incidents", "Memory failures and GPU faults of tenants",
     METRIC_COUNT},
    {"sharing.victims", "count", -1, 0.05, NULL, "victims of incidents",
     "Workloads that incidents ended", METRIC_COUNT},
    {"sharing.cards_peak", "count", -1, 0.05, NULL, "cards in use at once",
     "Most cards with a tenant at once", METRIC_COUNT},
    {"sharing.cards_mean", "cards", -1, 0.05, NULL, "cards in use, mean", "Cards with a tenant, mean",
     METRIC_AMOUNT},
    {"sharing.instances_made", "count", 0, 0.05, NULL, "MIG instances made", "MIG instances made on request",
     METRIC_COUNT},
    {"sharing.instance_wait", "seconds", -1, 0.05, NULL, "wait for MIG instance",
     "Wait of a tenant until its MIG instance was made, mean", METRIC_DURATION},
    {"replicas.preemptions", "count", -1, 0.05, NULL, "replicas preempted",
     "Inference replicas preempted", METRIC_COUNT},
    {"replicas.mean", "count", 0, 0.05, NULL, "replicas, mean", "Replicas, mean", METRIC_AMOUNT},

    {"cost.nodes", "usd", -1, 0.01, cost, "nodes, usd", "Cost of all nodes", METRIC_MONEY},
    {"cost.engineers", "usd", -1, 0.01, cost, "engineers, usd",
     "Cost of the platform engineers that the option needs", METRIC_MONEY},
    {"cost.total", "usd", -1, 0.01, cost, "total, usd", "Cost in total: nodes or managed bills, and engineers",
     METRIC_MONEY},
    {"cost.per_million_tokens", "usd", -1, 0.01, cost, "per million tokens, usd",
     "Cost per million tokens served", METRIC_MONEY},
    {"cost.per_useful_card_hour", "usd", -1, 0.01, cost, "per useful card-h, usd",
     "Cost per useful card-hour", METRIC_MONEY},
    {"managed.throttled", "fraction", -1, 0.01, "managed service", "requests refused, %",
     "Requests refused by the managed service", METRIC_PERCENT},
    {"managed.per_job_card_hour", "usd", -1, 0.01, "managed service", "per billed card-h, usd",
     "Price of a card-hour billed for managed jobs", METRIC_MONEY},
    {"managed.job_card_hours", "card-hours", 0, 0.05, "managed service", "billed jobs, card-h",
     "Card-hours billed for managed jobs", METRIC_AMOUNT},

    {"quota.nominal", "cards", 0, 0.0, NULL, "quota", "Quota, cards", METRIC_AMOUNT},
    {"quota.used", "cards", 0, 0.05, NULL, "used", "Quota used, mean cards", METRIC_AMOUNT},
    {"quota.lent", "cards", 0, 0.05, NULL, "lent", "Lent to others, mean cards", METRIC_AMOUNT},
    {"quota.borrowed", "cards", 0, 0.05, NULL, "borrowed", "Borrowed, mean cards", METRIC_AMOUNT},
    {"useful", "card-hours", 1, 0.01, NULL, "useful, card-h", "Useful card-hours", METRIC_AMOUNT},
};

static const struct bucket_def buckets[] = {
    {"serving", "computing", "serving a request"},
    {"training_useful", "computing", "training, new work"},
    {"lora_useful", "computing", "LoRA tuning"},
    {"training_rework", "rework", "training, done again"},
    {"sharing_overhead", "rework", "overhead of sharing a card or a network"},
    {"serving_headroom", "waiting", "replica ready, no request"},
    {"starting", "waiting", "starting"},
    {"loading", "waiting", "loading weights or data"},
    {"gang_wait", "waiting", "waiting for the rest of a gang"},
    {"input_wait", "waiting", "waiting for training data"},
    {"checkpoint_stall", "waiting", "writing a checkpoint"},
    {"draining", "waiting", "draining"},
    {"idle_reserved", "idle", "held in reserve"},
    {"idle_fragmented", "idle", "no place fits"},
    {"idle_quota", "idle", "quota forbids"},
    {"idle_blocked", "idle", "queue blocked"},
    {"idle_no_demand", "idle", "nobody wants it"},
    {"offline", "offline", "offline"},
};

const struct metric_def *metric_defs_all(size_t *count)
{
    *count = ARRAY_LEN(defs);
    return defs;
}

const struct metric_def *metric_defs_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(defs); i++)
        if (strcmp(defs[i].name, name) == 0)
            return &defs[i];
    return NULL;
}

const struct bucket_def *bucket_defs_all(size_t *count)
{
    *count = ARRAY_LEN(buckets);
    return buckets;
}

const struct bucket_def *bucket_defs_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(buckets); i++)
        if (strcmp(buckets[i].name, name) == 0)
            return &buckets[i];
    return NULL;
}
