/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LoRA on one base under an arbiter with loraBase (models/demand/lora_base.h; workload-models 5).
 *
 * Tenants: jobs of streams and replicas of services that name a loraBase. Those of one base, queue,
 * priority, node selector and tolerations form a group; tuning and serving are separate groups (an
 * engine does one or the other). A group's instances are workloads of one card: the only thing that
 * policy and placement see. The first tenant opens an instance; later ones join the oldest that has
 * a slot and memory for them; it closes when its last tenant leaves.
 *
 * An instance loads image and base once; each tenant then loads its adapter. A tenant holds a part of
 * the card (workload.milli): what it computes with (workload.busy_milli) and an equal part of the
 * rest; the parts of all tenants are the card, so that the ledger closes and teams pay for theirs.
 * While an instance is evicted its tenants wait with it, and keep their places on it.
 */
#ifndef MODELS_WORLD_WORLD_LORA_H
#define MODELS_WORLD_WORLD_LORA_H

#include "models/world/world_priv.h"

struct lora_group {
    int32_t base, queue, priority;
    bool serves;
    int32_t source;        /* its first stream or service: pools and resources of an instance */
    int64_t card_bytes;    /* memory of the smallest card that an instance may get */
    uint32_t first;        /* instances, oldest first */
    uint64_t opened;       /* so far */
};

struct lora_instance {
    bool in_use;
    int32_t group;
    uint32_t workload;     /* WL_BASE */
    uint64_t number;       /* of its group, from 0 */
    uint32_t tenants[LORA_SLOTS_MAX]; /* workloads, in order of joining */
    int32_t count;
    uint32_t next;         /* of the group */
    int32_t pool, node, card; /* where it is, or was last (lora_meet.c) */
    int32_t met[LORA_SLOTS_MAX], met_count; /* sources that hold parts of its card */
};

/* Two tenants on one instance, by source, a < b. */
struct lora_pair {
    int32_t pool, node, card, a, b, times;
    int32_t next;          /* of its node, -1 = none */
    sim_time from, to, open; /* open: since when they are there, SIM_NEVER = not now */
    sim_time shared;
};

struct lora_cards { /* what tenants hold */
    int64_t milli, peak;
    i128 mcns;
    sim_time since;
};

struct lora_world {
    struct lora_group *groups;
    int32_t group_count;
    int32_t *group_of;     /* per source; -1: no tenants */
    struct lora_instance *instances;
    size_t count, capacity;
    uint32_t free;
    struct lora_pair *pairs;
    int32_t *pair_of_node; /* first one, -1 = none */
    size_t pair_count, pair_capacity;
};

bool lora_init(struct world *w); /* after sources_init */
void lora_fini(struct world *w);

/* Do workloads of this source with this queue and priority share instances? */
bool lora_takes(const struct world *w, int32_t source, int32_t queue, int32_t priority);
uint32_t lora_shape(struct world *w, int32_t source); /* that of an instance */

void lora_join(struct world *w, uint32_t wl, uint64_t uid); /* a new workload of such a source */
void lora_leave(struct world *w, uint32_t wl); /* before it is freed */
void lora_again(struct world *w, uint32_t wl); /* a job that failed loads its adapter once more */
/* A tenant became ready, or ceased to be: speeds and parts of all are found anew. */
void lora_changed(struct world *w, uint32_t wl);
void lora_traffic(struct world *w);            /* rates of all services changed */

/* The instance's own workload. */
void lora_placed(struct world *w, uint32_t wl);
void lora_stage(struct world *w, uint32_t wl);
void lora_evicted(struct world *w, uint32_t wl);
void lora_released(struct world *w, uint32_t wl);
int32_t lora_queue(const struct world *w, uint32_t wl);
int32_t lora_priority(const struct world *w, uint32_t wl);

/* What the policy knows of a workload: its instance, or itself. */
uint32_t lora_admitted_as(const struct world *w, uint32_t wl);

/* Ready replicas of a service on instances, [from, now). */
void lora_book_replicas(struct world *w, uint32_t service, sim_time from);
/* An instance without tenants that still drains. */
void lora_book_empty(struct world *w, uint32_t wl);

/* lora_cards.c: cards that tenants hold, shared or not, under every arbiter. */
void lora_tallies_init(struct world *w);
void lora_cards_change(struct world *w, uint32_t wl, int64_t delta_milli);
void lora_note_end(struct world *w, uint32_t job); /* it finished */
void lora_emit(struct world *w);

/* record_lora.c: rows of decisions about tenants. */
void record_joined(struct world *w, uint32_t wl, uint64_t uid);
void record_tenant_evicted(struct world *w, uint32_t wl);
void record_base_name(const struct world *w, uint32_t wl, char *name); /* RECORD_NAME_SIZE */

#endif
