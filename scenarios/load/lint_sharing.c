/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing that works otherwise than it looks: sliced cards that are no cards, tenants that are promised more
 * isolation than their cards give, memory that no slice has. */
#include <stdio.h>

#include "models/fleet/sharing/blast.h"
#include "models/fleet/sharing/sharing.h"
#include "scenarios/load/lint_priv.h"

/* A source in one of the pools it may use, under one arbiter. */
struct meeting {
    const struct arbiter_config *arb;
    const struct tenant_config *tenant;
    const char *name;
    struct node_pool_config pool;
    int32_t source, cards, share_milli;
};

/* ix counts streams first, then services. */
static void warn_source(struct lint *l, const struct meeting *m, const char *key, const char *text)
{
    int32_t streams = l->s->demand.stream_count;
    if (m->source < streams)
        lint_warn_stream(l, m->source, key, "arbiter '%s': %s", m->arb->name, text);
    else
        lint_warn(l, "services", m->source - streams, key, "arbiter '%s': %s", m->arb->name, text);
}

/* managed-and-costs 4.5: sharing turned on for all cards, and 8 GPUs are no longer 8 cards for anyone. */
static void lint_sliced(struct lint *l, const struct meeting *m)
{
    char text[512];
    const struct share_config *s = &m->pool.sharing;
    if ((s->kind != SHARE_TIME_SLICING && s->kind != SHARE_MPS) || m->share_milli > 0 || s->rename_shared)
        return;
    if (m->cards < 2)
        snprintf(text, sizeof text, "every card of node pool '%.60s' counts as %d: '%.60s' asks for one and gets a part of one",
                 m->pool.name, (int)s->replicas, m->name);
    else
        snprintf(text, sizeof text,
                 "every card of node pool '%.60s' counts as %d: the %d that a worker of '%.60s' asks for are replicas, which "
                 "others compute on too; keep a pool without sharing for it, or set renameByDefault",
                 m->pool.name, (int)s->replicas, (int)m->cards, m->name);
    warn_source(l, m, NULL, text);
}

static void lint_isolation(struct lint *l, const struct meeting *m)
{
    char text[512];
    enum share_kind kind = m->pool.sharing.kind;
    enum share_isolation gives = kind == SHARE_WHOLE ? ISOLATION_NONE : share_mechanism_of(kind)->isolation;
    bool slice = m->share_milli > 0 && m->share_milli < 1000 && m->arb->sharing == SHARING_FRACTION;
    if (!slice || gives >= m->tenant->requires)
        return;
    snprintf(text, sizeof text, "'%.60s' requires %s isolation%s%.60s%s, and shares of cards in node pool '%.60s' are kept apart by %s",
             m->name, share_isolation_name(m->tenant->requires), m->tenant->isolation_reason != NULL ? " (" : "",
             m->tenant->isolation_reason != NULL ? m->tenant->isolation_reason : "",
             m->tenant->isolation_reason != NULL ? ")" : "", m->pool.name,
             gives == ISOLATION_NONE ? "nothing" : share_isolation_name(gives));
    warn_source(l, m, "isolation", text);
}

static void lint_memory(struct lint *l, const struct meeting *m)
{
    char text[512];
    struct share_pool cards;
    struct share_demand d;
    struct err e = {0};
    struct place_request req = {.share_milli = m->share_milli};
    bool slice = m->share_milli > 0 && m->share_milli < 1000 && m->arb->sharing == SHARING_FRACTION;
    if (!slice || m->tenant->memory_bytes == 0 || m->pool.sharing.kind == SHARE_WHOLE)
        return;
    fleet_pool_cards(&m->pool, &cards);
    source_slice(l->s, m->source, &req);
    if (!fleet_pool_demand(&cards, &req, &d, &e))
        return;
    int64_t limit = blast_limit_mib(&cards, &d), needs = m->tenant->memory_bytes >> 20;
    if (cards.kind == SHARE_MIG)
        needs += l->s->sharing_model.context_bytes >> 20;
    if (limit == 0 || needs <= limit)
        return;
    snprintf(text, sizeof text, "'%.60s' needs %lld MiB and gets %lld of a card in node pool '%.60s' (%s); it fails at every start there",
             m->name, (long long)needs, (long long)limit, m->pool.name, share_mechanism_of(cards.kind)->name);
    warn_source(l, m, "memory", text);
}

static struct node_pool_config pool_under(const struct scenario *s, const struct arbiter_config *arb, int32_t p)
{
    struct node_pool_config pool = s->fleet.pools[p];
    for (int32_t i = 0; i < arb->pool_sharing_count; i++)
        if (arb->pool_sharings[i].pool == p)
            pool.sharing = arb->pool_sharings[i].sharing;
    return pool;
}

static void lint_source(struct lint *l, struct meeting *m, int32_t queue)
{
    const struct queue_config *q = &l->s->quota.queues[queue];
    for (int32_t i = 0; i < q->quota_count; i++) {
        const struct flavor_config *v = &l->s->fleet.flavors[q->quotas[i].flavor];
        for (int32_t k = 0; q->quotas[i].resource < 0 && k < v->pool_count; k++) {
            if (!source_may_use(l->s, m->source, q->quotas[i].flavor, v->pools[k]))
                continue;
            m->pool = pool_under(l->s, m->arb, v->pools[k]);
            lint_sliced(l, m);
            lint_isolation(l, m);
            lint_memory(l, m);
        }
    }
}

static int32_t cards_of(const struct job_stream_config *c)
{
    int32_t most = 1;
    for (int32_t i = 0; i < c->shape_count; i++)
        most = c->shapes[i].cards_per_worker > most ? c->shapes[i].cards_per_worker : most;
    return most;
}

void lint_sharing(struct lint *l)
{
    const struct demand_config *d = &l->s->demand;
    for (int32_t a = 0; a < l->s->arbiter_count; a++) {
        if (l->s->arbiters[a].backend == BACKEND_MANAGED)
            continue;
        for (int32_t i = 0; i < d->stream_count; i++) {
            const struct job_stream_config *c = &d->streams[i];
            struct meeting m = {&l->s->arbiters[a], &c->tenant, c->name, {0}, i, cards_of(c), c->share_milli};
            lint_source(l, &m, c->queue);
        }
        for (int32_t i = 0; i < d->service_count; i++) {
            const struct service_config *c = &d->services[i];
            struct meeting m = {&l->s->arbiters[a], &c->tenant, c->name, {0}, d->stream_count + i,
                                c->cards_per_replica, c->share_milli};
            lint_source(l, &m, c->queue);
        }
    }
}
