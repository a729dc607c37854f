/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs on one node, in one rack and across racks, through whole runs. Four nodes of eight cards, two in a
 * rack; a run of work W at efficiency e ends after ceil(W / e) nanoseconds, e in whole ppm.
 */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */
#define HORIZON (6 * 3600)

/* One tenth is lost with twelve cards on several nodes: 0.9. Racks are three times oversubscribed: a ninth of
 * the computing time is waited, then a third: 0.75. */
#define FOUR_NODES(communication)                                                                  \
    "name: four-nodes\nhorizon: 6h\ntransfer: {processStart: 0s}\n"                                \
    "fleet: {nodePools: [{name: p, card: H100-80, nodes: 4, cardsPerNode: 8, price: 1usd/h,\n"     \
    "  network: {domains: [{name: rack, nodes: 2, oversubscription: 3}]}}]}\n"                     \
    "queues: [{name: q, cards: {p: 32}}]\n"                                                        \
    "demand:\n  training:\n"                                                                       \
    "    - {name: s, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, communication: {" communication "}}\n" \
    "arbiters:\n  - {preset: cohort, requeueBatch: 0s}\n"                                          \
    "  - {preset: cohort, name: local, requeueBatch: 0s, networkLocality: true}\n"                 \
    "  - {preset: cohort, name: by-pods, requeueBatch: 0s, gang: pods}\n"
#define TENTH "model: llm-fast-fabric, lossPerDoubling: 0.1, baseCards: 6"

#define HEAD "submit_s,duration_s,workers,cards_per_worker\n"
/* Single workers that hold cards until 20000 s: binpack leaves three cards on node 0 and none on node 1. */
#define HALF_OF_RACK_0 HEAD "0,20000,1,5\n0,20000,1,8\n"
#define GANG "1,9000,4,3\n" /* twelve cards */

static double finish_of(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "workload"); i++)
        if (strcmp(told_text(t, "workload", i, "id"), id) == 0)
            return told_real(t, "workload", i, "finish_s");
    return -1;
}

static struct told *tell_under(const char *yaml, const char *jobs, int32_t arbiter)
{
    return tell(&(struct story){.yaml = yaml, .jobs = jobs, .arbiter = arbiter, .level = RECORD_LEVEL_FULL});
}

/* Of `gangs` cards that computed 9000 s of work in `took`; `others` card-seconds beside them. */
static void assert_books(const struct told *t, int64_t cards, int64_t took, int64_t others)
{
    assert_int_equal(told_card_ms(t, "training_useful"), (cards * 9000 + others) * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), cards * (took - 9000) * S);
    assert_int_equal(told_card_ms_all(t), 32 * HORIZON * S);
    assert_near(told_metric(t, "training.network_loss"), (double)(cards * (took - 9000)) / 3600, 1e-9);
    assert_near(told_metric(t, "training.gang_speed"),
                (double)(cards * 9000 + others) / (double)(cards * took + others), 1e-12);
    assert_near(told_metric(t, "utilization.work"), told_metric(t, "utilization.useful"), 1e-12);
}

static void a_gang_on_one_node_takes_its_work(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES(TENTH), HEAD "1,9000,2,4\n", 0);
    assert_near(finish_of(t, "s-0"), 9001, 0);
    assert_books(t, 8, 9000, 0);
    told_free(t);
}

static void two_nodes_of_a_rack_cost_a_tenth(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES(TENTH), HEAD "1,9000,4,3\n", 0);
    assert_near(finish_of(t, "s-0"), 10001, 0);
    assert_books(t, 12, 10000, 0);
    assert_near(told_metric(t, "training.across_domains"), 0, 0);
    told_free(t);
}

static const char *started_of(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "decision"); i++)
        if (strcmp(told_text(t, "decision", i, "kind"), "started") == 0 &&
            strcmp(told_text(t, "decision", i, "workload"), id) == 0)
            return told_text(t, "decision", i, "detail");
    return "";
}

static void two_racks_cost_a_quarter(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES(TENTH), HALF_OF_RACK_0 GANG, 0);
    assert_near(finish_of(t, "s-2"), 12001, 0);
    assert_non_null(strstr(started_of(t, "s-0"), "; one node: speed 1.0000"));
    assert_non_null(strstr(started_of(t, "s-2"), "; several nodes, across level rack: speed 0.7500"));
    assert_books(t, 12, 12000, 13 * 20000);
    assert_near(told_metric(t, "training.across_domains"), 1, 0);
    told_free(t);
}

static void network_locality_keeps_it_in_a_rack_and_it_ends_sooner(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES(TENTH), HALF_OF_RACK_0 GANG, 1);
    assert_near(finish_of(t, "s-2"), 10001, 0);
    assert_books(t, 12, 10000, 13 * 20000);
    assert_near(told_metric(t, "training.across_domains"), 0, 0);
    told_free(t);
}

static void a_gang_of_pods_is_seen_whole(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES(TENTH), HALF_OF_RACK_0 GANG, 2);
    assert_near(finish_of(t, "s-2"), 12001, 0);
    assert_books(t, 12, 12000, 13 * 20000);
    told_free(t);
}

/* Without a model everything is as before, also the names of metrics. */
static void without_a_model_nodes_make_no_difference(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES("model: none"), HALF_OF_RACK_0 GANG, 0);
    assert_near(finish_of(t, "s-2"), 9001, 0);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 0);
    for (int32_t i = 0; i < told_rows(t, "metric"); i++)
        assert_string_not_equal(told_text(t, "metric", i, "name"), "training.gang_speed");
    told_free(t);
}

/* 0.75 / 0.9 of the speed that the durations know: 833,333 ppm. */
static void packed_durations_hold_what_the_best_place_costs(void **state)
{
    (void)state;
    struct told *t = tell_under(FOUR_NODES(TENTH ", durations: packed"), HALF_OF_RACK_0 GANG, 1);
    assert_near(finish_of(t, "s-2"), 9001, 0);
    told_free(t);
    t = tell_under(FOUR_NODES(TENTH ", durations: packed"), HALF_OF_RACK_0 GANG, 0);
    assert_near(finish_of(t, "s-2"), 1 + 10800.004320002, 2e-9); /* ceil(9000e9 * 10^6 / 833333) ns */
    told_free(t);
}

/* Published constants, to the nanosecond: 64 cards on 8 nodes of two racks, 0.9775 (workload-models R5), three
 * times the loss across racks; 32 of them in a rack 0.985. */
static void published_constants_give_times_to_the_nanosecond(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: eight-nodes\nhorizon: 6h\ntransfer: {processStart: 0s}\n"
        "fleet: {nodePools: [{name: p, card: H100-80, nodes: 12, cardsPerNode: 8, price: 1usd/h,\n"
        "  network: {domains: [{name: rack, nodes: 4, oversubscription: 3}, {name: block, nodes: 8, oversubscription: 2}]}}]}\n"
        "queues: [{name: q, cards: {p: 96}}]\n"
        "demand:\n  training:\n"
        "    - {name: s, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, communication: {model: llm-fast-fabric}}\n"
        "arbiters: [{preset: cohort, requeueBatch: 0s, networkLocality: true}]\n";
    struct told *t = tell_under(yaml, HEAD "0,3600,4,8\n5000,3600,8,8\n10000,3600,12,8\n", 0);
    assert_near(finish_of(t, "s-0"), 3654.822335026, 2e-9); /* 3600 / 0.985000, rounded up */
    /* 1 / (1 + 3 (1 / 0.9775 - 1)) = 0.935407 */
    assert_near(finish_of(t, "s-1"), 5000 + 3848.592110173, 2e-9);
    /* 96 cards in three racks of two blocks: loss 0.0075 log2(12) = 0.0268872, six times: 0.857794 */
    assert_near(finish_of(t, "s-2"), 10000 + 4196.811821953, 2e-9);
    told_free(t);
}

/*
 * Eviction at 3500: 3200 s of computing, 2880 s of work, of which 2700 s were saved at 3300. B has 450 s of
 * work and runs from 3530 to 4030; A computes 7000 s more (6300 of work), with six stalls, until 11630.
 */
static void what_is_done_again_loses_its_part_too(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: two-nodes\nhorizon: 6h\ntransfer: {processStart: 0s}\n"
        "fleet: {nodePools: [{name: p, card: H100-80, nodes: 2, cardsPerNode: 8, price: 1usd/h,\n"
        "  network: {domains: [{name: rack, nodes: 2}]}}]}\n"
        "queues: [{name: q, cards: {p: 16}, preemption: {withinClusterQueue: LowerPriority}}]\n"
        "demand:\n  training:\n"
        "    - {name: s, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 1000s, stall: 100s},\n"
        "       communication: {model: llm-fast-fabric, lossPerDoubling: 0.1}}\n"
        "arbiters: [{preset: cohort, requeueBatch: 0s}]\n";
    struct told *t = tell_under(yaml, "submit_s,duration_s,workers,cards_per_worker,priority\n0,9000,2,8,0\n3500,450,2,8,10\n", 0);
    assert_near(finish_of(t, "s-0"), 11630, 0);
    assert_int_equal(told_card_ms(t, "training_useful"), (9000 + 450) * 16 * S);
    assert_int_equal(told_card_ms(t, "training_rework"), 180 * 16 * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), (3200 + 500 + 7000) / 10 * 16 * S);
    assert_int_equal(told_card_ms(t, "checkpoint_stall"), 9 * 100 * 16 * S);
    assert_int_equal(told_card_ms_all(t), 16 * HORIZON * S);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_on_one_node_takes_its_work),
        cmocka_unit_test(two_nodes_of_a_rack_cost_a_tenth),
        cmocka_unit_test(two_racks_cost_a_quarter),
        cmocka_unit_test(network_locality_keeps_it_in_a_rack_and_it_ends_sooner),
        cmocka_unit_test(a_gang_of_pods_is_seen_whole),
        cmocka_unit_test(without_a_model_nodes_make_no_difference),
        cmocka_unit_test(packed_durations_hold_what_the_best_place_costs),
        cmocka_unit_test(published_constants_give_times_to_the_nanosecond),
        cmocka_unit_test(what_is_done_again_loses_its_part_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
