/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_job.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "studies/manifest_now.h"
#include "studies/manifest_tries.h"

enum { CHANGES_MAX = 16 };

struct change {
    const char *what; /* nominalQuota, borrowingLimit, priority */
    uint32_t flavor;
    int64_t from, to;
    struct mnow_outcome then;
};

struct answer {
    struct manifest *m;
    uint32_t job, queue;
    struct mnow_outcome now;
    uint32_t set;  /* the pod set that is resized */
    int64_t fits;  /* its largest count that starts now; -1: not asked */
    struct change changes[CHANGES_MAX];
    int change_count;
    struct err err;
};

static bool starts(struct answer *a, const struct mnow_try *t, struct mnow_outcome *then)
{
    return mnow_try(a->m, a->job, t, then, &a->err) && then->admitted;
}

/* ---- how large may it be ---- */

static void largest_size(struct answer *a)
{
    const struct policy_shape *s = &a->m->workloads[a->job].shape;
    for (uint32_t i = 0; i < s->pod_set_count; i++)
        if (s->pod_sets[i].count > s->pod_sets[a->set].count)
            a->set = i;
    int64_t low = 0, high = s->pod_sets[a->set].count - 1;
    while (low < high) {
        struct mnow_try t = mnow_as_it_is();
        struct mnow_outcome then;
        t.set = a->set;
        t.count = low + (high - low + 1) / 2;
        if (starts(a, &t, &then))
            low = t.count;
        else
            high = t.count - 1;
    }
    a->fits = low;
}

/* ---- what lets it start ---- */

static struct change *new_change(struct answer *a, const char *what)
{
    if (a->change_count == CHANGES_MAX)
        return NULL;
    struct change *c = &a->changes[a->change_count];
    *c = (struct change){.what = what, .flavor = POLICY_NONE};
    return c;
}

/* The smallest addition up to `most` with which it starts; 0: none does. */
static int64_t least_more(struct answer *a, struct mnow_try t, bool borrowing, int64_t most, int64_t unit,
                          struct mnow_outcome *then)
{
    int64_t low = 1, high = (most + unit - 1) / unit;
    int64_t *more = borrowing ? &t.more_borrowing : &t.more_nominal;
    *more = high * unit;
    if (high < 1 || !starts(a, &t, then))
        return 0;
    while (low < high) {
        struct mnow_outcome one;
        *more = (low + (high - low) / 2) * unit;
        if (starts(a, &t, &one)) {
            high = low + (high - low) / 2;
            *then = one;
        } else {
            low = low + (high - low) / 2 + 1;
        }
    }
    return high * unit;
}

static void more_quota(struct answer *a, const struct policy_resource_group *g, uint32_t flavor, uint32_t resource)
{
    const struct policy_quota *q = NULL;
    const int64_t asked = manifest_request(&a->m->workloads[a->job], resource);
    const int64_t unit = strcmp(a->m->config.resources[resource], "cpu") == 0 ? 1000 : 1;
    for (uint32_t f = 0; f < g->flavor_count; f++)
        for (uint32_t r = 0; r < g->resource_count; r++)
            if (g->flavors[f] == flavor && g->resources[r] == resource)
                q = &g->quotas[f * g->resource_count + r];
    if (q == NULL || q->nominal > INT64_MAX / 4 || asked <= 0 || asked > INT64_MAX / 4)
        return;
    for (int borrowing = 0; borrowing < 2; borrowing++) {
        struct mnow_try t = mnow_as_it_is();
        struct change *c = new_change(a, borrowing ? "borrowingLimit" : "nominalQuota");
        t.flavor = flavor;
        t.resource = resource;
        if (c == NULL || (borrowing && q->borrowing_limit == POLICY_NIL))
            continue;
        const int64_t more = least_more(a, t, borrowing, asked, unit, &c->then);
        c->flavor = flavor;
        c->from = borrowing ? q->borrowing_limit : q->nominal;
        c->to = c->from + more;
        a->change_count += more > 0;
    }
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool would_go(struct answer *a, int64_t priority, struct mnow_outcome *then)
{
    struct mnow_try t = mnow_as_it_is();
    t.priority = priority;
    return starts(a, &t, then) || then->victim_count > 0;
}

/* The least priority above its own with which it starts, if need be by preemption. */
static void more_priority(struct answer *a)
{
    const struct manifest *m = a->m;
    const int64_t own = m->workloads[a->job].policy.priority;
    int64_t *list = mem_alloc((size_t)m->workload_count + 1, sizeof *list);
    size_t n = 0, low = 0;
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (!m->workloads[i].finished && i != a->job && m->workloads[i].policy.priority >= own)
            list[n++] = m->workloads[i].policy.priority + 1;
    if (n > 1)
        qsort(list, n, sizeof *list, by_value);
    struct change *c = n > 0 ? new_change(a, "priority") : NULL;
    if (c != NULL && would_go(a, list[n - 1], &c->then)) {
        size_t high = n - 1;
        while (low < high) {
            struct mnow_outcome one;
            const size_t mid = low + (high - low) / 2;
            if (would_go(a, list[mid], &one)) {
                high = mid;
                c->then = one;
            } else {
                low = mid + 1;
            }
        }
        c->from = own;
        c->to = list[high];
        a->change_count++;
    }
    free(list);
}

static void smallest_changes(struct answer *a)
{
    const struct policy_cluster_queue *q = &a->m->config.cluster_queues[a->queue];
    uint32_t resource = a->now.has_reason ? a->now.reason.numbers.resource : POLICY_NONE;
    if (resource == POLICY_NONE)
        resource = a->m->main_resource;
    for (uint32_t g = 0; g < q->group_count; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++)
            more_quota(a, &q->groups[g], q->groups[g].flavors[f], resource);
    if (a->now.victim_count == 0)
        more_priority(a);
}

/* ---- printing ---- */

static const char *flavor_name(const struct answer *a, uint32_t id)
{
    return id < a->m->config.flavor_count && a->m->config.flavors[id].name != NULL ? a->m->config.flavors[id].name : "no flavor";
}

static uint32_t decisive(const struct answer *a)
{
    const uint32_t r = a->now.has_reason ? a->now.reason.numbers.resource : POLICY_NONE;
    return r == POLICY_NONE ? a->m->main_resource : r;
}

static double shown(const struct answer *a, uint32_t resource, int64_t amount)
{
    const char *name = resource < a->m->config.resource_count ? a->m->config.resources[resource] : "";
    return (double)amount / (strcmp(name, "cpu") == 0 ? 1000.0 : 1.0);
}

static const char *verdict(const struct answer *a)
{
    return a->now.admitted ? "starts" : a->now.victim_count > 0 ? "starts after preemption" : "waits";
}

static void print_victims(const struct answer *a, const struct mnow_outcome *o, FILE *out)
{
    for (uint32_t i = 0; i < o->victim_count; i++) {
        const struct manifest_workload *w = &a->m->workloads[o->victims[i]];
        fprintf(out, "%s %s/%s (%s)", i == 0 ? "evicts" : ",", w->name_space, w->name, policy_evict_reason_name(o->rules[i]));
    }
}

static void print_now(const struct answer *a, FILE *out)
{
    const struct policy_numbers *n = &a->now.reason.numbers;
    fprintf(out, "now: %s", verdict(a));
    for (uint32_t i = 0; i < a->now.choice_count; i++)
        fprintf(out, "%s%s on %s", i == 0 ? ": " : ", ", a->m->config.resources[a->now.resources[i]],
                flavor_name(a, a->now.flavors[i]));
    if (!a->now.admitted && a->now.has_reason)
        fprintf(out, " (%s)", policy_requeue_reason_name(a->now.reason.requeue));
    fputs("\n", out);
    manifest_tries_text(a->m, a->queue, &a->now.looked, out);
    if (a->now.looked.try_count == 0 && !a->now.admitted && a->now.has_reason && n->flavor != POLICY_NONE)
        fprintf(out, "  %s %s: asks %g, available %g of %g: nominal %g − used %g %s %g\n", flavor_name(a, n->flavor),
                a->m->config.resources[n->resource], shown(a, n->resource, n->requested), shown(a, n->resource, n->available),
                shown(a, n->resource, n->nominal), shown(a, n->resource, n->nominal), shown(a, n->resource, n->used),
                n->available >= n->nominal - n->used ? "+ borrowable" : "− lent",
                shown(a, n->resource, llabs((long long)(n->available - (n->nominal - n->used)))));
    if (a->now.victim_count > 0) {
        fputs("  ", out);
        print_victims(a, &a->now, out);
        fputs("\n", out);
    }
}

static void print_text(const struct answer *a, FILE *out)
{
    const struct manifest_workload *w = &a->m->workloads[a->job];
    const uint32_t r = decisive(a);
    fprintf(out, "%s/%s in ClusterQueue %s, priority %" PRId64, w->name_space, w->name,
            a->m->config.cluster_queues[a->queue].name, w->policy.priority);
    if (r != POLICY_NONE)
        fprintf(out, ", asks %g %s", shown(a, r, manifest_request(w, r)), a->m->config.resources[r]);
    fprintf(out, "; %" PRIu32 " wait there, it is number %" PRIu32 "\n", a->now.pending, a->now.rank);
    print_now(a, out);
    if (a->fits >= 0)
        fprintf(out, "largest size that starts now: %" PRId64 " of %" PRId64 " pods of '%s'\n", a->fits,
                w->shape.pod_sets[a->set].count, w->shape.pod_sets[a->set].name);
    if (!a->now.admitted)
        fprintf(out, a->change_count > 0 ? "single changes that let it start%s:\n"
                                         : "no single change of a quota of its queue or of its priority lets it start%s\n",
                a->now.victim_count > 0 ? " without preemption" : "");
    for (int i = 0; i < a->change_count; i++) {
        const struct change *c = &a->changes[i];
        const bool priority = c->flavor == POLICY_NONE;
        const double from = priority ? (double)c->from : shown(a, r, c->from), to = priority ? (double)c->to : shown(a, r, c->to);
        fprintf(out, "  %s", c->what);
        if (!priority)
            fprintf(out, " of %s on %s", a->m->config.resources[r], flavor_name(a, c->flavor));
        fprintf(out, ": %g -> %g (+%g)", from, to, to - from);
        if (c->then.victim_count > 0) {
            fputs("; ", out);
            print_victims(a, &c->then, out);
        }
        fputs("\n", out);
    }
    if (a->now.not_restored > 0)
        fprintf(out, "%" PRIu32 " workloads that hold quota could not be put back as recorded\n", a->now.not_restored);
}

static cJSON *victims_json(const struct answer *a, const struct mnow_outcome *o)
{
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < o->victim_count; i++) {
        const struct manifest_workload *w = &a->m->workloads[o->victims[i]];
        cJSON *v = cJSON_CreateObject();
        cJSON_AddStringToObject(v, "namespace", w->name_space);
        cJSON_AddStringToObject(v, "name", w->name);
        cJSON_AddStringToObject(v, "rule", policy_evict_reason_name(o->rules[i]));
        cJSON_AddItemToArray(list, v);
    }
    return list;
}

static void changes_json(const struct answer *a, cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "changes");
    const uint32_t r = decisive(a);
    for (int i = 0; i < a->change_count; i++) {
        const struct change *c = &a->changes[i];
        const bool priority = c->flavor == POLICY_NONE;
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "field", c->what);
        if (!priority) {
            cJSON_AddStringToObject(o, "flavor", flavor_name(a, c->flavor));
            cJSON_AddStringToObject(o, "resource", a->m->config.resources[r]);
        }
        cJSON_AddNumberToObject(o, "from", priority ? (double)c->from : shown(a, r, c->from));
        cJSON_AddNumberToObject(o, "to", priority ? (double)c->to : shown(a, r, c->to));
        cJSON_AddItemToObject(o, "evicts", victims_json(a, &c->then));
        cJSON_AddItemToArray(list, o);
    }
}

static void print_json(const struct answer *a, FILE *out)
{
    const struct manifest_workload *w = &a->m->workloads[a->job];
    const struct policy_numbers *n = &a->now.reason.numbers;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "namespace", w->name_space);
    cJSON_AddStringToObject(root, "name", w->name);
    cJSON_AddStringToObject(root, "clusterQueue", a->m->config.cluster_queues[a->queue].name);
    cJSON_AddStringToObject(root, "now", verdict(a));
    cJSON_AddNumberToObject(root, "rank", a->now.rank);
    cJSON_AddItemToObject(root, "evicts", victims_json(a, &a->now));
    if (!a->now.admitted && a->now.has_reason) {
        cJSON *why = cJSON_AddObjectToObject(root, "why");
        cJSON_AddStringToObject(why, "reason", policy_requeue_reason_name(a->now.reason.requeue));
        if (n->flavor != POLICY_NONE) {
            cJSON_AddStringToObject(why, "flavor", flavor_name(a, n->flavor));
            cJSON_AddStringToObject(why, "resource", a->m->config.resources[n->resource]);
            cJSON_AddNumberToObject(why, "requested", shown(a, n->resource, n->requested));
            cJSON_AddNumberToObject(why, "available", shown(a, n->resource, n->available));
            cJSON_AddNumberToObject(why, "nominal", shown(a, n->resource, n->nominal));
            cJSON_AddNumberToObject(why, "used", shown(a, n->resource, n->used));
        }
    }
    manifest_tries_json(a->m, a->queue, &a->now.looked, root);
    if (a->fits >= 0)
        cJSON_AddNumberToObject(root, "largestCount", (double)a->fits);
    changes_json(a, root);
    char *text = cJSON_Print(root);
    fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(root);
}

/* ---- reading ---- */

static uint32_t find_job(const struct manifest *m, const char *file)
{
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].file == file)
            return i;
    return POLICY_NONE;
}

static struct manifest *read_all(const struct manifest_job_options *o)
{
    const char *files[MANIFEST_FILES_MAX + 1];
    struct diag_list diags = {0};
    for (int i = 0; i < o->file_count; i++)
        files[i] = o->files[i];
    files[o->file_count] = o->job;
    struct manifest *m = manifest_read(files, o->file_count + 1, &diags);
    diag_print(&diags, stderr);
    diag_fini(&diags);
    return m;
}

int manifest_job(const struct manifest_job_options *o, FILE *out)
{
    struct answer a = {.m = read_all(o), .fits = -1};
    int status = 2;
    if (a.m == NULL)
        return 2;
    a.job = find_job(a.m, o->job);
    if (a.job == POLICY_NONE) {
        fprintf(stderr, "fleetsim explain: %s: holds no workload with a queue\n", o->job);
    } else if (a.m->workloads[a.job].inadmissible != NULL) {
        fprintf(out, "waits: %s\n", a.m->workloads[a.job].inadmissible);
        status = 1;
    } else {
        a.queue = a.m->config.local_queues[a.m->workloads[a.job].policy.local_queue].cluster_queue;
        const struct mnow_try t = mnow_as_it_is();
        const bool now = starts(&a, &t, &a.now);
        if (!now && a.err.code == ERR_NONE) {
            largest_size(&a);
            smallest_changes(&a);
        }
        if (a.err.code != ERR_NONE)
            fprintf(stderr, "fleetsim explain: %s\n", a.err.text);
        else if (o->json)
            print_json(&a, out);
        else
            print_text(&a, out);
        status = a.err.code != ERR_NONE ? err_exit_status(&a.err) : now ? 0 : 1;
    }
    manifest_free(a.m);
    return status;
}
