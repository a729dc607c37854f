/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many waiting workloads in motion: decisions by proof are those that evaluations make, and their
 * work does not grow with the number of workloads (counted in steps, not in time). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/kueue/churn.h"

enum { ROUNDS = 12 };

static struct churn_result run(struct churn_options o)
{
    struct churn *c = churn_create(&o);
    churn_rounds(c, ROUNDS);
    const struct churn_result r = churn_result(c);
    churn_destroy(c);
    return r;
}

/* The recorded entries are those that the oracle's logs hold; there every head is evaluated. */
static void decisions_by_proof_are_counted_as_the_log_counts_them(void **state)
{
    (void)state;
    for (int m = CHURN_NEVER; m <= CHURN_FAIR; m++) {
        struct churn_options o = {.pending = 1500, .queues = 120, .shapes = 6, .changed = 9,
                                  .mode = (enum churn_mode)m, .seed = 3};
        const struct churn_result quick = run(o);
        o.entries = true;
        const struct churn_result logged = run(o);
        assert_int_equal(quick.history, logged.history);
        assert_int_equal(quick.admitted, logged.admitted);
        assert_int_equal(quick.counts.cycles, logged.counts.cycles);
        assert_int_equal(kq_decisions(&quick.counts), logged.entries);
        assert_int_equal(kq_decisions(&logged.counts), logged.entries);
        assert_int_equal(logged.counts.proven, 0);
        assert_true(quick.counts.proven > 0);
        assert_true(m == CHURN_NEVER || quick.evicted > 0);
    }
}

static uint64_t work(const struct churn_result *r)
{
    return r->counts.evaluated + r->counts.proofs;
}

/* What is left of the filling of the queues, which every workload goes through, is taken off. */
static uint64_t work_of_rounds(uint32_t queues, uint32_t pending, uint32_t changed)
{
    const struct churn_options o = {.pending = pending, .queues = queues, .shapes = 8, .changed = changed,
                                    .mode = CHURN_NEVER, .seed = 1};
    struct churn *c = churn_create(&o);
    churn_rounds(c, ROUNDS);
    const struct churn_result a = churn_result(c);
    churn_rounds(c, ROUNDS);
    const struct churn_result b = churn_result(c);
    churn_destroy(c);
    assert_true(b.admitted > a.admitted);
    return work(&b) - work(&a);
}

static void a_round_costs_the_same_with_ten_times_as_many_waiting(void **state)
{
    (void)state;
    const uint64_t few = work_of_rounds(300, 30000, 30), many = work_of_rounds(300, 300000, 30);
    assert_true(few > 0);
    assert_true(many * 10 <= few * 11);
}

static void a_round_costs_what_its_changed_trees_cost(void **state)
{
    (void)state;
    const uint64_t one = work_of_rounds(1000, 60000, 1), all = work_of_rounds(1000, 60000, 10);
    assert_true(one > 0);
    assert_true(one * 3 <= all); /* one tree woken in a round, against all ten in every second one */
}

/* A full cluster, and a wake for each tree in each round: eight classes a queue are looked at. */
static void most_decisions_are_proven_and_not_computed(void **state)
{
    (void)state;
    const struct churn_result r = run((struct churn_options){
        .pending = 20000, .queues = 200, .shapes = 8, .changed = 10, .mode = CHURN_NEVER, .seed = 2});
    assert_true(r.counts.proven >= 3 * r.counts.evaluated);
    assert_true(r.counts.proofs <= 2 * r.counts.proven);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decisions_by_proof_are_counted_as_the_log_counts_them),
        cmocka_unit_test(a_round_costs_the_same_with_ten_times_as_many_waiting),
        cmocka_unit_test(a_round_costs_what_its_changed_trees_cost),
        cmocka_unit_test(most_decisions_are_proven_and_not_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
