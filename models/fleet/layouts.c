/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG layouts that come later (share_config.changes). Inside the fleet a pool in each of its layouts is
 * a pool of its own with nodes of its own; a node gives out instances in at most one of them and is shut
 * in the others. Outside there is one pool and one node: parts of leases say which layout they are of.
 */
#include "models/fleet/fleet_priv.h"
#include "sim/check.h"

int32_t layouts_count(const struct fleet_config *cfg)
{
    int32_t n = 0;
    for (int32_t i = 0; i < cfg->pool_count; i++)
        n += cfg->pools[i].sharing.kind == SHARE_MIG ? cfg->pools[i].sharing.change_count : 0;
    return n;
}

void layouts_make(struct fleet *f, int64_t *cards)
{
    for (int32_t i = 0; i < f->cfg->pool_count; i++) {
        const struct node_pool_config *from = &f->cfg->pools[i];
        int32_t last = i;
        for (int32_t k = 0; from->sharing.kind == SHARE_MIG && k < from->sharing.change_count; k++) {
            struct fleet_pool *p = &f->pools[f->pool_count];
            REQUIRE(from->node_count <= INT32_MAX - f->node_count);
            *p = (struct fleet_pool){.home = i,
                                     .layout = k + 1,
                                     .first_node = f->node_count,
                                     .node_count = from->node_count,
                                     .cards_per_node = from->cards_per_node,
                                     .first_card = *cards,
                                     .card_count = f->pools[i].card_count};
            f->pools[last].next_layout1 = f->pool_count + 1;
            last = f->pool_count++;
            f->node_count += from->node_count;
            *cards += p->card_count;
        }
    }
}

struct node_pool_config fleet_pool_config(const struct fleet *f, int32_t pool)
{
    const struct fleet_pool *p = &f->pools[pool];
    struct node_pool_config cfg = f->cfg->pools[p->home];
    if (p->layout > 0)
        cfg.sharing.mig_layout = cfg.sharing.changes[p->layout - 1].layout;
    return cfg;
}

void fleet_layout_cards(const struct node_pool_config *pool, int32_t layout, struct share_pool *cards)
{
    struct node_pool_config cfg = *pool;
    if (layout > 0)
        cfg.sharing.mig_layout = cfg.sharing.changes[layout - 1].layout;
    fleet_pool_cards(&cfg, cards);
}

static int32_t inside_pool(const struct fleet *f, int32_t pool, int32_t layout)
{
    while (f->pools[pool].layout != layout) {
        REQUIRE(f->pools[pool].next_layout1 > 0);
        pool = f->pools[pool].next_layout1 - 1;
    }
    return pool;
}

static int32_t inside_node(const struct fleet *f, int32_t pool, int32_t node, int32_t layout)
{
    return f->pools[inside_pool(f, pool, layout)].first_node + node - f->pools[pool].first_node;
}

void layouts_outside(const struct fleet *f, struct lease_part *part)
{
    const struct fleet_pool *p = &f->pools[part->pool];
    part->layout = p->layout;
    part->node += f->pools[p->home].first_node - p->first_node;
    part->pool = p->home;
}

int32_t layouts_node(const struct fleet *f, const struct lease_part *part)
{
    return part->layout == 0 ? part->node : inside_node(f, part->pool, part->node, part->layout);
}

int32_t layouts_now(const struct fleet *f, int32_t node)
{
    int32_t pool = f->node_pool[node];
    for (int32_t k = pool + 1; k > 0; k = f->pools[k - 1].next_layout1) {
        int32_t at = f->pools[k - 1].first_node + node - f->pools[pool].first_node;
        if (f->node_shut[at] == 0)
            return at;
    }
    return -1;
}

void fleet_node_layout(struct fleet *f, int32_t pool, int32_t node, int32_t layout)
{
    for (int32_t k = pool + 1; k > 0; k = f->pools[k - 1].next_layout1) {
        int32_t at = inside_node(f, pool, node, f->pools[k - 1].layout);
        bool shut = f->pools[k - 1].layout != layout;
        if (shut != (f->node_shut[at] != 0))
            node_shut_change(f, at, shut);
    }
}
