/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cases of Kubernetes' own test of tolerations (core/v1, TestTolerationToleratesTaint), written
 * anew, and what its documentation says of an empty effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/fleet/taints.h"

static const struct {
    struct taint toleration, taint;
    bool tolerated;
} cases[] = {
    {{"foo", NULL, TAINT_NO_SCHEDULE}, {"foo", "", TAINT_NO_SCHEDULE}, true},
    {{"foo", NULL, TAINT_NO_SCHEDULE}, {"foo", "bar", TAINT_NO_SCHEDULE}, true},
    {{"", NULL, TAINT_NO_SCHEDULE}, {"foo", "bar", TAINT_NO_SCHEDULE}, true},
    {{"foo", "bar", TAINT_NO_SCHEDULE}, {"foo", "bar", TAINT_NO_SCHEDULE}, true},
    {{"foo", "value1", TAINT_NO_SCHEDULE}, {"foo", "value2", TAINT_NO_SCHEDULE}, false},
    {{"foo", "bar", TAINT_NO_SCHEDULE}, {"foo", "bar", TAINT_NO_EXECUTE}, false},
    {{"foo", "bar", TAINT_EFFECT_ANY}, {"foo", "bar", TAINT_NO_EXECUTE}, true},
    {{"foo", "", TAINT_NO_SCHEDULE}, {"foo", NULL, TAINT_NO_SCHEDULE}, true},
    {{"foo", NULL, TAINT_EFFECT_ANY}, {"other", "", TAINT_NO_SCHEDULE}, false},
};

static void tolerations_match_as_in_kubernetes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (taint_tolerated(&cases[i].taint, &cases[i].toleration, 1) != cases[i].tolerated)
            fail_msg("case %zu", i);
    assert_false(taint_tolerated(&cases[0].taint, NULL, 0));
}

/* One of several is enough. */
static void any_toleration_will_do(void **state)
{
    (void)state;
    const struct taint both[2] = {{"a", NULL, TAINT_NO_SCHEDULE}, {"b", NULL, TAINT_NO_EXECUTE}};
    const struct taint taint = {"b", "x", TAINT_NO_EXECUTE};
    assert_true(taint_tolerated(&taint, both, 2));
    assert_false(taint_tolerated(&taint, both, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerations_match_as_in_kubernetes),
        cmocka_unit_test(any_toleration_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
