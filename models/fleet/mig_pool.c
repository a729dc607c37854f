/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pools under MIG without a layout (sharing/mig_dynamic.h). Every profile of the card has a set of the cards
 * that have room for an instance of it, keyed room * card_count + card, so that the rules that choose among free
 * instances of a layout choose among these. A change on a card moves that card only, in the sets where its room
 * became another.
 */
#include <stdlib.h>

#include "models/fleet/fleet_priv.h"
#include "sim/check.h"

void mig_pool_init(struct fleet_pool *p)
{
    struct pool_share *s = p->share;
    s->made = mem_zalloc((size_t)p->card_count + 1, sizeof(*s->made));
    s->room = mem_alloc((size_t)p->card_count * (size_t)s->set_count + 1, sizeof(*s->room));
    for (int32_t k = 0; k < s->set_count; k++) {
        int32_t each = mig_pool_most(&s->cards, s->profile[k]);
        for (int64_t c = 0; c < p->card_count; c++)
            s->room[c * s->set_count + k] = (uint8_t)each;
    }
}

void mig_pool_fini(struct pool_share *s)
{
    free(s->made);
    free(s->room);
}

int32_t mig_pool_next(const struct pool_share *s, const struct mig_layout *made, int32_t profile)
{
    int32_t start = mig_next_start(s->cards.mig, made, profile, s->cards.starts);
    REQUIRE(start >= 0);
    return mig_code((struct mig_instance){(int8_t)profile, (int8_t)start});
}

int32_t mig_pool_most(const struct share_pool *cards, int32_t profile)
{
    const struct mig_layout none = {.count = 0};
    return mig_room(cards->mig, &none, profile);
}

int32_t mig_pool_last_milli(const struct fleet_pool *p, int64_t card)
{
    int32_t milli[MIG_INSTANCES_MAX] = {0};
    const struct mig_layout *made = &p->share->made[card - p->first_card];
    REQUIRE(made->count > 0);
    share_round_layout(p->share->cards.mig, made, milli);
    return milli[made->count - 1];
}

/* The sets in which the card's room became another. */
static void move_in_sets(struct fleet_pool *p, int64_t local)
{
    struct pool_share *s = p->share;
    for (int32_t k = 0; k < s->set_count; k++) {
        uint8_t *room = &s->room[local * s->set_count + k];
        int32_t now = mig_room(s->cards.mig, &s->made[local], s->profile[k]);
        if (now == *room)
            continue;
        if (*room > 0)
            fitset_remove(&s->sets[k], *room * p->card_count + local);
        if (now > 0)
            fitset_add(&s->sets[k], now * p->card_count + local);
        s->free_instances[k] += now - *room;
        *room = (uint8_t)now;
    }
}

void mig_pool_change(struct fleet *f, struct fleet_pool *p, int64_t card, int32_t code, int sign)
{
    struct pool_share *s = p->share;
    int32_t milli[MIG_INSTANCES_MAX];
    struct mig_layout *made = &s->made[card - p->first_card];
    int32_t before = share_round_layout(s->cards.mig, made, milli);
    if (sign > 0)
        mig_add(s->cards.mig, made, mig_of_code(code));
    else
        mig_drop(made, mig_of_code(code));
    f->card_tenants[card] = (int16_t)(f->card_tenants[card] + sign);
    p->used_milli += share_round_layout(s->cards.mig, made, milli) - before;
    move_in_sets(p, card - p->first_card);
}
