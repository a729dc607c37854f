/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What fails when a tenant of a shared card runs out of memory or faults, and who dies with it
 * (gpu-sharing 0, 2.6, 3.2). Admission looks at reserved amounts; these rules look at actual ones.
 */
#ifndef MODELS_FLEET_SHARING_BLAST_H
#define MODELS_FLEET_SHARING_BLAST_H

#include "models/fleet/sharing/sharing.h"
#include "sim/rng.h"

enum blast_cause {
    BLAST_NONE,
    BLAST_OVER_LIMIT, /* the tenant passed its own limit: only its allocation fails */
    BLAST_CARD_FULL,  /* the card's memory is used up */
    BLAST_FAULT       /* a fault of the GPU in one tenant */
};

/* Who gets the error when the card is full; a neighbour may, as crash reports show. */
enum blast_victim { BLAST_ALLOCATOR, BLAST_ANY_TENANT };

/* Memory of one tenant. limit 0 = none; a CUDA context may lie outside of it. */
struct blast_tenant {
    int32_t id;
    int64_t resident_mib, context_mib, limit_mib;
};

/* Everybody on one card. */
struct blast_card {
    const struct share_pool *pool;
    struct blast_tenant *tenants;
    int32_t count;
    enum blast_victim victim;
    struct rng *rng; /* for BLAST_ANY_TENANT */
};

struct blast {
    enum blast_cause cause;
    int32_t culprit;                    /* index of the tenant that caused it */
    int32_t victims[SHARE_TENANTS_MAX]; /* indices, ascending */
    int32_t victim_count;
    bool refuses_new;                   /* MPS: the server takes nobody until the old have gone */
};

/* Limit of a tenant with this demand, in MiB. */
int64_t blast_limit_mib(const struct share_pool *pool, const struct share_demand *demand);

/* The tenant allocates more. True: done, resident_mib has grown. False: b says who fails. */
bool blast_allocate(const struct blast_card *card, int32_t index, int64_t more_mib,
                    struct blast *b);

/* A fault of the tenant. */
void blast_fault(const struct blast_card *card, int32_t index, struct blast *b);

#endif
