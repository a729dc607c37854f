/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the printed figures mean, in worlds that can be counted by hand: failures and retries,
 * decision delay, quota by flavor, who pays, what has not ended. */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

#define HEAD                                                                                       \
    "name: figures\n"                                                                              \
    "transfer: {processStart: 0s}\n"

/* ---- failures ---- */

/* One job of 8 cards and 8 hours whose every attempt fails; the fleet has room for nothing else. */
#define FAILING(retries)                                                                           \
    HEAD "horizon: 30h\n"                                                                          \
         "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"        \
         "queues: [{name: q, cards: {a: 8}}]\n"                                                    \
         "demand:\n"                                                                               \
         "  training:\n"                                                                           \
         "    - {name: s, queue: q, restart: 100s, checkpoint: {interval: 1h, stall: 0s},\n"       \
         "       failure: {probability: 1, maxRetries: " retries "}, file: jobs.csv}\n"            \
         "arbiters:\n"                                                                             \
         "  - {preset: cohort}\n"                                                                  \
         "  - {preset: managed, managed: {jobStart: 100s, jobUplift: 1}}\n"

static const char failing_job[] = "submit_s,duration_s,cards_per_worker\n0,28800,8\n";

/* It is given up once, after all its attempts; what it reached and what it did not is its work, and
 * all that it lost but for the last attempt was done again. */
static void a_job_that_always_fails_is_given_up_after_its_retries(void **state)
{
    (void)state;
    for (int32_t arbiter = 0; arbiter < 2; arbiter++) {
        struct told *t = tell(&(struct story){.yaml = FAILING("3"), .jobs = failing_job, .arbiter = arbiter,
                                              .level = RECORD_LEVEL_FULL});
        double useful = told_real(t, "workload", 0, "done_s") * 8 / 3600;
        assert_near(told_metric(t, "training.failed"), 1, 0);
        assert_near(told_metric(t, "training.finished"), 0, 0);
        assert_near(told_metric(t, "training.unfinished"), 0, 1e-9);
        assert_near(useful + told_metric(t, "training.abandoned"), 64, 1e-6);
        assert_true(told_metric(t, "training.lost") > 0);
        assert_true(told_metric(t, "training.rework") <= told_metric(t, "training.lost") + 1e-9);
        if (arbiter == 0) /* one start and three retries in place */
            assert_int_equal(told_card_ms(t, "loading"), 4 * 100 * 8 * S);
        told_free(t);
    }
}

/* Without a retry the only attempt is the one that fails: nothing is computed twice. */
static void failures_are_the_same_under_every_arbiter(void **state)
{
    (void)state;
    double done[2];
    for (int32_t arbiter = 0; arbiter < 2; arbiter++) {
        struct told *t = tell(&(struct story){.yaml = FAILING("0"), .jobs = failing_job, .arbiter = arbiter});
        done[arbiter] = told_metric(t, "training.abandoned");
        assert_near(told_metric(t, "training.rework"), 0, 0);
        assert_true(done[arbiter] > 0 && done[arbiter] < 64);
        told_free(t);
    }
    assert_near(done[0], done[1], 1e-12);
}

/* ---- decision delay ---- */

/* The queue tries pool b first: until the decision the job blocks two cards there. */
static void a_decision_delay_blocks_idle_cards_of_the_first_flavor(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD "horizon: 2000s\n"
                     "fleet:\n"
                     "  nodePools:\n"
                     "    - {name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}\n"
                     "    - {name: b, card: A100-80, nodes: 1, pricePerCard: 1usd/h}\n"
                     "queues: [{name: q, cards: {b: 8, a: 8}}]\n"
                     "demand: {training: [{name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}]}\n"
                     "arbiters: [{preset: cohort, decisionDelay: 300s}]\n",
        .jobs = "submit_s,duration_s,cards_per_worker\n100,1000,2\n"});
    assert_int_equal(told_card_ms(t, "idle_blocked"), 300 * 2 * S);
    assert_near(told_metric_of(t, "node_pool", "b", "idle.blocked"), 600 / 16000.0, 1e-12);
    assert_near(told_metric_of(t, "node_pool", "a", "idle.blocked"), 0, 0);
    assert_near(told_metric(t, "training.wait.max"), 300, 0);
    assert_int_equal(told_card_ms(t, "training_useful"), 1000 * 2 * S);
    told_free(t);
}

/* ---- quota by flavor ---- */

/*
 * q owns 8 cards of a and none of b. It uses 4 of a, and 8 of b that it borrows from r, though it
 * uses no more in all than it owns. r and s leave 8 and 4 of b unused: they lend two to one.
 */
static void borrowing_is_counted_per_flavor(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD "horizon: 1000s\n"
                     "fleet:\n"
                     "  nodePools:\n"
                     "    - {name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}\n"
                     "    - {name: b, card: A100-80, nodes: 3, cardsPerNode: 4, pricePerCard: 1usd/h}\n"
                     "cohorts: [{name: all}]\n"
                     "queues:\n"
                     "  - {name: q, cohortName: all, cards: {a: 8, b: 0}}\n"
                     "  - {name: r, cohortName: all, cards: {b: 8}}\n"
                     "  - {name: s, cohortName: all, cards: {b: 4}}\n"
                     "demand:\n"
                     "  training:\n"
                     "    - {name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}\n"
                     "arbiters: [{preset: cohort}]\n",
        .jobs = "submit_s,duration_s,workers,cards_per_worker\n0,5000,1,5\n0,5000,2,4\n"});
    assert_near(told_metric_of(t, "team", "q", "quota.nominal"), 8, 0);
    assert_near(told_metric_of(t, "team", "q", "quota.used"), 13, 1e-9);
    assert_near(told_metric_of(t, "team", "q", "quota.borrowed"), 8, 1e-9);
    assert_near(told_metric_of(t, "team", "r", "quota.lent"), 8 * 8 / 12.0, 1e-9);
    assert_near(told_metric_of(t, "team", "s", "quota.lent"), 8 * 4 / 12.0, 1e-9);
    told_free(t);
}

/* ---- who pays ---- */

/* Prices and times that share badly: the rows by team are the rows by node pool to the last unit. */
static void what_teams_pay_is_what_the_nodes_cost(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD "horizon: 7777s\n"
                     "fleet:\n"
                     "  nodePools:\n"
                     "    - {name: a, card: H100-80, nodes: 3, cardsPerNode: 7, pricePerCard: 1.234567usd/h}\n"
                     "    - {name: unused, card: A100-80, nodes: 1, pricePerCard: 0.99usd/h}\n"
                     "queues: [{name: q, cards: {a: 7}}, {name: r, cards: {a: 7}}, {name: s, cards: {a: 7}}]\n"
                     "demand:\n"
                     "  training:\n"
                     "    - {name: s, queue: q, restart: 0s, file: jobs.csv, queueColumn: queue}\n"
                     "arbiters: [{preset: hyperpod, engineers: 1}]\n",
        .jobs = "submit_s,duration_s,cards_per_worker,queue\n0,1001,3,q\n17,333,5,r\n19,2000,1,s\n"});
    int64_t teams = 0, idle = 0, nodes = told_uusd(t, "nodes");
    for (int32_t i = 0; i < told_rows(t, "cost"); i++) {
        const char *team = told_text(t, "cost", i, "team");
        int64_t uusd = (int64_t)told_real(t, "cost", i, "uusd");
        teams += team != NULL ? uusd : 0;
        idle += team != NULL && strcmp(team, "__idle__") == 0 ? uusd : 0;
    }
    assert_int_equal(teams, nodes);
    /* 8 cards at 0.99 x 1.15 usd: 9,108,000 micro-USD an hour */
    assert_int_equal(idle, (INT64_C(9108000) * 7777 + 1800) / 3600);
    told_free(t);
}

/* ---- what has not ended ---- */

/* The replica is not ready in time: all 600 requests wait, all but those of the last second are
 * late, and the median latency is at least half of the time. */
static void requests_that_nobody_answers_are_late(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD "horizon: 600s\n"
                     "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, cardsPerNode: 1, pricePerCard: 1usd/h}]}\n"
                     "queues: [{name: q, cards: {a: 1}}]\n"
                     "demand:\n"
                     "  services:\n"
                     "    - {name: v, kind: simple, queue: q, engineStart: 700s, serviceTime: {mean: 100ms, cv: 0},\n"
                     "       traffic: {file: traffic.csv}, slo: {latency: 1s}}\n"
                     "arbiters: [{preset: pools}]\n",
        .traffic = "t_s,step_s,rate_per_s\n0,600,1\n"});
    assert_near(told_metric(t, "inference.queued"), 600, 1e-6);
    assert_near(told_metric(t, "inference.slo_attainment"), 0, 1e-12);
    assert_near_rel(told_metric(t, "inference.latency.p50"), 300.0, 0.02);
    assert_near_rel(told_metric(t, "inference.latency.p99"), 594.0, 0.02);
    told_free(t);
}

/* Ten jobs, the first runs: nine wait, with ages in the table and no upper end. */
static void jobs_that_never_started_are_in_the_histogram(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD "horizon: 1000s\n"
                     "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"
                     "queues: [{name: q, cards: {a: 8}}]\n"
                     "demand: {training: [{name: s, queue: q, restart: 0s, file: jobs.csv}]}\n"
                     "arbiters: [{preset: pools}]\n",
        .jobs = "submit_s,duration_s,cards_per_worker\n0,5000,8\n500,1,8\n500,1,8\n500,1,8\n500,1,8\n"
                "500,1,8\n500,1,8\n500,1,8\n500,1,8\n500,1,8\n"});
    double ended = 0, open = 0;
    for (int32_t i = 0; i < told_rows(t, "histogram"); i++) {
        if (strcmp(told_text(t, "histogram", i, "name"), "training.wait") != 0)
            continue;
        double hi = told_real(t, "histogram", i, "hi"), mass = told_real(t, "histogram", i, "mass");
        ended += isnan(hi) ? 0 : mass;
        open += isnan(hi) ? mass : 0;
        if (isnan(hi))
            assert_between(told_real(t, "histogram", i, "lo"), 490, 500);
    }
    assert_near(ended, 1, 0);
    assert_near(open, 9, 0);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_always_fails_is_given_up_after_its_retries),
        cmocka_unit_test(failures_are_the_same_under_every_arbiter),
        cmocka_unit_test(a_decision_delay_blocks_idle_cards_of_the_first_flavor),
        cmocka_unit_test(borrowing_is_counted_per_flavor),
        cmocka_unit_test(what_teams_pay_is_what_the_nodes_cost),
        cmocka_unit_test(requests_that_nobody_answers_are_late),
        cmocka_unit_test(jobs_that_never_started_are_in_the_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
