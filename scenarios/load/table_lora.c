/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of adapters and of what instances of a base model have in common, and their checks. */
#include <stdio.h>
#include <string.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/load_priv.h"

#define ADAPTER(member) offsetof(struct lora_adapter, member)
static const struct field adapter_fields[] = {
    {.name = "rank", .kind = FIELD_INT, .offset = ADAPTER(rank), .min = 1, .max = 1024,
     .flags = FIELD_REQUIRED, .help = "Rank r."},
    {.name = "bytes", .kind = FIELD_BYTES, .offset = ADAPTER(bytes), .min = 1, .max = 1e12,
     .flags = FIELD_REQUIRED, .help = "Size of its file, moved when it joins (workload-models 5.1)."},
    {.name = "memory", .kind = FIELD_BYTES, .offset = ADAPTER(memory_bytes), .max = 1e13,
     .fallback = "tuning: 8 x bytes (16 bytes per bf16 parameter); serving: bytes",
     .help = "What it takes on the card."},
    {.name = "activations", .kind = FIELD_BYTES, .offset = ADAPTER(activation_bytes), .max = 1e13,
     .help = "Tuning: activations and logits of a batch; once per instance when adapters take turns, once per "
             "adapter when they are fused."},
    {0}};
const struct schema adapter_schema = {.title = "an adapter",
                                      .about = "A LoRA adapter of a base model.",
                                      .size = sizeof(struct lora_adapter), .fields = adapter_fields};

#define SHARED(member) offsetof(struct lora_sharing, member)
static const struct field lora_sharing_fields[] = {
    {.name = "anyAdapter", .kind = FIELD_FRACTION, .offset = SHARED(any_adapter), .max = 1,
     .help = "Serving: iterations take this much longer with adapters that are not merged (published: 0.04 to "
             "0.34)."},
    {.name = "perAdapter", .kind = FIELD_FRACTION, .offset = SHARED(per_adapter), .max = 1,
     .help = "Serving: and this much per distinct adapter, at rank 16; in proportion to the largest rank."},
    {.name = "factorMost", .kind = FIELD_REAL, .offset = SHARED(factor_most), .min = 1, .max = 100,
     .help = "Serving: never longer than this many times."},
    {.name = "maxRank", .kind = FIELD_INT, .offset = SHARED(max_rank), .min = 1, .max = 1024,
     .help = "Largest rank that an instance takes (Twinkle's max_r)."},
    {.name = "tuningReserve", .kind = FIELD_BYTES, .offset = SHARED(train_reserve_bytes), .max = 1e12,
     .help = "Tuning: context and libraries, once per instance."},
    {.name = "servingReserve", .kind = FIELD_BYTES, .offset = SHARED(serve_reserve_bytes), .max = 1e12,
     .help = "Serving: activations, graphs and context, once per instance."},
    {.name = "servingUtilization", .kind = FIELD_FRACTION, .offset = SHARED(serve_utilization),
     .min = 0.05, .max = 1, .help = "Serving: part of the card's memory that the engine takes."},
    {.name = "adapterLoad", .kind = FIELD_SECONDS, .offset = SHARED(adapter_load_s), .max = 3600,
     .help = "Loading an adapter, beside moving its bytes (published: 370 ms usual, 83.5 ms optimised)."},
    {0}};
const struct schema lora_sharing_schema = {
    .title = "loraSharing",
    .about = "Several LoRA adapters on one copy of a base model (workload-models 5.3, 5.4).",
    .size = sizeof(struct lora_sharing), .fields = lora_sharing_fields};

static const struct ynode *key_or(const struct ynode *map, const char *key)
{
    const struct ynode *n = ynode_get(map, key);
    return n != NULL ? n : map;
}

void resolve_lora(struct read_ctx *ctx, const struct ynode *map, int32_t lora_base, int32_t *model,
                  const struct lora_adapter *adapter)
{
    const struct ynode *base = ynode_get(map, "loraBase"), *own = ynode_get(map, "adapter");
    int32_t most = scenario_of(ctx)->s.lora.max_rank;
    if (base == NULL && own != NULL)
        field_problem(ctx, own, "an adapter needs the loraBase that it belongs to");
    if (base != NULL && own == NULL)
        field_problem(ctx, base, "a tenant of a base needs adapter: {rank: 16, bytes: 84MB}");
    if (lora_base < 0)
        return;
    if (*model >= 0 && *model != lora_base)
        field_problem(ctx, key_or(map, "model"), "model and loraBase name different models");
    *model = lora_base;
    if (own != NULL && adapter->rank > most)
        field_problem(ctx, key_or(own, "rank"), "rank %d is above loraSharing.maxRank %d",
                      (int)adapter->rank, (int)most);
}

/* ---- does it fit a card ---- */

struct tenant {
    const char *list;
    int32_t ix;
    const struct lora_adapter *adapter;
    int32_t base, queue;
    bool serves;
    const struct label *selector;
    int32_t selector_count;
};

static bool selected(const struct tenant *t, const struct node_pool_config *p)
{
    for (int32_t i = 0; i < t->selector_count; i++) {
        bool found = false;
        for (int32_t k = 0; k < p->label_count && !found; k++)
            found = strcmp(p->labels[k].key, t->selector[i].key) == 0 &&
                    strcmp(p->labels[k].value, t->selector[i].value) == 0;
        if (!found)
            return false;
    }
    return true;
}

static void check_pool(struct read_ctx *ctx, const struct ynode *at, const struct tenant *t,
                       const struct node_pool_config *p)
{
    const struct scenario *s = &scenario_of(ctx)->s;
    const struct card_type *card = &catalogue_builtin()->cards[p->card];
    struct lora_memory m = lora_memory_open(s->demand.models[t->base].weight_bytes, t->serves, &s->lora);
    lora_memory_add(&m, t->adapter, t->serves);
    int64_t need = t->serves ? lora_memory_serving(&m, 1) : lora_memory_training(&m, LORA_TIME_SHARE);
    double part = t->serves ? s->lora.serve_utilization : 1.0;
    if ((double)need <= part * (double)card->memory_bytes)
        return;
    field_problem(ctx, key_or(at, "loraBase"),
                  "base '%.60s' with one adapter needs %.1f GB; a %s of node pool '%.60s' has %.1f GB for it (a nodeSelector leaves such cards out)",
                  s->demand.models[t->base].name, (double)need / 1e9, card->name, p->name,
                  part * (double)card->memory_bytes / 1e9);
}

static void check_tenant(struct read_ctx *ctx, const struct ynode *root, const struct tenant *t)
{
    const struct scenario *s = &scenario_of(ctx)->s;
    const struct queue_config *q = &s->quota.queues[t->queue];
    const struct ynode *list = ynode_get(ynode_get(root, "demand"), t->list);
    if (t->base < 0 || list == NULL || list->kind != YNODE_LIST || t->ix >= list->count)
        return;
    snprintf(ctx->path, sizeof ctx->path, "demand.%s[%d]", t->list, (int)t->ix);
    for (int32_t i = 0; i < q->quota_count; i++) {
        if (q->quotas[i].resource != -1)
            continue;
        const struct flavor_config *v = &s->fleet.flavors[q->quotas[i].flavor];
        for (int32_t k = 0; k < v->pool_count; k++)
            if (selected(t, &s->fleet.pools[v->pools[k]]))
                check_pool(ctx, list->items[t->ix], t, &s->fleet.pools[v->pools[k]]);
    }
    ctx->path[0] = '\0';
}

void load_check_lora(struct read_ctx *ctx, const struct ynode *root)
{
    const struct scenario_in *in = scenario_of(ctx);
    const struct demand_config *d = &in->s.demand;
    for (int32_t i = in->training_count; i < d->stream_count; i++) {
        const struct job_stream_config *c = &d->streams[i];
        check_tenant(ctx, root, &(struct tenant){"lora", i - in->training_count, &c->adapter, c->lora_base,
                                                 c->queue, false, c->node_selector, c->node_selector_count});
    }
    for (int32_t i = 0; i < d->service_count; i++) {
        const struct service_config *c = &d->services[i];
        check_tenant(ctx, root, &(struct tenant){"services", i, &c->adapter, c->lora_base, c->queue, true,
                                                 c->node_selector, c->node_selector_count});
    }
}
