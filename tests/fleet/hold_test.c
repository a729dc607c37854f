/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room kept for a worker on a node, and what that leaves to others, under every mechanism. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/catalogue.h"
#include "models/fleet/hold.h"
#include "models/fleet/preempt.h"
#include "sim/rng.h"

enum { CPU = 100, NODES = 3, CARDS = 2 };

static const char *names[] = {"cpu"};
static const int32_t first_pool = 0;

struct world {
    struct resource_amount cpu;
    struct node_pool_config pool;
    struct fleet_config cfg;
    struct fleet *f;
};

static int32_t card_named(const char *name)
{
    const struct catalogue *c = catalogue_builtin();
    for (int32_t i = 0; i < c->card_count; i++)
        if (strcmp(c->cards[i].name, name) == 0)
            return i;
    fail_msg("no card %s", name);
    return -1;
}

static void begin(struct world *w, struct share_config sharing, enum placement_kind kind)
{
    *w = (struct world){.cpu = {0, CPU}};
    w->pool = (struct node_pool_config){.name = "p", .card = card_named("A100-40"), .node_count = NODES,
                                        .cards_per_node = CARDS, .allocatable = &w->cpu, .allocatable_count = 1,
                                        .sharing = sharing};
    w->cfg = (struct fleet_config){.resources = names, .resource_count = 1, .pools = &w->pool, .pool_count = 1};
    w->f = fleet_create(&w->cfg, kind, 3, 0);
}

static struct place_request asks(int32_t cards, int32_t share, int64_t cpu)
{
    return (struct place_request){.cards = cards, .share_milli = share, .resources = {cpu}, .pools = &first_pool,
                                  .pool_count = 1, .prefer_model = -1};
}

/* A request that fits on the node, placed there; its part. */
static struct lease_part on(struct world *w, int32_t node, const struct place_request *req, struct lease_id *lease)
{
    int32_t n;
    *lease = fleet_lease_open(w->f);
    assert_true(fleet_place_on(w->f, *lease, node, req));
    return fleet_lease_parts(w->f, *lease, &n)[0];
}

static bool fits(struct world *w, int32_t node, const struct place_request *req)
{
    struct lease_id l = fleet_lease_open(w->f);
    bool ok = fleet_place_on(w->f, l, node, req);
    fleet_lease_close(w->f, l);
    return ok;
}

/* One of two cards and 60 of 100 cpu are in use: the other card and the 40 are held for two cards and 70 cpu. Who asks
 * for neither still fits. */
static void cards_and_amounts_are_held_as_far_as_they_are_free(void **state)
{
    (void)state;
    struct world w;
    struct lease_id there, held;
    begin(&w, (struct share_config){.kind = SHARE_WHOLE}, PLACE_BINPACK);
    struct place_request one = asks(1, 0, 60), two = asks(2, 0, 70), card = asks(1, 0, 0), cpu = asks(0, 0, 1), none = asks(0, 0, 0);
    (void)on(&w, 1, &one, &there);
    assert_true(fits(&w, 1, &card) && fits(&w, 1, &cpu) && !fits(&w, 1, &two));
    held = fleet_lease_open(w.f);
    fleet_hold(w.f, held, 1, &two, NULL, 0);
    assert_true(!fits(&w, 1, &card) && !fits(&w, 1, &cpu) && fits(&w, 1, &none));
    assert_true(fits(&w, 0, &two) && fits(&w, 2, &two));
    fleet_lease_close(w.f, held);
    assert_true(fits(&w, 1, &card) && fits(&w, 1, &cpu));
    fleet_destroy(w.f);
}

/* Shares of 0.5 and 0.3 on a card, of which the first leaves. For 0.6 the rest of that card is held; another card takes
 * shares as before. For 0.2, which fits, no more than that is held. */
static void what_is_left_of_a_card_is_held_for_a_share_that_waits_for_it(void **state)
{
    (void)state;
    struct world w;
    struct lease_id a, b, c, held;
    begin(&w, (struct share_config){.kind = SHARE_WHOLE}, PLACE_BINPACK);
    struct place_request half = asks(0, 500, 1), some = asks(0, 300, 1), rest = asks(0, 200, 1), large = asks(0, 600, 1), nine = asks(0, 900, 1);
    struct lease_part leaves = on(&w, 0, &half, &a), stays = on(&w, 0, &some, &b);
    assert_int_equal(leaves.first_card, stays.first_card);
    (void)on(&w, 0, &nine, &c);
    held = fleet_lease_open(w.f);
    fleet_hold(w.f, held, 0, &large, &leaves, 1);
    struct place_request tenth = asks(0, 100, 1);
    assert_true(!fits(&w, 0, &rest) && fits(&w, 0, &tenth)); /* beside the nine tenths */
    fleet_release(w.f, held, -1);
    assert_true(fits(&w, 0, &rest));
    fleet_hold(w.f, held, 0, &rest, &leaves, 1);
    assert_true(!fits(&w, 0, &rest) && fits(&w, 0, &tenth));
    fleet_destroy(w.f);
}

/* ---- nothing remains of a hold ---- */

struct mechanism {
    struct share_config sharing;
    struct place_request asks[3];
};

static const struct mechanism mechanisms[] = {
    {{.kind = SHARE_WHOLE}, {{.cards = 1}, {.cards = 2}, {.share_milli = 300}}},
    {{.kind = SHARE_HAMI}, {{.share_milli = 100, .gpumem_mib = 4096, .gpucores = 10}, {.share_milli = 600, .gpumem_mib = 20000, .gpucores = 40},
                            {.share_milli = 900, .gpumem_mib = 30000, .gpucores = 100}}},
    {{.kind = SHARE_MIG, .mig_layout = "3g.20gb,2g.10gb,1g.5gb*2"}, {{.share_milli = 100, .profile = "1g.5gb"}, {.share_milli = 200, .profile = "2g.10gb"},
                                                                  {.share_milli = 400, .profile = "3g.20gb"}}},
    {{.kind = SHARE_MIG, .mig_dynamic = true}, {{.share_milli = 100, .profile = "1g.5gb"}, {.share_milli = 400, .profile = "3g.20gb"},
                                               {.share_milli = 900, .profile = "7g.40gb"}}},
    {{.kind = SHARE_TIME_SLICING, .replicas = 3, .allow_above_one = true}, {{.cards = 1}, {.cards = 4}, {.share_milli = 300}}},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms, PODS = 12, STEPS = 400 };

struct pods {
    struct lease_id leases[PODS];
    bool open[PODS];
};

/* One pod comes or goes. */
static void step(struct world *w, struct pods *p, int i, const struct place_request *req, int32_t workers)
{
    if (p->open[i])
        fleet_lease_close(w->f, p->leases[i]);
    else
        p->leases[i] = fleet_lease_open(w->f);
    p->open[i] = !p->open[i];
    if (p->open[i])
        (void)fleet_place(w->f, p->leases[i], req, workers, false, false);
}

static void equal(struct world *a, struct world *b, const struct pods *p, const struct pods *q)
{
    assert_int_equal(fleet_pool_used_milli(a->f, 0), fleet_pool_used_milli(b->f, 0));
    assert_int_equal(fleet_pool_largest_free(a->f, 0), fleet_pool_largest_free(b->f, 0));
    for (int i = 0; i < PODS; i++) {
        if (!p->open[i])
            continue;
        int32_t n, m;
        const struct lease_part *x = fleet_lease_parts(a->f, p->leases[i], &n), *y = fleet_lease_parts(b->f, q->leases[i], &m);
        assert_int_equal(n, m);
        for (int32_t k = 0; k < n; k++)
            assert_true(x[k].node == y[k].node && x[k].first_card == y[k].first_card && x[k].milli == y[k].milli &&
                        x[k].instance == y[k].instance);
    }
}

static struct place_request drawn(struct rng *r, const struct mechanism *m)
{
    struct place_request req = m->asks[rng_below(r, 3)];
    req.resources[0] = (int64_t)rng_below(r, 20);
    req.pools = &first_pool;
    req.pool_count = 1;
    req.prefer_model = -1;
    return req;
}

/* In the second fleet room is held for somebody before every step, and given back. */
static void twins(const struct mechanism *m, enum placement_kind kind)
{
    struct world a, b;
    struct pods p = {.open = {false}}, q = p;
    struct rng r;
    begin(&a, m->sharing, kind);
    begin(&b, m->sharing, kind);
    rng_open(&r, 7, (uint32_t)kind, 98, (uint64_t)(m - mechanisms));
    for (int s = 0; s < STEPS; s++) {
        struct lease_id held = fleet_lease_open(b.f);
        for (int h = 0; h < 3; h++) {
            struct place_request req = drawn(&r, m);
            int32_t count = 0;
            int i = (int)rng_below(&r, PODS);
            const struct lease_part *parts = q.open[i] ? fleet_lease_parts(b.f, q.leases[i], &count) : NULL;
            fleet_hold(b.f, held, count > 0 ? parts[0].node : (int32_t)rng_below(&r, NODES), &req, parts, count > 0);
        }
        fleet_lease_close(b.f, held);
        struct place_request req = drawn(&r, m);
        int i = (int)rng_below(&r, PODS), workers = 1 + (int)rng_below(&r, 3);
        step(&a, &p, i, &req, workers);
        step(&b, &q, i, &req, workers);
        equal(&a, &b, &p, &q);
    }
    fleet_destroy(a.f);
    fleet_destroy(b.f);
}

static void nothing_remains_of_room_that_is_given_back(void **state)
{
    (void)state;
    for (int m = 0; m < MECHANISMS; m++)
        for (int kind = 0; kind < PLACE_KIND_COUNT; kind++)
            twins(&mechanisms[m], (enum placement_kind)kind);
}

/* ---- a look at a node beside promised workers ---- */

/* Two of two cards go; one is promised to another worker. One more fits, two do not: and of two that may come back
 * none can beside both. */
static void promised_workers_come_first_in_a_view(void **state)
{
    (void)state;
    struct world w;
    struct lease_id a, b;
    begin(&w, (struct share_config){.kind = SHARE_WHOLE}, PLACE_BINPACK);
    struct preempt_view *v = preempt_open(w.f);
    struct place_request one = asks(1, 0, 1), two = asks(2, 0, 1);
    struct preempt_pod pods[2] = {{.id = 0, .part = on(&w, 0, &one, &a)}, {.id = 1, .part = on(&w, 0, &one, &b)}}, all[2];
    memcpy(all, pods, sizeof all);
    preempt_look(v, 0);
    assert_int_equal(preempt_victims(v, &one, all, 2), 1);
    memcpy(all, pods, sizeof all);
    preempt_look(v, 0);
    preempt_promised(v, &one);
    assert_int_equal(preempt_victims(v, &one, all, 2), 2);
    memcpy(all, pods, sizeof all);
    preempt_look(v, 0);
    preempt_promised(v, &one);
    assert_int_equal(preempt_victims(v, &two, all, 2), 0);
    /* who comes first finds one card too few: it takes what there is, and others can do without */
    struct place_request three = asks(3, 0, 1), none = asks(0, 0, 1);
    preempt_look(v, 1);
    preempt_promised(v, &three);
    assert_true(!preempt_fits(v, &one) && preempt_fits(v, &none));
    preempt_close(v);
    fleet_destroy(w.f);
}

/* Four replicas of a node are asked for, six are in use: four of them must go. */
static void a_worker_of_several_replicas_needs_them_all(void **state)
{
    (void)state;
    struct world w;
    struct lease_id l;
    begin(&w, (struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 3, .allow_above_one = true}, PLACE_BINPACK);
    struct preempt_view *v = preempt_open(w.f);
    struct place_request one = asks(1, 0, 1), four = asks(4, 0, 1);
    struct preempt_pod pods[6];
    for (uint32_t i = 0; i < 6; i++)
        pods[i] = (struct preempt_pod){.id = i, .part = on(&w, 0, &one, &l)};
    assert_false(fits(&w, 0, &one));
    preempt_look(v, 0);
    assert_int_equal(preempt_victims(v, &four, pods, 6), 4);
    preempt_put(v, &four);
    assert_false(preempt_fits(v, &one));
    preempt_close(v);
    fleet_destroy(w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_and_amounts_are_held_as_far_as_they_are_free),
        cmocka_unit_test(what_is_left_of_a_card_is_held_for_a_share_that_waits_for_it),
        cmocka_unit_test(nothing_remains_of_room_that_is_given_back),
        cmocka_unit_test(promised_workers_come_first_in_a_view),
        cmocka_unit_test(a_worker_of_several_replicas_needs_them_all),
    };
    return cmocka_run_group_tests_name("room kept on a node", tests, NULL, NULL);
}
