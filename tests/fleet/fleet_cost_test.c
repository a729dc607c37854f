/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a placement, counted in words, nodes and cards looked at, hardly grows with the
 * fleet: 100,000 cards against 10,000. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/fleet/catalogue.h"
#include "models/fleet/fleet.h"
#include "sim/rng.h"

#define SMALL_NODES 1250  /* 10,000 cards */
#define LARGE_NODES 12500 /* 100,000 cards */

static const int32_t only_pool[1] = {0};

/* cpu_sizes: how many amounts of cpu there are for each number of cards. */
static struct place_request churn_request(struct rng *r, uint64_t cpu_sizes)
{
    struct place_request req = {.pools = only_pool, .pool_count = 1, .prefer_model = -1};
    if (rng_below(r, 3) == 0)
        req.share_milli = 100 * (1 + (int32_t)rng_below(r, 9));
    else
        req.cards = 1 << rng_below(r, 4);
    req.resources[0] = 1000 * (1 + (int64_t)rng_below(r, cpu_sizes));
    return req;
}

/* Fills the fleet, then churns: mean looks per placement tried. One lease holds one worker. */
static double looks_per_placement(int32_t nodes, enum placement_kind kind, uint64_t cpu_sizes)
{
    struct resource_amount cpu = {0, 96000};
    struct node_pool_config pool = {.name = "p", .node_count = nodes, .cards_per_node = 8,
                                    .allocatable = &cpu, .allocatable_count = 1};
    const char *names[1] = {"cpu"};
    struct fleet_config cfg = {.resources = names, .resource_count = 1, .pools = &pool,
                               .pool_count = 1};
    static struct lease_id held[LARGE_NODES * 8];
    int32_t count = 0, most = nodes * 8, tried = 0;
    struct fleet *f = fleet_create(&cfg, kind, 1, 0);
    struct rng r;
    rng_open(&r, 1, 0, 1000, 3);
    int64_t start = 0;
    for (int32_t i = 0; i < 6 * nodes + 50000; i++) {
        if (i == 6 * nodes) /* full by now */
            start = fleet_looks(f);
        struct place_request req = churn_request(&r, cpu_sizes);
        struct lease_id l = fleet_lease_open(f);
        if (fleet_place(f, l, &req, 1, true, false) == 1 && count < most) {
            held[count++] = l;
        } else {
            fleet_lease_close(f, l);
        }
        tried += i >= 6 * nodes;
        if (i >= 6 * nodes && count > 0) {
            int32_t victim = (int32_t)rng_below(&r, (uint64_t)count);
            fleet_lease_close(f, held[victim]);
            held[victim] = held[--count];
        }
    }
    double looks = (double)(fleet_looks(f) - start) / tried;
    fleet_destroy(f);
    return looks;
}

static void check_growth(enum placement_kind kind, uint64_t cpu_sizes)
{
    double small = looks_per_placement(SMALL_NODES, kind, cpu_sizes);
    double large = looks_per_placement(LARGE_NODES, kind, cpu_sizes);
    print_message("# %s: %.1f looks per placement with 10,000 cards, %.1f with 100,000\n",
                  fleet_placement_name(kind), small, large);
    assert_true(large <= 3 * small);
}

static void binpack_costs_at_most_three_times_as_much(void **state)
{
    (void)state;
    check_growth(PLACE_BINPACK, 24);
}

static void spread_costs_at_most_three_times_as_much(void **state)
{
    (void)state;
    check_growth(PLACE_SPREAD, 24);
}

static void a_random_choice_costs_at_most_three_times_as_much(void **state)
{
    (void)state;
    check_growth(PLACE_RANDOM, 24);
}

static void placement_by_score_costs_at_most_three_times_as_much(void **state)
{
    (void)state;
    check_growth(PLACE_BEST_FIT, 2);
    check_growth(PLACE_FGD, 2);
    check_growth(PLACE_DOT_PRODUCT, 2);
    check_growth(PLACE_CLUSTERING, 2);
    check_growth(PLACE_PACKING, 2);
}

/* Shares under HAMi, heavy in memory or in cores, in a fleet that is full. */
static double looks_per_share(int32_t nodes, enum placement_kind kind)
{
    static const int32_t shapes[][2] = {{60, 10}, {10, 60}, {45, 5}, {5, 45}, {30, 30}, {20, 2}, {2, 20}, {33, 7}};
    static struct lease_id held[LARGE_NODES * 24];
    struct node_pool_config pool = {.name = "p", .node_count = nodes, .cards_per_node = 8, .sharing = {.kind = SHARE_HAMI}};
    struct fleet_config cfg = {.pools = &pool, .pool_count = 1};
    pool.card = catalogue_find_card(catalogue_builtin(), "A100-40");
    struct fleet *f = fleet_create(&cfg, kind, 1, 0);
    int32_t count = 0, most = nodes * 24;
    int64_t start = 0;
    struct rng r;
    rng_open(&r, 5, 0, 1005, 0);
    for (int32_t i = 0; i < most + 20000; i++) {
        const int32_t *s = shapes[rng_below(&r, 8)];
        struct place_request req = {.share_milli = 100, .gpumem_mib = 40960 * s[0] / 100, .gpucores = s[1],
                                    .pools = only_pool, .pool_count = 1, .prefer_model = -1};
        struct lease_id l = fleet_lease_open(f);
        bool placed = fleet_place(f, l, &req, 1, true, false) == 1;
        start = i == most ? fleet_looks(f) : start;
        if (count > 0 && (!placed || count == most)) { /* somebody leaves */
            int32_t victim = (int32_t)rng_below(&r, (uint64_t)count);
            fleet_lease_close(f, held[victim]);
            held[victim] = held[--count];
        }
        if (placed)
            held[count++] = l;
        else
            fleet_lease_close(f, l);
    }
    double looks = (double)(fleet_looks(f) - start) / 20000;
    fleet_destroy(f);
    return looks;
}

static void cards_with_two_budgets_cost_at_most_three_times_as_much(void **state)
{
    (void)state;
    static const enum placement_kind kinds[] = {PLACE_BINPACK, PLACE_SPREAD, PLACE_RANDOM, PLACE_FGD};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double small = looks_per_share(SMALL_NODES, kinds[i]), large = looks_per_share(LARGE_NODES, kinds[i]);
        print_message("# %s, hami: %.1f looks per placement with 10,000 cards, %.1f with 100,000\n",
                      fleet_placement_name(kinds[i]), small, large);
        assert_true(large <= 3 * small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placement_by_score_costs_at_most_three_times_as_much),
        cmocka_unit_test(binpack_costs_at_most_three_times_as_much),
        cmocka_unit_test(a_random_choice_costs_at_most_three_times_as_much),
        cmocka_unit_test(spread_costs_at_most_three_times_as_much),
        cmocka_unit_test(cards_with_two_budgets_cost_at_most_three_times_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
