/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers, portable functions, histogram: nanoseconds per call, one row per function. */
#include <string.h>

#include "bench/bench.h"
#include "sim/dmath.h"
#include "sim/rng.h"
#include "sim/tally.h"

static uint64_t count_or(const struct bench_report *report, uint64_t standard)
{
    return report->options->count > 0 ? report->options->count : standard;
}

static uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double draw_u64(struct rng *r)
{
    return (double)(rng_u64(r) >> 11);
}

static double draw_exp(struct rng *r)
{
    return rng_exp(r, 1);
}

static double draw_gamma(struct rng *r)
{
    return rng_gamma(r, 0.5, 1);
}

static double draw_poisson(struct rng *r)
{
    return (double)rng_poisson(r, 100);
}

static double draw_below(struct rng *r)
{
    return (double)rng_below(r, 1000);
}

/* The usual pattern of worlds: a stream for one entity, one number from it. */
static double draw_opened(struct rng *r)
{
    struct rng one;
    rng_open(&one, 1, 0, 7, r->counter[0]++);
    return rng_unit(&one);
}

bool bench_rng(struct bench_report *report, struct err *e)
{
    static const struct {
        const char *name;
        double (*draw)(struct rng *r);
    } draws[] = {
        {"u64", draw_u64},       {"unit", rng_unit},     {"below", draw_below},
        {"exp", draw_exp},       {"normal", rng_normal}, {"gamma(0.5)", draw_gamma},
        {"poisson(100)", draw_poisson}, {"open+unit", draw_opened},
    };
    uint64_t count = count_or(report, 5000000);
    (void)e;
    for (size_t i = 0; i < sizeof draws / sizeof draws[0]; i++) {
        struct rng r;
        rng_open(&r, report->options->seed, 0, 1, i);
        double sum = 0, start = bench_cpu_s();
        for (uint64_t n = 0; n < count; n++)
            sum += draws[i].draw(&r);
        double cpu_s = bench_cpu_s() - start;
        bench_keep(bits_of(sum));
        bench_add(report, draws[i].name, count, 0, cpu_s);
    }
    return true;
}

static double pow_third(double x)
{
    return dm_pow(x, 1.0 / 3);
}

bool bench_dmath(struct bench_report *report, struct err *e)
{
    static const struct {
        const char *name;
        double (*f)(double);
    } functions[] = {
        {"exp", dm_exp},     {"log", dm_log},           {"expm1", dm_expm1},
        {"log1p", dm_log1p}, {"pow", pow_third},        {"sin", dm_sin},
        {"erf", dm_erf},     {"norm_inv", dm_norm_inv}, {"lgamma", dm_lgamma},
    };
    uint64_t count = count_or(report, 5000000);
    (void)e;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        double sum = 0, start = bench_cpu_s();
        for (uint64_t n = 0; n < count; n++)
            sum += functions[i].f(((double)(n & 4095) + 0.5) / 4096);
        double cpu_s = bench_cpu_s() - start;
        bench_keep(bits_of(sum));
        bench_add(report, functions[i].name, count, 0, cpu_s);
    }
    return true;
}

static void time_adds(struct bench_report *report, struct qhist *h, uint64_t count)
{
    double start = bench_cpu_s();
    for (uint64_t n = 0; n < count; n++)
        qhist_add(h, (double)(n & 4095) * 0.01, 1);
    bench_add(report, "add", count, 0, bench_cpu_s() - start);
}

static void time_uniform(struct bench_report *report, struct qhist *h, uint64_t count)
{
    double start = bench_cpu_s();
    for (uint64_t n = 0; n < count; n++)
        qhist_add_uniform(h, 0.1, 0.1 + (double)(n & 63) * 0.01, 1);
    bench_add(report, "add_uniform", count, 0, bench_cpu_s() - start);
}

static void time_quantiles(struct bench_report *report, const struct qhist *h, uint64_t count)
{
    double sum = 0, start = bench_cpu_s();
    for (uint64_t n = 0; n < count; n++)
        sum += qhist_quantile(h, (double)((n & 1023) + 1) / 1024);
    double cpu_s = bench_cpu_s() - start;
    bench_keep(bits_of(sum));
    bench_add(report, "quantile", count, 0, cpu_s);
}

bool bench_qhist(struct bench_report *report, struct err *e)
{
    struct qhist h;
    uint64_t count = count_or(report, 5000000);
    (void)e;
    qhist_init(&h, 0.01, 1e-3, 1e6);
    time_adds(report, &h, count);
    time_uniform(report, &h, count / 50 + 1);
    time_quantiles(report, &h, count / 200 + 1);
    qhist_fini(&h);
    return true;
}
