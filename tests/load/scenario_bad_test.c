/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every message about a bad or doubtful scenario: scenario_bad.txt breaks scenario_base.yaml in
 * one way per case and says, problem by problem, what must be reported. Each case is a test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenarios/load/load.h"

enum { CASES_MAX = 256, LINES_MAX = 64, TEXT_MAX = 1 << 16 };

struct bad_case {
    const char *name, *base;
    char *from[8], *to[8]; /* replaced in this order */
    int edit_count;
    char *expected[LINES_MAX]; /* "!..." or "~..." */
    int expected_count;
};

struct cases {
    char *base, *file;
    struct bad_case items[CASES_MAX];
    int count;
};

static char *read_data(const char *name)
{
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/load/data/%s", root == NULL ? "." : root, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    char *text = calloc(TEXT_MAX, 1);
    size_t n = text == NULL ? 0 : fread(text, 1, TEXT_MAX - 1, f);
    fclose(f);
    if (n == 0)
        exit(1);
    return text;
}

/* Appends a line to what an edit replaces, or replaces it with. */
static void append(char **text, const char *line)
{
    size_t before = *text == NULL ? 0 : strlen(*text) + 1, n = strlen(line);
    char *grown = realloc(*text, before + n + 1);
    if (grown == NULL)
        exit(1);
    if (before > 0)
        grown[before - 1] = '\n';
    memcpy(grown + before, line, n + 1);
    *text = grown;
}

static void take_line(struct cases *all, char *line)
{
    struct bad_case *c = all->count == 0 ? NULL : &all->items[all->count - 1];
    if (strncmp(line, "== ", 3) == 0 && all->count < CASES_MAX) {
        all->items[all->count++] = (struct bad_case){.name = line + 3, .base = all->base};
    } else if (c != NULL && (line[0] == '!' || line[0] == '~') && c->expected_count < LINES_MAX) {
        c->expected[c->expected_count++] = line;
    } else if (c != NULL && line[0] == '-' && line[1] == ' ') {
        if (c->edit_count == 0 || c->to[c->edit_count - 1] != NULL)
            c->edit_count++;
        append(&c->from[c->edit_count - 1], line + 2);
    } else if (c != NULL && line[0] == '+' && line[1] == ' ') {
        append(&c->to[c->edit_count - 1], line + 2);
    }
}

static void load_cases(struct cases *all)
{
    all->base = read_data("scenario_base.yaml");
    all->file = read_data("scenario_bad.txt");
    char *rest = all->file, *line;
    while ((line = rest) != NULL) {
        rest = strchr(line, '\n');
        if (rest != NULL)
            *rest++ = '\0';
        take_line(all, line);
    }
}

static char *edited(const struct bad_case *c)
{
    char *text = strdup(c->base);
    for (int i = 0; i < c->edit_count; i++) {
        char *hit = strstr(text, c->from[i]);
        if (hit == NULL || c->to[i] == NULL)
            fail_msg("'%s' is not in the base", c->from[i]);
        if (strstr(hit + 1, c->from[i]) != NULL)
            fail_msg("'%s' stands twice in the base", c->from[i]);
        size_t size = strlen(text) + strlen(c->to[i]) + 1;
        char *next = malloc(size);
        snprintf(next, size, "%.*s%s%s", (int)(hit - text), text, c->to[i],
                 hit + strlen(c->from[i]));
        free(text);
        text = next;
    }
    return text;
}

static void compare(const struct bad_case *c, const struct diag_list *diags)
{
    for (int i = 0; i < c->expected_count || (size_t)i < diags->count; i++) {
        char got[1200] = "nothing more";
        if ((size_t)i < diags->count) {
            const struct diag *d = &diags->items[i];
            snprintf(got, sizeof got, "%c %ld:%ld: %s", d->severity == DIAG_ERROR ? '!' : '~',
                     d->line, d->column, d->text);
        }
        const char *want = i < c->expected_count ? c->expected[i] : "nothing more";
        if (strcmp(want, got) != 0)
            fail_msg("problem %d\n  expected %s\n  got      %s", i + 1, want, got);
    }
}

/* scenario_check reads files, so the edited text becomes one, in the build's folder. */
static struct scenario *check_text(const char *text, struct diag_list *diags)
{
    char path[] = "scenario_bad_XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
    struct scenario *s = scenario_check(path, NULL, 0, diags);
    unlink(path);
    return s;
}

static void one_case(void **state)
{
    const struct bad_case *c = *state;
    struct diag_list diags = {0};
    char *text = edited(c);
    struct scenario *s = check_text(text, &diags);
    compare(c, &diags);
    assert_true(c->expected_count > 0);
    assert_int_equal(s == NULL, c->expected[0][0] == '!');
    scenario_free(s);
    diag_fini(&diags);
    free(text);
}

static void the_base_has_no_problem(void **state)
{
    const struct bad_case *none = *state;
    struct diag_list diags = {0};
    struct scenario *s = check_text(none->base, &diags);
    diag_print(&diags, stderr);
    assert_non_null(s);
    assert_int_equal(diags.count, 0);
    scenario_free(s);
}

int main(void)
{
    struct cases *all = calloc(1, sizeof *all);
    struct CMUnitTest *tests = calloc(CASES_MAX + 1, sizeof *tests);
    if (all == NULL || tests == NULL)
        return 1;
    load_cases(all);
    struct bad_case none = {.base = all->base};
    tests[0] = (struct CMUnitTest){.name = "the base has no problem",
                                   .test_func = the_base_has_no_problem, .initial_state = &none};
    for (int i = 0; i < all->count; i++)
        tests[i + 1] = (struct CMUnitTest){.name = all->items[i].name, .test_func = one_case,
                                           .initial_state = &all->items[i]};
    int failed = _cmocka_run_group_tests("bad scenarios", tests, (size_t)all->count + 1, NULL,
                                         NULL);
    for (int i = 0; i < all->count; i++)
        for (int k = 0; k < all->items[i].edit_count; k++) {
            free(all->items[i].from[k]);
            free(all->items[i].to[k]);
        }
    free(all->base);
    free(all->file);
    free(all);
    free(tests);
    return failed;
}
