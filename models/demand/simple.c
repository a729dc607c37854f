/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/simple.h"

#include "models/demand/queueing.h"
#include "sim/check.h"
#include "sim/dmath.h"

/* With (c - a)/sqrt(a) above this P(wait) is below 1e-6 (Halfin and Whitt 1981). */
#define NO_WAIT_BETA 5.0

static double servers_of(const struct service_config *cfg)
{
    return cfg->servers_per_replica > 0 ? (double)cfg->servers_per_replica : 1.0;
}

/* Share of time in which at least one of a replica's servers works, each as busy as the others. */
static double replica_busy(const struct service_config *cfg, double server_busy)
{
    double none = 1.0;
    for (int32_t i = 0; i < (int32_t)servers_of(cfg); i++)
        none *= 1.0 - server_busy;
    return servers_of(cfg) > 1.0 ? 1.0 - none : server_busy;
}

double simple_lambda_max(const struct service_config *cfg)
{
    REQUIRE(cfg->service_time_s > 0.0);
    return servers_of(cfg) / cfg->service_time_s;
}

void simple_station(const struct service_config *cfg, double lambda, int32_t replicas,
                    struct station *out)
{
    REQUIRE(replicas >= 1 && lambda >= 0.0);
    double servers = servers_of(cfg) * (double)replicas;
    double load = lambda * cfg->service_time_s;
    *out = (struct station){.residual_c1 = 1.0, .decode_c1 = 1.0,
                            .decode_s = cfg->service_time_s,
                            .own_mean_s = cfg->service_time_s};
    if (load >= servers) {
        out->in_service = servers;
        out->busy = 1.0;
        return;
    }
    out->in_service = load;
    out->busy = replica_busy(cfg, load / servers);
    double spare = servers - load;
    if (spare * spare > NO_WAIT_BETA * NO_WAIT_BETA * load && spare > NO_WAIT_BETA)
        return;
    double ca = cfg->traffic.arrival_cv, cs = cfg->service_time_cv;
    out->p_wait = queue_erlang_c((int32_t)servers, load);
    out->wait_scale_s = cfg->service_time_s / spare * 0.5 * (ca * ca + cs * cs);
}
