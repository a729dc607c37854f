/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/generic_columns.h"

#include <ctype.h>
#include <string.h>

#include "sim/diag.h"

enum { NAME_BYTES = 80, ALIASES_MAX = 10 };

static const struct import_column fields[GEN_COUNT] = {
    [GEN_SUBMIT] = {"submit", true},
    [GEN_START] = {"start", false},
    [GEN_END] = {"end", false},
    [GEN_DURATION] = {"duration", false},
    [GEN_WAIT] = {"wait", false},
    [GEN_GPUS] = {"gpus", false},
    [GEN_GPUS_PER_WORKER] = {"gpus_per_worker", false},
    [GEN_WORKERS] = {"workers", false},
    [GEN_GPU_MILLI] = {"gpu_milli", false},
    [GEN_GPU_FRACTION] = {"gpu_fraction", false},
    [GEN_GPU_TYPE] = {"gpu_type", false},
    [GEN_ID] = {"id", false},
    [GEN_USER] = {"user", false},
    [GEN_TEAM] = {"team", false},
    [GEN_QUEUE] = {"queue", false},
    [GEN_PRIORITY] = {"priority", false},
    [GEN_CLASS] = {"class", false},
    [GEN_STATE] = {"state", false},
    [GEN_MODEL] = {"model", false},
    [GEN_INPUT] = {"input_tokens", false},
    [GEN_OUTPUT] = {"output_tokens", false},
};

/* Other names, already reduced (lower case, no blank, '_' or '-'), in order of preference. */
static const char *const aliases[GEN_COUNT][ALIASES_MAX] = {
    [GEN_SUBMIT] = {"submit", "submittime", "timestamp", "arrival", "arrivaltime", "createdat",
                    "arrivedat", "t"},
    [GEN_START] = {"start", "starttime", "startedat"},
    [GEN_END] = {"end", "endtime", "finishedat"},
    [GEN_DURATION] = {"duration", "runtime", "elapsed"},
    [GEN_WAIT] = {"wait", "tracewait", "waittime"},
    [GEN_GPUS] = {"gpus", "numgpu", "numgpus", "gpunum", "gpucount"},
    [GEN_GPUS_PER_WORKER] = {"gpusperworker", "gpurequest", "cardsperworker"},
    [GEN_WORKERS] = {"workers", "workernum", "numinst", "nodes", "nodenum", "replicas"},
    [GEN_GPU_MILLI] = {"gpumilli"},
    [GEN_GPU_FRACTION] = {"gpufraction", "share"},
    [GEN_GPU_TYPE] = {"gputype", "gpumodel", "gpuspec", "cardtype"},
    [GEN_ID] = {"id", "jobid", "name"},
    [GEN_USER] = {"user"},
    [GEN_TEAM] = {"team", "vc", "account", "organization", "namespace"},
    [GEN_QUEUE] = {"queue", "partition"},
    [GEN_PRIORITY] = {"priority"},
    [GEN_CLASS] = {"class", "qos", "jobtype"},
    [GEN_STATE] = {"state", "status"},
    [GEN_MODEL] = {"model"},
    [GEN_INPUT] = {"inputtokens", "prompttokens", "contexttokens", "numprefilltokens"},
    [GEN_OUTPUT] = {"outputtokens", "completiontokens", "generatedtokens", "numdecodetokens"},
};

static const struct {
    const char *ending;
    int64_t ns;
} unit_endings[] = {{"_ms", SIM_MS}, {"_us", 1000}, {"_ns", 1}, {"_min", SIM_MINUTE}, {"_h", SIM_HOUR},
                    {"_s", SIM_SECOND}};

static bool is_time(int field)
{
    return field <= GEN_WAIT;
}

static void reduce(const char *name, char out[NAME_BYTES])
{
    size_t n = 0;
    for (; *name != '\0' && n < NAME_BYTES - 1; name++) {
        if (*name != ' ' && *name != '_' && *name != '-') {
            out[n++] = (char)tolower((unsigned char)*name);
        }
    }
    out[n] = '\0';
}

/* Cuts a unit off the name; 0 when there is none. */
static int64_t cut_unit(char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof unit_endings / sizeof *unit_endings; i++) {
        size_t length = strlen(unit_endings[i].ending);
        if (n > length && strcmp(name + n - length, unit_endings[i].ending) == 0) {
            name[n - length] = '\0';
            return unit_endings[i].ns;
        }
    }
    return 0;
}

/* The unit in a column's name, or the usual one. */
static int64_t unit_of(const struct generic *g, const char *column)
{
    char name[NAME_BYTES];
    row_error_text(name, sizeof name, "%s", column);
    int64_t unit = cut_unit(name);
    return unit != 0 ? unit : g->rows.x->o->unit_ns;
}

static bool matches(const char *column, int field, const char *alias)
{
    char name[NAME_BYTES];
    char reduced[NAME_BYTES];
    row_error_text(name, sizeof name, "%s", column);
    reduce(name, reduced);
    if (strcmp(reduced, alias) == 0) {
        return true;
    }
    if (!is_time(field) || cut_unit(name) == 0) {
        return false;
    }
    reduce(name, reduced);
    return strcmp(reduced, alias) == 0;
}

static void find_usual(struct generic *g)
{
    const struct csv *c = &g->rows.csv;
    for (int f = 0; f < GEN_COUNT; f++) {
        g->rows.at[f] = -1;
        for (int a = 0; a < ALIASES_MAX && aliases[f][a] != NULL && g->rows.at[f] < 0; a++) {
            for (int i = 0; i < c->name_count && g->rows.at[f] < 0; i++) {
                g->rows.at[f] = matches(c->names[i], f, aliases[f][a]) ? i : -1;
            }
        }
    }
}

static bool map_one(struct generic *g, const char *entry, size_t n, struct err *err)
{
    const struct csv *c = &g->rows.csv;
    char text[2 * NAME_BYTES];
    row_error_text(text, sizeof text, "%.*s", (int)n, entry);
    char *column = strchr(text, '=');
    if (column == NULL || n >= sizeof text) {
        return err_set(err, ERR_INPUT, "--map: expected NAME=COLUMN, got '%.60s'", text);
    }
    *column++ = '\0';
    const char *names[GEN_COUNT];
    int field = -1;
    for (int f = 0; f < GEN_COUNT; f++) {
        names[f] = fields[f].name;
        field = strcmp(fields[f].name, text) == 0 ? f : field;
    }
    if (field < 0) {
        const char *near = diag_nearest(text, names, GEN_COUNT);
        return err_set(err, ERR_INPUT, "--map: unknown name '%.60s'%s%s", text,
                       near != NULL ? ", did you mean " : "; names: submit, duration, gpus, workers, ...",
                       near != NULL ? near : "");
    }
    g->rows.at[field] = csv_find(c, column);
    if (g->rows.at[field] < 0) {
        return err_set(err, ERR_INPUT, "%s:%ld:1: no column '%.60s', which --map names", g->rows.x->file,
                       c->line, column);
    }
    return true;
}

static bool map_all(struct generic *g, struct err *err)
{
    const struct import_options *o = g->rows.x->o;
    for (int i = 0; i < o->map_count; i++) {
        const char *p = o->map[i];
        for (;;) {
            size_t n = strcspn(p, ",");
            if (!map_one(g, p, n, err)) {
                return false;
            }
            if (p[n] == '\0') {
                break;
            }
            p += n + 1;
        }
    }
    return true;
}

/* The separator that occurs most often in the first line that is no comment. */
static char guess_separator(const char *head, size_t n)
{
    static const char candidates[] = ",;\t|";
    size_t best = 0;
    size_t best_count = 0;
    size_t i = 0;
    while (i < n && (head[i] == '#' || head[i] == '\n' || head[i] == '\r')) {
        const char *end = memchr(head + i, '\n', n - i);
        i = end != NULL ? (size_t)(end - head) + 1 : n;
    }
    for (size_t k = 0; k < sizeof candidates - 1; k++) {
        size_t count = 0;
        for (size_t j = i; j < n && head[j] != '\n'; j++) {
            count += head[j] == candidates[k];
        }
        if (count > best_count) {
            best = k;
            best_count = count;
        }
    }
    return candidates[best];
}

bool generic_open(struct generic *g, struct text_input *in, struct err *err)
{
    const char *head;
    size_t n;
    if (!text_input_peek(in, &head, &n, err)) {
        return false;
    }
    char separator = g->rows.x->o->separator;
    csv_init(&g->rows.csv, in, separator != '\0' ? separator : guess_separator(head, n));
    g->rows.columns = fields;
    g->rows.column_count = GEN_COUNT;
    if (!csv_header(&g->rows.csv, err)) {
        return false;
    }
    find_usual(g);
    if (!map_all(g, err)) {
        return false;
    }
    for (int f = 0; f < GEN_COUNT; f++) {
        int at = g->rows.at[f];
        g->unit_ns[f] = at >= 0 ? unit_of(g, g->rows.csv.names[at]) : g->rows.x->o->unit_ns;
    }
    return true;
}
