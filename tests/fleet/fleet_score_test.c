/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Score rules inside the fleet choose the nodes that the packing model of the FGD experiment (which
 * agrees with the published runs) chooses on the same nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/fleet/fleet.h"
#include "models/fleet/score/packing.h"
#include "sim/rng.h"

enum { NODES = 30, CARDS = 8, HELD = 300, SHAPES = 10 };

static struct resource_amount node_has[2] = {{0, 96000}, {1, 512 * 1024}};
static const char *names[2] = {"cpu", "memory"};
static const int32_t only_pool[1] = {0}, all_pools[4] = {0, 1, 2, 3}, two_pools[2] = {1, 3};

/* The same pod in both models. */
struct both {
    struct lease_id lease;
    struct packing_spot spot;
};

struct pair {
    struct fleet *fleet;
    struct packing *packing;
    struct packing_pod pods[SHAPES];
    struct both held[HELD];
    int32_t count;
    bool across; /* several pools; odd shapes go to two of them */
    struct rng rng;
};

static struct packing_pod some_pod(struct rng *r)
{
    struct packing_pod p = {.pod = {.cpu_milli = 1000 * (int64_t)rng_below(r, 24),
                                    .models = SCORE_ANY_MODEL},
                            .memory_mib = 1024 * (int64_t)rng_below(r, 100)};
    switch (rng_below(r, 4)) {
    case 0:
        p.pod.cards = 1 << rng_below(r, 4);
        p.pod.milli = 1000;
        break;
    case 1:
        break;
    default:
        p.pod.cards = 1;
        p.pod.milli = 50 + 10 * (int32_t)rng_below(r, 90);
    }
    return p;
}

static struct place_request request_of(const struct packing_pod *p)
{
    bool share = p->pod.cards == 1 && p->pod.milli < 1000;
    return (struct place_request){.cards = share ? 0 : p->pod.cards,
                                  .share_milli = share ? p->pod.milli : 0,
                                  .resources = {p->pod.cpu_milli, p->memory_mib},
                                  .pools = only_pool,
                                  .pool_count = 1,
                                  .prefer_model = -1};
}

static void place_in_both(struct pair *x)
{
    int32_t k = (int32_t)rng_below(&x->rng, SHAPES), n;
    struct both *b = &x->held[x->count];
    struct place_request req = request_of(&x->pods[k]);
    if (x->across) {
        req.pools = k % 2 == 0 ? all_pools : two_pools;
        req.pool_count = k % 2 == 0 ? 4 : 2;
    }
    b->lease = fleet_lease_open(x->fleet);
    int32_t placed = fleet_place(x->fleet, b->lease, &req, 1, true, x->across);
    b->spot = packing_place(x->packing, k);
    assert_int_equal(placed == 1, b->spot.node >= 0);
    if (placed == 0) {
        fleet_lease_close(x->fleet, b->lease);
        return;
    }
    assert_int_equal(fleet_lease_parts(x->fleet, b->lease, &n)[0].node, b->spot.node);
    x->count++;
}

/* Shares stay: which of two cards that are equally full a share lies on is another in the two
 * models (the fleet gives whole cards no number), and it matters when the share goes. */
static void drop_from_both(struct pair *x)
{
    int32_t i = (int32_t)rng_below(&x->rng, (uint64_t)x->count);
    const struct score_pod *pod = &x->pods[x->held[i].spot.kind].pod;
    if (pod->cards == 1 && pod->milli < 1000)
        return;
    fleet_lease_close(x->fleet, x->held[i].lease);
    packing_take_back(x->packing, x->held[i].spot);
    x->held[i] = x->held[--x->count];
}

/* Random shapes come and go; then both are destroyed. */
static void place_and_drop(struct pair *x, int32_t pools)
{
    for (int k = 0; k < SHAPES; k++) {
        do {
            x->pods[k] = some_pod(&x->rng);
            if (x->across && k % 2 == 1)
                x->pods[k].pod.models = 1 << 1 | 1 << 3;
        } while (packing_add_kind(x->packing, &x->pods[k]) != k);
    }
    for (int step = 0; step < 4000; step++) {
        if (x->count == HELD || (x->count > 0 && rng_below(&x->rng, 20) < 9))
            drop_from_both(x);
        else
            place_in_both(x);
    }
    int64_t used = 0;
    for (int32_t p = 0; p < pools; p++)
        used += fleet_pool_used_milli(x->fleet, p);
    assert_int_equal(used, packing_totals_of(x->packing)->used_milli);
    packing_destroy(x->packing);
    fleet_destroy(x->fleet);
}

static void compare_models(enum placement_kind kind, enum score_kind rule, uint64_t seed)
{
    struct node_pool_config pool = {.name = "p", .node_count = NODES, .cards_per_node = CARDS,
                                    .allocatable = node_has, .allocatable_count = 2};
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = &pool, .pool_count = 1};
    struct packing_node nodes[NODES];
    struct frag_mix none = {.count = 0};
    struct pair x = {.count = 0};
    for (int i = 0; i < NODES; i++)
        nodes[i] = (struct packing_node){96000, 512 * 1024, CARDS, -1};
    x.fleet = fleet_create(&cfg, kind, seed, 0);
    x.packing = packing_create(nodes, NODES, rule, &none, seed);
    rng_open(&x.rng, seed, 0, 1004, (uint64_t)kind);
    place_and_drop(&x, 1);
}

static void the_fleet_chooses_as_the_packing_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        compare_models(PLACE_DOT_PRODUCT, SCORE_DOT_PRODUCT, seed);
        compare_models(PLACE_CLUSTERING, SCORE_CLUSTERING, seed);
        compare_models(PLACE_PACKING, SCORE_PACKING, seed);
        compare_models(PLACE_BEST_FIT, SCORE_BEST_FIT, seed);
    }
}

/* Four pools of different nodes; the model of a node is its pool. */
static void compare_across(enum placement_kind kind, enum score_kind rule, uint64_t seed)
{
    static const struct packing_node kinds[4] = {
        {32000, 131072, 4, 0}, {96000, 393216, 8, 1}, {16000, 122880, 2, 2}, {128000, 786432, 8, 3}};
    struct resource_amount has[4][2];
    struct node_pool_config pools[4];
    struct packing_node nodes[40];
    struct frag_mix none = {.count = 0};
    struct pair x = {.across = true};
    for (int i = 0; i < 4; i++) {
        has[i][0] = (struct resource_amount){0, kinds[i].cpu_milli};
        has[i][1] = (struct resource_amount){1, kinds[i].memory_mib};
        pools[i] = (struct node_pool_config){.name = "p", .node_count = 10, .cards_per_node = kinds[i].cards,
                                             .allocatable = has[i], .allocatable_count = 2};
    }
    for (int i = 0; i < 40; i++)
        nodes[i] = kinds[i / 10];
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = pools, .pool_count = 4};
    x.fleet = fleet_create(&cfg, kind, seed, 0);
    fleet_place_across(x.fleet);
    x.packing = packing_create(nodes, 40, rule, &none, seed);
    rng_open(&x.rng, seed, 0, 1006, (uint64_t)kind);
    place_and_drop(&x, 4);
}

static void across_pools_the_fleet_chooses_as_the_packing_model_among_unlike_nodes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        compare_across(PLACE_DOT_PRODUCT, SCORE_DOT_PRODUCT, seed);
        compare_across(PLACE_CLUSTERING, SCORE_CLUSTERING, seed);
        compare_across(PLACE_PACKING, SCORE_PACKING, seed);
        compare_across(PLACE_BEST_FIT, SCORE_BEST_FIT, seed);
    }
}

/* Fills a fleet with halves, 70 % shares and whole nodes in random order; milli in use when a
 * request of each kind has failed. */
static int64_t packed_milli(enum placement_kind kind)
{
    struct node_pool_config pool = {.name = "p", .node_count = 100, .cards_per_node = CARDS,
                                    .allocatable = node_has, .allocatable_count = 2};
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = &pool, .pool_count = 1};
    struct fleet *f = fleet_create(&cfg, kind, 1, 0);
    struct lease_id l = fleet_lease_open(f);
    struct rng r;
    rng_open(&r, 1, 0, 1005, 0);
    for (int step = 0; step < 3000; step++) {
        uint64_t what = rng_below(&r, 20);
        struct place_request req = {.pools = only_pool, .pool_count = 1, .prefer_model = -1,
                                    .cards = what == 0 ? 8 : 0,
                                    .share_milli = what == 0 ? 0 : what < 10 ? 500 : 700,
                                    .resources = {2000, 1024}};
        fleet_place(f, l, &req, 1, true, false);
    }
    int64_t used = fleet_pool_used_milli(f, 0);
    fleet_lease_close(f, l);
    fleet_destroy(f);
    return used;
}

/* The point of the paper: more of the demand finds room under FGD than under a random choice. */
static void fgd_leaves_fewer_fragments_than_random(void **state)
{
    (void)state;
    int64_t fgd = packed_milli(PLACE_FGD), random = packed_milli(PLACE_RANDOM);
    print_message("# milli-cards in use of 800,000: fgd %lld, random %lld\n", (long long)fgd,
                  (long long)random);
    assert_true(fgd > random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fleet_chooses_as_the_packing_model),
        cmocka_unit_test(across_pools_the_fleet_chooses_as_the_packing_model_among_unlike_nodes),
        cmocka_unit_test(fgd_leaves_fewer_fragments_than_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
