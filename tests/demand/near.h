/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the demand tests: cmocka with its prerequisites, and closeness of reals. */
#ifndef TESTS_DEMAND_NEAR_H
#define TESTS_DEMAND_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static inline void near_check(double got, double want, double tolerance, const char *text,
                              const char *file, int line)
{
    if (fabs(got - want) <= tolerance)
        return;
    print_error("%s is %.9g, wanted %.9g within %.3g\n", text, got, want, tolerance);
    _fail(file, line);
}

/* Absolute and relative closeness. */
#define assert_near(got, want, tolerance) \
    near_check((got), (want), (tolerance), #got, __FILE__, __LINE__)
#define assert_near_rel(got, want, share) \
    near_check((got), (want), fabs(want) * (share), #got, __FILE__, __LINE__)
/* Between two bounds, as an error band is stated. */
#define assert_between(got, low, high) \
    near_check((got), 0.5 * ((low) + (high)), 0.5 * ((high) - (low)), #got, __FILE__, __LINE__)

#endif
