/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

enum { DEFAULT_LIMIT = 20, NAME_MAX_BYTES = 64, EXCERPT_BYTES = 120 };

static size_t kept(const struct diag_list *list, enum diag_severity severity)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++)
        n += list->items[i].severity == severity;
    return n;
}

/* Counts the problem; true when it is still within the limit of its severity. */
static bool count_one(struct diag_list *list, enum diag_severity severity)
{
    if (severity == DIAG_ERROR)
        list->error_count++;
    else if (severity == DIAG_WARNING)
        list->warning_count++;
    return kept(list, severity) < (list->limit > 0 ? list->limit : DEFAULT_LIMIT);
}

__attribute__((format(printf, 1, 0))) static char *format(const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    REQUIRE(n >= 0);
    char *text = mem_alloc((size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, fmt, args);
    return text;
}

static char *copy_or_null(const char *s)
{
    return s == NULL ? NULL : mem_strdup(s);
}

void diag_add(struct diag_list *list, enum diag_severity severity, const char *file, long line,
              long column, const char *excerpt, const char *fmt, ...)
{
    if (!count_one(list, severity))
        return;
    list->items = mem_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    struct diag *d = &list->items[list->count++];
    *d = (struct diag){.severity = severity, .line = line, .column = column};
    d->file = copy_or_null(file);
    d->excerpt = copy_or_null(excerpt);
    if (d->excerpt != NULL)
        d->excerpt[strcspn(d->excerpt, "\r\n")] = '\0';
    va_list args;
    va_start(args, fmt);
    d->text = format(fmt, args);
    va_end(args);
}

/* Control characters of a hostile file must not reach the terminal. */
static void print_clean(const char *s, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        fputc((c < 0x20 && c != '\t') || c == 0x7f ? '?' : c, out);
    }
}

/* Tabs stay tabs and the continuation bytes of UTF-8 take no room, so the caret stands right. */
static void print_caret(const char *s, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\t')
            fputc('\t', out);
        else if (((unsigned char)s[i] & 0xc0) != 0x80)
            fputc(' ', out);
    }
    fputs("^\n", out);
}

/* Of a very long line only the part around the column is shown. */
static void print_excerpt(const struct diag *d, FILE *out)
{
    size_t length = strlen(d->excerpt);
    size_t at = d->column > 0 ? (size_t)d->column - 1 : 0;
    if (at > length)
        at = length;
    size_t from = at > EXCERPT_BYTES / 2 && length > EXCERPT_BYTES ? at - EXCERPT_BYTES / 2 : 0;
    while (from > 0 && ((unsigned char)d->excerpt[from] & 0xc0) == 0x80)
        from--;
    size_t shown = length - from > EXCERPT_BYTES ? EXCERPT_BYTES : length - from;
    print_clean(d->excerpt + from, shown, out);
    fputc('\n', out);
    if (d->column > 0)
        print_caret(d->excerpt + from, at - from, out);
}

static void print_one(const struct diag *d, FILE *out)
{
    static const char *const prefix[] = {"", "warning: ", "note: "};
    if (d->file != NULL) {
        fputs(d->file, out);
        if (d->line > 0)
            fprintf(out, ":%ld", d->line);
        if (d->line > 0 && d->column > 0)
            fprintf(out, ":%ld", d->column);
        fputs(": ", out);
    }
    fputs(prefix[d->severity], out);
    print_clean(d->text, strlen(d->text), out);
    fputc('\n', out);
    if (d->excerpt != NULL)
        print_excerpt(d, out);
}

static void print_cut(size_t cut, const char *what, FILE *out)
{
    if (cut > 0)
        fprintf(out, "%zu more %s%s\n", cut, what, cut == 1 ? "" : "s");
}

void diag_print(const struct diag_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].severity == DIAG_ERROR)
            print_one(&list->items[i], out);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].severity != DIAG_ERROR)
            print_one(&list->items[i], out);
    }
    print_cut(list->error_count - kept(list, DIAG_ERROR), "error", out);
    print_cut(list->warning_count - kept(list, DIAG_WARNING), "warning", out);
}

void diag_fini(struct diag_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].file);
        free(list->items[i].text);
        free(list->items[i].excerpt);
    }
    free(list->items);
    *list = (struct diag_list){.limit = list->limit};
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Optimal string alignment: insert, delete, replace, swap of neighbours cost 1 each. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t replace = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = min3(last[j] + 1, now[j - 1] + 1, replace);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
        size_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[m];
}

const char *diag_nearest(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t n = strlen(word);
    size_t limit = n / 2 < 3 ? n / 2 : 3;
    if (n > NAME_MAX_BYTES)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t m = strlen(names[i]);
        if (m > NAME_MAX_BYTES)
            continue;
        size_t distance = edit_distance(word, n, names[i], m);
        if (distance > limit || (best != NULL && distance == limit))
            continue;
        best = names[i];
        limit = distance;
    }
    return best;
}
