/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What --record full says about worlds that can be counted by hand: names, ranks, arithmetic,
 * evictions, ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define HEAD(arbiter)                                                                              \
    "name: record\n"                                                                               \
    "horizon: 1000s\n"                                                                             \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"             \
    "transfer: {processStart: 0s}\n"                                                               \
    "arbiters: [{" arbiter ", requeueBatch: 0s}]\n"
#define STREAM                                                                                     \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, queueColumn: queue, restart: 0s,\n"                             \
    "       checkpoint: {interval: 0s, stall: 0s}, file: jobs.csv}\n"

static const char one_queue[] = HEAD("preset: cohort") "queues: [{name: q, cards: {a: 8}}]\n" STREAM;

/* Three jobs of which the first takes all eight cards for 100 s. */
static const char three_jobs[] = "submit_s,duration_s,cards_per_worker,queue\n"
                                 "0,100,8,q\n"
                                 "10,50,4,q\n"
                                 "20,2000,4,q\n";

/* Row of the n-th decision (from 0) about the workload of this kind; -1: none. */
static int32_t decision(const struct told *t, const char *workload, const char *kind, int n)
{
    for (int32_t i = 0; i < told_rows(t, "decision"); i++)
        if (strcmp(told_text(t, "decision", i, "workload"), workload) == 0 &&
            strcmp(told_text(t, "decision", i, "kind"), kind) == 0 && n-- == 0)
            return i;
    return -1;
}

static void assert_decision(const struct told *t, int32_t row, double t_s, const char *reason, const char *detail)
{
    assert_true(row >= 0);
    assert_near(told_real(t, "decision", row, "t_ns") / 1e9, t_s, 1e-9);
    assert_string_equal(told_text(t, "decision", row, "reason"), reason);
    assert_string_equal(told_text(t, "decision", row, "detail"), detail);
}

static int32_t job(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "workload"); i++)
        if (strcmp(told_text(t, "workload", i, "id"), id) == 0)
            return i;
    fail_msg("no job '%s'", id);
    return -1;
}

/* Four cards are asked and none of eight is free; the nominal quota would hold them, so Kueue looks
 * for victims (spec 3.4) and its rules allow none. */
static void a_waiting_job_says_what_it_asks_and_what_is_left(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = one_queue, .jobs = three_jobs, .level = RECORD_LEVEL_FULL});
    assert_decision(t, decision(t, "s-0", "submitted", 0), 0, "group 0",
                    "rank 1 of 1 in its queue; asks 8 cards, priority 0");
    assert_decision(t, decision(t, "s-0", "admitted", 0), 0, "Fit", "8 cards of a; the queue then uses 8 of 8");
    assert_decision(t, decision(t, "s-1", "submitted", 0), 10, "group 1",
                    "rank 1 of 1 in its queue; asks 4 cards, priority 0");
    assert_decision(t, decision(t, "s-1", "waiting", 0), 10, "PreemptionNoCandidates",
                    "asks 4; a: available 0 of 8: nominal 8 − used 8 + borrowable 0");
    assert_decision(t, decision(t, "s-2", "submitted", 0), 20, "group 1",
                    "rank 2 of 2 in its queue; asks 4 cards, priority 0");
    /* a cycle admits one head of each queue */
    assert_decision(t, decision(t, "s-1", "admitted", 0), 100, "Fit", "4 cards of a; the queue then uses 4 of 8");
    assert_decision(t, decision(t, "s-2", "admitted", 0), 100, "Fit", "4 cards of a; the queue then uses 8 of 8");
    told_free(t);
}

/* s-1 runs from 100 to 150, s-2 from 100 to the horizon at 1000. */
static void every_job_has_one_row(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = one_queue, .jobs = three_jobs, .level = RECORD_LEVEL_FULL});
    assert_int_equal(told_rows(t, "workload"), 3);
    assert_near(told_real(t, "workload", job(t, "s-1"), "start_s"), 100, 0);
    assert_near(told_real(t, "workload", job(t, "s-1"), "finish_s"), 150, 0);
    assert_near(told_real(t, "workload", job(t, "s-1"), "cards_milli"), 4000, 0);
    assert_string_equal(told_text(t, "workload", job(t, "s-1"), "wait_reason"), "PreemptionNoCandidates");
    assert_near(told_real(t, "workload", job(t, "s-2"), "done_s"), 900, 0);
    assert_near(told_real(t, "workload", job(t, "s-2"), "work_s"), 2000, 0);
    assert_true(told_real(t, "workload", job(t, "s-2"), "finish_s") != told_real(t, "workload", job(t, "s-2"), "finish_s"));
    told_free(t);
}

/* a borrows b's four cards; b's own job at 100 takes them back. a has run 100 s on 8 cards without a
 * checkpoint: 800 card-seconds are lost, 13.3 card-minutes. Its cards drain for 30 s. */
static void an_eviction_names_both_sides_the_rule_and_the_loss(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD("preset: cohort")
        "cohorts: [{name: c}]\n"
        "queues:\n"
        "  - {name: q, cohortName: c, cards: {a: 4}}\n"
        "  - {name: b, cohortName: c, cards: {a: 4}, preemption: {reclaimWithinCohort: Any}}\n" STREAM,
        .jobs = "submit_s,duration_s,cards_per_worker,queue\n0,500,8,q\n100,50,4,b\n",
        .level = RECORD_LEVEL_FULL});
    assert_decision(t, decision(t, "s-0", "admitted", 0), 0, "Fit",
                    "8 cards of a; the queue then uses 8 of 4, borrows 4");
    assert_decision(t, decision(t, "s-1", "preempts", 0), 100, "InCohortReclamation",
                    "evicts s-0 (queue q, priority 0)");
    assert_decision(t, decision(t, "s-0", "evicted", 0), 100, "InCohortReclamation",
                    "for s-1 (queue b, priority 0); lost 13.3 card-minutes of work");
    assert_decision(t, decision(t, "s-1", "preempting", 0), 100, "PendingPreemption",
                    "asks 4; a: available 0 of 4: nominal 4 − used 0 − lent 4");
    assert_near(told_real(t, "decision", decision(t, "s-0", "released", 0), "t_ns"), 130e9, 0);
    assert_near(told_real(t, "workload", job(t, "s-1"), "start_s"), 130, 0);
    assert_near(told_real(t, "workload", job(t, "s-0"), "evictions"), 1, 0);
    told_free(t);
}

/* Jobs of one instant stand in the order in which they come; a higher priority stands before them. */
static void jobs_of_one_instant_have_different_ranks(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = one_queue,
        .jobs = "submit_s,duration_s,cards_per_worker,queue,priority\n0,100,8,q,0\n10,5,8,q,0\n10,5,8,q,0\n10,5,8,q,9\n",
        .level = RECORD_LEVEL_FULL});
    static const char *const ranks[] = {"rank 1 of 1 in its queue; asks 8 cards, priority 0",
                                        "rank 1 of 1 in its queue; asks 8 cards, priority 0",
                                        "rank 2 of 2 in its queue; asks 8 cards, priority 0",
                                        "rank 1 of 3 in its queue; asks 8 cards, priority 9"};
    for (int32_t i = 0; i < 4; i++) {
        char name[16] = {'s', '-', (char)('0' + i), '\0'};
        assert_string_equal(told_text(t, "decision", decision(t, name, "submitted", 0), "detail"), ranks[i]);
    }
    told_free(t);
}

/* Started pod by pod, under the same name. */
static void a_gang_of_pods_goes_by_the_name_of_its_job(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD("preset: pools") "queues: [{name: q, cards: {a: 8}}]\n" STREAM,
        .jobs = "submit_s,duration_s,workers,cards_per_worker,queue\n0,100,2,4,q\n",
        .level = RECORD_LEVEL_FULL});
    assert_decision(t, decision(t, "s-0", "submitted", 0), 0, "group 0",
                    "rank 1 of 1 in its queue; asks 2 x 4 = 8 cards, priority 0, pod by pod");
    assert_decision(t, decision(t, "s-0", "admitted", 1), 0, "Fit",
                    "pod 2 of 2: 4 cards of a; the queue then uses 8 of 8");
    assert_int_equal(told_rows(t, "workload"), 1);
    told_free(t);
}

/* What was recorded does not change what happened. */
static void recording_changes_no_job(void **state)
{
    (void)state;
    struct told *full = tell(&(struct story){.yaml = one_queue, .jobs = three_jobs, .level = RECORD_LEVEL_FULL});
    struct told *less = tell(&(struct story){.yaml = one_queue, .jobs = three_jobs});
    static const char *const names[] = {"training.finished", "training.wait.max", "training.wait.mean",
                                        "training.preemptions", "utilization.real"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_near(told_metric(full, names[i]), told_metric(less, names[i]), 0);
    assert_int_equal(told_rows(less, "decision") + told_rows(less, "workload"), 0);
    told_free(full);
    told_free(less);
}

/* The intervals of a service follow each other, and hold all its requests. */
static void intervals_of_a_service_join_and_add_up(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = HEAD("preset: cohort")
        "queues: [{name: q, cards: {a: 8}}]\n"
        "demand:\n"
        "  trafficStep: 100s\n"
        "  services:\n"
        "    - {name: web, kind: simple, queue: q, cardsPerReplica: 1, minReplicaCount: 1, maxReplicaCount: 4,\n"
        "       serviceTime: {mean: 100ms, cv: 1}, traffic: {base: 5/s}, slo: {latency: 2s, target: 0.9}}\n",
        .level = RECORD_LEVEL_FULL});
    double at = 0, arrived = 0;
    for (int32_t i = 0; i < told_rows(t, "service_interval"); i++) {
        assert_near(told_real(t, "service_interval", i, "t_s"), at, 1e-9);
        at += told_real(t, "service_interval", i, "duration_s");
        arrived += told_real(t, "service_interval", i, "arrivals");
    }
    assert_near(at, 1000, 1e-9);
    assert_near(arrived, 5000, 1e-6);
    assert_near(arrived, told_metric(t, "inference.arrived"), 1e-6);
    assert_true(decision(t, "web/0", "started", 0) >= 0);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiting_job_says_what_it_asks_and_what_is_left),
        cmocka_unit_test(every_job_has_one_row),
        cmocka_unit_test(an_eviction_names_both_sides_the_rule_and_the_loss),
        cmocka_unit_test(jobs_of_one_instant_have_different_ranks),
        cmocka_unit_test(a_gang_of_pods_goes_by_the_name_of_its_job),
        cmocka_unit_test(recording_changes_no_job),
        cmocka_unit_test(intervals_of_a_service_join_and_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
