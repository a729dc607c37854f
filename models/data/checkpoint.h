/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run of a job with periodic checkpoints, in closed form: it computes for `interval`, stalls for
 * `stall`, and so on; a checkpoint counts when its stall has ended; the last stretch of work ends
 * the job without one. All in ns of wall time of this run, exact integers.
 *
 * Advice on the interval: J. W. Young, CACM 17(9), 1974; J. T. Daly, FGCS 22(3), 2006
 * (cache-and-checkpoint section 7). Seconds, doubles, sim/dmath only.
 */
#ifndef MODELS_DATA_CHECKPOINT_H
#define MODELS_DATA_CHECKPOINT_H

#include "sim/sim_time.h"

struct checkpoint_plan {
    sim_time interval; /* computing between checkpoints; 0 = no checkpoints */
    sim_time stall;    /* cards stand still this long per checkpoint, >= 0 */
};

struct checkpoint_progress {
    sim_time computed;  /* time spent computing */
    sim_time stalled;   /* time spent stalled; computed + stalled = elapsed */
    sim_time committed; /* computing that the last completed checkpoint holds */
};

/* State of a run after `elapsed` >= 0, were the job endless. */
struct checkpoint_progress checkpoint_progress(const struct checkpoint_plan *plan,
                                               sim_time elapsed);

/* Wall time until `work` >= 0 of computing is done; SIM_NEVER when it exceeds the clock.
 * Inverse: checkpoint_progress(wall(w)).computed == w, and less at any earlier instant. */
sim_time checkpoint_wall(const struct checkpoint_plan *plan, sim_time work);

/* Interval advice: stall and mean time between job-stopping failures, both > 0, seconds. */
double checkpoint_young_s(double stall_s, double mtbf_s);
/* First order, with restart time; can be negative when stall is not small against mtbf. */
double checkpoint_daly_first_s(double stall_s, double mtbf_s, double restart_s);
/* Higher order; equals mtbf when stall >= 2 mtbf. */
double checkpoint_daly_s(double stall_s, double mtbf_s);

/* Share of wall time that is kept work, exponential failures: T / E with Daly's
 * E = M exp(R/M) (exp((T + delta)/M) - 1). */
double checkpoint_efficiency(double interval_s, double stall_s, double mtbf_s, double restart_s);

/* Mean work lost by a failure that falls into an interval of length T, exponential failures:
 * M - T / (exp(T/M) - 1); T/2 in the limit of rare failures. */
double checkpoint_expected_rework_s(double interval_s, double mtbf_s);

/* Effective training time ratio of arXiv 2410.21680: nodes, failures per node and second, restart,
 * interval, blocking write, all seconds. */
double checkpoint_ettr(double nodes, double failures_per_node_s, double restart_s,
                       double interval_s, double stall_s);

#endif
