/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explanations of decisions that were written down by hand. */
#include "analysis/explain.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/regress_priv.h"
#include "analysis/wrap.h"
#include "tests/analysis/explain_told.h"

static const struct gate_job jobs[] = {{"x", "red", 0, 0, 0, 1, NULL},
                                       {"y", "red", 0, 10, 100, 0, "NoFit"},
                                       {"z", "red", 0, 20, -1, 0, "QueueOrder"},
                                       {NULL, NULL, 0, 0, 0, 0, NULL}};

/* x holds the queue; y is the head of its group, z of the same group waits behind it; v is alone. */
static const struct gate_decision decisions[] = {
    {0, "x", "submitted", "group 0", "rank 1 of 1 in its queue; asks 8 cards, priority 0", 0},
    {0, "x", "admitted", "Fit", "8 cards of a; the queue then uses 8 of 8", 0},
    {10, "y", "submitted", "group 1", "rank 1 of 1 in its queue; asks 4 cards, priority 0", 0},
    {10, "y", "waiting", "NoFit", "asks 4; a: available 0 of 8: nominal 8 − used 8 + borrowable 0", 7},
    {20, "z", "submitted", "group 1", "rank 2 of 2 in its queue; asks 4 cards, priority 0", 0},
    {30, "v", "submitted", "group 2", "rank 3 of 3 in its queue; asks 1 cards, priority 0", 0},
    {90, "x", "evicted", "InCohortReclamation", "for w (queue p, priority 9)", 0},
    {100, "y", "admitted", "Fit", "4 cards of a; the queue then uses 4 of 8", 0},
    {120, "y", "finished", "Done", "after 1m 50s", 0},
    {130, "z", "admitted", "Fit", "4 cards of a; the queue then uses 4 of 8", 0},
    {0, NULL, NULL, NULL, NULL, 0}};

static const struct gate_run run = {.jobs = jobs, .decisions = decisions};

static void a_wait_shows_arithmetic_meaning_and_what_wakes(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.name = "y"}));
    told_says(&t, "y under cohort, replication 0\n");
    told_says(&t, "  waited 90.0s, last for NoFit, evicted 0 times, rework 0.02 card-h\n");
    told_says(&t, "  00:00:10     waiting     NoFit, repeated 7 times\n"
                    "                           asks 4; a: available 0 of 8: nominal 8 − used 8 +\n"
                    "                             borrowable 0\n"
                    "                           = no flavor it may use has the quota, and evicting\n");
    told_says(&t, "wakes when: a workload of its cohort ends or is");
    told_says(&t, "  00:02:00     finished    Done\n");
    told_done(&t);
}

/* z was never the head: what y was told before z was admitted held for it as well. */
static void a_workload_behind_others_is_told_what_its_group_was(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.name = "z"}));
    told_says(&t, "waiting     NoFit, said to y of its group, repeated 7 times\n");
    assert_true(strstr(t.text, "waiting     NoFit") < strstr(t.text, "admitted    Fit"));
    told_done(&t);
}

/* Nobody of v's group was ever looked at. */
static void a_workload_that_was_never_looked_at_waits_for_its_turn(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.name = "v"}));
    told_says(&t, "waiting     QueueOrder\n");
    told_says(&t, "wakes when: it comes first\n");
    told_done(&t);
}

static void json_names_for_whom_one_was_evicted(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.name = "x", .format = ROWS_JSON}));
    told_says(&t, "\"kind\": \"evicted\", \"reason\": \"InCohortReclamation\"");
    told_says(&t, "\"for\": \"w\"");
    told_done(&t);
}

static void an_eviction_explains_its_rule(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.name = "x"}));
    told_says(&t, "evicted     InCohortReclamation\n");
    told_says(&t, "for w (queue p, priority 9)\n");
    told_says(&t, "(reclaimWithinCohort)\n");
    told_done(&t);
}

/* At 50 s: x admitted; y, z and v wait. At 110: y admitted, x evicted, z and v wait. */
static void an_instant_counts_who_waits_and_who_holds(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.what = EXPLAIN_AT, .t_ns = 50000000000, .limit = 4}));
    told_says(&t, "  q                                                3         1         0\n");
    told_says(&t, "00:01:30     evicted");
    assert_null(strstr(t.text, "00:02:00"));
    told_done(&t);
    t = (struct told){0};
    assert_true(told_ask(&t, &run, &(struct explain_query){.what = EXPLAIN_AT, .t_ns = 110000000000, .limit = 4}));
    told_says(&t, "  q                                                2         1         1\n");
    told_done(&t);
}

static void a_queue_counts_its_answers(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.what = EXPLAIN_QUEUE, .name = "q", .t_ns = INT64_MAX, .limit = 2}));
    told_says(&t, "  3 jobs, 2 started, 0 finished; wait ≥");
    told_says(&t, "  waiting NoFit                                   1  repeated 7 times\n");
    told_says(&t, "  the last 2\n");
    told_done(&t);
}

static void an_unknown_name_is_refused_with_the_nearest(void **state)
{
    (void)state;
    static const struct gate_job named[] = {{"research-12", "red", 0, 0, 0, 0, NULL}, {NULL, NULL, 0, 0, 0, 0, NULL}};
    struct told t;
    assert_false(told_ask(&t, &(struct gate_run){.jobs = named}, &(struct explain_query){.name = "reserch-12"}));
    assert_int_equal(t.err.code, ERR_INPUT);
    assert_string_equal(t.err.text, "no workload 'reserch-12' under cohort, replication 0; did you mean 'research-12'?");
    told_done(&t);
}

static void json_holds_the_same_rows(void **state)
{
    (void)state;
    struct told t;
    assert_true(told_ask(&t, &run, &(struct explain_query){.name = "z", .format = ROWS_JSON}));
    told_says(&t, "{\"arbiter\": \"cohort\", \"replication\": 0, \"workload\": \"z\", \"job\": {\"class\": \"training\"");
    told_says(&t, "\"start_s\": null");
    told_says(&t, "\"kind\": \"waiting\", \"reason\": \"NoFit\", \"detail\": \"asks 4; a: available 0 of 8");
    told_says(&t, "\"repeats\": 7, \"of_group\": true}");
    told_done(&t);
}

/* Twelve columns; the first line begins at column 4 ("ab " printed before it would end there). */
/* A database that somebody changed: no time, and texts that are far longer than any line. */
static void absurd_instants_and_endless_names_are_only_printed(void **state)
{
    (void)state;
    char text[FIGURE_SIZE];
    const double absurd[] = {HUGE_VAL, -HUGE_VAL, 1e300, -9e18};
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        regress_time_text(text, absurd[i]);
        assert_string_equal(text, "?");
    }
    regress_time_text(text, 90061);
    assert_string_equal(text, "1d 01:01:01");

    char name[701] = "";
    memset(name, 'n', sizeof name - 1);
    const struct gate_decision one[] = {{0, "x", "admitted", name, "fits", 3}, {0, NULL, NULL, NULL, NULL, 0}};
    struct told t;
    assert_true(told_ask(&t, &(struct gate_run){.jobs = jobs, .decisions = one},
                    &(struct explain_query){.what = EXPLAIN_AT, .t_ns = 50000000000, .limit = 4}));
    told_says(&t, name);
    told_says(&t, "repeated 3 times");
    told_done(&t);
}

static void text_is_wrapped_by_columns_not_bytes(void **state)
{
    (void)state;
    char text[200] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    wrap_print(out, "one two − three  verylongwordindeed x", 12, 4, 2);
    (void)fclose(out);
    assert_string_equal(text, "one two\n  − three\n  verylongwordindeed\n  x\n");
    out = fmemopen(text, sizeof text - 1, "w");
    wrap_print(out, "averylongone b", 16, 8, 6); /* first word: a line of its own, as far right as it fits */
    wrap_print(out, "aa averylongone", 16, 2, 6);
    wrap_print(out, "a verylongwordindeed x", 12, 4, 6);
    wrap_printf(out, 12, 2, 3, "%s is %d", "something", 5);
    (void)fclose(out);
    assert_string_equal(text, "\n    averylongone\n      b\naa\n    averylongone\na\n  verylongwordindeed\n      x\n  something\n   is 5\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_shows_arithmetic_meaning_and_what_wakes),
        cmocka_unit_test(a_workload_behind_others_is_told_what_its_group_was),
        cmocka_unit_test(a_workload_that_was_never_looked_at_waits_for_its_turn),
        cmocka_unit_test(an_eviction_explains_its_rule),
        cmocka_unit_test(json_names_for_whom_one_was_evicted),
        cmocka_unit_test(an_instant_counts_who_waits_and_who_holds),
        cmocka_unit_test(a_queue_counts_its_answers),
        cmocka_unit_test(an_unknown_name_is_refused_with_the_nearest),
        cmocka_unit_test(json_holds_the_same_rows),
        cmocka_unit_test(absurd_instants_and_endless_names_are_only_printed),
        cmocka_unit_test(text_is_wrapped_by_columns_not_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
