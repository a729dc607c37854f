/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the cards of a pool are shared, as the user writes it (models/fleet/sharing/sharing.h). */
#ifndef MODELS_FLEET_SHARING_SHARE_CONFIG_H
#define MODELS_FLEET_SHARING_SHARE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum share_kind {
    SHARE_WHOLE, SHARE_MIG, SHARE_HAMI, SHARE_TIME_SLICING, SHARE_MPS, SHARE_KAI, SHARE_KINDS
};

/* MIG: all nodes of the pool get another layout (models/fleet/sharing/mig_node.h, scope node). */
struct share_change {
    int64_t at_ns;
    const char *layout;
};

/* As the user writes it. Zero = whole cards. */
struct share_config {
    enum share_kind kind;
    int32_t replicas;        /* time-slicing and MPS: 2 or more */
    int32_t slots;           /* HAMi: deviceSplitCount, 0 = 10 */
    int32_t memory_scaling_percent; /* HAMi: deviceMemoryScaling * 100, 0 = 100 */
    const char *mig_layout;  /* MIG: "all-balanced", "3g.20gb,1g.5gb*2", ... */
    bool mig_single;         /* migStrategy single: instances are nvidia.com/gpu */
    bool mig_dynamic;        /* no layout: instances are made on request (sharing/mig_dynamic.h) */
    bool mig_as_driver;      /* and lie where the driver would put them; else where HAMi does */
    bool rename_shared;      /* renameByDefault: nvidia.com/gpu.shared */
    bool allow_above_one;    /* failRequestsGreaterThanOne: false */
    struct share_change *changes; /* MIG, in order of time */
    int32_t change_count;
    bool evict;              /* a change evicts who is in its way; else it waits */
    int64_t drain_limit_ns;  /* and gives up after this; < 0: never */
    int64_t cycle_ns, create_ns, destroy_ns; /* work of a node, and per instance */
};

#endif
