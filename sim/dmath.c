/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exp and log by table and short series: the argument is brought within 1/256 of a table point,
 * where five to seven terms of the Taylor series are below half an ulp. Products with table
 * entries of few bits are exact, so that the reduced argument carries one rounding only.
 *
 * pow needs the logarithm to about 70 bits (log_pair), because exp turns an absolute error of its
 * argument into a relative one of the result.
 */
#include "sim/dmath.h"

#include <math.h> /* sqrt alone, which IEEE 754 defines exactly, and isinf */
#include <stdint.h>
#include <string.h>

#include "sim/dmath_tables.h"

static inline uint64_t bits_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double double_of(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline double magnitude(double x)
{
    return double_of(bits_of(x) & UINT64_MAX >> 1);
}

static inline double with_sign_of(double x, double sign)
{
    return double_of((bits_of(x) & UINT64_MAX >> 1) | (bits_of(sign) & UINT64_C(1) << 63));
}

/* A value and the rounding error it left behind. */
struct pair {
    double hi, lo;
};

static inline struct pair sum_exact(double a, double b)
{
    double s = a + b, t = s - a;
    return (struct pair){s, (a - (s - t)) + (b - t)};
}

/* Dekker, "A floating-point technique for extending the available precision", 1971. */
static inline struct pair product_exact(double a, double b)
{
    double ca = 134217729.0 * a, cb = 134217729.0 * b;
    double ah = ca - (ca - a), bh = cb - (cb - b);
    double al = a - ah, bl = b - bh, p = a * b;
    return (struct pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

/* Rounding to the nearest whole number: adding this leaves no room for a fraction. */
#define ROUNDER 0x1.8p52
/* ln 2 / 128 in two parts, the first short enough for an exact product with a table number. */
#define LN2_128_HI 0x1.62e42fef8p-8
#define LN2_128_LO 0x1.1cf79abc9e3b4p-43
#define INV_LN2_128 0x1.71547652b82fep+7
/* ln 2, the first part a multiple of 2^-42 as in log_table. */
#define LN2_HI 0x1.62e42fefa38p-1
#define LN2_LO 0x1.ef35793c7673p-45

/* exp = 2^exponent * (hi + lo), 1 <= hi < 2 up to rounding. */
struct power {
    double hi, lo;
    int64_t exponent;
};

/* exp(x + tail), |x| < 800. */
static inline struct power exp_parts(double x, double tail)
{
    double shifted = x * INV_LN2_128 + ROUNDER;
    double n = shifted - ROUNDER;
    int64_t k = (int64_t)n;
    double r = ((x - n * LN2_128_HI) - n * LN2_128_LO) + tail;
    double r2 = r * r;
    double p = r + r2 * ((0.5 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120)));
    uint64_t i = (uint64_t)k & 127;
    double hi = exp_table[i].hi;
    return (struct power){hi, exp_table[i].lo + hi * p, k >> 7};
}

/* x * 2^n; one rounding, also where the result is subnormal. */
static inline double scale(double x, int64_t n)
{
    if (n > 1023)
        return x * 0x1p1023 * double_of((uint64_t)(n - 1023 + 1023) << 52);
    if (n >= -1022)
        return x * double_of((uint64_t)(n + 1023) << 52);
    return x * double_of((uint64_t)(n + 600 + 1023) << 52) * 0x1p-600;
}

static double exp_pair(double x, double tail)
{
    if (x > 709.79)
        return DM_INF;
    if (x < -745.2)
        return 0;
    struct power y = exp_parts(x, tail);
    return scale(y.hi + y.lo, y.exponent);
}

double dm_exp(double x)
{
    if (x != x)
        return x;
    return exp_pair(x, 0);
}

double dm_expm1(double x)
{
    if (x != x || magnitude(x) < 0x1p-54)
        return x;
    if (x > 709.79)
        return DM_INF;
    if (x < -40)
        return -1;
    struct power y = exp_parts(x, 0);
    if (y.exponent > 60)
        return scale(y.hi + y.lo, y.exponent);
    double unit = double_of((uint64_t)(y.exponent + 1023) << 52);
    struct pair s = sum_exact(y.hi * unit, -1);
    return s.hi + (s.lo + y.lo * unit);
}

/* log_table's view of x: x = 2^exponent * z, z * inv = 1 + r. */
struct reduced {
    double exponent, r, tail; /* r + tail is exact */
    unsigned index;
};

static inline struct reduced log_reduce(uint64_t bits, int64_t exponent)
{
    uint64_t from_start = bits - UINT64_C(0x3fe6000000000000);
    struct reduced d = {.index = (unsigned)(from_start >> 45) & 127};
    d.exponent = (double)(((int64_t)from_start >> 52) + exponent);
    uint64_t z_bits = bits - (from_start & UINT64_C(0xfff) << 52);
    double z = double_of(z_bits), inv = log_table[d.index].inv;
    double z_hi = double_of(z_bits & ~UINT64_C(0x3ffffff));
    double a = z_hi * inv - 1, b = (z - z_hi) * inv; /* both exact */
    d.r = a + b;
    d.tail = a - d.r + b; /* exact because a is a multiple of an ulp of b */
    return d;
}

/* (log(1 + r) - r + r^2/2) / r^3 for |r| < 1/128 */
static inline double log_series(double r)
{
    double r2 = r * r;
    return (1.0 / 3 - r * 0.25) + r2 * ((0.2 - r * (1.0 / 6)) + r2 * (1.0 / 7 - r * 0.125));
}

/* Normal, positive and finite; exponent is added to its own. */
static inline double log_normal(uint64_t bits, int64_t exponent)
{
    struct reduced d = log_reduce(bits, exponent);
    double high = d.exponent * LN2_HI + log_table[d.index].hi; /* exact */
    double low = d.exponent * LN2_LO + log_table[d.index].lo;
    double r = d.r, r2 = r * r;
    struct pair s = {high + r, 0};
    s.lo = high - s.hi + r; /* |high| >= |r| or high = 0 */
    return s.hi + (s.lo + (low + (r2 * r * log_series(r) - 0.5 * r2)));
}

static inline int is_normal_positive(uint64_t bits)
{
    return bits - UINT64_C(0x0010000000000000) < UINT64_C(0x7fe0000000000000);
}

static double log_special(double x)
{
    if (x == 0)
        return -DM_INF;
    if (x < 0)
        return DM_NAN;
    if (x != x || isinf(x))
        return x;
    return log_normal(bits_of(x * 0x1p52), -52);
}

double dm_log(double x)
{
    uint64_t bits = bits_of(x);
    if (__builtin_expect(!is_normal_positive(bits), 0))
        return log_special(x);
    return log_normal(bits, 0);
}

double dm_log1p(double x)
{
    if (x != x || magnitude(x) < 0x1p-54 || (x > 0 && isinf(x)))
        return x;
    if (x <= -1)
        return x == -1 ? -DM_INF : DM_NAN;
    struct pair u = sum_exact(1, x);
    return dm_log(u.hi) + u.lo / u.hi;
}

/* Logarithm of a positive finite number to about 70 bits. */
static struct pair log_pair(double x)
{
    int64_t exponent = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p52;
        exponent = -52;
    }
    struct reduced d = log_reduce(bits_of(x), exponent);
    double r = d.r;
    struct pair square = product_exact(r, r);
    struct pair s = sum_exact(d.exponent * LN2_HI + log_table[d.index].hi, r);
    struct pair t = sum_exact(s.hi, -0.5 * square.hi);
    double rest = d.exponent * LN2_LO + log_table[d.index].lo + (d.tail - d.tail * r) -
                  0.5 * square.lo + r * square.hi * log_series(r);
    return sum_exact(t.hi, t.lo + s.lo + rest);
}

/* x = 0 or infinite, or y infinite or so large that only the side of 1 matters. */
static double pow_limit(double x, double y)
{
    if (x == 1)
        return 1;
    return (x > 1) == (y > 0) ? DM_INF : 0;
}

double dm_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y || x < 0)
        return DM_NAN;
    if (x == 0 || isinf(x) || magnitude(y) > 1e20)
        return pow_limit(x, y);
    struct pair l = log_pair(x);
    struct pair t = product_exact(l.hi, y);
    return exp_pair(t.hi, t.lo + l.lo * y);
}

/* pi/2 in three parts, the first two with 33 bits or fewer: exact products up to n = 2^20. */
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define INV_HALF_PI 0x1.45f306dc9c883p-1

static inline double sin_series(double x, double tail)
{
    double z = x * x;
    double p = 1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 +
               z * (-1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0))));
    p = -1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * p));
    return x + (x * z * p + tail * (1 - 0.5 * z));
}

static inline double cos_series(double x, double tail)
{
    double z = x * x;
    double p = -1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200.0 +
               z * (1.0 / 20922789888000.0)));
    p = 1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * p));
    double half = 0.5 * z, w = 1 - half;
    return w + (((1 - w) - half) + (z * z * p - x * tail));
}

/* sin(x + quarter * pi/2) */
static double sin_quarter(double x, int64_t quarter)
{
    if (!(magnitude(x) <= 1e6))
        return DM_NAN;
    double n = (x * INV_HALF_PI + ROUNDER) - ROUNDER;
    struct pair r = sum_exact(x - n * HALF_PI_1, -(n * HALF_PI_2));
    r = sum_exact(r.hi, r.lo - n * HALF_PI_3);
    quarter += (int64_t)n;
    double y = (quarter & 1) != 0 ? cos_series(r.hi, r.lo) : sin_series(r.hi, r.lo);
    return (quarter & 2) != 0 ? -y : y;
}

double dm_sin(double x)
{
    return magnitude(x) < 0x1p-27 ? x : sin_quarter(x, 0);
}

double dm_cos(double x)
{
    return sin_quarter(x, 1);
}

double dm_sqrt(double x)
{
    return sqrt(x);
}

/* Whole part towards zero; numbers from 2^52 on, infinities and NaN are whole already. */
static inline double truncated(double x)
{
    return magnitude(x) < 0x1p52 ? with_sign_of((double)(int64_t)x, x) : x;
}

double dm_floor(double x)
{
    double t = truncated(x);
    return t > x ? t - 1 : t;
}

double dm_ceil(double x)
{
    double t = truncated(x);
    return with_sign_of(t < x ? t + 1 : t, x);
}

double dm_round(double x)
{
    double t = truncated(x);
    return magnitude(x - t) >= 0.5 ? t + with_sign_of(1, x) : t;
}
