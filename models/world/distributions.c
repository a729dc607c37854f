/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/distributions.h"

#include <math.h>
#include <string.h>

#include "models/world/tables.h"
#include "sim/arena.h"

static struct qhist copy_of(const struct qhist *h)
{
    struct qhist c = *h;
    c.bins = mem_alloc(h->bin_count, sizeof *c.bins);
    memcpy(c.bins, h->bins, h->bin_count * sizeof *c.bins);
    return c;
}

struct bound distribution_quantile(const struct qhist *ended, const struct qhist *ages, double p)
{
    if (ages == NULL || !(ages->total > 0))
        return (struct bound){.value = qhist_quantile(ended, p)};
    struct qhist least = copy_of(ended), most = copy_of(ended);
    qhist_merge(&least, ages);
    qhist_add_infinite(&most, ages->total);
    struct bound b = {.value = qhist_quantile(&least, p)};
    /* Bins are 2 alpha wide: the same bin is the same value. */
    b.censored = qhist_quantile(&most, p) > b.value * (1 + 3 * ended->alpha);
    qhist_fini(&least);
    qhist_fini(&most);
    return b;
}

static void row(const struct record_sink *sink, int64_t run, const char *name, double lo, double hi,
                double mass)
{
    struct record_value v[] = {rec_int(run), rec_text(name), rec_text(""),
                               rec_real(lo), rec_real(hi),   rec_real(mass)};
    if (mass > 0)
        record_row(sink, &table_histogram, v);
}

static void rows(const struct record_sink *sink, int64_t run, const char *name, const struct qhist *h,
                 bool open)
{
    double lo, hi = 0;
    row(sink, run, name, 0, open ? (double)NAN : h->least, h->zero);
    for (uint32_t i = 0; i < h->bin_count; i++) {
        qhist_bin_edges(h, i, &lo, &hi);
        row(sink, run, name, lo, open ? (double)NAN : hi, h->bins[i]);
    }
    row(sink, run, name, hi, (double)NAN, h->infinite);
}

void distribution_rows(const struct record_sink *sink, int64_t run, const char *name,
                       const struct qhist *ended, const struct qhist *ages)
{
    rows(sink, run, name, ended, false);
    if (ages != NULL)
        rows(sink, run, name, ages, true);
}
