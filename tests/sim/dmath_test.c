/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reference is libm in long double (64 bits of significand, eleven more than ours), except for
 * the inverse normal (GSL). Errors are in units in the last place of the exact result.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sim/dmath.h"
#include "sim/dmath_tables.h"
#include "sim/fnv.h"
#include "sim/rng.h"

enum { ARGUMENTS = 200000 };

/* Argument number i of a fixed pseudo-random sequence, uniform on lo..hi. */
static double between(uint64_t i, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(int64_t)(rng_hash(i) >> 11) * 0x1p-53);
}

/* Every binary order of magnitude from 2^lo to 2^hi alike. */
static double scaled(uint64_t i, int lo, int hi)
{
    int exponent = lo + (int)(rng_hash(~i) % (uint64_t)(hi - lo));
    return ldexp(between(i, 1, 2), exponent);
}

static double ulps(double got, long double exact)
{
    double near = (double)exact;
    if (got == near)
        return 0;
    if (isnan(got) || isinf(got) || isinf(near))
        return 1e300;
    int exponent;
    (void)frexp(near, &exponent);
    long double unit = ldexpl(1, exponent - 53 > -1074 ? exponent - 53 : -1074);
    return (double)(fabsl((long double)got - exact) / unit);
}

struct range {
    double lo, hi;
};

typedef double function(double);
typedef long double reference(long double);

static double worst_between(function *f, reference *exact, struct range r)
{
    double worst = 0;
    for (uint64_t i = 0; i < ARGUMENTS; i++) {
        double x = between(i, r.lo, r.hi);
        double error = ulps(f(x), exact((long double)x));
        worst = error > worst ? error : worst;
    }
    return worst;
}

static double worst_scaled(function *f, reference *exact, int lo, int hi, double sign)
{
    double worst = 0;
    for (uint64_t i = 0; i < ARGUMENTS; i++) {
        double x = sign * scaled(i, lo, hi);
        double error = ulps(f(x), exact((long double)x));
        worst = error > worst ? error : worst;
    }
    return worst;
}

/* Prints the measured error, so that a run shows how far the bound is. */
#define assert_below(error, bound)                                                                 \
    do {                                                                                           \
        double measured = (error);                                                                 \
        print_message("# %s: %.3g (limit %.3g)\n", #error, measured, (double)(bound));             \
        assert_true(measured < (bound));                                                           \
    } while (0)

static void every_table_entry_is_the_rounded_definition(void **state)
{
    (void)state;
    for (int i = 0; i < 128; i++) {
        long double exact = exp2l((long double)i / 128);
        assert_true(exp_table[i].hi == (double)exact);
        long double rest = exact - (long double)exp_table[i].hi;
        assert_true(fabsl(rest - (long double)exp_table[i].lo) < 0x1p-62L);
        long double sum = (long double)log_table[i].hi + (long double)log_table[i].lo;
        assert_true(fabsl(sum + logl((long double)log_table[i].inv)) < 0x1p-63L);
        assert_true(log_table[i].inv * 4096 == floor(log_table[i].inv * 4096));
        assert_true(log_table[i].hi * 0x1p42 == floor(log_table[i].hi * 0x1p42));
    }
    for (int k = 2; k < 30; k++) {
        long double rest = 0; /* zeta(k) - 1 = sum of n^-k, with the Euler-Maclaurin tail at 1000 */
        for (int n = 999; n >= 2; n--)
            rest += powl(n, -k);
        rest += powl(1000, 1 - k) / (k - 1) + powl(1000, -k) / 2 + k * powl(1000, -k - 1) / 12;
        long double exact = (k % 2 == 0 ? rest : -rest) / k;
        assert_true(ulps(lgamma_table[k - 2], exact) < 0.6);
    }
}

static void exp_is_within_two_ulp(void **state)
{
    (void)state;
    assert_below(worst_between(dm_exp, expl, (struct range){-700, 700}), 1);
    assert_below(worst_between(dm_exp, expl, (struct range){-1, 1}), 1);
    assert_below(worst_between(dm_exp, expl, (struct range){-745, -708}), 1.1);
    assert_below(worst_between(dm_exp, expl, (struct range){709, 709.78}), 1);
    assert_below(worst_scaled(dm_exp, expl, -60, 8, -1), 1);
}

static void exp_keeps_its_special_values(void **state)
{
    (void)state;
    assert_true(dm_exp(0) == 1);
    assert_true(dm_exp(-0.0) == 1);
    assert_true(dm_exp(1) == 0x1.5bf0a8b145769p+1);
    assert_true(isinf(dm_exp(709.7827128933841)) && isinf(dm_exp(1e300)) && isinf(dm_exp(DM_INF)));
    assert_true(dm_exp(709.782712893384) < DM_INF);
    assert_true(dm_exp(-745.1332191019412) == 0 && dm_exp(-DM_INF) == 0);
    assert_true(dm_exp(-745.1) == 0x1p-1074);
    assert_true(isnan(dm_exp(DM_NAN)));
}

static void log_is_within_two_ulp(void **state)
{
    (void)state;
    assert_below(worst_scaled(dm_log, logl, -1022, 1023, 1), 1);
    assert_below(worst_scaled(dm_log, logl, -1074, -1022, 1), 1);
    assert_below(worst_between(dm_log, logl, (struct range){0.5, 2}), 1);
    assert_below(worst_between(dm_log, logl, (struct range){0.98, 1.02}), 1);
    assert_below(worst_between(dm_log, logl, (struct range){1 - 1e-9, 1 + 1e-9}), 1);
    assert_below(worst_between(dm_log, logl, (struct range){0, 1}), 1);
}

static void log_keeps_its_special_values(void **state)
{
    (void)state;
    assert_true(dm_log(1) == 0 && !signbit(dm_log(1)));
    assert_true(dm_log(0) == -DM_INF && dm_log(-0.0) == -DM_INF);
    assert_true(isnan(dm_log(-1)) && isnan(dm_log(DM_NAN)) && isnan(dm_log(-DM_INF)));
    assert_true(dm_log(DM_INF) == DM_INF);
    assert_true(dm_log(2) == M_LN2 && dm_log(10) == M_LN10);
    assert_true(dm_log(0x1p-1074) == -0x1.74385446d71c3p+9);
}

static void expm1_and_log1p_are_within_three_ulp(void **state)
{
    (void)state;
    assert_below(worst_between(dm_expm1, expm1l, (struct range){-50, 700}), 1.5);
    assert_below(worst_between(dm_expm1, expm1l, (struct range){-1, 1}), 3);
    assert_below(worst_scaled(dm_expm1, expm1l, -70, 0, -1), 3);
    assert_below(worst_scaled(dm_expm1, expm1l, -70, 9, 1), 3);
    assert_below(worst_between(dm_log1p, log1pl, (struct range){-1, 1}), 2);
    assert_below(worst_scaled(dm_log1p, log1pl, -70, 0, -1), 2);
    assert_below(worst_scaled(dm_log1p, log1pl, -70, 1000, 1), 2);
    assert_true(dm_expm1(0) == 0 && signbit(dm_expm1(-0.0)) && dm_expm1(-DM_INF) == -1);
    assert_true(isinf(dm_expm1(710)) && dm_expm1(-800) == -1);
    assert_true(dm_log1p(-1) == -DM_INF && isnan(dm_log1p(-1.5)) && isinf(dm_log1p(DM_INF)));
}

static double relative_pow_error(double x, double y)
{
    long double exact = powl((long double)x, (long double)y);
    return (double)fabsl(((long double)dm_pow(x, y) - exact) / exact);
}

static void pow_has_a_relative_error_below_1e14(void **state)
{
    (void)state;
    double worst = 0, worst_near_one = 0;
    for (uint64_t i = 0; i < ARGUMENTS; i++) {
        double x = scaled(i, -1000, 1000), limit = 500 / fabs(log(x));
        double error = relative_pow_error(x, between(i + ARGUMENTS, -limit, limit));
        worst = error > worst ? error : worst;
        x = 1 + between(i, -1, 1) * ldexp(1, -(int)(i % 50));
        limit = fabs(500 / log(x));
        if (x == 1 || x == 0)
            continue;
        error = relative_pow_error(x, between(i + ARGUMENTS, -limit, limit));
        worst_near_one = error > worst_near_one ? error : worst_near_one;
    }
    assert_below(worst, 3e-16);
    assert_below(worst_near_one, 1e-15);
}

static void pow_keeps_its_special_values(void **state)
{
    (void)state;
    assert_true(dm_pow(0, 2) == 0 && dm_pow(0, 0) == 1 && dm_pow(0, -1) == DM_INF);
    assert_true(dm_pow(1, DM_INF) == 1 && dm_pow(DM_NAN, 0) == 1);
    assert_true(dm_pow(DM_INF, 2) == DM_INF && dm_pow(DM_INF, -2) == 0);
    assert_true(dm_pow(2, DM_INF) == DM_INF && dm_pow(0.5, DM_INF) == 0);
    assert_true(dm_pow(2, -DM_INF) == 0 && dm_pow(0.5, -DM_INF) == DM_INF);
    assert_true(isnan(dm_pow(-1, 2)) && isnan(dm_pow(2, DM_NAN)));
    assert_true(dm_pow(2, 10) == 1024 && dm_pow(10, 15) == 1e15 && dm_pow(9, 0.5) == 3);
    assert_true(dm_pow(2, -1074) == 0x1p-1074 && dm_pow(2, 1024) == DM_INF);
    assert_true(dm_pow(0.9, 1e300) == 0 && dm_pow(0x1p-1074, -1) == DM_INF);
}

static void sin_and_cos_are_within_one_ulp(void **state)
{
    (void)state;
    assert_below(worst_between(dm_sin, sinl, (struct range){-10, 10}), 1);
    assert_below(worst_between(dm_cos, cosl, (struct range){-10, 10}), 1);
    assert_below(worst_between(dm_sin, sinl, (struct range){-1e6, 1e6}), 1);
    assert_below(worst_between(dm_cos, cosl, (struct range){-1e6, 1e6}), 1);
    assert_below(worst_scaled(dm_sin, sinl, -60, 3, -1), 1);
    assert_true(isnan(dm_sin(1e7)) && isnan(dm_cos(DM_INF)) && isnan(dm_sin(DM_NAN)));
    assert_true(signbit(dm_sin(-0.0)) && dm_cos(0) == 1);
}

/* Near a multiple of pi/2 nearly all digits cancel. */
static void sin_is_accurate_next_to_multiples_of_pi(void **state)
{
    double worst = 0;
    (void)state;
    for (int n = 1; n < 600000; n += 7) {
        double x = (double)(n * (long double)M_PI_2 + n * 6.123233995736766e-17L);
        long double exact = n % 2 == 0 ? sinl((long double)x) : cosl((long double)x);
        double error = ulps(n % 2 == 0 ? dm_sin(x) : dm_cos(x), exact);
        worst = error > worst && fabs(x) < 1e6 ? error : worst;
    }
    assert_below(worst, 1);
}

static void erf_and_erfc_are_within_eight_ulp(void **state)
{
    (void)state;
    assert_below(worst_between(dm_erf, erfl, (struct range){-6, 6}), 5);
    assert_below(worst_scaled(dm_erf, erfl, -60, 0, 1), 5);
    assert_below(worst_between(dm_erfc, erfcl, (struct range){-6, 0.5}), 8);
    assert_below(worst_between(dm_erfc, erfcl, (struct range){0.4, 4}), 8);
    assert_below(worst_between(dm_erfc, erfcl, (struct range){4, 26}), 8);
    assert_true(dm_erf(DM_INF) == 1 && dm_erf(-DM_INF) == -1 && dm_erf(0) == 0);
    assert_true(dm_erfc(DM_INF) == 0 && dm_erfc(-DM_INF) == 2 && isnan(dm_erfc(DM_NAN)));
}

static long double norm_cdf_exact(long double x)
{
    return erfcl(-x / sqrtl(2)) / 2;
}

static void norm_cdf_is_within_eight_ulp_far_into_the_tail(void **state)
{
    (void)state;
    assert_below(worst_between(dm_norm_cdf, norm_cdf_exact, (struct range){-5, 8}), 8);
    assert_below(worst_between(dm_norm_cdf, norm_cdf_exact, (struct range){-37, -5}), 12);
    assert_true(dm_norm_cdf(0) == 0.5 && dm_norm_cdf(DM_INF) == 1 && dm_norm_cdf(-DM_INF) == 0);
    /* Table 26.1 of Abramowitz and Stegun. */
    assert_true(fabs(dm_norm_cdf(1) - 0.841344746068543) < 1e-15);
    assert_true(fabs(dm_norm_cdf(1.96) - 0.975002104851780) < 1e-15);
}

static void norm_inv_agrees_with_gsl_and_inverts_the_distribution(void **state)
{
    double worst = 0, worst_round_trip = 0;
    (void)state;
    for (uint64_t i = 0; i < ARGUMENTS; i++) {
        double p = i % 2 == 0 ? between(i, 0, 1) : scaled(i, -1000, -1);
        double x = dm_norm_inv(p), other = gsl_cdf_ugaussian_Pinv(p);
        double error = fabs(x - other) / (1e-3 + fabs(x));
        worst = error > worst ? error : worst;
        /* dp = density dx; in the lower tail density / p is about |x| */
        double back = fabs((double)norm_cdf_exact((long double)x) - p) / p / (1 + x * x);
        worst_round_trip = back > worst_round_trip && p < 0.5 ? back : worst_round_trip;
    }
    assert_below(worst, 1e-13);
    assert_below(worst_round_trip, 1e-15);
    assert_true(dm_norm_inv(0.5) == 0);
    assert_true(dm_norm_inv(0) == -DM_INF && dm_norm_inv(1) == DM_INF && isnan(dm_norm_inv(1.5)));
    assert_true(fabs(dm_norm_inv(0.975) - 1.959963984540054) < 1e-15);
}

static void lgamma_is_close_also_at_its_zeros(void **state)
{
    (void)state;
    assert_below(worst_between(dm_lgamma, lgammal, (struct range){0.5, 2.5}), 8);
    assert_below(worst_between(dm_lgamma, lgammal, (struct range){0, 0.5}), 4);
    assert_below(worst_between(dm_lgamma, lgammal, (struct range){2.5, 200}), 6);
    assert_below(worst_scaled(dm_lgamma, lgammal, -1000, 1000, 1), 6);
    assert_true(dm_lgamma(1) == 0 && dm_lgamma(2) == 0 && dm_lgamma(0) == DM_INF);
    assert_true(isnan(dm_lgamma(-1)) && isinf(dm_lgamma(DM_INF)));
    assert_true(fabs(dm_lgamma(11) - log(3628800)) < 1e-14);
    assert_true(fabs(dm_lgamma(0.5) - 0.5 * log(M_PI)) < 1e-16);
}

static void rounding_agrees_with_libm_bit_for_bit(void **state)
{
    static const double special[] = {
        0.0,  -0.0, 0.5,   -0.5,   1.5,        -1.5,        2.5,        -2.5, 0.49999999999999994,
        1e15, 1e300, -1e300, 0x1p-1074, 0x1p52 - 0.5, 0.5 - 0x1p52, 0x1p52 + 1};
    (void)state;
    for (uint64_t i = 0; i < ARGUMENTS; i++) {
        double x = i < 16 ? special[i] : (i % 2 == 0 ? 1 : -1) * scaled(i, -4, 60);
        double got[3] = {dm_floor(x), dm_ceil(x), dm_round(x)};
        double want[3] = {floor(x), ceil(x), round(x)};
        assert_memory_equal(got, want, sizeof got);
    }
    assert_true(isinf(dm_floor(DM_INF)) && isinf(dm_round(-DM_INF)) && isnan(dm_ceil(DM_NAN)));
    assert_true(dm_sqrt(2) == M_SQRT2);
}

static uint64_t add_bits(uint64_t h, double x)
{
    return fnv_add(h, &x, sizeof x);
}

static uint64_t hash_all_functions(uint64_t i, uint64_t h)
{
    double unit = between(i, 0x1p-60, 1), wide = between(i + 1, -40, 40);
    double size = scaled(i, -500, 500);
    h = add_bits(h, dm_exp(wide * 17));
    h = add_bits(h, dm_log(size));
    h = add_bits(h, dm_log(unit));
    h = add_bits(h, dm_expm1(wide));
    h = add_bits(h, dm_log1p(unit));
    h = add_bits(h, dm_pow(size, wide / 50));
    h = add_bits(h, dm_sin(wide * 20000));
    h = add_bits(h, dm_cos(wide));
    h = add_bits(h, dm_erf(wide / 10));
    h = add_bits(h, dm_erfc(wide / 5));
    h = add_bits(h, dm_norm_cdf(wide));
    h = add_bits(h, dm_norm_inv(unit));
    h = add_bits(h, dm_lgamma(size < 1e100 ? size : unit));
    return add_bits(h, dm_round(wide));
}

/*
 * This number says nothing about accuracy (the tests above do). It pins the bits: it must be the
 * same for gcc and clang, -O0 to -O3, and on every x86-64. When a change of a function is meant to
 * change results, the new number is printed by the failure.
 */
static void results_have_the_same_bits_in_every_build(void **state)
{
    uint64_t h = FNV_START;
    (void)state;
    for (uint64_t i = 0; i < 1000000; i++)
        h = hash_all_functions(i, h);
    print_message("# hash 0x%016llx\n", (unsigned long long)h);
    assert_int_equal(h, UINT64_C(0x1ea174ce43f7d099));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_entry_is_the_rounded_definition),
        cmocka_unit_test(exp_is_within_two_ulp),
        cmocka_unit_test(exp_keeps_its_special_values),
        cmocka_unit_test(log_is_within_two_ulp),
        cmocka_unit_test(log_keeps_its_special_values),
        cmocka_unit_test(expm1_and_log1p_are_within_three_ulp),
        cmocka_unit_test(pow_has_a_relative_error_below_1e14),
        cmocka_unit_test(pow_keeps_its_special_values),
        cmocka_unit_test(sin_and_cos_are_within_one_ulp),
        cmocka_unit_test(sin_is_accurate_next_to_multiples_of_pi),
        cmocka_unit_test(erf_and_erfc_are_within_eight_ulp),
        cmocka_unit_test(norm_cdf_is_within_eight_ulp_far_into_the_tail),
        cmocka_unit_test(norm_inv_agrees_with_gsl_and_inverts_the_distribution),
        cmocka_unit_test(lgamma_is_close_also_at_its_zeros),
        cmocka_unit_test(rounding_agrees_with_libm_bit_for_bit),
        cmocka_unit_test(results_have_the_same_bits_in_every_build),
    };
    return cmocka_run_group_tests_name("dmath", tests, NULL, NULL);
}
