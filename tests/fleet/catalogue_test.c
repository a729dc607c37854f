/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in catalogue against the published tables it was copied from, and the reader. */
#include "models/fleet/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/catalogue_read.h"

static const struct instance_type *instance(const char *name)
{
    int32_t i = catalogue_find_instance(catalogue_builtin(), name);
    assert_true(i >= 0);
    return &catalogue_builtin()->instances[i];
}

static const struct card_type *card(const char *name)
{
    int32_t i = catalogue_find_card(catalogue_builtin(), name);
    assert_true(i >= 0);
    return &catalogue_builtin()->cards[i];
}

static void instances_have_the_published_shape_and_price(void **state)
{
    (void)state;
    const struct instance_type *p5 = instance("p5.48xlarge");
    assert_string_equal(catalogue_builtin()->cards[p5->card].name, "H100");
    assert_int_equal(p5->card_count, 8);
    assert_int_equal(p5->cpu_milli, 192000);
    assert_int_equal(p5->memory_bytes, INT64_C(2048) << 30);
    assert_int_equal(p5->price_uusd_per_h, 55040000);
    assert_int_equal(instance("p4d.24xlarge")->price_uusd_per_h, 21957642);
    assert_int_equal(instance("g6e.12xlarge")->card_count, 4); /* size is not card count */
    assert_int_equal(instance("g7e.12xlarge")->card_count, 2);
    assert_int_equal(instance("p5e.48xlarge")->price_uusd_per_h, 0); /* capacity blocks only */
}

static void cards_have_the_published_speed_and_memory(void **state)
{
    (void)state;
    assert_int_equal(card("A100-80")->speed_milli, 1000);
    assert_int_equal(card("H100")->speed_milli, 2240);
    assert_int_equal(card("V100-16")->speed_milli, 400);
    assert_int_equal(card("K80")->speed_milli, 84);
    assert_int_equal(card("910B")->speed_milli, 670);
    assert_int_equal(card("B200")->memory_bytes, INT64_C(183359) << 20);
    assert_int_equal(card("H100")->mig_slices, 7);
    assert_int_equal(card("RTX-PRO-6000")->mig_slices, 4);
    assert_int_equal(card("L40S")->mig_slices, 0);
    assert_true(card("H100")->flops_bf16 == 989e12);
    assert_true(card("H100")->hbm_bytes_per_s == 3.35e12);
}

static void aliases_lead_to_cards(void **state)
{
    (void)state;
    assert_ptr_equal(card("H100-80"), card("H100"));
    assert_ptr_equal(card("Ascend910B3"), card("910B3"));
    assert_int_equal(catalogue_find_card(catalogue_builtin(), "H1000"), -1);
    assert_int_equal(catalogue_find_instance(catalogue_builtin(), "p5.xlarge"), -1);
}

static void every_fact_has_a_source_and_a_confidence(void **state)
{
    (void)state;
    const struct catalogue *c = catalogue_builtin();
    assert_true(c->fact_count > 400);
    for (int32_t i = 0; i < c->fact_count; i++) {
        assert_true(strlen(c->facts[i].source) > 0);
        assert_non_null(strchr("VDBA", c->facts[i].confidence[0]));
        assert_true(strncmp(c->facts[i].source, "assumption", 10) != 0 ||
                    c->facts[i].confidence[0] == 'A');
    }
    assert_true(catalogue_value(c, "token", "llama-3.3-70b", "in") == 0.72);
    assert_true(catalogue_value(c, "coldstart", "default", "image_bandwidth") == 30e6);
    assert_null(catalogue_fact(c, "token", "llama-3.3-70b", "inn"));
}

/* ---- bad catalogues ---- */

#define HEAD "kind,name,field,value,unit,as_of,source,confidence\n"
#define GOOD "card,X,vendor,V,,2026,s,V\ncard,X,memory,8,GiB,2026,s,V\n"

static void assert_problem(const char *text, long line, const char *part)
{
    struct arena arena = {0};
    struct diag_list problems = {0};
    struct catalogue c;
    assert_false(catalogue_read(&c, &arena, "c.csv", text, strlen(text), &problems));
    bool found = false;
    for (size_t i = 0; i < problems.count; i++)
        found = found || (problems.items[i].line == line &&
                          strstr(problems.items[i].text, part) != NULL);
    if (!found)
        diag_print(&problems, stderr);
    assert_true(found);
    diag_fini(&problems);
    arena_fini(&arena);
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    assert_problem("", 0, "no header");
    assert_problem("kind,name\n", 1, "expected the header");
    assert_problem(HEAD GOOD "card,X,memory,9,GiB,2026,s,V\n", 4, "twice");
    assert_problem(HEAD GOOD "cart,X,memory,9,GiB,2026,s,V\n", 4, "did you mean 'card'");
    assert_problem(HEAD GOOD "card,X,cores,many,SM,2026,s,V\n", 4, "expected a number, got 'many'");
    assert_problem(HEAD GOOD "card,X,cores,-3,SM,2026,s,V\n", 4, "expected a number, got '-3'");
    assert_problem(HEAD GOOD "card,X,hbm,3,GiB,2026,s,V\n", 4, "expected unit TB/s GB/s");
    assert_problem(HEAD GOOD "card,X,colour,3,,2026,s,V\n", 4, "has no field 'colour'");
    assert_problem(HEAD GOOD "card,X,cores,3,SM,26,s,V\n", 4, "as_of");
    assert_problem(HEAD GOOD "card,X,cores,3,SM,2026,,V\n", 4, "source must not be empty");
    assert_problem(HEAD GOOD "card,X,cores,3,SM,2026,s,Z\n", 4, "confidence");
    assert_problem(HEAD GOOD "card,X,cores,3,SM,2026,s\n", 4, "expected 8 columns, got 7");
    assert_problem(HEAD GOOD "card,X,cores,3,SM,2026,s,V,1\n", 4, "more than 8 columns");
    assert_problem(HEAD GOOD "card,X,cores,3,SM,2026,\"s,V\n", 4, "unfinished quoted cell");
    assert_problem(HEAD GOOD "instance,i,card,Y,,2026,s,V\n", 4, "no card 'Y'");
    assert_problem(HEAD GOOD "instance,i,card,X,,2026,s,V\n", 0, "needs card, cards, vcpu");
    assert_problem(HEAD "card,X,vendor,V,,2026,s,V\n", 0, "needs vendor and memory");
    assert_problem(HEAD GOOD "alias,a,card,Q,,2026,s,V\n", 0, "alias 'a': no card 'Q'");
}

static void quotes_comments_and_crlf_are_read(void **state)
{
    (void)state;
    static const char text[] = "# note\r\n" HEAD "card,X,vendor,\"A, \"\"B\"\"\",,2026,s,V\r\n"
                               "\r\ncard,X,memory,1.5,GiB,2026-01,s,A";
    struct arena arena = {0};
    struct diag_list problems = {0};
    struct catalogue c;
    assert_true(catalogue_read(&c, &arena, "c.csv", text, strlen(text), &problems));
    assert_int_equal(c.card_count, 1);
    assert_string_equal(c.cards[0].vendor, "A, \"B\"");
    assert_int_equal(c.cards[0].memory_bytes, INT64_C(3) << 29);
    diag_fini(&problems);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_have_the_published_shape_and_price),
        cmocka_unit_test(cards_have_the_published_speed_and_memory),
        cmocka_unit_test(aliases_lead_to_cards),
        cmocka_unit_test(every_fact_has_a_source_and_a_confidence),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(quotes_comments_and_crlf_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
