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

double dm_exp(double x);            /* < 2 ulp; overflow gives inf, underflow 0 */
double dm_log(double x);            /* < 2 ulp; 0 gives -inf, negative gives NaN */
double dm_expm1(double x);
double dm_log1p(double x);
double dm_pow(double x, double y);  /* x >= 0; relative error < 1e-14 for |y log x| < 500 */
double dm_sin(double x);            /* |x| < 1e6 */
double dm_cos(double x);
double dm_erf(double x);
double dm_erfc(double x);
double dm_norm_cdf(double x);
double dm_norm_inv(double p);       /* 0 < p < 1 */
double dm_lgamma(double x);         /* x > 0 */
double dm_sqrt(double x);           /* IEEE, exact */
double dm_floor(double x);
double dm_ceil(double x);
double dm_round(double x);          /* half away from zero */

#endif
