/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking from and giving back to nodes, with all indexes kept. */
#include "models/fleet/locality.h"
#include "models/fleet/placement.h"
#include "sim/check.h"

/* In a large fleet a node's state is far from the processor: all of it is sent for at once. */
void node_fetch(const struct fleet *f, const struct fleet_pool *p, int32_t node)
{
    int64_t card = p->first_card + (int64_t)(node - p->first_node) * p->cards_per_node;
    __builtin_prefetch(f->node_amounts + (int64_t)node * f->resources, 1);
    __builtin_prefetch(f->node_free + node, 1);
    __builtin_prefetch(f->node_pool + node);
    __builtin_prefetch(f->card_free + card, 1);
    __builtin_prefetch(f->card_tenants + card, 1);
}

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

static struct card_axes *axes_of(const struct fleet *f, int32_t node)
{
    const struct pool_share *s = f->pools[f->node_pool[node]].share;
    return s != NULL ? s->axes : NULL;
}

static void add_amounts(struct fleet *f, int32_t node, const int64_t *amounts, int64_t sign)
{
    int64_t *have = f->node_amounts + (int64_t)node * f->resources;
    for (int32_t r = 0; r < f->resources; r++) {
        have[r] += sign * amounts[r];
        CHECK(have[r] >= 0);
    }
    if (axes_of(f, node) != NULL)
        card_axes_node(f, node);
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    if (p->locality != NULL) /* its cards change with them */
        locality_changed(p, node - p->first_node);
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

static int64_t open_key(const struct fleet *f, const struct fleet_pool *p, int32_t node, int64_t card)
{
    bool by_card = p->share != NULL && p->share->axes != NULL;
    return f->card_free[card] * (by_card ? p->card_count : p->node_count) +
           (by_card ? card - p->first_card : node - p->first_node);
}

bool node_card_open(const struct fleet *f, const struct fleet_pool *p, int64_t card)
{
    int32_t slots = p->share != NULL ? p->share->slots : 0;
    if (p->share != NULL && p->share->axes != NULL)
        return card_axes_open(f, p, card);
    return f->card_free[card] > 0 && f->card_free[card] < CARD_MILLI &&
           (slots == 0 || f->card_tenants[card] < slots);
}

int32_t node_open_card(const struct fleet *f, int32_t node, int32_t free_milli, int32_t k)
{
    const struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int64_t first = node_first_card(f, node);
    for (int32_t c = 0; c < p->cards_per_node; c++)
        if (f->card_free[first + c] == free_milli && node_card_open(f, p, first + c) && k-- == 0)
            return c;
    return -1;
}

/* The card, as it is now, enters or leaves the set of open cards. */
static void list_open(struct fleet *f, struct fleet_pool *p, int32_t node, int64_t card, bool add)
{
    if (!node_card_open(f, p, card))
        return;
    int64_t first = node_first_card(f, node), key = open_key(f, p, node, card);
    int32_t others = 0;
    for (int64_t c = first; axes_of(f, node) == NULL && c < first + p->cards_per_node; c++)
        others += c != card && f->card_free[c] == f->card_free[card] && node_card_open(f, p, c);
    if (others > 0)
        fitset_weigh(&p->open_cards, key, others + add);
    else if (add)
        fitset_add(&p->open_cards, key);
    else
        fitset_remove(&p->open_cards, key);
}

/* Amounts of the node have grown: its open cards and replicas fit more. */
static void raise_open_cards(struct fleet *f, int32_t node)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int32_t local = node - p->first_node;
    if (p->share != NULL && p->share->node_free != NULL)
        fitset_raise(&p->share->by_free, (int64_t)p->share->node_free[local] * p->node_count + local);
    if (f->resources == 0 || p->open_cards.total == 0)
        return;
    int64_t first = node_first_card(f, node);
    for (int64_t c = first; c < first + p->cards_per_node; c++)
        if (f->card_free[c] < CARD_MILLI)
            fitset_fetch(&p->open_cards, open_key(f, p, node, c));
    for (int64_t c = first; c < first + p->cards_per_node; c++)
        if (node_card_open(f, p, c))
            fitset_raise(&p->open_cards, open_key(f, p, node, c));
}

static int64_t set_key(const struct fleet *f, const struct fleet_pool *p, int32_t set, int64_t card)
{
    int64_t idle = pool_share_left(f, p, set, card);
    if (f->node_shut[p->first_node + (card - p->first_card) / p->cards_per_node] != 0)
        idle = 0;
    return idle * p->card_count + (card - p->first_card);
}

/* The same for cards with free MIG instances. */
static void raise_instances(struct fleet *f, int32_t node)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    if (f->resources == 0 || p->share == NULL || p->share->set_count == 0)
        return;
    int64_t first = node_first_card(f, node);
    for (int32_t s = 0; s < p->share->set_count; s++)
        for (int64_t c = first; c < first + p->cards_per_node; c++)
            if (set_key(f, p, s, c) >= p->card_count)
                fitset_raise(&p->share->sets[s], set_key(f, p, s, c));
}

void node_take(struct fleet *f, int32_t node, int32_t cards, const int64_t *amounts)
{
    add_amounts(f, node, amounts, -1);
    move_free(f, node, -cards);
    if (axes_of(f, node) != NULL)
        card_axes_whole(axes_of(f, node), cards);
    f->pools[f->node_pool[node]].used_milli += (int64_t)cards * CARD_MILLI;
    place_score_changed(f, node, cards, false, 1);
}

void node_give(struct fleet *f, int32_t node, int32_t cards, const int64_t *amounts)
{
    add_amounts(f, node, amounts, 1);
    move_free(f, node, cards);
    if (axes_of(f, node) != NULL)
        card_axes_whole(axes_of(f, node), -cards);
    raise_open_cards(f, node);
    raise_instances(f, node);
    f->pools[f->node_pool[node]].used_milli -= (int64_t)cards * CARD_MILLI;
    place_score_changed(f, node, cards, false, -1);
}

/* The share comes (sign 1) or goes; returns by how much what is used of the card grows. */
static int32_t move_share(struct fleet *f, struct fleet_pool *p, int64_t card, const struct lease_part *part, int sign)
{
    if (p->share != NULL && p->share->axes != NULL)
        return card_axes_move(f, p, card, part, sign);
    int32_t after = f->card_free[card] - sign * part->milli;
    REQUIRE(after >= 0 && after <= CARD_MILLI);
    f->card_free[card] = (int16_t)after;
    f->card_tenants[card] = (int16_t)(f->card_tenants[card] + sign);
    if (p->share != NULL && p->share->node_free != NULL)
        pool_share_replicas_changed(p, part->node - p->first_node, -sign);
    return sign * part->milli;
}

/* Changes the free share of one card. */
static void move_card(struct fleet *f, const struct lease_part *part, int sign)
{
    struct fleet_pool *p = &f->pools[f->node_pool[part->node]];
    int64_t card = node_first_card(f, part->node) + part->first_card;
    int32_t before = f->card_free[card];
    list_open(f, p, part->node, card, false);
    p->used_milli += move_share(f, p, card, part, sign);
    list_open(f, p, part->node, card, true);
    int32_t opened = (before == CARD_MILLI) - (f->card_free[card] == CARD_MILLI);
    move_free(f, part->node, -opened);
}

void node_take_share(struct fleet *f, const struct lease_part *part, const int64_t *amounts)
{
    add_amounts(f, part->node, amounts, -1);
    move_card(f, part, 1);
    place_score_changed(f, part->node, 0, true, 1);
}

void node_give_share(struct fleet *f, const struct lease_part *part, const int64_t *amounts)
{
    add_amounts(f, part->node, amounts, 1);
    move_card(f, part, -1);
    raise_open_cards(f, part->node);
    place_score_changed(f, part->node, 0, true, -1);
}

/* The card leaves or enters the sets of cards with free instances, as it is now. */
static void list_instances(struct fleet_pool *p, const struct fleet *f, int64_t card, bool add)
{
    for (int32_t s = 0; s < p->share->set_count; s++) {
        int64_t key = set_key(f, p, s, card);
        if (key >= p->card_count && add)
            fitset_add(&p->share->sets[s], key);
        else if (key >= p->card_count)
            fitset_remove(&p->share->sets[s], key);
    }
}

/* sign 1: the instance is taken. */
static void move_instance(struct fleet *f, int32_t node, int32_t card, int32_t instance, int sign)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int64_t c = node_first_card(f, node) + card;
    if (p->share->made != NULL) {
        mig_pool_change(f, p, c, instance, sign);
        return;
    }
    uint8_t bit = (uint8_t)(1U << instance);
    REQUIRE(((f->card_busy[c] & bit) == 0) == (sign > 0));
    list_instances(p, f, c, false);
    f->card_busy[c] ^= bit;
    f->card_tenants[c] = (int16_t)(f->card_tenants[c] + sign);
    list_instances(p, f, c, true);
    for (int32_t s = 0; s < p->share->set_count && f->node_shut[node] == 0; s++)
        if ((p->share->members[s] & bit) != 0)
            p->share->free_instances[s] -= sign;
    p->used_milli += sign * p->share->cards.instance_milli[instance];
}

void node_shut_change(struct fleet *f, int32_t node, bool shut)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int64_t first = node_first_card(f, node);
    REQUIRE((f->node_shut[node] != 0) != shut);
    for (int64_t c = first; c < first + p->cards_per_node; c++) {
        f->looks++;
        if (shut)
            list_instances(p, f, c, false);
        for (int32_t s = 0; s < p->share->set_count; s++) {
            int32_t idle = __builtin_popcount(p->share->members[s] & ~(uint32_t)f->card_busy[c]);
            p->share->free_instances[s] += shut ? -idle : idle;
        }
    }
    f->node_shut[node] = shut;
    for (int64_t c = first; c < first + p->cards_per_node && !shut; c++)
        list_instances(p, f, c, true);
}

void node_take_instance(struct fleet *f, int32_t node, int32_t card, int32_t instance,
                        const int64_t *amounts)
{
    add_amounts(f, node, amounts, -1);
    move_instance(f, node, card, instance, 1);
    place_score_changed(f, node, 0, true, 1);
}

void node_give_instance(struct fleet *f, int32_t node, int32_t card, int32_t instance,
                        const int64_t *amounts)
{
    add_amounts(f, node, amounts, 1);
    move_instance(f, node, card, instance, -1);
    move_free(f, node, 0);
    raise_instances(f, node);
    place_score_changed(f, node, 0, true, -1);
}
