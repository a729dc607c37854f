/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate on figures, jobs and decisions chosen so that every verdict is known beforehand. */
#include "analysis/regress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/analysis/gate_db.h"
#include "tests/analysis/tiny_db.h"
#include "tests/store/near.h"
#include "tests/store/scratch.h"

struct gate {
    struct scratch scratch;
    struct results before, after;
    struct tolerance_list tolerance;
    struct regress r;
    struct err err;
};

static bool judge(struct gate *g, const char *tolerance, bool strict)
{
    struct diag_list diags = {0};
    assert_true(tolerance_read_text(&g->tolerance, "t", tolerance, strlen(tolerance), &diags));
    diag_fini(&diags);
    struct regress_options o = {.tolerance = &g->tolerance, .top = 2, .strict = strict};
    return results_open(&g->before, scratch_file(&g->scratch, "a.db"), &g->err) &&
           results_open(&g->after, scratch_file(&g->scratch, "b.db"), &g->err) &&
           regress_read(&g->r, &g->before, &g->after, &o, &g->err);
}

static void done(struct gate *g)
{
    regress_fini(&g->r);
    results_close(&g->before);
    results_close(&g->after);
    tolerance_fini(&g->tolerance);
    scratch_close(&g->scratch);
}

/* Both sides of one metric of one arbiter over n replications. */
static struct regress_finding of_values(const char *metric, const char *tolerance, const double *before,
                                        const double *after, int n)
{
    struct gate g = {0};
    struct tiny a[8], b[8];
    scratch_open(&g.scratch);
    for (int i = 0; i < n; i++) {
        a[i] = (struct tiny){"cohort", i, "all", "", metric, before[i], 0};
        b[i] = (struct tiny){"cohort", i, "all", "", metric, after[i], 0};
    }
    assert_true(tiny_db(scratch_file(&g.scratch, "a.db"), a, (size_t)n, 7, &g.err));
    assert_true(tiny_db(scratch_file(&g.scratch, "b.db"), b, (size_t)n, 7, &g.err));
    assert_true(judge(&g, tolerance, false));
    struct regress_finding f = {.verdict = REGRESS_SAME, .allowed = -1};
    if (g.r.finding_count > 0)
        f = g.r.findings[0];
    assert_int_equal(regress_status(&g.r), f.verdict == REGRESS_WORSE ? 1 : 0);
    done(&g);
    return f;
}

#define VALUES(...) ((const double[]){__VA_ARGS__})

/* 5 % of 100 s is 5 s. */
static void one_replication_decides_by_its_figure(void **state)
{
    (void)state;
    assert_int_equal(of_values("training.wait.p50", "", VALUES(100), VALUES(104.9), 1).verdict, REGRESS_SAME);
    assert_int_equal(of_values("training.wait.p50", "", VALUES(100), VALUES(105.1), 1).verdict, REGRESS_WORSE);
    assert_int_equal(of_values("training.wait.p50", "", VALUES(100), VALUES(94.9), 1).verdict, REGRESS_BETTER);
    assert_near(of_values("training.wait.p50", "", VALUES(100), VALUES(105.1), 1).allowed, 5, 1e-12);
}

/* More is better for what is finished, and neither for demand. */
static void the_direction_is_that_of_the_metric(void **state)
{
    (void)state;
    assert_int_equal(of_values("training.finished", "", VALUES(100), VALUES(98), 1).verdict, REGRESS_WORSE);
    assert_int_equal(of_values("training.finished", "", VALUES(100), VALUES(102), 1).verdict, REGRESS_BETTER);
    assert_near(of_values("demand.offered", "", VALUES(0.5), VALUES(0.9), 1).allowed, -1, 0); /* not judged */
}

/* A point of a fraction, absolute. */
static void fractions_are_held_against_points(void **state)
{
    (void)state;
    assert_int_equal(of_values("utilization.real", "", VALUES(0.60), VALUES(0.5901), 1).verdict, REGRESS_SAME);
    assert_int_equal(of_values("utilization.real", "", VALUES(0.60), VALUES(0.5899), 1).verdict, REGRESS_WORSE);
}

static void a_tolerance_file_moves_the_limit(void **state)
{
    (void)state;
    assert_int_equal(of_values("training.wait.p50", "training.wait.p50 all 10m", VALUES(100), VALUES(699), 1).verdict,
                     REGRESS_SAME);
    assert_int_equal(of_values("training.wait.p50", "training.wait.p50 all 10m", VALUES(100), VALUES(701), 1).verdict,
                     REGRESS_WORSE);
    assert_int_equal(of_values("training.wait.p50", "* * ignore", VALUES(100), VALUES(9999), 1).verdict, REGRESS_SAME);
    assert_int_equal(of_values("training.wait.p50", "* team:x ignore", VALUES(100), VALUES(9999), 1).verdict,
                     REGRESS_WORSE);
}

/* Differences 40 and 60: mean 50, s = 14.14, t(1; 0.975) = 12.706, half width 127.06, so the interval
 * holds 0; but both replications are worse by more than 5 s. */
static void two_replications_that_agree_are_enough(void **state)
{
    (void)state;
    struct regress_finding f = of_values("training.wait.p50", "", VALUES(100, 100), VALUES(140, 160), 2);
    assert_near(f.change.mean, 50, 1e-12);
    assert_near(f.change.high - f.change.mean, 127.06, 0.01);
    assert_int_equal(f.verdict, REGRESS_WORSE);
}

/* Differences -10 and 60: mean 25 is beyond the tolerance, but the replications do not agree. */
static void replications_that_do_not_agree_are_unclear(void **state)
{
    (void)state;
    assert_int_equal(of_values("training.wait.p50", "", VALUES(100, 100), VALUES(90, 160), 2).verdict,
                     REGRESS_UNCLEAR);
}

/* Differences 3 9 8 12 8: mean 8 beyond 5, s = 3.2404, t(4) = 2.7764, half width 4.02: above 0, although
 * one replication alone is within the tolerance. */
static void an_interval_that_leaves_out_zero_is_enough(void **state)
{
    (void)state;
    struct regress_finding f = of_values("training.wait.p50", "", VALUES(100, 100, 100, 100, 100),
                                         VALUES(103, 109, 108, 112, 108), 5);
    assert_near(f.change.mean - f.change.low, 4.02, 0.01);
    assert_int_equal(f.verdict, REGRESS_WORSE);
}

static void infinite_latency_on_both_sides_is_no_difference(void **state)
{
    (void)state;
    const double inf = (double)INFINITY;
    assert_int_equal(of_values("inference.latency.p99", "", VALUES(inf), VALUES(inf), 1).verdict, REGRESS_SAME);
    assert_int_equal(of_values("inference.latency.p99", "", VALUES(2), VALUES(inf), 1).verdict, REGRESS_WORSE);
}

/* ---- whole databases ---- */

static void write_both(struct gate *g, const struct gate_run *before, const struct gate_run *after)
{
    scratch_open(&g->scratch);
    assert_true(gate_db(scratch_file(&g->scratch, "a.db"), before, 7, &g->err));
    assert_true(gate_db(scratch_file(&g->scratch, "b.db"), after, 7, &g->err));
}

static void different_demand_is_refused(void **state)
{
    (void)state;
    struct gate g = {0};
    struct gate_run run = {0};
    scratch_open(&g.scratch);
    assert_true(gate_db(scratch_file(&g.scratch, "a.db"), &run, 7, &g.err));
    assert_true(gate_db(scratch_file(&g.scratch, "b.db"), &run, 8, &g.err));
    assert_false(judge(&g, "", false));
    assert_int_equal(g.err.code, ERR_INPUT);
    assert_non_null(strstr(g.err.text, "different demand (replication 0)"));
    done(&g);
}

/* Horizon 1000 s. x waits 10 -> 200, y 0 -> to the end (at least 900), z 50 -> 20, w as before. */
static const struct gate_job jobs_before[] = {{"x", "red", 100, 100, 110, 0, NULL}, {"y", "red", 100, 100, 100, 0, NULL},
                                              {"z", "blue", 0, 100, 150, 1, NULL},  {"w", "blue", 0, 0, 5, 0, NULL},
                                              {NULL, NULL, 0, 0, 0, 0, NULL}};
static const struct gate_job jobs_after[] = {{"x", "red", 100, 100, 300, 2, "NoFit"},
                                             {"y", "red", 100, 100, -1, 0, "NoFit"},
                                             {"z", "blue", 0, 100, 120, 3, NULL},
                                             {"w", "blue", 0, 0, 5, 1, NULL},
                                             {NULL, NULL, 0, 0, 0, 0, NULL}};

static void jobs_are_paired_by_name(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){.jobs = jobs_before}, &(struct gate_run){.jobs = jobs_after});
    assert_true(judge(&g, "", false));
    assert_int_equal(g.r.jobs_paired, 4);
    assert_int_equal(g.r.longer.total, 2);
    assert_string_equal(g.r.longer.items[0].id, "y");
    assert_near(g.r.longer.items[0].wait_after_s, 900, 0);
    assert_false(g.r.longer.items[0].started_after);
    assert_string_equal(g.r.longer.items[1].id, "x");
    assert_string_equal(g.r.longer.items[1].reason, "NoFit");
    assert_int_equal(g.r.jobs_faster, 1);
    assert_near(g.r.waited_longer_s, 900 + 190, 0);
    assert_near(g.r.waited_less_s, 30, 0);
    /* newly evicted: x (2) and w (1); z had one before */
    assert_int_equal(g.r.evicted.total, 2);
    assert_string_equal(g.r.evicted.items[0].id, "x");
    assert_string_equal(g.r.evicted.items[1].id, "w");
    done(&g);
}

static const struct regress_finding *finding(const struct regress *r, const char *metric, const char *kind,
                                             const char *scope)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (strcmp(r->findings[i].def->name, metric) == 0 && strcmp(r->findings[i].kind, kind) == 0 &&
            strcmp(r->findings[i].scope, scope) == 0)
            return &r->findings[i];
    return NULL;
}

/* Priority 100: waits 10, 0 -> 200, 900: mean 5 -> 550. Priority 0: 50, 5 -> 20, 5: 27.5 -> 12.5. */
static void priorities_are_judged_from_their_jobs(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){.jobs = jobs_before}, &(struct gate_run){.jobs = jobs_after});
    assert_true(judge(&g, "", false));
    const struct regress_finding *high = finding(&g.r, "jobs.wait.mean", "priority", "100");
    const struct regress_finding *low = finding(&g.r, "jobs.wait.mean", "priority", "0");
    const struct regress_finding *evicted = finding(&g.r, "jobs.evictions", "priority", "0");
    assert_near(high->before, 5, 1e-12);
    assert_near(high->after, 550, 1e-12);
    assert_int_equal(high->verdict, REGRESS_WORSE);
    assert_true(high->censored);
    assert_near(low->after, 12.5, 1e-12);
    assert_int_equal(low->verdict, REGRESS_BETTER);
    assert_near(evicted->after, 4, 0);
    assert_int_equal(evicted->verdict, REGRESS_WORSE);
    done(&g);
}

static void a_single_job_fails_the_gate_only_where_the_file_says_so(void **state)
{
    (void)state;
    static const char *const files[] = {"* * ignore", "* * ignore\nworkload.wait team:red 5m",
                                        "* * ignore\nworkload.wait team:red 1000s",
                                        "* * ignore\nworkload.evictions priority:0 1",
                                        "* * ignore\nworkload.evictions priority:0 2"};
    static const int statuses[] = {0, 1, 0, 1, 0};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct gate g = {0};
        write_both(&g, &(struct gate_run){.jobs = jobs_before}, &(struct gate_run){.jobs = jobs_after});
        assert_true(judge(&g, files[i], false));
        assert_int_equal(regress_status(&g.r), statuses[i]);
        if (i == 1)
            assert_non_null(finding(&g.r, "workload.wait", "job", "y"));
        if (i == 3)
            assert_non_null(finding(&g.r, "workload.evictions", "job", "z"));
        done(&g);
    }
}

static const struct gate_decision decisions_before[] = {
    {0, "x", "submitted", "group 0", "rank 1 of 1", 0},
    {0, "y", "submitted", "group 1", "rank 2 of 2", 0},
    {0, "x", "admitted", "Fit", "8 of 16", 0},
    {0, "y", "admitted", "Fit", "16 of 16", 0},
    {50, "x", "finished", "Done", NULL, 0},
    {0, NULL, NULL, NULL, NULL, 0}};

/* Other group labels and another order within the instant are no decisions; that y waits is one. */
static const struct gate_decision decisions_after[] = {
    {0, "y", "submitted", "group 0", "rank 1 of 1", 0},
    {0, "x", "submitted", "group 1", "rank 2 of 2", 0},
    {0, "x", "admitted", "Fit", "8 of 8", 0},
    {0, "y", "waiting", "NoFit", "available 0 of 8: nominal 8 − used 8 + borrowable 0", 3},
    {50, "x", "finished", "Done", NULL, 0},
    {0, NULL, NULL, NULL, NULL, 0}};

static void the_first_decision_that_differs_has_both_sides(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){.decisions = decisions_before}, &(struct gate_run){.decisions = decisions_after});
    assert_true(judge(&g, "", false));
    assert_int_equal(g.r.difference_count, 1);
    const struct regress_difference *d = &g.r.differences[0];
    assert_string_equal(d->workload, "y");
    assert_int_equal(d->t_ns, 0);
    assert_string_equal(d->before.kind, "admitted");
    assert_string_equal(d->before.detail, "16 of 16");
    assert_string_equal(d->after.kind, "waiting");
    assert_string_equal(d->after.detail, "available 0 of 8: nominal 8 − used 8 + borrowable 0");
    done(&g);
}

/* One side is silent at 50 s: what it said last about x is what it has to say. */
static void a_side_that_is_silent_shows_its_last_word(void **state)
{
    (void)state;
    static const struct gate_decision shorter[] = {
        {0, "x", "submitted", "group 0", "rank 1 of 1", 0},   {0, "y", "submitted", "group 1", "rank 2 of 2", 0},
        {0, "x", "admitted", "Fit", "8 of 16", 0},            {0, "y", "admitted", "Fit", "16 of 16", 0},
        {0, NULL, NULL, NULL, NULL, 0}};
    struct gate g = {0};
    write_both(&g, &(struct gate_run){.decisions = decisions_before}, &(struct gate_run){.decisions = shorter});
    assert_true(judge(&g, "", false));
    assert_int_equal(g.r.difference_count, 1);
    assert_string_equal(g.r.differences[0].workload, "x");
    assert_int_equal(g.r.differences[0].t_ns, 50000000000);
    assert_string_equal(g.r.differences[0].before.kind, "finished");
    assert_string_equal(g.r.differences[0].after.kind, "admitted");
    assert_int_equal(g.r.differences[0].after.t_ns, 0);
    done(&g);
}

static void equal_logs_have_no_first_difference(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){.decisions = decisions_before}, &(struct gate_run){.decisions = decisions_before});
    assert_true(judge(&g, "", false));
    assert_int_equal(g.r.difference_count, 0);
    assert_true(g.r.has_decisions);
    done(&g);
}

static bool noted(const struct regress *r, const char *text)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strstr(r->notes[i], text) != NULL)
            return true;
    return false;
}

static void a_database_without_jobs_or_decisions_says_what_to_record(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){0}, &(struct gate_run){.jobs = jobs_before});
    assert_true(judge(&g, "", false));
    assert_true(noted(&g.r, "a.db: record both with 'run --record full'"));
    assert_true(noted(&g.r, "no decisions in "));
    assert_int_equal(regress_status(&g.r), 0);
    done(&g);
}

static void new_loops_have_a_status_of_their_own(void **state)
{
    static const bool before[] = {false, true, true}, after[] = {true, true, false};
    static const int statuses[] = {4, 0, 0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct gate g = {0};
        write_both(&g, &(struct gate_run){.loop = before[i]}, &(struct gate_run){.loop = after[i]});
        assert_true(judge(&g, "", false));
        assert_int_equal(regress_status(&g.r), statuses[i]);
        done(&g);
    }
}

static void unclear_figures_fail_when_strict(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        struct gate g = {0};
        write_both(&g, &(struct gate_run){.finished = VALUES(100, 100), .replications = 2},
                   &(struct gate_run){.finished = VALUES(101, 90), .replications = 2});
        assert_true(judge(&g, "", strict == 1));
        assert_int_equal(g.r.counts[REGRESS_UNCLEAR], 1);
        assert_int_equal(regress_status(&g.r), strict);
        done(&g);
    }
}

/* ---- files ---- */

static char *content(const char *path)
{
    static char text[65536];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    return text;
}

static void files_for_machines_and_people_hold_the_verdict(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){.jobs = jobs_before, .decisions = decisions_before, .finished = VALUES(100)},
               &(struct gate_run){.jobs = jobs_after, .decisions = decisions_after, .finished = VALUES(50)});
    assert_true(judge(&g, "", false));
    assert_true(regress_junit(scratch_file(&g.scratch, "j.xml"), &g.r, &g.err));
    /* finished, two of priority 100 and the evictions of priority 0 are worse; and one case for loops */
    const char *text = content(scratch_file(&g.scratch, "j.xml"));
    assert_non_null(strstr(text, "<testsuites name=\"fleetsim regress\" tests=\"6\" failures=\"4\">"));
    assert_non_null(strstr(text, "<testcase classname=\"cohort.whole fleet\" name=\"training.finished\">\n"
                                 "      <failure message=\"Training jobs finished: 100 -&gt; 50 (-50; allowed 1)\"/>"));
    assert_true(regress_markdown(scratch_file(&g.scratch, "m.md"), &g.r, &g.err));
    text = content(scratch_file(&g.scratch, "m.md"));
    assert_non_null(strstr(text, "## fleetsim: worse: 4 of 5 figures worse"));
    assert_non_null(strstr(text, "| cohort | y | red | 0s | ≥15.0min | NoFit |"));
    assert_non_null(strstr(text, "* **after** (00:00:00) waiting NoFit: available 0 of 8: nominal 8 − used 8"));
    assert_int_equal(scratch_count(&g.scratch), 4); /* no temporary file is left */
    done(&g);
}

static void a_file_that_cannot_be_written_is_an_error_of_the_machine(void **state)
{
    (void)state;
    struct gate g = {0};
    write_both(&g, &(struct gate_run){0}, &(struct gate_run){0});
    assert_true(judge(&g, "", false));
    assert_false(regress_junit(scratch_file(&g.scratch, "none/j.xml"), &g.r, &g.err));
    assert_int_equal(g.err.code, ERR_SYSTEM);
    done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_replication_decides_by_its_figure),
        cmocka_unit_test(the_direction_is_that_of_the_metric),
        cmocka_unit_test(fractions_are_held_against_points),
        cmocka_unit_test(a_tolerance_file_moves_the_limit),
        cmocka_unit_test(two_replications_that_agree_are_enough),
        cmocka_unit_test(replications_that_do_not_agree_are_unclear),
        cmocka_unit_test(an_interval_that_leaves_out_zero_is_enough),
        cmocka_unit_test(infinite_latency_on_both_sides_is_no_difference),
        cmocka_unit_test(different_demand_is_refused),
        cmocka_unit_test(jobs_are_paired_by_name),
        cmocka_unit_test(priorities_are_judged_from_their_jobs),
        cmocka_unit_test(a_single_job_fails_the_gate_only_where_the_file_says_so),
        cmocka_unit_test(the_first_decision_that_differs_has_both_sides),
        cmocka_unit_test(a_side_that_is_silent_shows_its_last_word),
        cmocka_unit_test(equal_logs_have_no_first_difference),
        cmocka_unit_test(a_database_without_jobs_or_decisions_says_what_to_record),
        cmocka_unit_test(new_loops_have_a_status_of_their_own),
        cmocka_unit_test(unclear_figures_fail_when_strict),
        cmocka_unit_test(files_for_machines_and_people_hold_the_verdict),
        cmocka_unit_test(a_file_that_cannot_be_written_is_an_error_of_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
