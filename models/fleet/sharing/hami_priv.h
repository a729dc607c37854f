/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of the HAMi model: what its files share. */
#ifndef MODELS_FLEET_SHARING_HAMI_PRIV_H
#define MODELS_FLEET_SHARING_HAMI_PRIV_H

#include "models/fleet/sharing/hami.h"

/* Reasons as HAMi writes them, per card or node. */
#define HAMI_REASONS(X)                                                                            \
    X(TYPE, "CardTypeMismatch")                                                                    \
    X(UUID, "CardUuidMismatch")                                                                    \
    X(SLOTS, "CardTimeSlicingExhausted")                                                           \
    X(EXHAUSTED, "CardComputeUnitsExhausted")                                                      \
    X(MEMORY, "CardInsufficientMemory")                                                            \
    X(CORES, "CardInsufficientCore")                                                               \
    X(HEALTH, "CardNotHealth")                                                                     \
    X(CORDONED, "CardCordoned")                                                                    \
    X(NUMA, "NumaNotFit")                                                                          \
    X(EXCLUSIVE, "ExclusiveDeviceAllocateConflict")                                                \
    X(CUSTOM, "CardNotFoundCustomFilterRule")                                                      \
    X(MIG, "CardMigTopologyInfeasible")                                                            \
    X(FOUND, "AllocatedCardsInsufficientRequest")                                                  \
    X(QUOTA, "ResourceQuotaNotFit")                                                                \
    X(MODE, "ModeNotFit")                                                                          \
    X(UNHEALTHY, "CardUnhealthy")                                                                  \
    X(QOS, "CardQosPolicyMismatch")                                                                \
    X(CLASS, "CardAppClassMismatch")

/* A reason that is written although it counts no card (910C pairs: "0/2 ..."). */
#define HAMI_NOTED_ZERO (-1)

enum hami_reason {
#define X(name, text) HAMI_REASON_##name,
    HAMI_REASONS(X)
#undef X
    HAMI_REASON_COUNT
};

/* Use of one card; a decision works on a copy. */
struct hami_use {
    int32_t used, mem, cores;
    uint32_t mig_taken;      /* memory slices */
    int32_t neuron;          /* -1 = not looked at in this decision */
    const char *qos;
    int32_t online, offline; /* MetaX pods by class */
};

struct hami_quota {
    const char *ns, *resource;
    int64_t limit, used;
    bool limited;
};

struct hami_mig_instance {
    int32_t profile, start;
};

struct hami_card_state {
    struct hami_use use;
    const char *expected_qos;  /* MetaX: what the last pod with less than 100 cores asked; NULL */
    struct hami_mig_instance *instances;
    size_t instance_count, instance_capacity;
};

struct hami_cluster {
    struct hami_config cfg;
    const struct hami_node *nodes;
    int32_t node_count;
    struct hami_card_state **cards; /* [node][card] */
    struct hami_quota *quotas;
    size_t quota_count, quota_capacity;
    int32_t neuron_cores;      /* of the first Neuron card; 0 = none */
    struct arena arena;
};

/* One request of one container against the cards of one node. */
struct hami_fit {
    const struct hami_cluster *cluster;
    int32_t node_index;
    const struct hami_node *node;
    const struct hami_pod *pod;
    struct hami_use *use;          /* working copy, by card index */
    const int32_t *cards;          /* cards of the request's type, in sorted order */
    int32_t count;
    int vendor;
    struct hami_request req;
    const struct hami_allocation *allocated;
    struct arena *arena;
    struct hami_grants found;      /* room for capacity grants */
    int32_t capacity;
    int32_t reason[HAMI_REASON_COUNT];
    int32_t divisor;
};

struct hami_backend {
    const char *vendor;            /* HAMi's device type */
    const char *count, *mem, *cores, *percent; /* resource names, NULL = none */
    const char *use_type, *nouse_type, *use_uuid, *nouse_uuid; /* pod annotations */
    int32_t mem_factor;
    int32_t default_cores;
    /* false = the pod is refused */
    bool (*admit)(const struct hami_cluster *c, int vendor, struct hami_container *ctr,
                  struct hami_pod *pod, struct arena *arena);
    struct hami_request (*request)(const struct hami_cluster *c, int vendor,
                                   const struct hami_container *ctr);
    bool (*fit)(struct hami_fit *f);
    bool (*take)(const struct hami_fit *f, struct hami_grant *g);
    float (*score)(const struct hami_cluster *c, int32_t node, int vendor,
                   const struct hami_pod *pod, const struct hami_allocation *a, const char *policy);
};

extern const struct hami_backend hami_backends[HAMI_VENDORS];

/* hami_text.c */
const char *hami_annotation(const struct hami_text *list, int32_t count, const char *key);
const char *hami_pod_annotation(const struct hami_pod *pod, const char *key);
bool hami_list_has(const char *list, const char *word);       /* trimmed, exact */
bool hami_contains_nocase(const char *text, const char *part);
bool hami_type_allowed(const struct hami_pod *pod, const char *type, const char *use,
                       const char *nouse);
bool hami_uuid_allowed(const struct hami_pod *pod, const char *id, const char *use,
                       const char *nouse);
bool hami_true(const char *text);                             /* Go's ParseBool accepts and true */
bool hami_bool(const char *text, bool *value);                /* false when not a bool */
const char *hami_card_policy(const struct hami_cluster *c, const struct hami_pod *pod);
const char *hami_node_policy(const struct hami_cluster *c, const struct hami_pod *pod);
const char *hami_reason_text(struct arena *arena, const int32_t *count, int32_t divisor);
struct hami_weights {
    int64_t slot, core, memory;
};
bool hami_weights_parse(const struct hami_pod *pod, struct hami_weights *w);

/* hami_request.c */
const struct hami_limit *hami_limit_get(const struct hami_container *ctr, const char *name);
void hami_limit_set(struct hami_container *ctr, const char *name, int64_t value,
                    struct arena *arena);
bool hami_admit_nvidia(const struct hami_cluster *c, int v, struct hami_container *ctr,
                       struct hami_pod *pod, struct arena *arena);
bool hami_admit_iluvatar(const struct hami_cluster *c, int v, struct hami_container *ctr,
                         struct hami_pod *pod, struct arena *arena);
bool hami_admit_mthreads(const struct hami_cluster *c, int v, struct hami_container *ctr,
                         struct hami_pod *pod, struct arena *arena);
bool hami_admit_ascend(const struct hami_cluster *c, int v, struct hami_container *ctr,
                       struct hami_pod *pod, struct arena *arena);
bool hami_admit_metax_sgpu(const struct hami_cluster *c, int v, struct hami_container *ctr,
                           struct hami_pod *pod, struct arena *arena);
bool hami_admit_xpu(const struct hami_cluster *c, int v, struct hami_container *ctr,
                    struct hami_pod *pod, struct arena *arena);
bool hami_admit_amd(const struct hami_cluster *c, int v, struct hami_container *ctr,
                    struct hami_pod *pod, struct arena *arena);
bool hami_admit_enflame(const struct hami_cluster *c, int v, struct hami_container *ctr,
                        struct hami_pod *pod, struct arena *arena);
bool hami_admit_neuron(const struct hami_cluster *c, int v, struct hami_container *ctr,
                       struct hami_pod *pod, struct arena *arena);
struct hami_request hami_request_nvidia(const struct hami_cluster *c, int v,
                                        const struct hami_container *ctr);
struct hami_request hami_request_plain(const struct hami_cluster *c, int v,
                                       const struct hami_container *ctr);
struct hami_request hami_request_whole(const struct hami_cluster *c, int v,
                                       const struct hami_container *ctr);
struct hami_request hami_request_mthreads(const struct hami_cluster *c, int v,
                                          const struct hami_container *ctr);
struct hami_request hami_request_metax_sgpu(const struct hami_cluster *c, int v,
                                            const struct hami_container *ctr);
struct hami_request hami_request_xpu(const struct hami_cluster *c, int v,
                                     const struct hami_container *ctr);
struct hami_request hami_request_amd(const struct hami_cluster *c, int v,
                                     const struct hami_container *ctr);
struct hami_request hami_request_enflame(const struct hami_cluster *c, int v,
                                         const struct hami_container *ctr);
struct hami_request hami_request_neuron(const struct hami_cluster *c, int v,
                                        const struct hami_container *ctr);

/* hami_fit.c: the filter that most vendors share, and its tools. */
bool hami_fit_shared(struct hami_fit *f);
bool hami_fit_amd(struct hami_fit *f);
bool hami_fit_gcu(struct hami_fit *f);
bool hami_fit_slots(struct hami_fit *f);       /* Biren, Vastai */
bool hami_take_plain(const struct hami_fit *f, struct hami_grant *g);
const struct hami_card *hami_fit_card(const struct hami_fit *f, int32_t card);
bool hami_fit_mutex(const struct hami_fit *f);
void hami_fit_add(struct hami_fit *f, int32_t card, int32_t mem, int32_t cores);
bool hami_fit_short(struct hami_fit *f);       /* notes what was found; returns false */

/* Vendors with rules of their own. */
bool hami_nvidia_mig_fits(const struct hami_fit *f, int32_t card, int32_t mem);
bool hami_take_nvidia(const struct hami_fit *f, struct hami_grant *g);
void hami_nvidia_topology(struct hami_fit *f);
bool hami_ascend_collects(const struct hami_fit *f);
bool hami_ascend_choose(struct hami_fit *f, bool *done);
float hami_score_ascend(const struct hami_cluster *c, int32_t node, int vendor,
                        const struct hami_pod *pod, const struct hami_allocation *a,
                        const char *policy);
bool hami_ascend_soft(const struct hami_pod *pod);
bool hami_ascend_node_soft(const struct hami_cluster *c, const struct hami_node *node);
float hami_score_vastai(const struct hami_cluster *c, int32_t node, int vendor,
                        const struct hami_pod *pod, const struct hami_allocation *a,
                        const char *policy);
void hami_vastai_choose(struct hami_fit *f);
bool hami_fit_metax_sgpu(struct hami_fit *f);
bool hami_take_metax_sgpu(const struct hami_fit *f, struct hami_grant *g);
float hami_score_metax_sgpu(const struct hami_cluster *c, int32_t node, int vendor,
                            const struct hami_pod *pod, const struct hami_allocation *a,
                            const char *policy);
float hami_score_metax_gpu(const struct hami_cluster *c, int32_t node, int vendor,
                           const struct hami_pod *pod, const struct hami_allocation *a,
                           const char *policy);
void hami_metax_remember(struct hami_cluster *c, int32_t node, const struct hami_pod *pod,
                         const struct hami_allocation *a);
bool hami_fit_kunlun(struct hami_fit *f);
bool hami_take_kunlun(const struct hami_fit *f, struct hami_grant *g);
float hami_score_kunlun(const struct hami_cluster *c, int32_t node, int vendor,
                        const struct hami_pod *pod, const struct hami_allocation *a,
                        const char *policy);
bool hami_fit_enflame(struct hami_fit *f);
bool hami_take_enflame(const struct hami_fit *f, struct hami_grant *g);
bool hami_fit_neuron(struct hami_fit *f);
bool hami_take_neuron(const struct hami_fit *f, struct hami_grant *g);

/* hami_usage.c */
/* What the lists of one vendor count for: per card slots, MiB, cores. Lists before init_count by
 * maximum (skipped when app_only), the others by sum; usage has card_count zeroed entries. */
void hami_collapse(const struct hami_grants *lists, int32_t list_count, int32_t init_count,
                   bool app_only, struct hami_usage *usage);
bool hami_quota_fits(const struct hami_cluster *c, const char *ns, int vendor, int64_t mem,
                     int64_t cores, int32_t mem_factor);
void hami_quota_use(struct hami_cluster *c, const char *ns, int vendor, int64_t mem, int64_t cores);

#endif
