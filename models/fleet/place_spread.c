/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The emptiest node that fits (most free whole cards), lowest id among equals. Shares open a new
 * card on the emptiest node while there is one; then the open card with the largest free share.
 */
#include <stddef.h>

#include "models/fleet/placement.h"

static struct place_choice whole(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    (void)f;
    for (int32_t k = p->cards_per_node; k >= req->cards; k--) {
        int64_t local = fitset_first(&p->free_nodes[k], 0, p->node_count, req->resources);
        if (local >= 0)
            return (struct place_choice){p->first_node + (int32_t)local, -1};
    }
    return (struct place_choice){-1, -1};
}

static struct place_choice share(struct fleet *f, struct fleet_pool *p,
                                 const struct place_request *req)
{
    struct place_request one = *req;
    one.cards = 1;
    struct place_choice c = whole(f, p, &one);
    if (c.node >= 0) {
        c.card = node_closed_card(f, c.node);
        return c;
    }
    int64_t row = place_open_row(p), end = CARD_MILLI * row;
    for (;;) {
        int64_t last = fitset_last(&p->open_cards, end);
        if (last < 0 || last / row < p->least_milli)
            return (struct place_choice){-1, -1};
        int64_t start = last / row * row;
        int64_t key = fitset_first(&p->open_cards, start, start + row, p->card_need);
        if (key >= 0)
            return place_open_card(f, p, key, 0);
        end = start;
    }
}

static int compare(int32_t free_a, int32_t free_b)
{
    return (free_a < free_b) - (free_a > free_b);
}

const struct place_rule place_spread = {"spread", whole, share, compare, NULL};
