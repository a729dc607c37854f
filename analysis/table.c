/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/table_priv.h"
#include "sim/check.h"

static void spaces(FILE *out, size_t count)
{
    while (count-- > 0)
        putc(' ', out);
}

/* Bytes of the first `columns` columns of UTF-8 text. */
static size_t bytes_of(const char *text, size_t columns)
{
    size_t i = 0;
    while (text[i] != '\0') {
        if (((unsigned char)text[i] & 0xc0) != 0x80 && columns-- == 0)
            break;
        i++;
    }
    return i;
}

/* Too long a text loses its middle: names differ at their ends ("ascend-team-1"). */
static void cut(FILE *out, const char *text, size_t width)
{
    size_t columns = figure_columns(text);
    if (columns <= width) {
        fputs(text, out);
        return;
    }
    size_t head = (width - 1) / 2, tail = width - 1 - head;
    fwrite(text, 1, bytes_of(text, head), out);
    fputs("…", out);
    fputs(text + bytes_of(text, columns - tail), out);
}

void table_left(FILE *out, const char *text, size_t width)
{
    size_t columns = figure_columns(text);
    cut(out, text, width);
    spaces(out, columns < width ? width - columns : 0);
}

void table_right(FILE *out, const char *text, size_t width)
{
    size_t columns = figure_columns(text);
    spaces(out, columns < width ? width - columns : 0);
    cut(out, text, width);
}

size_t table_interval(FILE *out,
                      enum metric_format format,
                      const struct figure *figure,
                      size_t width,
                      size_t carried)
{
    char text[FIGURE_SIZE];
    size_t split;
    figure_print_interval(text, format, figure, width - 1, &split);
    size_t columns = figure_columns(text), half = figure_columns(text + split);
    size_t tail = width > 11 ? 6 : 5; /* columns kept for " ±0.42" */
    size_t after = half < tail ? tail - half : 0;
    if (columns + after + 1 > width)
        after = width - 1 - columns;
    spaces(out, carried + width - columns - after);
    fputs(text, out);
    return after;
}

void table_layout(const struct summary_data *data, size_t *cell, size_t *per_block)
{
    size_t room = TABLE_WIDTH - TABLE_LABEL, longest = 0;
    REQUIRE(data->arbiter_count > 0); /* summary_data_read refuses an empty file */
    for (size_t i = 0; i < data->arbiter_count; i++) {
        size_t n = figure_columns(data->arbiters[i].name) + 1;
        longest = n > longest ? n : longest;
    }
    size_t count = data->arbiter_count < 5 ? data->arbiter_count : 5;
    *cell = room / count < 14 ? room / count : 14;
    if (longest > *cell)
        *cell = longest < room / 2 ? longest : room / 2;
    *per_block = room / *cell < count ? room / *cell : count;
}
