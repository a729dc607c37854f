/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A unit serves values from `from` on. */
struct scale {
    double from, size;
    const char *unit;
};

static const struct scale durations[] = {{0, 1e-3, "ms"},     {1, 1, "s"},        {120, 60, "min"},
                                         {7200, 3600, "h"}, {172800, 86400, "d"}};
static const struct scale amounts[] = {
    {0, 1, ""}, {1e4, 1e3, "k"}, {1e6, 1e6, "M"}, {1e9, 1e9, "G"}, {1e12, 1e12, "T"}};

static const struct scale *pick(const struct scale *scales, size_t count, double value)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        /* a value that would round up to the next unit belongs to it */
        if (fabs(value) >= scales[i].from * 0.9995)
            best = i;
    return &scales[best];
}

static struct scale scale_of(enum metric_format format, double value)
{
    switch (format) {
    case METRIC_PERCENT:
        return (struct scale){0, 0.01, ""};
    case METRIC_DURATION:
        if (value == 0)
            return durations[1];
        return *pick(durations, sizeof durations / sizeof durations[0], value);
    case METRIC_COUNT:
    case METRIC_AMOUNT:
    case METRIC_MONEY:
        break;
    }
    return *pick(amounts, sizeof amounts / sizeof amounts[0], value);
}

/* Three significant digits, one for per cent, none for whole counts, cents for small money. */
static int decimals_of(enum metric_format format, const struct scale *scale, double value)
{
    double v = fabs(value / scale->size);
    if (value == 0 && format != METRIC_PERCENT)
        return 0;
    if (format == METRIC_PERCENT) /* 99.91 and 99.99 are not the same promise */
        return v > 98.5 && v < 99.995 ? 2 : 1;
    if (format == METRIC_COUNT && scale->size == 1)
        return v < 100 && fabs(v - nearbyint(v)) > 1e-9 ? 1 : 0;
    if (format == METRIC_MONEY && scale->size == 1 && v < 99.995)
        return 2;
    return v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

static bool special(char out[FIGURE_SIZE], double value)
{
    if (isnan(value))
        snprintf(out, FIGURE_SIZE, "–");
    else if (isinf(value))
        snprintf(out, FIGURE_SIZE, "%s∞", value < 0 ? "-" : "");
    return isnan(value) || isinf(value);
}

void figure_print(char out[FIGURE_SIZE], enum metric_format format, double value)
{
    if (special(out, value))
        return;
    struct scale scale = scale_of(format, value);
    snprintf(out, FIGURE_SIZE, "%.*f%s", decimals_of(format, &scale, value), value / scale.size,
             scale.unit);
}

void figure_print_change(char out[FIGURE_SIZE], enum metric_format format, double change)
{
    if (special(out, change))
        return;
    struct scale scale = scale_of(format, change);
    snprintf(out, FIGURE_SIZE, "%+.*f%s", decimals_of(format, &scale, change), change / scale.size,
             scale.unit);
}

const char *figure_change_unit(enum metric_format format)
{
    return format == METRIC_PERCENT ? "points" : "";
}

size_t figure_columns(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Half width and unit; a half width above ten of its unit needs no digit after the point. */
static void print_tail(char out[FIGURE_SIZE], double half, int decimals, const struct scale *scale)
{
    if (isfinite(half))
        snprintf(out, FIGURE_SIZE, " ±%.*f%s", half >= 9.95 && scale->size > 0.01 ? 0 : decimals, half,
                 scale->unit);
    else
        snprintf(out, FIGURE_SIZE, "%s", scale->unit);
}

void figure_print_interval(char out[FIGURE_SIZE],
                           enum metric_format format,
                           const struct figure *figure,
                           size_t width,
                           size_t *split)
{
    char value[FIGURE_SIZE], half[FIGURE_SIZE] = "";
    const char *mark = !figure->censored || isnan(figure->value) ? "" : figure->change ? "~" : "≥";
    struct scale scale = scale_of(format, figure->value);
    if (!special(value, figure->value)) {
        int most = decimals_of(format, &scale, figure->value);
        /* keep two significant digits; rather show no half width than a wrong one */
        int least = most > 0 && fabs(figure->value / scale.size) < 9.95 ? 1 : 0;
        int decimals = most;
        bool fits = false;
        for (; !fits && decimals >= least; decimals -= !fits) {
            snprintf(value, sizeof value, figure->change ? "%+.*f" : "%.*f", decimals,
                     figure->value / scale.size);
            print_tail(half, figure->half / scale.size, decimals, &scale);
            fits = figure_columns(mark) + figure_columns(value) + figure_columns(half) <= width;
        }
        if (!fits) {
            (figure->change ? figure_print_change : figure_print)(value, format, figure->value);
            half[0] = '\0';
        }
    }
    snprintf(out, FIGURE_SIZE, "%s%.20s%.20s", mark, value, half);
    if (split != NULL)
        *split = strlen(out) - strlen(half);
}
