/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "models/policies/kueue/shape.h"
#include "models/policies/kueue/share.h"
#include "tests/policies/named.h"

static const struct named_line *line_of(const struct named *n, const char *key)
{
    for (size_t i = 0; i < n->c->count; i++)
        if (strcmp(n->c->lines[i].word[0], key) == 0)
            return &n->c->lines[i];
    return NULL;
}

bool named_is_unit(const struct named *n)
{
    return line_of(n, "room") != NULL || line_of(n, "share") != NULL || line_of(n, "try") != NULL ||
           line_of(n, "mode") != NULL;
}

/* ---- quota and shares ---- */

/* "usage QUEUE FLAVOR resource=amount", also "request FLAVOR ..." of the first queue: added. */
static void add_usage(struct named *n, const char *key, int sign)
{
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        const char *rest;
        if (strcmp(l->word[0], key) != 0)
            continue;
        const bool named = strcmp(key, "usage") == 0;
        const uint32_t queue = named ? named_id(&n->queues, l->word[1]) : 0;
        const uint32_t r = named_resource(n, l->word[l->count - 1], &rest);
        const uint32_t fr = named_fr(n, queue, l->word[named ? 2 : 1], r);
        if (sign > 0)
            kq_add(&n->k->cqs[queue]->node, fr, named_amount(n, r, rest));
        else
            kq_remove(&n->k->cqs[queue]->node, fr, named_amount(n, r, rest));
    }
}

/* "room QUEUE FLAVOR resource=available,potential"; `empty`: without usage both are the same. */
static const char *check_room(struct named *n, bool empty)
{
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        const char *rest;
        if (strcmp(l->word[0], "room") != 0)
            continue;
        const uint32_t queue = named_id(&n->queues, l->word[1]), r = named_resource(n, l->word[3], &rest);
        const uint32_t fr = named_fr(n, queue, l->word[2], r);
        const char *comma = strchr(rest, ',');
        const int64_t potential = named_amount(n, r, comma + 1);
        const int64_t available =
            empty ? potential : named_amount(n, r, arena_strndup(&n->mem, rest, (size_t)(comma - rest)));
        const struct kq_cq *cq = n->k->cqs[queue];
        if (kq_avail(cq, fr) != available || cq->node.q[fr].potential != potential)
            return arena_printf(&n->mem, "\n  kueue: %s %s available %lld of %lld\n  ours:  %lld of %lld", l->word[1],
                                l->word[2], (long long)available, (long long)potential, (long long)kq_avail(cq, fr),
                                (long long)cq->node.q[fr].potential);
    }
    return NULL;
}

static const char *quota(struct named *n)
{
    const char *problem = check_room(n, true);
    if (problem != NULL)
        return problem;
    add_usage(n, "usage", 1);
    if ((problem = check_room(n, false)) != NULL)
        return problem;
    add_usage(n, "usage", -1);
    return check_room(n, true);
}

/* As the status shows it: thousandths, rounded up. */
static int64_t shown(struct kq_share s)
{
    if (kq_share_infinite(s))
        return INT64_MAX;
    return s.ratio == 0.0 ? 0 : (int64_t)ceil(s.ratio / s.weight);
}

/* "share queue|cohort NAME VALUE|inf borrows|-" */
static const char *shares(struct named *n)
{
    add_usage(n, "usage", 1);
    add_usage(n, "request", 1);
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        if (strcmp(l->word[0], "share") != 0)
            continue;
        const bool queue = strcmp(l->word[1], "queue") == 0;
        const uint32_t id = named_id(queue ? &n->queues : &n->cohorts, l->word[2]);
        const struct kq_share s = kq_share_of(queue ? &n->k->cqs[id]->node : &n->k->cohorts[id]->node);
        const int64_t want = strcmp(l->word[3], "inf") == 0 ? INT64_MAX : strtoll(l->word[3], NULL, 10);
        if (shown(s) != want || s.borrows != (strcmp(l->word[4], "borrows") == 0))
            return arena_printf(&n->mem, "\n  kueue: %s %s %s\n  ours:  %lld %s", l->word[2], l->word[3], l->word[4],
                                (long long)shown(s), s.borrows ? "borrows" : "-");
    }
    return NULL;
}

/* ---- victims of a given assignment: "try W SET resource=flavor:mode..." ---- */

static void want_more(struct kq_request *want, size_t *count, uint32_t fr, int64_t amount)
{
    for (size_t i = 0; i < *count; i++)
        if (want[i].fr == fr) {
            want[i].amount += amount;
            return;
        }
    want[(*count)++] = (struct kq_request){fr, amount};
}

static int64_t request_of(const struct policy_pod_set *s, uint32_t resource)
{
    for (uint32_t i = 0; i < s->request_count; i++)
        if (s->requests[i].resource == resource)
            return s->requests[i].amount * s->count;
    return 0;
}

struct trial {
    uint32_t contested[NAMED_MAX];
    size_t contested_count;
    struct kq_request want[NAMED_MAX];
    size_t want_count;
};

static void read_try(struct named *n, const struct named_line *l, struct trial *t)
{
    const struct named_workload *w = &n->workload[named_id(&n->workloads, l->word[1])];
    for (uint32_t s = 0; s < w->set_count; s++) {
        if (strcmp(w->sets[s].name, l->word[2]) != 0)
            continue;
        for (int i = 3; i < l->count; i++) {
            const char *rest;
            const uint32_t r = named_resource(n, l->word[i], &rest);
            const char *colon = strrchr(rest, ':');
            const uint32_t fr = named_fr(n, w->queue, arena_strndup(&n->mem, rest, (size_t)(colon - rest)), r);
            if (strcmp(colon + 1, "Preempt") == 0)
                t->contested[t->contested_count++] = fr;
            if (request_of(&w->sets[s], r) > 0)
                want_more(t->want, &t->want_count, fr, request_of(&w->sets[s], r));
        }
    }
}

static const char *victims_differ(struct named *n, const struct kq_targets *found)
{
    size_t wanted = 0, met = 0;
    char *text = arena_strdup(&n->mem, "");
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        if (strcmp(l->word[0], "victim") != 0)
            continue;
        wanted++;
        text = arena_printf(&n->mem, "%s\n  kueue: %s %s", text, l->word[1], l->word[2]);
        for (size_t v = 0; v < found->count; v++)
            met += strcmp(n->workloads.v[found->v[v].workload], l->word[1]) == 0 &&
                   (strcmp(l->word[2], "-") == 0 || /* its eviction was decided before: no reason is told */
                    strcmp(policy_evict_reason_name(found->v[v].reason), l->word[2]) == 0);
    }
    if (wanted == found->count && met == wanted)
        return NULL;
    for (size_t v = 0; v < found->count; v++)
        text = arena_printf(&n->mem, "%s\n  ours:  %s %s", text, n->workloads.v[found->v[v].workload],
                            policy_evict_reason_name(found->v[v].reason));
    return wanted + found->count == 0 ? NULL : text;
}

static const char *victims(struct named *n)
{
    struct trial t = {.contested_count = 0};
    struct kq_targets found = {.v = NULL};
    const char *name = line_of(n, "try")->word[1];
    for (size_t i = 0; i < n->c->count; i++)
        if (strcmp(n->c->lines[i].word[0], "try") == 0)
            read_try(n, &n->c->lines[i], &t);
    struct kq_wl *w = kq_wl(n->k, named_id(&n->workloads, name));
    const struct kq_search search = {.wl = w,
                                     .cq = n->k->cqs[w->cq],
                                     .contested = t.contested,
                                     .contested_count = t.contested_count,
                                     .want = t.want,
                                     .want_count = t.want_count};
    kq_search_run(n->k, &search, &found);
    const char *problem = victims_differ(n, &found);
    free(found.v);
    kq_ids_fini(&found.returned);
    return problem;
}

/* ---- flavor assignment ---- */

/* "choice SET resource=flavor:mode..." against the assignment. */
static const char *choice_differs(struct named *n, const struct kq_shape *shape, const struct kq_assign *a,
                                  const struct named_line *l)
{
    static const char *const modes[] = {"NoFit", "Preempt", "Preempt", "Preempt", "Fit"};
    uint32_t set = 0;
    int found = 0;
    while (strcmp(shape->sets[set].name, l->word[1]) != 0)
        set++;
    const uint32_t end = shape->cell_base[set] + shape->sets[set].request_count + 1;
    char *text = arena_strdup(&n->mem, "");
    for (uint32_t c = shape->cell_base[set]; c < end; c++) {
        if (!a->assigned[set] || !a->cells[c].set)
            continue;
        const uint32_t r = shape->cell_resource[c] == POLICY_NONE ? n->k->pods_resource : shape->cell_resource[c];
        const char *one = arena_printf(&n->mem, "%s=%s:%s", n->k->resources[r], n->flavors.v[a->cells[c].flavor],
                                       modes[a->cells[c].mode]);
        text = arena_printf(&n->mem, "%s %s", text, one);
        found++;
        bool met = false;
        for (int i = 2; i < l->count; i++)
            met |= strcmp(l->word[i], one) == 0;
        if (!met)
            found = -NAMED_WORDS;
    }
    if (found == l->count - 2)
        return NULL;
    char *wanted = arena_strdup(&n->mem, "");
    for (int i = 2; i < l->count; i++)
        wanted = arena_printf(&n->mem, "%s %s", wanted, l->word[i]);
    return arena_printf(&n->mem, "\n  kueue: %s%s\n  ours: %s", l->word[1], wanted, text);
}

static const char *assignment_differs(struct named *n, const struct kq_shape *shape, const struct kq_assign *a)
{
    const char *mode = line_of(n, "mode")->word[1];
    if (strcmp(policy_mode_name(a->mode), mode) != 0)
        return arena_printf(&n->mem, "\n  kueue: mode %s\n  ours:  %s", mode, policy_mode_name(a->mode));
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        const char *problem = strcmp(l->word[0], "choice") == 0 ? choice_differs(n, shape, a, l) : NULL;
        if (problem != NULL)
            return problem;
        if (strcmp(l->word[0], "uses") == 0) {
            const char *rest;
            const uint32_t r = named_resource(n, l->word[2], &rest), fr = named_fr(n, 0, l->word[1], r);
            int64_t used = 0;
            for (size_t u = 0; u < a->use_count; u++)
                used += a->use[u].fr == fr ? a->use[u].amount : 0;
            if (used != named_amount(n, r, rest))
                return arena_printf(&n->mem, "\n  kueue: uses %s %s\n  ours:  %lld", l->word[1], l->word[2],
                                    (long long)used);
        }
        if (strcmp(l->word[0], "level") == 0 && a->level != (uint32_t)atoi(l->word[1]))
            return arena_printf(&n->mem, "\n  kueue: level %s\n  ours:  %u", l->word[1], (unsigned)a->level);
    }
    return NULL;
}

static const char *assignment(struct named *n)
{
    struct kq_assign a = {.mode = POLICY_FIT};
    int64_t counts[NAMED_SETS];
    struct kq_wl *w = kq_wl(n->k, 0), mine = {.known = true, .cq = w->cq}, others = {.known = true, .cq = POLICY_NONE};
    const struct kq_shape *shape = n->k->shapes[w->shape];
    add_usage(n, "usage", 1);
    /* two workloads without usage stand for what a search may find */
    mine.id = 1;
    others.id = 2;
    *kq_wl(n->k, 1) = mine;
    *kq_wl(n->k, 2) = others;
    named_oracle_set(&(struct named_oracle){n, 1, 2});
    struct kq_cq *cq = n->k->cqs[w->cq];
    const struct kq_decide d = {.wl = w, .cq = cq, .shape = shape, .plan = kq_plan_make(n->k, cq, shape)};
    for (uint32_t i = 0; i < shape->set_count; i++)
        counts[i] = shape->sets[i].count;
    kq_assign_run(n->k, &d, counts, &a);
    named_oracle_set(&(struct named_oracle){NULL, 0, 0});
    const char *problem = assignment_differs(n, shape, &a);
    kq_assign_fini(&a);
    kq_wl(n->k, 1)->known = kq_wl(n->k, 2)->known = false;
    return problem;
}

const char *named_unit(struct named *n)
{
    if (line_of(n, "room") != NULL)
        return quota(n);
    if (line_of(n, "share") != NULL)
        return shares(n);
    return line_of(n, "try") != NULL ? victims(n) : assignment(n);
}
