/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fleet against a model that scans plain arrays, and the promises of its contract. */
#include "models/fleet/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/rng.h"

enum { NODES = 40, CARDS = 8, POOLS = 2, LEASES = 60 };

static struct resource_amount node_has[2] = {{0, 64000}, {1, 512}};
static struct node_pool_config pools[POOLS] = {
    {.name = "big", .node_count = 25, .cards_per_node = 8, .allocatable = node_has,
     .allocatable_count = 2, .cache_slots = 2},
    {.name = "small", .node_count = 15, .cards_per_node = 3, .allocatable = node_has,
     .allocatable_count = 2, .cache_slots = 1},
};
static const char *resource_names[2] = {"cpu", "memory"};
static const struct fleet_config config = {.resources = resource_names, .resource_count = 2,
                                           .pools = pools, .pool_count = POOLS};
static const int32_t both_pools[2] = {0, 1};

/* ---- the model: every card and amount in plain arrays, every choice by scanning all nodes ---- */

struct model {
    int32_t whole[NODES];             /* cards in whole leases */
    int32_t share_used[NODES][CARDS];
    int64_t left[NODES][2];
};

static int32_t pool_of(int32_t node)
{
    return node >= 25;
}

static void model_init(struct model *m)
{
    *m = (struct model){0};
    for (int32_t n = 0; n < NODES; n++) {
        m->left[n][0] = 64000;
        m->left[n][1] = 512;
    }
}

static int32_t free_cards(const struct model *m, int32_t n)
{
    int32_t cards = pools[pool_of(n)].cards_per_node, open = 0;
    for (int32_t c = 0; c < cards; c++)
        open += m->share_used[n][c] > 0;
    return cards - open - m->whole[n];
}

static bool amounts_fit(const struct model *m, int32_t n, const struct place_request *req)
{
    return m->left[n][0] >= req->resources[0] && m->left[n][1] >= req->resources[1];
}

/* Best node with `cards` free whole cards; sign 1 = fullest, -1 = emptiest; lowest id first. */
static int32_t scan_whole(const struct model *m, int32_t pool, const struct place_request *req,
                          int32_t cards, int sign)
{
    int32_t best = -1;
    for (int32_t n = 0; n < NODES; n++)
        if (pool_of(n) == pool && free_cards(m, n) >= cards && amounts_fit(m, n, req) &&
            (best < 0 || sign * free_cards(m, n) < sign * free_cards(m, best)))
            best = n;
    return best;
}

/* Open card with the least (sign 1) or largest (-1) free share that fits, lowest id first. */
static int32_t scan_open(const struct model *m, int32_t pool, const struct place_request *req,
                         int sign)
{
    int32_t best = -1, best_free = 0;
    for (int32_t n = 0; n < NODES; n++)
        for (int32_t c = 0; c < CARDS && pool_of(n) == pool; c++) {
            int32_t left = 1000 - m->share_used[n][c];
            if (left < 1000 && left >= req->share_milli && amounts_fit(m, n, req) &&
                (best < 0 || sign * left < sign * best_free)) {
                best = n * CARDS + c;
                best_free = left;
            }
        }
    return best;
}

static int32_t lowest_closed(const struct model *m, int32_t n)
{
    int32_t c = 0;
    while (m->share_used[n][c] > 0)
        c++;
    return c;
}

/* node * CARDS + card of the choice for a share, or -1. */
static int32_t scan_share(const struct model *m, int32_t pool, const struct place_request *req,
                          enum placement_kind kind)
{
    int sign = kind == PLACE_BINPACK ? 1 : -1;
    int32_t open = scan_open(m, pool, req, sign), node = scan_whole(m, pool, req, 1, sign);
    int32_t closed = node < 0 ? -1 : node * CARDS + lowest_closed(m, node);
    if (kind == PLACE_BINPACK)
        return open >= 0 ? open : closed;
    return closed >= 0 ? closed : open;
}

static void model_apply(struct model *m, const struct lease_part *part, const int64_t *amounts,
                        int sign)
{
    if (part->first_card < 0)
        m->whole[part->node] += sign * part->milli / 1000;
    else
        m->share_used[part->node][part->first_card] += sign * part->milli;
    m->left[part->node][0] -= sign * amounts[0];
    m->left[part->node][1] -= sign * amounts[1];
}

static void assert_no_overuse(const struct model *m)
{
    for (int32_t n = 0; n < NODES; n++) {
        assert_true(free_cards(m, n) >= 0);
        assert_true(m->left[n][0] >= 0 && m->left[n][1] >= 0);
        for (int32_t c = 0; c < CARDS; c++)
            assert_in_range(m->share_used[n][c], 0, 1000);
    }
}

static int64_t model_used(const struct model *m, int32_t pool)
{
    int64_t used = 0;
    for (int32_t n = 0; n < NODES; n++) {
        if (pool_of(n) != pool)
            continue;
        used += m->whole[n] * 1000;
        for (int32_t c = 0; c < CARDS; c++)
            used += m->share_used[n][c];
    }
    return used;
}

/* ---- random operations ---- */

struct held {
    bool open;
    struct lease_id id;
    int64_t amounts[64][2]; /* of every part, in order */
};

static struct place_request random_request(struct rng *r)
{
    struct place_request req = {.pools = both_pools, .pool_count = 2, .prefer_model = -1};
    if (rng_below(r, 2) == 0)
        req.cards = 1 + (int32_t)rng_below(r, 4);
    else
        req.share_milli = 50 * (1 + (int32_t)rng_below(r, 18));
    req.resources[0] = (int64_t)rng_below(r, 16000);
    req.resources[1] = (int64_t)rng_below(r, 128);
    return req;
}

/* Asserts that part i was the choice of the rule in the state m (random: that it fits). */
static void assert_choice(const struct model *m, const struct lease_part *part,
                          const struct place_request *req, enum placement_kind kind)
{
    int32_t pool = part->pool;
    assert_int_equal(pool, pool_of(part->node));
    assert_true(amounts_fit(m, part->node, req));
    if (kind == PLACE_RANDOM)
        return;
    if (req->cards > 0) {
        assert_int_equal(part->node,
                         scan_whole(m, pool, req, req->cards, kind == PLACE_BINPACK ? 1 : -1));
        return;
    }
    assert_int_equal(part->node * CARDS + part->first_card, scan_share(m, pool, req, kind));
}

static bool fits_nowhere(const struct model *m, const struct place_request *req)
{
    for (int32_t pool = 0; pool < POOLS; pool++)
        if (req->cards > 0 ? scan_whole(m, pool, req, req->cards, 1) >= 0
                           : scan_share(m, pool, req, PLACE_BINPACK) >= 0)
            return false;
    return true;
}

static void place_random(struct fleet *f, struct model *m, struct held *h, struct rng *r,
                         enum placement_kind kind)
{
    struct place_request req = random_request(r);
    int32_t count = 1 + (int32_t)rng_below(r, 6), before, after;
    bool all = rng_below(r, 2) == 0;
    fleet_lease_parts(f, h->id, &before);
    if (before + count > 64)
        return;
    int32_t placed = fleet_place(f, h->id, &req, count, all, false);
    const struct lease_part *parts = fleet_lease_parts(f, h->id, &after);
    assert_int_equal(after, before + placed);
    assert_true(!all || placed == 0 || placed == count);
    for (int32_t i = before; i < after; i++) {
        assert_choice(m, &parts[i], &req, kind);
        memcpy(h->amounts[i], req.resources, sizeof(h->amounts[i]));
        model_apply(m, &parts[i], req.resources, 1);
    }
    if (placed < count && (!all || count == 1))
        assert_true(fits_nowhere(m, &req));
}

static void release_random(struct fleet *f, struct model *m, struct held *h, struct rng *r)
{
    int32_t count;
    const struct lease_part *parts = fleet_lease_parts(f, h->id, &count);
    int32_t give = (int32_t)rng_below(r, (uint64_t)count + 1);
    for (int32_t i = count - give; i < count; i++)
        model_apply(m, &parts[i], h->amounts[i], -1);
    fleet_release(f, h->id, give);
    if (give == count) {
        fleet_lease_close(f, h->id);
        h->open = false;
    }
}

static void run_random_operations(enum placement_kind kind, uint64_t seed)
{
    struct fleet *f = fleet_create(&config, kind, seed, 0);
    struct model m;
    struct held held[LEASES] = {0};
    struct rng r;
    model_init(&m);
    rng_open(&r, seed, 0, 1000, 2);
    for (int i = 0; i < 20000; i++) {
        struct held *h = &held[rng_below(&r, LEASES)];
        if (!h->open) {
            h->id = fleet_lease_open(f);
            h->open = true;
        }
        if (rng_below(&r, 5) < 3)
            place_random(f, &m, h, &r, kind);
        else
            release_random(f, &m, h, &r);
        assert_no_overuse(&m);
        for (int32_t p = 0; p < POOLS; p++)
            assert_int_equal(fleet_pool_used_milli(f, p), model_used(&m, p));
    }
    fleet_destroy(f);
}

static void binpack_chooses_as_a_full_scan_would(void **state)
{
    (void)state;
    run_random_operations(PLACE_BINPACK, 1);
    run_random_operations(PLACE_BINPACK, 2);
}

static void spread_chooses_as_a_full_scan_would(void **state)
{
    (void)state;
    run_random_operations(PLACE_SPREAD, 3);
    run_random_operations(PLACE_SPREAD, 4);
}

static void random_never_takes_more_than_there_is(void **state)
{
    (void)state;
    run_random_operations(PLACE_RANDOM, 5);
    run_random_operations(PLACE_RANDOM, 6);
}

/* ---- single promises ---- */

static struct place_request whole_cards(int32_t cards)
{
    return (struct place_request){.cards = cards, .pools = both_pools, .pool_count = 2,
                                  .prefer_model = -1};
}

static struct place_request part_of_card(int32_t milli)
{
    return (struct place_request){.share_milli = milli, .pools = both_pools, .pool_count = 2,
                                  .prefer_model = -1};
}

static void a_gang_that_does_not_fit_leaves_no_trace(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        struct fleet *tried = fleet_create(&config, (enum placement_kind)kind, 7, 0);
        struct fleet *fresh = fleet_create(&config, (enum placement_kind)kind, 7, 0);
        struct lease_id a = fleet_lease_open(tried), b = fleet_lease_open(fresh);
        struct place_request big = whole_cards(4), small = part_of_card(300);
        big.resources[0] = 40000; /* cards for two workers per big node, amounts for one */
        assert_int_equal(fleet_place(tried, a, &big, 26, true, false), 0);
        assert_int_equal(fleet_place(tried, a, &big, 26, true, true), 0);
        for (int i = 0; i < 200; i++) {
            int32_t n;
            assert_int_equal(fleet_place(tried, a, &small, 1, true, false), 1);
            assert_int_equal(fleet_place(fresh, b, &small, 1, true, false), 1);
            const struct lease_part *x = fleet_lease_parts(tried, a, &n);
            const struct lease_part *y = fleet_lease_parts(fresh, b, &n);
            assert_int_equal(x[i].node, y[i].node);
            assert_int_equal(x[i].first_card, y[i].first_card);
        }
        fleet_destroy(tried);
        fleet_destroy(fresh);
    }
}

static void one_pool_takes_the_first_pool_that_holds_all(void **state)
{
    (void)state;
    struct fleet *f = fleet_create(&config, PLACE_BINPACK, 1, 0);
    struct lease_id l = fleet_lease_open(f);
    struct place_request req = whole_cards(3);
    const int32_t order[2] = {1, 0};
    req.pools = order;
    int32_t count;
    assert_int_equal(fleet_place(f, l, &req, 16, true, true), 16); /* 15 fit in the small pool */
    const struct lease_part *parts = fleet_lease_parts(f, l, &count);
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(parts[i].pool, 0);
    fleet_release(f, l, -1);
    assert_int_equal(fleet_place(f, l, &req, 16, true, false), 16);
    parts = fleet_lease_parts(f, l, &count);
    assert_int_equal(parts[14].pool, 1);
    assert_int_equal(parts[15].pool, 0);
    fleet_release(f, l, -1);
    assert_int_equal(fleet_place(f, l, &req, 100, false, true), 50);
    fleet_lease_close(f, l);
    fleet_destroy(f);
}

static void shares_of_a_card_never_exceed_it(void **state)
{
    (void)state;
    struct fleet *f = fleet_create(&config, PLACE_BINPACK, 1, 0);
    struct lease_id l = fleet_lease_open(f);
    struct place_request req = part_of_card(334);
    /* two thirds and a bit: two to a card, 245 cards */
    assert_int_equal(fleet_place(f, l, &req, 1000, false, false), 2 * (25 * 8 + 15 * 3));
    struct place_request rest = part_of_card(332);
    assert_int_equal(fleet_place(f, l, &rest, 1000, false, false), 245);
    assert_int_equal(fleet_pool_used_milli(f, 0), fleet_pool_capacity_milli(f, 0));
    fleet_lease_close(f, l);
    assert_int_equal(fleet_pool_used_milli(f, 0), 0);
    assert_int_equal(fleet_pool_largest_free(f, 0), 8);
    fleet_destroy(f);
}

static void a_node_that_caches_the_model_goes_first(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        struct fleet *f = fleet_create(&config, (enum placement_kind)kind, 1, 0);
        struct lease_id l = fleet_lease_open(f);
        struct place_request req = whole_cards(8);
        req.prefer_model = 5;
        int32_t count;
        assert_false(fleet_cache_touch(f, 17, 5));
        assert_int_equal(fleet_place(f, l, &req, 2, true, false), 2);
        const struct lease_part *parts = fleet_lease_parts(f, l, &count);
        assert_int_equal(parts[0].node, 17); /* holds the model */
        assert_int_not_equal(parts[1].node, 17); /* is full now */
        fleet_destroy(f);
    }
}

static void a_node_keeps_the_least_recently_used_models_last(void **state)
{
    (void)state;
    struct fleet *f = fleet_create(&config, PLACE_BINPACK, 1, 0);
    assert_false(fleet_cache_touch(f, 0, 1));
    assert_false(fleet_cache_touch(f, 0, 2));
    assert_true(fleet_cache_touch(f, 0, 1)); /* 2 is the oldest of the two slots now */
    assert_false(fleet_cache_touch(f, 0, 3));
    assert_true(fleet_cache_has(f, 0, 1));
    assert_false(fleet_cache_has(f, 0, 2));
    assert_true(fleet_cache_has(f, 0, 3));
    assert_false(fleet_cache_has(f, 1, 3));
    assert_false(fleet_cache_touch(f, 39, 7)); /* one slot */
    assert_false(fleet_cache_touch(f, 39, 8));
    assert_false(fleet_cache_has(f, 39, 7));
    fleet_destroy(f);
}

static void random_placement_is_uniform_over_what_fits(void **state)
{
    (void)state;
    struct fleet *f = fleet_create(&config, PLACE_RANDOM, 11, 0);
    struct lease_id filler = fleet_lease_open(f), l = fleet_lease_open(f);
    struct place_request five = whole_cards(5);
    const int32_t big_only[1] = {0};
    five.pools = big_only;
    five.pool_count = 1;
    assert_int_equal(fleet_place(f, filler, &five, 20, true, false), 20); /* 5 nodes stay empty */
    int hits[NODES] = {0}, draws = 20000, hit_nodes = 0;
    for (int i = 0; i < draws; i++) {
        int32_t count;
        assert_int_equal(fleet_place(f, l, &five, 1, true, false), 1);
        hits[fleet_lease_parts(f, l, &count)[0].node]++;
        fleet_release(f, l, -1);
    }
    for (int n = 0; n < NODES; n++) {
        if (hits[n] == 0)
            continue;
        hit_nodes++;
        /* binomial(20000, 1/5): mean 4000, standard deviation 56.6; five of them */
        assert_in_range(hits[n], 4000 - 283, 4000 + 283);
    }
    assert_int_equal(hit_nodes, 5);
    fleet_destroy(f);
}

static void equal_operations_give_equal_placements(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        struct fleet *f[2];
        struct lease_id l[2];
        for (int i = 0; i < 2; i++) {
            f[i] = fleet_create(&config, (enum placement_kind)kind, 42, 3);
            l[i] = fleet_lease_open(f[i]);
            struct place_request a = whole_cards(2), b = part_of_card(250);
            fleet_place(f[i], l[i], &a, 40, false, false);
            fleet_place(f[i], l[i], &b, 100, false, false);
            fleet_release(f[i], l[i], 50);
            fleet_place(f[i], l[i], &a, 10, false, false);
        }
        int32_t n0, n1;
        const struct lease_part *x = fleet_lease_parts(f[0], l[0], &n0);
        const struct lease_part *y = fleet_lease_parts(f[1], l[1], &n1);
        assert_int_equal(n0, n1);
        for (int32_t i = 0; i < n0; i++) {
            assert_int_equal(x[i].node, y[i].node);
            assert_int_equal(x[i].first_card, y[i].first_card);
        }
        fleet_destroy(f[0]);
        fleet_destroy(f[1]);
    }
}

static void could_place_knows_the_empty_fleet(void **state)
{
    (void)state;
    struct place_request req = whole_cards(9);
    assert_false(fleet_could_place(&config, &req, 1));
    req = whole_cards(8);
    assert_true(fleet_could_place(&config, &req, 25));
    assert_false(fleet_could_place(&config, &req, 26));
    req = whole_cards(3);
    assert_true(fleet_could_place(&config, &req, 25 * 2 + 15));
    assert_false(fleet_could_place(&config, &req, 25 * 2 + 16));
    req.resources[1] = 300; /* one worker per node by memory */
    assert_true(fleet_could_place(&config, &req, 40));
    assert_false(fleet_could_place(&config, &req, 41));
    req = part_of_card(400);
    assert_true(fleet_could_place(&config, &req, 2 * 245));
    assert_false(fleet_could_place(&config, &req, 2 * 245 + 1));
}

static void parts_stay_where_they_are_while_other_leases_grow(void **state)
{
    (void)state;
    struct fleet *f = fleet_create(&config, PLACE_BINPACK, 1, 0);
    struct lease_id first = fleet_lease_open(f);
    struct place_request req = part_of_card(10);
    int32_t count;
    assert_int_equal(fleet_place(f, first, &req, 1, true, false), 1);
    const struct lease_part *parts = fleet_lease_parts(f, first, &count);
    for (int i = 0; i < 3000; i++) {
        struct lease_id other = fleet_lease_open(f);
        assert_int_equal(fleet_place(f, other, &req, 2, true, false), 2);
    }
    assert_ptr_equal(parts, fleet_lease_parts(f, first, &count));
    assert_int_equal(count, 1);
    fleet_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binpack_chooses_as_a_full_scan_would),
        cmocka_unit_test(spread_chooses_as_a_full_scan_would),
        cmocka_unit_test(random_never_takes_more_than_there_is),
        cmocka_unit_test(a_gang_that_does_not_fit_leaves_no_trace),
        cmocka_unit_test(one_pool_takes_the_first_pool_that_holds_all),
        cmocka_unit_test(shares_of_a_card_never_exceed_it),
        cmocka_unit_test(a_node_that_caches_the_model_goes_first),
        cmocka_unit_test(a_node_keeps_the_least_recently_used_models_last),
        cmocka_unit_test(random_placement_is_uniform_over_what_fits),
        cmocka_unit_test(equal_operations_give_equal_placements),
        cmocka_unit_test(could_place_knows_the_empty_fleet),
        cmocka_unit_test(parts_stay_where_they_are_while_other_leases_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
