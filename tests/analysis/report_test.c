/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analysis/report/svg.h"
#include "tests/analysis/shared_db.h"
#include "tests/analysis/tiny_db.h"
#include "tests/store/fixture.h"
#include "tests/store/scratch.h"

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 4 << 20);
    assert_true(fread(text, 1, (4 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *p = text; (p = strstr(p, word)) != NULL; p += strlen(word))
        count++;
    return count;
}

static bool have_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

/* The page of a fixture; skips the test when gnuplot is not there. */
static char *page_of(struct scratch *s, const struct fixture *fixture)
{
    struct err err = {0};
    if (!have_gnuplot()) {
        print_message("# gnuplot is not installed\n");
        skip();
    }
    assert_true(fixture_write(scratch_file(s, "r.db"), fixture, &err));
    setenv("TMPDIR", s->directory, 1);
    bool ok = report_write(scratch_file(s, "r.db"), scratch_file(s, "r.html"), &err);
    unsetenv("TMPDIR");
    if (!ok)
        fail_msg("%s", err.text);
    assert_int_equal(scratch_count(s), 2); /* nothing is left of the drawing */
    return read_file(scratch_file(s, "r.html"));
}

static void page_tells_the_finding_and_draws_every_section(void **state)
{
    struct scratch s;
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 14;
    char *page = page_of(&s, &f);
    assert_non_null(strstr(page, "On the same 10,000 cards and with the same demand, "
                                 "<em>cohort</em> keeps "));
    /* day, shares, three stacks, waiting, replicas, cost, teams */
    assert_int_equal(count_of(page, "<svg role=\"img\""), 9);
    assert_int_equal(count_of(page, "</svg>"), 9);
    assert_int_equal(count_of(page, "class=\"missing\""), 0);
    assert_non_null(strstr(page, "What was assumed"));
    assert_non_null(strstr(page, "<em>managed</em> runs on the provider"));
    free(page);
    scratch_close(&s);
}

static void page_needs_no_network(void **state)
{
    struct scratch s;
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 7;
    char *page = page_of(&s, &f);
    assert_int_equal(count_of(page, "://"), 2 * count_of(page, "<svg")); /* names of namespaces */
    assert_int_equal(count_of(page, "://"), count_of(page, "http://www.w3.org/"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<link"));
    assert_null(strstr(page, " src="));
    assert_null(strstr(page, "url(http"));
    free(page);
    scratch_close(&s);
}

/* Hand-chosen sharing: two findings under slicing, none under mig. */
static void page_draws_utilisation_against_isolation(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    if (!have_gnuplot()) {
        print_message("# gnuplot is not installed\n");
        skip();
    }
    assert_true(shared_db(scratch_file(&s, "r.db"), &(struct shared_db){0}, &err));
    assert_true(report_write(scratch_file(&s, "r.db"), scratch_file(&s, "r.html"), &err));
    char *page = read_file(scratch_file(&s, "r.html"));
    assert_non_null(strstr(page, "takes 8 cards under <em>whole</em> and 4 under <em>mig</em>, where everybody has"));
    assert_non_null(strstr(page, "Tenants have less isolation than they require under slicing</h2>"));
    assert_non_null(strstr(page, "Fewest cards: <em>mig</em> (4 cards), and everybody has the isolation"));
    assert_non_null(strstr(page, "fraud requires hardware isolation (PCI-DSS), but shared 2 cards of a100 under "
                                 "time-slicing for 6.00 card-hours with tune-a, chat; failures of others"));
    assert_non_null(strstr(page, "time-slicing, isolation: none</text>"));
    assert_non_null(strstr(page, "50 %, 2 findings</text>"));
    free(page);
    scratch_close(&s);
}

/* Recorded as a summary: how much was shared is known, by whom is not, and the page says no names. */
static void page_of_a_summary_draws_sharing_without_names(void **state)
{
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    if (!have_gnuplot()) {
        print_message("# gnuplot is not installed\n");
        skip();
    }
    assert_true(shared_db(scratch_file(&s, "r.db"), &(struct shared_db){.nameless = true}, &err));
    assert_true(report_write(scratch_file(&s, "r.db"), scratch_file(&s, "r.html"), &err));
    char *page = read_file(scratch_file(&s, "r.html"));
    assert_non_null(strstr(page, "this database does not say who shared"));
    assert_non_null(strstr(page, "not recorded</text>"));
    assert_null(strstr(page, "fraud"));
    free(page);
    scratch_close(&s);
}

static void names_of_the_user_are_escaped_everywhere(void **state)
{
    struct scratch s;
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 7;
    char *page = page_of(&s, &f);
    assert_null(strstr(page, "<quant>"));
    assert_true(count_of(page, "r&amp;d &lt;quant&gt;") >= 2); /* in the plot and in the table */
    assert_null(strstr(page, "@L"));
    free(page);
    scratch_close(&s);
}

static void ids_in_the_page_do_not_collide(void **state)
{
    struct scratch s;
    struct fixture f = fixture_default();
    size_t ids = 0;
    (void)state;
    scratch_open(&s);
    f.days = 7;
    char *page = page_of(&s, &f);
    for (char *p = page; (p = strstr(p, " id=")) != NULL; ids++) {
        char whole[128];
        p += 4;
        snprintf(whole, sizeof whole, " id=%.*s%c", (int)(strchr(p + 1, *p) - p), p, *p);
        if (count_of(page, whole) != 1)
            fail_msg("%s stands %zu times", whole, count_of(page, whole));
    }
    assert_true(ids > 100);
    free(page);
    scratch_close(&s);
}

static void page_says_what_a_summary_database_lacks(void **state)
{
    struct scratch s;
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 7;
    f.bare = true;
    char *page = page_of(&s, &f);
    assert_true(count_of(page, "class=\"missing\"") >= 4);
    assert_non_null(strstr(page, "no series of one day"));
    free(page);
    scratch_close(&s);
}

static void page_of_a_single_arbiter_speaks_of_it_alone(void **state)
{
    struct scratch s;
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 2;
    f.arbiters = 1;
    f.replications = 1;
    char *page = page_of(&s, &f);
    assert_non_null(strstr(page, "<em>pools</em> keeps "));
    assert_null(strstr(page, "no other arbiter"));
    free(page);
    scratch_close(&s);
}

/* A database of one managed arbiter: no cards, no series, no teams. */
static void page_without_cards_is_written(void **state)
{
    static const struct tiny rows[] = {{"managed", 0, "all", "", "cost.total", 1000, 0}};
    struct scratch s;
    struct err err = {0};
    (void)state;
    scratch_open(&s);
    assert_true(tiny_db(scratch_file(&s, "r.db"), rows, 1, 1, &err));
    assert_true(report_write(scratch_file(&s, "r.db"), scratch_file(&s, "r.html"), &err));
    char *page = read_file(scratch_file(&s, "r.html"));
    assert_non_null(strstr(page, "no arbiter ran cards of its own"));
    free(page);
    scratch_close(&s);
}

/* The report with `path` as PATH must fail with the words and leave an older page alone. */
static void fails_with(struct scratch *s, const char *path, const char *words)
{
    struct err err = {0};
    struct fixture f = fixture_default();
    f.days = 2;
    f.replications = 1;
    char *old = getenv("PATH"), *kept = strdup(old);
    assert_true(fixture_write(scratch_file(s, "r.db"), &f, &err));
    write_file(scratch_file(s, "r.html"), "older");
    setenv("PATH", path, 1);
    bool ok = report_write(scratch_file(s, "r.db"), scratch_file(s, "r.html"), &err);
    setenv("PATH", kept, 1);
    free(kept);
    assert_false(ok);
    assert_int_equal(err_exit_status(&err), 3);
    if (strstr(err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, words);
    char *page = read_file(scratch_file(s, "r.html"));
    assert_string_equal(page, "older");
    free(page);
}

static void missing_gnuplot_is_named(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    fails_with(&s, s.directory, "gnuplot is not installed");
    assert_int_equal(scratch_count(&s), 2);
    scratch_close(&s);
}

static void failing_gnuplot_is_quoted(void **state)
{
    struct scratch s;
    (void)state;
    scratch_open(&s);
    write_file(scratch_file(&s, "gnuplot"), "#!/bin/sh\necho 'line 7: no ink' >&2\nexit 5\n");
    assert_int_equal(chmod(scratch_file(&s, "gnuplot"), 0755), 0);
    fails_with(&s, s.directory, "status 5: line 7: no ink");
    scratch_close(&s);
}

static void unwritable_page_is_an_error_of_the_machine(void **state)
{
    struct scratch s;
    struct err err = {0};
    struct fixture f = fixture_default();
    (void)state;
    scratch_open(&s);
    f.days = 1;
    assert_true(fixture_write(scratch_file(&s, "r.db"), &f, &err));
    assert_false(report_write(scratch_file(&s, "r.db"), scratch_file(&s, "no/r.html"), &err));
    assert_int_equal(err_exit_status(&err), 3);
    scratch_close(&s);
}

static void svg_takes_palette_labels_and_ids_of_the_page(void **state)
{
    static const char svg[] = "<?xml?>\n<svg width=\"9\" viewBox=\"0 0 90 30\">\n<title>Gnuplot</title>\n"
                              "<desc>x</desc>\n<g a=\"1\">\n</g>\n<path id='gp' stroke='rgb(  0,   0,  11)'"
                              " fill='rgb(7,0,11)'/><use xlink:href='#gp'/><text>@L0@ @L9@ a@b</text>\n</svg>\n";
    const char *items[] = {"<&>"};
    struct svg_labels labels = {items, 1, 1};
    char *text = NULL;
    size_t size = 0;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    assert_true(svg_write(out, svg, "a <plot>", 3, &labels));
    assert_false(svg_write(out, "no svg", "", 1, &labels));
    fclose(out);
    assert_string_equal(
        text, "<svg role=\"img\" viewBox=\"0 0 90 30\" xmlns=\"http://www.w3.org/2000/svg\" "
              "xmlns:xlink=\"http://www.w3.org/1999/xlink\" aria-labelledby=\"p3-alt\">"
              "<title id=\"p3-alt\">a &lt;plot&gt;</title>\n<path id='p3-gp' "
              "stroke='var(--computing)' fill='rgb(7,0,11)'/><use xlink:href='#p3-gp'/>"
              "<text>&lt;&amp;&gt; @L9@ a@b</text>\n</svg>\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_tells_the_finding_and_draws_every_section),
        cmocka_unit_test(page_needs_no_network),
        cmocka_unit_test(page_draws_utilisation_against_isolation),
        cmocka_unit_test(page_of_a_summary_draws_sharing_without_names),
        cmocka_unit_test(names_of_the_user_are_escaped_everywhere),
        cmocka_unit_test(ids_in_the_page_do_not_collide),
        cmocka_unit_test(page_says_what_a_summary_database_lacks),
        cmocka_unit_test(page_of_a_single_arbiter_speaks_of_it_alone),
        cmocka_unit_test(page_without_cards_is_written),
        cmocka_unit_test(missing_gnuplot_is_named),
        cmocka_unit_test(failing_gnuplot_is_quoted),
        cmocka_unit_test(unwritable_page_is_an_error_of_the_machine),
        cmocka_unit_test(svg_takes_palette_labels_and_ids_of_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
