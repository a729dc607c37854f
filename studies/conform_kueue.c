/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_kueue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "studies/conform_kueue_compare.h"
#include "studies/jsonl.h"

enum { GROUPS_MAX = 128 };

struct group {
    char name[64];
    uint64_t cases, agreed, lines, agreed_lines;
};

struct study {
    struct group groups[GROUPS_MAX];
    size_t group_count;
    struct conform_kueue_counts counts;
    struct kueue_result result;
    struct kueue_difference difference;
    char first_case[128];
    struct kueue_text first; /* both sides of the first difference */
};

static struct group *group_named(struct study *s, const char *name)
{
    for (size_t i = 0; i < s->group_count; i++)
        if (strcmp(s->groups[i].name, name) == 0)
            return &s->groups[i];
    struct group *g = &s->groups[s->group_count < GROUPS_MAX - 1 ? s->group_count++ : GROUPS_MAX - 1];
    snprintf(g->name, sizeof g->name, "%s", name);
    return g;
}

static void keep_first(struct study *s, const struct kueue_case *c)
{
    const struct kueue_difference *d = &s->difference;
    if (s->first_case[0] != '\0')
        return;
    snprintf(s->first_case, sizeof s->first_case, "%s", c->name);
    kueue_put(&s->first, "first difference: %s, %s\n  recorded: %s\n  ours:     %s\n", c->name,
              d->where, d->recorded.v, d->ours.v);
}

static void put_counts(struct kueue_text *t, uint64_t decisions, const struct kq_counts *n)
{
    t->count = 0;
    kueue_put(t, "%" PRIu64 " decisions in %" PRIu64 " cycles, %" PRIu64 " in idle ones", decisions, n->cycles,
              n->idle);
}

/* Decisions by proof are counted as if they had been made: the counters are those of the log. */
static bool same_counts(struct kueue_difference *d, uint64_t entries, const struct kq_counts *log,
                        const struct kq_counts *in_short)
{
    if (entries == kq_decisions(log) && entries == kq_decisions(in_short) && log->cycles == in_short->cycles &&
        log->idle == in_short->idle)
        return true;
    snprintf(d->where, sizeof d->where, "counters");
    put_counts(&d->recorded, entries, log);
    put_counts(&d->ours, kq_decisions(in_short), in_short);
    return false;
}

/* The same decisions without the log, where evaluations may be left out. A case that never comes
 * to rest is cut at a number of cycles, so it has no end to compare. */
static bool same_in_short(struct study *s, struct kueue_case *c)
{
    struct err e = {0};
    if (s->result.stopped != NULL)
        return true;
    const struct kq_counts log = s->result.counts;
    const uint64_t entries = s->result.entries;
    return kueue_play(c, false, &s->result, &e) &&
           kueue_compare_outcome(c, &s->result, &s->difference) &&
           same_counts(&s->difference, entries, &log, &s->result.counts);
}

static bool one_case(struct study *s, const cJSON *json, const char *path, struct err *e)
{
    struct kueue_case c = {0};
    struct err why = {0};
    const bool ok = kueue_case_read(json, &c, &why) && kueue_play(&c, true, &s->result, &why);
    if (!ok)
        err_set(e, why.code, "%s: case '%s': %s", path, c.name != NULL ? c.name : "", why.text);
    if (ok) {
        struct group *g = group_named(s, c.group);
        const uint64_t lines = (uint64_t)cJSON_GetArraySize(jsonl_get(json, "cycles"));
        const bool same = kueue_compare(&c, &s->result, &s->difference) && same_in_short(s, &c);
        g->cases++;
        g->agreed += same;
        g->lines += lines;
        g->agreed_lines += s->difference.lines_agreed;
        s->counts.cases++;
        s->counts.agreed += same;
        s->counts.lines += lines;
        if (!same)
            keep_first(s, &c);
    }
    kueue_case_fini(&c);
    return ok;
}

static bool one_file(struct study *s, const char *path, struct err *e)
{
    struct jsonl *f = jsonl_open(path, e);
    if (f == NULL)
        return false;
    cJSON *json;
    while (e->code == ERR_NONE && (json = jsonl_next(f, e)) != NULL) {
        one_case(s, json, path, e);
        cJSON_Delete(json);
    }
    jsonl_close(f);
    return e->code == ERR_NONE;
}

static void print(const struct study *s, FILE *out)
{
    fprintf(out, "%-28s %9s %9s %12s\n", "group", "cases", "agree", "lines");
    for (size_t i = 0; i < s->group_count; i++)
        fprintf(out, "%-28s %9" PRIu64 " %9" PRIu64 " %12" PRIu64 "\n", s->groups[i].name,
                s->groups[i].cases, s->groups[i].agreed, s->groups[i].lines);
    fprintf(out, "%-28s %9" PRIu64 " %9" PRIu64 " %12" PRIu64 "\n", "all", s->counts.cases,
            s->counts.agreed, s->counts.lines);
    if (s->first.count > 0)
        fputs(s->first.v, out);
}

int conform_kueue_main(int file_count, char **files, FILE *out, struct conform_kueue_counts *counts)
{
    struct study *s = mem_zalloc(1, sizeof *s);
    struct err e = {0};
    int status = 0;
    for (int i = 0; i < file_count && e.code == ERR_NONE; i++)
        if (!one_file(s, files[i], &e))
            fprintf(stderr, "fleetsim conform: %s\n", e.text);
    s->counts.cycles = s->result.cycles;
    if (e.code == ERR_NONE)
        print(s, out);
    status = e.code != ERR_NONE ? err_exit_status(&e) : s->counts.agreed == s->counts.cases ? 0 : 1;
    if (counts != NULL)
        *counts = s->counts;
    kueue_result_fini(&s->result);
    kueue_difference_fini(&s->difference);
    free(s->first.v);
    free(s);
    return status;
}

int conform_kueue_files(int n, char **files, FILE *out)
{
    return conform_kueue_main(n, files, out, NULL);
}
