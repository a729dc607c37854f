/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/world_sharing.h"

#include "models/world/world_instances.h"
#include "models/world/world_lora.h"
#include "models/world/world_reconfigure.h"

#include <stdlib.h>
#include <string.h>

#include "sim/check.h"
#include "sim/dmath.h"

/* ---- who is who ---- */

int32_t sharing_tenant(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix]; /* shapes of one kind are one, whoever asks for them */
    if (wl->kind == WL_BASE)
        return w->shapes[wl->shape].source; /* its group's first tenant */
    return wl->kind == WL_REPLICA ? w->s->demand.stream_count + (int32_t)wl->owner : w->jobs[wl->owner].stream;
}

const struct tenant_config *sharing_config(const struct world *w, int32_t tenant)
{
    const struct demand_config *d = &w->s->demand;
    return tenant < d->stream_count ? &d->streams[tenant].tenant : &d->services[tenant - d->stream_count].tenant;
}

const char *sharing_name(const struct world *w, int32_t tenant)
{
    const struct demand_config *d = &w->s->demand;
    return tenant < d->stream_count ? d->streams[tenant].name : d->services[tenant - d->stream_count].name;
}

static double duty_of(const struct world *w, int32_t tenant)
{
    const struct demand_config *d = &w->s->demand;
    bool job = tenant < d->stream_count;
    int32_t share = job ? d->streams[tenant].share_milli : d->services[tenant - d->stream_count].share_milli;
    double duty = sharing_config(w, tenant)->duty;
    return duty > 0 ? duty : share > 0 ? share / 1000.0 : 1.0;
}

enum share_isolation sharing_between(enum share_kind kind)
{
    /* Shares of cards without a mechanism: nothing keeps them apart. */
    return kind == SHARE_WHOLE ? ISOLATION_NONE : share_mechanism_of(kind)->isolation;
}

const struct share_demand *sharing_demand(struct world *w, int32_t tenant, int32_t pool)
{
    struct sharing *sh = w->sharing;
    struct share_demand *d = &sh->demands[tenant * w->s->fleet.pool_count + pool];
    if (d->cards > 0)
        return d;
    const struct demand_config *dc = &w->s->demand;
    bool job = tenant < dc->stream_count;
    int32_t share = job ? dc->streams[tenant].share_milli : dc->services[tenant - dc->stream_count].share_milli;
    bool slice = share > 0 && share < 1000 && w->arb->sharing == SHARING_FRACTION;
    struct place_request req = {.cards = slice ? 0 : 1, .share_milli = slice ? share : 0};
    struct err e = {0};
    source_slice(w->s, tenant, &req);
    bool ok = fleet_pool_demand(&sh->pools[pool].cards, &req, d, &e);
    REQUIRE(ok); /* it was placed there */
    return d;
}

int64_t sharing_card(const struct world *w, const struct lease_part *part)
{
    const struct share_pool_use *u = &w->sharing->pools[part->pool];
    return u->first_card + (part->node - u->first_node) * w->s->fleet.pools[part->pool].cards_per_node +
           part->first_card;
}

/* ---- time integrals of a pool ---- */

void sharing_advance(struct share_pool_use *u, sim_time now)
{
    i128 ns = now - u->since;
    u->use_ns += u->in_use * ns;
    u->tenants_ns += u->tenants * ns;
    u->shared_ns += u->shared * ns;
    u->since = now;
}

static void use_change(struct world *w, int32_t pool, int64_t cards, int64_t tenants, int64_t shared)
{
    struct sharing *sh = w->sharing;
    struct share_pool_use *u = &sh->pools[pool];
    sharing_advance(u, w->now);
    u->in_use += cards;
    u->tenants += tenants;
    u->shared += shared;
    sh->in_use += cards;
    u->peak = u->in_use > u->peak ? u->in_use : u->peak;
    sh->peak = sh->in_use > sh->peak ? sh->in_use : sh->peak;
}

void sharing_base_change(struct world *w, int32_t pool, int64_t tenants, int64_t shared)
{
    use_change(w, pool, 0, tenants, shared);
}

/* ---- slots ---- */

static bool holds(const struct share_place *at, int32_t tenant)
{
    for (size_t i = 0; i < at->count; i++)
        if (at->slots[i].tenant == tenant)
            return true;
    return false;
}

static void slot_add(struct world *w, const struct lease_part *part, uint32_t ix)
{
    struct share_place *at = &w->sharing->places[sharing_card(w, part)];
    int32_t tenant = sharing_tenant(w, ix);
    if (!holds(at, tenant)) {
        sharing_pairs(w, at, tenant, true);
        use_change(w, part->pool, at->count == 0, 1, at->tenants == 1);
        at->tenants++;
    }
    at->slots = mem_grow(at->slots, &at->capacity, at->count + 1, sizeof *at->slots);
    at->slots[at->count++] = (struct share_slot){.wl = ix,
                                                 .fixed = w->wl[ix].kind == WL_BASE,
                                                 .tenant = tenant,
                                                 .instance = part->instance,
                                                 .layout = part->layout,
                                                 .asked = part->milli,
                                                 .granted = part->milli,
                                                 .held = part->milli,
                                                 .axes = sharing_axes(w, part),
                                                 .since = w->now,
                                                 .speed_ppm = SPEED_ONE};
    instance_make(w, part->pool, at, &at->slots[at->count - 1]);
}

/* The first slot of the workload on that card. */
static void slot_remove(struct world *w, const struct lease_part *part, uint32_t ix)
{
    struct share_place *at = &w->sharing->places[sharing_card(w, part)];
    size_t i = 0;
    while (i < at->count && at->slots[i].wl != ix)
        i++;
    REQUIRE(i < at->count);
    int32_t tenant = at->slots[i].tenant;
    if (w->sharing->pools[part->pool].cards.kind != SHARE_WHOLE)
        sharing_count(w, at);
    memmove(at->slots + i, at->slots + i + 1, (at->count - i - 1) * sizeof *at->slots);
    at->count--;
    instance_destroy(w, part->pool, at);
    if (holds(at, tenant))
        return;
    at->tenants--;
    sharing_pairs(w, at, tenant, false);
    use_change(w, part->pool, -(at->count == 0), -1, -(at->tenants == 1));
}

/* ---- what everybody on a card gets ---- */

struct share_split {
    int32_t held, got, lost, speed_ppm;
};

/* The tenants as the speed model sees them. */
static void describe(struct world *w, int32_t pool, const struct share_place *at, struct speed_tenant *t)
{
    const struct share_pool *cards = &w->sharing->pools[pool].cards;
    for (size_t i = 0; i < at->count; i++) {
        const struct share_slot *s = &at->slots[i];
        const struct tenant_config *c = sharing_config(w, s->tenant);
        bool runs = w->wl[s->wl].state == WL_RUNNING;
        t[i] = (struct speed_tenant){.duty = runs ? duty_of(w, s->tenant) : 0,
                                     .demand = c->compute_demand,
                                     .parallel = c->compute_demand, /* gpu-sharing 4.2: p = d */
                                     .bandwidth = c->bandwidth,
                                     .sm_share = 1};
        if (s->fixed)
            t[i].duty = (double)s->granted / SHARE_CARD_MILLI;
        if (cards->kind == SHARE_MIG)
            t[i].sm_share = mig_sm_share(cards->mig, sharing_profile(&w->sharing->pools[pool], s));
        if (cards->kind == SHARE_HAMI)
            t[i].cap = (double)sharing_demand(w, s->tenant, pool)->amounts.axis[SHARE_COMPUTE] / 100;
        if (cards->kind == SHARE_MPS) {
            int32_t percent = 100 / cards->replicas;
            t[i].cap = (double)percent / 100;
        }
    }
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Part of the card each would use if sharing itself cost nothing; rate0: its speed then. */
static void occupancy(const struct share_pool *cards, const struct share_place *at, const struct speed_tenant *t,
                      const double *rate0, double *use)
{
    double wanted = 0;
    int32_t n = (int32_t)at->count;
    for (int32_t i = 0; i < n; i++) {
        double cap = t[i].cap > 0 && t[i].cap < 1 ? t[i].cap : 1;
        switch (cards->kind) {
        case SHARE_MIG: /* its own instance, as long as it computes */
            use[i] = t[i].duty * at->slots[i].granted / SHARE_CARD_MILLI;
            break;
        case SHARE_MPS: /* its threads */
            use[i] = least(cap, t[i].demand) * t[i].duty;
            break;
        case SHARE_HAMI:
        case SHARE_TIME_SLICING:
        case SHARE_KAI:
        case SHARE_WHOLE:
        case SHARE_KINDS:
            use[i] = rate0[i] * t[i].duty;
            break;
        }
        wanted += use[i];
    }
    if (cards->kind == SHARE_MPS && wanted > 1) {
        double want[SPEED_TENANTS_MAX] = {0};
        memcpy(want, use, (size_t)n * sizeof *want);
        speed_maxmin(1, want, NULL, n, use);
    }
}

/* Whole milli-cards, never more than the card. */
static void round_use(const struct share_place *at, const double *use, const double *rate, const double *rate0,
                      struct share_split *split)
{
    int32_t rest = SHARE_CARD_MILLI;
    for (size_t i = 0; i < at->count; i++)
        rest -= at->slots[i].fixed ? at->slots[i].granted : 0;
    for (size_t i = 0; i < at->count; i++) {
        if (at->slots[i].fixed) {
            split[i] = (struct share_split){.got = at->slots[i].granted, .speed_ppm = SPEED_ONE};
            continue;
        }
        int32_t all = (int32_t)dm_round(use[i] * SHARE_CARD_MILLI);
        all = all < rest ? all : rest;
        double kept = rate0[i] > 0 ? least(rate[i] / rate0[i], 1) : 1;
        int32_t got = (int32_t)dm_round(use[i] * kept * SHARE_CARD_MILLI);
        rest -= all;
        split[i].got = got < all ? got : all;
        split[i].lost = all - split[i].got;
        split[i].speed_ppm = (int32_t)dm_round(least(rate[i], 1) * SPEED_ONE);
        if (split[i].speed_ppm < 1)
            split[i].speed_ppm = 1;
    }
}

/* Who uses more than it was granted takes it from what neighbours leave unused, in order of their
 * arrival, then from what is idle. */
static void borrow(const struct share_place *at, struct share_split *split)
{
    int32_t more = 0;
    for (size_t i = 0; i < at->count; i++) {
        int32_t use = split[i].got + split[i].lost, granted = at->slots[i].granted;
        split[i].held = use > granted ? use : granted;
        more += split[i].held - granted;
    }
    for (size_t i = 0; i < at->count && more > 0; i++) {
        int32_t unused = at->slots[i].granted - split[i].got - split[i].lost;
        int32_t taken = unused > more ? more : unused;
        if (taken > 0) {
            split[i].held -= taken;
            more -= taken;
        }
    }
}

/* Requests come whether the card is free or not, and while a replica answers one it computes without a stop: where
 * tenants take turns it is as fast as one with a duty of 1 beside its neighbours' means (processor sharing by the speed
 * that is left; a card's requests never take more than the card). HAMi's limiter works on means: it does not hold a
 * replica back within a request whose own mean is under its cap. */
static void request_speeds(struct world *w, const struct share_pool *cards, const struct share_place *at,
                           struct speed_tenant *t, struct share_split *split)
{
    double rate[SPEED_TENANTS_MAX] = {0};
    if (cards->kind != SHARE_TIME_SLICING && cards->kind != SHARE_KAI && cards->kind != SHARE_HAMI)
        return;
    for (size_t i = 0; i < at->count; i++) {
        if (at->slots[i].fixed || w->wl[at->slots[i].wl].kind != WL_REPLICA || !(t[i].duty > 0))
            continue;
        double duty = t[i].duty;
        t[i].duty = 1;
        t[i].burst = duty <= t[i].cap;
        share_mechanism_of(cards->kind)->rates(t, (int32_t)at->count, &w->s->sharing_model.speed, rate);
        t[i].duty = duty;
        t[i].burst = false;
        split[i].speed_ppm = (int32_t)dm_round(least(rate[i], 1) * SPEED_ONE);
        if (split[i].speed_ppm < 1)
            split[i].speed_ppm = 1;
    }
}

static void divide(struct world *w, int32_t pool, const struct share_place *at, struct share_split *split)
{
    const struct share_pool *cards = &w->sharing->pools[pool].cards;
    struct speed_tenant t[SPEED_TENANTS_MAX];
    double rate[SPEED_TENANTS_MAX] = {0}, rate0[SPEED_TENANTS_MAX] = {0}, use[SPEED_TENANTS_MAX] = {0};
    struct speed_params p = w->s->sharing_model.speed, free_of_cost = p;
    free_of_cost.switch_loss = free_of_cost.hami_overhead = 0;
    free_of_cost.mps_interference = free_of_cost.mig_interference = 0;
    REQUIRE(at->count <= SPEED_TENANTS_MAX);
    describe(w, pool, at, t);
    const struct share_mechanism *m = share_mechanism_of(cards->kind);
    m->rates(t, (int32_t)at->count, &p, rate);
    m->rates(t, (int32_t)at->count, &free_of_cost, rate0);
    occupancy(cards, at, t, rate0, use);
    round_use(at, use, rate, rate0, split);
    request_speeds(w, cards, at, t, split);
    borrow(at, split);
}

/* ---- into the ledger and the clocks ---- */

static void held_change(struct world *w, struct share_slot *s, const struct share_split *n)
{
    struct workload *wl = &w->wl[s->wl];
    int32_t more = n->held - s->held, lost = n->lost - s->lost;
    if (s->fixed)
        return;
    if (more == 0 && n->got == s->got && lost == 0)
        return;
    book_workload(w, s->wl);
    if (wl->kind == WL_REPLICA && wl->state == WL_RUNNING) {
        w->services[wl->owner].ready_milli[wl->pool] += more;
        w->services[wl->owner].ready_lost[wl->pool] += lost;
    }
    wl->milli += more;
    wl->got_milli += n->got - s->got;
    wl->lost_milli += lost;
    w->held_milli[wl->kind] += more;
    if (more != 0) {
        ledger_alloc_change(w->ledger, w->now, (uint32_t)wl->pool, more);
        lora_cards_change(w, s->wl, more);
    }
    s->held = n->held;
    s->got = n->got;
    s->lost = n->lost;
}

void sharing_count(struct world *w, struct share_place *at)
{
    for (size_t i = 0; i < at->count; i++) {
        struct share_slot *s = &at->slots[i];
        struct share_account *a = &w->sharing->accounts[s->tenant];
        a->asked += i128_mcns(s->asked, w->now - s->since);
        a->got += i128_mcns(s->got, w->now - s->since);
        a->lost += i128_mcns(s->lost, w->now - s->since);
        s->since = w->now;
    }
}

/* A workload is as fast as the slowest of its slots. */
static int32_t slowest(const struct world *w, uint32_t ix)
{
    int32_t parts, speed = SPEED_ONE;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    for (int32_t i = 0; i < parts; i++) {
        if (p[i].first_card < 0)
            continue;
        const struct share_place *at = &w->sharing->places[sharing_card(w, &p[i])];
        for (size_t k = 0; k < at->count; k++)
            if (at->slots[k].wl == ix && at->slots[k].speed_ppm < speed)
                speed = at->slots[k].speed_ppm;
    }
    return speed;
}

static void card_settle(struct world *w, int32_t pool, int64_t card)
{
    struct share_place *at = &w->sharing->places[card];
    struct share_split split[SPEED_TENANTS_MAX] = {{0}};
    if (w->sharing->pools[pool].cards.kind == SHARE_WHOLE || at->count == 0)
        return;
    sharing_grant(w, pool, at);
    divide(w, pool, at, split);
    sharing_count(w, at);
    for (size_t i = 0; i < at->count; i++)
        held_change(w, &at->slots[i], &split[i]);
    for (size_t i = 0; i < at->count; i++) {
        if (at->slots[i].speed_ppm == split[i].speed_ppm)
            continue;
        at->slots[i].speed_ppm = split[i].speed_ppm;
        workload_speed_change(w, at->slots[i].wl, slowest(w, at->slots[i].wl));
    }
}

/* Every card of the lease once: the parts of a worker on one card follow each other or not, so a card
 * that comes again is settled again, to the same result. */
static void lease_settle(struct world *w, uint32_t ix)
{
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    for (int32_t i = 0; i < parts; i++)
        if (p[i].first_card >= 0)
            card_settle(w, p[i].pool, sharing_card(w, &p[i]));
}

static void whole_cards(struct world *w, const struct lease_part *part, int32_t sign)
{
    int64_t cards = part->milli / SHARE_CARD_MILLI;
    if (cards > 0)
        use_change(w, part->pool, sign * cards, sign * cards, 0);
}

void sharing_placed(struct world *w, uint32_t ix)
{
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    for (int32_t i = 0; i < parts; i++) {
        if (p[i].first_card < 0)
            whole_cards(w, &p[i], 1);
        else
            slot_add(w, &p[i], ix);
        reconfigure_held(w, &p[i], 1);
        w->wl[ix].sliced |= p[i].first_card >= 0 && w->wl[ix].kind != WL_BASE &&
                            w->sharing->pools[p[i].pool].cards.kind != SHARE_WHOLE;
    }
    lease_settle(w, ix);
}

void sharing_released(struct world *w, uint32_t ix)
{
    int32_t parts;
    struct workload *wl = &w->wl[ix];
    const struct lease_part *p = fleet_lease_parts(w->fleet, wl->lease, &parts);
    for (int32_t i = 0; i < parts; i++) {
        if (p[i].first_card < 0)
            whole_cards(w, &p[i], -1);
        else
            slot_remove(w, &p[i], ix);
        reconfigure_held(w, &p[i], -1);
    }
    wl->sliced = false;
    wl->got_milli = wl->lost_milli = 0;
    wl->speed_ppm = SPEED_ONE;
    lease_settle(w, ix);
}

/* What no longer runs has given its memory back. */
static void forget_memory(struct world *w, uint32_t ix)
{
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    for (int32_t i = 0; i < parts && w->wl[ix].state != WL_RUNNING; i++) {
        if (p[i].first_card < 0)
            continue;
        struct share_place *at = &w->sharing->places[sharing_card(w, &p[i])];
        for (size_t k = 0; k < at->count; k++)
            if (at->slots[k].wl == ix)
                at->slots[k].resident_mib = 0;
    }
}

void sharing_touch(struct world *w, uint32_t ix)
{
    if (w->wl[ix].lease.index1 == 0)
        return;
    if (sharing_config(w, sharing_tenant(w, ix))->memory_bytes > 0)
        forget_memory(w, ix);
    if (w->wl[ix].sliced)
        lease_settle(w, ix);
}

/* ---- life ---- */

const struct fleet_config *sharing_fleet(struct world *w)
{
    const struct fleet_config *f = &w->s->fleet;
    if (w->arb->pool_sharing_count == 0)
        return f;
    struct fleet_config *own = arena_alloc(&w->arena, 1, sizeof *own);
    *own = *f;
    own->pools = arena_alloc(&w->arena, (size_t)f->pool_count, sizeof *own->pools);
    memcpy(own->pools, f->pools, (size_t)f->pool_count * sizeof *own->pools);
    for (int32_t i = 0; i < w->arb->pool_sharing_count; i++)
        own->pools[w->arb->pool_sharings[i].pool].sharing = w->arb->pool_sharings[i].sharing;
    return own;
}

void sharing_init(struct world *w)
{
    const struct fleet_config *f = w->fleet_config;
    struct sharing *sh = mem_zalloc(1, sizeof *sh);
    size_t tenants = (size_t)w->s->demand.stream_count + (size_t)w->s->demand.service_count;
    int64_t node = 0;
    w->sharing = sh;
    sh->pools = mem_zalloc((size_t)f->pool_count + 1, sizeof *sh->pools);
    sh->accounts = mem_zalloc(tenants + 1, sizeof *sh->accounts);
    sh->demands = mem_zalloc(tenants * (size_t)f->pool_count + 1, sizeof *sh->demands);
    for (int32_t p = 0; p < f->pool_count; p++) {
        sh->pools[p].first_node = node;
        sh->pools[p].first_card = sh->card_count;
        fleet_pool_cards(&f->pools[p], &sh->pools[p].cards);
        int32_t later = f->pools[p].sharing.kind == SHARE_MIG ? f->pools[p].sharing.change_count : 0;
        sh->pools[p].later = arena_alloc(&w->arena, (size_t)later + 1, sizeof(struct share_pool));
        for (int32_t k = 0; k < later; k++)
            fleet_layout_cards(&f->pools[p], k + 1, &sh->pools[p].later[k]);
        node += f->pools[p].node_count;
        sh->card_count += (int64_t)f->pools[p].node_count * f->pools[p].cards_per_node;
    }
    sh->places = mem_zalloc((size_t)sh->card_count + 1, sizeof *sh->places);
    for (int64_t c = 0; c < sh->card_count; c++)
        sh->places[c].pairs = -1;
}

void sharing_fini(struct world *w)
{
    struct sharing *sh = w->sharing;
    if (sh == NULL)
        return;
    for (int64_t c = 0; c < sh->card_count; c++)
        free(sh->places[c].slots);
    free(sh->places);
    free(sh->pairs);
    free(sh->pools);
    free(sh->demands);
    free(sh->accounts);
    free(sh);
    w->sharing = NULL;
}
