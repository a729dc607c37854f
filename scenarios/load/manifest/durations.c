/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/manifest/durations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "models/demand/law.h"
#include "scenarios/load/csv.h"
#include "scenarios/load/field.h"
#include "scenarios/load/import/names.h"
#include "scenarios/load/load_priv.h"
#include "sim/fnv.h"

enum { PURPOSE_DURATION = 7001 };

static bool lacks(const struct manifest_workload *w)
{
    return w->duration_ns == POLICY_NEVER && !w->forever && w->inadmissible == NULL;
}

uint32_t manifest_without_duration(const struct manifest *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->workload_count; i++)
        n += lacks(&m->workloads[i]);
    return n;
}

/* ---- a file ---- */

struct table {
    struct names names;
    int64_t *ns; /* by number */
    size_t capacity;
};

static bool read_row(struct table *t, const struct csv *c, int name, int duration, struct err *err)
{
    char *end;
    errno = 0;
    const double s = strtod(c->text[duration], &end);
    if (*end != '\0' || end == c->text[duration] || errno != 0 || !(s >= 0 && s <= 3.2e9))
        return err_set(err, ERR_INPUT, "%s:%ld:%ld: duration_s: expected a number of seconds, got '%.60s'",
                       text_input_name(c->in), c->line, c->column[duration], c->text[duration]);
    const uint32_t number = names_add(&t->names, c->text[name], NULL);
    t->ns = mem_grow(t->ns, &t->capacity, (size_t)number + 1, sizeof *t->ns);
    t->ns[number] = (int64_t)(s * 1e9 + 0.5);
    return true;
}

static bool read_rows(struct table *t, struct text_input *in, struct err *err)
{
    struct csv c;
    csv_init(&c, in, ',');
    const bool ok = csv_header(&c, err);
    const int name = ok ? csv_find(&c, "workload") : -1, duration = ok ? csv_find(&c, "duration_s") : -1;
    enum csv_status s = CSV_ROW;
    if (name < 0 || duration < 0)
        err_set(err, ERR_INPUT, "%s: expected the columns workload and duration_s", text_input_name(in));
    while (err->code == ERR_NONE && (s = csv_next(&c, err)) != CSV_END && s != CSV_ERROR) {
        if (s == CSV_BAD)
            err_set(err, ERR_INPUT, "%s:%ld:%ld: %s", text_input_name(in), c.line, c.problem_column, c.problem);
        else
            read_row(t, &c, name, duration, err);
    }
    csv_fini(&c);
    return err->code == ERR_NONE;
}

static uint32_t look_up(const struct table *t, const struct manifest_workload *w)
{
    char key[512];
    snprintf(key, sizeof key, "%.250s/%.250s", w->name_space, w->name);
    const uint32_t full = names_find(&t->names, key);
    return full != 0 ? full : names_find(&t->names, w->name);
}

static bool from_file(struct manifest *m, const char *path, struct err *err)
{
    struct table t = {0};
    struct text_input *in = text_input_open(path, 0, err);
    const bool ok = in != NULL && read_rows(&t, in, err);
    for (uint32_t i = 0; ok && i < m->workload_count; i++) {
        const uint32_t number = look_up(&t, &m->workloads[i]);
        if (number != 0 && t.ns != NULL && m->workloads[i].duration_ns == POLICY_NEVER)
            m->workloads[i].duration_ns = t.ns[number];
    }
    text_input_close(in);
    names_fini(&t.names);
    free(t.ns);
    return ok;
}

/* ---- a law ---- */

/* "lognormal,median=2h,sigma=1" as the map of the scenario reference. */
static const char *as_yaml(struct arena *a, const char *text)
{
    if (strchr(text, ',') == NULL)
        return arena_printf(a, "%s\n", text);
    char *out = arena_printf(a, "{law: %s}\n", text), *to = arena_alloc(a, 2 * strlen(out) + 1, 1);
    char *at = to;
    for (const char *c = out; *c != '\0'; c++) {
        *at++ = *c == '=' ? ':' : *c;
        if (*c == '=')
            *at++ = ' ';
    }
    return to;
}

static bool read_text(const char *text, struct law *law, struct err *err)
{
    struct arena a = {0};
    struct diag_list diags = {0};
    struct ysource source;
    const char *yaml = as_yaml(&a, text);
    static const struct field field = {.name = "durations", .offset = 0};
    struct read_ctx ctx = {.arena = &a, .diags = &diags, .path = "durations"};
    bool ok = ysource_text(&source, "--durations", yaml, strlen(yaml), &a, &diags);
    struct ynode *n = ok ? ytree_parse(&source, &a, &diags) : NULL;
    if (n != NULL)
        read_law(&ctx, &field, n, law);
    ok = diags.error_count == 0;
    if (!ok)
        err_set(err, ERR_INPUT, "--durations: expected a file or a distribution such as 2h or "
                "lognormal,median=2h,sigma=1.5, got '%.100s' (%.200s)", text, diags.items[0].text);
    diag_fini(&diags);
    arena_fini(&a);
    return ok;
}

bool manifest_durations(struct manifest *m, const char *source, uint64_t seed, struct err *err)
{
    struct stat st;
    struct law law = {0};
    const size_t n = strlen(source);
    if (stat(source, &st) == 0 || (n > 4 && strcmp(source + n - 4, ".csv") == 0) || strchr(source, '/') != NULL)
        return from_file(m, source, err);
    if (!read_text(source, &law, err))
        return false;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        struct manifest_workload *w = &m->workloads[i];
        struct rng rng;
        if (!lacks(w))
            continue;
        uint64_t h = fnv_add(FNV_START, w->name_space, strlen(w->name_space) + 1);
        rng_open(&rng, seed, 0, PURPOSE_DURATION, fnv_add(h, w->name, strlen(w->name)));
        w->duration_ns = sim_time_from_seconds(law_draw(&law, &rng));
    }
    return true;
}
