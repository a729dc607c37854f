/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LoRA on one base in worlds that can be counted by hand. The base is 16 GB at 1 GB/s and 150 ms to
 * the first byte (16.15 s), an adapter 100 MB, 150 ms and 0.75 s more (1 s): a tenant that opens an
 * instance computes 17.15 s after it came, one that joins after 1 s.
 */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

#define ADAPTER "adapter: {rank: 16, bytes: 100MB, memory: 1GB, activations: 3GB}"
#define TENANT(name, share, rest)                                                                  \
    "    - {name: " name ", queue: q, team: " name ", loraBase: m, share: " share ", restart: 0s, " \
    "checkpoint: {interval: 0s}, file: jobs.csv, " rest "}\n"
#define HEAD(nodes, weights)                                                                       \
    "name: one-base\n"                                                                             \
    "horizon: 4h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: " nodes ", pricePerCard: 1usd/h}]}\n"     \
    "transfer: {processStart: 0s, store: 1GB/s}\n"                                                 \
    "loraSharing: {adapterLoad: 750ms}\n"                                                          \
    "teams: [{name: t0}, {name: t1}, {name: t2}, {name: t3}, {name: t4}, {name: t5}]\n"            \
    "queues: [{name: q, team: t0, cards: {a: 8}, preemption: {withinClusterQueue: LowerPriority}}]\n" \
    "models: [{name: m, weights: " weights "}]\n"
#define FIVE(share, rest)                                                                          \
    "demand:\n  lora:\n" TENANT("t0", share, rest) TENANT("t1", share, rest)                       \
    TENANT("t2", share, rest) TENANT("t3", share, rest) TENANT("t4", share, rest)
#define SIXTH(share) TENANT("t5", share, ADAPTER)

/* 0 and 1: one base; 2 and 3: a card each; 4: fused. */
#define ARBITERS                                                                                   \
    "arbiters:\n"                                                                                  \
    "  - {preset: cohort, name: base, cache: none, requeueBatch: 0s}\n"                            \
    "  - {preset: cohort, name: small, cache: none, loraSlots: 2, requeueBatch: 0s}\n"             \
    "  - {preset: pools, cache: none}\n"                                                           \
    "  - {preset: hyperpod, cache: none, borrowLimitPercent: -1}\n"                                \
    "  - {preset: cohort, name: fused, cache: none, loraMode: fused, requeueBatch: 0s}\n"

static const char one_job[] = "submit_s,duration_s\n0,1000\n";

/* Duties of 0.2 fill the card: nobody waits for anybody. 80 % fewer cards than a card each. */
static void five_tenants_on_one_base_need_a_fifth_of_the_cards(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("0.2", ADAPTER) ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 1, 0);
    assert_near(told_metric(t, "lora.cards_mean"), 1017.15 / (4 * 3600), 1e-12);
    assert_near(told_metric(t, "lora.stretch"), 1.01715, 1e-12);
    assert_near(told_metric(t, "lora.finished"), 5, 0);
    assert_int_equal(told_card_ms(t, "lora_useful"), 1000 * S);
    assert_int_equal(told_card_ms(t, "loading"), 17150);
    assert_int_equal(told_card_ms(t, "serving_headroom"), 0);
    assert_int_equal(told_card_ms_all(t), 4 * 3600 * 8 * S);
    told_free(t);
    for (int32_t a = 2; a <= 3; a++) {
        t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = a});
        assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
        assert_int_equal(told_card_ms(t, "lora_useful"), 5 * 200 * S);
        assert_int_equal(told_card_ms(t, "input_wait"), 5 * 800 * S);
        told_free(t);
    }
}

/* Five that would each keep a card busy: 1/5 of the card each, five times as long. Fused: 1.17/5. */
static void tenants_that_are_all_busy_take_turns(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("1", ADAPTER) ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 1, 0);
    assert_near(told_metric(t, "lora.stretch"), 5.01715, 1e-9);
    assert_int_equal(told_card_ms(t, "lora_useful"), 5000 * S);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 4});
    assert_near(told_metric(t, "lora.stretch"), 5 / 1.17 + 0.01715, 1e-5);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 2});
    assert_near(told_metric(t, "lora.stretch"), 1.01625, 1e-9); /* a card each: 16.1 GB and 150 ms */
    assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
    told_free(t);
}

/* 70 GB + 1 GB context + 3 GB activations leave 11.9 of 85.9 GB: eleven adapters of 1 GB, but two
 * of 5 GB. Five tenants then need three instances. */
static void too_large_adapters_open_more_instances(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "70GB")
        FIVE("0.2", "adapter: {rank: 16, bytes: 100MB, memory: 5GB, activations: 3GB}") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 3, 0);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 4}); /* 5 + 3 GB each: one */
    assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
    told_free(t);
}

static void a_tenant_beyond_the_slots_opens_another_instance(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("0.1", ADAPTER) SIXTH("0.1") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 2, 0);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 1}); /* two slots */
    assert_near(told_metric(t, "lora.cards_peak"), 3, 0);
    told_free(t);
}

/* A base needs a whole card. Where cards are cut each tenant takes an instance of MIG. */
static void cards_that_are_cut_hold_no_base(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("0.2", ADAPTER)
        "arbiters: [{preset: cohort, nodePoolSharing: [{nodePool: a, sharing: {mechanism: mig, layout: 3g.40gb*2}}]}]\n";
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "sharing.cards_peak"), 3, 0);
    assert_near(told_metric(t, "lora.finished"), 5, 0);
    told_free(t);
}

/* ---- joining and leaving ---- */

/* t0 comes at 100 and computes from 117.15; t1 comes at 200 and has loaded its adapter at 201. Then
 * each has half of the card until t0 is done at 2033.3; t1 has the card to itself until 2117.15. */
static void a_tenant_that_joins_loads_its_adapter_only(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") "demand:\n  lora:\n" TENANT("t0", "1", ADAPTER)
        TENANT("t1", "1", ADAPTER ", rateScale: 0.5") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = "submit_s,duration_s\n100,1000\n"});
    assert_near(told_metric(t, "lora.stretch"), (1933.3 + 1917.15) / 2000, 1e-9);
    assert_int_equal(told_card_ms(t, "loading"), 17150); /* while t1 loads, t0 has all of the card */
    assert_int_equal(told_card_ms(t, "lora_useful"), 2000 * S);
    assert_near(told_metric(t, "lora.cards_mean"), 2017.15 / (4 * 3600), 1e-9);
    assert_near(told_metric(t, "lora.wait.p95"), 0, 0);
    told_free(t);
}

/* Checkpoints every 200 s of computing, 10 s each. Alone until 201: 83.85 s computed. Then at half
 * speed: the first one begins 116.15 s later and holds 83.85 + 116.15 / 2 of work. Written out: t0
 * computes 916.15 s of work at 1/2 = 1832.3 s, and stalls when 200, 400, ... 1800 s are computed;
 * t1, which is 83.85 s behind, stalls at its own times and always has its half. */
static void checkpoints_go_by_computing_time_at_any_speed(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") "demand:\n  lora:\n"
        "    - {name: t0, queue: q, team: t0, loraBase: m, share: 1, restart: 0s, checkpoint: {interval: 200s, stall: 10s}, file: jobs.csv, " ADAPTER "}\n"
        "    - {name: t1, queue: q, team: t1, loraBase: m, share: 1, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv, rateScale: 0.5, workScale: 9, " ADAPTER "}\n"
        ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = "submit_s,duration_s\n100,1000\n"});
    /* t0 computes 83.85 + 1832.3 = 1916.15 s in all: nine checkpoints of its half of the card. */
    assert_int_equal(told_card_ms(t, "checkpoint_stall"), 9 * 10 * S / 2);
    assert_int_equal(told_card_ms(t, "lora_useful"), 10000 * S);
    told_free(t);
}

/* The training job takes all cards at 517.15: both have computed 500 s, of which 400 are saved. The
 * base drains for 30 s, comes back when the training job ends at 847.15, loads base and adapters
 * anew, and ends after 600 s more at 1464.3. */
static void an_evicted_base_takes_its_tenants_along(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") "demand:\n  lora:\n"
        "    - {name: t0, queue: q, team: t0, loraBase: m, share: 0.5, restart: 0s, checkpoint: {interval: 200s, stall: 0s}, file: jobs.csv, " ADAPTER "}\n"
        "    - {name: t1, queue: q, team: t1, loraBase: m, share: 0.5, restart: 0s, checkpoint: {interval: 200s, stall: 0s}, file: jobs.csv, " ADAPTER "}\n"
        "  training:\n"
        "    - {name: big, queue: q, priority: 10, restart: 0s, checkpoint: {interval: 0s}, file: traffic.csv}\n"
        ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job,
                                          .traffic = "submit_s,duration_s,cards_per_worker\n517.15,300,8\n",
                                          .level = RECORD_LEVEL_FULL});
    assert_near(told_metric(t, "lora.preemptions"), 2, 0);
    assert_near(told_metric(t, "lora.finished"), 2, 0);
    assert_near(told_metric(t, "lora.lost"), 100 / 3600.0, 1e-9);
    assert_near(told_metric(t, "lora.stretch"), 1.4643, 1e-9);
    assert_int_equal(told_card_ms(t, "training_rework"), 100 * S);
    assert_int_equal(told_card_ms(t, "lora_useful"), 1000 * S);
    assert_int_equal(told_card_ms(t, "draining"), 30 * S);
    assert_int_equal(told_card_ms(t, "loading"), 2 * 17150);
    assert_int_equal(told_card_ms(t, "training_useful"), 300 * 8 * S);
    assert_int_equal(told_card_ms_all(t), 4 * 3600 * 8 * S);
    told_free(t);
}

/* Duties 0.2 and 0.6 leave 0.2 of the card, of which each holds half: 0.3 and 0.7. */
static void each_team_pays_for_its_part_of_the_card(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") "demand:\n  lora:\n" TENANT("t0", "0.2", ADAPTER)
        TENANT("t1", "0.6", ADAPTER) ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    /* Use is rounded to a micro-dollar of 0.09 before idle follows it: 1e-5 of the sums. */
    double first = 0.5 * 17.15 + 300, second = 0.5 * 17.15 + 700, total = 32; /* 8 cards, 4 h, 1 usd */
    assert_near(told_metric_of(t, "team", "t0", "cost.total"), total * first / (first + second), 2e-4);
    assert_near(told_metric_of(t, "team", "t1", "cost.total"), total * second / (first + second), 2e-4);
    assert_int_equal(told_card_ms(t, "lora_useful"), 800 * S);
    assert_int_equal(told_card_ms(t, "serving_headroom"), 200 * S);
    told_free(t);
}

/* A failed run loads its adapter again; the base and the others stay. */
static void a_decision_delay_and_failures_keep_the_ledger_closed(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("0.3", ADAPTER ", failure: {probability: 0.6, maxRetries: 3}")
        SIXTH("0.3")
        "arbiters: [{preset: cohort, decisionDelay: 45s, evictionGrace: 0s}]\n";
    struct told *t = tell(&(struct story){.yaml = yaml,
                                          .jobs = "submit_s,duration_s\n0,1000\n10,500\n700,20\n9000,90000\n",
                                          .level = RECORD_LEVEL_FULL});
    assert_int_equal(told_card_ms_all(t), 4 * 3600 * 8 * S);
    assert_near(told_metric(t, "lora.submitted"), 24, 0);
    told_free(t);
}

/* ---- serving ---- */

/* One request at a time, exponential, 100 ms alone: M/M/1, so that latency is exponential, too. */
#define SERVICE(name, rate)                                                                        \
    "    - {name: " name ", kind: simple, queue: q, team: " name ", loraBase: m, " ADAPTER ", "     \
    "engineStart: 0s, serviceTime: {mean: 100ms, cv: 1}, traffic: {base: " rate "}, "              \
    "minReplicaCount: 1, maxReplicaCount: 1, slo: {latency: 2s, target: 0.99}}\n"
#define FIVE_SERVICES(rate)                                                                        \
    "demand:\n  services:\n" SERVICE("t0", rate) SERVICE("t1", rate) SERVICE("t2", rate)           \
    SERVICE("t3", rate) SERVICE("t4", rate)

/*
 * Loads of 0.1 and five adapters of rank 16, factor 1.05 + 5 * 0.01: the others leave
 * (1 - 4 * 0.11) / 1.1 of the card, so that a request takes 1/(10 * 0.50909 - 1) s on average.
 */
static void services_on_one_base_are_slowed_by_their_neighbours(void **state)
{
    (void)state;
    static const char yaml[] = "start: 2026-01-05T00:00:00Z\n" HEAD("1", "16GB") FIVE_SERVICES("1/s") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml});
    double mean = 1 / (10 * 0.56 / 1.1 - 1);
    assert_near(told_metric(t, "lora.cards_peak"), 1, 0);
    assert_near_rel(told_metric(t, "inference.latency.p50"), mean * log(2), 0.02);
    assert_near_rel(told_metric_of(t, "service", "t3", "inference.latency.p50"), mean * log(2), 0.02);
    assert_int_equal(told_card_ms_all(t), 4 * 3600 * 8 * S);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .arbiter = 2});
    assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
    assert_near_rel(told_metric(t, "inference.latency.p50"), log(2) / 9, 0.03); /* a merged adapter, alone */
    told_free(t);
}

/* Loads of 0.25 each are 1.375 together with the factor: every service is served 10 * 0.2 / 1.1 of
 * its 2.5 requests/s. On cards of their own they wait for nobody. */
static void busy_services_on_one_base_fall_behind(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE_SERVICES("2.5/s") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml});
    double part = 10 * 0.2 / 1.1 / 2.5 * (1 - 17.15 / (4 * 3600));
    assert_near(told_metric(t, "inference.served") / told_metric(t, "inference.arrived"), part, 1e-3);
    assert_true(told_metric(t, "inference.slo_attainment") < 0.01);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .arbiter = 3});
    assert_true(told_metric(t, "inference.slo_attainment") > 0.99);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_tenants_on_one_base_need_a_fifth_of_the_cards),
        cmocka_unit_test(tenants_that_are_all_busy_take_turns),
        cmocka_unit_test(too_large_adapters_open_more_instances),
        cmocka_unit_test(a_tenant_beyond_the_slots_opens_another_instance),
        cmocka_unit_test(cards_that_are_cut_hold_no_base),
        cmocka_unit_test(a_tenant_that_joins_loads_its_adapter_only),
        cmocka_unit_test(checkpoints_go_by_computing_time_at_any_speed),
        cmocka_unit_test(an_evicted_base_takes_its_tenants_along),
        cmocka_unit_test(each_team_pays_for_its_part_of_the_card),
        cmocka_unit_test(a_decision_delay_and_failures_keep_the_ledger_closed),
        cmocka_unit_test(services_on_one_base_are_slowed_by_their_neighbours),
        cmocka_unit_test(busy_services_on_one_base_fall_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
