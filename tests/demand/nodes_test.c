/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quadrature covers every dimension evenly and reproduces known moments and quantiles. */
#include "models/demand/nodes.h"
#include "tests/demand/near.h"

#include <stdlib.h>

struct pair {
    double x, mass;
};

static int by_value(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    return p->x < q->x ? -1 : p->x > q->x;
}

/* Value at cumulative mass p of all points. */
static double quantile(double x[NODES_PHASES][NODES_COUNT], double p)
{
    struct pair all[NODES_PHASES * NODES_COUNT];
    int n = 0;
    for (int j = 0; j < NODES_PHASES; j++)
        for (int i = 0; i < NODES_COUNT; i++)
            all[n++] = (struct pair){x[j][i], nodes_mass[i] / NODES_PHASES};
    qsort(all, (size_t)n, sizeof all[0], by_value);
    /* A value stands for the middle of its part: interpolate between middles. */
    double sum = 0.5 * all[0].mass;
    for (int i = 1; i < n; i++) {
        double next = sum + 0.5 * (all[i - 1].mass + all[i].mass);
        if (next >= p)
            return all[i - 1].x + (all[i].x - all[i - 1].x) * (p - sum) / (next - sum);
        sum = next;
    }
    return all[n - 1].x;
}

static double mean_of(double x[NODES_PHASES][NODES_COUNT], double y[NODES_PHASES][NODES_COUNT])
{
    double sum = 0.0;
    for (int j = 0; j < NODES_PHASES; j++)
        for (int i = 0; i < NODES_COUNT; i++)
            sum += x[j][i] * (y != NULL ? y[j][i] : 1.0) * nodes_mass[i] / NODES_PHASES;
    return sum;
}

static void means_are_exact(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_LOGNORMAL, 1.0, 2.0);
    assert_near(mean_of(n.size, NULL), 1.0, 1e-12);
    assert_near(mean_of(n.prompt, NULL), 1.0, 1e-9);
    assert_near(mean_of(n.wait, NULL), 1.0, 1e-9);
    assert_near(mean_of(n.level, NULL), 0.5, 1e-12);
    assert_near(mean_of(n.residual, NULL), 0.0, 0.01);
    assert_near(mean_of(n.residual, n.residual), 1.0, 0.02);
}

static void quantiles_are_those_of_the_laws(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_LOGNORMAL, 1.0, 0.0);
    /* T4: lognormal with CV 1 has sigma 0.832555, median exp(-sigma^2/2) of the mean. */
    const double s = 0.832555, half = 0.5 * s * s;
    assert_near_rel(quantile(n.size, 0.5), exp(-half), 0.02);
    assert_near_rel(quantile(n.size, 0.95), exp(1.644854 * s - half), 0.02);
    assert_near_rel(quantile(n.size, 0.99), exp(2.326348 * s - half), 0.03);
    nodes_init(&n, NODES_GAMMA, 1.0, 0.0); /* exponential */
    assert_near_rel(quantile(n.size, 0.99), log(100), 0.03);
    assert_near_rel(quantile(n.wait, 0.99), log(100), 0.03);
    nodes_init(&n, NODES_GAMMA, 0.5, 0.0); /* shape 4: chi-square with 8 degrees / 8 */
    assert_near_rel(quantile(n.size, 0.95), 15.507 / 8, 0.02);
    assert_near_rel(quantile(n.size, 0.99), 20.090 / 8, 0.03);
}

static void constants_stay_constant(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_LOGNORMAL, 0.0, 0.0);
    for (int j = 0; j < NODES_PHASES; j++)
        for (int i = 0; i < NODES_COUNT; i++) {
            assert_near(n.size[j][i], 1.0, 1e-12);
            assert_near(n.prompt[j][i], 1.0, 1e-12);
        }
}

static void assert_partition(struct pair *all, int count, double tolerance)
{
    double from = 0.0;
    qsort(all, (size_t)count, sizeof all[0], by_value);
    for (int i = 0; i < count; i++) {
        assert_near(all[i].x, from + 0.5 * all[i].mass, tolerance);
        from += all[i].mass;
    }
    assert_near(from, 1.0, 1e-12);
}

/* Turned back into probabilities the residual's points cut the unit interval by their masses. */
static void a_dimension_sees_each_of_its_parts_once(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_LOGNORMAL, 1.0, 1.0);
    double (*dims[2])[NODES_COUNT] = {n.residual, n.noise};
    for (int d = 0; d < 2; d++) {
        struct pair all[NODES_PHASES * NODES_COUNT];
        int k = 0;
        for (int j = 0; j < NODES_PHASES; j++)
            for (int i = 0; i < NODES_COUNT; i++)
                all[k++] = (struct pair){0.5 * erfc(-dims[d][j][i] / sqrt(2)),
                                         nodes_mass[i] / NODES_PHASES};
        assert_partition(all, k, 1e-9);
    }
}

static void levels_cover_the_unit_interval_in_each_phase(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_LOGNORMAL, 1.0, 1.0);
    for (int j = 0; j < NODES_PHASES; j++) {
        struct pair all[NODES_COUNT];
        for (int i = 0; i < NODES_COUNT; i++)
            all[i] = (struct pair){n.level[j][i], nodes_mass[i]};
        assert_partition(all, NODES_COUNT, 1e-12);
    }
}

static void dimensions_are_hardly_correlated(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_LOGNORMAL, 1.0, 1.0);
    double (*dims[4])[NODES_COUNT] = {n.residual, n.noise, n.wait, n.prompt};
    for (int a = 0; a < 4; a++) {
        double mean = mean_of(dims[a], NULL);
        double sd = sqrt(mean_of(dims[a], dims[a]) - mean * mean);
        double size_sd = sqrt(mean_of(n.size, n.size) - 1.0);
        assert_near((mean_of(dims[a], n.size) - mean) / (sd * size_sd), 0.0, 0.1);
        for (int b = 0; b < a; b++) {
            double other = mean_of(dims[b], NULL);
            double other_sd = sqrt(mean_of(dims[b], dims[b]) - other * other);
            double r = (mean_of(dims[a], dims[b]) - mean * other) / (sd * other_sd);
            assert_near(r, 0.0, 0.1);
        }
    }
}

/* M/M/c sojourn = exponential service + wait that is 0 or exponential: workload-models 2.4. */
static void sojourn_share_is_that_of_mm4(void **state)
{
    (void)state;
    struct nodes n;
    nodes_init(&n, NODES_GAMMA, 1.0, 0.0);
    struct station st = {.residual_c1 = 1.0, .decode_c1 = 1.0, .decode_s = 1.0, .p_wait = 0.596432,
                         .wait_scale_s = 1.25};
    static const double t[] = {1.3462, 4.7380, 6.8932}, want[] = {0.5, 0.95, 0.99};
    for (int i = 0; i < 3; i++)
        assert_near(nodes_share_within(&n, 4, &st, t[i], 0.0), want[i], 0.012 - 0.003 * i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_exact),
        cmocka_unit_test(quantiles_are_those_of_the_laws),
        cmocka_unit_test(constants_stay_constant),
        cmocka_unit_test(a_dimension_sees_each_of_its_parts_once),
        cmocka_unit_test(levels_cover_the_unit_interval_in_each_phase),
        cmocka_unit_test(dimensions_are_hardly_correlated),
        cmocka_unit_test(sojourn_share_is_that_of_mm4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
