/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/card_axes.h"

#include <stdlib.h>

#include "sim/check.h"

#define ALL_CORES 100

static int64_t *row_of(const struct card_axes *a, const struct fleet_pool *p, int64_t card)
{
    return a->rows + (card - p->first_card) * a->width;
}

/* Free MiB and percent stand at the end of a row. */
static int64_t *budgets_of(const struct card_axes *a, const struct fleet_pool *p, int64_t card)
{
    return row_of(a, p, card) + a->width - 2;
}

static void set_amounts(const struct fleet *f, int64_t *row, int32_t node)
{
    for (int32_t r = 0; r < f->resources; r++)
        row[r] = f->node_amounts[(int64_t)node * f->resources + r];
}

void card_axes_init(struct fleet *f, struct fleet_pool *p)
{
    struct card_axes *a = p->share->axes = mem_zalloc(1, sizeof *a);
    size_t cards = (size_t)p->card_count;
    a->capacity_mib = p->share->cards.capacity.axis[SHARE_MEMORY];
    a->slots = p->share->cards.slots;
    a->width = f->resources + 2;
    a->rows = mem_alloc(cards * (size_t)a->width + 1, sizeof *a->rows);
    a->memory_milli = mem_zalloc(cards + 1, sizeof *a->memory_milli);
    a->free_mib = p->card_count * a->capacity_mib;
    a->free_cores = p->card_count * ALL_CORES;
    for (int64_t c = p->first_card; c < p->first_card + p->card_count; c++) {
        set_amounts(f, row_of(a, p, c), p->first_node + (int32_t)((c - p->first_card) / p->cards_per_node));
        budgets_of(a, p, c)[0] = a->capacity_mib;
        budgets_of(a, p, c)[1] = ALL_CORES;
    }
    bool ranked = p->open_cards.ranked;
    fitset_fini(&p->open_cards);
    p->open_cards = (struct fitset){.size = CARD_MILLI * p->card_count,
                                    .resources = a->width,
                                    .amounts = a->rows,
                                    .modulus = p->card_count,
                                    .divisor = 1,
                                    .ranked = ranked,
                                    .looks = &f->looks};
    fitset_init(&p->open_cards);
}

void card_axes_fini(struct card_axes *a)
{
    if (a == NULL)
        return;
    free(a->rows);
    free(a->memory_milli);
    free(a);
}

void card_axes_node(struct fleet *f, int32_t node)
{
    const struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int64_t first = node_first_card(f, node);
    for (int64_t c = first; c < first + p->cards_per_node; c++)
        set_amounts(f, row_of(p->share->axes, p, c), node);
}

void card_axes_whole(struct card_axes *a, int32_t cards)
{
    a->free_mib -= cards * a->capacity_mib;
    a->free_cores -= (int64_t)cards * ALL_CORES;
}

bool card_axes_open(const struct fleet *f, const struct fleet_pool *p, int64_t card)
{
    const struct card_axes *a = p->share->axes;
    const int64_t *left = budgets_of(a, p, card);
    return f->card_tenants[card] > 0 && f->card_tenants[card] < a->slots && left[0] > 0 && left[1] > 0;
}

void card_axes_left(const struct fleet_pool *p, int64_t card, int64_t *mib, int64_t *cores)
{
    const int64_t *left = budgets_of(p->share->axes, p, card);
    *mib = left[0];
    *cores = left[1];
}

int32_t card_axes_free(const struct card_axes *a, int64_t mib, int64_t cores, int32_t tenants)
{
    int64_t memory = mib * CARD_MILLI / a->capacity_mib, compute = cores * CARD_MILLI / ALL_CORES;
    int64_t least = memory < compute ? memory : compute;
    if (tenants == 0)
        return CARD_MILLI;
    return least < CARD_MILLI ? (int32_t)least : CARD_MILLI - 1;
}

static int32_t booked(const struct fleet *f, const struct fleet_pool *p, int64_t card)
{
    const struct card_axes *a = p->share->axes;
    int32_t memory = a->memory_milli[card - p->first_card], slots = f->card_tenants[card] * (CARD_MILLI / a->slots);
    int32_t cores = (int32_t)(ALL_CORES - budgets_of(a, p, card)[1]) * (CARD_MILLI / ALL_CORES);
    int32_t most = memory > cores ? memory : cores;
    most = most > slots ? most : slots;
    return most < CARD_MILLI ? most : CARD_MILLI;
}

int32_t card_axes_move(struct fleet *f, struct fleet_pool *p, int64_t card, const struct lease_part *part, int sign)
{
    struct card_axes *a = p->share->axes;
    int64_t *left = budgets_of(a, p, card);
    struct share_amounts each = share_milli_of(
        &p->share->cards, &(struct share_amounts){{[SHARE_MEMORY] = part->memory_mib, [SHARE_COMPUTE] = part->cores}});
    int32_t before = booked(f, p, card);
    left[0] -= sign * part->memory_mib;
    left[1] -= sign * part->cores;
    REQUIRE(left[0] >= 0 && left[0] <= a->capacity_mib && left[1] >= 0 && left[1] <= ALL_CORES);
    a->free_mib -= sign * part->memory_mib;
    a->free_cores -= sign * part->cores;
    a->memory_milli[card - p->first_card] += sign * (int32_t)each.axis[SHARE_MEMORY];
    f->card_tenants[card] = (int16_t)(f->card_tenants[card] + sign);
    REQUIRE(f->card_tenants[card] >= 0 && f->card_tenants[card] <= a->slots);
    f->card_free[card] = (int16_t)card_axes_free(a, left[0], left[1], f->card_tenants[card]);
    return booked(f, p, card) - before;
}

/* ---- what a request needs ---- */

void card_axes_need(struct fleet_pool *view, const struct share_amounts *demand)
{
    const struct card_axes *a = view->share->axes;
    int64_t mib = demand->axis[SHARE_MEMORY], cores = demand->axis[SHARE_COMPUTE];
    int64_t *need = view->card_need + a->width - 2;
    need[0] = mib;
    need[1] = cores == ALL_CORES ? ALL_CORES + 1 : cores > 0 ? cores : 1;
    view->least_milli = cores == ALL_CORES ? CARD_MILLI : card_axes_free(a, mib, cores, 1);
}

bool card_axes_enough(const struct card_axes *a, const int64_t *row, int64_t mib, int64_t cores)
{
    const int64_t *need = row + a->width - 2;
    return mib >= need[0] && cores >= need[1];
}

bool card_axes_fit(const struct fleet *f, const struct fleet_pool *p, const int64_t *row, int64_t card)
{
    const int64_t *left = budgets_of(p->share->axes, p, card);
    return f->card_tenants[card] == 0 ||
           (card_axes_open(f, p, card) && card_axes_enough(p->share->axes, row, left[0], left[1]));
}

static int64_t times(int64_t have, int64_t need)
{
    return need > 0 ? have / need : INT32_MAX;
}

int64_t card_axes_room(const struct card_axes *a, const struct share_amounts *demand)
{
    int64_t memory = times(a->free_mib, demand->axis[SHARE_MEMORY]);
    int64_t compute = times(a->free_cores, demand->axis[SHARE_COMPUTE]);
    return memory < compute ? memory : compute;
}

int32_t card_axes_per_card(const struct share_pool *cards, const struct share_amounts *demand)
{
    int64_t n = cards->slots;
    for (int axis = SHARE_MEMORY; axis < SHARE_AXES; axis++) {
        int64_t fit = times(cards->capacity.axis[axis], demand->axis[axis]);
        n = fit < n ? fit : n;
    }
    return (int32_t)n;
}
