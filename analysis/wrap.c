/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/wrap.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "sim/text.h"

enum { LEAST_INDENT = 2 };

static size_t columns_of(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* Where a line begins that has to hold a word. */
static size_t begin_of(size_t columns, size_t width, size_t indent)
{
    if (indent + columns <= width || indent <= LEAST_INDENT)
        return indent;
    return columns + LEAST_INDENT <= width ? width - columns : LEAST_INDENT;
}

void wrap_print(FILE *out, const char *text, size_t width, size_t at, size_t indent)
{
    bool begin = true; /* of a line */
    for (const char *p = text; *p != '\0';) {
        const size_t bytes = strcspn(p, " "), columns = columns_of(p, bytes), next = begin_of(columns, width, indent);
        const bool over = at + !begin + columns > width;
        if (over && (!begin || next < at)) {
            fprintf(out, "\n%*s", (int)next, "");
            at = next;
            begin = true;
        }
        if (!begin) {
            putc(' ', out);
            at++;
        }
        (void)fwrite(p, 1, bytes, out);
        at += columns;
        begin = false;
        p += bytes + strspn(p + bytes, " ");
    }
    putc('\n', out);
}

void wrap_printf(FILE *out, size_t width, size_t at, size_t indent, const char *fmt, ...)
{
    char line[4096] = "";
    struct text t = TEXT(line);
    va_list args;
    va_start(args, fmt);
    text_vsay(&t, fmt, args);
    va_end(args);
    fprintf(out, "%*s", (int)at, "");
    wrap_print(out, line, width, at, indent);
}
