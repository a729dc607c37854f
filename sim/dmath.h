/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Portable transcendental functions made of + - * / and sqrt alone, so that results are the same
 * bits whatever the libm, compiler or flags (libm differs between processors: style-anchors 3.10).
 * Stated maximal error in units in the last place, checked in tests/sim/dmath_test.c.
 */
#ifndef SIM_DMATH_H
#define SIM_DMATH_H

/* As doubles: INFINITY and NAN of math.h are floats, which -Wdouble-promotion of clang refuses. */
#define DM_INF (__builtin_inf())
#define DM_NAN (__builtin_nan(""))

double dm_exp(double x);            /* < 1 ulp (2 when subnormal); overflow gives inf */
double dm_log(double x);            /* < 1 ulp; 0 gives -inf, negative gives NaN */
double dm_expm1(double x);          /* < 3 ulp */
double dm_log1p(double x);          /* < 2 ulp */
double dm_pow(double x, double y);  /* x >= 0; relative error < 1e-15 for |y log x| < 500 */
double dm_sin(double x);            /* |x| <= 1e6, else NaN; < 1 ulp */
double dm_cos(double x);            /* the same */
double dm_erf(double x);            /* < 5 ulp */
double dm_erfc(double x);           /* < 8 ulp */
double dm_norm_cdf(double x);       /* < 12 ulp, down to -37 */
double dm_norm_inv(double p);       /* 0 < p < 1; relative error < 2e-15 */
double dm_lgamma(double x);         /* x > 0; < 8 ulp, also near its zeros 1 and 2 */
double dm_sqrt(double x);           /* IEEE, exact */
double dm_floor(double x);
double dm_ceil(double x);
double dm_round(double x);          /* half away from zero */

#endif
