/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/wrap.h"

#include <stdbool.h>
#include <string.h>

static size_t columns_of(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

void wrap_print(FILE *out, const char *text, size_t width, size_t at, size_t indent)
{
    bool begin = true; /* of a line */
    for (const char *p = text; *p != '\0';) {
        size_t bytes = strcspn(p, " "), columns = columns_of(p, bytes);
        if (!begin && at + 1 + columns > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
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
