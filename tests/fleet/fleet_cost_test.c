/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a placement, counted in words, nodes and cards looked at, hardly grows with the
 * fleet: 100,000 cards against 10,000, both filled and then churned as often per card. Looks are the
 * same on every machine; `fleetsim-bench place` has the time. */
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

struct cost_case {
    enum placement_kind kind;
    uint64_t cpu_sizes;      /* how many amounts of cpu there are for each number of cards */
    struct share_config sharing;
};

static struct place_request churn_request(struct rng *r, uint64_t cpu_sizes)
{
    struct place_request req = {.pools = only_pool, .pool_count = 1, .prefer_model = -1};
    if (rng_below(r, 3) == 0)
        req.share_milli = 100 * (1 + (int32_t)rng_below(r, 9));
    else
        req.cards = 1 << rng_below(r, 4);
    req.resources[0] = 1000 * (1 + (int64_t)rng_below(r, cpu_sizes));
    req.resources[1] = 1000 * (1 + (int64_t)rng_below(r, cpu_sizes));
    return req;
}

struct looks {
    double fill, churn; /* per worker tried; one lease holds one worker */
};

static struct looks looks_per_worker(int32_t nodes, const struct cost_case *c)
{
    struct resource_amount has[2] = {{0, 96000}, {1, 96000}};
    struct node_pool_config pool = {.name = "p", .node_count = nodes, .cards_per_node = 8, .sharing = c->sharing,
                                    .allocatable = has, .allocatable_count = 2};
    const char *names[2] = {"cpu", "memory"};
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = &pool, .pool_count = 1};
    static struct lease_id held[LARGE_NODES * 10];
    int32_t count = 0, fill = 6 * nodes, churn = 4 * nodes;
    struct fleet *f = fleet_create(&cfg, c->kind, 1, 0);
    struct rng r;
    rng_open(&r, 1, 0, 1000, 3);
    int64_t filled = 0;
    for (int32_t i = 0; i < fill + churn; i++) {
        if (i == fill)
            filled = fleet_looks(f);
        if (i >= fill && count > 0) {
            int32_t victim = (int32_t)rng_below(&r, (uint64_t)count);
            fleet_lease_close(f, held[victim]);
            held[victim] = held[--count];
        }
        struct place_request req = churn_request(&r, c->cpu_sizes);
        struct lease_id l = fleet_lease_open(f);
        if (fleet_place(f, l, &req, 1, true, false) == 1)
            held[count++] = l;
        else
            fleet_lease_close(f, l);
    }
    struct looks looks = {(double)filled / fill, (double)(fleet_looks(f) - filled) / churn};
    fleet_destroy(f);
    return looks;
}

/* The looks with 100,000 cards are at most so many times those with 10,000. */
static struct looks check_growth(const struct cost_case *c, double most)
{
    struct looks small = looks_per_worker(SMALL_NODES, c), large = looks_per_worker(LARGE_NODES, c);
    print_message("# %s: looks per worker, fill %.2f -> %.2f, churn %.2f -> %.2f\n", fleet_placement_name(c->kind),
                  small.fill, large.fill, small.churn, large.churn);
    assert_true(large.fill <= most * small.fill);
    assert_true(large.churn <= most * small.churn);
    return large;
}

static void rules_by_index_look_at_most_three_times_as_often(void **state)
{
    (void)state;
    check_growth(&(struct cost_case){PLACE_BINPACK, 24, {0}}, 3);
    check_growth(&(struct cost_case){PLACE_SPREAD, 24, {0}}, 3);
    check_growth(&(struct cost_case){PLACE_RANDOM, 24, {0}}, 3);
}

/* 13 shapes of cards and shares, each with 4 amounts of cpu and memory. A worker that comes or goes changes
 * one node, and a shape looks at a change once: at most 2 * 52 scores per worker of the churn. */
static void rules_by_score_look_at_each_change_once_per_shape(void **state)
{
    (void)state;
    for (int kind = PLACE_DOT_PRODUCT; kind <= PLACE_FGD; kind++) {
        struct looks large = check_growth(&(struct cost_case){(enum placement_kind)kind, 2, {0}}, 1.5);
        if (kind != PLACE_FGD) /* expects other pods from time to time, then every node has changed */
            assert_true(large.churn <= 2 * 13 * 4);
    }
}

/* Whole cards are replicas there. Nodes have run out of cpu or of memory before they run out of replicas. */
static void replicas_of_shared_cards_are_found_by_index(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++)
        check_growth(&(struct cost_case){(enum placement_kind)kind, 2,
                                         {.kind = SHARE_TIME_SLICING, .replicas = 4}}, 3);
    struct looks large = check_growth(&(struct cost_case){PLACE_BINPACK, 24,
                                                          {.kind = SHARE_TIME_SLICING, .replicas = 4}}, 3);
    assert_true(large.fill < LARGE_NODES / 100 && large.churn < LARGE_NODES / 100);
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
        cmocka_unit_test(rules_by_index_look_at_most_three_times_as_often),
        cmocka_unit_test(rules_by_score_look_at_each_change_once_per_shape),
        cmocka_unit_test(replicas_of_shared_cards_are_found_by_index),
        cmocka_unit_test(cards_with_two_budgets_cost_at_most_three_times_as_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
