/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who met whom on a card, when and how often; kept only when rows of the table `sharing` are wanted. */
#include "models/world/world_sharing.h"

static bool recording(const struct world *w)
{
    return w->opt.level != RECORD_LEVEL_SUMMARY && w->opt.replication == 0;
}

static struct share_pair *pair_of(struct sharing *sh, struct share_place *at, int32_t x, int32_t y)
{
    int32_t a = x < y ? x : y, b = x < y ? y : x;
    for (int32_t i = at->pairs; i >= 0; i = sh->pairs[i].next)
        if (sh->pairs[i].a == a && sh->pairs[i].b == b)
            return &sh->pairs[i];
    sh->pairs = mem_grow(sh->pairs, &sh->pair_capacity, sh->pair_count + 1, sizeof *sh->pairs);
    struct share_pair *p = &sh->pairs[sh->pair_count];
    *p = (struct share_pair){.a = a, .b = b, .next = at->pairs, .from = SIM_NEVER, .open = SIM_NEVER};
    at->pairs = (int32_t)sh->pair_count++;
    return p;
}

void sharing_pairs(struct world *w, struct share_place *at, int32_t tenant, bool begin)
{
    for (size_t i = 0; recording(w) && i < at->count; i++) {
        int32_t other = at->slots[i].tenant;
        if (other == tenant)
            continue;
        struct share_pair *p = pair_of(w->sharing, at, tenant, other);
        if (begin && p->open == SIM_NEVER) {
            p->open = w->now;
            p->times++;
            p->from = p->from == SIM_NEVER ? w->now : p->from;
        } else if (!begin && p->open != SIM_NEVER) {
            p->shared += w->now - p->open;
            p->to = w->now;
            p->open = SIM_NEVER;
        }
    }
}
