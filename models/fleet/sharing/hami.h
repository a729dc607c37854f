/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * HAMi 2.10's scheduler extender, decision for decision: admission, normalised requests, filter,
 * card order, scores, reasons and accounting, for all its vendors. The rules and where they come
 * from are in docs/hami-fidelity.md; recorded decisions of the real program are the judge
 * (studies/conform_hami.c).
 *
 * Use: build a cluster of nodes, then per pod hami_admit, hami_decide, hami_bind to one of the
 * candidates; hami_unbind when it has gone. A decision changes nothing; among nodes of equal
 * score the real choice is arbitrary, so the caller chooses.
 *
 * Amounts are HAMi's: slots, MiB, cores in percent points (AMD: compute units, Moore Threads: 16
 * units, Neuron: a bit mask).
 */
#ifndef MODELS_FLEET_SHARING_HAMI_H
#define MODELS_FLEET_SHARING_HAMI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"

enum hami_vendor {
    HAMI_NVIDIA, HAMI_MLU, HAMI_DCU, HAMI_MR_V100, HAMI_MR_V50, HAMI_BI_V150, HAMI_BI_V100,
    HAMI_MTHREADS, HAMI_METAX_GPU, HAMI_METAX_SGPU, HAMI_KUNLUN, HAMI_XPU, HAMI_ENFLAME, HAMI_GCU,
    HAMI_NEURON, HAMI_AMD, HAMI_VASTAI, HAMI_BIREN, HAMI_910A, HAMI_910B2, HAMI_910B3, HAMI_910B4_1,
    HAMI_910B4, HAMI_310P, HAMI_910C, HAMI_VENDORS
};

/* HAMi's internal device type ("NVIDIA", "MLU", "Ascend910B4", ...); -1 = unknown. */
const char *hami_vendor_name(int vendor);
int hami_vendor_find(const char *name);

#define HAMI_PROFILES 8

struct hami_mig_profile {
    const char *name;
    int32_t mem, cores, slices, size; /* MiB, percent, compute slices, memory slices */
    int32_t starts[HAMI_PROFILES];
    int32_t start_count;
};

struct hami_drs_profile { /* Enflame */
    int32_t size, mem_gb;
};

/* A card as it is registered. Strings belong to the caller and outlive the cluster. */
struct hami_card {
    const char *id, *type;  /* type = model string */
    int vendor;
    int32_t index, slots, mem, cores, numa;
    bool healthy;
    const char *mode;       /* "hami-core", "mig", "mps" or "" */
    struct hami_mig_profile mig[HAMI_PROFILES];
    int32_t mig_count;
    const int32_t *pair;    /* NVIDIA pair score to each card of the node, or NULL */
    bool has_info;          /* the vendor's own data follows */
    bool has_network;       /* Ascend */
    int32_t network;
    int32_t link_zone;      /* MetaX sGPU; 0 = none */
    const char *qos;        /* MetaX sGPU as registered, "" = none */
    const char *aic;        /* Vastai, or NULL */
    bool die;               /* Vastai: slots are dies of a card */
    const char *node_type;  /* Neuron instance type */
    struct hami_drs_profile drs[HAMI_PROFILES];
    int32_t drs_count, max_slice;
};

struct hami_text {
    const char *key, *value;
};

#define HAMI_METAX_COUNTS 65

struct hami_node {
    const char *name;
    const struct hami_card *cards; /* in registration order */
    int32_t card_count;
    const struct hami_text *annotations;
    int32_t annotation_count;
    bool has_loss, has_score;      /* MetaX topology annotations, by number of cards */
    int32_t loss[HAMI_METAX_COUNTS], score[HAMI_METAX_COUNTS];
};

struct hami_config {
    const char *node_policy, *card_policy; /* defaults of the cluster: "binpack", "spread", ... */
    int32_t default_mem, default_cores, default_count, mem_factor; /* NVIDIA; 0, 0, 1, 1 */
    bool ascend_hami_core, metax_topology_aware;
};

/* ---- pods ---- */

struct hami_limit {
    const char *name;
    int64_t value;
    bool unit;               /* the canonical quantity carries a letter (16Gi, 1k) */
};

struct hami_request {
    int32_t count;           /* 0 = none */
    int32_t mem, mem_percent, cores; /* per card; 101 = percentage unset */
};

struct hami_container {
    bool init;
    struct hami_limit *limits;
    int32_t limit_count;
    struct hami_request request[HAMI_VENDORS]; /* filled by hami_admit */
};

struct hami_pod {
    const char *ns;
    struct hami_text *annotations;
    int32_t annotation_count;
    struct hami_container *containers; /* init containers first */
    int32_t container_count, init_count;
};

enum hami_admission { HAMI_ADMITTED, HAMI_REFUSED, HAMI_OVER_QUOTA };

/* ---- decisions ---- */

/* One card given to one container. */
struct hami_grant {
    int32_t card;            /* index on the node */
    int32_t mem, cores;
    int32_t profile;         /* MIG profile of the card, or -1 */
    int32_t start;           /* MIG placement */
    int32_t slices;          /* Enflame, else 0 */
    int32_t neuron;          /* Neuron core mask taken */
};

struct hami_grants {
    struct hami_grant *items;
    int32_t count;
};

/* What a pod gets on a node: per vendor a list over containers, as HAMi stores it (not always
 * aligned with the pod's containers, docs/hami-fidelity.md). */
struct hami_allocation {
    bool present[HAMI_VENDORS];
    struct hami_grants *lists[HAMI_VENDORS];
    int32_t list_count[HAMI_VENDORS];
};

struct hami_result {
    bool fits;
    float score;
    const char *reason;      /* when it does not fit */
    struct hami_allocation allocation;
};

/* Card -> amounts. */
struct hami_usage {
    int32_t slots, mem, cores;
};

struct hami_cluster;
struct hami_bound;

struct hami_cluster *hami_cluster_create(const struct hami_config *cfg,
                                         const struct hami_node *nodes, int32_t node_count);
void hami_cluster_destroy(struct hami_cluster *c);

/* Limit of a namespace for a memory or core resource name (without "limits."). */
void hami_quota_set(struct hami_cluster *c, const char *ns, const char *resource, int64_t limit);

/* The webhook: changes limits and annotations as HAMi does (memory of the arena) and fills the
 * requests. A refused pod leaves nothing behind. */
enum hami_admission hami_admit(const struct hami_cluster *c, struct hami_pod *pod,
                               struct arena *arena);
/* Does any container ask for a card? */
bool hami_asks(const struct hami_pod *pod);

/* The filter on every node: results (node_count, from the arena) in node order, or NULL when the
 * pod's scoring weights are not valid (the whole decision fails). */
struct hami_result *hami_decide(const struct hami_cluster *c, const struct hami_pod *pod,
                                struct arena *arena);
/* True when the first score is better under the pod's node policy. */
bool hami_better(const struct hami_cluster *c, const struct hami_pod *pod, float a, float b);

/* Reserves the result on its node until hami_unbind. hami_init_done drops what was counted for
 * init containers. */
struct hami_bound *hami_bind(struct hami_cluster *c, const struct hami_pod *pod, int32_t node,
                             const struct hami_result *result);
void hami_unbind(struct hami_cluster *c, struct hami_bound *b);
void hami_init_done(struct hami_cluster *c, struct hami_bound *b);

/* What the bound pod counts for on card `card` of its node (all 0 when it has nothing there). */
struct hami_usage hami_bound_usage(const struct hami_bound *b, int32_t card);
int32_t hami_bound_node(const struct hami_bound *b);

/* Present use of a card. */
struct hami_usage hami_card_usage(const struct hami_cluster *c, int32_t node, int32_t card);
/* MIG instance number i on the card in order of binding: profile and start; false when none. */
bool hami_card_instance(const struct hami_cluster *c, int32_t node, int32_t card, int32_t i,
                        int32_t *profile, int32_t *start);

#endif
