/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rate of a profile along time (workload-models 3.2):
 *
 *   rate(t) = base * weekday(t) * shape(t) * exp(Z(t) - sigma^2/2) * burst(t)
 *
 * shape is 1 + A1 cos(2pi(t - phase1)/24h) + A2 cos(2pi(t - phase2)/12h), or 24 points of an
 * explicit profile joined by straight lines (point h = the rate at h:00 UTC). Both are integrated
 * in closed form, so that means over a cell are exact. The mean of shape over a cell is at least
 * 0.02 for the harmonics, which may go below zero; factors of 0 that somebody wrote are kept.
 * Z is an Ornstein-Uhlenbeck process, stationary from the start and exactly discretised on the
 * grid of cells. Bursts start as a Poisson process (stationary: also before time 0), each lasts
 * burst_length, and while one or more are on the rate is burst_factor times as high.
 * Z and bursts have streams of their own: changing one does not move the other.
 */
#ifndef MODELS_DEMAND_INTENSITY_H
#define MODELS_DEMAND_INTENSITY_H

#include <stdbool.h>

#include "models/demand/demand_config.h"
#include "sim/rng.h"

struct intensity {
    const struct rate_profile *profile;
    double scale;            /* multiplies the rate */
    double week_s;           /* seconds from Monday 00:00 UTC to time 0 */
    double weekday[7];
    double hour_sum_h[25];   /* integral of the 24-point profile up to h:00, in hours */
    double sin1_0, sin2_0;   /* harmonics at midnight */
    double last_s, last_sum; /* day integral at the end of the previous cell */
    bool has_noise, has_bursts;
    struct rng noise;
    double z, keep, jump;    /* Z <- keep Z + jump N(0,1) each cell */
    struct rng bursts;
    double burst_gap_s, burst_length_s;
    double burst_next_s, burst_until_s;
};

/* noise and bursts: opened streams. cell_s: length of the cells that intensity_cell will be asked
 * for. start_epoch: Unix ns of time 0. The profile must outlive the struct. */
void intensity_init(struct intensity *i, const struct rate_profile *profile, double scale,
                    sim_time start_epoch, double cell_s, const struct rng *noise,
                    const struct rng *bursts);

/* Mean of base * weekday * shape * scale over [from_s, to_s), 0 <= from_s < to_s. */
double intensity_smooth(struct intensity *i, double from_s, double to_s);

/* Mean rate of the next cell without bursts: draws Z once. Cells come in order. */
double intensity_cell(struct intensity *i, double from_s, double to_s);

/* Burst factor at t_s and the end of the stretch in which it stays (>= HUGE when for ever).
 * t_s ascending. */
double intensity_burst(struct intensity *i, double t_s, double *until_s);

/* Mean burst factor over [from_s, to_s), cells ascending. */
double intensity_burst_mean(struct intensity *i, double from_s, double to_s);

#endif
