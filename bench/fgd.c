/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The FGD experiment (gpu-sharing 5): every openb pod list of the folders given, six placement
 * rules, ten seeds; what was measured beside what was published.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/fgd/published.h"
#include "bench/fgd/run.h"
#include "bench/fgd/write.h"
#include "sim/arena.h"
#include "sim/dmath.h"

#define NODE_LIST "openb_node_list_gpu_node.csv"
#define POD_LIST "openb_pod_list_"
#define TOLERANCE_POINTS 0.25

static const int shown_columns[] = {50, 80, 90, 95, 100, 110, 120, 130};
enum { SHOWN = sizeof shown_columns / sizeof shown_columns[0] };
static const char *const metric_names[FGD_METRICS] = {"allocated", "fragmented", "fragment_ratio"};

struct summary {
    double mean, deviation, least, most;
    int seeds;
};

struct rule_results {
    struct summary cell[FGD_METRICS][SHOWN];
    double cpu_s;
    uint64_t arrivals, placed;
};

/* ---- one list ---- */

static void add(struct summary *s, double x)
{
    if (s->seeds == 0 || x < s->least)
        s->least = x;
    if (s->seeds == 0 || x > s->most)
        s->most = x;
    s->seeds++;
    double step = x - s->mean; /* Welford; deviation holds the sum of squares until the end */
    s->mean += step / s->seeds;
    s->deviation += step * (x - s->mean);
}

static void add_run(struct rule_results *to, const struct fgd_result *r, double cpu_s)
{
    for (int m = 0; m < FGD_METRICS; m++)
        for (int c = 0; c < SHOWN; c++)
            add(&to->cell[m][c], r->percent[m][shown_columns[c]]);
    to->cpu_s += cpu_s;
    to->arrivals += (uint64_t)r->events;
    to->placed += (uint64_t)(r->events - r->failed);
}

static void finish(struct rule_results *to)
{
    for (int m = 0; m < FGD_METRICS; m++)
        for (int c = 0; c < SHOWN; c++) {
            struct summary *s = &to->cell[m][c];
            s->deviation = s->seeds > 1 ? dm_sqrt(s->deviation / (s->seeds - 1)) : 0;
        }
}

static void run_list(struct rule_results results[SCORE_KINDS], const struct openb_nodes *n,
                     const struct openb_pods *p, const struct go_rand_table *table, int seeds)
{
    struct frag_mix mix;
    fgd_mix_make(&mix, p);
    for (int s = 0; s < seeds; s++) {
        struct fgd_events events;
        fgd_events_make(&events, n, p, table, PUBLISHED_FIRST_SEED + s);
        for (int k = 0; k < SCORE_KINDS; k++) {
            struct fgd_result r;
            double start = bench_cpu_s();
            fgd_run(&r, n, p, &mix, &events, (enum score_kind)k, (uint64_t)PUBLISHED_FIRST_SEED + (uint64_t)s);
            add_run(&results[k], &r, bench_cpu_s() - start);
        }
        fgd_events_fini(&events);
    }
    for (int k = 0; k < SCORE_KINDS; k++)
        finish(&results[k]);
    frag_mix_fini(&mix);
}

/* ---- beside the published ---- */

struct compared {
    const struct summary *ours;
    const struct published_cell *published; /* NULL: this list or cell was not published */
    bool agrees;
};

/* What was published of a metric and a column of the demand, or NULL. */
static const struct published_cell *published_cell(const struct published_list *list, int rule,
                                                   int metric, int column)
{
    if (list == NULL || metric == FGD_FRAGMENT_RATIO || (column != 100 && column != 130))
        return NULL;
    int at = (metric == FGD_FRAGMENTED ? PUBLISHED_FRAGMENTED_100 : PUBLISHED_ALLOCATED_100) +
             (column == 130);
    return &list->cell[rule][at];
}

/* The five rules without chance are held to the mean; random to the range of its ten runs. */
static struct compared compare(const struct rule_results *results,
                               const struct published_list *list, int rule, int metric, int column)
{
    int at = 0;
    while (shown_columns[at] != column)
        at++;
    struct compared c = {.ours = &results[rule].cell[metric][at],
                         .published = published_cell(list, rule, metric, column)};
    if (c.published == NULL || c.ours->seeds != PUBLISHED_SEEDS)
        c.agrees = true; /* nothing of the kind to compare with */
    else if (rule == SCORE_RANDOM)
        c.agrees = c.ours->mean >= c.published->least && c.ours->mean <= c.published->most;
    else
        c.agrees = c.ours->mean - c.published->mean <= TOLERANCE_POINTS &&
                   c.published->mean - c.ours->mean <= TOLERANCE_POINTS;
    return c;
}

static const struct {
    int metric, column;
} headline[] = {{FGD_ALLOCATED, 100}, {FGD_ALLOCATED, 130}, {FGD_FRAGMENTED, 100},
                {FGD_FRAGMENTED, 130}};
enum { HEADLINES = sizeof headline / sizeof headline[0] };

static void print_cell(const struct compared *c)
{
    printf("  %6.2f", c->ours->mean);
    if (c->published != NULL)
        printf(" %6.2f %+5.2f", c->published->mean, c->ours->mean - c->published->mean);
    else
        printf(" %6s %5s", "-", "-");
}

static int print_list(const char *name, const struct rule_results results[SCORE_KINDS])
{
    const struct published_list *list = published_find(name);
    int differing = 0;
    for (int k = 0; k < SCORE_KINDS; k++) {
        bool agrees = true;
        printf("%-12s %-12s", name, score_rule_of((enum score_kind)k)->name);
        for (int h = 0; h < HEADLINES; h++) {
            struct compared c = compare(results, list, k, headline[h].metric, headline[h].column);
            print_cell(&c);
            agrees = agrees && c.agrees;
        }
        bool judged = list != NULL && results[k].cell[0][0].seeds == PUBLISHED_SEEDS;
        printf("  %s\n", !judged ? "-" : agrees ? "agrees" : "DIFFERS");
        differing += !agrees;
    }
    return differing;
}

static void csv_list(const char *name, const struct rule_results results[SCORE_KINDS])
{
    const struct published_list *list = published_find(name);
    for (int k = 0; k < SCORE_KINDS; k++)
        for (int m = 0; m < FGD_METRICS; m++)
            for (int i = 0; i < SHOWN; i++) {
                struct compared c = compare(results, list, k, m, shown_columns[i]);
                printf("%s,%s,%s,%d,%d,%.3f,%.3f,%.2f,%.2f,", name,
                       score_rule_of((enum score_kind)k)->name, metric_names[m], shown_columns[i],
                       c.ours->seeds, c.ours->mean, c.ours->deviation, c.ours->least, c.ours->most);
                if (c.published != NULL)
                    printf("%.3f,%.2f,%.2f,%s\n", c.published->mean, c.published->least,
                           c.published->most, c.ours->seeds != PUBLISHED_SEEDS ? "" : c.agrees ? "agrees" : "differs");
                else
                    puts(",,,");
            }
}

static void print_heading(const struct bench_report *report)
{
    if (report->options->csv) {
        puts("list,rule,metric,demand_pct,seeds,mean_pct,sd,min,max,"
             "published_mean,published_min,published_max,verdict");
        return;
    }
    printf("%-25s  %-19s   %-19s   %-19s   %s\n%-12s %-12s", "", "allocated % @100",
           "allocated % @130", "fragmented % @100", "fragmented % @130", "list", "rule");
    for (int h = 0; h < HEADLINES; h++)
        printf("  %6s %6s %5s", "ours", "publ.", "diff");
    puts("  verdict");
}

/* ---- folders ---- */

static struct text_input *open_in(const char *folder, const char *file, struct err *e)
{
    struct arena a = {0};
    struct text_input *in = text_input_open(arena_printf(&a, "%s/%s", folder, file), 0, e);
    arena_fini(&a);
    return in;
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

struct listing {
    struct arena arena;
    char **files;
    size_t count, capacity;
    char *nodes; /* file name of the node list, NULL = none */
};

static bool list_folder(struct listing *l, const char *folder, struct err *e)
{
    DIR *d = opendir(folder);
    if (d == NULL)
        return err_errno(e, ERR_INPUT, "cannot open folder '%s'", folder);
    for (struct dirent *f; (f = readdir(d)) != NULL;) {
        bool csv = ends_with(f->d_name, ".csv") || ends_with(f->d_name, ".csv.gz") ||
                   ends_with(f->d_name, ".csv.zst");
        if (csv && strncmp(f->d_name, NODE_LIST, strlen(NODE_LIST)) == 0)
            l->nodes = arena_strdup(&l->arena, f->d_name);
        if (!csv || strncmp(f->d_name, POD_LIST, strlen(POD_LIST)) != 0)
            continue;
        l->files = mem_grow(l->files, &l->capacity, l->count + 1, sizeof *l->files);
        l->files[l->count++] = arena_strdup(&l->arena, f->d_name);
    }
    closedir(d);
    if (l->count == 0)
        return err_set(e, ERR_INPUT, "'%s' has no file '%s*.csv[.gz]'", folder, POD_LIST);
    qsort(l->files, l->count, sizeof *l->files, compare_strings);
    return true;
}

/* Everything of a call. A folder without a node list uses the one read last; the first folder may
 * use that of any other. */
struct fgd {
    struct bench_report *report;
    struct go_rand_table table;
    struct openb_nodes nodes;
    bool has_nodes;
    int seeds, lists, differing;
    struct rule_results all; /* of rule fgd, over all lists */
};

static bool write_list(const struct fgd *x, const char *name, const struct openb_pods *pods, struct err *e)
{
    bool ok = true;
    for (int s = 0; ok && s < x->seeds; s++) {
        struct fgd_events events;
        fgd_events_make(&events, &x->nodes, pods, &x->table, PUBLISHED_FIRST_SEED + s);
        ok = fgd_write(x->report->options->write, name, PUBLISHED_FIRST_SEED + s, &x->nodes, pods, &events, e);
        fgd_events_fini(&events);
    }
    return ok;
}

static void run_and_compare(struct fgd *x, const char *name, const struct openb_pods *pods)
{
    struct rule_results results[SCORE_KINDS] = {0};
    run_list(results, &x->nodes, pods, &x->table, x->seeds);
    if (x->report->options->csv)
        csv_list(name, results);
    else
        x->differing += print_list(name, results);
    fflush(stdout);
    x->all.cpu_s += results[SCORE_FGD].cpu_s;
    x->all.arrivals += results[SCORE_FGD].arrivals;
    x->all.placed += results[SCORE_FGD].placed;
    x->lists++;
}

static bool bench_one(struct fgd *x, const char *folder, const char *file, struct err *e)
{
    struct text_input *in = open_in(folder, file, e);
    struct openb_pods pods;
    if (in == NULL)
        return false;
    if (openb_read_pods(&pods, &x->nodes, in, e)) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(file + strlen(POD_LIST), "."),
                 file + strlen(POD_LIST));
        if (x->report->options->write != NULL)
            write_list(x, name, &pods, e);
        else
            run_and_compare(x, name, &pods);
    }
    openb_pods_fini(&pods);
    text_input_close(in);
    return e->code == ERR_NONE;
}

static bool read_nodes(struct fgd *x, const char *folder, const char *file, struct err *e)
{
    if (file == NULL)
        return x->has_nodes || err_set(e, ERR_INPUT, "'%s' has no node list '%s[.gz]'", folder, NODE_LIST);
    struct text_input *in = open_in(folder, file, e);
    if (in == NULL)
        return false;
    if (x->has_nodes)
        openb_nodes_fini(&x->nodes);
    x->has_nodes = true;
    openb_read_nodes(&x->nodes, in, e);
    text_input_close(in);
    return e->code == ERR_NONE;
}

static bool bench_folder(struct fgd *x, const char *folder, struct err *e)
{
    struct listing l = {0};
    bool ok = list_folder(&l, folder, e) && read_nodes(x, folder, l.nodes, e);
    for (size_t i = 0; ok && i < l.count; i++)
        ok = bench_one(x, folder, l.files[i], e);
    free(l.files);
    arena_fini(&l.arena);
    return ok;
}

/* Nodes for the first folders, if a later one has the list. */
static bool find_nodes(struct fgd *x, char **folders, size_t count, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count && !x->has_nodes; i++) {
        struct listing l = {0};
        ok = list_folder(&l, folders[i], e) &&
             (l.nodes == NULL || read_nodes(x, folders[i], l.nodes, e));
        free(l.files);
        arena_fini(&l.arena);
    }
    return ok;
}

bool bench_fgd(struct bench_report *report, struct err *e)
{
    const struct bench_options *o = report->options;
    if (o->path_count == 0)
        return err_set(e, ERR_INPUT, "fgd: no folder with openb lists given: fleetsim-bench fgd DIR...");
    struct fgd *x = mem_zalloc(1, sizeof *x);
    x->report = report;
    x->seeds = o->count > 0 && o->count < 1000 ? (int)o->count : PUBLISHED_SEEDS;
    go_rand_make_table(&x->table);
    bool ok = find_nodes(x, o->paths, o->path_count, e);
    if (ok && o->write == NULL)
        print_heading(report);
    for (size_t i = 0; ok && i < o->path_count; i++)
        ok = bench_folder(x, o->paths[i], e);
    if (ok && !o->csv && o->write == NULL) {
        bench_note(report, "%d lists x %d rules x %d seeds; rows that differ: %d", x->lists,
                   SCORE_KINDS, x->seeds, x->differing);
        bench_add(report, "rule=fgd pods placed", x->all.placed, x->all.arrivals, x->all.cpu_s);
    }
    report->differs = report->differs || x->differing > 0;
    if (x->has_nodes)
        openb_nodes_fini(&x->nodes);
    free(x);
    return ok;
}
