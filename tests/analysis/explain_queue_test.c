/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queue and an instant: quota at every node, who waits and who holds, of rows written down by hand. */
#include "analysis/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/analysis/explain_told.h"

/*
 * Cohort r has 1 card of its own; below it the queues q (8 cards, of which 4 may be lent), b (4) and
 * c (4). At 50 s q uses 2, b 9, c 1. b uses 5 beyond its own. In the pot of r are 4 of q (its other 4
 * are never lent, and it uses less than those), 3 of c, 1 of r: 5 of 8 are taken, from each in
 * proportion. q lends 4 x 5/8 = 2.5, c 3 x 5/8 = 1.875. Free: q 8 - 2 - 2.5, c 4 - 1 - 1.875,
 * b 4 - 9 + 5, in all of r 17 - 12.
 */
static void node(const struct record_sink *sink, int64_t run, const char *name, const char *parent, double own, double nominal,
                 double lend)
{
    const bool cohort = parent == NULL;
    struct record_value v[] = {rec_int(run),  rec_text(name),      rec_text(cohort ? "cohort" : "queue"),
                               rec_text(name), cohort ? rec_null() : rec_text(parent), rec_text("r"),
                               rec_text("a"), rec_text("nvidia.com/gpu"), rec_real(own), rec_real(nominal), rec_real(17),
                               rec_null(),    lend < 0 ? rec_null() : rec_real(lend)};
    record_row(sink, &table_quota_node, v);
}

static void holds(const struct record_sink *sink, int64_t run, const char *workload, const char *queue, double cards,
                  double from_s, double to_s)
{
    struct record_value v[] = {rec_int(run),      rec_text(workload),  rec_text(queue),
                               rec_text("a"),     rec_text("nvidia.com/gpu"), rec_real(cards),
                               rec_int((int64_t)(from_s * 1e9)), to_s < 0 ? rec_null() : rec_int((int64_t)(to_s * 1e9))};
    record_row(sink, &table_holding, v);
}

static void tree(const struct record_sink *sink, int64_t run)
{
    node(sink, run, "q", "r", 8, 8, 4);
    node(sink, run, "b", "r", 4, 4, -1);
    node(sink, run, "c", "r", 4, 4, -1);
    node(sink, run, "r", NULL, 1, 17, -1);
    holds(sink, run, "x", "q", 2, 0, 60);
    holds(sink, run, "b1", "b", 9, 5, -1);
    holds(sink, run, "c1", "c", 1, 5, 50.5);
    holds(sink, run, "y", "q", 4, 60, -1);
    struct record_value tried[] = {rec_int(run),  rec_int(5),  rec_int(0),  rec_text("a"), rec_text("nvidia.com/gpu"),
                                   rec_text("NoCandidates"), rec_real(8), rec_real(5), rec_real(8), rec_real(2), rec_null(),
                                   rec_real(4), rec_real(17), rec_int(1)};
    record_row(sink, &table_nomination, tried);
    struct record_value share[] = {rec_int(run), rec_int(5), rec_int(0), rec_text("q"), rec_real(0), rec_null()};
    record_row(sink, &table_decision_share, share);
    struct record_value spared[] = {rec_int(run), rec_int(5), rec_int(0), rec_text("b2")};
    record_row(sink, &table_decision_spared, spared);
    struct record_value alarm[] = {rec_int(run), rec_real(30), rec_real(60), rec_text("q"), rec_text("big"),
                                   rec_text("QuotaInUse"), rec_text("asks 6 of 6")};
    record_row(sink, &table_alarm, alarm);
}

static const struct gate_job jobs[] = {{"x", "red", 0, 0, 0, 1, NULL},      {"big", "red", 5, 30, -1, 0, "NoFit"},
                                       {"late", "red", 0, 20, -1, 0, NULL}, {"early", "red", 0, 10, -1, 0, NULL},
                                       {"y", "red", 0, 0, 60, 0, NULL},     {NULL, NULL, 0, 0, 0, 0, NULL}};

/* big has the highest priority; early and late are of one group, of which late was told something.
 * y was evicted at 40 s and is not yet looked at again. */
static const struct gate_decision decisions[] = {
    {0, "x", "submitted", "group 0", "priority 0", 0},
    {0, "x", "admitted", "Fit", "2 cards of a", 0},
    {10, "early", "submitted", "group 1", "priority 0", 0},
    {20, "late", "submitted", "group 1", "priority 0", 0},
    {30, "big", "submitted", "group 2", "priority 5", 0},
    {30, "big", "waiting", "PreemptionNoCandidates", "the numbers", 3},
    {35, "late", "waiting", "NoFit", "words of the group", 0},
    {36, "y", "submitted", "group 3", "priority 0", 0},
    {40, "y", "evicted", "InClusterQueue", "for big", 0},
    {60, "x", "finished", "Done", "after 60 s", 0},
    {60, "y", "admitted", "Fit", "4 cards of a", 0},
    {0, NULL, NULL, NULL, NULL, 0}};

static const struct gate_run run = {.jobs = jobs, .decisions = decisions, .more = tree};

static const struct explain_query at_50 = {.what = EXPLAIN_QUEUE, .name = "q", .t_ns = 50000000000, .limit = 40};

static void a_queue_shows_its_place_and_what_it_lends_then(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &at_50));
    told_says(&t, "queue q under cohort, replication 0, at 00:00:50\n  place: r > q\n");
    told_says(&t, "  cohort r\n"
                    "    a nvidia.com/gpu                     17       12        0        0        5\n"
                    "    q\n"
                    "      a nvidia.com/gpu                    8        2        0     2.50     3.50\n"
                    "        lendingLimit 4\n");
    told_done(&t);
}

/* c1 has gone, x as well; y holds 4 of the 8, and b still 9 of which 5 are not its own. The pot is
 * then 4 + 4 + 1, and q lends 4 x 5/9. */
static void at_the_end_of_the_run_it_is_what_is_held_then(void **state)
{
    (void)state;
    struct told t;
    struct explain_query q = at_50;
    q.t_ns = INT64_MAX;
    assert_true(told_ask(&t, &run, &q));
    told_says(&t, "queue q under cohort, replication 0, at the end\n");
    told_says(&t, "      a nvidia.com/gpu                    8        4        0     2.22     1.78\n");
    told_says(&t, "  admitted: 1; the largest:\n       y: 4 nvidia.com/gpu on a, since 00:01:00\n");
    told_done(&t);
}

static void those_that_wait_stand_in_the_order_of_the_queue(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &at_50));
    told_says(&t, "  waiting: 4, by priority, then time\n"
                    "    1  big, priority 5, asks 8, since 00:00:30\n"
                    "       PreemptionNoCandidates, told at 00:00:30, repeated 3 times\n"
                    "       a nvidia.com/gpu: NoCandidates, asks 8, available 5 of 8: nominal 8 −\n"
                    "         used 2 − lent 1; lendingLimit 4; borrows at level 1\n"
                    "       share of q 0 before, beyond all (weight 0) after; fill-back spared b2\n"
                    "       wakes when: a workload of its cohort ends or is evicted, or a quota\n"
                    "         changes; it lacks 3 nvidia.com/gpu on a\n"
                    "    2  early, priority 0, asks 8, since 00:00:10\n"
                    "       NoFit, told at 00:00:35 to late of its group\n"
                    "       words of the group\n");
    told_says(&t, "    3  late, priority 0, asks 8, since 00:00:20\n"
                    "       as number 2 (the same queue, shape and priority)\n"
                    "    4  y, priority 0, asks 8, since 00:00:40\n"
                    "       evicted, InClusterQueue, told at 00:00:40\n");
    told_says(&t, "  admitted: 1; the largest:\n       x: 2 nvidia.com/gpu on a, since 00:00:00\n");
    told_done(&t);
}

static void the_first_few_are_a_quarter_of_the_limit(void **state)
{
    (void)state;
    struct told t;
    struct explain_query q = at_50;
    q.limit = 4;
    assert_true(told_ask(&t, &run, &q));
    told_says(&t, "       and 3 more; all with --limit 0\n");
    assert_null(strstr(t.text, "early"));
    told_done(&t);
}

static void an_alarm_is_shown_while_it_goes_on(void **state)
{
    (void)state;
    struct told t;
    struct explain_query q = at_50;
    assert_true(told_ask(&t, &run, &q));
    told_says(&t, "alarm: big would fit the queue's own quota and stays out since 00:00:30");
    told_done(&t);
    q.t_ns = 61000000000;
    assert_true(told_ask(&t, &run, &q));
    assert_null(strstr(t.text, "alarm:"));
    told_done(&t);
}

static void json_holds_the_tree_the_ranks_and_the_shares(void **state)
{
    (void)state;
    struct told t;
    struct explain_query q = at_50;
    q.format = ROWS_JSON;
    assert_true(told_ask(&t, &run, &q));
    told_says(&t, "\"queue\": \"q\", \"t_ns\": 50000000000, \"tree\": [\"r\", \"q\"]");
    told_says(&t, "\"used\": 2, \"borrowed\": 0, \"lent\": 2.5, \"free\": 3.5, \"borrowing_limit\": null, \"lending_limit\": 4");
    told_says(&t, "{\"rank\": 1, \"workload\": \"big\", \"priority\": 5, \"since_ns\": 30000000000, \"asks\": 8, \"said\": ");
    told_says(&t, "\"shares\": [{\"queue\": \"q\", \"before\": 0, \"after\": null}], \"spared\": [\"b2\"]");
    told_says(&t, "\"admitted\": 1, \"leaving\": 0, \"largest\": [{\"workload\": \"x\"");
    told_done(&t);
}

static void an_instant_shows_every_node_and_who_is_first(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.what = EXPLAIN_AT, .t_ns = 50000000000, .limit = 40}));
    told_says(&t, "    b\n      a nvidia.com/gpu                    4        9        5        0        0\n");
    told_says(&t, "    c\n      a nvidia.com/gpu                    4        1        0     1.88     1.12\n");
    told_says(&t, "  q                                                4         1         0\n");
    told_says(&t, "  first in line\n  q\n    1  big, priority 5, asks 8, since 00:00:30\n");
    told_done(&t);
}

/* A queue of the tree in which nothing was decided. */
static void a_queue_without_a_decision_is_one_of_the_tree(void **state)
{
    (void)state;
    struct told t;
    struct explain_query q = at_50;
    q.name = "c";
    assert_true(told_ask(&t, &run, &q));
    told_says(&t, "  place: r > c\n");
    told_says(&t, "  waiting: 0\n");
    told_done(&t);
    q.name = "d";
    assert_false(told_ask(&t, &run, &q));
    assert_int_equal(t.err.code, ERR_INPUT);
    told_done(&t);
    q.name = "r";
    assert_false(told_ask(&t, &run, &q));
    assert_string_equal(t.err.text, "'r' is a cohort, not a queue; --at shows every node of the tree");
    told_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_shows_its_place_and_what_it_lends_then),
        cmocka_unit_test(at_the_end_of_the_run_it_is_what_is_held_then),
        cmocka_unit_test(those_that_wait_stand_in_the_order_of_the_queue),
        cmocka_unit_test(the_first_few_are_a_quarter_of_the_limit),
        cmocka_unit_test(an_alarm_is_shown_while_it_goes_on),
        cmocka_unit_test(json_holds_the_tree_the_ranks_and_the_shares),
        cmocka_unit_test(an_instant_shows_every_node_and_who_is_first),
        cmocka_unit_test(a_queue_without_a_decision_is_one_of_the_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
