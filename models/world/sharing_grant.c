/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is booked for tenants of a card where that depends on who else is there: MIG instances made on request
 * (world_instances.h), and cards with two budgets (HAMi: memory and cores). Tenants that use different budgets
 * can ask for more than a card together: 60 % of memory beside 60 % of cores. Design 3.3: the card's allocated
 * share is its fullest axis, and its tenants share that in proportion to each one's own fullest.
 */
#include "models/world/world_instances.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"

struct share_amounts sharing_axes(const struct world *w, const struct lease_part *part)
{
    struct share_amounts reserved = {{[SHARE_MEMORY] = part->memory_mib, [SHARE_COMPUTE] = part->cores}};
    return share_milli_of(&w->sharing->pools[part->pool].cards, &reserved);
}

void sharing_grant(struct world *w, int32_t pool, struct share_place *at)
{
    static const struct share_amounts card = {{SHARE_CARD_MILLI, SHARE_CARD_MILLI, SHARE_CARD_MILLI}};
    struct share_amounts axes[SHARE_TENANTS_MAX];
    int32_t milli[SHARE_TENANTS_MAX] = {0};
    instance_grants(w, pool, at);
    if (w->sharing->pools[pool].cards.kind != SHARE_HAMI)
        return;
    REQUIRE(at->count <= SHARE_TENANTS_MAX);
    for (size_t i = 0; i < at->count; i++)
        axes[i] = at->slots[i].axes;
    share_round(axes, (int32_t)at->count, &card, milli);
    for (size_t i = 0; i < at->count; i++)
        at->slots[i].granted = milli[i];
}
