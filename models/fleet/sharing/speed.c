/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/speed.h"

#include <stddef.h>

#include "sim/check.h"

struct speed_tenant speed_tenant_default(void)
{
    return (struct speed_tenant){.duty = 1, .demand = 1, .parallel = 1, .bandwidth = 0.5,
                                 .sm_share = 1};
}

struct speed_params speed_params_default(void)
{
    return (struct speed_params){.switch_loss = 0.08,
                                 .quantum_s = 0.002,
                                 .mps_interference = 0.15,
                                 .hami_limiter = 0.9,
                                 .hami_overhead = 0.02,
                                 .hami_policy = SPEED_HAMI_DEFAULT};
}

double speed_knee(double demand, double s)
{
    return demand > s ? demand / s : 1;
}

double speed_amdahl(double parallel, double s)
{
    return 1 - parallel + parallel / s;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static int32_t busy_count(const struct speed_tenant *t, int32_t n)
{
    int32_t busy = 0;
    for (int32_t i = 0; i < n; i++)
        busy += t[i].duty > 0;
    return busy;
}

void speed_maxmin(double capacity, const double *demand, const double *weight, int32_t n,
                  double *out)
{
    bool met[SPEED_TENANTS_MAX] = {false};
    REQUIRE(n <= SPEED_TENANTS_MAX);
    for (bool again = true; again;) {
        double weights = 0, rest = capacity;
        for (int32_t i = 0; i < n; i++) {
            if (met[i])
                rest -= demand[i];
            else
                weights += weight != NULL ? weight[i] : 1;
        }
        again = false;
        for (int32_t i = 0; i < n; i++) {
            if (met[i])
                continue;
            double w = weight != NULL ? weight[i] : 1;
            out[i] = weights > 0 ? rest * w / weights : 0;
            if (demand[i] <= out[i]) {
                out[i] = demand[i];
                met[i] = again = true;
            }
        }
    }
}

void speed_whole(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate)
{
    (void)t;
    (void)p;
    for (int32_t i = 0; i < n; i++)
        rate[i] = 1;
}

static double sliced_capacity(const struct speed_tenant *t, int32_t n, const struct speed_params *p)
{
    return busy_count(t, n) >= 2 ? 1 - p->switch_loss : 1;
}

void speed_time_slicing(const struct speed_tenant *t, int32_t n, const struct speed_params *p,
                        double *rate)
{
    double demand[SPEED_TENANTS_MAX] = {0};
    REQUIRE(n <= SPEED_TENANTS_MAX);
    for (int32_t i = 0; i < n; i++)
        demand[i] = t[i].duty;
    speed_maxmin(sliced_capacity(t, n, p), demand, NULL, n, rate);
    for (int32_t i = 0; i < n; i++)
        rate[i] = t[i].duty > 0 ? rate[i] / t[i].duty : 1;
}

static double mps_cap(const struct speed_tenant *t)
{
    return t->cap > 0 && t->cap < 1 ? t->cap : 1;
}

void speed_mps(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate)
{
    double want[SPEED_TENANTS_MAX] = {0}, given[SPEED_TENANTS_MAX] = {0}, wanted = 0, traffic = 0;
    REQUIRE(n <= SPEED_TENANTS_MAX);
    for (int32_t i = 0; i < n; i++) {
        want[i] = smaller(mps_cap(&t[i]), t[i].demand) * t[i].duty;
        wanted += want[i];
        traffic += t[i].bandwidth * t[i].duty;
    }
    if (wanted > 1)
        speed_maxmin(1, want, NULL, n, given);
    for (int32_t i = 0; i < n; i++) {
        double s = wanted > 1 && t[i].duty > 0 ? given[i] / t[i].duty : mps_cap(&t[i]);
        double others = traffic - t[i].bandwidth * t[i].duty;
        rate[i] = 1 / speed_amdahl(t[i].parallel, s) / (1 + p->mps_interference * others);
        if (t[i].duty <= 0)
            rate[i] = 1;
    }
}

void speed_mig(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate)
{
    int32_t busy = busy_count(t, n);
    for (int32_t i = 0; i < n; i++) {
        int32_t others = busy - (t[i].duty > 0);
        rate[i] = 1 / speed_knee(t[i].demand, t[i].sm_share) / (1 + p->mig_interference * others);
    }
}

/* Is the tenant's cap in force (2.6)? */
static bool throttled(const struct speed_tenant *t, int32_t busy, const struct speed_params *p)
{
    if (t->burst || t->cap <= 0 || t->cap >= 1 || p->hami_policy == SPEED_HAMI_DISABLE)
        return false;
    return busy > 1 || p->hami_policy == SPEED_HAMI_FORCE;
}

void speed_hami(const struct speed_tenant *t, int32_t n, const struct speed_params *p, double *rate)
{
    double demand[SPEED_TENANTS_MAX] = {0}, share[SPEED_TENANTS_MAX] = {0}, weights = 0;
    int32_t busy = busy_count(t, n);
    double h = p->hami_limiter > 1 ? 1 : p->hami_limiter;
    bool limits = p->hami_policy != SPEED_HAMI_DISABLE;
    REQUIRE(n <= SPEED_TENANTS_MAX);
    for (int32_t i = 0; i < n; i++)
        weights += t[i].duty > 0 ? (t[i].cap > 0 ? t[i].cap : 1) : 0;
    for (int32_t i = 0; i < n; i++) {
        double w = t[i].cap > 0 ? t[i].cap : 1;
        bool runs = t[i].duty > 0;
        share[i] = !runs ? 0 : limits ? (1 - h) / busy + h * w / weights : 1;
        demand[i] = smaller(t[i].duty, throttled(&t[i], busy, p) ? (1 - h) + h * w : 1);
    }
    speed_maxmin(sliced_capacity(t, n, p), demand, share, n, rate);
    for (int32_t i = 0; i < n; i++) {
        double got = t[i].duty > 0 ? rate[i] / t[i].duty : 1;
        if (p->hami_policy == SPEED_HAMI_FORCE && t[i].cap > 0 && t[i].duty > 0)
            got = smaller(got, t[i].cap / t[i].duty);
        rate[i] = got / (1 + p->hami_overhead);
    }
}

double speed_slice_wait_s(const struct speed_tenant *t, int32_t n, int32_t i,
                          const struct speed_params *p)
{
    double others = 0;
    for (int32_t k = 0; k < n; k++)
        others += k != i ? t[k].duty : 0;
    return p->quantum_s * others / 2;
}
