/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/world_reconfigure.h"

#include <stdlib.h>

#include "models/fleet/sharing/mig_node.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"

struct planned {
    int32_t pool, layout;
};

struct layout_node {
    int32_t pool;
    int32_t layout, target;    /* target -1: no change under way */
    int64_t used_milli;
    bool working;
    uint32_t gen;              /* of its EV_LAYOUT event */
};

struct reconfigure {
    struct planned *changes;
    uint32_t change_count;
    struct layout_node *nodes; /* all nodes of the fleet */
    int32_t node_count;
    bool emptied;              /* some node that drains became empty */
};

static int64_t node_milli(const struct world *w, const struct layout_node *n)
{
    return (int64_t)w->s->fleet.pools[n->pool].cards_per_node * SHARE_CARD_MILLI;
}

static const struct share_config *config_of(const struct world *w, const struct layout_node *n)
{
    return &w->fleet_config->pools[n->pool].sharing;
}

static void offline(struct world *w, const struct layout_node *n, int64_t delta_milli)
{
    ledger_offline_change(w->ledger, w->now, (uint32_t)n->pool, delta_milli);
}

static void later(struct world *w, uint32_t node, sim_time t)
{
    struct layout_node *n = &w->reconfigure->nodes[node];
    world_event(w, t, EVC_STAGE, node, EV_LAYOUT, ++n->gen);
}

/* Work on an empty node: all of its cards change one after the other. */
static sim_time work_of(const struct world *w, const struct layout_node *n)
{
    const struct share_config *c = config_of(w, n);
    struct mig_costs costs = mig_costs_default();
    struct share_pool from, to;
    costs.create_ns = c->create_ns;
    costs.destroy_ns = c->destroy_ns;
    fleet_layout_cards(&w->fleet_config->pools[n->pool], n->layout, &from);
    fleet_layout_cards(&w->fleet_config->pools[n->pool], n->target, &to);
    return c->cycle_ns + w->s->fleet.pools[n->pool].cards_per_node *
                             mig_change_ns(from.mig, &from.layout, &to.layout, &costs);
}

static void begin_work(struct world *w, uint32_t node)
{
    struct layout_node *n = &w->reconfigure->nodes[node];
    if (n->target < 0 || n->working || n->used_milli > 0)
        return;
    n->working = true;
    later(w, node, sim_time_after(w->now, work_of(w, n)));
}

static void evict_card(struct world *w, int64_t card)
{
    struct share_place *at = &w->sharing->places[card];
    for (size_t i = 0; i < at->count; i++) {
        uint32_t ix = at->slots[i].wl;
        enum workload_state state = (enum workload_state)w->wl[ix].state;
        if (state == WL_DRAINING || w->wl[ix].kind == WL_BASE)
            continue;
        if (w->wl[ix].kind == WL_REPLICA)
            replica_evicted(w, ix);
        else
            (void)job_preempted(w, ix);
    }
}

static void begin_drain(struct world *w, uint32_t node, int32_t target)
{
    struct layout_node *n = &w->reconfigure->nodes[node];
    const struct share_config *c = config_of(w, n);
    const struct share_pool_use *u = &w->sharing->pools[n->pool];
    if (n->target >= 0 || n->layout == target)
        return; /* one change at a time, as a node's manager has it */
    n->target = target;
    fleet_node_layout(w->fleet, n->pool, (int32_t)node, -1);
    offline(w, n, node_milli(w, n) - n->used_milli);
    if (n->used_milli > 0 && c->evict) {
        int32_t per_node = w->s->fleet.pools[n->pool].cards_per_node;
        for (int32_t k = 0; k < per_node; k++)
            evict_card(w, u->first_card + ((int64_t)node - u->first_node) * per_node + k);
    }
    if (n->used_milli > 0 && c->drain_limit_ns >= 0)
        later(w, node, sim_time_after(w->now, c->drain_limit_ns));
    begin_work(w, node);
}

void reconfigure_due(struct world *w, uint32_t change)
{
    const struct planned *p = &w->reconfigure->changes[change];
    int64_t first = w->sharing->pools[p->pool].first_node;
    for (int32_t i = 0; i < w->s->fleet.pools[p->pool].node_count; i++)
        begin_drain(w, (uint32_t)(first + i), p->layout);
}

void reconfigure_node(struct world *w, uint32_t node)
{
    struct layout_node *n = &w->reconfigure->nodes[node];
    REQUIRE(n->target >= 0);
    if (n->working)
        n->layout = n->target;
    offline(w, n, -(node_milli(w, n) - n->used_milli));
    n->target = -1;
    n->working = false;
    fleet_node_layout(w->fleet, n->pool, (int32_t)node, n->layout);
    w->freed = true;
}

void reconfigure_held(struct world *w, const struct lease_part *part, int32_t sign)
{
    if (w->reconfigure == NULL || part->instance < 0)
        return;
    struct layout_node *n = &w->reconfigure->nodes[part->node];
    n->used_milli += sign * part->milli;
    if (n->target < 0)
        return;
    offline(w, n, -sign * part->milli);
    w->reconfigure->emptied |= n->used_milli == 0;
}

void reconfigure_settle(struct world *w)
{
    if (w->reconfigure == NULL || !w->reconfigure->emptied)
        return;
    w->reconfigure->emptied = false;
    for (int32_t i = 0; i < w->reconfigure->node_count; i++)
        begin_work(w, (uint32_t)i);
}

uint32_t reconfigure_gen(const struct world *w, uint32_t node)
{
    return w->reconfigure->nodes[node].gen;
}

/* ---- life ---- */

static uint32_t count_changes(const struct fleet_config *f)
{
    uint32_t n = 0;
    for (int32_t p = 0; p < f->pool_count; p++)
        n += f->pools[p].sharing.kind == SHARE_MIG ? (uint32_t)f->pools[p].sharing.change_count : 0;
    return n;
}

void reconfigure_init(struct world *w)
{
    const struct fleet_config *f = w->fleet_config;
    uint32_t changes = count_changes(f);
    if (changes == 0)
        return;
    struct reconfigure *r = mem_zalloc(1, sizeof *r);
    w->reconfigure = r;
    r->changes = mem_zalloc(changes, sizeof *r->changes);
    for (int32_t p = 0; p < f->pool_count; p++)
        r->node_count += f->pools[p].node_count;
    r->nodes = mem_zalloc((size_t)r->node_count, sizeof *r->nodes);
    int32_t node = 0;
    for (int32_t p = 0; p < f->pool_count; p++) {
        for (int32_t i = 0; i < f->pools[p].node_count; i++)
            r->nodes[node++] = (struct layout_node){.pool = p, .target = -1};
        const struct share_config *c = &f->pools[p].sharing;
        for (int32_t k = 0; c->kind == SHARE_MIG && k < c->change_count; k++) {
            world_event(w, c->changes[k].at_ns, EVC_RELEASE, r->change_count, EV_RECONFIGURE, 0);
            r->changes[r->change_count++] = (struct planned){p, k + 1};
        }
    }
}

void reconfigure_fini(struct world *w)
{
    if (w->reconfigure == NULL)
        return;
    free(w->reconfigure->changes);
    free(w->reconfigure->nodes);
    free(w->reconfigure);
    w->reconfigure = NULL;
}
