/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/world_instances.h"

#include "sim/check.h"

static bool dynamic(const struct world *w, int32_t pool)
{
    return w->sharing->pools[pool].cards.mig_dynamic;
}

int32_t sharing_profile(const struct share_pool_use *u, const struct share_slot *slot)
{
    const struct share_pool *cards = slot->layout > 0 ? &u->later[slot->layout - 1] : &u->cards;
    return cards->mig_dynamic ? mig_of_code(slot->instance).profile : cards->layout.items[slot->instance].profile;
}

static sim_time later(sim_time a, sim_time b)
{
    return a > b ? a : b;
}

void instance_make(struct world *w, int32_t pool, struct share_place *at, struct share_slot *slot)
{
    struct share_pool_use *u = &w->sharing->pools[pool];
    if (!dynamic(w, pool))
        return;
    at->driver_free = sim_time_after(later(at->driver_free, w->now), w->fleet_config->pools[pool].sharing.create_ns);
    slot->made_at = at->driver_free;
    u->made++;
    u->made_wait += slot->made_at - w->now;
    u->made_mcns += i128_mcns(slot->granted, slot->made_at - w->now);
}

void instance_destroy(struct world *w, int32_t pool, struct share_place *at)
{
    if (dynamic(w, pool))
        at->driver_free =
            sim_time_after(later(at->driver_free, w->now), w->fleet_config->pools[pool].sharing.destroy_ns);
}

sim_time instance_wait(const struct world *w, uint32_t ix)
{
    int32_t parts;
    sim_time made = w->now;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    for (int32_t i = 0; i < parts; i++) {
        if (p[i].instance < 0 || !dynamic(w, p[i].pool))
            continue;
        const struct share_place *at = &w->sharing->places[sharing_card(w, &p[i])];
        for (size_t k = 0; k < at->count; k++)
            if (at->slots[k].wl == ix)
                made = later(made, at->slots[k].made_at);
    }
    return made - w->now;
}

void instance_grants(struct world *w, int32_t pool, struct share_place *at)
{
    const struct share_pool *cards = &w->sharing->pools[pool].cards;
    struct mig_layout made = {.count = (int8_t)at->count};
    int32_t milli[MIG_INSTANCES_MAX] = {0};
    if (!cards->mig_dynamic)
        return;
    REQUIRE(at->count <= MIG_INSTANCES_MAX);
    sharing_count(w, at);
    for (size_t i = 0; i < at->count; i++)
        made.items[i] = mig_of_code(at->slots[i].instance);
    share_round_layout(cards->mig, &made, milli);
    for (size_t i = 0; i < at->count; i++)
        at->slots[i].asked = at->slots[i].granted = milli[i];
}

void instances_emit(struct world *w)
{
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++) {
        const struct share_pool_use *u = &w->sharing->pools[p];
        const char *name = w->s->fleet.pools[p].name;
        if (!dynamic(w, p))
            continue;
        results_metric(w, "node_pool", name, "sharing.instances_made", (double)u->made, false);
        results_metric(w, "node_pool", name, "sharing.instance_wait",
                       u->made > 0 ? sim_time_seconds(u->made_wait) / (double)u->made : 0, false);
    }
}
