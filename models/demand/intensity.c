/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/intensity.h"

#include "sim/check.h"
#include "sim/dmath.h"

#define DAY_S 86400.0
#define WEEK_S (7.0 * DAY_S)
#define FOREVER_S 1e18
#define TWO_PI 6.28318530717958647692
#define SHAPE_FLOOR 0.02

/* Integral of shape from midnight to s seconds of the day; 0 <= s <= DAY_S. */
static double day_integral(const struct intensity *i, double s)
{
    const struct rate_profile *p = i->profile;
    if (p->has_hours) {
        double h = s / 3600.0;
        int k = h >= 24.0 ? 23 : (int)h;
        double x = h - k;
        double slope = p->hours[(k + 1) % 24] - p->hours[k];
        return 3600.0 * (i->hour_sum_h[k] + x * (p->hours[k] + 0.5 * x * slope));
    }
    double sum = s;
    if (p->a1 != 0.0) {
        double angle = TWO_PI * (s / DAY_S - p->phase1_h / 24.0);
        sum += p->a1 * DAY_S / TWO_PI * (dm_sin(angle) - i->sin1_0);
    }
    if (p->a2 != 0.0) {
        double angle = TWO_PI * (2.0 * s / DAY_S - p->phase2_h / 12.0);
        sum += p->a2 * DAY_S / (2.0 * TWO_PI) * (dm_sin(angle) - i->sin2_0);
    }
    return sum;
}

static void prepare_shape(struct intensity *i)
{
    const struct rate_profile *p = i->profile;
    double given = 0.0;
    for (int d = 0; d < 7; d++)
        given += p->weekday[d];
    for (int d = 0; d < 7; d++)
        i->weekday[d] = given == 0.0 ? 1.0 : p->weekday[d];
    for (int h = 0; h < 24; h++)
        i->hour_sum_h[h + 1] = i->hour_sum_h[h] + 0.5 * (p->hours[h] + p->hours[(h + 1) % 24]);
    i->sin1_0 = dm_sin(-TWO_PI * p->phase1_h / 24.0);
    i->sin2_0 = dm_sin(-TWO_PI * p->phase2_h / 12.0);
    i->last_s = -1.0;
}

static void prepare_noise(struct intensity *i, double cell_s, const struct rng *noise)
{
    const struct rate_profile *p = i->profile;
    i->has_noise = p->ou_sigma > 0.0;
    if (!i->has_noise)
        return;
    double tau_s = sim_time_seconds(p->ou_tau);
    i->noise = *noise;
    i->keep = tau_s > 0.0 ? dm_exp(-cell_s / tau_s) : 0.0;
    i->jump = p->ou_sigma * dm_sqrt(1.0 - i->keep * i->keep);
    /* One step of an exact chain from a stationary value is stationary. */
    i->z = p->ou_sigma * rng_normal(&i->noise);
}

static void prepare_bursts(struct intensity *i, const struct rng *bursts)
{
    const struct rate_profile *p = i->profile;
    i->has_bursts = p->burst_per_day > 0.0 && p->burst_length > 0;
    if (!i->has_bursts)
        return;
    i->bursts = *bursts;
    i->burst_gap_s = DAY_S / p->burst_per_day;
    i->burst_length_s = sim_time_seconds(p->burst_length);
    i->burst_next_s = -i->burst_length_s + rng_exp(&i->bursts, i->burst_gap_s);
    i->burst_until_s = -FOREVER_S;
}

void intensity_init(struct intensity *i, const struct rate_profile *profile, double scale,
                    sim_time start_epoch, double cell_s, const struct rng *noise,
                    const struct rng *bursts)
{
    REQUIRE(cell_s > 0.0);
    *i = (struct intensity){.profile = profile, .scale = scale};
    const sim_time week = 7 * SIM_DAY;
    /* 1970-01-01 was a Thursday. */
    sim_time since_monday = ((start_epoch % week) + 3 * SIM_DAY + week) % week;
    i->week_s = sim_time_seconds(since_monday);
    prepare_shape(i);
    prepare_noise(i, cell_s, noise);
    prepare_bursts(i, bursts);
}

/* Integral of weekday * shape over [from, to) within one day, both counted from Monday 00:00. */
static double piece(struct intensity *i, double day, double from, double to)
{
    double from_s = from - day * DAY_S, to_s = to - day * DAY_S;
    double start = from_s == i->last_s ? i->last_sum : day_integral(i, from_s);
    i->last_sum = day_integral(i, to_s);
    i->last_s = to_s;
    double sum = i->last_sum - start;
    double least = SHAPE_FLOOR * (to_s - from_s);
    if (!i->profile->has_hours && sum < least)
        sum = least;
    int weekday = (int)(day - 7.0 * dm_floor(day / 7.0));
    return i->weekday[weekday] * sum;
}

double intensity_smooth(struct intensity *i, double from_s, double to_s)
{
    double from = i->week_s + from_s, to = i->week_s + to_s, sum = 0.0;
    while (from < to) {
        double day = dm_floor(from / DAY_S);
        double midnight = (day + 1.0) * DAY_S;
        double end = to < midnight ? to : midnight;
        sum += piece(i, day, from, end);
        from = end;
    }
    return i->profile->base_per_s * i->scale * sum / (to_s - from_s);
}

double intensity_cell(struct intensity *i, double from_s, double to_s)
{
    double rate = intensity_smooth(i, from_s, to_s);
    if (i->has_noise) {
        double sigma = i->profile->ou_sigma;
        rate *= dm_exp(i->z - 0.5 * sigma * sigma);
        i->z = i->keep * i->z + i->jump * rng_normal(&i->noise);
    }
    return rate;
}

double intensity_burst(struct intensity *i, double t_s, double *until_s)
{
    *until_s = FOREVER_S;
    if (!i->has_bursts)
        return 1.0;
    while (i->burst_next_s <= t_s) {
        i->burst_until_s = i->burst_next_s + i->burst_length_s;
        i->burst_next_s += rng_exp(&i->bursts, i->burst_gap_s);
    }
    bool on = t_s < i->burst_until_s;
    *until_s = on ? i->burst_until_s : i->burst_next_s;
    return on ? i->profile->burst_factor : 1.0;
}

double intensity_burst_mean(struct intensity *i, double from_s, double to_s)
{
    if (!i->has_bursts)
        return 1.0;
    double sum = 0.0;
    for (double t = from_s; t < to_s;) {
        double until;
        double factor = intensity_burst(i, t, &until);
        double end = until < to_s ? until : to_s;
        sum += factor * (end - t);
        t = end;
    }
    return sum / (to_s - from_s);
}
