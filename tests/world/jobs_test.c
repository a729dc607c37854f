/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs in small worlds whose every second can be counted by hand. */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

/* One node of eight cards; higher priorities evict lower ones. */
#define ONE_NODE                                                                                   \
    "name: one-node\n"                                                                             \
    "horizon: 6h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"             \
    "transfer: {processStart: 0s}\n"                                                               \
    "queues: [{name: q, cards: {a: 8}, preemption: {withinClusterQueue: LowerPriority}}]\n"        \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, restart: 0s, checkpoint: {interval: 1000s, stall: 100s}, file: jobs.csv}\n"

static const char one_node_cohort[] = ONE_NODE "arbiters: [{preset: cohort, requeueBatch: 0s}]\n";

/*
 * A computes 1000 s, stalls 100 s, and so on. When B evicts it at 3500 it has computed 3200 s, of
 * which 3000 s are saved. Its cards drain until 3530, B runs until 4030, A goes on with 7000 s to
 * compute, of which 200 s for the second time, and stalls six more times: until 11630.
 */
static void eviction_loses_the_work_since_the_last_checkpoint(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = one_node_cohort,
                                          .jobs = "submit_s,duration_s,cards_per_worker,priority\n"
                                                  "0,10000,8,0\n"
                                                  "3500,500,8,10\n"});
    assert_int_equal(told_card_ms(t, "training_useful"), (10000 + 500) * 8 * S);
    assert_int_equal(told_card_ms(t, "training_rework"), 200 * 8 * S);
    assert_int_equal(told_card_ms(t, "checkpoint_stall"), (3 + 6) * 100 * 8 * S);
    assert_int_equal(told_card_ms(t, "draining"), 30 * 8 * S);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), (6 * 3600 - 11630) * 8 * S);
    assert_int_equal(told_card_ms_all(t), 6 * 3600 * 8 * S);
    assert_near(told_metric(t, "training.lost"), 200 * 8 / 3600.0, 1e-12);
    assert_near(told_metric(t, "training.rework"), 200 * 8 / 3600.0, 1e-12);
    assert_near(told_metric(t, "training.preemptions"), 1, 0);
    assert_near(told_metric(t, "training.finished"), 2, 0);
    assert_near(told_metric(t, "training.unfinished"), 0, 0);
    assert_near(told_metric(t, "training.wait.max"), 30, 0);
    told_free(t);
}

/* C was submitted while A ran and has A's priority: it comes after the evicted A, at 11630. */
static void an_evicted_job_keeps_its_place(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = one_node_cohort,
                                          .jobs = "submit_s,duration_s,cards_per_worker,priority\n"
                                                  "0,10000,8,0\n"
                                                  "100,50,8,0\n"
                                                  "3500,500,8,10\n"});
    assert_near(told_metric(t, "training.finished"), 3, 0);
    assert_near(told_metric(t, "training.wait.max"), 11630 - 100, 0);
    told_free(t);
}

static void work_that_is_not_reached_is_unfinished(void **state)
{
    (void)state;
    /* From 0 to 21600 s: 19 full rounds of 1100 s (20900 s), then 700 s of the twentieth. */
    struct told *t = tell(&(struct story){
        .yaml = one_node_cohort, .jobs = "submit_s,duration_s,cards_per_worker\n0,100000,8\n"});
    assert_int_equal(told_card_ms(t, "training_useful"), 19700 * 8 * S);
    assert_int_equal(told_card_ms(t, "checkpoint_stall"), 1900 * 8 * S);
    assert_near(told_metric(t, "training.unfinished"), 80300 * 8 / 3600.0, 1e-9);
    assert_near(told_metric(t, "utilization.allocated"), 1, 1e-12);
    assert_near(told_metric(t, "utilization.real"), 19700 / 21600.0, 1e-12);
    assert_near(told_metric(t, "demand.offered"), 100000 / 21600.0, 1e-9);
    told_free(t);
}

/* ---- gangs ---- */

#define TWELVE_NODES                                                                               \
    "name: twelve-nodes\n"                                                                         \
    "horizon: 8h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 12, pricePerCard: 1usd/h}]}\n"            \
    "transfer: {processStart: 0s}\n"                                                               \
    "queues: [{name: q, cards: {a: 96}}]\n"                                                        \
    "demand: {training: [{name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}]}\n" \
    "arbiters:\n"                                                                                  \
    "  - {preset: pools, name: pods, gang: pods, strictFifo: false, requeueBatch: 0s}\n"           \
    "  - {preset: pools, name: quota, gang: quota, strictFifo: false, requeueBatch: 0s}\n"

static const char gang_jobs[] = "submit_s,duration_s,workers,cards_per_worker\n"
                                "0,10800,4,8\n"   /* 32 cards until 10800 */
                                "600,3600,12,8\n" /* wants all 96 */
                                "1200,1800,8,8\n" /* three fillers of 64 */
                                "3600,1800,8,8\n"
                                "6000,1800,8,8\n";

/*
 * The gang of 96 holds 64 from 600 to 10800, runs until 14400. Filler 1 then takes 64 and filler 2
 * holds 32 until 16200, when filler 2 gets its other 32 and filler 3 holds 32 until 18000.
 */
static void a_gang_that_starts_pod_by_pod_holds_cards_and_waits(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = TWELVE_NODES, .jobs = gang_jobs});
    int64_t useful = (10800 * 32 + 3600 * 96 + 3 * 1800 * 64) * S;
    int64_t waited = (64 * (10800 - 600) + 2 * 32 * 1800) * S;
    assert_int_equal(told_card_ms(t, "training_useful"), useful);
    assert_int_equal(told_card_ms(t, "gang_wait"), waited);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), 8 * 3600 * 96 * S - useful - waited);
    assert_near(told_metric(t, "training.wait.max"), 14400 - 1200, 0);
    told_free(t);
}

/* The gang waits without a card until 10800; the fillers run at once. Idle meanwhile: 64 cards of
 * which nobody can use any, because the gang that waits is larger. */
static void a_gang_with_quota_for_all_or_none_holds_nothing(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = TWELVE_NODES, .jobs = gang_jobs, .arbiter = 1});
    int64_t useful = (10800 * 32 + 3600 * 96 + 3 * 1800 * 64) * S;
    int64_t blocked = (64 * (10800 - 600) - 3 * 1800 * 64) * S;
    assert_int_equal(told_card_ms(t, "training_useful"), useful);
    assert_int_equal(told_card_ms(t, "gang_wait"), 0);
    assert_int_equal(told_card_ms(t, "idle_blocked"), blocked);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), 8 * 3600 * 96 * S - useful - blocked);
    assert_near(told_metric(t, "training.wait.max"), 10800 - 600, 0);
    assert_near(told_metric(t, "training.waited"), 1, 0);
    told_free(t);
}

/* ---- why cards are idle ---- */

/* Two nodes with three free cards each have no place for six, though the quota has them. */
static void admitted_without_a_place_is_fragmentation(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = "name: fragments\n"
                "horizon: 2000s\n"
                "fleet: {nodePools: [{name: a, card: H100-80, nodes: 2, pricePerCard: 1usd/h}]}\n"
                "transfer: {processStart: 0s}\n"
                "queues: [{name: q, cards: {a: 16}}]\n"
                "demand: {training: [{name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}]}\n"
                "arbiters: [{preset: pools, gang: quota}]\n",
        .jobs = "submit_s,duration_s,cards_per_worker\n0,1000,5\n0,1000,5\n100,200,6\n"});
    assert_int_equal(told_card_ms(t, "idle_fragmented"), 6 * 900 * S);
    assert_int_equal(told_card_ms(t, "training_useful"), (2 * 5 * 1000 + 6 * 200) * S);
    assert_near(told_metric(t, "idle.fragmented"), 6 * 900 / (16 * 2000.0), 1e-12);
    assert_near(told_metric(t, "training.wait.max"), 900, 0);
    told_free(t);
}

/*
 * Two queues of eight cards that do not lend. In [0, 1000) one runs eight and has two jobs waiting:
 * the first, of four cards, for quota; the second, of two, behind it. The other eight are idle:
 * four for quota, two because of the order, two because nobody wants them.
 */
static void idle_cards_are_split_by_cause(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = "name: causes\n"
                "horizon: 1200s\n"
                "fleet: {nodePools: [{name: a, card: H100-80, nodes: 2, pricePerCard: 1usd/h}]}\n"
                "transfer: {processStart: 0s}\n"
                "queues:\n"
                "  - {name: q, cards: {a: 8}}\n"
                "  - {name: other, cards: {a: 8}}\n"
                "demand: {training: [{name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}]}\n"
                "arbiters: [{preset: pools, requeueBatch: 0s}]\n",
        .jobs = "submit_s,duration_s,cards_per_worker\n0,1000,8\n0,100,4\n0,100,2\n"});
    assert_int_equal(told_card_ms(t, "training_useful"), (8000 + 400 + 200) * S);
    assert_int_equal(told_card_ms(t, "idle_quota"), 4 * 1000 * S);
    assert_int_equal(told_card_ms(t, "idle_blocked"), 2 * 1000 * S);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), (2 * 1000 + 10 * 100 + 16 * 100) * S);
    told_free(t);
}

/* ---- borrowed quota ---- */

#define TWO_QUEUES                                                                                 \
    "name: two-queues\n"                                                                           \
    "horizon: 4000s\n"                                                                             \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 2, pricePerCard: 1usd/h}]}\n"             \
    "transfer: {processStart: 0s}\n"                                                               \
    "cohorts: [{name: all}]\n"                                                                     \
    "queues:\n"                                                                                    \
    "  - {name: q, cohortName: all, cards: {a: 8}}\n"                                              \
    "  - {name: r, cohortName: all, cards: {a: 8}, preemption: {reclaimWithinCohort: Any}}\n"      \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv, queueColumn: queue}\n" \
    "arbiters:\n"                                                                                  \
    "  - {preset: cohort, requeueBatch: 0s}\n"                                                     \
    "  - {preset: hyperpod, requeueBatch: 0s}\n"                                                   \
    "  - {preset: pools, gang: quota}\n"

static const char borrowing_jobs[] = "submit_s,duration_s,workers,cards_per_worker,queue\n"
                                     "0,2000,2,8,q\n" /* twice the quota of q */
                                     "1000,500,1,8,r\n";

/*
 * q borrows eight cards from 0. At 1000 r wants its own back: the whole gang goes, its cards drain
 * until 1030, r runs until 1530, q starts again from nothing until 3530. Eight cards stand idle
 * meanwhile: the gang of sixteen is larger.
 */
static void reclaiming_evicts_the_whole_gang_that_borrowed(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = TWO_QUEUES, .jobs = borrowing_jobs});
    assert_int_equal(told_card_ms(t, "training_useful"), (2000 * 16 + 500 * 8) * S);
    assert_int_equal(told_card_ms(t, "training_rework"), 1000 * 16 * S);
    assert_int_equal(told_card_ms(t, "draining"), 30 * 16 * S);
    assert_int_equal(told_card_ms(t, "idle_blocked"), 500 * 8 * S);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), 470 * 16 * S);
    assert_near(told_metric(t, "training.wait.max"), 30, 0);
    assert_near(told_metric_of(t, "team", "q", "training.evictions"), 1, 0);
    assert_near(told_metric_of(t, "team", "q", "training.rework"), 16000 / 3600.0, 1e-9);
    assert_near(told_metric_of(t, "team", "r", "training.evictions"), 0, 0);
    assert_near(told_metric_of(t, "team", "q", "quota.nominal"), 8, 0);
    assert_near(told_metric_of(t, "team", "q", "quota.used"), 16 * 3030 / 4000.0, 1e-9);
    assert_near(told_metric_of(t, "team", "q", "quota.borrowed"), 8 * 3030 / 4000.0, 1e-9);
    assert_near(told_metric_of(t, "team", "q", "quota.lent"), 0, 0);
    assert_near(told_metric_of(t, "team", "r", "quota.used"), 8 * 500 / 4000.0, 1e-9);
    assert_near(told_metric_of(t, "team", "r", "quota.lent"), 8 * 3030 / 4000.0, 1e-9);
    told_free(t);
}

/* HyperPod lets a team borrow half of its own: 8 + 4 are too few. Pools lend nothing. */
static void a_limit_on_borrowing_keeps_a_gang_out(void **state)
{
    (void)state;
    for (int32_t arbiter = 1; arbiter <= 2; arbiter++) {
        struct told *t = tell(&(struct story){.yaml = TWO_QUEUES, .jobs = borrowing_jobs, .arbiter = arbiter});
        assert_int_equal(told_card_ms(t, "training_useful"), 500 * 8 * S);
        assert_near(told_metric(t, "training.unfinished"), 32000 / 3600.0, 1e-9);
        assert_near(told_metric(t, "training.preemptions"), 0, 0);
        assert_near(told_metric_of(t, "team", "q", "quota.borrowed"), 0, 0);
        told_free(t);
    }
}

/* ---- where jobs may run, and on what ---- */

static void a_toleration_of_the_flavor_opens_a_tainted_pool(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = "name: taints\n"
                "horizon: 1000s\n"
                "fleet:\n"
                "  nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h, taints: [{key: gpu, value: yes-please}]}]\n"
                "  flavors: [{name: f, nodeLabels: {node-pool: a}, tolerations: [{key: gpu}]}]\n"
                "transfer: {processStart: 0s}\n"
                "queues: [{name: q, cards: {f: 8}}]\n"
                "demand: {training: [{name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}]}\n"
                "arbiters: [{preset: cohort}]\n",
        .jobs = "submit_s,duration_s,cards_per_worker\n0,100,8\n"});
    assert_int_equal(told_card_ms(t, "training_useful"), 800 * S);
    assert_int_equal(told_card_ms(t, "idle_fragmented"), 0);
    told_free(t);
}

#define LORA                                                                                       \
    "name: lora\n"                                                                                 \
    "horizon: 1000s\n"                                                                             \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"             \
    "transfer: {processStart: 0s}\n"                                                               \
    "queues: [{name: q, cards: {a: 8}}]\n"                                                         \
    "demand: {lora: [{name: s, queue: q, share: 0.2, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}]}\n" \
    "arbiters: [{preset: pools}, {preset: cohort}]\n"

/* Forty jobs of a fifth of a card want eight cards: one after the other where a card is the least
 * one can have, all at once where shares are. */
static void a_share_takes_the_card_or_the_share(void **state)
{
    (void)state;
    char jobs[1024] = "submit_s,duration_s\n";
    for (int i = 0; i < 40; i++)
        strcat(jobs, "0,100\n");
    struct told *whole = tell(&(struct story){.yaml = LORA, .jobs = jobs});
    assert_near(told_metric(whole, "lora.finished"), 40, 0);
    assert_int_equal(told_card_ms(whole, "lora_useful"), 40 * 100 * S / 5);
    assert_int_equal(told_card_ms(whole, "input_wait"), 40 * 100 * S * 4 / 5);
    assert_near(told_metric(whole, "utilization.allocated"), 40 * 100 / 8000.0, 1e-12);
    assert_near(told_metric(whole, "lora.wait.p95"), 400, 2); /* the fifth wave; within 0.5 % */
    told_free(whole);
    struct told *shares = tell(&(struct story){.yaml = LORA, .jobs = jobs, .arbiter = 1});
    assert_near(told_metric(shares, "lora.finished"), 40, 0);
    assert_int_equal(told_card_ms(shares, "lora_useful"), 40 * 100 * S / 5);
    assert_int_equal(told_card_ms(shares, "input_wait"), 0);
    assert_near(told_metric(shares, "utilization.allocated"), 0.1, 1e-12);
    assert_near(told_metric(shares, "lora.wait.p95"), 0, 0);
    told_free(shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eviction_loses_the_work_since_the_last_checkpoint),
        cmocka_unit_test(an_evicted_job_keeps_its_place),
        cmocka_unit_test(work_that_is_not_reached_is_unfinished),
        cmocka_unit_test(a_gang_that_starts_pod_by_pod_holds_cards_and_waits),
        cmocka_unit_test(a_gang_with_quota_for_all_or_none_holds_nothing),
        cmocka_unit_test(admitted_without_a_place_is_fragmentation),
        cmocka_unit_test(idle_cards_are_split_by_cause),
        cmocka_unit_test(reclaiming_evicts_the_whole_gang_that_borrowed),
        cmocka_unit_test(a_limit_on_borrowing_keeps_a_gang_out),
        cmocka_unit_test(a_toleration_of_the_flavor_opens_a_tainted_pool),
        cmocka_unit_test(a_share_takes_the_card_or_the_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
