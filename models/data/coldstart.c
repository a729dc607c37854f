/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/data/coldstart.h"

#include "models/fleet/catalogue.h"
#include "sim/check.h"

static double fact(const char *field)
{
    return catalogue_value(catalogue_builtin(), "coldstart", "default", field);
}

struct coldstart_config coldstart_defaults(void)
{
    return (struct coldstart_config){
        .mode = COLDSTART_FLUID,
        .image_bytes_per_s = fact("image_bandwidth"),
        .store_bytes_per_s = fact("store_bandwidth"),
        .node_bytes_per_s = fact("node_bandwidth"),
        .fluid_bytes_per_s = fact("cluster_bandwidth"),
        .store_first_byte = sim_time_from_seconds(fact("first_byte")),
        .process_start = sim_time_from_seconds(fact("process_start")),
    };
}

sim_time coldstart_engine_default(bool compile_cache)
{
    return sim_time_from_seconds(fact(compile_cache ? "engine_start" : "engine_start_cold"));
}

/* Nearest nanosecond. */
static sim_time transfer(int64_t bytes, double bytes_per_s)
{
    REQUIRE(bytes >= 0 && bytes_per_s > 0);
    return sim_time_from_seconds((double)bytes / bytes_per_s);
}

static sim_time load_time(const struct coldstart_config *cfg, int64_t bytes, bool on_node,
                          bool in_cluster)
{
    if (bytes == 0)
        return 0;
    if (on_node && cfg->mode != COLDSTART_NONE)
        return transfer(bytes, cfg->node_bytes_per_s);
    if (in_cluster && cfg->mode == COLDSTART_FLUID)
        return transfer(bytes, cfg->fluid_bytes_per_s);
    return sim_time_after(transfer(bytes, cfg->store_bytes_per_s), cfg->store_first_byte);
}

struct coldstart_time coldstart_estimate(const struct coldstart_config *cfg, int64_t image_bytes,
                                         bool image_cached, int64_t weight_bytes,
                                         bool weights_on_node, bool weights_in_cluster_cache)
{
    sim_time image = image_cached ? 0 : transfer(image_bytes, cfg->image_bytes_per_s);
    sim_time process = sim_time_after(cfg->process_start, cfg->engine_start);
    return (struct coldstart_time){
        .starting = sim_time_after(image, process),
        .loading = load_time(cfg, weight_bytes, weights_on_node, weights_in_cluster_cache)};
}
