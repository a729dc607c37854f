/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may share an instance with whom. */
#include <stdlib.h>
#include <string.h>

#include "models/world/quota_view.h"
#include "models/world/world_lora.h"

/* What decides about the group of a source. */
struct tenancy {
    int32_t base, queue, priority;
    bool serves;
    const struct label *selector;
    const struct taint *tolerations;
    int32_t selector_count, toleration_count;
};

static struct tenancy tenancy_of(const struct scenario *s, int32_t source)
{
    if (source < s->demand.stream_count) {
        const struct job_stream_config *c = &s->demand.streams[source];
        return (struct tenancy){c->lora_base, c->queue, c->priority, false, c->node_selector, c->tolerations,
                                c->node_selector_count, c->toleration_count};
    }
    const struct service_config *c = &s->demand.services[source - s->demand.stream_count];
    return (struct tenancy){c->lora_base, c->queue, c->priority, true, c->node_selector, c->tolerations,
                            c->node_selector_count, c->toleration_count};
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_places(const struct tenancy *a, const struct tenancy *b)
{
    if (a->selector_count != b->selector_count || a->toleration_count != b->toleration_count)
        return false;
    for (int32_t i = 0; i < a->selector_count; i++)
        if (!same_text(a->selector[i].key, b->selector[i].key) ||
            !same_text(a->selector[i].value, b->selector[i].value))
            return false;
    for (int32_t i = 0; i < a->toleration_count; i++)
        if (!same_text(a->tolerations[i].key, b->tolerations[i].key) ||
            !same_text(a->tolerations[i].value, b->tolerations[i].value) ||
            a->tolerations[i].effect != b->tolerations[i].effect)
            return false;
    return true;
}

/* Whole cards are to be had there: not where all cards are cut or sliced. */
static bool has_whole_cards(const struct world *w, int32_t pool)
{
    enum share_kind kind = w->fleet_config->pools[pool].sharing.kind;
    return kind != SHARE_MIG && kind != SHARE_TIME_SLICING && kind != SHARE_MPS;
}

/* Memory of the smallest card among the pools that the queue has quota for; 0: there is none, or one
 * of them has no whole cards. */
static int64_t smallest_card(const struct world *w, int32_t source, int32_t queue)
{
    struct queue_config q = quota_view_queue(w->s, w->arb, queue);
    const struct source_pools *sp = &w->sources[source];
    int64_t least = 0;
    for (int32_t i = 0; i < q.quota_count; i++) {
        int32_t v = q.quotas[i].flavor;
        for (int32_t k = 0; q.quotas[i].resource < 0 && k < sp->counts[v]; k++) {
            if (!has_whole_cards(w, sp->pools[v][k]))
                return 0;
            int64_t bytes = catalogue_builtin()->cards[w->s->fleet.pools[sp->pools[v][k]].card].memory_bytes;
            least = least == 0 || bytes < least ? bytes : least;
        }
    }
    return least;
}

static int32_t find_group(const struct world *w, const struct tenancy *t)
{
    for (int32_t g = 0; g < w->lora->group_count; g++) {
        struct tenancy o = tenancy_of(w->s, w->lora->groups[g].source);
        if (o.base == t->base && o.queue == t->queue && o.priority == t->priority &&
            o.serves == t->serves && same_places(&o, t))
            return g;
    }
    return -1;
}

bool lora_init(struct world *w)
{
    int32_t sources = w->s->demand.stream_count + w->s->demand.service_count, tenants = 0;
    for (int32_t i = 0; i < sources; i++)
        tenants += tenancy_of(w->s, i).base >= 0;
    w->lora_tenants = tenants > 0;
    if (tenants > 0)
        lora_tallies_init(w);
    if (tenants == 0 || !w->arb->lora_base)
        return true;
    struct lora_world *l = w->lora = arena_alloc(&w->arena, 1, sizeof *l);
    int32_t nodes = 0;
    for (int32_t i = 0; i < w->s->fleet.pool_count; i++)
        nodes += w->s->fleet.pools[i].node_count;
    l->pair_of_node = arena_alloc(&w->arena, (size_t)nodes + 1, sizeof *l->pair_of_node);
    for (int32_t i = 0; i < nodes; i++)
        l->pair_of_node[i] = -1;
    l->free = NONE32;
    l->groups = arena_alloc(&w->arena, (size_t)tenants, sizeof *l->groups);
    l->group_of = arena_alloc(&w->arena, (size_t)sources, sizeof *l->group_of);
    for (int32_t i = 0; i < sources; i++) {
        struct tenancy t = tenancy_of(w->s, i);
        int64_t card = t.base < 0 ? 0 : smallest_card(w, i, t.queue);
        l->group_of[i] = card > 0 ? find_group(w, &t) : -1;
        if (card == 0 || l->group_of[i] >= 0)
            continue;
        l->group_of[i] = l->group_count;
        l->groups[l->group_count++] = (struct lora_group){.base = t.base, .queue = t.queue,
                                                          .priority = t.priority, .serves = t.serves,
                                                          .source = i, .card_bytes = card, .first = NONE32};
    }
    return true;
}

void lora_fini(struct world *w)
{
    if (w->lora == NULL)
        return;
    free(w->lora->instances);
    free(w->lora->pairs);
}

bool lora_takes(const struct world *w, int32_t source, int32_t queue, int32_t priority)
{
    if (w->lora == NULL || w->lora->group_of[source] < 0)
        return false;
    const struct lora_group *g = &w->lora->groups[w->lora->group_of[source]];
    return g->queue == queue && g->priority == priority;
}

