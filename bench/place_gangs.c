/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs of 2 to 16 workers on a fleet of 10,000 cards and one of 100,000, filled and then churned (one
 * goes, one is tried), with network locality and without: what a worker costs may grow by three at most.
 */
#include <stdlib.h>

#include "bench/bench.h"
#include "models/fleet/fleet.h"
#include "sim/arena.h"
#include "sim/rng.h"

#define NODE_CARDS 8
#define SHAPES 24 /* of workers */
#define WORKERS_MAX 16
#define WANTED_RATIO 3.0

static const int32_t only_pool[1] = {0};

struct gang {
    struct lease_id lease;
    int32_t workers;
};

struct placing {
    struct fleet *fleet;
    struct place_request shapes[SHAPES];
    struct gang *held;
    int32_t count;
    uint64_t tried, placed; /* workers */
    struct rng rng;
};

/* Per card 4 to 12 cores and 24 to 96 GiB; a node has 96 and 768. */
static void make_shapes(struct placing *p)
{
    for (int32_t i = 0; i < SHAPES; i++) {
        struct place_request *s = &p->shapes[i];
        *s = (struct place_request){.pools = only_pool, .pool_count = 1, .prefer_model = -1, .cards = 1 << i % 4};
        s->resources[0] = s->cards * 1000 * (4 + (int64_t)rng_below(&p->rng, 9));
        s->resources[1] = s->cards * 1024 * (24 + (int64_t)rng_below(&p->rng, 73));
    }
}

static void try_one(struct placing *p)
{
    const struct place_request *req = &p->shapes[rng_below(&p->rng, SHAPES)];
    struct gang g = {fleet_lease_open(p->fleet), 2 + (int32_t)rng_below(&p->rng, WORKERS_MAX - 1)};
    p->tried += (uint64_t)g.workers;
    if (fleet_place(p->fleet, g.lease, req, g.workers, true, true) == g.workers) {
        p->held[p->count++] = g;
        p->placed += (uint64_t)g.workers;
    } else {
        fleet_lease_close(p->fleet, g.lease);
    }
}

static void drop_one(struct placing *p)
{
    if (p->count == 0)
        return;
    int32_t victim = (int32_t)rng_below(&p->rng, (uint64_t)p->count);
    fleet_lease_close(p->fleet, p->held[victim].lease);
    p->held[victim] = p->held[--p->count];
}

struct cost {
    double cpu_s, looks; /* of a worker */
};

static struct cost measure(struct bench_report *report, struct placing *p, const char *what, uint64_t gangs, bool churn)
{
    double began = bench_cpu_s();
    int64_t looks = fleet_looks(p->fleet);
    p->tried = 0;
    for (uint64_t i = 0; i < gangs; i++) {
        if (churn)
            drop_one(p);
        try_one(p);
    }
    double cpu_s = bench_cpu_s() - began;
    looks = fleet_looks(p->fleet) - looks;
    bench_add(report, what, p->tried, (uint64_t)looks, cpu_s);
    return (struct cost){cpu_s / (double)p->tried, (double)looks / (double)p->tried};
}

/* cost[0] of the filling, cost[1] of the churn. */
static void run_case(struct bench_report *report, bool local, int32_t nodes, struct cost cost[2])
{
    struct resource_amount has[2] = {{0, 96000}, {1, 786432}};
    struct network_domain levels[2] = {{"rack", 4, 1}, {"block", 32, 1}};
    struct node_pool_config pool = {.name = "p", .node_count = nodes, .cards_per_node = NODE_CARDS,
                                    .allocatable = has, .allocatable_count = 2,
                                    .domains = levels, .domain_count = 2};
    const char *names[2] = {"cpu", "memory"};
    struct fleet_config cfg = {.resources = names, .resource_count = 2, .pools = &pool, .pool_count = 1};
    uint64_t fill = (uint64_t)nodes, churn = report->options->count > 0 ? report->options->count : 60000;
    struct placing p = {.fleet = fleet_create(&cfg, PLACE_BINPACK, report->options->seed, 0)};
    struct arena names_of = {0};
    if (local)
        fleet_keep_local(p.fleet);
    p.held = mem_alloc(fill + churn, sizeof *p.held);
    rng_open(&p.rng, report->options->seed, 0, 1, 13);
    make_shapes(&p);
    const char *rule = local ? "local" : "binpack";
    cost[0] = measure(report, &p, arena_printf(&names_of, "%s %dk fill", rule, nodes * NODE_CARDS / 1000), fill, false);
    cost[1] = measure(report, &p, arena_printf(&names_of, "%s %dk churn", rule, nodes * NODE_CARDS / 1000), churn, true);
    free(p.held);
    fleet_destroy(p.fleet);
    arena_fini(&names_of);
}

bool bench_place_gangs(struct bench_report *report, struct err *e)
{
    (void)e;
    for (int local = 0; local < 2; local++) {
        struct cost small[2], large[2];
        run_case(report, local == 1, 10000 / NODE_CARDS, small);
        run_case(report, local == 1, 100000 / NODE_CARDS, large);
        double fill = large[0].cpu_s / small[0].cpu_s, churn = large[1].cpu_s / small[1].cpu_s;
        bench_note(report,
                   "%s: a worker of a gang with 100,000 cards costs %.2f (fill) and %.2f (churn) times as much as with "
                   "10,000; looks %.2f and %.2f times%s",
                   local == 1 ? "networkLocality" : "binpack", fill, churn, large[0].looks / small[0].looks,
                   large[1].looks / small[1].looks, fill > WANTED_RATIO || churn > WANTED_RATIO ? ": MORE THAN 3" : "");
    }
    return true;
}
