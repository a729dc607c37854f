/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tenants of bases hold and how long their jobs take, under every arbiter, shared or not. */
#include <math.h>

#include "models/world/lora_parts.h"

void lora_tallies_init(struct world *w)
{
    w->lora_cards = arena_alloc(&w->arena, (size_t)w->s->fleet.pool_count + 1, sizeof *w->lora_cards);
    w->lora_stretch = arena_alloc(&w->arena, (size_t)w->s->quota.team_count + 1, sizeof *w->lora_stretch);
}

static bool tenant_of_base(const struct world *w, int32_t source)
{
    const struct demand_config *d = &w->s->demand;
    return source < d->stream_count ? d->streams[source].lora_base >= 0
                                    : d->services[source - d->stream_count].lora_base >= 0;
}

/* What lasts counts: within an instant one tenant may come before its neighbours hold less. */
static void advance(struct lora_cards *c, sim_time now)
{
    if (now > c->since && c->milli > c->peak)
        c->peak = c->milli;
    c->mcns += ckpt_unit(c->milli, now - c->since);
    c->since = now;
}

static void change(struct lora_cards *c, sim_time now, int64_t delta_milli)
{
    advance(c, now);
    c->milli += delta_milli;
}

void lora_cards_change(struct world *w, uint32_t ix, int64_t delta_milli)
{
    if (!w->lora_tenants || !tenant_of_base(w, w->shapes[w->wl[ix].shape].source))
        return;
    change(&w->lora_cards[w->wl[ix].pool], w->now, delta_milli);
    change(&w->lora_cards[w->s->fleet.pool_count], w->now, delta_milli);
}

void lora_note_end(struct world *w, uint32_t job)
{
    const struct job *j = &w->jobs[job];
    if (!w->lora_tenants || job_class(w, job) != CLASS_LORA)
        return;
    double stretch = (double)(w->now - j->first_start) / (double)j->spec.work;
    welford_add(&w->lora_stretch[w->s->quota.team_count], stretch);
    if (j->spec.team >= 0)
        welford_add(&w->lora_stretch[j->spec.team], stretch);
}

static void emit_cards(struct world *w, const char *kind, const char *scope, struct lora_cards *c)
{
    advance(c, w->now);
    results_metric(w, kind, scope, "lora.cards_peak", (double)c->peak / 1000, false);
    results_metric(w, kind, scope, "lora.cards_mean", i128_ratio(c->mcns, ckpt_unit(1000, w->now)), false);
}

static void emit_stretch(struct world *w, const char *kind, const char *scope, const struct welford *s)
{
    results_metric(w, kind, scope, "lora.stretch", s->count > 0 ? s->mean : (double)NAN, false);
}

void lora_emit(struct world *w)
{
    int32_t pools = w->s->fleet.pool_count, teams = w->s->quota.team_count;
    if (!w->lora_tenants)
        return;
    emit_cards(w, "all", "", &w->lora_cards[pools]);
    for (int32_t p = 0; p < pools; p++)
        emit_cards(w, "node_pool", w->s->fleet.pools[p].name, &w->lora_cards[p]);
    emit_stretch(w, "all", "", &w->lora_stretch[teams]);
    for (int32_t t = 0; t < teams; t++)
        emit_stretch(w, "team", w->s->quota.teams[t].name, &w->lora_stretch[t]);
    lora_emit_pairs(w);
}
