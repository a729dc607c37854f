/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kueue: `kubectl get workloads -A -o yaml|json` (trace-formats 7.7), and the files of Kueue's
 * performance generator, through the reader of manifests. A finished workload becomes a job; its
 * duration is from when its pods were ready (else its admission) to its end, plus what it ran
 * before evictions; its wait is from creation to the reservation of quota. Of the generator, one
 * requested cpu is a card, since the scheduler it tests knows only numbers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/import_ctx.h"
#include "scenarios/load/jobs_file.h"
#include "scenarios/load/manifest/manifest.h"

enum { PRIORITY_MAX = 1000000000 };

static bool head_holds(const char *head, uint64_t n, const char *word)
{
    const size_t length = strlen(word);
    for (uint64_t i = 0; i + length <= n; i++)
        if (memcmp(head + i, word, length) == 0)
            return true;
    return false;
}

bool kueue_generator_detect(const char *head, uint64_t n)
{
    return head_holds(head, n, "queuesSets:");
}

bool kueue_workloads_detect(const char *head, uint64_t n)
{
    return head_holds(head, n, "kueue.x-k8s.io");
}

/* GPUs under whatever name; of a MIG slice or a shared GPU, one piece is a card. */
static bool is_card(const char *resource, bool generator)
{
    if (generator)
        return strcmp(resource, "cpu") == 0;
    return strstr(resource, "/gpu") != NULL || strstr(resource, "/mig-") != NULL;
}

static int64_t cards_of(const struct manifest *m, const struct policy_pod_set *p)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->request_count; i++) {
        const char *name = m->config.resources[p->requests[i].resource];
        if (is_card(name, m->generator))
            sum += p->requests[i].amount / (strcmp(name, "cpu") == 0 ? 1000 : 1);
        if (sum > JOBS_FILE_CARDS_MAX)
            return JOBS_FILE_CARDS_MAX + 1;
    }
    return sum;
}

/* Pods with cards are the workers; where they differ, one worker holds the whole. */
static bool gang_of(const struct manifest *m, const struct manifest_workload *w, struct import_job *to, bool *zero)
{
    int64_t pods = 0, total = 0, most = 0;
    bool equal = true;
    for (uint32_t s = 0; s < w->shape.pod_set_count; s++) {
        const struct policy_pod_set *p = &w->shape.pod_sets[s];
        const int64_t cards = cards_of(m, p), count = w->held_counts != NULL ? w->held_counts[s] : p->count;
        if (cards == 0 || count == 0)
            continue;
        equal &= most == 0 || most == cards;
        most = cards > most ? cards : most;
        pods += count;
        total += cards * count;
    }
    *zero = total == 0;
    to->workers = (int32_t)(equal ? pods : 1);
    to->cards = (int32_t)(equal ? most : total);
    return pods <= JOBS_FILE_WORKERS_MAX && (equal ? most : total) <= JOBS_FILE_CARDS_MAX;
}

static bool refuse(struct import *x, enum import_reason reason, const struct manifest_workload *w, const char *expected,
                   const char *got, struct err *err)
{
    struct row_error e;
    row_error_set(&e, 1, w->name, expected, got);
    return import_bad_row(x, reason, w->line, &e, err);
}

static const char *state_of(const struct manifest_workload *w)
{
    return w->finished ? (w->failed ? "failed" : "completed") : "unknown";
}

static uint32_t number(struct import *x, const char *text)
{
    return names_add(&x->names, text, NULL);
}

static const char *flavor_of(const struct manifest *m, const struct manifest_workload *w)
{
    for (uint32_t i = 0; i < w->use_count; i++)
        if (is_card(m->config.resources[w->uses[i].resource], m->generator))
            return m->config.flavors[w->uses[i].flavor].name;
    return NULL;
}

static bool add(struct import *x, const struct manifest *m, const struct manifest_workload *w, struct err *err)
{
    struct import_job j = {.line = (uint32_t)w->line}, *to;
    const int64_t duration = sim_time_after(w->duration_ns, w->past_ns);
    bool zero;
    if (!gang_of(m, w, &j, &zero))
        return refuse(x, REASON_OUT_OF_RANGE, w, "at most 1000000 pods with up to 1024 cards", "more", err);
    if (duration > JOBS_FILE_TIME_MAX)
        return refuse(x, REASON_OUT_OF_RANGE, w, "a run of at most 100 years", "more", err);
    if (zero)
        return import_odd_row(x, REASON_ZERO_GPUS, w->line, w->name, err);
    if (duration == 0 && !x->o->lift_zero)
        return import_odd_row(x, REASON_ZERO_DURATION, w->line, w->name, err);
    if (duration == 0 && !import_odd_row(x, REASON_ZERO_LIFTED, w->line, w->name, err))
        return false;
    if (w->policy.priority < -PRIORITY_MAX || w->policy.priority > PRIORITY_MAX)
        return refuse(x, REASON_OUT_OF_RANGE, w, "a priority of -10^9 to 10^9", "more", err);
    if ((to = import_add_job(x, err)) == NULL)
        return false;
    j.cpu_milli = j.memory_mib = -1;
    j.submit = w->created;
    j.duration = duration > 0 ? duration : SIM_SECOND;
    j.wait = w->reserved == POLICY_NEVER || w->reserved < w->created ? IMPORT_WAIT_UNKNOWN : w->reserved - w->created;
    j.priority = (int32_t)w->policy.priority;
    j.team = number(x, w->name_space);
    j.queue = number(x, w->queue);
    j.id = number(x, w->name);
    j.state = number(x, state_of(w));
    j.cls = number(x, w->class_name[0] != '\0' ? w->class_name : w->owner_kind);
    const char *flavor = flavor_of(m, w);
    j.card_type = flavor == NULL ? 0 : number(x, flavor);
    *to = j;
    return true;
}

static bool take(struct import *x, const struct manifest *m, struct err *err)
{
    x->clock.kind = CLOCK_DATES;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        x->account.rows_read++;
        const bool ran = w->duration_ns != POLICY_NEVER;
        const bool fine = ran ? add(x, m, w, err)
                              : import_odd_row(x, w->admitted == POLICY_NEVER ? REASON_NEVER_STARTED : REASON_STILL_RUNNING,
                                               w->line, w->name, err);
        if (!fine)
            return false;
    }
    return true;
}

static char *read_all(struct text_input *in, size_t *length, struct err *err)
{
    char *text = NULL;
    size_t capacity = 0, n;
    *length = 0;
    do {
        text = mem_grow(text, &capacity, *length + 65536 + 1, 1);
        n = text_input_read(in, text + *length, 65536, err);
        *length += n;
    } while (n > 0);
    text[*length] = '\0';
    return text;
}

static void first_problem(const struct diag_list *diags, struct err *err)
{
    for (size_t i = 0; i < diags->count; i++) {
        const struct diag *d = &diags->items[i];
        if (d->severity == DIAG_ERROR)
            err_set(err, ERR_INPUT, "%s:%ld:%ld: %.400s", d->file == NULL ? "" : d->file, d->line, d->column, d->text);
    }
}

bool kueue_workloads_run(struct import *x, struct text_input *in, struct err *err)
{
    size_t length;
    struct err inner = {0};
    struct diag_list diags = {0};
    char *text = read_all(in, &length, &inner);
    struct manifest *m = NULL;
    if (inner.code == ERR_NONE) {
        m = manifest_read_text(x->file, text, length, &diags);
        first_problem(&diags, &inner);
    }
    free(text);
    diag_fini(&diags);
    const bool fine = m != NULL && take(x, m, &inner);
    if (m != NULL && m->generator)
        import_note(x, "one requested cpu is a card");
    manifest_free(m);
    if (inner.code != ERR_NONE)
        return err_set(err, inner.code, "%s", inner.text);
    return fine;
}
