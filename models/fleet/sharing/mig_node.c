/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/mig_node.h"

#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/share_round.h"
#include "sim/arena.h"
#include "sim/check.h"

struct mig_costs mig_costs_default(void)
{
    return (struct mig_costs){.scope = MIG_SCOPE_NODE,
                              .create_ns = SIM_SECOND,
                              .destroy_ns = SIM_SECOND,
                              .mode_ns = 30 * SIM_SECOND,
                              .mode_reset_ns = 60 * SIM_SECOND,
                              .cycle_ns = 120 * SIM_SECOND,
                              .drain_limit_ns = 300 * SIM_SECOND};
}

static bool same_instance(struct mig_instance a, struct mig_instance b)
{
    return a.profile == b.profile && a.start == b.start;
}

static bool has(const struct mig_layout *l, struct mig_instance wanted)
{
    for (int i = 0; i < l->count; i++)
        if (same_instance(l->items[i], wanted))
            return true;
    return false;
}

static bool same_layout(const struct mig_layout *a, const struct mig_layout *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!has(b, a->items[i]))
            return false;
    return true;
}

sim_time mig_change_ns(const struct mig_card *card, const struct mig_layout *from,
                       const struct mig_layout *to, const struct mig_costs *costs)
{
    if (same_layout(from, to))
        return 0;
    sim_time ns = 0;
    for (int i = 0; i < from->count; i++)
        if (costs->scope != MIG_SCOPE_INSTANCE || !has(to, from->items[i]))
            ns += costs->destroy_ns;
    for (int i = 0; i < to->count; i++)
        if (costs->scope != MIG_SCOPE_INSTANCE || !has(from, to->items[i]))
            ns += costs->create_ns;
    if ((from->count == 0) != (to->count == 0))
        ns += card->reset ? costs->mode_reset_ns : costs->mode_ns;
    return ns;
}

void mig_node_init(struct mig_node *n, const struct mig_card *card, int32_t cards,
                   const struct mig_layout *layout, const struct mig_costs *costs, sim_time now)
{
    *n = (struct mig_node){.card = card, .cards = cards, .costs = *costs, .counted_to = now};
    n->layouts = mem_alloc((size_t)cards + 1, sizeof(*n->layouts));
    n->targets = mem_alloc((size_t)cards + 1, sizeof(*n->targets));
    n->busy = mem_zalloc((size_t)cards + 1, sizeof(*n->busy));
    for (int32_t c = 0; c < cards; c++)
        n->layouts[c] = n->targets[c] = *layout;
}

void mig_node_fini(struct mig_node *n)
{
    free(n->layouts);
    free(n->targets);
    free(n->busy);
    *n = (struct mig_node){0};
}

static bool changes(const struct mig_node *n, int32_t card)
{
    return !same_layout(&n->layouts[card], &n->targets[card]);
}

bool mig_node_open(const struct mig_node *n, int32_t card)
{
    if (n->state == MIG_SERVING)
        return true;
    return n->costs.scope != MIG_SCOPE_NODE && !changes(n, card);
}

/* Books the time since the last change. */
static void count_to(struct mig_node *n, sim_time now)
{
    REQUIRE(now >= n->counted_to);
    sim_time ns = now - n->counted_to;
    n->counted_to = now;
    for (int32_t c = 0; ns > 0 && c < n->cards; c++) {
        int32_t milli[MIG_INSTANCES_MAX], busy = 0;
        share_round_layout(n->card, &n->layouts[c], milli);
        for (int i = 0; i < n->layouts[c].count; i++)
            busy += (n->busy[c] >> i & 1) != 0 ? milli[i] : 0;
        n->busy_mcns += ns * busy;
        if (!mig_node_open(n, c))
            n->drained_mcns += ns * (SHARE_CARD_MILLI - busy);
    }
}

int32_t mig_node_take(struct mig_node *n, int32_t card, int32_t profile, sim_time now)
{
    if (!mig_node_open(n, card))
        return -1;
    for (int i = 0; i < n->layouts[card].count; i++)
        if (n->layouts[card].items[i].profile == profile && (n->busy[card] >> i & 1) == 0) {
            count_to(n, now);
            n->busy[card] = (uint8_t)(n->busy[card] | 1 << i);
            return i;
        }
    return -1;
}

void mig_node_give(struct mig_node *n, int32_t card, int32_t instance, sim_time now)
{
    REQUIRE((n->busy[card] >> instance & 1) != 0);
    count_to(n, now);
    n->busy[card] = (uint8_t)(n->busy[card] & ~(1 << instance));
}

bool mig_node_ask(struct mig_node *n, int32_t card, const struct mig_layout *target, sim_time now)
{
    REQUIRE(mig_layout_ok(n->card, target));
    if (n->state != MIG_SERVING)
        return false;
    count_to(n, now);
    bool any = false;
    for (int32_t c = 0; c < n->cards; c++) {
        n->targets[c] = card < 0 || c == card ? *target : n->layouts[c];
        any = any || changes(n, c);
    }
    if (any) {
        n->state = MIG_DRAINING;
        n->asked_at = now;
    }
    return true;
}

uint8_t mig_node_blocking(const struct mig_node *n, int32_t card)
{
    if (n->state != MIG_DRAINING || !changes(n, card))
        return 0;
    if (n->costs.scope != MIG_SCOPE_INSTANCE)
        return n->busy[card];
    uint8_t blocking = 0;
    for (int i = 0; i < n->layouts[card].count; i++)
        if ((n->busy[card] >> i & 1) != 0 && !has(&n->targets[card], n->layouts[card].items[i]))
            blocking = (uint8_t)(blocking | 1 << i);
    return blocking;
}

static bool blocked(const struct mig_node *n)
{
    for (int32_t c = 0; c < n->cards; c++)
        if (mig_node_blocking(n, c) != 0)
            return true;
    return false;
}

static void start_work(struct mig_node *n, sim_time now)
{
    sim_time ns = n->costs.scope == MIG_SCOPE_NODE ? n->costs.cycle_ns : 0;
    for (int32_t c = 0; c < n->cards; c++)
        ns += mig_change_ns(n->card, &n->layouts[c], &n->targets[c], &n->costs);
    n->state = MIG_RECONFIGURING;
    n->done_at = now + ns;
}

/* Puts the targets in place; tenants of instances that stay keep them under their new index. */
static void finish_work(struct mig_node *n)
{
    for (int32_t c = 0; c < n->cards; c++) {
        uint8_t busy = 0;
        for (int i = 0; i < n->targets[c].count; i++)
            for (int k = 0; k < n->layouts[c].count; k++)
                if ((n->busy[c] >> k & 1) != 0 &&
                    same_instance(n->targets[c].items[i], n->layouts[c].items[k]))
                    busy = (uint8_t)(busy | 1 << i);
        n->layouts[c] = n->targets[c];
        n->busy[c] = busy;
    }
    n->state = MIG_SERVING;
    n->changes++;
}

static void give_up(struct mig_node *n)
{
    memcpy(n->targets, n->layouts, (size_t)n->cards * sizeof(*n->targets));
    n->state = MIG_SERVING;
    n->failures++;
}

sim_time mig_node_settle(struct mig_node *n, sim_time now)
{
    count_to(n, now);
    if (n->state == MIG_DRAINING && !blocked(n))
        start_work(n, now);
    if (n->state == MIG_DRAINING && n->costs.drain_limit_ns >= 0) {
        sim_time limit = n->asked_at + n->costs.drain_limit_ns;
        if (now < limit)
            return limit;
        give_up(n);
    }
    if (n->state == MIG_RECONFIGURING) {
        if (now < n->done_at)
            return n->done_at;
        finish_work(n);
    }
    return -1;
}
