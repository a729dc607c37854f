/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/fitset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/arena.h"
#include "sim/rng.h"

#define ELEMENTS 5000
#define RESOURCES 2

/* The same set as a plain array. */
struct model {
    bool present[ELEMENTS];
    int64_t amounts[ELEMENTS * RESOURCES];
};

static int64_t first_by_scan(const struct model *m, int64_t lo, int64_t hi, const int64_t *need)
{
    for (int64_t i = lo; i < hi; i++)
        if (m->present[i] && m->amounts[i * 2] >= need[0] && m->amounts[i * 2 + 1] >= need[1])
            return i;
    return -1;
}

static void change_one(struct fitset *s, struct model *m, struct rng *r)
{
    int64_t i = (int64_t)rng_below(r, ELEMENTS);
    int64_t *have = m->amounts + i * 2;
    int64_t add = (int64_t)rng_below(r, 100);
    switch (rng_below(r, 4)) {
    case 0:
        if (!m->present[i])
            fitset_add(s, i);
        m->present[i] = true;
        break;
    case 1:
        if (m->present[i])
            fitset_remove(s, i);
        m->present[i] = false;
        break;
    case 2:
        have[add & 1] += add;
        if (m->present[i])
            fitset_raise(s, i);
        break;
    default:
        have[0] /= 2;
        have[1] /= 3;
    }
}

static void compare_searches(struct fitset *s, const struct model *m, struct rng *r)
{
    int64_t lo = (int64_t)rng_below(r, ELEMENTS), hi = (int64_t)rng_below(r, ELEMENTS) + 1;
    int64_t need[2] = {(int64_t)rng_below(r, 300), (int64_t)rng_below(r, 300)};
    assert_int_equal(fitset_first(s, lo, hi, need), first_by_scan(m, lo, hi, need));
    int64_t below = 0, last = -1;
    for (int64_t i = 0; i < hi; i++)
        if (m->present[i]) {
            below++;
            last = i;
        }
    assert_int_equal(fitset_last(s, hi), last);
    assert_int_equal(fitset_rank(s, hi), below);
    int32_t copy;
    if (last >= 0)
        assert_int_equal(fitset_select(s, below - 1, &copy), last);
}

static void searches_agree_with_a_plain_scan_after_random_changes(void **state)
{
    (void)state;
    struct model *m = mem_zalloc(1, sizeof(*m));
    int64_t looks = 0;
    struct fitset s = {.size = ELEMENTS, .resources = RESOURCES, .amounts = m->amounts,
                       .modulus = ELEMENTS, .ranked = true, .looks = &looks};
    struct rng r;
    rng_open(&r, 1, 0, 1000, 1);
    fitset_init(&s);
    for (int i = 0; i < 40000; i++) {
        change_one(&s, m, &r);
        if (i % 8 == 0)
            compare_searches(&s, m, &r);
    }
    fitset_fini(&s);
    free(m);
}

static void an_empty_set_finds_nothing(void **state)
{
    (void)state;
    int64_t looks = 0, amounts[1] = {5}, need[1] = {0};
    struct fitset s = {.size = 1, .resources = 1, .amounts = amounts, .looks = &looks};
    fitset_init(&s);
    assert_int_equal(fitset_first(&s, 0, 1, need), -1);
    assert_int_equal(fitset_last(&s, 1), -1);
    fitset_add(&s, 0);
    assert_int_equal(fitset_first(&s, 0, 1, need), 0);
    need[0] = 6;
    assert_int_equal(fitset_first(&s, 0, 1, need), -1);
    fitset_fini(&s);
}

static void a_useless_look_is_paid_for_once(void **state)
{
    (void)state;
    int64_t *amounts = mem_zalloc(ELEMENTS, sizeof(*amounts)), looks = 0, need[1] = {1};
    struct fitset s = {.size = ELEMENTS, .resources = 1, .amounts = amounts, .modulus = ELEMENTS,
                       .looks = &looks};
    fitset_init(&s);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        amounts[i] = 1;
        fitset_add(&s, i);
        amounts[i] = 0; /* shrinks without a word */
    }
    assert_int_equal(fitset_first(&s, 0, ELEMENTS, need), -1);
    assert_true(looks >= ELEMENTS);
    looks = 0;
    assert_int_equal(fitset_first(&s, 0, ELEMENTS, need), -1);
    assert_true(looks <= 1);
    fitset_fini(&s);
    free(amounts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_agree_with_a_plain_scan_after_random_changes),
        cmocka_unit_test(an_empty_set_finds_nothing),
        cmocka_unit_test(a_useless_look_is_paid_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
