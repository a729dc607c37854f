/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report/sharing.h"

#include <math.h>
#include <string.h>

static const struct {
    int place;
    const char *colour, *words;
} isolations[] = {{12, "rework", "none: a neighbour may take all memory, or fail the card"},
                  {13, "waiting", "software: limits that a process can overrun"},
                  {53, "item3", "hardware: own memory and processors"},
                  {11, "computing", "exclusive: nobody else on the card"}};

int sharing_place(int rank)
{
    return isolations[rank].place;
}

const char *sharing_colour(int rank)
{
    return isolations[rank].colour;
}

const char *sharing_words(int rank)
{
    return isolations[rank].words;
}

/* Shortened to `most` bytes at a whole character. */
static const char *cut(struct arena *arena, const char *text, size_t most)
{
    size_t n = strlen(text);
    if (n <= most)
        return text;
    for (n = most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
        continue;
    return arena_printf(arena, "%.*s…", (int)n, text);
}

/* ---- the arbiters side by side ---- */

static void bar(struct plot *plot, FILE *f, double value, double most, const char *text)
{
    plot_column(f, isfinite(value) ? value : isnan(value) ? 0 : most);
    fprintf(f, "\t%s", plot_label(plot, text));
}

static double most_finite(double a, double b)
{
    return isfinite(b) && b > a ? b : a;
}

static void write_way(struct plot *plot, FILE *f, const struct way *w, size_t row, const double most[3])
{
    struct arena arena = {0};
    char cards[FIGURE_SIZE], latency[FIGURE_SIZE], victims[FIGURE_SIZE] = "not recorded";
    fprintf(f, "%zu\t%s", row, plot_label(plot, cut(&arena, w->run->arbiter, 30)));
    fprintf(f, "\t%s", plot_label(plot, cut(&arena, w->mechanisms, 30)));
    plot_column(f, sharing_place(w->rank));
    (void)snprintf(cards, sizeof cards, "%.0f", w->cards);
    html_figure_text(latency, "inference.latency.p99", w->latency_s);
    if (isfinite(w->brought_down))
        (void)snprintf(victims, sizeof victims, "%.0f", w->brought_down);
    bar(plot, f, w->cards, most[0], cards);
    bar(plot, f, w->latency_s, most[1],
        w->latency_censored ? arena_printf(&arena, "≥ %s", latency) : latency);
    bar(plot, f, w->brought_down, most[2], victims);
    putc('\n', f);
    arena_fini(&arena);
}

void sharing_draw_ways(struct page *page, const struct way *ways, size_t count)
{
    double most[3] = {0, 0, 0};
    struct plot *plot = plot_begin("whatif", page->err);
    if (plot == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        most[0] = most_finite(most[0], ways[i].cards);
        most[1] = most_finite(most[1], ways[i].latency_s);
        most[2] = most_finite(most[2], ways[i].brought_down);
    }
    FILE *f = plot_file(plot, "whatif.tsv");
    for (int k = 0; k < 3; k++)
        most[k] = most[k] > 0 ? most[k] : 1;
    for (size_t i = 0; i < count; i++)
        write_way(plot, f, &ways[i], i, most);
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 40 + 46 * (double)count);
    plot_number(plot, "ROWS", (double)count);
    plot_number(plot, "MOST1", most[0]);
    plot_number(plot, "MOST2", most[1]);
    plot_number(plot, "MOST3", most[2]);
    page_plot(page, plot,
              "For each arbiter three bars: the most cards in use at once, the 99th percentile of latency, and how "
              "many tenants were brought down by the failure of another one.");
}

/* ---- pools ---- */

struct pool_row {
    const struct audit_run *run;
    const struct audit_pool *pool;
    double use; /* computing, of the time that cards had a tenant */
    size_t findings;
    size_t same; /* more arbiters under which the pool is just the same */
};

/* A pool that an arbiter does not touch looks the same under several: one row for all of them. */
static struct pool_row *same_row(struct pool_row *rows, size_t count, const struct pool_row *like)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].pool->node_pool, like->pool->node_pool) == 0 && rows[i].findings == like->findings &&
            strcmp(rows[i].pool->isolation, like->pool->isolation) == 0 &&
            strcmp(rows[i].pool->shared_by, like->pool->shared_by) == 0 && fabs(rows[i].use - like->use) < 0.005)
            return &rows[i];
    return NULL;
}

/* Rows of one isolation, in order of arbiters. */
static size_t rows_of(const struct audit *audit, int rank, struct pool_row *rows, size_t count)
{
    for (size_t i = 0; i < audit->run_count; i++)
        for (size_t k = 0; k < audit->runs[i].pool_count; k++) {
            const struct audit_run *run = &audit->runs[i];
            const struct audit_pool *p = &run->pools[k];
            double held = p->cards_mean * run->horizon_s;
            if (audit_rank(p->isolation) != rank || !(held > 0))
                continue;
            struct pool_row row = {run, p, fmin(p->computing_card_s / held, 1), 0, 0};
            for (size_t n = 0; n < run->finding_count; n++)
                row.findings += strcmp(run->findings[n].node_pool, p->node_pool) == 0;
            struct pool_row *same = same_row(rows, count, &row);
            if (same != NULL)
                same->same++;
            else if (count < SHARING_ROWS_MAX)
                rows[count++] = row;
        }
    return count;
}

static void write_row(struct plot *plot, FILE *f, const struct pool_row *r, size_t at)
{
    char text[80];
    struct arena arena = {0};
    const char *name = arena_printf(&arena, "%s%s: %s", cut(&arena, r->run->arbiter, 18),
                                    r->same > 0 ? arena_printf(&arena, " and %zu more", r->same) : "",
                                    cut(&arena, r->pool->node_pool, 14));
    fprintf(f, "%zu\t%s", at, plot_label(plot, name));
    plot_column(f, 100 * r->use);
    if (r->findings > 0)
        (void)snprintf(text, sizeof text, "%.0f %%, %zu finding%s", 100 * r->use, r->findings, r->findings == 1 ? "" : "s");
    else
        (void)snprintf(text, sizeof text, "%.0f %%", 100 * r->use);
    fprintf(f, "\t%s", plot_label(plot, text));
    plot_column(f, sharing_place(audit_rank(r->pool->isolation)));
    plot_column(f, r->findings > 0 ? 1 : (double)NAN);
    putc('\n', f);
    arena_fini(&arena);
}

struct group_row {
    size_t at;
    const struct audit_pool *like;
};

/* Where a row stands: one line more before each group of the same mechanism. */
static size_t group_rows(const struct pool_row *rows, size_t count, size_t *at, struct group_row *groups,
                         size_t *group_count)
{
    size_t line = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(rows[i].pool->shared_by, rows[i - 1].pool->shared_by) != 0 ||
            strcmp(rows[i].pool->isolation, rows[i - 1].pool->isolation) != 0)
            groups[(*group_count)++] = (struct group_row){line++, rows[i].pool};
        at[i] = line++;
    }
    return line;
}

/* Brings rows of one mechanism together; the order is otherwise kept. */
static void by_mechanism(struct pool_row *rows, size_t from, size_t count)
{
    for (size_t i = from; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (strcmp(rows[k].pool->shared_by, rows[i].pool->shared_by) == 0) {
                struct pool_row found = rows[k];
                memmove(&rows[i + 2], &rows[i + 1], (k - i - 1) * sizeof *rows);
                rows[++i] = found;
            }
}

static void write_group(struct plot *plot, FILE *f, const struct group_row *g)
{
    bool parts = strcmp(g->like->shared_by, "whole") == 0 && strcmp(g->like->isolation, "exclusive") != 0;
    char text[80];
    (void)snprintf(text, sizeof text, "%.30s, isolation: %.30s", parts ? "parts without a mechanism" : g->like->shared_by,
                    g->like->isolation);
    fprintf(f, "%zu\t%s\n", g->at, plot_label(plot, text));
}

bool sharing_draw_pools(struct page *page, const struct audit *audit)
{
    struct pool_row rows[SHARING_ROWS_MAX];
    struct group_row groups[SHARING_ROWS_MAX];
    size_t at[SHARING_ROWS_MAX], count = 0, group_count = 0;
    for (int rank = 3; rank >= 0; rank--) {
        size_t from = count;
        count = rows_of(audit, rank, rows, count);
        by_mechanism(rows, from, count);
    }
    struct plot *plot = count == 0 ? NULL : plot_begin("isolation", page->err);
    if (plot == NULL)
        return false;
    size_t lines = group_rows(rows, count, at, groups, &group_count);
    FILE *f = plot_file(plot, "isolation.tsv");
    for (size_t i = 0; i < count; i++)
        write_row(plot, f, &rows[i], at[i]);
    f = plot_file(plot, "groups.tsv");
    for (size_t i = 0; i < group_count; i++)
        write_group(plot, f, &groups[i]);
    plot_number(plot, "W", 900);
    plot_number(plot, "H", 62 + 25 * (double)lines);
    plot_number(plot, "ROWS", (double)lines);
    page_plot(page, plot,
              "For each arbiter and node pool how much of the time that its cards had a tenant they computed, in groups "
              "of falling isolation; a ring marks pools in which a tenant had less isolation than it requires.");
    return true;
}
