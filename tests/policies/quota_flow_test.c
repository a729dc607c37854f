/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quota over time at every node, against the definitions computed from a log by brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/policies/quota_flow.h"
#include "sim/rng.h"
#include "sim/sim_time.h"

enum { QUEUES = 6, COHORTS = 4, NODES = QUEUES + COHORTS, FLAVORS = 2, CHANGES = 400, TREES = 60 };

struct tree {
    struct policy_config config;
    struct policy_cluster_queue queues[QUEUES];
    struct policy_cohort cohorts[COHORTS];
    struct policy_resource_group groups[NODES];
    struct policy_quota quotas[NODES][FLAVORS];
    uint32_t flavors[FLAVORS], resources[1];
    struct policy_flavor flavor_objects[FLAVORS];
    uint64_t state;
};

static uint64_t draw(struct tree *t, uint64_t below)
{
    t->state = rng_hash(t->state + 1);
    return t->state % below;
}

static const char *const queue_names[QUEUES] = {"q0", "q1", "q2", "q3", "q4", "q5"};
static const char *const cohort_names[COHORTS] = {"c0", "c1", "c2", "c3"};
static const char *const flavor_names[FLAVORS] = {"h100", "l40s"};
static const char *const resource_names[1] = {"nvidia.com/gpu"};

/* A node mentions a prefix of the flavors; a limit is set in one case of three. */
static struct policy_resource_group *group(struct tree *t, uint32_t node, bool parent, uint64_t least)
{
    const uint32_t count = (uint32_t)(least + draw(t, FLAVORS + 1 - least));
    for (uint32_t f = 0; f < count; f++) {
        struct policy_quota *q = &t->quotas[node][f];
        q->nominal = (int64_t)draw(t, 5) * 8;
        q->lending_limit = parent && draw(t, 3) == 0 ? (int64_t)draw(t, 20) : POLICY_NIL;
        q->borrowing_limit = parent && draw(t, 3) == 0 ? (int64_t)draw(t, 20) : POLICY_NIL;
    }
    t->groups[node] = (struct policy_resource_group){t->resources, t->flavors, t->quotas[node], 1, count};
    return &t->groups[node];
}

static void make(struct tree *t, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    t->state = seed;
    for (uint32_t f = 0; f < FLAVORS; f++) {
        t->flavors[f] = f;
        t->flavor_objects[f] = (struct policy_flavor){.name = flavor_names[f], .topology = POLICY_NONE};
    }
    for (uint32_t c = 0; c < COHORTS; c++) {
        const uint32_t parent = c == 0 || draw(t, 4) == 0 ? POLICY_NONE : (uint32_t)draw(t, c);
        t->cohorts[c] = (struct policy_cohort){cohort_names[c], parent, NULL, 0, 1.0};
        t->cohorts[c].groups = group(t, QUEUES + c, parent != POLICY_NONE, 0);
        t->cohorts[c].group_count = 1;
    }
    for (uint32_t q = 0; q < QUEUES; q++) {
        const uint32_t cohort = draw(t, 6) == 0 ? POLICY_NONE : (uint32_t)draw(t, COHORTS);
        t->queues[q] = (struct policy_cluster_queue){.name = queue_names[q], .cohort = cohort, .group_count = 1};
        t->queues[q].groups = group(t, q, cohort != POLICY_NONE, 1);
    }
    t->config = (struct policy_config){.abi = POLICY_ABI, .size = sizeof t->config, .resources = resource_names,
                                       .flavors = t->flavor_objects, .cohorts = t->cohorts, .cluster_queues = t->queues,
                                       .resource_count = 1, .flavor_count = FLAVORS, .cohort_count = COHORTS,
                                       .cluster_queue_count = QUEUES};
}

/* ---- the definitions, for one flavor, computed afresh from what the queues hold ---- */

struct truth {
    double nominal, subtree, local, use, pending, reserved, admitted, borrowed, over, lent, own_lent, free;
};

static uint32_t parent_of(const struct tree *t, uint32_t n)
{
    const uint32_t c = n < QUEUES ? t->queues[n].cohort : t->cohorts[n - QUEUES].parent;
    return c == POLICY_NONE ? POLICY_NONE : QUEUES + c;
}

static bool below(const struct tree *t, uint32_t n, uint32_t top)
{
    for (; n != POLICY_NONE; n = parent_of(t, n))
        if (n == top)
            return true;
    return false;
}

static double own(const struct tree *t, uint32_t n, uint32_t f)
{
    return f < t->groups[n].flavor_count ? (double)t->quotas[n][f].nominal : 0;
}

static double positive(double v)
{
    return v > 0 ? v : 0;
}

/* subtree, local and use of a node: 3.1, 3.2 by recursion. */
static void usage(const struct tree *t, uint32_t n, uint32_t f, const double *held, struct truth *all)
{
    struct truth *x = &all[n];
    x->subtree = own(t, n, f);
    x->use = n < QUEUES ? held[n] : 0;
    for (uint32_t k = 0; k < NODES; k++) {
        if (parent_of(t, k) != n)
            continue;
        usage(t, k, f, held, all);
        x->subtree += all[k].subtree - all[k].local;
        x->use += positive(all[k].use - all[k].local);
    }
    const bool limited = f < t->groups[n].flavor_count && t->quotas[n][f].lending_limit != POLICY_NIL;
    x->local = limited ? positive(x->subtree - (double)t->quotas[n][f].lending_limit) : 0;
}

static double unused(const struct truth *x)
{
    return positive(x->subtree - fmax(x->use, x->local));
}

/* What is taken from the pot of a cohort, divided among its children and its own quota. */
static void divide(const struct tree *t, uint32_t n, uint32_t f, struct truth *all)
{
    double pot = own(t, n, f), taken = 0;
    for (uint32_t k = 0; k < NODES; k++)
        if (parent_of(t, k) == n) {
            pot += unused(&all[k]);
            taken += positive(all[k].use - all[k].subtree);
        }
    taken = fmin(taken, pot) + all[n].lent;
    all[n].own_lent = pot > 0 ? own(t, n, f) * taken / pot : 0;
    for (uint32_t k = 0; k < NODES; k++)
        if (parent_of(t, k) == n) {
            all[k].lent = pot > 0 ? unused(&all[k]) * taken / pot : 0;
            if (k >= QUEUES)
                divide(t, k, f, all);
        }
}

static void truths(const struct tree *t, uint32_t f, double held[3][QUEUES], struct truth *all)
{
    memset(all, 0, NODES * sizeof *all);
    for (uint32_t n = 0; n < NODES; n++)
        if (parent_of(t, n) == POLICY_NONE) {
            usage(t, n, f, held[1], all);
            if (n >= QUEUES)
                divide(t, n, f, all);
        }
    for (uint32_t n = 0; n < NODES; n++) {
        const double more = positive(all[n].use - all[n].subtree);
        for (uint32_t k = 0; k < NODES; k++)
            all[n].nominal += below(t, k, n) ? own(t, k, f) : 0;
        for (uint32_t q = 0; q < QUEUES; q++)
            if (below(t, q, n)) {
                all[n].pending += held[0][q];
                all[n].reserved += held[1][q];
                all[n].admitted += held[2][q];
            }
        all[n].borrowed = parent_of(t, n) == POLICY_NONE ? 0 : more;
        all[n].over = parent_of(t, n) == POLICY_NONE ? more : 0;
        all[n].free = all[n].nominal - all[n].reserved + all[n].borrowed + all[n].over - all[n].lent;
    }
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-6 * (1 + fabs(a))))
        fail_msg("%.12g is not %.12g", a, b);
}

static uint32_t cell_of(const struct qflow *flow, uint32_t n, uint32_t f)
{
    return n < QUEUES ? qflow_cell(flow, POLICY_OBJ_CLUSTER_QUEUE, n, f, 0)
                      : qflow_cell(flow, POLICY_OBJ_COHORT, n - QUEUES, f, 0);
}

/* Conservation, on the program's own figures alone. */
static void conserved(const struct tree *t, const struct qflow *flow, uint32_t f)
{
    for (uint32_t n = 0; n < NODES; n++) {
        if (cell_of(flow, n, f) == POLICY_NONE)
            continue;
        const struct qflow_state s = qflow_state(flow, cell_of(flow, n, f));
        double lent = s.own_lent, borrowed = 0, spilled = 0;
        assert_true(s.free >= -1e-9 && s.lent >= 0);
        assert_true(s.reserved >= s.admitted);
        if (n < QUEUES)
            continue;
        for (uint32_t k = 0; k < NODES; k++) {
            if (parent_of(t, k) != n || cell_of(flow, k, f) == POLICY_NONE)
                continue;
            const struct qflow_state c = qflow_state(flow, cell_of(flow, k, f));
            struct truth x[NODES];
            double held[3][QUEUES] = {{0}};
            memset(x, 0, sizeof x);
            usage(t, k, f, held[1], x);
            lent += c.lent;
            borrowed += (double)c.borrowed;
            spilled += positive((double)c.used - x[k].local);
        }
        near(spilled, (double)s.used);
        near(lent + (double)(s.borrowed + s.over), borrowed + s.lent);
    }
}

struct step_sum {
    double at[2 * QFLOW_STEPS_MAX][QFLOW_COUNT];
    int64_t t[2 * QFLOW_STEPS_MAX];
    size_t count;
};

static void collect(void *ctx, int64_t t, const double v[QFLOW_COUNT])
{
    struct step_sum *s = ctx;
    memcpy(s->at[s->count], v, sizeof s->at[0]);
    s->t[s->count++] = t;
}

static void check_state(const struct tree *t, const struct qflow *flow, double held[FLAVORS][3][QUEUES])
{
    for (uint32_t f = 0; f < FLAVORS; f++) {
        struct truth all[NODES];
        truths(t, f, held[f], all);
        for (uint32_t n = 0; n < NODES; n++) {
            if (cell_of(flow, n, f) == POLICY_NONE)
                continue;
            const struct qflow_state s = qflow_state(flow, cell_of(flow, n, f));
            const double mine[] = {(double)s.nominal, (double)s.subtree, (double)s.used, (double)s.pending,
                                   (double)s.reserved, (double)s.admitted, (double)s.borrowed, (double)s.over,
                                   s.lent, s.own_lent, s.free};
            const double theirs[] = {all[n].nominal, all[n].subtree, all[n].use, all[n].pending, all[n].reserved,
                                     all[n].admitted, all[n].borrowed, all[n].over, all[n].lent, all[n].own_lent,
                                     all[n].free};
            for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
                near(mine[i], theirs[i]);
        }
        conserved(t, flow, f);
    }
}

/* One change at a queue; usage never above what the node may ever use, as an admission ensures. */
static void change(struct tree *t, struct qflow *flow, int64_t now, double held[FLAVORS][3][QUEUES])
{
    const uint32_t q = (uint32_t)draw(t, QUEUES), f = (uint32_t)draw(t, t->groups[q].flavor_count);
    const uint32_t cell = cell_of(flow, q, f);
    const int64_t v = (int64_t)draw(t, 24) + 1;
    switch (draw(t, 4)) {
    case 0:
        qflow_pend(flow, now, cell, v);
        held[f][0][q] += (double)v;
        break;
    case 1:
        if (held[f][1][q] + (double)v > (double)qflow_potential(flow, cell))
            break;
        qflow_reserve(flow, now, cell, v);
        held[f][1][q] += (double)v;
        break;
    case 2: {
        const int64_t more = (int64_t)(held[f][1][q] - held[f][2][q]);
        qflow_admit(flow, now, cell, more);
        held[f][2][q] += (double)more;
        break;
    }
    default:
        qflow_admit(flow, now, cell, -(int64_t)held[f][2][q]);
        qflow_reserve(flow, now, cell, -(int64_t)held[f][1][q]);
        held[f][1][q] = held[f][2][q] = 0;
    }
}

static void states_are_those_of_the_definitions(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        static struct tree t;
        double held[FLAVORS][3][QUEUES] = {{{0}}};
        make(&t, seed * 7919);
        struct qflow *flow = qflow_create(&t.config);
        for (int i = 0; i < CHANGES; i++) {
            change(&t, flow, i * SIM_SECOND, held);
            if (i % 7 == 0)
                check_state(&t, flow, held);
        }
        qflow_destroy(flow);
    }
}

/* Means over steps of a minute against the sum over the log, at every cell. */
static void means_are_those_of_the_log(void **state)
{
    (void)state;
    enum { STEPS = 30 };
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        static struct tree t;
        static double sum[STEPS][FLAVORS][NODES][QFLOW_COUNT];
        double held[FLAVORS][3][QUEUES] = {{{0}}};
        memset(sum, 0, sizeof sum);
        make(&t, seed * 104729);
        struct qflow *flow = qflow_create(&t.config);
        qflow_keep(flow, SIM_MINUTE);
        for (int second = 0; second < STEPS * 60; second++) {
            if (draw(&t, 5) == 0)
                change(&t, flow, second * SIM_SECOND, held);
            for (uint32_t f = 0; f < FLAVORS; f++) {
                struct truth all[NODES];
                truths(&t, f, held[f], all);
                for (uint32_t n = 0; n < NODES; n++) {
                    const double v[QFLOW_COUNT] = {all[n].pending,  all[n].reserved, all[n].admitted,
                                                   all[n].borrowed, all[n].lent,     all[n].free};
                    for (int i = 0; i < QFLOW_COUNT; i++)
                        sum[second / 60][f][n][i] += v[i] / 60;
                }
            }
        }
        qflow_finish(flow, STEPS * SIM_MINUTE);
        for (uint32_t f = 0; f < FLAVORS; f++)
            for (uint32_t n = 0; n < NODES; n++) {
                static struct step_sum s;
                const uint32_t cell = cell_of(flow, n, f);
                s.count = 0;
                if (cell == POLICY_NONE)
                    continue;
                qflow_each(flow, cell, collect, &s);
                for (int step = 0, at = -1; step < STEPS; step++) {
                    while (at + 1 < (int)s.count && s.t[at + 1] <= step * SIM_MINUTE)
                        at++;
                    assert_true(at >= 0);
                    for (int i = 0; i < QFLOW_COUNT; i++)
                        near(s.at[at][i], sum[step][f][n][i]);
                }
            }
        qflow_destroy(flow);
    }
}

/* Row 5 of the table of TestAvailable: potentials 35, 12, 40. */
static void potentials_are_kueues(void **state)
{
    (void)state;
    const uint32_t flavors[] = {0}, resources[] = {0};
    const struct policy_quota own_quota = {10, POLICY_NIL, POLICY_NIL}, limited = {10, 2, POLICY_NIL},
                              lends = {10, POLICY_NIL, 5};
    const struct policy_resource_group g[] = {{resources, flavors, &own_quota, 1, 1},
                                              {resources, flavors, &limited, 1, 1},
                                              {resources, flavors, &lends, 1, 1}};
    const struct policy_cluster_queue queues[] = {{.name = "a", .groups = &g[0], .group_count = 1},
                                                  {.name = "b", .groups = &g[1], .group_count = 1},
                                                  {.name = "c", .groups = &g[2], .group_count = 1}};
    const struct policy_cohort cohort = {"co", POLICY_NONE, &g[0], 1, 1.0};
    const struct policy_config c = {.cohorts = &cohort, .cohort_count = 1, .cluster_queues = queues,
                                    .cluster_queue_count = 3, .resources = resource_names, .resource_count = 1};
    struct qflow *f = qflow_create(&c);
    const int64_t expected[] = {35, 12, 40};
    for (uint32_t q = 0; q < 3; q++)
        assert_int_equal(qflow_potential(f, qflow_cell(f, POLICY_OBJ_CLUSTER_QUEUE, q, 0, 0)), expected[q]);
    qflow_destroy(f);
}

static void no_more_steps_than_the_limit(void **state)
{
    (void)state;
    static struct tree t;
    static struct step_sum s;
    make(&t, 5);
    struct qflow *f = qflow_create(&t.config);
    uint32_t steps = 0;
    qflow_keep(f, SIM_SECOND);
    for (int64_t now = 0; now < 200000; now++)
        qflow_pend(f, now * SIM_SECOND, 0, now % 2 == 0 ? now + 1 : -now);
    qflow_finish(f, 200000 * SIM_SECOND);
    s.count = 0;
    qflow_each(f, 0, collect, &s);
    steps = (uint32_t)s.count;
    assert_in_range(steps, 500, QFLOW_STEPS_MAX);
    qflow_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_those_of_the_definitions),
        cmocka_unit_test(means_are_those_of_the_log),
        cmocka_unit_test(potentials_are_kueues),
        cmocka_unit_test(no_more_steps_than_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
