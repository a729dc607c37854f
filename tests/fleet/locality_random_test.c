/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs with network locality against a plain search over all nodes and domains, and what a decision
 * looks at when the fleet grows.
 */
#include "models/fleet/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/rng.h"

#define NODES 100
#define CARDS 8
#define CPU 96
#define HELD 400

static const int32_t only_pool[1] = {0};

/* What the test knows of the fleet. */
struct shadow {
    int32_t free[NODES];
    int64_t cpu[NODES];
};

static int64_t fits(const struct shadow *s, int32_t node, const struct place_request *req)
{
    int64_t by_cards = s->free[node] / req->cards, by_cpu = s->cpu[node] / req->resources[0];
    return by_cards < by_cpu ? by_cards : by_cpu;
}

/* The nodes lo..hi-1 that the gang gets there, the fullest first, into nodes[]; false: no room. */
static bool fill(const struct shadow *now, const struct place_request *req, int32_t count, int32_t lo, int32_t hi,
                 int32_t *nodes)
{
    struct shadow s = *now;
    for (int32_t i = 0; i < count; i++) {
        int32_t best = -1;
        for (int32_t n = lo; n < hi; n++)
            if (fits(&s, n, req) > 0 && (best < 0 || s.free[n] < s.free[best]))
                best = n;
        if (best < 0)
            return false;
        s.free[best] -= req->cards;
        s.cpu[best] -= req->resources[0];
        nodes[i] = best;
    }
    return true;
}

/* Domains of `size` nodes: the one with least room that is enough. */
static bool search(const struct shadow *s, const struct place_request *req, int32_t count, int32_t size, int32_t *nodes)
{
    int32_t best = -1;
    int64_t least = 0;
    for (int32_t lo = 0; lo < NODES; lo += size) {
        int64_t room = 0;
        for (int32_t n = lo; n < lo + size && n < NODES; n++)
            room += fits(s, n, req);
        if (room >= count && (best < 0 || room < least)) {
            best = lo;
            least = room;
        }
    }
    return best >= 0 && fill(s, req, count, best, best + size < NODES ? best + size : NODES, nodes);
}

/* One node: the fullest that holds all. */
static bool search_node(const struct shadow *s, const struct place_request *req, int32_t count, int32_t *nodes)
{
    int32_t best = -1;
    for (int32_t n = 0; n < NODES; n++)
        if (fits(s, n, req) >= count && (best < 0 || s->free[n] < s->free[best]))
            best = n;
    return best >= 0 && fill(s, req, count, best, best + 1, nodes);
}

struct gang {
    struct lease_id lease;
    struct place_request req;
};

static void place_and_compare(struct fleet *f, struct shadow *s, struct gang *g, int32_t count, bool *held, int *found)
{
    int32_t expected[64], parts;
    bool local = search_node(s, &g->req, count, expected) || search(s, &g->req, count, 3, expected) ||
                 search(s, &g->req, count, 12, expected);
    g->lease = fleet_lease_open(f);
    *held = fleet_place(f, g->lease, &g->req, count, true, true) == count;
    const struct lease_part *p = fleet_lease_parts(f, g->lease, &parts);
    assert_int_equal(parts, *held ? count : 0);
    *found += local && count > 1;
    assert_true(*held || !local);
    for (int32_t i = 0; i < parts; i++) {
        if (local && count > 1)
            assert_int_equal(p[i].node, expected[i]);
        s->free[p[i].node] -= g->req.cards;
        s->cpu[p[i].node] -= g->req.resources[0];
    }
    if (!*held)
        fleet_lease_close(f, g->lease);
}

static void let_go(struct fleet *f, struct shadow *s, const struct gang *g)
{
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(f, g->lease, &parts);
    for (int32_t i = 0; i < parts; i++) {
        s->free[p[i].node] += g->req.cards;
        s->cpu[p[i].node] += g->req.resources[0];
    }
    fleet_lease_close(f, g->lease);
}

/* cpu_sizes: with many there are more shapes than are remembered. */
static void churn_against_search(uint64_t cpu_sizes, uint64_t seed)
{
    static struct network_domain levels[2] = {{"rack", 3, 1}, {"block", 12, 1}}; /* the last ones have one and four nodes */
    struct resource_amount cpu = {0, CPU};
    struct node_pool_config pool = {.name = "p", .node_count = NODES, .cards_per_node = CARDS, .allocatable = &cpu,
                                    .allocatable_count = 1, .domains = levels, .domain_count = 2};
    const char *names[1] = {"cpu"};
    struct fleet_config cfg = {.resources = names, .resource_count = 1, .pools = &pool, .pool_count = 1};
    struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
    fleet_keep_local(f);
    struct shadow s;
    struct gang held[HELD];
    struct rng r;
    int32_t count = 0;
    int found = 0;
    rng_open(&r, seed, 0, 1000, 1);
    for (int32_t n = 0; n < NODES; n++) {
        s.free[n] = CARDS;
        s.cpu[n] = CPU;
    }
    for (int i = 0; i < 6000; i++) {
        if (count > 0 && (count == HELD || rng_below(&r, 100) < 45)) {
            int32_t victim = (int32_t)rng_below(&r, (uint64_t)count);
            let_go(f, &s, &held[victim]);
            held[victim] = held[--count];
            continue;
        }
        struct gang g = {.req = {.pools = only_pool, .pool_count = 1, .prefer_model = -1}};
        bool ok;
        g.req.cards = 1 + (int32_t)rng_below(&r, CARDS);
        g.req.resources[0] = 1 + (int64_t)rng_below(&r, cpu_sizes) * 60 / (int64_t)cpu_sizes;
        place_and_compare(f, &s, &g, 1 + (int32_t)rng_below(&r, 14), &ok, &found);
        if (ok)
            held[count++] = g;
    }
    print_message("# %d gangs compared\n", found);
    assert_true(found > 500);
    fleet_destroy(f);
}

static void every_gang_gets_what_a_search_over_all_domains_finds(void **state)
{
    (void)state;
    churn_against_search(4, 1);
}

static void also_with_more_shapes_than_are_remembered(void **state)
{
    (void)state;
    churn_against_search(60, 2);
}

/* Gangs of 2 to 8 workers on a fleet that is full of them: looks per decision. */
static double looks_per_decision(int32_t nodes)
{
    static struct network_domain levels[2] = {{"rack", 4, 1}, {"block", 32, 1}};
    struct resource_amount cpu = {0, CPU};
    struct node_pool_config pool = {.name = "p", .node_count = nodes, .cards_per_node = CARDS, .allocatable = &cpu,
                                    .allocatable_count = 1, .domains = levels, .domain_count = 2};
    const char *names[1] = {"cpu"};
    struct fleet_config cfg = {.resources = names, .resource_count = 1, .pools = &pool, .pool_count = 1};
    static struct lease_id held[200000];
    struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
    fleet_keep_local(f);
    struct rng r;
    rng_open(&r, 1, 0, 1000, 2);
    int32_t count = 0, decisions = 20000, fill = 2 * nodes;
    int64_t start = 0;
    for (int32_t i = 0; i < fill + decisions; i++) {
        if (i == fill)
            start = fleet_looks(f);
        struct place_request req = {.pools = only_pool, .pool_count = 1, .prefer_model = -1};
        req.cards = 1 << rng_below(&r, 4);
        req.resources[0] = req.cards * (6 + 5 * (int64_t)rng_below(&r, 3)); /* 12 shapes */
        int32_t workers = 2 + (int32_t)rng_below(&r, 7);
        struct lease_id l = fleet_lease_open(f);
        if (fleet_place(f, l, &req, workers, true, true) == workers)
            held[count++] = l;
        else
            fleet_lease_close(f, l);
        if (i >= fill && count > 0) {
            int32_t victim = (int32_t)rng_below(&r, (uint64_t)count);
            fleet_lease_close(f, held[victim]);
            held[victim] = held[--count];
        }
    }
    double looks = (double)(fleet_looks(f) - start) / decisions;
    fleet_destroy(f);
    return looks;
}

static void ten_times_the_nodes_cost_less_than_three_times_the_looks(void **state)
{
    (void)state;
    double small = looks_per_decision(1250), large = looks_per_decision(12500);
    print_message("# %.1f looks per gang with 10,000 cards, %.1f with 100,000\n", small, large);
    assert_true(large <= 3 * small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gang_gets_what_a_search_over_all_domains_finds),
        cmocka_unit_test(also_with_more_shapes_than_are_remembered),
        cmocka_unit_test(ten_times_the_nodes_cost_less_than_three_times_the_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
