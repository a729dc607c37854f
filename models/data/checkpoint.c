/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/data/checkpoint.h"

#include <stdbool.h>

#include "sim/check.h"
#include "sim/dmath.h"

/* No checkpoint ever completes when there is no interval or its end is beyond the clock. */
static bool checkpoints(const struct checkpoint_plan *plan)
{
    REQUIRE(plan->interval >= 0 && plan->stall >= 0);
    return plan->interval > 0 && plan->interval <= SIM_NEVER - plan->stall;
}

struct checkpoint_progress checkpoint_progress(const struct checkpoint_plan *plan,
                                               sim_time elapsed)
{
    REQUIRE(elapsed >= 0);
    if (!checkpoints(plan))
        return (struct checkpoint_progress){.computed = elapsed};
    sim_time period = plan->interval + plan->stall;
    sim_time done = elapsed / period, rest = elapsed % period;
    sim_time committed = done * plan->interval;
    sim_time computed = committed + (rest < plan->interval ? rest : plan->interval);
    return (struct checkpoint_progress){computed, elapsed - computed, committed};
}

sim_time checkpoint_wall(const struct checkpoint_plan *plan, sim_time work)
{
    REQUIRE(work >= 0);
    if (work == 0 || !checkpoints(plan) || plan->stall == 0)
        return work;
    sim_time stalls = (work - 1) / plan->interval;
    if (stalls > (SIM_NEVER - work) / plan->stall)
        return SIM_NEVER;
    return work + stalls * plan->stall;
}

double checkpoint_young_s(double stall_s, double mtbf_s)
{
    return dm_sqrt(2 * stall_s * mtbf_s);
}

double checkpoint_daly_first_s(double stall_s, double mtbf_s, double restart_s)
{
    return dm_sqrt(2 * stall_s * (mtbf_s + restart_s)) - stall_s;
}

double checkpoint_daly_s(double stall_s, double mtbf_s)
{
    if (stall_s >= 2 * mtbf_s)
        return mtbf_s;
    double z = dm_sqrt(stall_s / (2 * mtbf_s));
    return dm_sqrt(2 * stall_s * mtbf_s) * (1 + z / 3 + z * z / 9) - stall_s;
}

double checkpoint_efficiency(double interval_s, double stall_s, double mtbf_s, double restart_s)
{
    double segment = mtbf_s * dm_exp(restart_s / mtbf_s) *
                     (dm_exp((interval_s + stall_s) / mtbf_s) - 1);
    return interval_s / segment;
}

double checkpoint_expected_rework_s(double interval_s, double mtbf_s)
{
    double x = interval_s / mtbf_s;
    if (x < 1e-4) /* the series, where the closed form cancels: T/2 (1 - x/6) */
        return interval_s / 2 * (1 - x / 6);
    return mtbf_s - interval_s / (dm_exp(x) - 1);
}

double checkpoint_ettr(double nodes, double failures_per_node_s, double restart_s,
                       double interval_s, double stall_s)
{
    return (1 - nodes * failures_per_node_s * (restart_s + interval_s / 2)) /
           (1 + stall_s / interval_s);
}
