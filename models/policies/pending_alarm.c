/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Alarms: when a head that its own quota has room for stays out, and the words for why. Each word
 * is a state in which Kueue leaves such a head out (decision specification, sections in brackets):
 *
 *   Stopped           the queue is on hold or inactive (2.4)
 *   NamespaceMismatch its namespace does not match the queue's selector (2.6)
 *   BlockAdmission    waitForPodsReady.blockAdmission: the cycle waits for pods that are not ready (2.12)
 *   PendingPreemption its victims still hold their quota (2.11)
 *   QuotaInUse        others of the cohort use what is the queue's own; reclaimWithinCohort does not
 *                     let it take that back, or finds nobody (4.4, 5)
 *   Topology          quota is there, but no place in the topology (6.2)
 *   OtherFlavor       quota is there on another flavor than the one that it waits for (4.2)
 *   NotWoken          quota is there; parked since its last evaluation (2.10, 2.11)
 *   NotDecided        quota is there; in the queue, not yet decided
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/pending_view.h"
#include "sim/arena.h"
#include "sim/text.h"

struct open { /* of one cluster queue */
    int64_t since;
    uint32_t workload; /* POLICY_NONE: no alarm in the making */
    struct policy_head head;
    struct policy_reason reason;
    struct policy_quota_state quota, cohort;
    bool has_reason, has_cohort, dirty;
    char name[PENDING_NAME_SIZE];
};

struct pending_watch {
    struct pending_options o;
    const struct qflow *flow;
    struct open *queues;
    uint32_t *dirty, dirty_count;
    uint32_t **main_cells; /* by queue; ends with POLICY_NONE */
    struct arena mem;
    struct pending_alarm *alarms;
    size_t count, capacity;
    uint64_t all;
};

static bool can_ask(const struct policy_ops *ops)
{
    return ops->size > offsetof(struct policy_ops, head) && ops->head != NULL;
}

struct pending_watch *pending_watch_create(const struct pending_options *o, const struct qflow *flow)
{
    struct pending_watch *w = mem_zalloc(1, sizeof *w);
    const uint32_t n = o->config->cluster_queue_count;
    w->o = *o;
    w->flow = flow;
    w->queues = mem_zalloc((size_t)n + 1, sizeof *w->queues);
    w->dirty = mem_alloc((size_t)n + 1, sizeof *w->dirty);
    w->main_cells = mem_zalloc((size_t)n + 1, sizeof *w->main_cells);
    for (uint32_t q = 0; q < n; q++) {
        uint32_t count = 0;
        w->queues[q].workload = POLICY_NONE;
        w->main_cells[q] = arena_alloc(&w->mem, (size_t)o->config->flavor_count + 1, sizeof(uint32_t));
        for (uint32_t f = 0; f < o->config->flavor_count && o->main_resource != POLICY_NONE; f++) {
            const uint32_t cell = qflow_cell(flow, POLICY_OBJ_CLUSTER_QUEUE, q, f, o->main_resource);
            if (cell != POLICY_NONE)
                w->main_cells[q][count++] = cell;
        }
        w->main_cells[q][count] = POLICY_NONE;
    }
    return w;
}

void pending_watch_destroy(struct pending_watch *w)
{
    free(w->queues);
    free(w->dirty);
    free((void *)w->main_cells);
    free(w->alarms);
    arena_fini(&w->mem);
    free(w);
}

void pending_watch_dirty(struct pending_watch *w, uint32_t queue)
{
    if (w->queues[queue].dirty)
        return;
    w->queues[queue].dirty = true;
    w->dirty[w->dirty_count++] = queue;
}

/* ---- words ---- */

static void amount(struct text *t, const struct pending_watch *w, uint32_t resource, int64_t v)
{
    const double unit = resource < w->o.config->resource_count ? w->o.units[resource] : 1.0;
    if (v == POLICY_UNLIMITED)
        text_say(t, "unlimited");
    else
        text_say(t, "%.10g", (double)v / unit);
}

static const char *resource_name(const struct pending_watch *w, uint32_t id)
{
    return id < w->o.config->resource_count ? w->o.config->resources[id] : "pods";
}

static void say_numbers(struct text *t, const struct pending_watch *w, const struct open *q)
{
    const struct policy_numbers *n = &q->head.numbers;
    const struct policy_config *c = w->o.config;
    if (n->flavor == POLICY_NONE) {
        text_say(t, "asks for nothing that quota limits");
        return;
    }
    text_say(t, "asks ");
    amount(t, w, n->resource, n->requested);
    text_say(t, " %s; %s: nominal ", resource_name(w, n->resource),
        n->flavor < c->flavor_count && c->flavors[n->flavor].name != NULL ? c->flavors[n->flavor].name : "?");
    amount(t, w, n->resource, n->nominal);
    text_say(t, " − used ");
    amount(t, w, n->resource, n->used);
    if (n->nominal != POLICY_UNLIMITED) {
        text_say(t, " = ");
        amount(t, w, n->resource, n->nominal - n->used);
        text_say(t, " left");
    }
    text_say(t, ", available ");
    amount(t, w, n->resource, q->quota.available);
}

static const char *reclaim_words(enum policy_preemption p)
{
    switch (p) {
    case POLICY_NEVER_PREEMPT:
        return "reclaimWithinCohort is Never";
    case POLICY_LOWER_PRIORITY:
        return "reclaimWithinCohort is LowerPriority, and nobody who borrows has a lower priority";
    case POLICY_LOWER_OR_NEWER_EQUAL:
    case POLICY_ANY:
        return "reclaimWithinCohort found nobody to evict";
    case POLICY_UNSET:
        break;
    }
    return "no reclaimWithinCohort";
}

static void say_use_of_cohort(struct text *t, const struct pending_watch *w, const struct policy_cluster_queue *cq,
                              const struct open *q)
{
    const uint32_t resource = q->head.numbers.resource;
    if (!q->has_cohort)
        return;
    text_say(t, "; cohort %s uses ", w->o.config->cohorts[cq->cohort].name);
    amount(t, w, resource, q->cohort.used);
    text_say(t, " of ");
    amount(t, w, resource, q->cohort.subtree);
}

/* Nothing of quota is in the way. */
static const char *reason_beside_quota(const struct open *q, struct text *t)
{
    const bool evaluated = q->has_reason && q->reason.flavor_tried != POLICY_NONE;
    if (evaluated && q->reason.wait == POLICY_WAIT_OTHER) {
        text_say(t, "; no place in the topology when it was looked at");
        return "Topology";
    }
    if (evaluated && q->head.numbers.flavor != POLICY_NONE && q->reason.flavor_tried != q->head.numbers.flavor) {
        text_say(t, "; it waits for another flavor (flavorFungibility)");
        return "OtherFlavor";
    }
    if (q->head.place == POLICY_PLACE_PARKED) {
        text_say(t, "; parked since its last evaluation, nothing woke its tree");
        return "NotWoken";
    }
    text_say(t, "; in the queue, not yet decided");
    return "NotDecided";
}

static const char *reason_of(const struct pending_watch *w, uint32_t queue, const struct open *q, struct text *t)
{
    const struct policy_cluster_queue *cq = &w->o.config->cluster_queues[queue];
    if (cq->stop != POLICY_RUN || cq->inactive) {
        text_say(t, cq->inactive ? "; the queue is inactive" : "; stopPolicy holds the queue");
        return "Stopped";
    }
    if (q->has_reason && q->reason.requeue == POLICY_RQ_NAMESPACE_MISMATCH) {
        text_say(t, "; its namespace does not match namespaceSelector");
        return "NamespaceMismatch";
    }
    if (q->head.place == POLICY_PLACE_FLIGHT) {
        text_say(t, "; waitForPodsReady.blockAdmission waits for pods that are not ready");
        return "BlockAdmission";
    }
    if (q->has_reason && q->reason.requeue == POLICY_RQ_PENDING_PREEMPTION) {
        text_say(t, "; its victims have not let go yet");
        return "PendingPreemption";
    }
    if (q->head.numbers.flavor == POLICY_NONE || q->quota.available >= q->head.numbers.requested)
        return reason_beside_quota(q, t);
    say_use_of_cohort(t, w, cq, q);
    text_say(t, "; %s", reclaim_words(cq->reclaim_within_cohort));
    return "QuotaInUse";
}

/* ---- intervals ---- */

static void end(struct pending_watch *w, uint32_t queue, int64_t now)
{
    struct open *q = &w->queues[queue];
    const bool counts = q->workload != POLICY_NONE && now - q->since > w->o.patience_ns;
    if (counts && w->all++ < PENDING_ALARMS_MAX) {
        w->alarms = mem_grow(w->alarms, &w->capacity, w->count + 1, sizeof *w->alarms);
        struct pending_alarm *a = &w->alarms[w->count++];
        struct text t = {a->why, sizeof a->why, 0};
        *a = (struct pending_alarm){.from_ns = q->since, .to_ns = now, .cluster_queue = queue};
        memcpy(a->workload, q->name, sizeof a->workload);
        say_numbers(&t, w, q);
        a->reason = reason_of(w, queue, q, &t);
    }
    q->workload = POLICY_NONE;
}

static bool has_room(const struct pending_watch *w, uint32_t queue)
{
    const uint32_t *cell = w->main_cells[queue];
    if (*cell == POLICY_NONE)
        return true;
    for (; *cell != POLICY_NONE; cell++)
        if (qflow_own(w->flow, *cell) > qflow_reserved(w->flow, *cell))
            return true;
    return false;
}

static void look(struct pending_watch *w, uint32_t queue, int64_t now)
{
    struct open *q = &w->queues[queue];
    struct policy_head head;
    q->dirty = false;
    if (w->o.ops->pending_count(w->o.policy, queue) == 0 || !has_room(w, queue) ||
        !w->o.ops->head(w->o.policy, queue, &head) || !head.fits_nominal) {
        end(w, queue, now);
        return;
    }
    if (q->workload != head.workload) {
        end(w, queue, now);
        q->workload = head.workload;
        q->since = now;
        w->o.name(w->o.ctx, head.workload, q->name);
    }
    q->head = head;
    q->has_reason = w->o.ops->reason(w->o.policy, head.workload, &q->reason);
    q->quota = (struct policy_quota_state){0};
    q->has_cohort = false;
    const uint32_t cohort = w->o.config->cluster_queues[queue].cohort, flavor = head.numbers.flavor;
    if (flavor == POLICY_NONE)
        return;
    (void)w->o.ops->quota(w->o.policy, POLICY_OBJ_CLUSTER_QUEUE, queue, flavor, head.numbers.resource, &q->quota);
    q->has_cohort = cohort != POLICY_NONE && w->o.ops->quota(w->o.policy, POLICY_OBJ_COHORT, cohort, flavor,
                                                             head.numbers.resource, &q->cohort);
}

void pending_watch_settled(struct pending_watch *w, int64_t now)
{
    for (uint32_t i = 0; i < w->dirty_count; i++) {
        if (can_ask(w->o.ops))
            look(w, w->dirty[i], now);
        else
            w->queues[w->dirty[i]].dirty = false;
    }
    w->dirty_count = 0;
}

void pending_watch_finish(struct pending_watch *w, int64_t now)
{
    for (uint32_t q = 0; q < w->o.config->cluster_queue_count; q++)
        end(w, q, now);
}

uint64_t pending_watch_alarms(const struct pending_watch *w, const struct pending_alarm **alarms, size_t *count)
{
    *alarms = w->alarms;
    *count = w->count;
    return w->all;
}
