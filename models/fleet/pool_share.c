/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shares of cards under a pool's mechanism, in the fleet's milli-cards. Equal parts of a card add
 * up to the whole card: the first 1000 mod n replicas in use get one milli more.
 */
#include <stdlib.h>

#include "models/fleet/card_axes.h"
#include "models/fleet/catalogue.h"
#include "sim/check.h"

#define MIB (INT64_C(1) << 20)

bool fleet_pool_sharing_ok(const struct node_pool_config *pool, struct err *e)
{
    struct share_pool made;
    const struct catalogue *c = catalogue_builtin();
    REQUIRE(pool->card >= 0 && pool->card < c->card_count);
    const struct card_type *card = &c->cards[pool->card];
    return share_pool_init(&made, &pool->sharing, card->name, (int32_t)(card->memory_bytes / MIB), e);
}

void fleet_pool_cards(const struct node_pool_config *cfg, struct share_pool *cards)
{
    const struct catalogue *c = catalogue_builtin();
    REQUIRE(cfg->card >= 0 && cfg->card < c->card_count);
    const struct card_type *card = &c->cards[cfg->card];
    struct err e = {0};
    bool ok = share_pool_init(cards, &cfg->sharing, card->name, (int32_t)(card->memory_bytes / MIB), &e);
    REQUIRE(ok); /* the loader has asked fleet_pool_sharing_ok */
}

/* Instances of one profile become one set; without a layout all profiles of the card. */
static void group_instances(struct pool_share *s)
{
    for (; s->cards.mig_dynamic && s->set_count < s->cards.mig->profile_count; s->set_count++)
        s->profile[s->set_count] = s->set_count;
    for (int i = 0; i < s->cards.layout.count; i++) {
        int32_t set = 0;
        while (set < s->set_count && s->profile[set] != s->cards.layout.items[i].profile)
            set++;
        if (set == s->set_count) {
            s->profile[set] = s->cards.layout.items[i].profile;
            s->set_count++;
        }
        s->members[set] |= UINT32_C(1) << i;
    }
}

static void fill_sets(struct fleet_pool *p)
{
    struct pool_share *s = p->share;
    for (int32_t k = 0; k < s->set_count; k++) {
        int64_t each = s->cards.mig_dynamic ? mig_pool_most(&s->cards, s->profile[k])
                                            : __builtin_popcount(s->members[k]);
        s->sets[k] = (struct fitset){.size = (each + 1) * p->card_count,
                                     .resources = p->open_cards.resources,
                                     .amounts = p->open_cards.amounts, /* the same rows */
                                     .modulus = p->card_count,
                                     .divisor = p->cards_per_node,
                                     .usual = p->open_cards.usual,
                                     .ranked = p->open_cards.ranked,
                                     .looks = p->open_cards.looks};
        fitset_init(&s->sets[k]);
        for (int64_t c = 0; c < p->card_count; c++)
            fitset_add(&s->sets[k], each * p->card_count + c);
        s->free_instances[k] = each * p->card_count;
    }
}

static void fill_replicas(struct fleet_pool *p)
{
    struct pool_share *s = p->share;
    int32_t each = s->cards.replicas * p->cards_per_node;
    s->node_free = mem_alloc((size_t)p->node_count + 1, sizeof(*s->node_free));
    s->by_free = (struct fitset){.size = ((int64_t)each + 1) * p->node_count,
                                 .resources = p->open_cards.resources,
                                 .amounts = p->open_cards.amounts,
                                 .modulus = p->node_count,
                                 .usual = p->open_cards.usual,
                                 .looks = p->open_cards.looks};
    fitset_init(&s->by_free);
    for (int32_t n = 0; n < p->node_count; n++) {
        s->node_free[n] = each;
        fitset_add(&s->by_free, (int64_t)each * p->node_count + n);
    }
}

void pool_share_replicas_changed(struct fleet_pool *p, int32_t local, int32_t change)
{
    struct pool_share *s = p->share;
    fitset_remove(&s->by_free, (int64_t)s->node_free[local] * p->node_count + local);
    s->node_free[local] += change;
    fitset_add(&s->by_free, (int64_t)s->node_free[local] * p->node_count + local);
}

void pool_share_init(struct fleet *f, int32_t pool)
{
    struct fleet_pool *p = &f->pools[pool];
    struct node_pool_config cfg = fleet_pool_config(f, pool);
    if (cfg.sharing.kind == SHARE_WHOLE)
        return;
    p->share = mem_zalloc(1, sizeof(*p->share));
    fleet_pool_cards(&cfg, &p->share->cards);
    p->share->slots = p->share->cards.slots;
    group_instances(p->share);
    if (p->share->cards.mig_dynamic)
        mig_pool_init(p);
    fill_sets(p);
    if (p->share->cards.kind == SHARE_HAMI)
        card_axes_init(f, p);
    if (p->share->cards.replicas > 0)
        fill_replicas(p);
}

void pool_share_fini(struct fleet_pool *p)
{
    if (p->share == NULL)
        return;
    for (int32_t k = 0; k < p->share->set_count; k++)
        fitset_fini(&p->share->sets[k]);
    mig_pool_fini(p->share);
    card_axes_fini(p->share->axes);
    fitset_fini(&p->share->by_free);
    free(p->share->node_free);
    free(p->share);
    p->share = NULL;
}

bool fleet_pool_demand(const struct share_pool *cards, const struct place_request *req,
                       struct share_demand *d, struct err *e)
{
    struct share_request asked = {.milli = req->share_milli, .cores = -1};
    if (req->cards > 0) {
        asked = (struct share_request){.cards = req->cards, .cores = -1};
    } else if (cards->kind == SHARE_MIG && req->profile != NULL) {
        asked.milli = 0;
        asked.profile = req->profile;
    } else if (cards->kind == SHARE_HAMI && (req->gpumem_mib > 0 || req->gpucores > 0)) {
        asked.milli = 0;
        asked.memory_mib = req->gpumem_mib;
        asked.cores = req->gpucores > 0 ? req->gpucores : -1;
    }
    return share_demand_make(cards, &asked, d, e);
}

/* Requests for nvidia.com/gpu where that is not the name of whole cards. */
static bool cards_accepted(const struct share_pool *c, int32_t cards, struct err *e)
{
    const char *name = share_mechanism_of(c->kind)->name;
    if (c->kind == SHARE_MIG)
        return (c->mig_single && cards == 1) ||
               err_set(e, ERR_INPUT, "%d whole cards in a pool under mig: expected a share%s", (int)cards,
                       c->mig_single ? ", or one card" : "");
    if (c->replicas == 0)
        return true;
    if (c->rename_shared)
        return err_set(e, ERR_INPUT, "nvidia.com/gpu in a pool under %s with renameByDefault, which has only nvidia.com/gpu.shared: "
                       "expected a share", name);
    if (cards > 1 && !c->allow_above_one)
        return err_set(e, ERR_INPUT, "%d replicas of shared cards under %s: expected 1 (failRequestsGreaterThanOne)",
                       (int)cards, name);
    return true;
}

bool fleet_pool_accepts(const struct node_pool_config *pool, const struct place_request *req, struct err *e)
{
    struct share_pool cards;
    struct share_demand d;
    if (pool->sharing.kind == SHARE_WHOLE)
        return true;
    for (int32_t k = 1; pool->sharing.kind == SHARE_MIG && k <= pool->sharing.change_count; k++) {
        struct err other = {0};
        fleet_layout_cards(pool, k, &cards);
        if (req->cards > 0 ? cards_accepted(&cards, req->cards, &other) : fleet_pool_demand(&cards, req, &d, &other))
            return true;
    }
    fleet_pool_cards(pool, &cards);
    return req->cards > 0 ? cards_accepted(&cards, req->cards, e) : fleet_pool_demand(&cards, req, &d, e);
}

/* Milli of one tenant with this demand, rounded up; a slot counts at least its part. */
static int32_t need_milli(const struct share_pool *cards, const struct share_demand *d)
{
    struct share_amounts milli = share_milli_of(cards, &d->amounts);
    int64_t need = milli.axis[SHARE_SLOTS];
    for (int a = SHARE_MEMORY; a < SHARE_AXES; a++)
        need = milli.axis[a] > need ? milli.axis[a] : need;
    return (int32_t)need;
}

int32_t pool_share_need(const struct pool_share *s, const struct place_request *req, struct share_amounts *amounts)
{
    struct share_demand d;
    struct err e = {0};
    *amounts = (struct share_amounts){{0}};
    if (req->cards > 0) { /* whole cards: HAMi's exclusive cards, KAI's; replicas */
        if (!cards_accepted(&s->cards, req->cards, &e))
            return -1;
        if (s->cards.kind != SHARE_MIG)
            return s->cards.replicas > 0 ? SHARE_CARD_MILLI / s->cards.replicas : 0;
    }
    if (!fleet_pool_demand(&s->cards, req, &d, &e))
        return -1;
    *amounts = d.amounts;
    if (s->set_count == 0)
        return need_milli(&s->cards, &d);
    int32_t set = 0;
    while (s->profile[set] != d.profile)
        set++;
    return set;
}

int32_t pool_share_grant(const struct fleet *f, const struct fleet_pool *p, int64_t card,
                         int32_t need_milli)
{
    int32_t replicas = p->share != NULL ? p->share->cards.replicas : 0;
    if (replicas == 0)
        return need_milli;
    int32_t base = SHARE_CARD_MILLI / replicas;
    int32_t spare = f->card_free[card] - (replicas - f->card_tenants[card]) * base;
    return base + (spare > 0);
}

int32_t pool_share_left(const struct fleet *f, const struct fleet_pool *p, int32_t set, int64_t card)
{
    const struct pool_share *s = p->share;
    if (s->made != NULL)
        return s->room[(card - p->first_card) * s->set_count + set];
    return __builtin_popcount(s->members[set] & ~(uint32_t)f->card_busy[card]);
}

int32_t pool_share_free_instance(const struct fleet *f, const struct fleet_pool *p, int64_t card)
{
    if (p->share->made != NULL)
        return mig_pool_next(p->share, &p->share->made[card - p->first_card], p->share->profile[p->set]);
    uint32_t idle = p->share->members[p->set] & ~(uint32_t)f->card_busy[card];
    REQUIRE(idle != 0);
    return __builtin_ctz(idle);
}

int32_t pool_share_per_card(const struct node_pool_config *cfg, const struct place_request *req)
{
    struct pool_share s = {.slots = 0};
    if (cfg->sharing.kind == SHARE_WHOLE)
        return CARD_MILLI / req->share_milli;
    fleet_pool_cards(cfg, &s.cards);
    group_instances(&s);
    struct share_amounts amounts;
    int32_t need = pool_share_need(&s, req, &amounts);
    if (need < 0)
        return 0;
    if (s.cards.mig_dynamic)
        return mig_pool_most(&s.cards, s.profile[need]);
    if (s.set_count > 0)
        return __builtin_popcount(s.members[need]);
    if (s.cards.kind == SHARE_HAMI)
        return card_axes_per_card(&s.cards, &amounts);
    REQUIRE(need > 0); /* 0 is for whole cards, and this is a share */
    int32_t fit = CARD_MILLI / need, slots = s.cards.slots;
    return slots > 0 && slots < fit ? slots : fit;
}
