/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmocka 1.1 compares floats only; this compares doubles. Include after cmocka.h. */
#ifndef TESTS_STORE_NEAR_H
#define TESTS_STORE_NEAR_H

#define assert_near(value, expected, tolerance)                                                    \
    do {                                                                                           \
        double near_v = (value), near_e = (expected);                                              \
        if (!(near_v - near_e <= (tolerance) && near_e - near_v <= (tolerance)))                   \
            fail_msg("%.10g is not within %g of %.10g", near_v, (double)(tolerance), near_e);      \
    } while (0)

#endif
