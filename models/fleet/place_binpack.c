/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Best fit: the fullest node that fits (fewest free whole cards), lowest id among equals. Shares
 * go to the open card with the least free share that fits; else a new card is opened on the
 * fullest node that has one.
 */
#include <stddef.h>

#include "models/fleet/placement.h"

static struct place_choice whole(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    (void)f;
    for (int32_t k = req->cards; k <= p->cards_per_node; k++) {
        int64_t local = fitset_first(&p->free_nodes[k], 0, p->node_count, req->resources);
        if (local >= 0)
            return (struct place_choice){p->first_node + (int32_t)local, -1};
    }
    return (struct place_choice){-1, -1};
}

static struct place_choice share(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    int64_t row = place_open_row(p);
    int64_t key = fitset_first(&p->open_cards, p->least_milli * row, CARD_MILLI * row, p->card_need);
    if (key >= 0)
        return place_open_card(f, p, key, 0);
    struct place_request one = *req;
    one.cards = 1;
    struct place_choice c = whole(f, p, &one);
    if (c.node >= 0)
        c.card = node_closed_card(f, c.node);
    return c;
}

static int compare(int32_t free_a, int32_t free_b)
{
    return (free_a > free_b) - (free_a < free_b);
}

const struct place_rule place_binpack = {"binpack", whole, share, compare, NULL};
