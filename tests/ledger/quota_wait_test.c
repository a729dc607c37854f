/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/ledger/quota_wait.h"

static void sums_only_requests_up_to_the_limit(void **state)
{
    (void)state;
    struct quota_wait q;
    quota_wait_init(&q, 2);
    quota_wait_change(&q, 0, 8000, 2);
    quota_wait_change(&q, 0, 1000, 3);
    quota_wait_change(&q, 1, 4000, 1);
    assert_int_equal(quota_wait_up_to(&q, 0, 999), 0);
    assert_int_equal(quota_wait_up_to(&q, 0, 1000), 3000);
    assert_int_equal(quota_wait_up_to(&q, 0, 7999), 3000);
    assert_int_equal(quota_wait_up_to(&q, 0, 8000), 19000);
    assert_int_equal(quota_wait_total(&q, 0), 19000);
    assert_int_equal(quota_wait_up_to(&q, 1, 100000), 4000);
    quota_wait_change(&q, 0, 8000, -1);
    assert_int_equal(quota_wait_up_to(&q, 0, 8000), 11000);
    quota_wait_fini(&q);
}

/* Small generator of its own, so that the test does not depend on what it does not test. */
static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

enum { SIZES = 300, POOLS = 3 };

static void agrees_with_a_plain_table_under_random_changes(void **state)
{
    (void)state;
    static int64_t count[POOLS][SIZES]; /* workloads of size 1 + index */
    memset(count, 0, sizeof count);
    struct quota_wait q;
    quota_wait_init(&q, POOLS);
    uint64_t x = 42;
    for (int step = 0; step < 20000; step++) {
        uint32_t pool = (uint32_t)(next(&x) % POOLS);
        size_t s = next(&x) % SIZES;
        int64_t delta = count[pool][s] > 0 && next(&x) % 2 ? -count[pool][s] : 1;
        count[pool][s] += delta;
        quota_wait_change(&q, pool, (int64_t)s + 1, delta);
        int64_t limit = (int64_t)(next(&x) % (SIZES + 10)), sum = 0, total = 0;
        for (size_t i = 0; i < SIZES; i++) {
            int64_t cards = count[pool][i] * ((int64_t)i + 1);
            total += cards;
            sum += (int64_t)i + 1 <= limit ? cards : 0;
        }
        assert_int_equal(quota_wait_up_to(&q, pool, limit), sum);
        assert_int_equal(quota_wait_total(&q, pool), total);
    }
    quota_wait_fini(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_only_requests_up_to_the_limit),
        cmocka_unit_test(agrees_with_a_plain_table_under_random_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
