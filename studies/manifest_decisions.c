/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_decisions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/world/nominations.h"
#include "models/world/tables.h"
#include "sim/fnv.h"
#include "sim/sim_time.h"
#include "sim/text.h"

#define NOBODY UINT32_MAX

struct decision {
    int64_t t;
    const char *kind, *reason, *detail; /* detail may be NULL */
    uint32_t workload, repeats;
};

struct group { /* workloads of one (cluster queue, shape, priority) */
    uint32_t queue, shape, first;
    int64_t priority;
    size_t row; /* its open waiting row, SIZE_MAX: none */
    const char *reason;
};

struct mdecisions {
    const struct manifest *m;
    struct arena mem;
    struct decision *rows;
    size_t row_count, row_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    uint32_t *map; /* open addressing: group + 1 */
    size_t map_size;
    uint32_t *group_of;      /* by workload; NOBODY */
    const char **waited_for; /* by workload */
    uint32_t said;           /* group of the last PENDING output */
    struct nominations nominations;
};

struct mdecisions *mdecisions_create(const struct manifest *m)
{
    struct mdecisions *d = mem_zalloc(1, sizeof *d);
    d->m = m;
    d->said = NOBODY;
    d->group_of = mem_alloc((size_t)m->workload_count + 1, sizeof *d->group_of);
    d->waited_for = mem_zalloc((size_t)m->workload_count + 1, sizeof *d->waited_for);
    for (uint32_t i = 0; i < m->workload_count; i++)
        d->group_of[i] = NOBODY;
    return d;
}

void mdecisions_destroy(struct mdecisions *d)
{
    arena_fini(&d->mem);
    free(d->rows);
    nominations_fini(&d->nominations);
    free(d->groups);
    free(d->map);
    free(d->group_of);
    free(d->waited_for);
    free(d);
}

/* ---- groups ---- */

static uint64_t key_of(uint32_t queue, uint32_t shape, int64_t priority)
{
    const int64_t v[] = {queue, shape, priority};
    return fnv_add(FNV_START, v, sizeof v);
}

static void map_grow(struct mdecisions *d)
{
    d->map_size = d->map_size == 0 ? 256 : 2 * d->map_size;
    free(d->map);
    d->map = mem_zalloc(d->map_size, sizeof *d->map);
    for (size_t i = 0; i < d->group_count; i++) {
        size_t at = key_of(d->groups[i].queue, d->groups[i].shape, d->groups[i].priority) & (d->map_size - 1);
        while (d->map[at] != 0)
            at = (at + 1) & (d->map_size - 1);
        d->map[at] = (uint32_t)i + 1;
    }
}

/* The group, made with `first` when it is new; NOBODY when it is unknown and first is NOBODY. */
static uint32_t group_of(struct mdecisions *d, uint32_t queue, uint32_t shape, int64_t priority, uint32_t first)
{
    if (2 * (d->group_count + 1) > d->map_size)
        map_grow(d);
    size_t at = key_of(queue, shape, priority) & (d->map_size - 1);
    for (; d->map[at] != 0; at = (at + 1) & (d->map_size - 1)) {
        const struct group *g = &d->groups[d->map[at] - 1];
        if (g->queue == queue && g->shape == shape && g->priority == priority)
            return d->map[at] - 1;
    }
    if (first == NOBODY)
        return NOBODY;
    d->groups = mem_grow(d->groups, &d->group_capacity, d->group_count + 1, sizeof *d->groups);
    d->groups[d->group_count] = (struct group){queue, shape, first, priority, SIZE_MAX, NULL};
    d->map[at] = (uint32_t)++d->group_count;
    return d->map[at] - 1;
}

/* ---- words ---- */

static void amount(struct text *t, const struct manifest *m, uint32_t resource, int64_t v)
{
    if (v == POLICY_UNLIMITED)
        text_say(t, "unlimited");
    else if (resource < m->config.resource_count && strcmp(m->config.resources[resource], "cpu") == 0 && v % 1000 == 0)
        text_say(t, "%" PRId64, v / 1000);
    else if (resource < m->config.resource_count && strcmp(m->config.resources[resource], "cpu") == 0)
        text_say(t, "%" PRId64 "m", v);
    else
        text_say(t, "%" PRId64, v);
}

static const char *name_or(const char *const name, const char *otherwise)
{
    return name == NULL ? otherwise : name;
}

static const char *flavor_name(const struct manifest *m, uint32_t id)
{
    return id < m->config.flavor_count ? name_or(m->config.flavors[id].name, "missing flavor") : "no flavor";
}

static const char *resource_name(const struct manifest *m, uint32_t id)
{
    return id < m->config.resource_count ? m->config.resources[id] : "pods";
}

/* available = nominal - used + borrowable; a negative last term is what others have borrowed. */
static void sum(struct text *t, const struct manifest *m, uint32_t resource, int64_t available, int64_t nominal,
                int64_t used)
{
    text_say(t, "available ");
    amount(t, m, resource, available);
    text_say(t, " of ");
    amount(t, m, resource, nominal);
    if (available == POLICY_UNLIMITED || nominal == POLICY_UNLIMITED || used == POLICY_UNLIMITED)
        return;
    const int64_t rest = available - (nominal - used);
    text_say(t, ": nominal ");
    amount(t, m, resource, nominal);
    text_say(t, " − used ");
    amount(t, m, resource, used);
    text_say(t, rest < 0 ? " − lent " : " + borrowable ");
    amount(t, m, resource, rest < 0 ? -rest : rest);
}

static void numbers(struct text *t, const struct manifest *m, const struct policy_numbers *n)
{
    if (n->flavor == POLICY_NONE && n->resource == POLICY_NONE)
        return;
    text_say(t, "%s %s: asks ", flavor_name(m, n->flavor), resource_name(m, n->resource));
    amount(t, m, n->resource, n->requested);
    if (n->flavor == POLICY_NONE)
        return;
    text_say(t, ", ");
    sum(t, m, n->resource, n->available, n->nominal, n->used);
    if (n->borrowing_limit != POLICY_NIL) {
        text_say(t, "; borrowingLimit ");
        amount(t, m, n->resource, n->borrowing_limit);
    }
    if (n->lending_limit != POLICY_NIL) {
        text_say(t, "; lendingLimit ");
        amount(t, m, n->resource, n->lending_limit);
    }
    if (n->requested > n->potential) {
        text_say(t, "; never more than ");
        amount(t, m, n->resource, n->potential);
    }
}

/* ---- what was looked at ---- */

static const char *flavor_of(void *ctx, uint32_t id)
{
    const struct mdecisions *d = ctx;
    return flavor_name(d->m, id);
}

static const char *resource_of(void *ctx, uint32_t id)
{
    const struct mdecisions *d = ctx;
    return resource_name(d->m, id);
}

static const char *queue_of(void *ctx, uint32_t id)
{
    const struct mdecisions *d = ctx;
    return d->m->config.cluster_queues[id].name;
}

static const char *workload_of(void *ctx, uint32_t id)
{
    const struct mdecisions *d = ctx;
    return d->m->workloads[id].name;
}

static double unit_of(void *ctx, uint32_t id)
{
    const struct mdecisions *d = ctx;
    return id < d->m->config.resource_count && strcmp(d->m->config.resources[id], "cpu") == 0 ? 1000 : 1;
}

static struct nomination_names names_of(struct mdecisions *d)
{
    return (struct nomination_names){d, flavor_of, resource_of, queue_of, workload_of, unit_of};
}

/* Before the row of a decision about the workload is added: what was looked at for it. */
static void looked_at(struct mdecisions *d, uint32_t workload, struct text *t)
{
    char more[400];
    const struct nomination_names names = names_of(d);
    if (!nominations_take(&d->nominations, &names, workload, d->row_count))
        return;
    nominations_text(&d->nominations, &names, more, sizeof more);
    text_say(t, "%s", t->length == 0 && more[0] == ';' ? more + 2 : more);
}

/* ---- rows ---- */

static struct decision *add(struct mdecisions *d, int64_t now, uint32_t workload, const char *kind, const char *reason,
                            const struct text *t)
{
    d->rows = mem_grow(d->rows, &d->row_capacity, d->row_count + 1, sizeof *d->rows);
    struct decision *r = &d->rows[d->row_count++];
    *r = (struct decision){now, kind, reason, NULL, workload, 0};
    if (t != NULL && t->length > 0)
        r->detail = arena_strdup(&d->mem, t->v);
    return r;
}

struct ahead { /* who waits in the queue, and who of them comes first */
    int64_t priority;
    uint32_t before, all;
};

static void count_ahead(void *arg, const struct policy_pending *g)
{
    struct ahead *a = arg;
    a->all += g->count;
    a->before += g->priority >= a->priority ? g->count : 0;
}

void mdecisions_submitted(struct mdecisions *d, const struct mplay *p, int64_t now, uint32_t id)
{
    const struct manifest_workload *w = &d->m->workloads[id];
    const uint32_t queue = mplay_queue(d->m, id);
    char t_text[600] = "";
    struct text t = TEXT(t_text);
    d->group_of[id] = group_of(d, queue, w->policy.shape, w->policy.priority, id);
    struct ahead a = {w->policy.priority, 0, 0};
    p->ops->pending(p->policy, queue, count_ahead, &a);
    text_say(&t, "priority %" PRId64 "; rank %" PRIu32 " of %" PRIu32 " in its queue", w->policy.priority, a.before + 1,
        a.all + 1);
    char label[32];
    snprintf(label, sizeof label, "group %" PRIu32, d->group_of[id]);
    add(d, now, id, "submitted", arena_strdup(&d->mem, label), &t);
}

void mdecisions_finished(struct mdecisions *d, const struct mplay *p, int64_t now, uint32_t id)
{
    char t_text[600] = "";
    struct text t = TEXT(t_text);
    text_say(&t, "after %.3f s, %" PRIu32 " evictions", sim_time_seconds(now - d->m->workloads[id].policy.created_ns),
        p->runs[id].evictions);
    add(d, now, id, "finished", "Done", &t);
}

static void on_admit(struct mdecisions *d, int64_t now, const struct policy_output *o)
{
    const struct policy_entry *e = o->u.entry;
    const struct group *g = &d->groups[d->group_of[o->workload]];
    char t_text[600] = "";
    struct text t = TEXT(t_text);
    for (uint32_t s = 0; s < e->set_count; s++) {
        const struct policy_assigned_set *set = &e->sets[s];
        text_say(&t, "%s%s x %" PRId64 ":", s == 0 ? "" : "; ", set->name, set->count);
        for (uint32_t i = 0; i < set->choice_count; i++)
            text_say(&t, "%s %s on %s", i == 0 ? "" : ",", resource_name(d->m, set->choices[i].resource),
                flavor_name(d->m, set->choices[i].flavor));
        if (set->placed)
            text_say(&t, ", in %" PRIu32 " domains", set->domain_count);
    }
    if (e->borrowing_level > 0)
        text_say(&t, "; borrows at level %" PRIu32, e->borrowing_level);
    looked_at(d, o->workload, &t);
    add(d, now, o->workload, "admitted", policy_mode_name(e->mode), &t);
    if (g->row != SIZE_MAX)
        d->waited_for[o->workload] = g->reason;
}

static void on_evict(struct mdecisions *d, int64_t now, const struct policy_output *o)
{
    const struct manifest *m = d->m;
    const uint32_t by = o->u.evict.preemptor;
    const char *rule = policy_evict_reason_name(o->u.evict.reason);
    const struct manifest_workload *w = &m->workloads[o->workload];
    char t_text[600] = "";
    struct text t = TEXT(t_text);
    if (by != POLICY_NONE) {
        const struct manifest_workload *b = &m->workloads[by];
        char u_text[600] = "";
        struct text u = TEXT(u_text);
        text_say(&u, "evicts %s/%s (queue %s, priority %" PRId64 ")", w->name_space, w->name, w->queue, w->policy.priority);
        looked_at(d, by, &u);
        add(d, now, by, "preempts", rule, &u);
        text_say(&t, "for %s/%s (queue %s, priority %" PRId64 ")", b->name_space, b->name, b->queue, b->policy.priority);
    } else if (o->u.evict.reason == POLICY_EVICT_PODS_READY_TIMEOUT) {
        text_say(&t, "time-out %" PRIu32 ", queued again at %.0f s", o->u.evict.count, sim_time_seconds(o->u.evict.until_ns));
    }
    add(d, now, o->workload, "evicted", rule, &t);
}

static const char *reason_word(const struct policy_reason *r)
{
    const char *word = policy_requeue_reason_name(r->requeue);
    return word[0] != '\0' ? word : policy_mode_name(r->mode);
}

/* Where no single flavor decided: what the flavor that was tried last has. */
static void last_tried(struct text *t, const struct manifest *m, const struct mplay *p, const struct policy_reason *r)
{
    struct policy_quota_state q;
    if (t->length > 0 || r->flavor_tried == POLICY_NONE ||
        !p->ops->quota(p->policy, POLICY_OBJ_CLUSTER_QUEUE, r->cluster_queue, r->flavor_tried, m->main_resource, &q))
        return;
    text_say(t, "%s %s: ", flavor_name(m, r->flavor_tried), resource_name(m, m->main_resource));
    sum(t, m, m->main_resource, q.available, q.nominal, q.used);
}

static void on_reason(struct mdecisions *d, const struct mplay *p, int64_t now, const struct policy_reason *r)
{
    const uint32_t g = r->workload != POLICY_NONE ? d->group_of[r->workload] : d->said;
    if (g == NOBODY || r->outcome == POLICY_OUT_ADMITTED)
        return;
    struct group *at = &d->groups[g];
    if (at->row != SIZE_MAX)
        d->rows[at->row].repeats += r->repeats;
    char t_text[600] = "";
    struct text t = TEXT(t_text);
    numbers(&t, d->m, &r->numbers);
    last_tried(&t, d->m, p, r);
    if (r->group_count > 1)
        text_say(&t, "%s%" PRIu32 " of its group wait", t.length > 0 ? "; " : "", r->group_count);
    looked_at(d, r->workload, &t);
    at->reason = reason_word(r);
    add(d, now, r->workload != POLICY_NONE ? r->workload : at->first, policy_outcome_name(r->outcome), at->reason, &t);
    at->row = d->row_count - 1;
}

void mdecisions_output(struct mdecisions *d, const struct mplay *p, int64_t now, const struct policy_output *o)
{
    switch (o->kind) {
    case POLICY_DO_ADMIT:
        on_admit(d, now, o);
        break;
    case POLICY_DO_EVICT:
        on_evict(d, now, o);
        break;
    case POLICY_DO_DEACTIVATE:
        add(d, now, o->workload, "deactivated", "RequeuingLimitExceeded", NULL);
        break;
    case POLICY_SAY_PENDING:
        d->said = group_of(d, o->u.pending.cluster_queue, o->u.pending.shape, o->u.pending.priority, NOBODY);
        break;
    case POLICY_SAY_REASON:
        on_reason(d, p, now, o->u.reason);
        break;
    case POLICY_DO_REQUEUE:
    case POLICY_SAY_ENTRY:
    case POLICY_SAY_CYCLE:
    case POLICY_SAY_USAGE:
        break;
    case POLICY_SAY_EVALUATION:
        nominations_hold(&d->nominations, o->u.evaluation);
        break;
    }
}

const char *mdecisions_reason(struct mdecisions *d, const struct mplay *p, uint32_t id)
{
    if (p->runs[id].reserved != POLICY_NEVER || d->group_of[id] == NOBODY)
        return d->waited_for[id];
    return d->groups[d->group_of[id]].reason;
}

/* ---- the end ---- */

/* Those that wait and were never looked at themselves are told the reason of their group. */
static void waiting_at_end(struct mdecisions *d, const struct mplay *p)
{
    const struct manifest *m = d->m;
    bool *told = mem_zalloc((size_t)m->workload_count + 1, sizeof *told);
    for (size_t i = 0; i < d->row_count; i++)
        told[d->rows[i].workload] |= strcmp(d->rows[i].kind, "submitted") != 0;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        struct policy_reason r;
        char t_text[600] = "";
        struct text t = TEXT(t_text);
        if (m->workloads[i].inadmissible != NULL) {
            if (m->workloads[i].policy.created_ns > p->end_ns)
                continue;
            text_say(&t, "%s", m->workloads[i].inadmissible);
            add(d, p->end_ns, i, "waiting", "Inadmissible", &t);
        } else if (p->runs[i].submitted && !told[i] && p->ops->reason(p->policy, i, &r)) {
            numbers(&t, m, &r.numbers);
            last_tried(&t, m, p, &r);
            add(d, p->end_ns, i, policy_outcome_name(r.outcome), reason_word(&r), &t);
        } else if (p->runs[i].submitted && !told[i]) {
            const uint32_t queue = mplay_queue(m, i);
            const char *why = m->queues[queue].inactive;
            text_say(&t, "%s", why != NULL ? why : "others stand before it in its queue");
            add(d, p->end_ns, i, "waiting", why != NULL ? "Inactive" : "QueueOrder", &t);
        }
    }
    free(told);
}

void mdecisions_emit(struct mdecisions *d, const struct mplay *p, int64_t run_id, const struct record_sink *sink)
{
    const struct manifest *m = d->m;
    waiting_at_end(d, p);
    for (size_t i = 0; i < d->row_count; i++) {
        const struct decision *r = &d->rows[i];
        const struct manifest_workload *w = &m->workloads[r->workload];
        char name[512];
        snprintf(name, sizeof name, "%.250s/%.250s", w->name_space, w->name);
        const char *queue = w->policy.local_queue == POLICY_NONE
                                ? ""
                                : m->config.cluster_queues[mplay_queue(m, r->workload)].name;
        struct record_value v[] = {rec_int(run_id),      rec_int(r->t),       rec_int((int64_t)i),
                                   rec_text(name),       rec_text(queue),     rec_text(r->kind),
                                   rec_text(r->reason),  rec_text(r->detail), rec_int(r->repeats)};
        record_row(sink, &table_decision, v);
    }
    const struct nomination_names names = names_of(d);
    nominations_emit(&d->nominations, &names, run_id, sink);
    nominations_emit_beside(&d->nominations, run_id, sink);
}
