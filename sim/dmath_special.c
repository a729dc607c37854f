/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error function, normal distribution and log gamma on top of exp and log of sim/dmath.c. */
#include <stdint.h>
#include <string.h>

#include "sim/dmath.h"
#include "sim/dmath_tables.h"

/* Value at x of the polynomial with c[0] as its highest coefficient. */
static inline double horner(const double *c, int count, double x)
{
    double y = c[0];
    for (int i = 1; i < count; i++)
        y = y * x + c[i];
    return y;
}

#define INV_SQRT_PI 0x1.20dd750429b6dp-1
#define TWO_INV_SQRT_PI 0x1.20dd750429b6dp+0

/*
 * W. J. Cody, "Rational Chebyshev approximations for the error function", Math. Comp. 23 (1969):
 * erf(x) = x P(x^2)/Q(x^2) below 0.46875; erfc(x) = exp(-x^2) P(x)/Q(x) up to 4, and
 * exp(-x^2)/x (1/sqrt(pi) + P(x^-2)/(x^2 Q(x^-2))) beyond. Highest coefficient first.
 */
static const double erf_p[] = {1.85777706184603153e-1, 3.16112374387056560e0,
                               1.13864154151050156e2, 3.77485237685302021e2,
                               3.20937758913846947e3};
static const double erf_q[] = {1, 2.36012909523441209e1, 2.44024637934444173e2,
                               1.28261652607737228e3, 2.84423683343917062e3};
static const double middle_p[] = {2.15311535474403846e-8, 5.64188496988670089e-1,
                                  8.88314979438837594e0, 6.61191906371416295e1,
                                  2.98635138197400131e2, 8.81952221241769090e2,
                                  1.71204761263407058e3, 2.05107837782607147e3,
                                  1.23033935479799725e3};
static const double middle_q[] = {1, 1.57449261107098347e1, 1.17693950891312499e2,
                                  5.37181101862009858e2, 1.62138957456669019e3,
                                  3.29079923573345963e3, 4.36261909014324716e3,
                                  3.43936767414372164e3, 1.23033935480374942e3};
static const double tail_p[] = {1.63153871373020978e-2, 3.05326634961232344e-1,
                                3.60344899949804439e-1, 1.25781726111229246e-1,
                                1.60837851487422766e-2, 6.58749161529837803e-4};
static const double tail_q[] = {1, 2.56852019228982242e0, 1.87295284992346725e0,
                                5.27905102951428412e-1, 6.05183413124413191e-2,
                                2.33520497626869185e-3};

static double erf_small(double x)
{
    double z = x * x;
    return x * (horner(erf_p, 5, z) / horner(erf_q, 5, z));
}

/* exp(-x^2) without the rounding error of the square: x cut to sixteenths (Cody). */
static double exp_minus_square(double x)
{
    double cut = dm_floor(x * 16) / 16;
    return dm_exp(-cut * cut) * dm_exp(-(x - cut) * (x + cut));
}

/* x >= 0.46875 */
static double erfc_large(double x)
{
    if (x > 27.3)
        return 0;
    if (x <= 4)
        return exp_minus_square(x) * (horner(middle_p, 9, x) / horner(middle_q, 9, x));
    double z = 1 / (x * x);
    double tail = z * (horner(tail_p, 6, z) / horner(tail_q, 6, z));
    return exp_minus_square(x) * ((INV_SQRT_PI - tail) / x);
}

double dm_erf(double x)
{
    if (x != x)
        return x;
    if (x < 0)
        return -dm_erf(-x);
    return x < 0.46875 ? erf_small(x) : 1 - erfc_large(x);
}

double dm_erfc(double x)
{
    if (x != x)
        return x;
    if (x < -0.46875)
        return 2 - erfc_large(-x);
    return x < 0.46875 ? 1 - erf_small(x) : erfc_large(x);
}

#define INV_SQRT_2 0x1.6a09e667f3bcdp-1

/* erfc(-x/sqrt 2) / 2, corrected to first order for the rounding of the division: far out in the
 * tail it would cost a factor 2 z^2 in relative error. */
double dm_norm_cdf(double x)
{
    double z = -x * INV_SQRT_2;
    double cdf = 0.5 * dm_erfc(z);
    if (!(z > 1 && z < 27))
        return cdf;
    /* z^2 differs from x^2/2 by d; the derivative of erfc gives the change. */
    double head = (double)(float)z, rest = z - head;
    double x_head = (double)(float)x, x_rest = x - x_head;
    double d = ((head * head - 0.5 * x_head * x_head) + (2 * head * rest - x_head * x_rest)) +
               (rest * rest - 0.5 * x_rest * x_rest);
    return cdf + 0.5 * TWO_INV_SQRT_PI * exp_minus_square(z) * (d / (2 * z));
}

/*
 * M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied
 * Statistics 37 (1988), PPND16. Highest coefficient first.
 */
static const double centre_p[] = {2.5090809287301226727e+3, 3.3430575583588128105e+4,
                                  6.7265770927008700853e+4, 4.5921953931549871457e+4,
                                  1.3731693765509461125e+4, 1.9715909503065514427e+3,
                                  1.3314166789178437745e+2, 3.3871328727963666080e0};
static const double centre_q[] = {5.2264952788528545610e+3, 2.8729085735721942674e+4,
                                  3.9307895800092710610e+4, 2.1213794301586595867e+4,
                                  5.3941960214247511077e+3, 6.8718700749205790830e+2,
                                  4.2313330701600911252e+1, 1};
static const double near_p[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2,
                                2.41780725177450611770e-1, 1.27045825245236838258e0,
                                3.64784832476320460504e0, 5.76949722146069140550e0,
                                4.63033784615654529590e0, 1.42343711074968357734e0};
static const double near_q[] = {1.05075007164441684324e-9, 5.47593808499534494600e-4,
                                1.51986665636164571966e-2, 1.48103976427480074590e-1,
                                6.89767334985100004550e-1, 1.67638483018380384940e0,
                                2.05319162663775882187e0, 1};
static const double far_p[] = {2.01033439929228813265e-7, 2.71155556874348757815e-5,
                               1.24266094738807843860e-3, 2.65321895265761230930e-2,
                               2.96560571828504891230e-1, 1.78482653991729133580e0,
                               5.46378491116411436990e0, 6.65790464350110377720e0};
static const double far_q[] = {2.04426310338993978564e-15, 1.42151175831644588870e-7,
                               1.84631831751005468180e-5, 7.86869131145613259100e-4,
                               1.48753612908506148525e-2, 1.36929880922735805310e-1,
                               5.99832206555887937690e-1, 1};

double dm_norm_inv(double p)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -DM_INF : p == 1 ? DM_INF : DM_NAN;
    double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        double z = 0.180625 - q * q;
        return q * (horner(centre_p, 8, z) / horner(centre_q, 8, z));
    }
    double r = dm_sqrt(-dm_log(q < 0 ? p : 1 - p));
    double x = r <= 5 ? horner(near_p, 8, r - 1.6) / horner(near_q, 8, r - 1.6)
                      : horner(far_p, 8, r - 5) / horner(far_q, 8, r - 5);
    return q < 0 ? -x : x;
}

#define ONE_MINUS_EULER 0x1.b0ee6072093cep-2
#define HALF_LOG_2PI 0x1.d67f1c864beb5p-1

/* lgamma(2 + z), |z| <= 1/2: Taylor series (DLMF 5.7.3), relative error small at its zero. */
static double lgamma_at_two(double z)
{
    double y = 0;
    for (int i = 27; i >= 0; i--)
        y = y * z + lgamma_table[i];
    return z * (ONE_MINUS_EULER + z * y);
}

/* x >= 10: Stirling's series (DLMF 5.11.1). */
static double lgamma_large(double x)
{
    double w = 1 / x, z = w * w;
    double series = w * (1.0 / 12 + z * (-1.0 / 360 + z * (1.0 / 1260 + z * (-1.0 / 1680 +
                    z * (1.0 / 1188 + z * (-691.0 / 360360 + z * (1.0 / 156)))))));
    double log_x = dm_log(x);
    if (x > 1e300)
        return x * (log_x - 1);
    return (x * (log_x - 1) - 0.5 * log_x) + (HALF_LOG_2PI + series);
}

double dm_lgamma(double x)
{
    if (!(x > 0))
        return x == 0 ? DM_INF : DM_NAN;
    if (x < 0.5)
        return (lgamma_at_two(x) - dm_log1p(x)) - dm_log(x);
    if (x < 1.5)
        return lgamma_at_two(x - 1) - dm_log1p(x - 1);
    if (x >= 10)
        return lgamma_large(x);
    double product = 1;
    while (x > 2.5) {
        x -= 1;
        product *= x;
    }
    return lgamma_at_two(x - 2) + dm_log(product);
}
