/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worked values of managed-and-costs 5.2 and 5.5. */
#include "models/money/break_even.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define P5 6.88
#define ENGINEER 200000.0

static void assert_rounds_to(double got, double want, double half_digit)
{
    if (fabs(got - want) > half_digit)
        fail_msg("got %.6g, expected %.6g", got, want);
}

static void three_questions_have_three_answers(void **state)
{
    (void)state;
    struct break_even b = break_even(10000, 0.35, 0.60, P5);
    assert_rounds_to(b.work_multiplier, 1.714, 0.0005);
    assert_rounds_to(b.cards_gained, 2500, 0.5);
    assert_rounds_to(b.cards_returnable, 4167, 0.5);
    assert_rounds_to(b.cards_not_bought, 7143, 0.5);
    b = break_even(200, 0.35, 0.60, P5);
    assert_rounds_to(b.cards_gained, 50, 0.5);
    assert_rounds_to(b.cards_returnable, 83, 0.5);
    assert_rounds_to(b.cards_not_bought, 143, 0.5);
    assert_rounds_to(b.value_usd_per_year / 1e6, 3.01, 0.005);
}

static void engineers_are_paid_from_so_many_cards(void **state)
{
    (void)state;
    struct break_even_option one = {.gain = 0.25, .engineers = 1}, team = one, c = {0.20, 0.15, 1};
    team.engineers = 4;
    assert_rounds_to(break_even_cards(&one, P5, ENGINEER), 13.3, 0.05);
    assert_rounds_to(break_even_cards(&team, P5, ENGINEER), 53, 0.5);
    assert_rounds_to(break_even_cards(&c, P5, ENGINEER), 66, 0.5);
    c.uplift = 0;
    assert_rounds_to(break_even_cards(&c, P5, ENGINEER), 16.6, 0.05);
    c.uplift = 0.25; /* costs more than it brings */
    assert_true(isinf(break_even_cards(&c, P5, ENGINEER)));
}

static void options_cross_where_the_uplift_says(void **state)
{
    (void)state;
    struct break_even_option b = {0.25, 0, 4}, c = {0.20, 0.15, 1};
    assert_rounds_to(break_even_crossover(&b, &c, P5, ENGINEER), 50, 0.5);
    c.uplift = 0;
    assert_rounds_to(break_even_crossover(&b, &c, P5, ENGINEER), 199, 0.5);
}

static void own_cards_match_the_api_at_the_published_rates(void **state)
{
    (void)state;
    assert_rounds_to(break_even_tokens_per_s(P5, 0.72), 2654, 0.5);
    assert_rounds_to(break_even_tokens_per_s(P5, 0.22), 8687, 0.5);
    assert_rounds_to(break_even_tokens_per_s(P5, 0.15), 12741, 0.5);
    assert_rounds_to(break_even_tokens_per_s(P5, 3.60), 531, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_questions_have_three_answers),
        cmocka_unit_test(engineers_are_paid_from_so_many_cards),
        cmocka_unit_test(options_cross_where_the_uplift_says),
        cmocka_unit_test(own_cards_match_the_api_at_the_published_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
