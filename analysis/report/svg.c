/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report/svg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/html.h"

/* Places of the palette as the templates use them; the values are in html.c. */
static const struct {
    int place;
    const char *name;
} palette[] = {
    {1, "axis"},          {2, "muted"},       {3, "grid"},        {4, "text"},
    {11, "computing"},  {12, "rework"},
    {13, "waiting"},      {14, "idle"},       {15, "offline"},    {21, "arbiter1"},   {22, "arbiter2"},
    {23, "arbiter3"},     {24, "arbiter4"},   {25, "arbiter5"},   {31, "traffic"},    {32, "wanted"},
    {33, "mark"},         {34, "pending"},    {41, "on-computing"}, {42, "on-rework"}, {43, "on-waiting"},
    {44, "on-idle"},      {45, "on-offline"}, {51, "item1"},      {52, "item2"},      {53, "item3"},
    {54, "item4"},        {55, "item5"},      {56, "item6"}};

const char *svg_colour(int place)
{
    for (size_t i = 0; i < sizeof palette / sizeof palette[0]; i++)
        if (palette[i].place == place)
            return palette[i].name;
    return NULL;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* rgb(  0,   0,  11) -> var(--computing); characters read, 0 if it is another colour. */
static size_t write_colour(FILE *out, const char *p)
{
    long part[3];
    char *end = NULL;
    const char *at = p + strlen("rgb");
    for (int i = 0; i < 3; i++, at = end) {
        if (*at++ != (i == 0 ? '(' : ','))
            return 0;
        part[i] = strtol(at, &end, 10);
        if (end == at)
            return 0;
    }
    if (*end != ')' || part[0] != 0 || part[1] != 0 || part[2] < 0 || part[2] > 255)
        return 0;
    const char *name = svg_colour((int)part[2]);
    if (name == NULL)
        return 0;
    fprintf(out, "var(--%s)", name);
    return (size_t)(end + 1 - p);
}

/* @L12@ -> the text; characters read, 0 if it is no token. */
static size_t write_label(FILE *out, const char *p, const struct svg_labels *labels)
{
    char *end;
    if (p[1] != 'L' || !isdigit((unsigned char)p[2]))
        return 0;
    unsigned long i = strtoul(p + 2, &end, 10);
    if (*end != '@' || i >= labels->count)
        return 0;
    html_text(out, labels->items[i]);
    return (size_t)(end - p) + 1;
}

/* A group without content: <g ...>\n</g>\n, of which gnuplot writes many; its length or 0. */
static size_t empty_group(const char *p)
{
    const char *end = strchr(p, '>');
    return end != NULL && starts(end, ">\n</g>\n") ? (size_t)(end - p) + 7 : 0;
}

/* One step at p: writes what stands there and returns the characters read. */
static size_t write_next(FILE *out, const char *p, int number, const struct svg_labels *labels)
{
    static const char *const references[] = {" id='", " id=\"", "xlink:href='#", "url(#"};
    size_t n = 0;
    if (starts(p, "<g "))
        n = empty_group(p);
    if (n == 0 && starts(p, "rgb("))
        n = write_colour(out, p);
    if (n == 0 && *p == '@')
        n = write_label(out, p, labels);
    if (n > 0)
        return n;
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        if (starts(p, references[i])) {
            fprintf(out, "%sp%d-", references[i], number);
            return strlen(references[i]);
        }
    putc(*p, out);
    return 1;
}

bool svg_write(FILE *out, const char *svg, const char *alt, int number,
               const struct svg_labels *labels)
{
    const char *head = strstr(svg, "<svg"), *body = strstr(svg, "</desc>");
    const char *box = strstr(svg, "viewBox=\"0 0 "), *end = strstr(svg, "</svg>");
    if (head == NULL || body == NULL || box == NULL || end == NULL)
        return false;
    char *after_width, *after_height;
    box += strlen("viewBox=\"0 0 ");
    double width = strtod(box, &after_width), height = strtod(after_width, &after_height);
    if (after_width == box || after_height == after_width)
        return false;
    fprintf(out,
            "<svg role=\"img\" viewBox=\"0 0 %.0f %.0f\" xmlns=\"http://www.w3.org/2000/svg\" "
            "xmlns:xlink=\"http://www.w3.org/1999/xlink\" aria-labelledby=\"p%d-alt\">"
            "<title id=\"p%d-alt\">",
            width, height, number, number);
    html_text(out, alt);
    fputs("</title>", out);
    for (const char *p = body + strlen("</desc>"); p < end;)
        p += write_next(out, p, number, labels);
    fputs("</svg>\n", out);
    return true;
}
