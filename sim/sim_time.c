/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sim_time.h"

/* Whole seconds and fraction apart: s * 1e9 would round twice above 104 days. */
sim_time sim_time_from_seconds(double s)
{
    if (s <= 0)
        return 0;
    if (!(s < 9223372037.0))
        return SIM_NEVER;
    int64_t whole = (int64_t)s;
    int64_t rest = (int64_t)((s - (double)whole) * 1e9 + 0.5);
    if (whole == INT64_MAX / SIM_SECOND && rest >= INT64_MAX % SIM_SECOND)
        return SIM_NEVER;
    return whole * SIM_SECOND + rest;
}
