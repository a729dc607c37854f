/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions: kept in memory of the run, since the repeats of a reason are known when it ends. */
#include "models/world/world_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/world/record_jobs.h"
#include "models/world/record_priv.h"
#include "models/world/tables.h"
#include "models/world/world_lora.h"
#include "sim/rng.h"

struct world_record *record_create(const struct world *w)
{
    if (w->opt.level != RECORD_LEVEL_FULL)
        return NULL;
    struct world_record *r = mem_zalloc(1, sizeof *r);
    r->said_group = NONE32;
    r->jobs = record_jobs_create(w);
    return r;
}

void record_destroy(struct world_record *r)
{
    if (r == NULL)
        return;
    record_jobs_destroy(r->jobs);
    free(r->rows);
    free(r->groups);
    free(r->by_shape);
    free(r->subjects);
    free(r->requeued);
    nominations_fini(&r->nominations);
    arena_fini(&r->arena);
    free(r);
}

/* ---- names and groups ---- */

void record_name(const struct world *w, uint32_t ix, char name[RECORD_NAME_SIZE])
{
    const struct workload *wl = &w->wl[ix];
    const struct world_record *r = w->record;
    if (wl->kind == WL_BASE) {
        record_base_name(w, ix, name);
    } else if (wl->kind != WL_REPLICA) {
        const struct job *j = &w->jobs[wl->owner];
        record_job_name(w, j, name);
    } else if (r != NULL && ix < r->subject_capacity && r->subjects[ix].name != NULL) {
        (void)snprintf(name, RECORD_NAME_SIZE, "%.128s/%lld", w->services[wl->owner].cfg->name,
                       (long long)r->subjects[ix].number);
    } else {
        (void)snprintf(name, RECORD_NAME_SIZE, "%.128s", w->services[wl->owner].cfg->name);
    }
}

static int32_t queue_ix(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    if (wl->kind == WL_BASE)
        return lora_queue(w, ix);
    return wl->kind == WL_REPLICA ? w->services[wl->owner].cfg->queue : w->jobs[wl->owner].spec.queue;
}

static int64_t priority_of(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    if (wl->kind == WL_BASE)
        return lora_priority(w, ix);
    return wl->kind == WL_REPLICA ? w->services[wl->owner].cfg->priority
                                  : w->jobs[wl->owner].spec.priority;
}

static uint32_t group_find(const struct world_record *r, uint32_t queue, uint32_t shape, int64_t priority)
{
    uint32_t g = shape < r->shape_capacity ? r->by_shape[shape] : NONE32;
    while (g != NONE32 && (r->groups[g].queue != queue || r->groups[g].priority != priority))
        g = r->groups[g].next;
    return g;
}

static uint32_t group_add(struct world_record *r, uint32_t queue, uint32_t shape, int64_t priority,
                          const char *first)
{
    if (shape >= r->shape_capacity) {
        size_t old = r->shape_capacity;
        r->by_shape = mem_grow(r->by_shape, &r->shape_capacity, (size_t)shape + 1, sizeof *r->by_shape);
        for (size_t i = old; i < r->shape_capacity; i++)
            r->by_shape[i] = NONE32;
    }
    r->groups = mem_grow(r->groups, &r->group_capacity, r->group_count + 1, sizeof *r->groups);
    uint32_t g = (uint32_t)r->group_count++;
    r->groups[g] = (struct group){.queue = queue, .shape = shape, .priority = priority,
                                  .next = r->by_shape[shape], .row = SIZE_MAX, .first = first};
    r->by_shape[shape] = g;
    return g;
}

static void subjects_grow(struct world_record *r, uint32_t ix)
{
    if (ix < r->subject_capacity)
        return;
    size_t old = r->subject_capacity;
    r->subjects = mem_grow(r->subjects, &r->subject_capacity, (size_t)ix + 1, sizeof *r->subjects);
    memset(r->subjects + old, 0, (r->subject_capacity - old) * sizeof *r->subjects);
}

/* ---- rows ---- */

static struct decision *row_add(struct world *w, const char *workload, uint32_t queue, const char *kind)
{
    struct world_record *r = w->record;
    r->rows = mem_grow(r->rows, &r->row_capacity, r->row_count + 1, sizeof *r->rows);
    struct decision *d = &r->rows[r->row_count++];
    *d = (struct decision){.t = w->now, .workload = workload, .kind = kind, .reason = "",
                           .queue = w->s->quota.queues[queue].name};
    return d;
}

struct decision *record_row_of(struct world *w, uint32_t ix, const char *kind)
{
    return row_add(w, w->record->subjects[ix].name, (uint32_t)queue_ix(w, ix), kind);
}

void record_detail(struct world *w, struct decision *d, const struct record_text *t)
{
    if (t->length > 0)
        d->detail = arena_strdup(&w->record->arena, t->text);
}

struct record_text record_begin(const struct world *w, uint32_t ix)
{
    struct record_text t = {.length = 0};
    if (w->wl[ix].kind == WL_POD)
        record_say(&t, "pod %d of %d: ", (int)w->record->subjects[ix].pod + 1,
                   (int)w->jobs[w->wl[ix].owner].pods);
    return t;
}

/* ---- what was looked at ---- */

static const char *flavor_name(void *ctx, uint32_t id)
{
    const struct world *w = ctx;
    return id < (uint32_t)w->s->fleet.flavor_count ? w->s->fleet.flavors[id].name : NULL;
}

static const char *resource_name(void *ctx, uint32_t id)
{
    const struct world *w = ctx;
    return id == 0 ? "cards" : id <= (uint32_t)w->s->fleet.resource_count ? w->s->fleet.resources[id - 1] : NULL;
}

static const char *queue_name(void *ctx, uint32_t id)
{
    const struct world *w = ctx;
    return w->s->quota.queues[id].name;
}

static const char *subject_name(void *ctx, uint32_t id)
{
    const struct world *w = ctx;
    return w->record->subjects[id].name;
}

static double unit_of(void *ctx, uint32_t resource)
{
    const char *name = resource_name(ctx, resource);
    return resource == 0 || (name != NULL && strcmp(name, "cpu") == 0) ? 1000 : 1;
}

static struct nomination_names names_of(struct world *w)
{
    return (struct nomination_names){w, flavor_name, resource_name, queue_name, subject_name, unit_of};
}

/* Before the row of a decision about the workload is made: what was looked at for it. */
static void looked_at(struct world *w, uint32_t workload, struct record_text *t)
{
    char more[400];
    struct nomination_names names = names_of(w);
    if (!nominations_take(&w->record->nominations, &names, workload, w->record->row_count))
        return;
    nominations_text(&w->record->nominations, &names, more, sizeof more);
    record_say(t, "%s", more);
}

/* ---- submission ---- */

struct ahead {
    int64_t priority;
    uint64_t before, all;
};

static void count_ahead(void *arg, const struct policy_pending *g)
{
    struct ahead *a = arg;
    a->all += g->count;
    a->before += g->priority >= a->priority ? g->count : 0;
}

/* Who waits in the queue now, and those of this instant that are on their way to it. The workload
 * itself is not yet among them. */
static struct ahead look_ahead(const struct world *w, uint32_t queue, int64_t priority)
{
    struct ahead a = {.priority = priority};
    w->ops->pending(w->policy, queue, count_ahead, &a);
    const struct input_buffer *b = &w->in[w->in_use];
    for (size_t i = 0; i < b->count; i++) {
        if (b->inputs[i].kind != POLICY_IN_SUBMIT || b->submits[i].local_queue != queue)
            continue;
        a.all++;
        a.before += b->submits[i].priority >= priority;
    }
    return a;
}

void record_subject(struct world *w, uint32_t ix, int64_t priority, uint64_t uid)
{
    struct world_record *r = w->record;
    subjects_grow(r, ix);
    struct subject *s = &r->subjects[ix];
    bool replica = w->wl[ix].kind >= WL_REPLICA;
    s->name = "";
    s->told = false;
    s->number = replica ? (int64_t)(uid & ((UINT64_C(1) << 40) - 1)) : 0;
    s->pod = replica ? 0 : (int32_t)(uid & 0xfff);
    char name[RECORD_NAME_SIZE];
    record_name(w, ix, name);
    s->name = arena_strdup(&r->arena, name);
    uint32_t queue = (uint32_t)queue_ix(w, ix);
    s->group = group_find(r, queue, w->wl[ix].shape, priority);
    if (s->group == NONE32)
        s->group = group_add(r, queue, w->wl[ix].shape, priority, s->name);
}

void record_submitted(struct world *w, uint32_t ix, int64_t priority, uint64_t uid)
{
    struct world_record *r = w->record;
    if (r == NULL)
        return;
    record_subject(w, ix, priority, uid);
    if (w->wl[ix].kind <= WL_POD)
        record_jobs_begin(r->jobs, w->wl[ix].owner);
    if (r->subjects[ix].pod > 0)
        return; /* the first pod speaks for the gang */
    const struct shape *sh = &w->shapes[w->wl[ix].shape];
    int32_t pods = w->wl[ix].kind == WL_POD ? w->jobs[w->wl[ix].owner].pods : 1;
    struct ahead a = look_ahead(w, (uint32_t)queue_ix(w, ix), priority);
    struct record_text t = {.length = 0};
    record_say(&t, "rank %llu of %llu in its queue; asks ", (unsigned long long)a.before + 1,
               (unsigned long long)a.all + 1);
    if (sh->workers * pods > 1) {
        record_say(&t, "%d x ", (int)(sh->workers * pods));
        record_amount(&t, 0, sh->request_milli / sh->workers);
        record_say(&t, " = ");
    }
    record_amount(&t, 0, sh->request_milli * pods);
    record_say(&t, " cards, priority %lld%s", (long long)priority, pods > 1 ? ", pod by pod" : "");
    struct decision *d = record_row_of(w, ix, "submitted");
    d->reason = arena_printf(&r->arena, "group %u", r->subjects[ix].group);
    record_detail(w, d, &t);
}

/* ---- what the policy says ---- */

static void on_admit(struct world *w, uint32_t ix, const struct policy_entry *e)
{
    struct world_record *r = w->record;
    const struct policy_assigned_set *set = &e->sets[0];
    const struct shape *sh = &w->shapes[w->wl[ix].shape];
    uint32_t flavor = POLICY_NONE;
    for (uint32_t i = 0; i < set->choice_count && flavor == POLICY_NONE; i++)
        if (set->choices[i].resource == 0)
            flavor = set->choices[i].flavor;
    struct record_text t = record_begin(w, ix);
    record_amount(&t, 0, sh->request_milli / sh->workers * set->count);
    record_say(&t, " cards");
    if (flavor != POLICY_NONE)
        record_say(&t, " of %s", w->s->fleet.flavors[flavor].name);
    if (set->count < sh->workers)
        record_say(&t, ", %lld of %d workers", (long long)set->count, (int)sh->workers);
    if (flavor != POLICY_NONE)
        record_after(&t, w, e->cluster_queue, flavor);
    looked_at(w, ix, &t);
    struct decision *d = record_row_of(w, ix, "admitted");
    d->reason = policy_mode_name(e->mode);
    record_detail(w, d, &t);
    const struct group *g = &r->groups[r->subjects[ix].group];
    bool first = w->wl[ix].kind <= WL_POD && w->jobs[w->wl[ix].owner].first_start == SIM_NEVER;
    if (first && g->row != SIZE_MAX)
        record_jobs_waited(r->jobs, w->wl[ix].owner, g->reason);
}

static void on_evict(struct world *w, uint32_t ix, const struct policy_output *o)
{
    uint32_t by = o->u.evict.preemptor;
    uint32_t queue = (uint32_t)queue_ix(w, ix);
    const char *rule = policy_evict_reason_name(o->u.evict.reason), *name = w->record->subjects[ix].name;
    if (by != POLICY_NONE) {
        uint32_t to = (uint32_t)queue_ix(w, by);
        struct record_text t = record_begin(w, by);
        record_say(&t, "evicts %s (queue %s, priority %lld)", name, w->s->quota.queues[queue].name,
                   (long long)priority_of(w, ix));
        record_shares(&t, w, to, queue);
        looked_at(w, by, &t);
        struct decision *p = record_row_of(w, by, "preempts");
        p->reason = rule;
        record_detail(w, p, &t);
    }
    struct record_text t = record_begin(w, ix);
    if (by != POLICY_NONE)
        record_say(&t, "for %s (queue %s, priority %lld)", w->record->subjects[by].name,
                   w->s->quota.queues[queue_ix(w, by)].name, (long long)priority_of(w, by));
    struct decision *d = record_row_of(w, ix, "evicted");
    d->reason = rule;
    record_detail(w, d, &t);
}

void record_lost(struct world *w, i128 lost_mcns)
{
    struct world_record *r = w->record;
    if (r == NULL || lost_mcns <= 0)
        return;
    int64_t card_minutes_tenths = (int64_t)(lost_mcns / ((i128)6 * SIM_SECOND * 1000));
    struct decision *d = &r->rows[r->row_count - 1];
    for (size_t i = r->row_count; i-- > 0 && strcmp(d->kind, "evicted") != 0;)
        d = &r->rows[i];
    d->detail = arena_printf(&r->arena, "%s%slost %lld.%lld card-minutes of work",
                             d->detail == NULL ? "" : d->detail, d->detail == NULL ? "" : "; ",
                             (long long)(card_minutes_tenths / 10), (long long)(card_minutes_tenths % 10));
}

static const char *reason_word(const struct policy_reason *p)
{
    const char *word = policy_requeue_reason_name(p->requeue);
    return word[0] != '\0' ? word : policy_mode_name(p->mode);
}

/* A waiting row; it is the open one of its group from now on. */
static void waiting_row(struct world *w, struct group *at, const struct policy_reason *p)
{
    struct world_record *r = w->record;
    struct record_text t = {.length = 0};
    record_reason(&t, w, p, at->shape);
    if (p->group_count > 1)
        record_say(&t, "; %u of its group wait", p->group_count);
    looked_at(w, p->workload, &t);
    struct decision *d = row_add(w, p->workload != POLICY_NONE ? r->subjects[p->workload].name : at->first,
                                 p->cluster_queue, policy_outcome_name(p->outcome));
    d->reason = reason_word(p);
    record_detail(w, d, &t);
    at->row = r->row_count - 1;
    at->reason = d->reason;
    if (p->workload != POLICY_NONE)
        r->subjects[p->workload].told = true;
}

/* p->repeats evaluations gave the reason of the open row. */
static void count_repeats(struct world_record *r, struct group *at, uint32_t repeats)
{
    if (at->row != SIZE_MAX && repeats > at->counted)
        r->rows[at->row].repeats += repeats - at->counted;
}

static void on_reason(struct world *w, const struct policy_reason *p)
{
    struct world_record *r = w->record;
    uint32_t g = p->workload != POLICY_NONE ? r->subjects[p->workload].group : r->said_group;
    if (g == NONE32)
        return;
    count_repeats(r, &r->groups[g], p->repeats);
    r->groups[g].counted = 0;
    waiting_row(w, &r->groups[g], p);
}

static void on_requeue(struct world_record *r, uint32_t ix)
{
    if (r->subjects[ix].told)
        return;
    r->requeued = mem_grow(r->requeued, &r->requeued_capacity, r->requeued_count + 1, sizeof *r->requeued);
    r->requeued[r->requeued_count++] = ix;
}

/* A head that failed for the reason its group had before gets a row with the numbers of today. */
void record_outputs_done(struct world *w)
{
    struct world_record *r = w->record;
    for (size_t i = 0; r != NULL && i < r->requeued_count; i++) {
        struct policy_reason p;
        uint32_t ix = r->requeued[i];
        if (r->subjects[ix].told || !w->ops->reason(w->policy, ix, &p))
            continue;
        struct group *at = &r->groups[r->subjects[ix].group];
        struct policy_numbers *n = &p.numbers;
        struct policy_quota_state q;
        if (n->flavor != POLICY_NONE && w->ops->quota(w->policy, POLICY_OBJ_CLUSTER_QUEUE, p.cluster_queue,
                                                      n->flavor, n->resource, &q)) {
            n->available = q.available;
            n->nominal = q.nominal;
            n->used = q.used;
        }
        uint32_t repeats = p.repeats > 0 ? p.repeats - 1 : 0; /* the last one is this row itself */
        count_repeats(r, at, repeats);
        at->counted = p.repeats;
        waiting_row(w, at, &p);
    }
    if (r != NULL)
        r->requeued_count = 0;
}

void record_output(struct world *w, const struct policy_output *o)
{
    if (w->record == NULL)
        return;
    switch (o->kind) {
    case POLICY_DO_ADMIT:
        on_admit(w, o->workload, o->u.entry);
        break;
    case POLICY_DO_EVICT:
        on_evict(w, o->workload, o);
        break;
    case POLICY_DO_DEACTIVATE:
        record_row_of(w, o->workload, "deactivated")->reason = "RequeuingLimitExceeded";
        break;
    case POLICY_SAY_PENDING:
        w->record->said_group = group_find(w->record, o->u.pending.cluster_queue, o->u.pending.shape,
                                           o->u.pending.priority);
        break;
    case POLICY_SAY_REASON:
        on_reason(w, o->u.reason);
        break;
    case POLICY_DO_REQUEUE:
        on_requeue(w->record, o->workload);
        break;
    case POLICY_SAY_ENTRY:
    case POLICY_SAY_CYCLE:
    case POLICY_SAY_USAGE:
        break;
    case POLICY_SAY_EVALUATION:
        nominations_hold(&w->record->nominations, o->u.evaluation);
        break;
    }
}

/* ---- the end ---- */

/* Evaluations with a reason that still holds. */
static void close_groups(struct world *w)
{
    struct world_record *r = w->record;
    for (uint32_t ix = 0; ix < w->wl_count; ix++) {
        struct policy_reason p;
        if (w->wl[ix].state != WL_PENDING || w->wl[ix].undecided || w->wl[ix].base != NONE32)
            continue;
        struct group *g = &r->groups[r->subjects[ix].group];
        if (g->row != SIZE_MAX && w->ops->reason(w->policy, ix, &p)) {
            count_repeats(r, g, p.repeats);
            g->row = SIZE_MAX;
        }
    }
}

static const char *waits_for(const struct world *w, const struct job *j)
{
    const struct world_record *r = w->record;
    if (j->first_start != SIM_NEVER)
        return NULL;
    uint32_t ix = lora_admitted_as(w, j->first_workload);
    if (w->wl[ix].undecided)
        return "DecisionDelay";
    const char *reason = r->groups[r->subjects[ix].group].reason;
    return reason != NULL ? reason : "QueueOrder"; /* nobody of its group was looked at */
}

void record_emit(struct world *w)
{
    struct world_record *r = w->record;
    if (r == NULL)
        return;
    close_groups(w);
    for (size_t i = 0; i < r->row_count; i++) {
        const struct decision *d = &r->rows[i];
        struct record_value v[] = {rec_int(w->opt.run_id), rec_int(d->t), rec_int((int64_t)i),
                                   rec_text(d->workload),  rec_text(d->queue), rec_text(d->kind),
                                   rec_text(d->reason),    rec_text(d->detail), rec_int(d->repeats)};
        record_row(&w->opt.sink, &table_decision, v);
    }
    struct nomination_names names = names_of(w);
    nominations_emit(&r->nominations, &names, w->opt.run_id, &w->opt.sink);
    nominations_emit_beside(&r->nominations, w->opt.run_id, &w->opt.sink);
    for (uint32_t i = 0; i < w->job_count; i++)
        if (w->jobs[i].in_use)
            record_jobs_row(w, r->jobs, i, waits_for(w, &w->jobs[i]));
    record_jobs_close(w, r->jobs);
}
