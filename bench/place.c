/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement: a fleet of 10,000 cards and one of 100,000 are filled and then churned (one pod goes,
 * one is tried), per rule. What a pod costs may grow by three at most: the cost of a decision does
 * not grow with the number of unchanged nodes.
 */
#include <stdlib.h>

#include "bench/bench.h"
#include "models/fleet/fleet.h"
#include "sim/arena.h"
#include "sim/rng.h"

#define NODE_CARDS 8
#define FILL_TRIES 6  /* pods tried per node: the fleet is full by then */
#define SHAPES 64
#define WANTED_RATIO 3.0

static const int32_t only_pool[1] = {0};

/* Pods as in openb: shares and whole cards, each with cpu and memory of its own size. */
static void make_shapes(struct place_request *shapes, uint64_t seed)
{
    struct rng r;
    rng_open(&r, seed, 0, 1, 11);
    for (int32_t i = 0; i < SHAPES; i++) {
        struct place_request *s = &shapes[i];
        *s = (struct place_request){.pools = only_pool, .pool_count = 1, .prefer_model = -1};
        if (i % 2 == 0)
            s->share_milli = 10 * (5 + (int32_t)rng_below(&r, 90));
        else
            s->cards = i % 16 == 15 ? 8 : i % 8 == 7 ? 4 : i % 4 == 3 ? 2 : 1;
        int64_t cards = s->cards > 0 ? s->cards : 1;
        s->resources[0] = cards * 500 * (4 + (int64_t)rng_below(&r, 24));
        s->resources[1] = cards * 1024 * (4 + (int64_t)rng_below(&r, 90));
    }
}

struct placing {
    struct fleet *fleet;
    struct place_request shapes[SHAPES];
    struct lease_id *held;
    int32_t count;
    struct rng rng;
};

static void try_one(struct placing *p)
{
    const struct place_request *req = &p->shapes[rng_below(&p->rng, SHAPES)];
    struct lease_id l = fleet_lease_open(p->fleet);
    if (fleet_place(p->fleet, l, req, 1, true, false) == 1)
        p->held[p->count++] = l;
    else
        fleet_lease_close(p->fleet, l);
}

static void drop_one(struct placing *p)
{
    if (p->count == 0)
        return;
    int32_t victim = (int32_t)rng_below(&p->rng, (uint64_t)p->count);
    fleet_lease_close(p->fleet, p->held[victim]);
    p->held[victim] = p->held[--p->count];
}

/* What one pod cost. */
struct cost {
    double cpu_s, looks;
};

static struct cost finish(struct bench_report *report, const char *what, uint64_t pods, double began,
                          int64_t looks)
{
    double cpu_s = bench_cpu_s() - began;
    bench_add(report, what, pods, (uint64_t)looks, cpu_s);
    return (struct cost){cpu_s / (double)pods, (double)looks / (double)pods};
}

/* cost[0] of the filling, cost[1] of the churn. */
static void run_case(struct bench_report *report, enum placement_kind kind, int32_t nodes,
                     struct cost cost[2])
{
    struct resource_amount has[2] = {{0, 96000}, {1, 786432}};
    struct node_pool_config pool = {.name = "p", .node_count = nodes, .cards_per_node = NODE_CARDS,
                                    .allocatable = has, .allocatable_count = 2};
    const char *names[2] = {"cpu", "memory"};
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = &pool,
                               .pool_count = 1};
    uint64_t fill = (uint64_t)nodes * FILL_TRIES;
    uint64_t churn = report->options->count > 0 ? report->options->count : 60000;
    struct placing p = {.fleet = fleet_create(&cfg, kind, report->options->seed, 0)};
    struct arena names_of = {0};
    p.held = mem_alloc(fill + churn, sizeof *p.held);
    make_shapes(p.shapes, report->options->seed);
    rng_open(&p.rng, report->options->seed, 0, 1, 12);
    const char *rule = fleet_placement_name(kind);
    double began = bench_cpu_s();
    for (uint64_t i = 0; i < fill; i++)
        try_one(&p);
    int64_t looks = fleet_looks(p.fleet);
    cost[0] = finish(report, arena_printf(&names_of, "%s %dk fill", rule, nodes * NODE_CARDS / 1000),
                     fill, began, looks);
    began = bench_cpu_s();
    for (uint64_t i = 0; i < churn; i++) {
        drop_one(&p);
        try_one(&p);
    }
    cost[1] = finish(report, arena_printf(&names_of, "%s %dk churn", rule, nodes * NODE_CARDS / 1000),
                     churn, began, fleet_looks(p.fleet) - looks);
    free(p.held);
    fleet_destroy(p.fleet);
    arena_fini(&names_of);
}

bool bench_place(struct bench_report *report, struct err *e)
{
    (void)e;
    for (int k = 0; k < PLACE_KIND_COUNT; k++) {
        struct cost small[2], large[2];
        run_case(report, (enum placement_kind)k, 10000 / NODE_CARDS, small);
        run_case(report, (enum placement_kind)k, 100000 / NODE_CARDS, large);
        double fill = large[0].cpu_s / small[0].cpu_s, churn = large[1].cpu_s / small[1].cpu_s;
        bench_note(report,
                   "%s: a pod with 100,000 cards costs %.2f (fill) and %.2f (churn) times as much as "
                   "with 10,000; looks %.2f and %.2f times%s",
                   fleet_placement_name((enum placement_kind)k), fill, churn,
                   large[0].looks / small[0].looks, large[1].looks / small[1].looks,
                   fill > WANTED_RATIO || churn > WANTED_RATIO ? ": MORE THAN 3" : "");
    }
    return true;
}
