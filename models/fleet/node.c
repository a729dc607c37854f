/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking from and giving back to nodes, with all indexes kept. */
#include "models/fleet/fleet_priv.h"
#include "sim/check.h"

int64_t node_first_card(const struct fleet *f, int32_t node)
{
    const struct fleet_pool *p = &f->pools[f->node_pool[node]];
    return p->first_card + (int64_t)(node - p->first_node) * p->cards_per_node;
}

int32_t node_closed_card(const struct fleet *f, int32_t node)
{
    if (f->node_free[node] == 0)
        return -1;
    const int16_t *card = f->card_free + node_first_card(f, node);
    int32_t i = 0;
    while (card[i] < CARD_MILLI)
        i++;
    return i;
}

static void add_amounts(struct fleet *f, int32_t node, const int64_t *amounts, int64_t sign)
{
    int64_t *have = f->node_amounts + (int64_t)node * f->resources;
    for (int32_t r = 0; r < f->resources; r++) {
        have[r] += sign * amounts[r];
        CHECK(have[r] >= 0);
    }
}

/* Moves the node to the index of its new number of free whole cards. */
static void move_free(struct fleet *f, int32_t node, int32_t change)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int32_t local = node - p->first_node;
    if (change == 0) {
        fitset_raise(&p->free_nodes[f->node_free[node]], local);
        return;
    }
    fitset_remove(&p->free_nodes[f->node_free[node]], local);
    f->node_free[node] += change;
    REQUIRE(f->node_free[node] >= 0 && f->node_free[node] <= p->cards_per_node);
    fitset_add(&p->free_nodes[f->node_free[node]], local);
}

static int64_t open_key(const struct fleet_pool *p, int64_t card, int32_t free_milli)
{
    return free_milli * p->card_count + (card - p->first_card);
}

/* Amounts of the node have grown: its open cards fit more. */
static void raise_open_cards(struct fleet *f, int32_t node)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    if (f->resources == 0 || p->open_cards.total == 0)
        return;
    int64_t first = node_first_card(f, node);
    for (int64_t c = first; c < first + p->cards_per_node; c++)
        if (f->card_free[c] > 0 && f->card_free[c] < CARD_MILLI)
            fitset_raise(&p->open_cards, open_key(p, c, f->card_free[c]));
}

void node_take(struct fleet *f, int32_t node, int32_t cards, const int64_t *amounts)
{
    add_amounts(f, node, amounts, -1);
    move_free(f, node, -cards);
    f->pools[f->node_pool[node]].used_milli += (int64_t)cards * CARD_MILLI;
}

void node_give(struct fleet *f, int32_t node, int32_t cards, const int64_t *amounts)
{
    add_amounts(f, node, amounts, 1);
    move_free(f, node, cards);
    raise_open_cards(f, node);
    f->pools[f->node_pool[node]].used_milli -= (int64_t)cards * CARD_MILLI;
}

/* Changes the free share of one card. */
static void move_card(struct fleet *f, int32_t node, int64_t card, int32_t change)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int32_t before = f->card_free[card], after = before + change;
    REQUIRE(after >= 0 && after <= CARD_MILLI);
    if (before > 0 && before < CARD_MILLI)
        fitset_remove(&p->open_cards, open_key(p, card, before));
    f->card_free[card] = (int16_t)after;
    if (after > 0 && after < CARD_MILLI)
        fitset_add(&p->open_cards, open_key(p, card, after));
    int32_t opened = (before == CARD_MILLI) - (after == CARD_MILLI);
    move_free(f, node, -opened);
    p->used_milli -= change;
}

void node_take_share(struct fleet *f, int32_t node, int32_t card, int32_t milli,
                     const int64_t *amounts)
{
    add_amounts(f, node, amounts, -1);
    move_card(f, node, node_first_card(f, node) + card, -milli);
}

void node_give_share(struct fleet *f, int32_t node, int32_t card, int32_t milli,
                     const int64_t *amounts)
{
    add_amounts(f, node, amounts, 1);
    move_card(f, node, node_first_card(f, node) + card, milli);
    raise_open_cards(f, node);
}
