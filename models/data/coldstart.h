/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a container holds its cards before it computes: image, process, engine (`starting`),
 * then weights and data (`loading`). Stages of cache-and-checkpoint section 3; transfers are bytes
 * over one effective bandwidth each (its 2.4 and 3.1), no contention between nodes.
 */
#ifndef MODELS_DATA_COLDSTART_H
#define MODELS_DATA_COLDSTART_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim_time.h"

/* Where weights may come from beside the object store. */
enum coldstart_mode {
    COLDSTART_NONE,  /* nowhere: every start reads the store */
    COLDSTART_NODE,  /* the disk of the node, when it has them */
    COLDSTART_FLUID  /* the node, else the cluster's shared cache (Fluid, Alluxio) */
};

/* Rates in bytes per second, all > 0. */
struct coldstart_config {
    enum coldstart_mode mode;
    double image_bytes_per_s;  /* pull and unpack together, not cached */
    double store_bytes_per_s;  /* object store to card */
    double node_bytes_per_s;   /* node disk to card */
    double fluid_bytes_per_s;  /* shared cache to card */
    sim_time store_first_byte; /* added once to a read from the store */
    sim_time process_start;    /* container and process start */
    sim_time engine_start;     /* compile, graphs, profiling; 0 where the service brings its own */
};

struct coldstart_time {
    sim_time starting; /* image, process, engine */
    sim_time loading;  /* weights, dataset */
};

/* The catalogue's defaults (kind "coldstart", each with its source), mode fluid, engine_start 0. */
struct coldstart_config coldstart_defaults(void);

/* The catalogue's engine start: with a compile cache kept, and without. */
sim_time coldstart_engine_default(bool compile_cache);

/* Bytes >= 0. image_cached: the node has the image. weights_on_node, weights_in_cluster_cache
 * count only in the modes that have such a cache. */
struct coldstart_time coldstart_estimate(const struct coldstart_config *cfg, int64_t image_bytes,
                                         bool image_cached, int64_t weight_bytes,
                                         bool weights_on_node, bool weights_in_cluster_cache);

#endif
