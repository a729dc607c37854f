/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG instances made on request, against gpu-sharing 1.1 (the table of placements, written anew here), 1.4 (orders
 * of starts) and 1.5 (numbers of layouts).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/catalogue.h"
#include "models/fleet/fleet.h"
#include "models/fleet/preempt.h"
#include "models/fleet/sharing/sharing.h"
#include "sim/rng.h"

/* ---- the spec's table: start of instances on memory slices 0..7 ---- */

#define KINDS 6

struct kind {
    const char *name;
    int compute, size, starts[7], start_count;
};

static const struct kind kinds[KINDS] = {{"1g.5gb", 1, 1, {0, 1, 2, 3, 4, 5, 6}, 7}, {"2g.10gb", 2, 2, {0, 2, 4}, 3},
                                         {"3g.20gb", 3, 4, {0, 4}, 2},               {"4g.20gb", 4, 4, {0}, 1},
                                         {"7g.40gb", 7, 8, {0}, 1},                  {"1g.10gb", 1, 2, {0, 2, 4, 6}, 4}};

static uint32_t slices_of(int kind, int start)
{
    return ((UINT32_C(1) << kinds[kind].size) - 1) << start;
}

/* Digit s, in base 8: 1 + the kind of the instance that starts there, 0: none. */
static uint32_t layout_with(uint32_t layout, int kind, int start)
{
    return layout + ((uint32_t)(kind + 1) << (3 * start));
}

static uint32_t layout_without(uint32_t layout, int kind, int start)
{
    return layout - ((uint32_t)(kind + 1) << (3 * start));
}

static uint32_t taken_by(uint32_t layout)
{
    uint32_t taken = 0;
    for (int s = 0; s < 8; s++)
        if ((layout >> (3 * s) & 7) != 0)
            taken |= slices_of((int)(layout >> (3 * s) & 7) - 1, s);
    return taken;
}

static bool has_start(uint32_t layout, int kind)
{
    for (int i = 0; i < kinds[kind].start_count; i++)
        if ((slices_of(kind, kinds[kind].starts[i]) & taken_by(layout)) == 0)
            return true;
    return false;
}

#define LAYOUTS_MAX 800

struct layouts {
    uint32_t items[LAYOUTS_MAX];
    int count;
};

/* Adds it, unless it is there; its place. */
static int place_of(struct layouts *l, uint32_t layout)
{
    int i = 0;
    while (i < l->count && l->items[i] != layout)
        i++;
    if (i == l->count) {
        assert_true(l->count < LAYOUTS_MAX);
        l->items[l->count++] = layout;
    }
    return i;
}

/* Every layout of the first `n` kinds: from the empty one, all legal additions. */
static void enumerate(struct layouts *l, int n)
{
    l->count = 0;
    (void)place_of(l, 0);
    for (int i = 0; i < l->count; i++)
        for (int k = 0; k < n; k++)
            for (int s = 0; s < kinds[k].start_count; s++)
                if ((slices_of(k, kinds[k].starts[s]) & taken_by(l->items[i])) == 0)
                    (void)place_of(l, layout_with(l->items[i], k, kinds[k].starts[s]));
}

/* ---- creating and destroying on one card ---- */

static struct mig_layout layout_of(const struct mig_card *card, uint32_t layout)
{
    struct mig_layout l = {.count = 0};
    struct err e = {0};
    for (int s = 0; s < 8; s++)
        if ((layout >> (3 * s) & 7) != 0)
            l.items[l.count++] = (struct mig_instance){
                (int8_t)mig_profile_find(card, kinds[(layout >> (3 * s) & 7) - 1].name, &e), (int8_t)s};
    return l;
}

/* Every layout that requests and releases can lead to. */
static int reachable(int n, enum mig_policy policy, struct layouts *l)
{
    const struct mig_card *card = mig_card_find("A100-40");
    struct err e = {0};
    l->count = 0;
    (void)place_of(l, 0);
    for (int i = 0; i < l->count; i++) {
        struct mig_layout at = layout_of(card, l->items[i]);
        for (int k = 0; k < n; k++) {
            int32_t profile = mig_profile_find(card, kinds[k].name, &e), start = mig_next_start(card, &at, profile, policy);
            assert_int_equal(start >= 0, has_start(l->items[i], k));
            assert_int_equal(mig_room(card, &at, profile) > 0, start >= 0);
            if (start >= 0)
                (void)place_of(l, layout_with(l->items[i], k, start));
        }
        for (int s = 0; s < 8; s++)
            if ((l->items[i] >> (3 * s) & 7) != 0)
                (void)place_of(l, layout_without(l->items[i], (int)(l->items[i] >> (3 * s) & 7) - 1, s));
    }
    return l->count;
}

/* No layout is out of reach: a start that the order puts last is taken when instances of the same profile hold the
 * better ones, and those then go. */
static void requests_and_releases_lead_to_all_layouts_and_to_no_other(void **state)
{
    (void)state;
    static struct layouts all, seen;
    enumerate(&all, 5);
    assert_int_equal(all.count, 298);
    for (int policy = 0; policy < 2; policy++) {
        assert_int_equal(reachable(5, policy == 0 ? MIG_HIGH_ODD : MIG_DRIVER, &seen), 298);
        for (int i = 0; i < seen.count; i++)
            (void)place_of(&all, seen.items[i]);
        assert_int_equal(all.count, 298);
    }
    enumerate(&all, 6);
    assert_int_equal(all.count, 723);
    assert_int_equal(reachable(6, MIG_HIGH_ODD, &seen), 723);
}

/* On every card, in whatever state: as many as backtracking finds room for, media engines and maxima included. */
static void room_is_what_a_search_finds(void **state)
{
    (void)state;
    int32_t count;
    const struct mig_card *cards = mig_cards(&count);
    struct rng r;
    rng_open(&r, 11, 0, 1004, 0);
    for (int step = 0; step < 40 * count; step++) {
        const struct mig_card *card = &cards[step % count];
        struct mig_layout l = {.count = 0};
        for (int k = 0; k < 20; k++) {
            int32_t p = (int32_t)rng_below(&r, (uint64_t)card->profile_count), start = mig_next_start(card, &l, p, MIG_HIGH_ODD);
            if (l.count > 0 && rng_below(&r, 3) == 0)
                mig_drop(&l, l.items[rng_below(&r, (uint64_t)l.count)]);
            else if (start >= 0)
                mig_add(card, &l, (struct mig_instance){(int8_t)p, (int8_t)start});
            assert_true(mig_layout_ok(card, &l));
            int32_t wanted[MIG_INSTANCES_MAX] = {p, p, p, p, p, p, p}, n = 0;
            while (n < MIG_INSTANCES_MAX && mig_can_add(card, &l, wanted, n + 1, NULL))
                n++;
            assert_int_equal(mig_room(card, &l, p), n);
        }
    }
}

static void an_instance_is_one_number(void **state)
{
    (void)state;
    for (int32_t p = 0; p < MIG_PROFILES_MAX; p++)
        for (int32_t s = 0; s < 8; s++) {
            struct mig_instance i = mig_of_code(mig_code((struct mig_instance){(int8_t)p, (int8_t)s}));
            assert_int_equal(i.profile, p);
            assert_int_equal(i.start, s);
        }
}

/* ---- a fleet ---- */

static struct resource_amount cpu = {0, 100};
static const char *names[1] = {"cpu"};
static const int32_t only_pool[1] = {0};

struct farm {
    struct node_pool_config pool;
    struct fleet_config cfg;
    struct fleet *f;
};

static void farm_open(struct farm *m, const char *card, int32_t nodes, int32_t cards, bool driver, enum placement_kind kind)
{
    *m = (struct farm){.pool = {.name = "p",
                                .card = catalogue_find_card(catalogue_builtin(), card),
                                .node_count = nodes,
                                .cards_per_node = cards,
                                .allocatable = &cpu,
                                .allocatable_count = 1,
                                .sharing = {.kind = SHARE_MIG, .mig_dynamic = true, .mig_as_driver = driver}}};
    m->cfg = (struct fleet_config){.resources = names, .resource_count = 1, .pools = &m->pool, .pool_count = 1};
    m->f = fleet_create(&m->cfg, kind, 5, 0);
}

static struct place_request request_of(const char *profile)
{
    return (struct place_request){.share_milli = 500, .profile = profile, .pools = only_pool, .pool_count = 1,
                                  .prefer_model = -1};
}

/* The start it got on the only card, or -1. */
static int32_t start_of(struct farm *m, const char *profile, struct lease_id *lease)
{
    struct place_request req = request_of(profile);
    int32_t n;
    *lease = fleet_lease_open(m->f);
    if (fleet_place(m->f, *lease, &req, 1, true, true) == 0)
        return -1;
    return mig_of_code(fleet_lease_parts(m->f, *lease, &n)[0].instance).start;
}

/* One after the other on one empty A100-40; NULL ends the list. */
static void assert_starts(bool driver, const char *const *profiles, const int32_t *starts)
{
    struct farm m;
    struct lease_id lease;
    farm_open(&m, "A100-40", 1, 1, driver, PLACE_BINPACK);
    for (int i = 0; profiles[i] != NULL; i++)
        assert_int_equal(start_of(&m, profiles[i], &lease), starts[i]);
    fleet_destroy(m.f);
}

/* HAMi's TestSelectMigPlacementUsesBalancedPacking, and the driver's orders that the MIG guide shows. */
static void starts_are_those_of_hami_or_of_the_driver(void **state)
{
    (void)state;
    assert_starts(false, (const char *[]){"3g.20gb", "2g.10gb", "1g.5gb", "1g.5gb", NULL}, (int32_t[]){4, 0, 3, 2});
    assert_starts(true, (const char *[]){"3g.20gb", "2g.10gb", NULL}, (int32_t[]){4, 2});
    assert_starts(true, (const char *[]){"2g.10gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", NULL},
                  (int32_t[]){4, 6, 0, 1, 2, 3});
    assert_starts(false, (const char *[]){"1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", NULL},
                  (int32_t[]){6, 5, 4, 3, 2, 1, 0, -1});
    assert_starts(false, (const char *[]){"3g.20gb", "3g.20gb", "1g.5gb", NULL}, (int32_t[]){4, 0, -1});
    assert_starts(false, (const char *[]){"4g.20gb", "4g.20gb", "3g.20gb", "7g.40gb", NULL}, (int32_t[]){0, -1, 4, -1});
    assert_starts(false, (const char *[]){"3g.20gb", "4g.20gb", NULL}, (int32_t[]){4, 0});
    assert_starts(false, (const char *[]){"1g.5gb+me", "1g.5gb+me", "1g.5gb", NULL}, (int32_t[]){6, -1, 5});
    assert_starts(false, (const char *[]){"1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "1g.5gb", NULL}, (int32_t[]){6, 4, 2, 0, -1});
}

/* Slices that are given back are there for another profile; what stays keeps its start. */
static void what_is_released_is_cut_anew(void **state)
{
    (void)state;
    struct farm m;
    struct lease_id a, b, c;
    farm_open(&m, "A100-40", 1, 1, false, PLACE_BINPACK);
    assert_int_equal(start_of(&m, "3g.20gb", &a), 4);
    assert_int_equal(start_of(&m, "3g.20gb", &b), 0);
    assert_int_equal(start_of(&m, "4g.20gb", &c), -1);
    fleet_lease_close(m.f, b);
    assert_int_equal(start_of(&m, "4g.20gb", &b), 0);
    fleet_lease_close(m.f, a);
    assert_int_equal(start_of(&m, "1g.5gb", &a), 6);
    assert_int_equal(start_of(&m, "2g.10gb", &a), 4);
    fleet_destroy(m.f);
}

/* ---- coming and going on several cards ---- */

#define CARDS 12
#define PER_NODE 3
#define LEASES 120

struct held {
    struct lease_id lease;
    int kind, card, start, cpu;
};

struct churn {
    struct farm m;
    struct held held[LEASES];
    int count, refused;
    uint32_t cards[CARDS]; /* layouts */
    int cpu[CARDS / PER_NODE];
};

static bool could(const struct churn *c, int kind, int cpu_asked)
{
    for (int i = 0; i < CARDS; i++)
        if (has_start(c->cards[i], kind) && c->cpu[i / PER_NODE] >= cpu_asked)
            return true;
    return false;
}

/* Milli of a card: the larger of its parts of compute and memory slices (design 3.3). */
static int allocated(uint32_t layout)
{
    int compute = 0;
    for (int s = 0; s < 8; s++)
        compute += (layout >> (3 * s) & 7) != 0 ? kinds[(layout >> (3 * s) & 7) - 1].compute : 0;
    int memory = __builtin_popcount(taken_by(layout));
    return compute * 8 > memory * 7 ? (2000 * compute + 7) / 14 : (2000 * memory + 8) / 16;
}

static void take_one(struct churn *c, struct rng *r, int n)
{
    struct held h = {.kind = (int)rng_below(r, (uint64_t)n), .cpu = (int)rng_below(r, 12)};
    struct place_request req = request_of(kinds[h.kind].name);
    req.resources[0] = h.cpu;
    h.lease = fleet_lease_open(c->m.f);
    int32_t placed = fleet_place(c->m.f, h.lease, &req, 1, true, true), parts;
    assert_int_equal(placed, could(c, h.kind, h.cpu));
    if (placed == 0) {
        fleet_lease_close(c->m.f, h.lease);
        c->refused++;
        return;
    }
    const struct lease_part *p = fleet_lease_parts(c->m.f, h.lease, &parts);
    assert_int_equal(parts, 1);
    h.card = p->node * PER_NODE + p->first_card;
    h.start = mig_of_code(p->instance).start;
    assert_int_equal(slices_of(h.kind, h.start) & taken_by(c->cards[h.card]), 0);
    c->cards[h.card] = layout_with(c->cards[h.card], h.kind, h.start);
    c->cpu[p->node] -= h.cpu;
    c->held[c->count++] = h;
}

static void give_one(struct churn *c, struct rng *r)
{
    int i = (int)rng_below(r, (uint64_t)c->count);
    struct held h = c->held[i];
    fleet_lease_close(c->m.f, h.lease);
    c->cards[h.card] = layout_without(c->cards[h.card], h.kind, h.start);
    c->cpu[h.card / PER_NODE] += h.cpu;
    c->held[i] = c->held[--c->count];
}

static void churn(enum placement_kind kind, bool driver, int n, struct layouts *legal)
{
    struct churn c = {.count = 0};
    struct rng r;
    int expected = legal->count;
    rng_open(&r, 23, 0, 1005, (uint64_t)kind * 2 + driver);
    farm_open(&c.m, "A100-40", CARDS / PER_NODE, PER_NODE, driver, kind);
    for (int i = 0; i < CARDS / PER_NODE; i++)
        c.cpu[i] = 100;
    for (int step = 0; step < 4000; step++) {
        if (c.count == LEASES || (c.count > 0 && rng_below(&r, 100) < 45))
            give_one(&c, &r);
        else
            take_one(&c, &r, n);
        int64_t used = 0;
        for (int i = 0; i < CARDS; i++) {
            (void)place_of(legal, c.cards[i]);
            used += allocated(c.cards[i]);
        }
        assert_int_equal(legal->count, expected); /* no other layout */
        assert_int_equal(fleet_pool_used_milli(c.m.f, 0), used);
    }
    assert_true(c.refused > 100);
    while (c.count > 0)
        give_one(&c, &r);
    assert_int_equal(fleet_pool_used_milli(c.m.f, 0), 0);
    fleet_destroy(c.m.f);
}

static void a_request_is_refused_exactly_when_no_legal_start_is_free(void **state)
{
    (void)state;
    static struct layouts legal;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        enumerate(&legal, 5);
        churn((enum placement_kind)kind, kind % 2 == 1, 5, &legal);
        enumerate(&legal, 6);
        churn((enum placement_kind)kind, kind % 2 == 0, 6, &legal);
    }
}

/* A gang of instances, placed whole or not at all: 2g three to a card. */
static void several_workers_fill_cards(void **state)
{
    (void)state;
    static const struct {
        const char *profile;
        int32_t each;
    } cases[] = {{"1g.5gb", 7}, {"1g.5gb+me", 1}, {"1g.10gb", 4}, {"2g.10gb", 3}, {"3g.20gb", 2}, {"4g.20gb", 1}, {"7g.40gb", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct farm m;
        farm_open(&m, "A100-40", 2, 2, false, PLACE_BINPACK);
        struct place_request req = request_of(cases[i].profile);
        struct lease_id l = fleet_lease_open(m.f);
        int32_t most = 4 * cases[i].each;
        assert_true(fleet_could_place(&m.cfg, &req, most));
        assert_false(fleet_could_place(&m.cfg, &req, most + 1));
        assert_int_equal(fleet_place(m.f, l, &req, most + 1, true, true), 0);
        assert_int_equal(fleet_place(m.f, l, &req, most, true, true), most);
        assert_int_equal(fleet_place(m.f, l, &req, 1, false, false), 0);
        fleet_lease_close(m.f, l);
        assert_int_equal(fleet_place(m.f, l = fleet_lease_open(m.f), &req, most, true, true), most);
        fleet_destroy(m.f);
    }
}

/* The smallest profile that covers the share on both kinds of slices: 1g is 1/7 and 1/8 of the card, its
 * double-memory form 1/7 and 1/4, 2g 2/7 and 1/4, 3g 3/7 and 1/2, 4g 4/7 and 1/2. On the RTX PRO 5000 a plain 1g takes
 * the card's only media engines; three others do without. */
static void a_share_takes_the_smallest_profile_that_covers_it(void **state)
{
    (void)state;
    static const struct {
        const char *card;
        int32_t milli;
        const char *profile;
    } cases[] = {{"A100-40", 1, "1g.5gb"},    {"A100-40", 125, "1g.5gb"},  {"A100-40", 126, "1g.10gb"}, {"A100-40", 143, "1g.10gb"},
                 {"A100-40", 144, "2g.10gb"}, {"A100-40", 250, "2g.10gb"}, {"A100-40", 251, "3g.20gb"}, {"A100-40", 429, "3g.20gb"},
                 {"A100-40", 430, "4g.20gb"}, {"A100-40", 500, "4g.20gb"}, {"A100-40", 501, "7g.40gb"}, {"A100-40", 999, "7g.40gb"},
                 {"A30", 250, "1g.6gb"},      {"A30", 300, "2g.12gb"},     {"RTX-PRO-5000", 250, "1g.12gb-me"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct share_pool cards;
        struct share_demand d;
        struct err e = {0};
        const struct share_config c = {.kind = SHARE_MIG, .mig_dynamic = true};
        assert_true(share_pool_init(&cards, &c, cases[i].card, 40960, &e));
        assert_true(share_demand_make(&cards, &(struct share_request){.milli = cases[i].milli, .cores = -1}, &d, &e));
        assert_string_equal(cards.mig->profiles[d.profile].name, cases[i].profile);
    }
}

/* The packer takes the card with the least room for the profile, the spreader the one with the most. */
static void cards_are_packed_or_spread(void **state)
{
    (void)state;
    for (int kind = PLACE_BINPACK; kind <= PLACE_SPREAD; kind++) {
        struct farm m;
        farm_open(&m, "A100-40", 2, 2, false, (enum placement_kind)kind);
        struct place_request large = request_of("4g.20gb"), small = request_of("1g.5gb");
        struct lease_id l = fleet_lease_open(m.f);
        int32_t n;
        assert_int_equal(fleet_place(m.f, l, &large, 1, true, true), 1);
        assert_int_equal(fleet_place(m.f, l, &small, 2, true, true), 2);
        const struct lease_part *p = fleet_lease_parts(m.f, l, &n);
        bool beside = p[1].node == p[0].node && p[1].first_card == p[0].first_card;
        bool together = p[2].node == p[1].node && p[2].first_card == p[1].first_card;
        assert_int_equal(beside, kind == PLACE_BINPACK);
        assert_int_equal(together, kind == PLACE_BINPACK);
        fleet_destroy(m.f);
    }
}

/* ---- what the mechanism says of one card ---- */

static void the_interface_makes_instances_too(void **state)
{
    (void)state;
    struct share_pool cards;
    static struct share_card card;
    struct share_demand small, large;
    struct err e = {0};
    const struct share_config c = {.kind = SHARE_MIG, .mig_dynamic = true};
    assert_true(share_pool_init(&cards, &c, "A100-40", 40960, &e));
    assert_true(share_demand_make(&cards, &(struct share_request){.profile = "1g.5gb", .cores = -1}, &small, &e));
    assert_true(share_demand_make(&cards, &(struct share_request){.profile = "3g.20gb", .cores = -1}, &large, &e));
    card = (struct share_card){.count = 0};
    for (int32_t i = 0; i < 4; i++)
        share_take(&cards, &card, i, &small); /* 6, 5, 4, 3 */
    assert_false(share_fits(&cards, &card, &large));
    assert_int_equal(card.busy, 0x78);
    share_give(&card, 3);
    assert_true(share_fits(&cards, &card, &large)); /* 0 to 3 */
    share_take(&cards, &card, 9, &large);
    assert_int_equal(card.busy, 0x7f);
    assert_false(share_fits(&cards, &card, &small));
    int32_t milli[SHARE_TENANTS_MAX];
    assert_int_equal(share_allocated(&cards, &card, milli), 875); /* 7 of 8 memory slices; 6 of 7 compute slices */
}

/* ---- preemption ---- */

/* Two 3g, and a 4g wants slices 0 to 3: who lies there goes, whichever is the more important. */
static void only_the_instance_in_the_way_is_preempted(void **state)
{
    (void)state;
    for (int64_t low = 0; low < 2; low++) {
        struct farm m;
        struct lease_id l[2];
        farm_open(&m, "A100-40", 1, 1, false, PLACE_BINPACK);
        assert_int_equal(start_of(&m, "3g.20gb", &l[0]), 4);
        assert_int_equal(start_of(&m, "3g.20gb", &l[1]), 0);
        struct place_request req = request_of("4g.20gb"), all = request_of("7g.40gb");
        struct preempt_pod pods[2];
        int32_t n;
        for (uint32_t i = 0; i < 2; i++)
            pods[i] = (struct preempt_pod){.id = i, .priority = i == low ? 5 : 1, .part = *fleet_lease_parts(m.f, l[i], &n)};
        struct preempt_view *v = preempt_open(m.f);
        preempt_look(v, 0);
        assert_false(preempt_fits(v, &req));
        assert_int_equal(preempt_victims(v, &req, pods, 2), 1);
        assert_int_equal(pods[0].id, 1);
        assert_true(preempt_fits(v, &req));
        preempt_put(v, &req);
        assert_false(preempt_fits(v, &req));
        preempt_look(v, 0);
        assert_int_equal(preempt_victims(v, &all, pods, 2), 2);
        preempt_close(v);
        fleet_destroy(m.f);
    }
}

/* ---- cost ---- */

static int64_t looks_per_change(int32_t nodes)
{
    struct farm m;
    struct rng r;
    struct lease_id held[64];
    rng_open(&r, 31, 0, 1006, 0);
    farm_open(&m, "A100-40", nodes, 8, false, PLACE_BINPACK);
    struct lease_id most = fleet_lease_open(m.f);
    struct place_request one = request_of("2g.10gb");
    (void)fleet_place(m.f, most, &one, nodes * 8, false, false);
    for (int i = 0; i < 64; i++) {
        int32_t got = -1;
        while (got < 0)
            got = start_of(&m, kinds[rng_below(&r, 3)].name, &held[i]);
    }
    int64_t before = fleet_looks(m.f);
    for (int step = 0; step < 2000; step++) {
        int i = (int)rng_below(&r, 64);
        fleet_lease_close(m.f, held[i]);
        assert_true(start_of(&m, kinds[rng_below(&r, 3)].name, &held[i]) >= 0);
    }
    int64_t looks = fleet_looks(m.f) - before;
    fleet_destroy(m.f);
    return looks;
}

/* A hundred times the cards: what is looked at grows by the depth of the sets only. */
static void unchanged_cards_are_not_looked_at(void **state)
{
    (void)state;
    assert_true(looks_per_change(1200) < 3 * looks_per_change(12));
}

/* ---- what cannot be ---- */

static void what_does_not_go_with_it_is_named(void **state)
{
    (void)state;
    static struct share_change change = {.at_ns = 1, .layout = "3g.20gb*2"};
    const struct {
        struct share_config c;
        const char *card, *says;
    } cases[] = {{{.mig_layout = "1g.5gb*7"}, "A100-40", "expected layout, or dynamic: true"},
                 {{.changes = &change, .change_count = 1}, "A100-40", "expected reconfigure, or dynamic: true"},
                 {{.mig_single = true}, "A100-40", "expected mixed with dynamic: true"},
                 {{.mig_single = false}, "L40S", "L40S has no MIG profiles: expected a card with MIG"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct share_pool cards;
        struct err e = {0};
        struct share_config c = cases[i].c;
        c.kind = SHARE_MIG;
        c.mig_dynamic = true;
        assert_false(share_pool_init(&cards, &c, cases[i].card, 40960, &e));
        assert_non_null(strstr(e.text, cases[i].says));
    }
    struct farm m;
    struct err e = {0};
    farm_open(&m, "A100-40", 1, 1, false, PLACE_BINPACK);
    struct place_request other = request_of("1g.10gb+me"), whole = {.cards = 1, .pools = only_pool, .pool_count = 1};
    assert_false(fleet_pool_accepts(&m.pool, &other, &e));
    assert_non_null(strstr(e.text, "expected one of 1g.5gb, 1g.5gb+me, 1g.10gb, 2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb"));
    struct err again = {0};
    assert_false(fleet_pool_accepts(&m.pool, &whole, &again));
    assert_non_null(strstr(again.text, "1 whole cards in a pool under mig: expected a share"));
    fleet_destroy(m.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_releases_lead_to_all_layouts_and_to_no_other),
        cmocka_unit_test(room_is_what_a_search_finds),
        cmocka_unit_test(an_instance_is_one_number),
        cmocka_unit_test(starts_are_those_of_hami_or_of_the_driver),
        cmocka_unit_test(what_is_released_is_cut_anew),
        cmocka_unit_test(a_request_is_refused_exactly_when_no_legal_start_is_free),
        cmocka_unit_test(several_workers_fill_cards),
        cmocka_unit_test(a_share_takes_the_smallest_profile_that_covers_it),
        cmocka_unit_test(cards_are_packed_or_spread),
        cmocka_unit_test(the_interface_makes_instances_too),
        cmocka_unit_test(only_the_instance_in_the_way_is_preempted),
        cmocka_unit_test(unchanged_cards_are_not_looked_at),
        cmocka_unit_test(what_does_not_go_with_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
