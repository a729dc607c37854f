/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HAMi cards with two budgets, memory and cores, in a fleet: gpu-sharing 2.2 and 2.3, by hand and by full scan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/fleet/catalogue.h"
#include "models/fleet/fleet.h"
#include "models/fleet/preempt.h"
#include "sim/rng.h"

#define CARD_MIB 40960 /* A100-40 */
#define PERCENT(p) ((p) * CARD_MIB / 100)

static struct resource_amount cpu = {0, 100000};
static const char *names[1] = {"cpu"};
static const int32_t only_pool[1] = {0};

static struct node_pool_config pool_of(int32_t nodes, int32_t cards, int32_t slots)
{
    return (struct node_pool_config){.name = "p",
                                     .card = catalogue_find_card(catalogue_builtin(), "A100-40"),
                                     .node_count = nodes,
                                     .cards_per_node = cards,
                                     .allocatable = &cpu,
                                     .allocatable_count = 1,
                                     .sharing = {.kind = SHARE_HAMI, .slots = slots}};
}

static struct fleet *fleet_of(struct fleet_config *cfg, struct node_pool_config *pool, enum placement_kind kind)
{
    *cfg = (struct fleet_config){.resources = names, .resource_count = 1, .pools = pool, .pool_count = 1};
    return fleet_create(cfg, kind, 1, 0);
}

static struct place_request asks(int32_t mib, int32_t cores)
{
    return (struct place_request){.share_milli = 100, .gpumem_mib = mib, .gpucores = cores, .pools = only_pool,
                                  .pool_count = 1, .prefer_model = -1};
}

/* A new lease with one worker; index1 0 = it found no place. */
static struct lease_id place(struct fleet *f, struct place_request req)
{
    struct lease_id l = fleet_lease_open(f);
    if (fleet_place(f, l, &req, 1, true, true) == 1)
        return l;
    fleet_lease_close(f, l);
    return (struct lease_id){0};
}

static bool fits(struct fleet *f, int32_t mib, int32_t cores)
{
    struct lease_id l = place(f, asks(mib, cores));
    if (l.index1 != 0)
        fleet_lease_close(f, l);
    return l.index1 != 0;
}

/* ---- one card ---- */

static void a_card_holds_a_memory_heavy_and_a_core_heavy_tenant(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        struct node_pool_config pool = pool_of(1, 1, 0);
        struct fleet_config cfg;
        struct fleet *f = fleet_of(&cfg, &pool, (enum placement_kind)kind);
        struct lease_id a = place(f, asks(PERCENT(60), 10)), b = place(f, asks(PERCENT(10), 60));
        int32_t n;
        assert_int_not_equal(a.index1, 0);
        assert_int_not_equal(b.index1, 0);
        assert_int_equal(fleet_pool_used_milli(f, 0), 700); /* 70 % of either budget */
        assert_int_equal(fleet_lease_parts(f, a, &n)->milli, 600);
        assert_int_equal(fleet_lease_parts(f, b, &n)->milli, 600);
        assert_true(fits(f, PERCENT(30), 30));
        assert_false(fits(f, PERCENT(31), 30));
        assert_false(fits(f, PERCENT(30), 31));
        fleet_lease_close(f, a);
        assert_int_equal(fleet_pool_used_milli(f, 0), 600);
        assert_true(fits(f, PERCENT(90), 40));
        assert_false(fits(f, PERCENT(90), 41));
        fleet_lease_close(f, b);
        assert_int_equal(fleet_pool_used_milli(f, 0), 0);
        assert_true(fits(f, CARD_MIB, 100));
        fleet_destroy(f);
    }
}

static void two_memory_heavy_tenants_do_not_fit(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        struct node_pool_config pool = pool_of(1, 1, 0);
        struct fleet_config cfg;
        struct fleet *f = fleet_of(&cfg, &pool, (enum placement_kind)kind);
        struct lease_id a = place(f, asks(PERCENT(60), 10));
        assert_int_not_equal(a.index1, 0);
        assert_false(fits(f, PERCENT(50), 10));
        assert_true(fits(f, CARD_MIB - PERCENT(60), 10)); /* to the MiB */
        assert_false(fits(f, CARD_MIB - PERCENT(60) + 1, 10));
        fleet_lease_close(f, a);
        fleet_destroy(f);
    }
}

/* deviceSplitCount 2: the third tenant finds no slot, with 80 % of both budgets left. */
static void slots_run_out_before_the_budgets(void **state)
{
    (void)state;
    struct node_pool_config pool = pool_of(1, 1, 2);
    struct fleet_config cfg;
    struct fleet *f = fleet_of(&cfg, &pool, PLACE_BINPACK);
    struct place_request small = asks(PERCENT(10), 10);
    struct lease_id a = place(f, small), b = place(f, small);
    assert_int_not_equal(b.index1, 0);
    assert_false(fits(f, PERCENT(10), 10));
    assert_true(fleet_could_place(&cfg, &small, 2));
    assert_false(fleet_could_place(&cfg, &small, 3));
    fleet_lease_close(f, a);
    assert_true(fits(f, PERCENT(90), 90));
    fleet_lease_close(f, b);
    fleet_destroy(f);
}

/* 100 cores need a card without tenants, even beside one that reserves no core, and keep all others away; no cores
 * need a card with a core left. */
static void all_cores_are_exclusive_and_no_cores_need_one_left(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        struct node_pool_config pool = pool_of(1, 1, 0);
        struct fleet_config cfg;
        struct fleet *f = fleet_of(&cfg, &pool, (enum placement_kind)kind);
        struct lease_id none = place(f, asks(1000, 0));
        assert_false(fits(f, 1000, 100));
        assert_true(fits(f, 1000, 99));
        fleet_lease_close(f, none);
        struct lease_id all = place(f, asks(1000, 100));
        assert_int_not_equal(all.index1, 0);
        assert_false(fits(f, 1000, 0));
        assert_false(fits(f, 1000, 1));
        fleet_lease_close(f, all);
        struct lease_id a = place(f, asks(1000, 60)), b = place(f, asks(1000, 39));
        assert_true(fits(f, 1000, 0));
        struct lease_id c = place(f, asks(1000, 1));
        assert_false(fits(f, 1000, 0));
        fleet_lease_close(f, a);
        fleet_lease_close(f, b);
        fleet_lease_close(f, c);
        struct place_request shape = asks(1000, 100);
        assert_true(fleet_could_place(&cfg, &shape, 1));
        assert_false(fleet_could_place(&cfg, &shape, 2));
        fleet_destroy(f);
    }
}

/* ---- against a full scan ---- */

#define NODES 5
#define CARDS 3
#define ALL (NODES * CARDS)
#define LEASES 60
#define SLOTS 4

struct model {
    int32_t mib[ALL], cores[ALL], tenants[ALL], memory[ALL]; /* memory in milli, each tenant's rounded up */
    int32_t whole[NODES];
    int64_t cpu[NODES];
};

struct amounts {
    int32_t mib, cores;
};

/* gpu-sharing 2.1: what the fields mean on this card. */
static struct amounts amounts_of(const struct place_request *req)
{
    if (req->gpumem_mib > 0)
        return (struct amounts){req->gpumem_mib, req->gpucores};
    if (req->gpucores > 0)
        return (struct amounts){CARD_MIB, req->gpucores};
    return (struct amounts){CARD_MIB * req->share_milli / 1000, (req->share_milli + 9) / 10};
}

static int32_t idle_on(const struct model *m, int32_t node)
{
    int32_t n = CARDS - m->whole[node];
    for (int32_t c = node * CARDS; c < (node + 1) * CARDS; c++)
        n -= m->tenants[c] > 0;
    return n;
}

static bool card_holds(const struct model *m, int32_t c, struct amounts a)
{
    return m->tenants[c] > 0 && m->tenants[c] < SLOTS && m->mib[c] + a.mib <= CARD_MIB &&
           m->cores[c] + a.cores <= 100 && a.cores < 100 && (a.cores > 0 || m->cores[c] < 100);
}

/* What the fuller budget leaves, in milli. */
static int32_t left_on(const struct model *m, int32_t c)
{
    int32_t memory = (int32_t)((int64_t)(CARD_MIB - m->mib[c]) * 1000 / CARD_MIB), cores = (100 - m->cores[c]) * 10;
    int32_t least = memory < cores ? memory : cores;
    return least < 999 ? least : 999;
}

static int64_t used_of(const struct model *m)
{
    int64_t used = 0;
    for (int32_t n = 0; n < NODES; n++)
        used += m->whole[n] * 1000;
    for (int32_t c = 0; c < ALL; c++) {
        int32_t most = m->tenants[c] * (1000 / SLOTS);
        most = m->memory[c] > most ? m->memory[c] : most;
        most = m->cores[c] * 10 > most ? m->cores[c] * 10 : most;
        used += most < 1000 ? most : 1000;
    }
    return used;
}

/* The best card in use, and the best node with an idle one; -1 = none. */
struct found {
    int32_t open, node;
};

/* Best for binpack (sign 1: least left) or spread (-1: most left), lowest number among equals. */
static struct found scan(const struct model *m, const struct place_request *req, int sign)
{
    struct found best = {-1, -1};
    struct amounts a = amounts_of(req);
    for (int32_t c = 0; c < ALL; c++) {
        if (m->cpu[c / CARDS] < req->resources[0] || !card_holds(m, c, a))
            continue;
        if (best.open < 0 || sign * left_on(m, c) < sign * left_on(m, best.open))
            best.open = c;
    }
    for (int32_t n = 0; n < NODES; n++) {
        if (m->cpu[n] < req->resources[0] || idle_on(m, n) < (req->cards > 0 ? req->cards : 1))
            continue;
        if (best.node < 0 || sign * idle_on(m, n) < sign * idle_on(m, best.node))
            best.node = n;
    }
    return best;
}

static void move(struct model *m, const struct lease_part *p, int64_t cpu_milli, int sign)
{
    m->cpu[p->node] -= sign * cpu_milli;
    if (p->first_card < 0) {
        m->whole[p->node] += sign * p->milli / 1000;
        return;
    }
    int32_t c = p->node * CARDS + p->first_card;
    m->mib[c] += sign * p->memory_mib;
    m->cores[c] += sign * p->cores;
    m->tenants[c] += sign;
    m->memory[c] += sign * ((p->memory_mib * 1000 + CARD_MIB - 1) / CARD_MIB);
}

/* The worker lies where it may, and under binpack and spread where the scan says. */
static void check_choice(const struct model *m, const struct place_request *req, const struct lease_part *p,
                         enum placement_kind kind)
{
    struct amounts a = amounts_of(req);
    struct found best = scan(m, req, kind == PLACE_SPREAD ? -1 : 1);
    int32_t c = p->node * CARDS + p->first_card;
    assert_true(m->cpu[p->node] >= req->resources[0]);
    if (req->cards > 0) {
        assert_true(idle_on(m, p->node) >= req->cards);
        return;
    }
    assert_int_equal(p->memory_mib, a.mib);
    assert_int_equal(p->cores, a.cores);
    assert_true(m->tenants[c] > 0 ? card_holds(m, c, a) : idle_on(m, p->node) > 0);
    if (kind > PLACE_SPREAD)
        return;
    bool open = kind == PLACE_BINPACK ? best.open >= 0 : best.node < 0;
    assert_int_equal(open ? c : p->node, open ? best.open : best.node);
    assert_int_equal(m->tenants[c] > 0, open);
}

static struct place_request any_request(struct rng *r)
{
    struct place_request req = asks(0, 0);
    uint64_t kind = rng_below(r, 8);
    if (kind == 0) {
        req.share_milli = 1 + (int32_t)rng_below(r, 900);
    } else if (kind == 1) {
        req.gpucores = 1 + (int32_t)rng_below(r, 100); /* all of the memory */
    } else if (kind == 2) {
        req.share_milli = 0;
        req.cards = 1 + (int32_t)rng_below(r, 2);
    } else if (kind == 3) {
        req.gpumem_mib = 1 + (int32_t)rng_below(r, 2000);
        req.gpucores = rng_below(r, 2) == 0 ? 100 : 0;
    } else if (kind < 6) {
        req.gpumem_mib = PERCENT(30) + (int32_t)rng_below(r, PERCENT(50));
        req.gpucores = (int32_t)rng_below(r, 20);
    } else {
        req.gpumem_mib = 1 + (int32_t)rng_below(r, PERCENT(20));
        req.gpucores = 20 + (int32_t)rng_below(r, 60);
    }
    req.resources[0] = (int64_t)rng_below(r, 25000);
    return req;
}

struct held {
    struct lease_id lease;
    int64_t cpu;
};

static void give_back(struct fleet *f, struct model *m, const struct held *h)
{
    int32_t n;
    const struct lease_part *p = fleet_lease_parts(f, h->lease, &n);
    move(m, &p[0], h->cpu, -1);
    fleet_lease_close(f, h->lease);
}

static void churn(enum placement_kind kind, int32_t *crosswise)
{
    struct node_pool_config pool = pool_of(NODES, CARDS, SLOTS);
    struct fleet_config cfg;
    struct fleet *f = fleet_of(&cfg, &pool, kind);
    struct model m = {.cpu = {100000, 100000, 100000, 100000, 100000}};
    struct held held[LEASES];
    struct rng r;
    int32_t count = 0, n;
    rng_open(&r, 11, 0, 1004, (uint64_t)kind);
    for (int step = 0; step < 4000; step++) {
        if (count == LEASES || (count > 0 && rng_below(&r, 10) < 4)) {
            int32_t i = (int32_t)rng_below(&r, (uint64_t)count);
            give_back(f, &m, &held[i]);
            held[i] = held[--count];
        } else {
            struct place_request req = any_request(&r);
            struct found best = scan(&m, &req, 1);
            held[count] = (struct held){place(f, req), req.resources[0]};
            assert_int_equal(held[count].lease.index1 != 0, (req.cards == 0 && best.open >= 0) || best.node >= 0);
            if (held[count].lease.index1 != 0) {
                const struct lease_part *p = fleet_lease_parts(f, held[count].lease, &n);
                check_choice(&m, &req, &p[0], kind);
                if (p[0].first_card >= 0 && m.tenants[p[0].node * CARDS + p[0].first_card] > 0)
                    *crosswise += p[0].milli > left_on(&m, p[0].node * CARDS + p[0].first_card);
                move(&m, &p[0], req.resources[0], 1);
                count++;
            }
        }
        assert_int_equal(fleet_pool_used_milli(f, 0), used_of(&m));
    }
    while (count > 0)
        give_back(f, &m, &held[--count]);
    assert_int_equal(fleet_pool_used_milli(f, 0), 0);
    struct place_request quarter = asks(CARD_MIB / SLOTS, 100 / SLOTS); /* everything is there again */
    struct lease_id l = fleet_lease_open(f);
    assert_int_equal(fleet_place(f, l, &quarter, 1000, false, false), ALL * SLOTS);
    fleet_lease_close(f, l);
    fleet_destroy(f);
}

static void shares_lie_where_a_full_scan_finds_room(void **state)
{
    (void)state;
    for (int kind = 0; kind < PLACE_KIND_COUNT; kind++) {
        int32_t crosswise = 0;
        churn((enum placement_kind)kind, &crosswise);
        assert_true(crosswise > 20); /* where the larger parts alone would not fit */
    }
}

/* Nobody is told to come who cannot: a gang of exactly what fits is placed whole, one more is not. */
static void gangs_are_placed_to_the_last_worker(void **state)
{
    (void)state;
    struct node_pool_config pool = pool_of(4, 2, 0);
    struct fleet_config cfg;
    struct fleet *f = fleet_of(&cfg, &pool, PLACE_BINPACK);
    struct place_request memory = asks(PERCENT(60), 10), cores = asks(PERCENT(10), 40);
    struct lease_id a = fleet_lease_open(f), b = fleet_lease_open(f);
    assert_int_equal(fleet_place(f, a, &memory, 9, true, true), 0);
    assert_int_equal(fleet_place(f, a, &memory, 8, true, true), 8);
    assert_int_equal(fleet_place(f, b, &cores, 17, true, true), 0);
    assert_int_equal(fleet_place(f, b, &cores, 16, true, true), 16); /* 60+10+10 and 10+40+40 on each of 8 cards */
    assert_int_equal(fleet_pool_used_milli(f, 0), 8 * 900);
    fleet_lease_close(f, a);
    fleet_lease_close(f, b);
    fleet_destroy(f);
}

static int32_t node_of(struct fleet *f, int32_t mib, int32_t cores)
{
    int32_t n;
    struct place_request req = asks(mib, cores);
    req.prefer_model = 0;
    return fleet_lease_parts(f, place(f, req), &n)->node;
}

/* Node 1 keeps the model; who cannot be there goes to node 0. */
static void a_node_with_the_model_is_taken_where_both_budgets_fit(void **state)
{
    (void)state;
    struct node_pool_config pool = pool_of(2, 1, 0);
    struct fleet_config cfg;
    pool.cache_slots = 1;
    struct fleet *f = fleet_of(&cfg, &pool, PLACE_BINPACK);
    fleet_cache_touch(f, 1, 0);
    assert_int_equal(node_of(f, 1000, 0), 1);
    assert_int_equal(node_of(f, 1000, 100), 0); /* exclusive */
    assert_int_equal(node_of(f, PERCENT(60), 10), 1);
    assert_int_equal(node_of(f, PERCENT(10), 60), 1);
    assert_false(fits(f, PERCENT(40), 10));
    assert_false(fits(f, PERCENT(10), 40));
    assert_int_equal(node_of(f, PERCENT(20), 30), 1);
    fleet_destroy(f);
}

/* ---- preemption ---- */

static void only_who_holds_what_is_wanted_is_preempted(void **state)
{
    (void)state;
    struct node_pool_config pool = pool_of(1, 1, 0);
    struct fleet_config cfg;
    struct fleet *f = fleet_of(&cfg, &pool, PLACE_BINPACK);
    struct preempt_view *v = preempt_open(f);
    struct lease_id none = place(f, asks(1000, 0));
    struct place_request all = asks(1000, 100);
    preempt_look(v, 0);
    assert_false(preempt_fits(v, &all)); /* it reserves no core, and is there */
    fleet_lease_close(f, none);
    struct lease_id a = place(f, asks(PERCENT(60), 10)), b = place(f, asks(PERCENT(10), 60));
    int32_t n;
    struct preempt_pod pods[2] = {{.id = 1, .part = *fleet_lease_parts(f, a, &n)},
                                  {.id = 2, .part = *fleet_lease_parts(f, b, &n)}};
    struct place_request third = asks(PERCENT(30), 30), memory = asks(PERCENT(50), 10), cores = asks(PERCENT(10), 50);
    preempt_look(v, 0);
    assert_true(preempt_fits(v, &third));
    assert_false(preempt_fits(v, &memory));
    assert_int_equal(preempt_victims(v, &memory, pods, 2), 1);
    assert_int_equal(pods[0].id, 1);
    preempt_put(v, &memory);
    assert_true(preempt_fits(v, &third));
    assert_false(preempt_fits(v, &cores));
    preempt_look(v, 0);
    assert_int_equal(preempt_victims(v, &cores, pods, 2), 1);
    assert_int_equal(pods[0].id, 2);
    preempt_look(v, 0);
    assert_int_equal(preempt_victims(v, &all, pods, 2), 2); /* exclusive */
    preempt_put(v, &all);
    assert_false(preempt_fits(v, &third));
    preempt_look(v, 0);
    preempt_without(v, &pods[0].part);
    preempt_with(v, &pods[0].part);
    assert_true(preempt_fits(v, &third));
    preempt_close(v);
    fleet_lease_close(f, a);
    fleet_lease_close(f, b);
    fleet_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_holds_a_memory_heavy_and_a_core_heavy_tenant),
        cmocka_unit_test(two_memory_heavy_tenants_do_not_fit),
        cmocka_unit_test(slots_run_out_before_the_budgets),
        cmocka_unit_test(all_cores_are_exclusive_and_no_cores_need_one_left),
        cmocka_unit_test(shares_lie_where_a_full_scan_finds_room),
        cmocka_unit_test(gangs_are_placed_to_the_last_worker),
        cmocka_unit_test(a_node_with_the_model_is_taken_where_both_budgets_fit),
        cmocka_unit_test(only_who_holds_what_is_wanted_is_preempted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
