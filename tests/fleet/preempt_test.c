/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The victims and the node that kube-scheduler's own tests expect (default_preemption_test.go,
 * TestSelectNodesForPreemption and TestPickOneNodeForPreemption; the table below is written anew
 * from their cases): machines of 500m, pods of 100m, 200m, 300m and 500m, the preemptor 500m. One pod is
 * smaller than theirs, whose machine holds more than it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/fleet/preempt.h"

enum { SMALL = 100, MEDIUM = 200, LARGE = 300, VERY_LARGE = 500 };
enum { NEG = -100, LOW = 0, MID = 100, HIGH = 1000, VERY_HIGH = 10000 };
enum { MACHINES = 4, PODS = 5 };

struct on_machine {
    int64_t cpu, priority, started;
};

/* cpu 0 ends a machine's list. */
struct pick_case {
    const char *name;
    int64_t cpu, priority; /* of the preemptor */
    struct on_machine pods[MACHINES][PODS];
    int expected;          /* machine, from 0 */
};

static const struct pick_case picks[] = {
    {"min highest priority pod", VERY_LARGE, HIGH,
     {{{MEDIUM, MID, 1}, {LARGE, MID, 1}},
      {{MEDIUM, MID, 1}, {MEDIUM, LOW, 1}},
      {{MEDIUM, LOW, 1}, {MEDIUM, LOW, 1}}}, 2},
    {"minimum sum of priorities", VERY_LARGE, HIGH,
     {{{MEDIUM, MID, 1}, {LARGE, MID, 1}},
      {{LARGE, MID, 1}, {MEDIUM, LOW, 1}},
      {{MEDIUM, MID, 1}, {MEDIUM, MID, 1}}}, 1},
    {"minimum number of pods", VERY_LARGE, HIGH,
     {{{SMALL, MID, 1}, {SMALL, NEG, 1}, {SMALL, MID, 1}, {SMALL, NEG, 1}},
      {{LARGE, MID, 1}, {MEDIUM, NEG, 1}},
      {{MEDIUM, MID, 1}, {SMALL, NEG, 1}, {SMALL, LOW, 1}}}, 1},
    {"sum of adjusted priorities", VERY_LARGE, HIGH,
     {{{SMALL, MID, 1}, {SMALL, NEG, 1}, {SMALL, NEG, 1}},
      {{LARGE, MID, 1}, {MEDIUM, NEG, 1}},
      {{MEDIUM, MID, 1}, {SMALL, NEG, 1}, {SMALL, LOW, 1}}}, 1},
    {"non-overlapping criteria", VERY_LARGE, VERY_HIGH,
     {{{SMALL, MID, 1}, {SMALL, LOW, 1}, {SMALL, LOW, 1}},
      {{LARGE, HIGH, 1}},
      {{MEDIUM, MID, 1}, {SMALL, LOW, 1}, {SMALL, LOW, 1}, {SMALL, LOW, 1}},
      {{MEDIUM, MID, 1}, {SMALL, MID, 1}, {SMALL, MID, 1}, {SMALL, NEG, 1}}}, 0},
    {"latest start of the highest, equal otherwise", VERY_LARGE, HIGH,
     {{{MEDIUM, MID, 3}, {MEDIUM, MID, 2}},
      {{MEDIUM, MID, 4}, {MEDIUM, MID, 4}},
      {{MEDIUM, MID, 1}, {MEDIUM, MID, 5}}}, 1},
};

/* cpu is the only resource: pods without cards. */
static struct place_request pod_of(int64_t cpu)
{
    static const int32_t pool = 0;
    return (struct place_request){.resources = {cpu}, .pools = &pool, .pool_count = 1, .prefer_model = -1};
}

struct cluster {
    struct resource_amount has;
    struct node_pool_config pool;
    struct fleet_config cfg;
    struct fleet *fleet;
    struct preempt_view *view;
    struct preempt_pod pods[MACHINES][PODS];
    int32_t counts[MACHINES];
};

static const char *resource_names[1] = {"cpu"};

/* Each machine is filled in its turn, then plugged, so that the next pod goes to the next one. */
static void fill(struct cluster *c, const struct on_machine pods[MACHINES][PODS])
{
    *c = (struct cluster){.has = {0, VERY_LARGE}};
    c->pool = (struct node_pool_config){.name = "p", .node_count = MACHINES, .cards_per_node = 1,
                                        .allocatable = &c->has, .allocatable_count = 1};
    c->cfg = (struct fleet_config){.resources = resource_names, .resource_count = 1, .pools = &c->pool,
                                   .pool_count = 1};
    c->fleet = fleet_create(&c->cfg, PLACE_BINPACK, 1, 0);
    c->view = preempt_open(c->fleet);
    struct lease_id plugs[MACHINES];
    for (int m = 0; m < MACHINES; m++) {
        int64_t used = 0;
        for (int i = 0; i < PODS && pods[m][i].cpu > 0; i++) {
            struct place_request req = pod_of(pods[m][i].cpu);
            struct lease_id l = fleet_lease_open(c->fleet);
            int32_t n;
            assert_int_equal(fleet_place(c->fleet, l, &req, 1, true, true), 1);
            c->pods[m][c->counts[m]++] = (struct preempt_pod){
                .id = (uint32_t)(m * PODS + i), .priority = pods[m][i].priority,
                .started_ns = pods[m][i].started, .part = fleet_lease_parts(c->fleet, l, &n)[0]};
            assert_int_equal(c->pods[m][i].part.node, m);
            used += pods[m][i].cpu;
        }
        struct place_request rest = pod_of(VERY_LARGE - used);
        plugs[m] = fleet_lease_open(c->fleet);
        assert_int_equal(fleet_place(c->fleet, plugs[m], &rest, 1, true, true), 1);
    }
    for (int m = 0; m < MACHINES; m++)
        fleet_lease_close(c->fleet, plugs[m]);
}

static void drain(struct cluster *c)
{
    preempt_close(c->view);
    fleet_destroy(c->fleet);
}

/* Machines without pods do not take part. */
static int pick(struct cluster *c, int64_t cpu, int64_t priority)
{
    struct place_request req = pod_of(cpu);
    struct preempt_rank best = {0, 0, 0, 0};
    int chosen = -1;
    for (int m = 0; m < MACHINES; m++) {
        struct preempt_pod lower[PODS];
        int32_t n = 0;
        for (int32_t i = 0; i < c->counts[m]; i++)
            if (c->pods[m][i].priority < priority)
                lower[n++] = c->pods[m][i];
        preempt_look(c->view, m);
        int32_t victims = preempt_victims(c->view, &req, lower, n);
        if (victims == 0)
            continue;
        struct preempt_rank rank = preempt_rank_of(lower, victims);
        if (chosen < 0 || preempt_better(&rank, &best)) {
            best = rank;
            chosen = m;
        }
    }
    return chosen;
}

static void the_node_is_the_one_that_kube_scheduler_picks(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof picks / sizeof picks[0]; k++) {
        struct cluster c;
        fill(&c, picks[k].pods);
        int chosen = pick(&c, picks[k].cpu, picks[k].priority);
        if (chosen != picks[k].expected)
            fail_msg("%s: machine %d, expected %d", picks[k].name, chosen + 1, picks[k].expected + 1);
        drain(&c);
    }
}

/* "mixed priority pods are preempted": of small low, small mid, large low and small low only the
 * large one goes for a pod of 300m when one of 100m may stay. */
static void the_most_important_pods_come_back_first(void **state)
{
    (void)state;
    static const struct on_machine pods[MACHINES][PODS] = {
        {{SMALL, LOW, 1}, {SMALL, MID, 1}, {LARGE, LOW, 1}}};
    struct cluster c;
    struct place_request req = pod_of(LARGE);
    fill(&c, pods);
    preempt_look(c.view, 0);
    int32_t n = preempt_victims(c.view, &req, c.pods[0], 3);
    assert_int_equal(n, 1);
    assert_int_equal(c.pods[0][0].id, 2);
    drain(&c);
}

/* Of equal priorities the one that started last goes. */
static void of_equal_priorities_the_youngest_goes(void **state)
{
    (void)state;
    static const struct on_machine pods[MACHINES][PODS] = {{{MEDIUM, LOW, 5}, {MEDIUM, LOW, 9}, {SMALL, LOW, 7}}};
    struct cluster c;
    struct place_request req = pod_of(MEDIUM);
    fill(&c, pods);
    preempt_look(c.view, 0);
    assert_int_equal(preempt_victims(c.view, &req, c.pods[0], 3), 1);
    assert_int_equal(c.pods[0][0].id, 1);
    drain(&c);
}

static void who_does_not_fit_even_alone_preempts_nobody(void **state)
{
    (void)state;
    static const struct on_machine pods[MACHINES][PODS] = {{{LARGE, LOW, 1}, {MEDIUM, HIGH, 1}}};
    struct cluster c;
    fill(&c, pods);
    assert_int_equal(pick(&c, VERY_LARGE, HIGH), -1); /* the pod of its own priority stays */
    assert_int_equal(pick(&c, LARGE, HIGH), 0);
    drain(&c);
}

/* Shares and whole cards of one node: 8 cards, 7 whole ones and a card with 600 and 300 milli. */
static void shares_give_their_card_back(void **state)
{
    (void)state;
    static const int32_t only = 0;
    struct node_pool_config pool = {.name = "p", .node_count = 1, .cards_per_node = 8};
    struct fleet_config cfg = {.pools = &pool, .pool_count = 1};
    struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
    struct place_request seven = {.cards = 7, .pools = &only, .pool_count = 1, .prefer_model = -1};
    struct place_request big = {.share_milli = 600, .pools = &only, .pool_count = 1, .prefer_model = -1};
    struct place_request small = {.share_milli = 300, .pools = &only, .pool_count = 1, .prefer_model = -1};
    struct place_request one = {.cards = 1, .pools = &only, .pool_count = 1, .prefer_model = -1};
    struct lease_id l = fleet_lease_open(f);
    int32_t n;
    assert_int_equal(fleet_place(f, l, &seven, 1, true, true), 1);
    assert_int_equal(fleet_place(f, l, &big, 1, true, true), 1);
    assert_int_equal(fleet_place(f, l, &small, 1, true, true), 1);
    const struct lease_part *parts = fleet_lease_parts(f, l, &n);
    struct preempt_pod shares[2] = {{.id = 1, .part = parts[1]}, {.id = 2, .part = parts[2]}};
    struct preempt_view *v = preempt_open(f);
    preempt_look(v, 0);
    assert_false(preempt_fits(v, &one));
    assert_false(preempt_fits(v, &small));
    assert_int_equal(preempt_victims(v, &small, shares, 2), 1); /* 600 comes back, 300 cannot */
    assert_int_equal(shares[0].id, 2);
    preempt_look(v, 0);
    assert_int_equal(preempt_victims(v, &one, shares, 2), 2);
    preempt_put(v, &one);
    assert_false(preempt_fits(v, &small));
    preempt_close(v);
    fleet_lease_close(f, l);
    fleet_destroy(f);
}

static void a_tenth_of_the_nodes_is_looked_at_and_at_least_a_hundred(void **state)
{
    (void)state;
    assert_int_equal(preempt_candidates(50), 50);
    assert_int_equal(preempt_candidates(500), 100);
    assert_int_equal(preempt_candidates(12500), 1250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_node_is_the_one_that_kube_scheduler_picks),
        cmocka_unit_test(the_most_important_pods_come_back_first),
        cmocka_unit_test(of_equal_priorities_the_youngest_goes),
        cmocka_unit_test(who_does_not_fit_even_alone_preempts_nobody),
        cmocka_unit_test(shares_give_their_card_back),
        cmocka_unit_test(a_tenth_of_the_nodes_is_looked_at_and_at_least_a_hundred),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
