/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated time: signed 64-bit nanoseconds since the start of the run (range 292 years).
 * SIM_NEVER is "no such instant"; it is never added to. Durations use the same type.
 */
#ifndef SIM_SIM_TIME_H
#define SIM_SIM_TIME_H

#include <stdint.h>

typedef int64_t sim_time;

#define SIM_NEVER INT64_MAX
#define SIM_MS ((sim_time)1000000)
#define SIM_SECOND ((sim_time)1000000000)
#define SIM_MINUTE (60 * SIM_SECOND)
#define SIM_HOUR (3600 * SIM_SECOND)
#define SIM_DAY (24 * SIM_HOUR)

/* t + d, saturating to SIM_NEVER; d >= 0. Adding to SIM_NEVER stays SIM_NEVER. */
static inline sim_time sim_time_after(sim_time t, sim_time d)
{
    return t > INT64_MAX - d ? SIM_NEVER : t + d;
}

/* Seconds as a double, for printing and statistics only. */
static inline double sim_time_seconds(sim_time t)
{
    return (double)t / 1e9;
}

/* Nearest nanosecond to s seconds, at least 0; s above 292 years or NaN gives SIM_NEVER. */
sim_time sim_time_from_seconds(double s);

#endif
