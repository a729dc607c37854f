/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which tenants were on one instance of a base together, for how long: rows of the table `sharing`
 * with mechanism lora-base. They share one process and one address space: nothing isolates them.
 *
 * Leases of whole cards have no card number; an instance goes by the lowest one that no other
 * instance on its node has.
 */
#include <string.h>

#include "models/fleet/sharing/share_isolation.h"
#include "models/world/lora_parts.h"
#include "models/world/tables.h"
#include "models/world/world_sharing.h"

static bool recording(const struct world *w)
{
    return w->opt.level != RECORD_LEVEL_SUMMARY && w->opt.replication == 0;
}

void lora_seat(struct world *w, struct lora_instance *in)
{
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[in->workload].lease, &parts);
    bool taken = true;
    in->pool = p[0].pool;
    in->node = p[0].node;
    for (in->card = -1; taken;) {
        in->card++;
        taken = false;
        for (size_t i = 0; i < w->lora->count; i++) {
            const struct lora_instance *o = &w->lora->instances[i];
            taken |= o != in && o->in_use && w->wl[o->workload].milli > 0 && o->node == in->node &&
                     o->card == in->card;
        }
    }
}

static struct lora_pair *pair_of(struct world *w, const struct lora_instance *in, int32_t x, int32_t y)
{
    struct lora_world *l = w->lora;
    int32_t a = x < y ? x : y, b = x < y ? y : x;
    for (int32_t i = l->pair_of_node[in->node]; i >= 0; i = l->pairs[i].next) {
        struct lora_pair *p = &l->pairs[i];
        if (p->card == in->card && p->a == a && p->b == b)
            return p;
    }
    l->pairs = mem_grow(l->pairs, &l->pair_capacity, l->pair_count + 1, sizeof *l->pairs);
    l->pairs[l->pair_count] = (struct lora_pair){.pool = in->pool, .node = in->node, .card = in->card,
                                                 .a = a, .b = b, .next = l->pair_of_node[in->node],
                                                 .from = SIM_NEVER, .open = SIM_NEVER};
    l->pair_of_node[in->node] = (int32_t)l->pair_count;
    return &l->pairs[l->pair_count++];
}

static bool among(const int32_t *list, int32_t n, int32_t x)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == x)
            return true;
    return false;
}

/* Pairs with one that came or left: those of x with the n others. */
static void pairs_change(struct world *w, const struct lora_instance *in, int32_t x, const int32_t *others,
                         int32_t n, bool begin)
{
    for (int32_t i = 0; i < n && recording(w); i++) {
        if (others[i] == x)
            continue;
        struct lora_pair *p = pair_of(w, in, x, others[i]);
        if (begin && p->open == SIM_NEVER) {
            p->open = w->now;
            p->from = p->from == SIM_NEVER ? w->now : p->from;
            p->times++;
        } else if (!begin && p->open != SIM_NEVER) {
            p->shared += w->now - p->open;
            p->to = w->now;
            p->open = SIM_NEVER;
        }
    }
}

void lora_meet(struct world *w, struct lora_instance *in)
{
    int32_t now[LORA_SLOTS_MAX], n = 0;
    for (int32_t i = 0; i < in->count && w->wl[in->workload].milli > 0; i++) {
        int32_t source = lora_source_of(w, in->tenants[i]);
        if (w->wl[in->tenants[i]].state != WL_PENDING && !among(now, n, source))
            now[n++] = source;
    }
    for (int32_t i = 0; i < in->met_count; i++)
        if (!among(now, n, in->met[i]))
            pairs_change(w, in, in->met[i], in->met, in->met_count, false);
    for (int32_t i = 0; i < n; i++)
        if (!among(in->met, in->met_count, now[i]))
            pairs_change(w, in, now[i], now, n, true);
    int32_t before = in->met_count > 1 ? in->met_count : 1, after = n > 1 ? n : 1;
    if (before != after)
        sharing_base_change(w, in->pool, after - before, (after > 1) - (before > 1));
    for (int32_t i = 0; i < n; i++)
        in->met[i] = now[i];
    in->met_count = n;
}

void lora_emit_pairs(struct world *w)
{
    for (size_t i = 0; w->lora != NULL && i < w->lora->pair_count; i++) {
        const struct lora_pair *p = &w->lora->pairs[i];
        const char *a = sharing_name(w, p->a), *b = sharing_name(w, p->b);
        bool swap = strcmp(a, b) > 0, open = p->open != SIM_NEVER;
        sim_time shared = p->shared + (open ? w->now - p->open : 0);
        struct record_value v[] = {
            rec_int(w->opt.run_id), rec_text(w->s->fleet.pools[p->pool].name),
            rec_int(p->node - w->sharing->pools[p->pool].first_node), rec_int(p->card), rec_text("lora-base"),
            rec_text(share_isolation_name(ISOLATION_NONE)), rec_text(swap ? b : a), rec_text(swap ? a : b),
            rec_real(sim_time_seconds(p->from)), rec_real(sim_time_seconds(open ? w->now : p->to)),
            rec_real(sim_time_seconds(shared)), rec_int(p->times)};
        if (shared > 0)
            record_row(&w->opt.sink, &table_sharing, v);
    }
}
