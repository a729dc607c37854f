/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/gang_speed.h"

#include <math.h>

#include "models/fleet/span.h"

static const struct communication *model_of(const struct world *w, const struct job *j)
{
    return &w->s->demand.streams[j->stream].communication;
}

void gang_init(struct world *w)
{
    bool any = false;
    for (int32_t i = 0; i < w->s->demand.stream_count; i++)
        any |= w->s->demand.streams[i].communication.model != COMMUNICATION_NONE;
    if (!any)
        return;
    w->network = arena_alloc(&w->arena, 1, sizeof *w->network);
    w->network->computed = arena_alloc(&w->arena, (size_t)w->s->fleet.pool_count + 1, sizeof *w->network->computed);
    w->network->lost = arena_alloc(&w->arena, (size_t)w->s->fleet.pool_count + 1, sizeof *w->network->lost);
}

/* Cards of the gang, as admitted, and where they are. */
static int32_t cards_and_span(const struct world *w, const struct job *j, struct gang_span *span)
{
    int64_t cards = 0;
    *span = gang_span_none();
    for (uint32_t i = j->first_workload; i != NONE32; i = w->wl[i].next) {
        const struct workload *wl = &w->wl[i];
        int32_t each = w->shapes[wl->shape].cards;
        cards += (int64_t)wl->workers * (each > 0 ? each : 1);
        gang_span_add(w->fleet, wl->lease, span);
    }
    return cards < 1 ? 1 : cards > INT32_MAX ? INT32_MAX : (int32_t)cards;
}

/* Its speed there, ppm. */
static int32_t speed_at(const struct world *w, const struct job *j, struct gang_span *span)
{
    const struct communication *c = model_of(w, j);
    int32_t cards = cards_and_span(w, j, span);
    double eta = communication_efficiency(c, cards, span->nodes > 0 ? span->nodes : 1, span->oversubscription);
    if (c->reference == COMMUNICATION_PACKED && span->pool >= 0) {
        struct gang_span best = gang_span_packed(&w->s->fleet.pools[span->pool], j->spec.workers, j->spec.cards_per_worker);
        eta /= communication_efficiency(c, cards, best.nodes, best.oversubscription);
    }
    return communication_ppm(eta);
}

int32_t gang_speed_ppm(struct world *w, const struct job *j)
{
    struct gang_span span;
    if (model_of(w, j)->model == COMMUNICATION_NONE)
        return SPEED_ONE;
    int32_t ppm = speed_at(w, j, &span);
    w->network->runs += span.nodes > 1;
    w->network->across += span.levels > 0;
    return ppm;
}

void gang_say(struct record_text *t, const struct world *w, uint32_t job)
{
    static const char *const nodes[] = {"no node", "one node", "two nodes", "several nodes"};
    const struct job *j = &w->jobs[job];
    struct gang_span span;
    if (model_of(w, j)->model == COMMUNICATION_NONE)
        return;
    int32_t ppm = speed_at(w, j, &span);
    const struct node_pool_config *p = &w->s->fleet.pools[span.pool < 0 ? 0 : span.pool];
    record_say(t, "; %s", nodes[span.nodes]);
    if (span.levels > 0 && span.levels <= p->domain_count)
        record_say(t, ", across level %s", p->domains[span.levels - 1].name);
    record_say(t, ": speed %d.%04d", (int)(ppm / SPEED_ONE), (int)(ppm % SPEED_ONE / 100));
}

i128 gang_part(i128 mcns, int32_t ppm)
{
    return mcns * ppm / SPEED_ONE;
}

void gang_note(struct world *w, uint32_t ix, i128 computed, i128 lost)
{
    const struct workload *wl = &w->wl[ix];
    if (w->network == NULL || model_of(w, &w->jobs[wl->owner])->model == COMMUNICATION_NONE)
        return;
    w->network->computed[wl->pool] += computed;
    w->network->lost[wl->pool] += lost;
}

static i128 sum_of(const struct world *w, const i128 *of_pool, int32_t pool)
{
    i128 sum = 0;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        sum += pool == LEDGER_ANY || pool == p ? of_pool[p] : 0;
    return sum;
}

i128 gang_lost(const struct world *w, int32_t pool)
{
    return w->network == NULL ? 0 : sum_of(w, w->network->lost, pool);
}

i128 gang_computed(const struct world *w, int32_t pool)
{
    return w->network == NULL ? 0 : sum_of(w, w->network->computed, pool);
}

static void emit(struct world *w, const char *kind, const char *scope, int32_t pool)
{
    i128 lost = gang_lost(w, pool), all = gang_computed(w, pool) + lost;
    results_metric(w, kind, scope, "training.network_loss", i128_card_hours(lost), false);
    results_metric(w, kind, scope, "training.gang_speed", all > 0 ? i128_ratio(all - lost, all) : (double)NAN, false);
}

void gang_emit(struct world *w)
{
    const struct gang_network *n = w->network;
    if (n == NULL)
        return;
    emit(w, "all", "", LEDGER_ANY);
    results_metric(w, "all", "", "training.across_domains",
                   n->runs > 0 ? (double)n->across / (double)n->runs : (double)NAN, false);
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        emit(w, "node_pool", w->s->fleet.pools[p].name, p);
}
