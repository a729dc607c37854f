/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams of jobs: statistics against what was configured, common random numbers, files. */
#include <stdlib.h>
#include <string.h>

#include "models/demand/demand.h"
#include "models/demand/law.h"
#include "sim/rng.h"
#include "tests/demand/near.h"

/* Gangs and run times of Philly (workload-models 4.6). */
static struct gang_shape philly[] = {
    {0.9317, 1, 1, {LAW_LOGNORMAL, 6.72, 1.97, 1, 0}}, {0.0221, 1, 2, {LAW_LOGNORMAL, 4.52, 3.27, 1, 0}},
    {0.0227, 1, 4, {LAW_LOGNORMAL, 9.11, 2.78, 1, 0}}, {0.0200, 1, 8, {LAW_LOGNORMAL, 9.65, 2.79, 1, 0}},
    {0.0035, 2, 8, {LAW_LOGNORMAL, 9.19, 3.33, 1, 0}},
};

static struct job_stream_config stream(double per_s)
{
    struct job_stream_config c = {.name = "j", .cls = CLASS_TRAINING, .team = 3, .queue = 5,
                                  .priority = 7, .shapes = philly, .shape_count = 5,
                                  .arrival_cv = 1, .time_scale = 1, .work_scale = 1,
                                  .checkpoint_interval = SIM_HOUR};
    c.arrivals.base_per_s = per_s;
    return c;
}

struct drawn {
    struct job_spec *jobs;
    size_t count, capacity;
};

static struct drawn draw(const struct job_stream_config *c, int32_t index, uint64_t seed,
                         sim_time horizon)
{
    struct err err = {0};
    struct drawn d = {0};
    struct job_source *s = job_source_open(c, index, seed, 0, 0, horizon, NULL, NULL, &err);
    struct job_spec j;
    while (job_source_next(s, &j, &err)) {
        if (d.count == d.capacity) {
            d.capacity = d.capacity * 2 + 64;
            d.jobs = realloc(d.jobs, d.capacity * sizeof j);
        }
        d.jobs[d.count++] = j;
    }
    assert_int_equal(err.code, ERR_NONE);
    job_source_close(s);
    return d;
}

static void jobs_come_in_order_with_the_streams_attributes(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.01);
    struct drawn d = draw(&c, 2, 1, 10 * SIM_DAY);
    assert_true(d.count > 8000);
    for (size_t k = 0; k < d.count; k++) {
        const struct job_spec *j = &d.jobs[k];
        assert_int_equal(j->id, k);
        assert_true(j->submit >= 0 && j->submit < 10 * SIM_DAY && j->work >= SIM_SECOND);
        assert_true(k == 0 || j->submit >= d.jobs[k - 1].submit);
        assert_true(j->team == 3 && j->queue == 5 && j->priority == 7);
        assert_true(j->share_milli == 0 && j->checkpoint_interval == SIM_HOUR);
        assert_true(isnan(j->trace_wait_s));
    }
    free(d.jobs);
}

static void gangs_and_run_times_have_the_configured_law(void **state)
{
    (void)state;
    struct job_stream_config c = stream(1.0);
    struct drawn d = draw(&c, 0, 1, 200000 * SIM_SECOND);
    double n = (double)d.count, one = 0, eights = 0, mean = 0, square = 0;
    for (size_t k = 0; k < d.count; k++) {
        if (d.jobs[k].cards_per_worker == 1) {
            double x = log(sim_time_seconds(d.jobs[k].work));
            one++;
            mean += x;
            square += x * x;
        }
        eights += d.jobs[k].cards_per_worker == 8 && d.jobs[k].workers == 1;
    }
    mean /= one;
    assert_near(n, 200000, 5 * sqrt(200000));
    assert_near(one / n, 0.9317, 5 * sqrt(0.9317 * 0.0683 / n));
    assert_near(eights / n, 0.02, 5 * sqrt(0.02 * 0.98 / n));
    assert_near(mean, 6.72, 5 * 1.97 / sqrt(one) + 0.001); /* clipped at 1 s: 3.4 sigma */
    assert_near_rel(sqrt(square / one - mean * mean), 1.97, 0.01);
    free(d.jobs);
}

static void the_mean_number_is_the_integral_of_the_rate(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.002);
    c.arrival_cv = 4.0; /* an ordinary renewal process would have (16-1)/2 = 7.5 too many */
    double mean = 0.0, square = 0.0;
    const int runs = 4000;
    for (int k = 0; k < runs; k++) {
        struct drawn d = draw(&c, 0, (uint64_t)k, 50000 * SIM_SECOND);
        mean += (double)d.count / runs;
        square += (double)d.count * (double)d.count / runs;
        free(d.jobs);
    }
    double sd = sqrt(square - mean * mean);
    assert_near(mean, 100, 5 * sd / sqrt(runs));
}

/* T3: gamma gaps of CV 2: variance over mean of counts in long windows tends to 4. */
static void counts_have_the_index_of_dispersion_of_the_gaps(void **state)
{
    (void)state;
    for (int cv = 1; cv <= 2; cv++) {
        struct job_stream_config c = stream(1.0);
        c.arrival_cv = cv;
        struct drawn d = draw(&c, 0, 9, 2000000 * SIM_SECOND);
        const int windows = 2000;
        static double count[2000];
        memset(count, 0, sizeof count);
        for (size_t k = 0; k < d.count; k++)
            count[d.jobs[k].submit / (1000 * SIM_SECOND)]++;
        double mean = 0.0, square = 0.0;
        for (int i = 0; i < windows; i++) {
            mean += count[i] / windows;
            square += count[i] * count[i] / windows;
        }
        double ratio = (square - mean * mean) / mean;
        assert_near_rel(ratio, (double)cv * cv, 5 * sqrt(2.0 / windows));
        free(d.jobs);
    }
}

static void arrivals_follow_weekdays_and_hours(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.05);
    static const double weekday[7] = {0.86, 1.07, 1.14, 1.29, 1.44, 0.61, 0.59};
    memcpy(c.arrivals.weekday, weekday, sizeof weekday);
    c.arrivals.a1 = 0.5;
    c.arrivals.phase1_h = 14;
    struct err err = {0};
    const sim_time monday = INT64_C(1795996800) * SIM_SECOND;
    struct job_source *s = job_source_open(&c, 0, 4, 0, monday, 280 * SIM_DAY, NULL, NULL, &err);
    double by_day[7] = {0}, by_hour[24] = {0}, n = 0;
    struct job_spec j;
    while (job_source_next(s, &j, &err)) {
        by_day[j.submit / SIM_DAY % 7]++;
        by_hour[j.submit / SIM_HOUR % 24]++;
        n++;
    }
    job_source_close(s);
    for (int k = 0; k < 7; k++) {
        double want = 0.05 * 86400 * 40 * weekday[k];
        assert_near(by_day[k], want, 5 * sqrt(want));
    }
    double peak = 0.05 * 3600 * 280 * (1 + 0.5 * 0.99715) , low = 0.05 * 3600 * 280 * (1 - 0.5 * 0.99715);
    /* Mean of cos over the half hours next to the peak is sin(15 deg)/(pi/12) of 1 at distance 0.5 h. */
    assert_near(by_hour[13] + by_hour[14], 2 * peak, 5 * sqrt(2 * peak) + 0.004 * peak);
    assert_near(by_hour[1] + by_hour[2], 2 * low, 5 * sqrt(2 * low) + 0.004 * peak);
    assert_true(n > 1e6);
}

/* Scaling the rate moves arrivals; job k keeps its shape and its work. */
static void job_k_is_the_same_at_any_rate(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.01), faster = stream(0.01), other = stream(0.013);
    faster.time_scale = 1.3;
    struct drawn a = draw(&c, 1, 5, 20 * SIM_DAY), b = draw(&faster, 1, 5, 20 * SIM_DAY);
    struct drawn e = draw(&other, 1, 5, 20 * SIM_DAY);
    assert_true(b.count > a.count && b.count == e.count);
    for (size_t k = 0; k < a.count; k++) {
        assert_true(a.jobs[k].work == b.jobs[k].work && a.jobs[k].workers == b.jobs[k].workers);
        assert_true(a.jobs[k].cards_per_worker == b.jobs[k].cards_per_worker);
        /* Constant rate: the warp is a stretch. */
        assert_near_rel((double)b.jobs[k].submit * 1.3, (double)a.jobs[k].submit, 1e-9);
        assert_true(b.jobs[k].submit - e.jobs[k].submit <= 1 && e.jobs[k].submit - b.jobs[k].submit <= 1);
    }
    struct job_stream_config longer = stream(0.01);
    longer.work_scale = 1.3;
    struct drawn l = draw(&longer, 1, 5, 20 * SIM_DAY);
    assert_int_equal(l.count, a.count);
    for (size_t k = 0; k < a.count; k++) {
        assert_true(l.jobs[k].submit == a.jobs[k].submit);
        if (a.jobs[k].work > SIM_SECOND) /* not clipped */
            assert_near_rel((double)l.jobs[k].work, 1.3 * (double)a.jobs[k].work, 1e-9);
    }
    free(a.jobs);
    free(b.jobs);
    free(e.jobs);
    free(l.jobs);
}

static void streams_and_replications_differ_and_repeat(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.01);
    struct drawn a = draw(&c, 1, 5, SIM_DAY), b = draw(&c, 1, 5, SIM_DAY), o = draw(&c, 2, 5, SIM_DAY);
    assert_int_equal(a.count, b.count);
    for (size_t k = 0; k < a.count; k++)
        assert_true(a.jobs[k].submit == b.jobs[k].submit && a.jobs[k].work == b.jobs[k].work);
    assert_true(a.jobs[0].submit != o.jobs[0].submit && a.jobs[0].work != o.jobs[0].work);
    /* Changing the noise of the rate leaves the sizes. */
    c.arrivals.ou_sigma = 1.0;
    c.arrivals.ou_tau = SIM_HOUR;
    struct drawn n = draw(&c, 1, 5, SIM_DAY);
    size_t both = n.count < a.count ? n.count : a.count;
    assert_true(both > 100);
    for (size_t k = 0; k < both; k++)
        assert_true(n.jobs[k].work == a.jobs[k].work);
    free(a.jobs);
    free(b.jobs);
    free(o.jobs);
    free(n.jobs);
}

/* The OU rate with CV of counts as in Philly's hourly counts: mean stays. */
static void noisy_rates_keep_the_mean(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.05);
    c.arrivals.ou_sigma = 1.0;
    c.arrivals.ou_tau = SIM_HOUR;
    struct drawn d = draw(&c, 0, 2, 2000 * SIM_DAY);
    /* Var of exp(Z - 1/2) is e - 1, memory about 1 h: 48,000 h / (2 * 0.76 h) independent values. */
    double want = 0.05 * 86400 * 2000;
    assert_near_rel((double)d.count, want, 5 * sqrt(1.718 / 31000));
    free(d.jobs);
}

static void lora_jobs_ask_for_a_share(void **state)
{
    (void)state;
    struct job_stream_config c = stream(0.01);
    c.cls = CLASS_LORA;
    c.share_milli = 250;
    struct drawn d = draw(&c, 0, 2, SIM_DAY);
    assert_true(d.count > 500);
    assert_true(d.jobs[0].share_milli == 250 && d.jobs[0].cards_per_worker == 0);
    free(d.jobs);
}

/* ---- files ---- */

struct list {
    const struct job_spec *jobs;
    int count, at, closed;
};

static bool list_next(void *ctx, struct job_spec *out, struct err *err)
{
    struct list *l = ctx;
    (void)err;
    if (l->at == l->count)
        return false;
    const struct job_spec *j = &l->jobs[l->at++];
    out->submit = j->submit;
    out->work = j->work;
    out->workers = j->workers;
    if (j->queue > 0)
        out->queue = j->queue;
    return true;
}

static void list_close(void *ctx)
{
    ((struct list *)ctx)->closed++;
}

static bool open_list(void *loader, const struct job_stream_config *cfg, struct job_reader *out,
                      struct err *err)
{
    (void)cfg;
    (void)err;
    *out = (struct job_reader){loader, list_next, list_close};
    return true;
}

static bool open_fails(void *loader, const struct job_stream_config *cfg, struct job_reader *out,
                       struct err *err)
{
    (void)loader;
    (void)out;
    return err_set(err, ERR_INPUT, "cannot open '%s'", cfg->file);
}

static void files_are_scaled_and_cut_at_the_horizon(void **state)
{
    (void)state;
    static const struct job_spec rows[] = {
        {.submit = 0, .work = 100, .workers = 2},
        {.submit = 10 * SIM_SECOND, .work = 0, .workers = 1, .queue = 9},
        {.submit = 10 * SIM_SECOND, .work = 40 * SIM_SECOND, .workers = 4},
        {.submit = 30 * SIM_SECOND, .work = 5, .workers = 1}};
    struct list l = {rows, 4, 0, 0};
    struct job_stream_config c = stream(0);
    c.file = "jobs.csv";
    c.time_scale = 2;
    c.work_scale = 3;
    struct err err = {0};
    struct job_source *s = job_source_open(&c, 0, 1, 0, 0, 15 * SIM_SECOND, open_list, &l, &err);
    struct job_spec j;
    assert_true(job_source_next(s, &j, &err));
    assert_true(j.id == 0 && j.submit == 0 && j.work == 300 && j.workers == 2 && j.queue == 5);
    assert_true(job_source_next(s, &j, &err));
    assert_true(j.id == 1 && j.submit == 5 * SIM_SECOND && j.work == 1 && j.queue == 9);
    assert_true(job_source_next(s, &j, &err));
    assert_true(j.id == 2 && j.submit == 5 * SIM_SECOND && j.work == 120 * SIM_SECOND);
    assert_false(job_source_next(s, &j, &err)); /* 15 s is the horizon */
    assert_false(job_source_next(s, &j, &err));
    assert_int_equal(err.code, ERR_NONE);
    job_source_close(s);
    assert_int_equal(l.closed, 1);
}

static void files_out_of_order_and_missing_files_are_errors(void **state)
{
    (void)state;
    static const struct job_spec rows[] = {{.submit = 5, .work = 1, .workers = 1},
                                           {.submit = 4, .work = 1, .workers = 1}};
    struct list l = {rows, 2, 0, 0};
    struct job_stream_config c = stream(0);
    c.file = "jobs.csv";
    struct err err = {0};
    struct job_source *s = job_source_open(&c, 0, 1, 0, 0, SIM_DAY, open_list, &l, &err);
    struct job_spec j;
    assert_true(job_source_next(s, &j, &err));
    assert_false(job_source_next(s, &j, &err));
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.text, "jobs.csv"));
    job_source_close(s);
    err = (struct err){0};
    assert_null(job_source_open(&c, 0, 1, 0, 0, SIM_DAY, open_fails, NULL, &err));
    assert_int_equal(err.code, ERR_INPUT);
}

static void laws_have_their_means(void **state)
{
    (void)state;
    static const struct {
        struct law law;
        double mean, sd;
    } rows[] = {{{LAW_CONSTANT, 3, 0, 0, 0}, 3, 0},
                {{LAW_UNIFORM, 2, 4, 0, 0}, 3, 0.5774},
                {{LAW_EXPONENTIAL, 3, 0, 0, 0}, 3, 3},
                {{LAW_LOGNORMAL, 6.561182, 0.832555, 0, 0}, 1000, 1000}, /* T4 */
                {{LAW_GAMMA, 0.25, 4, 0, 0}, 1, 2},
                {{LAW_WEIBULL, 2, 1, 0, 0}, 0.886227, 0.463251},
                {{LAW_PARETO, 4, 3, 0, 0}, 4, 1.41421},
                {{LAW_EXPONENTIAL, 3, 0, 100, 0}, 100, 0},
                {{LAW_EXPONENTIAL, 3, 0, 0, 1e-9}, 1e-9, 1e-12}};
    struct rng r;
    rng_open(&r, 1, 0, 77, 0);
    const int n = 200000;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double mean = 0.0;
        for (int k = 0; k < n; k++)
            mean += law_draw(&rows[i].law, &r) / n;
        assert_near(mean, rows[i].mean, 5 * rows[i].sd / sqrt(n) + 1e-9 * rows[i].mean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_come_in_order_with_the_streams_attributes),
        cmocka_unit_test(gangs_and_run_times_have_the_configured_law),
        cmocka_unit_test(the_mean_number_is_the_integral_of_the_rate),
        cmocka_unit_test(counts_have_the_index_of_dispersion_of_the_gaps),
        cmocka_unit_test(arrivals_follow_weekdays_and_hours),
        cmocka_unit_test(job_k_is_the_same_at_any_rate),
        cmocka_unit_test(streams_and_replications_differ_and_repeat),
        cmocka_unit_test(noisy_rates_keep_the_mean),
        cmocka_unit_test(lora_jobs_ask_for_a_share),
        cmocka_unit_test(files_are_scaled_and_cut_at_the_horizon),
        cmocka_unit_test(files_out_of_order_and_missing_files_are_errors),
        cmocka_unit_test(laws_have_their_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
