/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/formula.h"

static const char *const names[] = {"a", "b", NULL};
static const struct formula_value nil = {FORMULA_NIL, 0};

static struct formula_value number(double x)
{
    return (struct formula_value){FORMULA_NUMBER, x};
}

static struct formula_value eval(const char *text, struct formula_value a, struct formula_value b)
{
    struct formula f;
    struct err e = {0};
    bool ok = formula_parse(&f, text, names, 3, &e);
    if (!ok)
        print_error("%s: %s\n", text, e.text);
    assert_true(ok);
    struct formula_value v[3] = {a, b, nil};
    return formula_eval(&f, v);
}

#define assert_number(text, a, b, expected)                                                        \
    do {                                                                                           \
        struct formula_value v_ = eval((text), (a), (b));                                          \
        assert_int_equal(v_.kind, FORMULA_NUMBER);                                                 \
        assert_true(v_.number == (expected));                                                      \
    } while (0)

static void arithmetic_binds_as_usual(void **state)
{
    (void)state;
    struct formula_value a = number(6), b = number(4);
    assert_number("a + b * 2", a, b, 14.0);
    assert_number("(a + b) / 2", a, b, 5.0);
    assert_number("a - b - 1", a, b, 1.0);
    assert_number("a / b / 3", a, b, 0.5);
    assert_number("-a + +b", a, b, -2.0);
    assert_number("2 * -a", a, b, -12.0);
    assert_number("1.5e1 - .5", a, b, 14.5);
}

static void lists_and_arguments_are_the_same(void **state)
{
    (void)state;
    struct formula_value a = number(6), b = number(4);
    assert_number("max([a, b])", a, b, 6.0);
    assert_number("min(a, b, 5)", a, b, 4.0);
    assert_number("sum([a, b, 1])", a, b, 11.0);
    assert_number("mean([a, b])", a, b, 5.0);
    assert_number("len([a, b, b])", a, b, 3.0);
    assert_number("max([min([a, b]), 5])", a, b, 5.0);
    assert_number("sum([])", a, b, 0.0);
    assert_number("round(2.5) + floor(-0.5) + ceil(0.2) + abs(-3) + int(-2.7) + float(1)", a, b,
                  5.0);
}

static void nil_gives_way_to_the_other_and_fails_in_arithmetic(void **state)
{
    (void)state;
    struct formula_value b = number(4);
    assert_number("a ?? b", nil, b, 4.0);
    assert_number("b ?? a", nil, b, 4.0);
    assert_number("(a ?? 2.5) + (b ?? 1.25)", nil, b, 6.5);
    assert_number("a ?? 2 + b", nil, b, 6.0); /* ?? binds tighter than + */
    assert_int_equal(eval("a ?? a", nil, b).kind, FORMULA_NIL);
    assert_int_equal(eval("nil", nil, b).kind, FORMULA_NIL);
    assert_int_equal(eval("a + b", nil, b).kind, FORMULA_ERROR);
    assert_int_equal(eval("max([a, b])", nil, b).kind, FORMULA_ERROR);
    assert_int_equal(eval("-a", nil, b).kind, FORMULA_ERROR);
}

static void choices_evaluate_one_side_only(void **state)
{
    (void)state;
    struct formula_value a = number(6), b = number(4);
    assert_number("a > b ? 1 : 2", a, b, 1.0);
    assert_number("a > b && b > 5 ? 1 : 2", a, b, 2.0);
    assert_number("a == nil || a > 1 ? 7 : 8", nil, b, 7.0);
    assert_number("a != nil and a > 1 ? 7 : 8", nil, b, 8.0);
    assert_number("not (a >= 6) ? 1 : a <= 6 ? 3 : 4", a, b, 3.0);
    assert_number("true ? 1 : a + nil", a, b, 1.0);
    assert_number("!false or nil > 1 ? 1 : 0", a, b, 1.0);
    assert_int_equal(eval("a ? 1 : 2", a, b).kind, FORMULA_ERROR);
    assert_int_equal(eval("a < b", a, b).kind, FORMULA_BOOL);
}

static void refuse(const char *text, const char *expected)
{
    struct formula f;
    struct err e = {0};
    assert_false(formula_parse(&f, text, names, 3, &e));
    assert_int_equal(e.code, ERR_INPUT);
    if (!strstr(e.text, expected))
        print_error("%s: %s\n", text, e.text);
    assert_non_null(strstr(e.text, expected));
    assert_int_equal(f.count, 0);
}

static void mistakes_are_named_with_their_column(void **state)
{
    (void)state;
    refuse("a +", "column 4: expected a value, found the end");
    refuse("a + c", "column 5: expected a number, a trigger name or a function, found 'c'");
    refuse("a ** b", "column 3: expected an operator or the end, found '*'");
    refuse("a b", "column 3");
    refuse("(a", "column 3: expected ')'");
    refuse("max([a, b)", "expected ',' or ']'");
    refuse("max()", "expected an argument");
    refuse("abs(a, b)", "expected one argument");
    refuse("a > b ? 1", "expected ':'");
    refuse("0x10", "expected a decimal number");
    refuse("", "column 1");
    refuse("a % b", "column 3");
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    char text[900];
    memset(text, '(', 400);
    text[400] = 'a';
    memset(text + 401, ')', 400);
    text[801] = '\0';
    refuse(text, "nested less deeply");
    memset(text, '-', 500);
    memcpy(text + 500, "a", 2);
    refuse(text, "nested less deeply");
    size_t n = 0;
    for (int i = 0; i < 200; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "a+");
    snprintf(text + n, sizeof text - n, "a");
    refuse(text, "a shorter formula");
    char list[400] = "max([";
    for (int i = 0; i < 90; i++)
        strcat(list, "a,");
    strcat(list, "a])");
    refuse(list, "a shorter formula");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_binds_as_usual),
        cmocka_unit_test(lists_and_arguments_are_the_same),
        cmocka_unit_test(nil_gives_way_to_the_other_and_fails_in_arithmetic),
        cmocka_unit_test(choices_evaluate_one_side_only),
        cmocka_unit_test(mistakes_are_named_with_their_column),
        cmocka_unit_test(depth_and_length_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
