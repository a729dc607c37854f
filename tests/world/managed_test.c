/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The managed service: what it costs and refuses, counted by hand; and the cost of a fleet. */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000)

/*
 * A job of 8 cards for an hour at 10 usd per card-hour. A service of 2 requests/s with 1000 tokens
 * in and 100 out at 1 and 4 usd per million: 7,200 requests in an hour, 7.92 million tokens.
 */
#define MANAGED                                                                                    \
    "name: managed\n"                                                                              \
    "horizon: 2h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 2, pricePerCard: 10usd/h}]}\n"            \
    "transfer: {processStart: 0s}\n"                                                               \
    "queues: [{name: q, cards: {a: 8}}, {name: r, cards: {a: 8}}]\n"                               \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}\n"         \
    "  services:\n"                                                                                \
    "    - {name: v, queue: r, cardsPerReplica: 8, engineStart: 0s, traffic: {file: traffic.csv},\n" \
    "       law: {c0: 10ms, a: 10us, d1: 10us}, slo: {latency: 60s}}\n"                            \
    "arbiters:\n"

#define PRICES "jobStart: 10m, jobUplift: 1.15, inputPrice: 1usd/Mtok, outputPrice: 4usd/Mtok"

static const char managed_jobs[] = "submit_s,duration_s,cards_per_worker\n0,3600,8\n6900,3600,8\n";
static const char managed_traffic[] = "t_s,step_s,rate_per_s,input_tokens,output_tokens\n0,3600,2,1000,100\n";

/* The second job starts at 7500, after the end: it costs nothing and is unfinished. */
static void managed_pays_by_token_and_by_card_hour(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = MANAGED "  - {preset: managed, engineers: 0, managed: {" PRICES "}}\n",
        .jobs = managed_jobs, .traffic = managed_traffic});
    assert_int_equal(told_uusd(t, "jobs"), 8 * 10 * 1150000);
    assert_int_equal(told_uusd(t, "tokens"), 7200000 + 4 * 720000);
    assert_near(told_metric(t, "cost.total"), 92 + 10.08, 1e-9);
    assert_near(told_metric(t, "cost.per_million_tokens"), 10.08 / 7.92, 1e-9);
    assert_near(told_metric(t, "managed.job_card_hours"), 8, 1e-12);
    assert_near(told_metric(t, "managed.throttled"), 0, 1e-12);
    assert_near(told_metric(t, "inference.tokens"), 7.92e6, 1e-3);
    assert_near(told_metric(t, "training.wait.p95"), 600, 3);
    assert_near(told_metric(t, "training.finished"), 1, 0);
    assert_near(told_metric(t, "training.unfinished"), 8, 1e-12);
    assert_int_equal(told_card_ms(t, "training_useful"), 8 * 3600 * S);
    told_free(t);
}

/* Asked: 120 requests or 132,000 tokens a minute. Each quota that is short lets its part through. */
static void managed_refuses_what_is_over_the_quota(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        double share;
    } cases[] = {
        {MANAGED "  - {preset: managed, managed: {" PRICES ", tokensPerMinute: 66000/min}}\n", 0.5},
        {MANAGED "  - {preset: managed, managed: {" PRICES ", requestsPerMinute: 90/min}}\n", 0.75},
        {MANAGED "  - {preset: managed, managed: {" PRICES ", tokensPerMinute: 66000/min, requestsPerMinute: 30/min}}\n", 0.25},
        {MANAGED "  - {preset: managed, managed: {" PRICES ", tokensPerMinute: 90000/min, outputBurndown: 5}}\n", 0.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told *t = tell(&(struct story){
            .yaml = cases[i].yaml, .jobs = managed_jobs, .traffic = managed_traffic});
        assert_near(told_metric(t, "managed.throttled"), 1 - cases[i].share, 1e-12);
        assert_near(told_metric(t, "inference.served"), 7200 * cases[i].share, 1e-6);
        assert_near(told_metric(t, "inference.rejected"), 7200 * (1 - cases[i].share), 1e-6);
        assert_near(told_metric(t, "inference.tokens_lost"), 7.92e6 * (1 - cases[i].share), 1e-3);
        assert_near((double)told_uusd(t, "tokens"), 10.08e6 * cases[i].share, 1);
        told_free(t);
    }
}

/* Sixteen cards for two hours at 10 usd, and a year of two engineers at 200,000 usd each. */
static void a_fleet_costs_its_nodes_and_its_engineers(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = MANAGED "  - {preset: pools, engineers: 2}\n", .jobs = managed_jobs, .traffic = managed_traffic});
    double engineers = 2 * 200000.0 * 2 / (365 * 24);
    assert_int_equal(told_uusd(t, "nodes"), 16 * 2 * 10 * 1000000);
    assert_near((double)told_uusd(t, "engineers"), engineers * 1e6, 1);
    assert_near(told_metric(t, "cost.total"), 320 + engineers, 1e-6);
    /* Of the card time held, queue q had 8 cards for 3600 + 300 s, queue r 8 cards for 7200 s. */
    assert_near(told_metric_of(t, "team", "q", "cost.total"), 320 * 3900 / (3900 + 7200.0), 1e-6);
    assert_near(told_metric_of(t, "team", "r", "cost.total"), 320 * 7200 / (3900 + 7200.0), 1e-6);
    assert_near(told_metric(t, "cost.per_million_tokens"), 320 * 7200 / 11100.0 / 7.92, 1e-6);
    told_free(t);
}

static void every_arbiter_meets_the_same_demand(void **state)
{
    (void)state;
    static const char yaml[] = MANAGED "  - {preset: pools}\n"
                                       "  - {preset: cohort}\n"
                                       "  - {preset: hyperpod}\n"
                                       "  - {preset: managed}\n";
    uint64_t hash = 0;
    for (int32_t i = 0; i < 4; i++) {
        struct told *t = tell(&(struct story){
            .yaml = yaml, .jobs = managed_jobs, .traffic = managed_traffic, .arbiter = i});
        if (i == 0)
            hash = told_outcome(t)->demand_hash;
        assert_true(told_outcome(t)->demand_hash == hash);
        assert_near(told_metric(t, "inference.arrived"), 7200, 1e-9);
        assert_near(told_metric(t, "training.submitted"), 2, 0);
        told_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(managed_pays_by_token_and_by_card_hour),
        cmocka_unit_test(managed_refuses_what_is_over_the_quota),
        cmocka_unit_test(a_fleet_costs_its_nodes_and_its_engineers),
        cmocka_unit_test(every_arbiter_meets_the_same_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
