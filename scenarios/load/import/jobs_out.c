/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of an import: sorted, cut, scaled, totalled and written as a jobs file. */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/jobs_file.h"
#include "scenarios/load/text_number.h"
#include "sim/arena.h"

#define ONE_PPM 1000000

static const struct import_job *job_at(const struct import *x, uint32_t i)
{
    return chunks_at(&x->jobs, i);
}

static int64_t cards_milli(const struct import_job *j)
{
    int64_t each = j->share_milli > 0 ? j->share_milli : (int64_t)j->cards * 1000;
    return each * j->workers;
}

/* ---- filters ---- */

static const struct {
    const char *key;
    size_t offset;
} filter_keys[] = {
    {"team", offsetof(struct import_job, team)},   {"queue", offsetof(struct import_job, queue)},
    {"user", offsetof(struct import_job, user)},   {"state", offsetof(struct import_job, state)},
    {"model", offsetof(struct import_job, model)}, {"card_type", offsetof(struct import_job, card_type)},
    {"class", offsetof(struct import_job, cls)},
};

/* The filter's position in filter_keys, -1 when the key is unknown. */
static int filter_key(const char *only)
{
    size_t n = strcspn(only, "=");
    for (size_t i = 0; i < sizeof filter_keys / sizeof *filter_keys; i++) {
        if (strlen(filter_keys[i].key) == n && strncmp(filter_keys[i].key, only, n) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool list_has(const char *list, const char *text)
{
    size_t n = strlen(text);
    for (const char *p = list;; p++) {
        size_t length = strcspn(p, ",");
        if (length == n && strncmp(p, text, n) == 0) {
            return true;
        }
        p += length;
        if (*p == '\0') {
            return false;
        }
    }
}

static bool passes(const struct import *x, const struct import_job *j)
{
    for (int i = 0; i < x->o->only_count; i++) {
        const char *only = x->o->only[i];
        uint32_t number;
        memcpy(&number, (const char *)j + filter_keys[filter_key(only)].offset, sizeof number);
        if (!list_has(strchr(only, '=') + 1, names_text(&x->names, number))) {
            return false;
        }
    }
    return true;
}

static bool check_filters(const struct import *x, struct err *err)
{
    for (int i = 0; i < x->o->only_count; i++) {
        if (filter_key(x->o->only[i]) < 0) {
            return err_set(err, ERR_INPUT,
                           "--only: expected team, queue, user, state, model, card_type or class before "
                           "'=', got '%.60s'",
                           x->o->only[i]);
        }
    }
    return true;
}

/* ---- cut and scale ---- */

static enum import_reason cut_reason(const struct import *x, const struct import_job *j, uint32_t i,
                                     int64_t end)
{
    if (j->submit < x->origin) {
        return REASON_BEFORE_START;
    }
    if (j->submit >= end) {
        return REASON_OUTSIDE_WINDOW;
    }
    if (!passes(x, j)) {
        return REASON_FILTERED;
    }
    return import_sampled(x, i) ? REASON_COUNT : REASON_NOT_SAMPLED;
}

/* Drops what is cut from order and scales the rest; returns the number kept. */
static size_t cut(struct import *x, uint32_t *order, int64_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < x->jobs.count; i++) {
        struct import_job *j = chunks_at(&x->jobs, order[i]);
        enum import_reason reason = cut_reason(x, j, order[i], end);
        if (reason != REASON_COUNT) {
            account_count(&x->account, reason, (long)j->line);
            continue;
        }
        j->submit = import_scale_arrival(x, j->submit);
        j->wait = j->wait > JOBS_FILE_TIME_MAX ? IMPORT_WAIT_UNKNOWN : j->wait;
        if (x->o->durations_ppm != ONE_PPM) {
            account_wide scaled = ((account_wide)(uint64_t)j->duration * (uint64_t)x->o->durations_ppm +
                                   ONE_PPM / 2) / ONE_PPM;
            j->duration = scaled > (account_wide)JOBS_FILE_TIME_MAX ? JOBS_FILE_TIME_MAX : (int64_t)scaled;
            j->duration = j->duration < 1 ? 1 : j->duration;
        }
        order[kept++] = order[i];
    }
    return kept;
}

/* ---- totals ---- */

struct totals {
    account_wide milli_ns;   /* of card time */
    account_wide milli;      /* requested by all jobs together */
    int64_t peak_milli, peak_at;
    int64_t first, last;     /* submits */
    uint64_t shares, gangs;
    int64_t largest_milli;
    account_wide wait_ns;
    uint64_t waits;
};

/* A job that runs, in a binary heap by end. */
struct running {
    int64_t end, milli;
};

struct heap {
    struct running *item;
    size_t count, capacity;
};

static void heap_push(struct heap *h, struct running r)
{
    h->item = mem_grow(h->item, &h->capacity, h->count + 1, sizeof *h->item);
    size_t i = h->count++;
    for (; i > 0 && h->item[(i - 1) / 2].end > r.end; i = (i - 1) / 2) {
        h->item[i] = h->item[(i - 1) / 2];
    }
    h->item[i] = r;
}

static struct running heap_pop(struct heap *h)
{
    struct running top = h->item[0];
    struct running last = h->item[--h->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->count) {
            break;
        }
        child += child + 1 < h->count && h->item[child + 1].end < h->item[child].end;
        if (h->item[child].end >= last.end) {
            break;
        }
        h->item[i] = h->item[child];
        i = child;
    }
    h->item[i] = last;
    return top;
}

static void add_totals(struct totals *t, const struct import_job *j)
{
    int64_t milli = cards_milli(j);
    t->milli_ns += (account_wide)(uint64_t)milli * (uint64_t)j->duration;
    t->milli += (uint64_t)milli;
    t->last = j->submit;
    t->shares += j->share_milli > 0;
    t->gangs += j->workers > 1;
    t->largest_milli = milli > t->largest_milli ? milli : t->largest_milli;
    if (j->wait >= 0) {
        t->wait_ns += (uint64_t)j->wait;
        t->waits++;
    }
}

/* Peak of the demand without limits: every job runs from its submit; an end frees before a start
 * of the same instant takes. Peaks count once all starts of an instant are in. */
static struct totals total(const struct import *x, const uint32_t *order, size_t n)
{
    struct totals t = {.first = n > 0 ? job_at(x, order[0])->submit : 0};
    struct heap h = {0};
    int64_t now_milli = 0;
    for (size_t i = 0; i < n; i++) {
        const struct import_job *j = job_at(x, order[i]);
        while (h.count > 0 && h.item[0].end <= j->submit) {
            now_milli -= heap_pop(&h).milli;
        }
        now_milli += cards_milli(j);
        heap_push(&h, (struct running){sim_time_after(j->submit, j->duration), cards_milli(j)});
        if (now_milli > t.peak_milli) {
            t.peak_milli = now_milli;
            t.peak_at = j->submit;
        }
        add_totals(&t, j);
    }
    free(h.item);
    return t;
}

/* An instant of the output on the clock of the trace. */
static const char *instant(const struct import *x, int64_t t, char buffer[64])
{
    int64_t on_clock;
    if (__builtin_add_overflow(x->origin, t, &on_clock)) {
        on_clock = INT64_MAX;
    }
    return clock_print(&x->clock, on_clock, buffer);
}

static void print_account(const struct import *x, const struct totals *t, size_t n, FILE *out)
{
    char a[64];
    char b[64];
    account_print_rows(&x->account, out);
    account_line(out, "jobs", "%s (gangs %llu, on a share of a card %llu)", account_number(a, n),
                 (unsigned long long)t->gangs, (unsigned long long)t->shares);
    if (n == 0) {
        return;
    }
    account_line(out, "first submit", "%s", instant(x, t->first, a));
    account_line(out, "last submit", "%s (%.2f days later)", instant(x, t->last, a),
                 (double)t->last / (double)SIM_DAY);
    account_line(out, "cards requested", "%s", account_decimal(a, t->milli, 3, t->milli % 1000 != 0 ? 3 : 0));
    account_line(out, "largest job", "%s cards",
                 account_decimal(a, (account_wide)t->largest_milli, 3, t->largest_milli % 1000 != 0 ? 3 : 0));
    account_line(out, "card hours", "%s", account_decimal(a, t->milli_ns / 36, 14, 2));
    account_line(out, "peak demand", "%s cards at %s, when nothing waits",
                 account_decimal(a, (account_wide)t->peak_milli, 3, t->peak_milli % 1000 != 0 ? 3 : 0),
                 instant(x, t->peak_at, b));
    if (t->waits > 0) {
        account_wide mean_ns = t->wait_ns / t->waits;
        account_line(out, "trace wait mean", "%.3f s over %s jobs",
                     (double)mean_ns / 1e9, account_number(a, t->waits));
    }
    for (int i = 0; i < x->note_count; i++) {
        account_line(out, "note", "%s", x->note[i]);
    }
}

/* ---- writing ---- */

enum optional { OPT_TEAM, OPT_QUEUE, OPT_PRIORITY, OPT_USER, OPT_ID, OPT_WAIT, OPT_STATE, OPT_MODEL,
                OPT_CARD_TYPE, OPT_CLASS, OPT_CPU, OPT_MEMORY, OPT_COUNT };

static const char *const optional_names[OPT_COUNT] = {"team", "queue", "priority", "user",
                                                      "id", "trace_wait_s", "state", "model",
                                                      "card_type", "class", "cpu", "memory_mib"};

static uint32_t name_of(const struct import_job *j, enum optional o)
{
    switch (o) {
    case OPT_TEAM:
        return j->team;
    case OPT_QUEUE:
        return j->queue;
    case OPT_USER:
        return j->user;
    case OPT_ID:
        return j->id;
    case OPT_STATE:
        return j->state;
    case OPT_MODEL:
        return j->model;
    case OPT_CARD_TYPE:
        return j->card_type;
    case OPT_CLASS:
        return j->cls;
    case OPT_PRIORITY:
    case OPT_WAIT:
    case OPT_CPU:
    case OPT_MEMORY:
    case OPT_COUNT:
        break;
    }
    return 0;
}

static bool has(const struct import_job *j, enum optional o)
{
    if (o == OPT_WAIT || o == OPT_CPU || o == OPT_MEMORY) {
        return (o == OPT_WAIT ? j->wait : o == OPT_CPU ? j->cpu_milli : j->memory_mib) >= 0;
    }
    return o == OPT_PRIORITY ? j->priority != 0 : name_of(j, o) != 0;
}

/* A number of 10^-digits, nothing when it is not known. */
static void put_number(int64_t value, int digits, FILE *out)
{
    char text[32];
    if (value < 0) {
        return;
    }
    number_print(text, value, digits);
    fputs(text, out);
}

static void put_optional(const struct import *x, const struct import_job *j, enum optional o, FILE *out)
{
    fputc(',', out);
    if (o == OPT_PRIORITY) {
        fprintf(out, "%d", (int)j->priority);
    } else if (o == OPT_WAIT) {
        put_number(j->wait, 9, out);
    } else if (o == OPT_CPU) {
        put_number(j->cpu_milli, 3, out);
    } else if (o == OPT_MEMORY) {
        put_number(j->memory_mib, 0, out);
    } else {
        import_put_text(out, names_text(&x->names, name_of(j, o)));
    }
}

static void put_job(const struct import *x, const struct import_job *j, const bool used[OPT_COUNT],
                    FILE *out)
{
    char submit[32];
    char duration[32];
    char share[32] = "";
    number_print(submit, j->submit, 9);
    number_print(duration, j->duration, 9);
    if (j->share_milli > 0) {
        number_print(share, j->share_milli, 3);
    }
    fprintf(out, "%s,%s,%d,%d,%s", submit, duration, (int)j->workers, (int)j->cards, share);
    for (int o = 0; o < OPT_COUNT; o++) {
        if (used[o]) {
            put_optional(x, j, (enum optional)o, out);
        }
    }
    fputc('\n', out);
}

static void write_rows(const struct import *x, const uint32_t *order, size_t n, FILE *out)
{
    bool used[OPT_COUNT] = {false};
    for (size_t i = 0; i < n; i++) {
        for (int o = 0; o < OPT_COUNT; o++) {
            used[o] = used[o] || has(job_at(x, order[i]), (enum optional)o);
        }
    }
    import_write_header(x, out, "jobs");
    fputs("submit_s,duration_s,workers,cards_per_worker,share", out);
    for (int o = 0; o < OPT_COUNT; o++) {
        if (used[o]) {
            fprintf(out, ",%s", optional_names[o]);
        }
    }
    fputc('\n', out);
    for (size_t i = 0; i < n && !ferror(out); i++) {
        put_job(x, job_at(x, order[i]), used, out);
    }
}

bool import_write_jobs(struct import *x, FILE *out, FILE *account, struct err *err)
{
    if (!check_filters(x, err)) {
        return false;
    }
    uint32_t *order = chunks_order(&x->jobs);
    size_t n = x->jobs.count;
    int64_t end = INT64_MAX;
    int64_t first = n > 0 ? job_at(x, order[0])->submit : 0;
    int64_t last = n > 0 ? job_at(x, order[n - 1])->submit : 0;
    bool fine = import_cut_times(x, first, last, &end, err);
    if (fine) {
        n = cut(x, order, end);
        struct totals t = total(x, order, n);
        write_rows(x, order, n, out);
        print_account(x, &t, n, account);
    }
    free(order);
    return fine;
}
