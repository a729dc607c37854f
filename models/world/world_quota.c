/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quota used, borrowed and lent by every queue, over time and exactly: per flavor, from one change
 * of usage to the next. Borrowed is what a queue uses above its nominal quota of that flavor. Lent
 * has no owner in Kueue (what queues leave unused goes into one pot), so it is attributed: what the
 * queues of a root cohort borrow of a flavor comes from those that leave quota of it unused, in
 * proportion to what they leave, and at most that; the rest is the cohort's own quota.
 */
#include "models/world/quota_view.h"
#include "models/world/world_priv.h"

static int32_t root_of(const struct scenario *s, int32_t cohort)
{
    while (cohort >= 0 && s->quota.cohorts[cohort].parent >= 0)
        cohort = s->quota.cohorts[cohort].parent;
    return cohort;
}

void quota_use_init(struct world *w)
{
    const struct scenario *s = w->s;
    size_t queues = (size_t)s->quota.queue_count, flavors = (size_t)s->fleet.flavor_count;
    struct quota_use *u = &w->quota;
    u->cells = arena_alloc(&w->arena, queues * flavors + 1, sizeof *u->cells);
    u->since = arena_alloc(&w->arena, flavors + 1, sizeof *u->since);
    u->root = arena_alloc(&w->arena, queues + 1, sizeof *u->root);
    u->borrowed = arena_alloc(&w->arena, (size_t)s->quota.cohort_count + 1, sizeof *u->borrowed);
    u->unused = arena_alloc(&w->arena, (size_t)s->quota.cohort_count + 1, sizeof *u->unused);
    u->flavors = s->fleet.flavor_count;
    for (int32_t q = 0; q < s->quota.queue_count; q++) {
        struct queue_config c = quota_view_queue(s, w->arb, q);
        u->root[q] = root_of(s, c.cohort);
        for (int32_t i = 0; i < c.quota_count; i++)
            if (c.quotas[i].resource < 0)
                u->cells[q * u->flavors + c.quotas[i].flavor].nominal += c.quotas[i].nominal;
    }
}

static void integrate_cell(struct quota_use *u, struct quota_cell *c, int32_t root, sim_time dt)
{
    c->used_mcns += i128_mcns(c->used, dt);
    if (c->used > c->nominal) {
        c->borrowed_mcns += i128_mcns(c->used - c->nominal, dt);
    } else if (root >= 0 && u->unused[root] > 0) {
        int64_t all = u->borrowed[root] < u->unused[root] ? u->borrowed[root] : u->unused[root];
        c->lent_mcns += i128_mcns(c->nominal - c->used, dt) * all / u->unused[root];
    }
}

void quota_use_advance(struct world *w, int32_t flavor)
{
    struct quota_use *u = &w->quota;
    sim_time dt = w->now - u->since[flavor];
    int32_t queues = w->s->quota.queue_count;
    u->since[flavor] = w->now;
    if (dt == 0)
        return;
    for (int32_t c = 0; c < w->s->quota.cohort_count; c++)
        u->borrowed[c] = u->unused[c] = 0;
    for (int32_t q = 0; q < queues; q++) {
        const struct quota_cell *c = &u->cells[q * u->flavors + flavor];
        if (u->root[q] < 0)
            continue;
        if (c->used > c->nominal)
            u->borrowed[u->root[q]] += c->used - c->nominal;
        else
            u->unused[u->root[q]] += c->nominal - c->used;
    }
    for (int32_t q = 0; q < queues; q++)
        integrate_cell(u, &u->cells[q * u->flavors + flavor], u->root[q], dt);
}

void quota_use_change(struct world *w, int32_t queue, int32_t flavor, int64_t delta_milli)
{
    quota_use_advance(w, flavor);
    w->quota.cells[queue * w->quota.flavors + flavor].used += delta_milli;
}
