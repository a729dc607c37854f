/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement: ten fleets of 10,000 cards, one after the other, and one of 100,000 are filled and then
 * churned (one pod goes, one is tried; as often per card), per rule and kind of pool: cards given out
 * whole and in shares, and cards of four replicas each. What a pod costs may grow by three at most: the
 * cost of a decision does not grow with the number of unchanged nodes.
 */
#include <stdlib.h>

#include "bench/bench.h"
#include "models/fleet/fleet.h"
#include "sim/arena.h"
#include "sim/rng.h"

#define NODE_CARDS 8
#define FILL_TRIES 6  /* pods tried per node: the fleet is full by then */
#define CHURN_TRIES 4 /* then */
#define SMALL_FLEETS 10
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

/* What pods cost. */
struct cost {
    double cpu_s;
    int64_t looks, pods;
};

struct bench_case {
    enum placement_kind kind;
    struct share_config sharing;
    int32_t nodes, fleets;
    uint64_t seed, churn; /* pods tried per fleet after it is full */
};

static struct placing open_fleet(const struct fleet_config *cfg, const struct bench_case *c)
{
    struct placing p = {.fleet = fleet_create(cfg, c->kind, c->seed, 0)};
    p.held = mem_alloc((uint64_t)c->nodes * FILL_TRIES + c->churn, sizeof *p.held);
    make_shapes(p.shapes, c->seed);
    rng_open(&p.rng, c->seed, 0, 1, 12);
    return p;
}

static void run_part(struct placing *p, struct cost *cost, uint64_t pods, bool churn)
{
    double began = bench_cpu_s();
    int64_t looks = fleet_looks(p->fleet);
    for (uint64_t i = 0; i < pods; i++) {
        if (churn)
            drop_one(p);
        try_one(p);
    }
    cost->cpu_s += bench_cpu_s() - began;
    cost->looks += fleet_looks(p->fleet) - looks;
    cost->pods += (int64_t)pods;
}

/* cost[0] of the filling, cost[1] of the churn. */
static void run_case(struct bench_report *report, const struct bench_case *c, struct cost cost[2])
{
    struct resource_amount has[2] = {{0, 96000}, {1, 786432}};
    struct node_pool_config pool = {.name = "p", .node_count = c->nodes, .cards_per_node = NODE_CARDS,
                                    .sharing = c->sharing, .allocatable = has, .allocatable_count = 2};
    const char *names[2] = {"cpu", "memory"}, *parts[2] = {"fill", "churn"};
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = &pool,
                               .pool_count = 1};
    struct arena texts = {0};
    for (int32_t i = 0; i < c->fleets; i++) {
        struct placing p = open_fleet(&cfg, c);
        run_part(&p, &cost[0], (uint64_t)c->nodes * FILL_TRIES, false);
        run_part(&p, &cost[1], c->churn, true);
        free(p.held);
        fleet_destroy(p.fleet);
    }
    for (int i = 0; i < 2; i++)
        bench_add(report, arena_printf(&texts, "%s%s %dk %s", fleet_placement_name(c->kind),
                                       c->sharing.replicas > 0 ? " replicas" : "", c->nodes * NODE_CARDS / 1000, parts[i]),
                  (uint64_t)cost[i].pods, (uint64_t)cost[i].looks, cost[i].cpu_s);
    arena_fini(&texts);
}

static void compare_sizes(struct bench_report *report, struct bench_case c)
{
    struct cost small[2] = {0}, large[2] = {0};
    double time[2], looks[2];
    uint64_t churn = c.churn;
    c.churn = churn / SMALL_FLEETS;
    c.nodes = 10000 / NODE_CARDS;
    c.fleets = SMALL_FLEETS;
    run_case(report, &c, small);
    c.churn = churn;
    c.nodes = 100000 / NODE_CARDS;
    c.fleets = 1;
    run_case(report, &c, large);
    for (int i = 0; i < 2; i++) {
        double pods = (double)large[i].pods / (double)small[i].pods;
        time[i] = large[i].cpu_s / small[i].cpu_s / pods;
        looks[i] = (double)large[i].looks / (double)small[i].looks / pods;
    }
    bench_note(report,
               "%s%s: a pod with 100,000 cards costs %.2f (fill) and %.2f (churn) times as much as "
               "with 10,000; looks %.2f and %.2f times%s",
               fleet_placement_name(c.kind), c.sharing.replicas > 0 ? ", replicas" : "", time[0], time[1], looks[0],
               looks[1], time[0] > WANTED_RATIO || time[1] > WANTED_RATIO ? ": MORE THAN 3" : "");
}

bool bench_place(struct bench_report *report, struct err *e)
{
    (void)e;
    struct bench_case c = {.seed = report->options->seed, .churn = report->options->count};
    if (c.churn == 0)
        c.churn = 100000 / NODE_CARDS * CHURN_TRIES;
    if (c.churn < SMALL_FLEETS)
        c.churn = SMALL_FLEETS;
    for (int k = 0; k < PLACE_KIND_COUNT; k++) {
        c.kind = (enum placement_kind)k;
        c.sharing = (struct share_config){.kind = SHARE_WHOLE};
        compare_sizes(report, c);
        c.sharing = (struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 4};
        compare_sizes(report, c);
    }
    return true;
}
