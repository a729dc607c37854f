/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tenants of one card through whole runs, counted by hand. Speeds are the arithmetic of gpu-sharing
 * 4.4; amounts follow design 3.3: what a tenant gets beyond its share comes from its neighbours'
 * unused part first, then from idle.
 */
#include <stdio.h>
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */
#define HORIZON (6 * 3600)

/* One card; two streams of LoRA jobs, A and B, that compute without a stop. */
#define ONE_CARD(card, sharing, model, a, b)                                                       \
    "name: one-card\nhorizon: 6h\ntransfer: {processStart: 0s}\n"                                  \
    "fleet: {nodePools: [{name: p, card: " card ", nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {" sharing "}}]}\n" \
    "sharingModel: {" model "}\n"                                                                  \
    "queues: [{name: q, cards: {p: 8}}]\n"                                                         \
    "demand:\n  lora:\n"                                                                           \
    "    - {name: a, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, " a "}\n"  \
    "    - {name: b, queue: q, file: traffic.csv, restart: 0s, checkpoint: {interval: 0s}, " b "}\n" \
    "arbiters: [{preset: cohort, requeueBatch: 0s}]\n"
#define SLICED(model, a, b) ONE_CARD("A100-40", "mechanism: time-slicing, replicas: 4", model, a, b)
#define BUSY "share: 0.25, duty: 1"
#define NOBODY "submit_s,duration_s\n"

/* The second stream's jobs come in the file that is otherwise for traffic. */
static struct told *tell_two(const char *yaml, const char *a, const char *b)
{
    return tell(&(struct story){.yaml = yaml, .jobs = a, .traffic = b, .level = RECORD_LEVEL_FULL});
}

static double finish_of(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "workload"); i++)
        if (strcmp(told_text(t, "workload", i, "id"), id) == 0)
            return told_real(t, "workload", i, "finish_s");
    return -1;
}

/* 0.46 each: 4600 s of work take 10000 s; 0.08 of the card is lost to switching. */
static void two_busy_jobs_slice_the_time(void **state)
{
    (void)state;
    struct told *t = tell_two(SLICED("switchLoss: 0.08", BUSY, BUSY), "submit_s,duration_s\n0,4600\n",
                              "submit_s,duration_s\n0,4600\n");
    assert_near(finish_of(t, "a-0"), 10000, 1e-6);
    assert_near(finish_of(t, "b-0"), 10000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), 9200 * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 800 * S);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), (HORIZON - 10000) * S);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    assert_near(told_metric(t, "sharing.overhead"), 800.0 / HORIZON, 1e-12);
    assert_near(told_metric(t, "sharing.cards_peak"), 1, 0);
    assert_near(told_metric(t, "sharing.cards_mean"), 10000.0 / HORIZON, 1e-12);
    told_free(t);
}

/* 0.72 of the time, and 1.0 of what it wants. A holds its quarter, 50 milli that B leaves of its own, and
 * half a card that nobody has. */
static void a_light_neighbour_gets_all_it_wants(void **state)
{
    (void)state;
    struct told *t = tell_two(SLICED("switchLoss: 0.08", BUSY, "share: 0.25, duty: 0.2"),
                              "submit_s,duration_s\n0,7200\n", "submit_s,duration_s\n0,10000\n");
    assert_near(finish_of(t, "a-0"), 10000, 1e-6);
    assert_near(finish_of(t, "b-0"), 10000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), (7200 + 2000) * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 800 * S);
    assert_int_equal(told_card_ms(t, "input_wait"), 0);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), (HORIZON - 10000) * S);
    assert_near(told_metric_of(t, "tenant", "a", "sharing.asked"), 2500 / 3600.0, 1e-9);
    assert_near(told_metric_of(t, "tenant", "a", "sharing.got"), 7200 / 3600.0, 1e-9);
    assert_near(told_metric_of(t, "tenant", "a", "sharing.lost"), 800 / 3600.0, 1e-9);
    assert_near(told_metric_of(t, "tenant", "b", "sharing.asked"), 2500 / 3600.0, 1e-9);
    assert_near(told_metric_of(t, "tenant", "b", "sharing.got"), 2000 / 3600.0, 1e-9);
    told_free(t);
}

/* 0.211 each, 0.844 together. */
static void four_busy_jobs_lose_a_sixth(void **state)
{
    (void)state;
    struct told *t = tell_two(SLICED("switchLoss: 0.156", BUSY, BUSY), "submit_s,duration_s\n0,2110\n0,2110\n",
                              "submit_s,duration_s\n0,2110\n0,2110\n");
    assert_near(finish_of(t, "a-1"), 10000, 1e-6);
    assert_near(finish_of(t, "b-1"), 10000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), 8440 * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 1560 * S);
    told_free(t);
}

/* A is alone until 1000, beside B until 2000 (460 s of work each), then alone again with 8540 s to do. */
static void a_run_stretches_only_while_the_neighbour_is_there(void **state)
{
    (void)state;
    struct told *t = tell_two(SLICED("switchLoss: 0.08", BUSY, BUSY), "submit_s,duration_s\n0,10000\n",
                              "submit_s,duration_s\n1000,460\n");
    assert_near(finish_of(t, "b-0"), 2000, 1e-6);
    assert_near(finish_of(t, "a-0"), 10540, 1e-6);
    assert_int_equal(told_rows(t, "sharing"), 1);
    assert_string_equal(told_text(t, "sharing", 0, "tenant"), "a");
    assert_string_equal(told_text(t, "sharing", 0, "other"), "b");
    assert_string_equal(told_text(t, "sharing", 0, "mechanism"), "time-slicing");
    assert_string_equal(told_text(t, "sharing", 0, "isolation"), "none");
    assert_near(told_real(t, "sharing", 0, "from_s"), 1000, 1e-9);
    assert_near(told_real(t, "sharing", 0, "to_s"), 2000, 1e-6);
    assert_near(told_real(t, "sharing", 0, "shared_s"), 1000, 1e-6);
    assert_near(told_real(t, "sharing", 0, "times"), 1, 0);
    assert_near(told_real(t, "sharing_pool", 0, "tenants_mean"), 11540.0 / 10540, 1e-9);
    told_free(t);
}

/* A saves after every 1000 s of computing, 100 s of stall each, however fast it computes. Beside B, from 500 to
 * 2500, it computes 1800 s at half speed, with stalls from 1000 and from 2100. So it has 500 + 900 s of work at
 * 2500, and needs 600 s more. */
static void checkpoints_go_by_computing_time(void **state)
{
    (void)state;
    static const char yaml[] =
        "name: one-card\nhorizon: 6h\ntransfer: {processStart: 0s}\n"
        "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {mechanism: time-slicing, replicas: 2}}]}\n"
        "sharingModel: {switchLoss: 0}\n"
        "queues: [{name: q, cards: {p: 8}}]\n"
        "demand:\n  lora:\n"
        "    - {name: a, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 1000s, stall: 100s}, share: 0.5, duty: 1}\n"
        "    - {name: b, queue: q, file: traffic.csv, restart: 0s, checkpoint: {interval: 0s}, share: 0.5, duty: 1}\n"
        "arbiters: [{preset: cohort, requeueBatch: 0s}]\n";
    struct told *t = tell_two(yaml, "submit_s,duration_s\n0,2000\n", "submit_s,duration_s\n500,1000\n");
    assert_near(finish_of(t, "b-0"), 2500, 1e-6);
    /* 300 + 600 s of computing since the second checkpoint: there is no third */
    assert_near(finish_of(t, "a-0"), 3100, 1e-6);
    assert_int_equal(told_card_ms(t, "training_rework"), 0);
    told_free(t);
}

/* The limiter works badly: 0.46 and 0.54 for 30 and 70 percent. */
static void hami_shares_follow_its_limiter(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD("A100-40", "mechanism: hami", "switchLoss: 0, hamiOverhead: 0, hamiLimiter: 0.2",
                                       "share: 0.3, duty: 1", "share: 0.7, duty: 1"),
                              "submit_s,duration_s\n0,4600\n", "submit_s,duration_s\n0,5400\n");
    assert_near(finish_of(t, "a-0"), 10000, 1e-6);
    assert_near(finish_of(t, "b-0"), 10000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), 10000 * S);
    told_free(t);
}

/* Alone, HAMi limits nobody: a tenant of a quarter has the card, less the hook. */
static void one_that_is_alone_under_hami_takes_what_is_idle(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD("A100-40", "mechanism: hami", "hamiOverhead: 0.25", BUSY, BUSY),
                              "submit_s,duration_s\n0,8000\n", NOBODY);
    assert_near(finish_of(t, "a-0"), 10000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), 8000 * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 2000 * S);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), (HORIZON - 10000) * S);
    told_free(t);
}

#define HAMI_AXES(nodes, a, b)                                                                     \
    "name: axes\nhorizon: 6h\ntransfer: {processStart: 0s}\n"                                      \
    "fleet: {nodePools: [{name: p, card: A100-40, nodes: " nodes ", cardsPerNode: 1, price: 1usd/h, sharing: {mechanism: hami}}]}\n" \
    "sharingModel: {switchLoss: 0, hamiOverhead: 0}\n"                                             \
    "queues: [{name: q, cards: {p: 8}}]\n"                                                         \
    "demand:\n  lora:\n"                                                                           \
    "    - {name: a, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, " a "}\n"  \
    "    - {name: b, queue: q, file: traffic.csv, restart: 0s, checkpoint: {interval: 0s}, " b "}\n" \
    "arbiters: [{preset: cohort, requeueBatch: 0s}]\n"

/* 60 % of memory and 10 of cores beside 10 and 60 (of 40,960 MiB): 700 of the card are booked, 350 each. A uses 100,
 * B its 600: 250 of A's, and what it was granted. From 1000 on A is alone with its 600, of which it leaves 500. */
static void hami_books_the_fullest_axis_of_a_card(void **state)
{
    (void)state;
    struct told *t = tell_two(HAMI_AXES("1", "share: 0.6, duty: 0.1, gpumem: 24576, gpucores: 10",
                                        "share: 0.6, duty: 0.6, gpumem: 4096, gpucores: 60"),
                              "submit_s,duration_s\n0,2000\n", "submit_s,duration_s\n0,1000\n");
    assert_near(finish_of(t, "a-0"), 2000, 1e-6);
    assert_near(finish_of(t, "b-0"), 1000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), (2000 * S * 100 + 1000 * S * 600) / 1000);
    assert_int_equal(told_card_ms(t, "input_wait"), 1000 * S * 500 / 1000);
    assert_int_equal(told_card_ms(t, "idle_no_demand"),
                     1000 * S * 300 / 1000 + 1000 * S * 400 / 1000 + (HORIZON - 2000) * S);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    assert_near(told_metric_of(t, "tenant", "a", "sharing.asked"), 2000 * 0.6 / 3600, 1e-9);
    assert_near(told_metric_of(t, "tenant", "b", "sharing.asked"), 1000 * 0.6 / 3600, 1e-9);
    assert_near(told_metric_of(t, "tenant", "a", "sharing.got"), 2000 * 0.1 / 3600, 1e-9);
    assert_near(told_metric_of(t, "tenant", "b", "sharing.got"), 1000 * 0.6 / 3600, 1e-9);
    told_free(t);
}

/* Jobs that idle hold what they were granted: 350 and 350 of each of two cards while both are there, then 600. */
static void what_hami_books_follows_who_comes_and_goes(void **state)
{
    (void)state;
    struct told *t = tell_two(HAMI_AXES("2", "share: 0.6, duty: 0.1, gpumem: 24576, gpucores: 10",
                                        "share: 0.6, duty: 0.1, gpumem: 4096, gpucores: 60"),
                              "submit_s,duration_s\n0,6000\n0,6000\n", "submit_s,duration_s\n1000,2000\n2000,3000\n");
    static const int64_t booked = 1000 * 1200 + 1000 * 1300 + 1000 * 1400 + 2000 * 1300 + 1000 * 1200;
    static const int64_t used = 1000 * 200 + 1000 * 300 + 1000 * 400 + 2000 * 300 + 1000 * 200;
    assert_near(finish_of(t, "a-0"), 6000, 1e-6);
    assert_near(finish_of(t, "a-1"), 6000, 1e-6);
    assert_near(finish_of(t, "b-0"), 3000, 1e-6);
    assert_near(finish_of(t, "b-1"), 5000, 1e-6);
    assert_int_equal(told_card_ms(t, "lora_useful"), used);
    assert_int_equal(told_card_ms(t, "input_wait"), booked - used);
    assert_int_equal(told_card_ms_all(t), 2 * HORIZON * S);
    assert_near(told_metric(t, "sharing.cards_peak"), 2, 0);
    assert_int_equal(told_rows(t, "sharing"), 2);
    told_free(t);
}

/* QLoRA, d = 0.527, on 14 of 108 SMs: 0.246, whoever is beside it. */
static void mig_gives_each_its_instance(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD("A100-80", "mechanism: mig, layout: 1g.10gb*7", "", "share: 0.125, duty: 1, computeDemand: 0.527",
                                       "share: 0.125, duty: 1"),
                              "submit_s,duration_s\n0,1000\n", "submit_s,duration_s\n0,1000\n");
    assert_near(finish_of(t, "a-0"), 1000 * 0.527 * 108 / 14, 0.01);
    assert_near(finish_of(t, "b-0"), 1000.0 * 108 / 14, 0.05);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 0);
    assert_string_equal(told_text(t, "sharing", 0, "isolation"), "hardware");
    told_free(t);
}

/* A vocoder, p = 0.473, on a quarter of the threads: 1 - p + 4 p. Two of them, each with half of the bandwidth:
 * 15 % of that more. */
static void mps_caps_threads_and_shares_bandwidth(void **state)
{
    (void)state;
    struct told *t = tell_two(ONE_CARD("H200-141", "mechanism: mps, replicas: 4", "mpsInterference: 0.2",
                                       "share: 0.25, duty: 1, computeDemand: 0.473", "share: 0.25, duty: 1, computeDemand: 0.473"),
                              "submit_s,duration_s\n0,1000\n", "submit_s,duration_s\n10000,1000\n10000,1000\n");
    assert_near(finish_of(t, "a-0"), 2419, 0.01);
    assert_near(finish_of(t, "b-0"), 10000 + 2419 * 1.1, 0.02);
    told_free(t);
}

/* ---- memory and faults ---- */

/* 30 + 16 GiB on a card of 40: whoever allocates fails, B, again and again until A has gone at 4000 s: after
 * 10, 20, 40, 80, 160 s, then every 300 s. */
static void a_full_card_hits_the_one_that_allocates(void **state)
{
    (void)state;
    struct told *t = tell_two(SLICED("switchLoss: 0", BUSY ", memory: 30GiB", BUSY ", memory: 16GiB"),
                              "submit_s,duration_s\n0,4000\n", "submit_s,duration_s\n100,1000\n");
    assert_near(finish_of(t, "a-0"), 4000, 1e-6);
    for (int32_t i = 0; i < told_rows(t, "incident"); i++) {
        assert_string_equal(told_text(t, "incident", i, "cause"), "card-full");
        assert_string_equal(told_text(t, "incident", i, "culprit"), "b");
        assert_string_equal(told_text(t, "incident", i, "victim"), "b");
    }
    /* 100, 110, 130, 170, 250, 410, 710 ... 3710; at 4010 there is room */
    assert_int_equal(told_rows(t, "incident"), 17);
    assert_near(told_metric(t, "sharing.incidents"), 17, 0);
    assert_near(told_metric(t, "sharing.victims"), 17, 0);
    assert_near(finish_of(t, "b-0"), 5010, 1e-6);
    told_free(t);
}

/* Each has its own limit: HAMi refuses what is above gpumem, MIG what is above the instance. */
static void limits_hit_their_own_tenant(void **state)
{
    (void)state;
    static const char *const sharing[] = {
        ONE_CARD("A100-40", "mechanism: hami", "", BUSY ", gpumem: 8192, memory: 9GiB", BUSY ", gpumem: 20480, memory: 9GiB"),
        ONE_CARD("A100-40", "mechanism: mig, layout: \"1g.5gb*4,3g.20gb\"", "", "share: 0.125, duty: 1, memory: 5GiB",
                 BUSY ", profile: 3g.20gb, memory: 9GiB")};
    for (size_t k = 0; k < 2; k++) {
        struct told *t = tell_two(sharing[k], "submit_s,duration_s\n0,1000\n", "submit_s,duration_s\n0,1000\n");
        assert_true(told_rows(t, "incident") > 10);
        for (int32_t i = 0; i < told_rows(t, "incident"); i++) {
            assert_string_equal(told_text(t, "incident", i, "cause"), "over-limit");
            assert_string_equal(told_text(t, "incident", i, "victim"), "a");
        }
        assert_true(finish_of(t, "b-0") > 0);
        told_free(t);
    }
}

/* Faults are the tenants' own: the same first one under each mechanism. Time-slicing kills both with it, so that
 * both start again together; MIG kills one. */
static void a_fault_takes_the_card_or_the_instance(void **state)
{
    (void)state;
    static const char *const sharing[] = {
        ONE_CARD("A100-40", "mechanism: time-slicing, replicas: 7", "switchLoss: 0, faultsPerCardHour: 2", "share: 0.125, duty: 0.1",
                 "share: 0.125, duty: 0.1"),
        ONE_CARD("A100-40", "mechanism: mig, layout: 1g.5gb*7", "faultsPerCardHour: 2", "share: 0.125, computeDemand: 0.1",
                 "share: 0.125, computeDemand: 0.1")};
    double first[2], per_incident[2];
    for (size_t k = 0; k < 2; k++) {
        struct told *t = tell_two(sharing[k], "submit_s,duration_s\n0,100000\n", "submit_s,duration_s\n0,100000\n");
        assert_true(told_metric(t, "sharing.incidents") > 3);
        assert_string_equal(told_text(t, "incident", 0, "cause"), "fault");
        first[k] = told_real(t, "incident", 0, "t_s");
        per_incident[k] = told_metric(t, "sharing.victims") / told_metric(t, "sharing.incidents");
        assert_near(told_metric(t, "sharing.victims"), told_rows(t, "incident"), 0);
        assert_int_equal(told_card_ms_all(t), HORIZON * S);
        told_free(t);
    }
    assert_near(first[0], first[1], 1e-9);
    assert_near(per_incident[0], 2, 0);
    assert_near(per_incident[1], 1, 0);
}

/* ---- MIG layouts that change ---- */

#define CHANGING(more)                                                                             \
    ONE_CARD("A100-80", "mechanism: mig, layout: 1g.10gb*7, reconfigure: [{at: 1000s, layout: 3g.40gb*2}]" more, "", \
             "share: 0.125, computeDemand: 0.1", "share: 0.4, computeDemand: 0.1")
#define CHANGE_S 129 /* 120 s of the node, seven instances destroyed and two made, 1 s each */

/* Nothing holds an empty node up; B fits on no instance before, and starts when the change is done. */
static void an_empty_node_changes_its_layout(void **state)
{
    (void)state;
    struct told *t = tell_two(CHANGING(""), "submit_s,duration_s\n0,500\n", "submit_s,duration_s\n1010,600\n");
    assert_near(finish_of(t, "a-0"), 500, 1e-6);
    assert_near(finish_of(t, "b-0"), 1000 + CHANGE_S + 600, 1e-6);
    assert_int_equal(told_card_ms(t, "offline"), CHANGE_S * S);
    assert_int_equal(told_card_ms_all(t), HORIZON * S);
    told_free(t);
}

/* A holds 143 milli until 3000; the rest of the card is of no use from 1000 on. */
static void a_busy_node_drains_first(void **state)
{
    (void)state;
    static const char b[] = "submit_s,duration_s\n1010,600\n";
    struct told *t = tell_two(CHANGING(", reconfiguration: {drainLimit: 10h}"), "submit_s,duration_s\n0,3000\n", b);
    assert_near(finish_of(t, "a-0"), 3000, 1e-6);
    assert_near(finish_of(t, "b-0"), 3000 + CHANGE_S + 600, 1e-6);
    assert_int_equal(told_card_ms(t, "offline"), 857 * 2000 + CHANGE_S * S);
    told_free(t);
    t = tell_two(CHANGING(""), "submit_s,duration_s\n0,3000\n", b); /* gives up after 5 minutes */
    assert_near(finish_of(t, "a-0"), 3000, 1e-6);
    assert_near(told_metric(t, "lora.finished"), 1, 0);
    assert_int_equal(told_card_ms(t, "offline"), 857 * 300);
    told_free(t);
}

/* A leaves at 1000, lets go after its grace of 30 s, and starts over on a larger instance. */
static void a_change_may_evict(void **state)
{
    (void)state;
    struct told *t = tell_two(CHANGING(", reconfiguration: {evict: true}"), "submit_s,duration_s\n0,3000\n", NOBODY);
    assert_near(finish_of(t, "a-0"), 1030 + CHANGE_S + 3000, 1e-6);
    assert_int_equal(told_card_ms(t, "offline"), 857 * 30 + CHANGE_S * S);
    assert_int_equal(told_card_ms(t, "draining"), 143 * 30);
    told_free(t);
}

#define PART_OR_WHOLE                                                                              \
    "name: part\nhorizon: 6h\ntransfer: {processStart: 0s}\nsharingModel: {switchLoss: 0}\n"       \
    "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h, sharing: {%s}}]}\n" \
    "queues: [{name: q, cards: {p: 8}}]\n"                                                         \
    "demand: {lora: [{name: a, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, share: 0.25, duty: 0.4}]}\n" \
    "arbiters: [{preset: cohort, requeueBatch: 0s, sharing: %s}]\n"

/* Work and duty are the tenant's: a mechanism that costs nothing and gives all that is wanted leaves in the books what
 * a whole card does. A quarter of a card is asked for, four tenths of one are used. */
static void a_job_computes_as_much_on_a_whole_card_as_on_its_part(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        char yaml[2048];
        (void)snprintf(yaml, sizeof yaml, PART_OR_WHOLE, k == 0 ? "mechanism: whole" : "mechanism: time-slicing, replicas: 4",
                       k == 0 ? "whole" : "fraction");
        struct told *t = tell_two(yaml, "submit_s,duration_s\n0,3000\n", NULL);
        assert_near(finish_of(t, "a-0"), 3000, 1e-6);
        assert_int_equal(told_card_ms(t, "lora_useful"), 3000 * S * 4 / 10);
        assert_int_equal(told_card_ms(t, "input_wait"), k == 0 ? 3000 * S * 6 / 10 : 0);
        assert_int_equal(told_card_ms_all(t), HORIZON * S);
        told_free(t);
    }
}

/* ---- services ---- */

#define SERVING(sharing)                                                                           \
    "name: beside\nhorizon: 2h\ntransfer: {processStart: 0s}\n"                                    \
    "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h" sharing "}]}\n" \
    "queues: [{name: q, cards: {p: 8}}]\n"                                                         \
    "demand:\n"                                                                                    \
    "  lora: [{name: a, queue: q, file: jobs.csv, restart: 0s, share: 0.25, duty: 1}]\n"           \
    "  services: [{name: s, kind: simple, queue: q, share: 0.25, duty: 0.5, engineStart: 0s, traffic: {base: 0.1/s},\n" \
    "              serviceTime: {mean: 100ms, cv: 0}}]\n"                                          \
    "arbiters: [{preset: cohort, requeueBatch: 0s, scaler: none}]\n"

/* While a request is answered, replica and job both compute without a stop: 0.46 of the card each. Nearly nobody waits. */
static void a_replica_is_slower_beside_a_job(void **state)
{
    (void)state;
    static const char *const yaml[] = {SERVING(""), SERVING(", sharing: {mechanism: time-slicing, replicas: 4}")};
    static const double seconds[] = {0.1, 0.1 / 0.46};
    for (size_t k = 0; k < 2; k++) {
        struct told *t = tell(&(struct story){.yaml = yaml[k], .jobs = "submit_s,duration_s\n0,100000\n"});
        assert_near(told_metric(t, "inference.latency.p50"), seconds[k], 0.011 * seconds[k]);
        assert_int_equal(told_card_ms_all(t), 2 * 3600 * S);
        told_free(t);
    }
}

/* Four replicas that want 0.3 of a card each bring 1.2 cards to a card that, sliced, has 0.92: the rest queues. Two bring
 * 0.6, and a request is answered at the speed that the other leaves, 0.92 - 0.3. */
static void requests_never_take_more_than_the_card(void **state)
{
    (void)state;
    static const double requests[] = {15, 30}, part[] = {1, 0.92 / 1.2};
    static const int replicas[] = {2, 4};
    for (size_t k = 0; k < 2; k++) {
        char yaml[2048];
        (void)snprintf(yaml, sizeof yaml,
                       "name: four\nhorizon: 2h\ntransfer: {processStart: 0s}\n"
                       "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 1, price: 1usd/h, "
                       "sharing: {mechanism: time-slicing, replicas: 4}}]}\nqueues: [{name: q, cards: {p: 8}}]\n"
                       "demand: {services: [{name: s, kind: simple, queue: q, share: 0.25, duty: 0.3, engineStart: 0s, minReplicaCount: %d,\n"
                       "  maxReplicaCount: %d, traffic: {base: %g/s}, serviceTime: {mean: 40ms, cv: 0}}]}\n"
                       "arbiters: [{preset: cohort, requeueBatch: 0s, scaler: none}]\n",
                       replicas[k], replicas[k], requests[k]);
        struct told *t = tell(&(struct story){.yaml = yaml});
        assert_near(told_metric(t, "inference.served"), requests[k] * 7200 * part[k], 0.002 * requests[k] * 7200);
        if (k == 0) /* two replicas, together 15 requests a second of 0.04 / 0.62 s each; 0.3 of the card is held while one is answered */
            assert_near(told_metric(t, "utilization.real"), 15 * 0.04 / 0.62 * 0.3, 0.001);
        told_free(t);
    }
}

/* ---- cards that are no longer cards ---- */

#define EIGHT(sharing)                                                                             \
    "name: eight\nhorizon: 6h\ntransfer: {processStart: 0s}\nsharingModel: {switchLoss: 0.08}\n"   \
    "fleet: {nodePools: [{name: p, card: A100-40, nodes: 1, cardsPerNode: 8, price: 1usd/h" sharing "}]}\n" \
    "queues: [{name: q, cards: {p: 32}}]\n"                                                        \
    "demand: {training: [{name: t, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}}]}\n" \
    "arbiters: [{preset: cohort, requeueBatch: 0s}]\n"

/* Two gangs of eight cards on a node of eight: one after the other; or, when every card counts as four, both on
 * the same eight cards at 0.46. */
static void sliced_cluster_wide_eight_cards_are_no_eight_cards(void **state)
{
    (void)state;
    static const char jobs[] = "submit_s,duration_s,cards_per_worker\n0,4600,8\n0,4600,8\n";
    struct told *t = tell_two(EIGHT(""), jobs, NULL);
    assert_near(finish_of(t, "t-0"), 4600, 1e-6);
    assert_near(finish_of(t, "t-1"), 9200, 1e-6);
    told_free(t);
    t = tell_two(EIGHT(", sharing: {mechanism: time-slicing, replicas: 4}"), jobs, NULL);
    assert_near(finish_of(t, "t-0"), 10000, 1e-6);
    assert_near(finish_of(t, "t-1"), 10000, 1e-6);
    assert_int_equal(told_card_ms(t, "training_useful"), 2 * 4600 * 8 * S);
    assert_int_equal(told_card_ms(t, "sharing_overhead"), 800 * 8 * S);
    assert_near(told_metric(t, "sharing.cards_peak"), 8, 0);
    told_free(t);
}

/* A worker of eight replicas goes to the node that has them, spread over its cards; what others hold of one of
 * them slows the whole gang. */
static void one_neighbour_on_one_card_slows_the_gang(void **state)
{
    (void)state;
    struct told *t = tell_two(EIGHT(", sharing: {mechanism: time-slicing, replicas: 4}"),
                              "submit_s,duration_s,cards_per_worker\n0,460,8\n0,4600,1\n", NULL);
    assert_near(finish_of(t, "t-0"), 1000, 1e-6);
    assert_near(finish_of(t, "t-1"), 1000 + 4600 - 460, 1e-6);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_busy_jobs_slice_the_time),
        cmocka_unit_test(a_light_neighbour_gets_all_it_wants),
        cmocka_unit_test(four_busy_jobs_lose_a_sixth),
        cmocka_unit_test(a_run_stretches_only_while_the_neighbour_is_there),
        cmocka_unit_test(checkpoints_go_by_computing_time),
        cmocka_unit_test(hami_shares_follow_its_limiter),
        cmocka_unit_test(one_that_is_alone_under_hami_takes_what_is_idle),
        cmocka_unit_test(hami_books_the_fullest_axis_of_a_card),
        cmocka_unit_test(what_hami_books_follows_who_comes_and_goes),
        cmocka_unit_test(mig_gives_each_its_instance),
        cmocka_unit_test(mps_caps_threads_and_shares_bandwidth),
        cmocka_unit_test(a_full_card_hits_the_one_that_allocates),
        cmocka_unit_test(limits_hit_their_own_tenant),
        cmocka_unit_test(a_fault_takes_the_card_or_the_instance),
        cmocka_unit_test(an_empty_node_changes_its_layout),
        cmocka_unit_test(a_busy_node_drains_first),
        cmocka_unit_test(a_change_may_evict),
        cmocka_unit_test(a_job_computes_as_much_on_a_whole_card_as_on_its_part),
        cmocka_unit_test(a_replica_is_slower_beside_a_job),
        cmocka_unit_test(requests_never_take_more_than_the_card),
        cmocka_unit_test(sliced_cluster_wide_eight_cards_are_no_eight_cards),
        cmocka_unit_test(one_neighbour_on_one_card_slows_the_gang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
