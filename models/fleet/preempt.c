/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/preempt.h"

#include <stdlib.h>
#include <string.h>

#include "models/fleet/placement.h"
#include "sim/check.h"

/* One node, copied. */
struct preempt_view {
    struct fleet *fleet;
    const struct pool_share *dynamic; /* of a pool whose MIG instances are made on request, else NULL */
    int32_t pool, cards, free_cards; /* whole cards that are free */
    int64_t amounts[FLEET_RESOURCES_MAX];
    int16_t *left, *tenants;         /* [card of the node] */
    uint8_t *busy;
    struct mig_layout *made;         /* instances made on request */
    int64_t *mib, *cores;            /* [card of the node] left, in pools under HAMi */
    bool shut;                       /* the node gives out nothing at present */
    struct place_request *promised;  /* workers that come first */
    int32_t promised_count;
    size_t promised_capacity;
    struct preempt_view *trial;      /* scratch: this one with them */
};

static struct preempt_view *view_new(const struct fleet *f)
{
    struct preempt_view *v = mem_zalloc(1, sizeof *v);
    int32_t most = 0;
    for (int32_t i = 0; i < f->cfg->pool_count; i++)
        most = f->pools[i].cards_per_node > most ? f->pools[i].cards_per_node : most;
    v->fleet = (struct fleet *)(uintptr_t)f; /* place_ask_make only reads it */
    v->left = mem_alloc((size_t)most + 1, sizeof *v->left);
    v->tenants = mem_alloc((size_t)most + 1, sizeof *v->tenants);
    v->busy = mem_alloc((size_t)most + 1, sizeof *v->busy);
    v->made = mem_alloc((size_t)most + 1, sizeof *v->made);
    v->mib = mem_zalloc((size_t)most + 1, sizeof *v->mib);
    v->cores = mem_zalloc((size_t)most + 1, sizeof *v->cores);
    return v;
}

struct preempt_view *preempt_open(const struct fleet *f)
{
    struct preempt_view *v = view_new(f);
    v->trial = view_new(f);
    return v;
}

void preempt_close(struct preempt_view *v)
{
    if (v == NULL)
        return;
    free(v->left);
    free(v->tenants);
    free(v->busy);
    free(v->made);
    free(v->mib);
    free(v->cores);
    free(v->promised);
    preempt_close(v->trial);
    free(v);
}

int32_t preempt_pool_nodes(const struct fleet *f, int32_t pool, int32_t *first)
{
    *first = f->pools[pool].first_node;
    return f->pools[pool].node_count;
}

static const struct card_axes *axes_of(const struct preempt_view *v)
{
    const struct pool_share *s = v->fleet->pools[v->pool].share;
    return s != NULL ? s->axes : NULL;
}

void preempt_look(struct preempt_view *v, int32_t node)
{
    const struct fleet *f = v->fleet;
    int32_t now = layouts_now(f, node);
    v->shut = now < 0;
    v->promised_count = 0;
    node = v->shut ? node : now;
    int64_t first = node_first_card(f, node);
    v->pool = f->node_pool[node];
    v->cards = f->pools[v->pool].cards_per_node;
    v->free_cards = f->node_free[node];
    for (int32_t r = 0; r < f->resources; r++)
        v->amounts[r] = f->node_amounts[(int64_t)node * f->resources + r];
    memcpy(v->left, f->card_free + first, (size_t)v->cards * sizeof *v->left);
    memcpy(v->tenants, f->card_tenants + first, (size_t)v->cards * sizeof *v->tenants);
    memcpy(v->busy, f->card_busy + first, (size_t)v->cards * sizeof *v->busy);
    const struct fleet_pool *p = &f->pools[v->pool];
    v->dynamic = p->share != NULL && p->share->made != NULL ? p->share : NULL;
    if (v->dynamic != NULL)
        memcpy(v->made, v->dynamic->made + (first - p->first_card), (size_t)v->cards * sizeof *v->made);
    const struct card_axes *a = axes_of(v);
    for (int32_t c = 0; a != NULL && c < v->cards; c++)
        card_axes_left(&f->pools[v->pool], first + c, &v->mib[c], &v->cores[c]);
}

/* sign 1: the share goes. A card that no share is left on can be had whole again. */
static void move_card(struct preempt_view *v, const struct lease_part *part, int sign)
{
    int32_t card = part->first_card;
    const struct card_axes *a = axes_of(v);
    v->free_cards -= v->left[card] == CARD_MILLI;
    v->tenants[card] = (int16_t)(v->tenants[card] - sign);
    v->mib[card] += sign * part->memory_mib;
    v->cores[card] += sign * part->cores;
    v->left[card] = (int16_t)(a != NULL ? card_axes_free(a, v->mib[card], v->cores[card], v->tenants[card])
                                        : v->left[card] + sign * part->milli);
    v->free_cards += v->left[card] == CARD_MILLI;
}

/* sign 1: the instance is destroyed. */
static void move_made(struct preempt_view *v, int32_t card, int32_t code, int sign)
{
    if (sign > 0)
        mig_drop(&v->made[card], mig_of_code(code));
    else
        mig_add(v->dynamic->cards.mig, &v->made[card], mig_of_code(code));
}

/* sign 1: comes free. */
static void move_part(struct preempt_view *v, const struct lease_part *part, int sign)
{
    const int64_t *amounts = v->fleet->shapes.items[part->shape].amounts;
    for (int32_t r = 0; r < v->fleet->resources; r++)
        v->amounts[r] += sign * amounts[r];
    if (part->layout != v->fleet->pools[v->pool].layout)
        return; /* of cards that are cut otherwise by now */
    if (part->instance >= 0 && v->dynamic != NULL)
        move_made(v, part->first_card, part->instance, sign);
    else if (part->instance >= 0)
        v->busy[part->first_card] ^= (uint8_t)(1U << part->instance);
    else if (part->first_card < 0)
        v->free_cards += sign * (part->milli / CARD_MILLI);
    else
        move_card(v, part, sign);
}

void preempt_without(struct preempt_view *v, const struct lease_part *part)
{
    move_part(v, part, 1);
}

void preempt_with(struct preempt_view *v, const struct lease_part *part)
{
    move_part(v, part, -1);
}

static bool slots_taken(const struct pool_share *s, int32_t tenants)
{
    return s != NULL && s->slots > 0 && tenants >= s->slots;
}

/* Milli free on the card, or its free MIG instances that would do; -1 = the share does not fit beside others. */
static int32_t room_on(const struct preempt_view *v, const struct place_ask *ask, int32_t card)
{
    const struct fleet_pool *p = &ask->pool;
    int32_t room = v->left[card];
    if (p->set >= 0 && v->dynamic != NULL)
        room = mig_room(p->share->cards.mig, &v->made[card], p->share->profile[p->set]);
    else if (p->set >= 0)
        room = __builtin_popcount(p->share->members[p->set] & ~(uint32_t)v->busy[card]);
    else if (room == CARD_MILLI || slots_taken(p->share, v->tenants[card]))
        return -1;
    if (axes_of(v) != NULL)
        return card_axes_enough(axes_of(v), p->card_need, v->mib[card], v->cores[card]) ? room : -1;
    return room >= ask->req.share_milli ? room : -1;
}

/* The open card with the least room that holds the share, or -1. */
static int32_t open_card(const struct preempt_view *v, const struct place_ask *ask)
{
    int32_t best = -1, least = INT32_MAX;
    for (int32_t c = 0; c < v->cards; c++) {
        int32_t room = room_on(v, ask, c);
        if (room >= 0 && room < least) {
            least = room;
            best = c;
        }
    }
    return best;
}

static int32_t free_replicas(const struct preempt_view *v)
{
    int32_t n = 0;
    for (int32_t c = 0; c < v->cards; c++)
        n += v->fleet->pools[v->pool].share->slots - v->tenants[c];
    return n;
}

static bool fits(const struct preempt_view *v, const struct place_request *req)
{
    struct place_ask ask;
    if (v->shut || !place_ask_make(v->fleet, v->pool, req, &ask))
        return false;
    for (int32_t r = 0; r < v->fleet->resources; r++)
        if (v->amounts[r] < req->resources[r])
            return false;
    if (ask.replicas > 0)
        return free_replicas(v) >= ask.replicas;
    if (ask.req.share_milli == 0)
        return v->free_cards >= ask.req.cards;
    return open_card(v, &ask) >= 0 || (ask.pool.set < 0 && v->free_cards > 0);
}

void preempt_promised(struct preempt_view *v, const struct place_request *req)
{
    v->promised = mem_grow(v->promised, &v->promised_capacity, (size_t)v->promised_count + 1, sizeof *v->promised);
    v->promised[v->promised_count++] = *req;
}

static void copy(struct preempt_view *to, const struct preempt_view *from)
{
    size_t n = (size_t)from->cards;
    to->dynamic = from->dynamic;
    to->pool = from->pool;
    to->cards = from->cards;
    to->free_cards = from->free_cards;
    to->shut = from->shut;
    memcpy(to->amounts, from->amounts, sizeof to->amounts);
    memcpy(to->left, from->left, n * sizeof *to->left);
    memcpy(to->tenants, from->tenants, n * sizeof *to->tenants);
    memcpy(to->busy, from->busy, n * sizeof *to->busy);
    memcpy(to->made, from->made, n * sizeof *to->made);
    memcpy(to->mib, from->mib, n * sizeof *to->mib);
    memcpy(to->cores, from->cores, n * sizeof *to->cores);
}

/* The worker does not fit: it takes what is there, so that who asks for other things still does. False: it asks for a
 * part of a card, and nobody can say of which. */
static bool put_some(struct preempt_view *v, const struct place_request *req)
{
    struct place_ask ask;
    if (v->shut || !place_ask_make(v->fleet, v->pool, req, &ask) || ask.req.share_milli > 0)
        return false;
    for (int32_t r = 0; r < v->fleet->resources; r++)
        v->amounts[r] -= v->amounts[r] < req->resources[r] ? v->amounts[r] : req->resources[r];
    v->free_cards -= v->free_cards < ask.req.cards ? v->free_cards : ask.req.cards;
    return true;
}

bool preempt_fits(const struct preempt_view *v, const struct place_request *req)
{
    if (v->promised_count == 0)
        return fits(v, req);
    copy(v->trial, v);
    for (int32_t i = 0; i < v->promised_count; i++) {
        if (fits(v->trial, &v->promised[i]))
            preempt_put(v->trial, &v->promised[i]);
        else if (!put_some(v->trial, &v->promised[i]))
            return false;
    }
    return fits(v->trial, req);
}

/* The emptiest cards, as the device plugin takes them (place_replicas.c). */
static void put_replicas(struct preempt_view *v, int32_t count)
{
    const struct pool_share *s = v->fleet->pools[v->pool].share;
    int32_t base = CARD_MILLI / s->cards.replicas;
    for (int32_t i = 0; i < count; i++) {
        int32_t card = 0;
        for (int32_t c = 1; c < v->cards; c++)
            card = v->tenants[c] < v->tenants[card] ? c : card;
        int32_t spare = v->left[card] - (s->cards.replicas - v->tenants[card]) * base;
        move_card(v, &(struct lease_part){.first_card = card, .milli = base + (spare > 0)}, -1);
    }
}

void preempt_put(struct preempt_view *v, const struct place_request *req)
{
    struct place_ask ask;
    REQUIRE(place_ask_make(v->fleet, v->pool, req, &ask));
    for (int32_t r = 0; r < v->fleet->resources; r++)
        v->amounts[r] -= req->resources[r];
    if (ask.replicas > 0) {
        put_replicas(v, ask.replicas);
        return;
    }
    if (ask.req.share_milli == 0) {
        v->free_cards -= ask.req.cards;
        return;
    }
    int32_t card = open_card(v, &ask);
    if (ask.pool.set >= 0 && v->dynamic != NULL) {
        move_made(v, card, mig_pool_next(v->dynamic, &v->made[card], v->dynamic->profile[ask.pool.set]), -1);
        return;
    }
    if (ask.pool.set >= 0) {
        uint32_t idle = ask.pool.share->members[ask.pool.set] & ~(uint32_t)v->busy[card];
        v->busy[card] |= (uint8_t)(idle & -idle);
        return;
    }
    for (int32_t c = 0; card < 0; c++) /* opens one */
        card = v->left[c] == CARD_MILLI ? c : -1;
    struct lease_part part = {.first_card = card,
                              .milli = ask.req.share_milli,
                              .memory_mib = (int32_t)ask.amounts.axis[SHARE_MEMORY],
                              .cores = (int32_t)ask.amounts.axis[SHARE_COMPUTE]};
    move_card(v, &part, -1);
}

/* MoreImportantPod; equal ones by the caller's number. */
static int by_importance(const void *a, const void *b)
{
    const struct preempt_pod *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    if (x->started_ns != y->started_ns)
        return x->started_ns < y->started_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

int32_t preempt_victims(struct preempt_view *v, const struct place_request *req,
                        struct preempt_pod *pods, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        preempt_without(v, &pods[i].part);
    if (count == 0 || !preempt_fits(v, req))
        return 0;
    qsort(pods, (size_t)count, sizeof *pods, by_importance);
    int32_t victims = 0;
    for (int32_t i = 0; i < count; i++) {
        preempt_with(v, &pods[i].part);
        if (preempt_fits(v, req))
            continue;
        preempt_without(v, &pods[i].part);
        struct preempt_pod victim = pods[i];
        pods[i] = pods[victims];
        pods[victims++] = victim;
    }
    return victims;
}

struct preempt_rank preempt_rank_of(const struct preempt_pod *victims, int32_t count)
{
    struct preempt_rank r = {INT64_MIN, 0, count, INT64_MAX};
    for (int32_t i = 0; i < count; i++) {
        const struct preempt_pod *p = &victims[i];
        r.sum += p->priority + INT64_C(2147483648);
        if (p->priority > r.highest) {
            r.highest = p->priority;
            r.earliest_ns = p->started_ns;
        } else if (p->priority == r.highest && p->started_ns < r.earliest_ns) {
            r.earliest_ns = p->started_ns;
        }
    }
    return r;
}

bool preempt_better(const struct preempt_rank *a, const struct preempt_rank *b)
{
    if (a->highest != b->highest)
        return a->highest < b->highest;
    if (a->sum != b->sum)
        return a->sum < b->sum;
    if (a->victims != b->victims)
        return a->victims < b->victims;
    return a->earliest_ns > b->earliest_ns;
}

int32_t preempt_candidates(int32_t nodes)
{
    int32_t n = nodes / 10;
    n = n < 100 ? 100 : n;
    return n < nodes ? n : nodes;
}
