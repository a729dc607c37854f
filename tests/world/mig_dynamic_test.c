/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG instances made on request, through whole runs counted by hand: the second an instance takes to be made or
 * destroyed (gpu-sharing 1.6), what it holds of its card beside others (design 3.3), and mixes that no fixed
 * layout gives.
 */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */
#define HORIZON (6 * 3600)
#define DYNAMIC "mechanism: mig, dynamic: true"
#define FIXED "mechanism: mig" /* 3g, 2g, 1g, 1g */

/* One card; two streams of LoRA jobs. With PROFILE they are as fast on their instance as on the card. */
#define ONE_CARD(sharing, a, b)                                                             \
    "name: one-card\nhorizon: 6h\ntransfer: {processStart: 0s}\n"                                  \
    "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {" sharing "}}]}\n" \
    "queues: [{name: q, cards: {p: 8}}]\n"                                                         \
    "demand:\n  lora:\n"                                                                           \
    "    - {name: a, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, share: 0.5, duty: 1, " a "}\n" \
    "    - {name: b, queue: q, file: traffic.csv, restart: 0s, checkpoint: {interval: 0s}, share: 0.5, duty: 1, " b "}\n" \
    "arbiters: [{preset: cohort, requeueBatch: 0s}]\n"
#define PROFILE(name) "computeDemand: 0.1, profile: " name
#define NOBODY "submit_s,duration_s\n"

static struct told *tell_two(const char *yaml, const char *a, const char *b)
{
    return tell(&(struct story){.yaml = yaml, .jobs = a, .traffic = b, .level = RECORD_LEVEL_FULL});
}

/* Part of all card time that the assumption touches; 0: it is not named. */
static double touched_by(const struct told *t, const char *words)
{
    for (int32_t i = 0; i < told_rows(t, "assumption"); i++)
        if (strstr(told_text(t, "assumption", i, "name"), words) != NULL)
            return told_real(t, "assumption", i, "touches");
    return 0;
}

static double finish_of(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "workload"); i++)
        if (strcmp(told_text(t, "workload", i, "id"), id) == 0)
            return told_real(t, "workload", i, "finish_s");
    return -1;
}

/* Two 3g at once: the balanced layout has one, so the second waits for the first. On request both are made, one
 * after the other, a second each, and until then their tenants hold half a card each and start. */
static void two_3g_run_at_once_where_the_layout_has_one(void **state)
{
    (void)state;
    static const char jobs[] = "submit_s,duration_s\n0,1000\n0,1000\n";
    struct told *t = tell_two(ONE_CARD(FIXED, PROFILE("3g.20gb"), PROFILE("1g.5gb")), jobs, NOBODY);
    assert_near(finish_of(t, "a-0"), 1000, 1e-6);
    assert_near(finish_of(t, "a-1"), 2000, 1e-6);
    assert_int_equal(told_card_ms(t, "starting"), 0);
    assert_near(touched_by(t, "a MIG instance is made"), 0, 0);
    told_free(t);
    t = tell_two(ONE_CARD(DYNAMIC, PROFILE("3g.20gb"), PROFILE("1g.5gb")), jobs, NOBODY);
    assert_near(finish_of(t, "a-0"), 1001, 1e-6);
    assert_near(finish_of(t, "a-1"), 1002, 1e-6);
    assert_int_equal(told_card_ms(t, "starting"), 500 * 1 + 500 * 2);
    assert_near(touched_by(t, "a MIG instance is made"), 1.5 / HORIZON, 1e-12);
    assert_int_equal(told_card_ms(t, "lora_useful"), 2 * 500 * 1000);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    assert_near(told_metric_of(t, "node_pool", "p", "sharing.instances_made"), 2, 0);
    assert_near(told_metric_of(t, "node_pool", "p", "sharing.instance_wait"), 1.5, 1e-9);
    told_free(t);
}

/* A 4g alone holds 4/7 of the card by compute; beside a 3g both hold the whole card, 8 : 7 by their larger axes
 * (4/7 and 1/2). */
static void what_an_instance_holds_changes_with_its_neighbour(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD(DYNAMIC, PROFILE("4g.20gb"), PROFILE("3g.20gb")), "submit_s,duration_s\n0,1000\n",
                              "submit_s,duration_s\n500,1000\n");
    assert_near(finish_of(t, "a-0"), 1001, 1e-6);
    assert_near(finish_of(t, "b-0"), 1501, 1e-6);
    assert_int_equal(told_card_ms(t, "starting"), 571 * 1 + 467 * 1);
    assert_int_equal(told_card_ms(t, "lora_useful"), 571 * 499 + 533 * 501 + 467 * 500 + 500 * 500);
    assert_int_equal(told_card_ms(t, "input_wait"), 0);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    assert_near(told_metric_of(t, "tenant", "a", "sharing.asked"), (571 * 500 + 533 * 501) / 3.6e6, 1e-9);
    assert_near(told_metric_of(t, "tenant", "b", "sharing.asked"), (467 * 501 + 500 * 500) / 3.6e6, 1e-9);
    assert_int_equal(told_rows(t, "sharing"), 1);
    assert_string_equal(told_text(t, "sharing", 0, "mechanism"), "mig");
    assert_string_equal(told_text(t, "sharing", 0, "isolation"), "hardware");
    assert_near(told_real(t, "sharing", 0, "shared_s"), 501, 1e-6);
    told_free(t);
}

/* The whole card as one 7g, then as 1g: who waits for its slices waits for their destruction, too. */
static void a_card_is_cut_anew_for_the_next_tenant(void **state)
{
    (void)state;
    static const char a[] = "submit_s,duration_s\n0,100\n", b[] = "submit_s,duration_s\n50,100\n50,100\n";
    struct told *t = tell_two(ONE_CARD(DYNAMIC, PROFILE("7g.40gb"), PROFILE("1g.5gb")), a, b);
    assert_near(finish_of(t, "a-0"), 101, 1e-6);
    assert_near(finish_of(t, "b-0"), 101 + 1 + 1 + 100, 1e-6);
    assert_near(finish_of(t, "b-1"), 101 + 1 + 2 + 100, 1e-6);
    assert_int_equal(told_card_ms(t, "starting"), 1000 * 1 + 143 * 2 + 143 * 3);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    told_free(t);
    t = tell_two(ONE_CARD(DYNAMIC ", reconfiguration: {createInstance: 30s, destroyInstance: 7s}", PROFILE("7g.40gb"),
                          PROFILE("1g.5gb")), a, b);
    assert_near(finish_of(t, "a-0"), 130, 1e-6);
    assert_near(finish_of(t, "b-0"), 130 + 7 + 30 + 100, 1e-6);
    assert_near(finish_of(t, "b-1"), 130 + 7 + 60 + 100, 1e-6);
    told_free(t);
}

/* Destroyed long before the next comes: only the making is waited for. */
static void nobody_waits_for_what_was_destroyed_long_ago(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD(DYNAMIC, PROFILE("7g.40gb"), PROFILE("7g.40gb")), "submit_s,duration_s\n0,100\n",
                              "submit_s,duration_s\n500,100\n");
    assert_near(finish_of(t, "a-0"), 101, 1e-6);
    assert_near(finish_of(t, "b-0"), 601, 1e-6);
    told_free(t);
}

/* Its container starts again and again on the same instance, which is made once: 5 GiB do not go into 4864 MiB. */
static void a_restart_keeps_the_instance(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD(DYNAMIC, PROFILE("1g.5gb") ", memory: 5GiB", PROFILE("3g.20gb") ", memory: 9GiB"),
                              "submit_s,duration_s\n0,1000\n", "submit_s,duration_s\n0,1000\n");
    assert_true(told_rows(t, "incident") > 10);
    for (int32_t i = 0; i < told_rows(t, "incident"); i++) {
        assert_string_equal(told_text(t, "incident", i, "cause"), "over-limit");
        assert_string_equal(told_text(t, "incident", i, "victim"), "a");
    }
    double first = told_real(t, "incident", 0, "t_s"); /* the order of the two is not of interest */
    assert_true(first == 1 || first == 2);
    assert_near(told_real(t, "incident", 1, "t_s"), first + 10, 1e-9);
    assert_near(told_metric_of(t, "node_pool", "p", "sharing.instances_made"), 2, 0);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    told_free(t);
}

/* QLoRA, d = 0.527, on 14 of 108 SMs, as on the same instance of a fixed layout. */
static void an_instance_is_as_fast_as_one_of_a_layout(void **state)
{
    (void)state;
    static const char *const yaml[] = {ONE_CARD(FIXED, "computeDemand: 0.527, profile: 1g.5gb", PROFILE("1g.5gb")),
                                       ONE_CARD(DYNAMIC, "computeDemand: 0.527, profile: 1g.5gb", PROFILE("1g.5gb"))};
    for (size_t k = 0; k < 2; k++) {
        struct told *t = tell_two(yaml[k], "submit_s,duration_s\n0,1000\n", NOBODY);
        assert_near(finish_of(t, "a-0"), 1000 * 0.527 * 108 / 14 + (double)k, 0.01);
        told_free(t);
    }
}

/* A low-priority 3g on either half; a 4g that may preempt goes where it must, and one 3g loses its place. */
static void the_scheduler_preempts_the_instance_in_the_way(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: one-card\nhorizon: 6h\ntransfer: {processStart: 0s}\n"
        "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {" DYNAMIC "}}]}\n"
        "priorityClasses: [{name: high, value: 100}]\n"
        "queues: [{name: q, cards: {p: 8}}]\n"
        "demand:\n  lora:\n"
        "    - {name: a, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, share: 0.5, duty: 1, computeDemand: 0.1,\n"
        "       profile: 3g.20gb}\n"
        "    - {name: b, queue: q, file: traffic.csv, restart: 0s, checkpoint: {interval: 0s}, share: 0.5, duty: 1, computeDemand: 0.1,\n"
        "       profile: 4g.20gb, priorityClass: high}\n"
        "arbiters: [{preset: cohort, requeueBatch: 0s, schedulerPreemption: true, evictionGrace: 0s}]\n";
    struct told *t = tell_two(yaml, "submit_s,duration_s\n0,1000\n0,1000\n", "submit_s,duration_s\n100,200\n");
    assert_near(told_metric(t, "scheduler.preemptions"), 1, 0);
    assert_near(finish_of(t, "a-0"), 1001, 1e-6);
    assert_near(finish_of(t, "b-0"), 100 + 1 + 1 + 200, 1e-6);
    assert_near(finish_of(t, "a-1"), 302 + 1 + 1 + 1000, 1e-6); /* no checkpoints: from the beginning */
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    told_free(t);
}

/* A replica waits for its instance as a job does: 2g for a quarter of a card, 286 milli for a second. */
static void a_replica_waits_for_its_instance(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = "name: serving\nhorizon: 2h\ntransfer: {processStart: 0s}\n"
                "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {" DYNAMIC "}}]}\n"
                "queues: [{name: q, cards: {p: 8}}]\n"
                "demand:\n"
                "  services: [{name: s, kind: simple, queue: q, share: 0.25, duty: 0.5, computeDemand: 0.1, engineStart: 0s,\n"
                "              traffic: {base: 0.1/s}, serviceTime: {mean: 100ms, cv: 0}}]\n"
                "arbiters: [{preset: cohort, requeueBatch: 0s, scaler: none}]\n"});
    assert_int_equal(told_card_ms(t, "starting"), 286);
    assert_int_equal(told_card_ms_all(t), 2 * 3600 * S);
    told_free(t);
}

/* Tenants of one base have cards of their own where cards are cut; what they hold on average is what the ledger has
 * of them, also while a neighbour makes them hold less. */
static void the_cards_of_base_tenants_are_those_they_hold(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: tenants\nhorizon: 6h\ntransfer: {processStart: 0s}\n"
        "fleet: {nodePools: [{name: p, card: H100-80, nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {" DYNAMIC "}}]}\n"
        "models: [{name: m, weights: 1GB}]\n"
        "queues: [{name: q, cards: {p: 8}}]\n"
        "demand:\n  lora:\n"
        "    - {name: a, queue: q, file: jobs.csv, loraBase: m, adapter: {rank: 16, bytes: 1MB}, share: 0.5, duty: 1, profile: 4g.40gb}\n"
        "    - {name: b, queue: q, file: traffic.csv, loraBase: m, adapter: {rank: 16, bytes: 1MB}, share: 0.5, duty: 1, profile: 3g.40gb}\n"
        "arbiters: [{preset: cohort, requeueBatch: 0s}]\n";
    struct told *t = tell_two(yaml, "submit_s,duration_s\n0,1000\n", "submit_s,duration_s\n500,1000\n");
    assert_true(told_metric(t, "utilization.allocated") > 1500.0 / 2 / HORIZON);
    assert_near(told_metric(t, "lora.cards_mean"), told_metric(t, "utilization.allocated"), 1e-12); /* of one card */
    assert_near(told_metric(t, "lora.cards_peak"), 1, 0);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_3g_run_at_once_where_the_layout_has_one),
        cmocka_unit_test(what_an_instance_holds_changes_with_its_neighbour),
        cmocka_unit_test(a_card_is_cut_anew_for_the_next_tenant),
        cmocka_unit_test(nobody_waits_for_what_was_destroyed_long_ago),
        cmocka_unit_test(a_restart_keeps_the_instance),
        cmocka_unit_test(an_instance_is_as_fast_as_one_of_a_layout),
        cmocka_unit_test(the_scheduler_preempts_the_instance_in_the_way),
        cmocka_unit_test(a_replica_waits_for_its_instance),
        cmocka_unit_test(the_cards_of_base_tenants_are_those_they_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
