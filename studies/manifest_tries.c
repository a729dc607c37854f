/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_tries.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *flavor_name(const struct manifest *m, uint32_t id)
{
    return id < m->config.flavor_count && m->config.flavors[id].name != NULL ? m->config.flavors[id].name : "?";
}

static const char *resource_name(const struct manifest *m, uint32_t id)
{
    return id < m->config.resource_count ? m->config.resources[id] : "?";
}

static double shown(const struct manifest *m, uint32_t resource, int64_t amount)
{
    return amount == POLICY_UNLIMITED || amount == POLICY_NIL
               ? (double)NAN
               : (double)amount / (strcmp(resource_name(m, resource), "cpu") == 0 ? 1000.0 : 1.0);
}

static void print_amount(const struct manifest *m, uint32_t resource, int64_t amount, FILE *out)
{
    const double v = shown(m, resource, amount);
    if (isnan(v))
        fputs("unlimited", out);
    else
        fprintf(out, "%.10g", v);
}

static void print_sum(const struct manifest *m, const struct policy_numbers *n, FILE *out)
{
    const int64_t rest = n->available - (n->nominal - n->used);
    fprintf(out, ": nominal %.10g − used %.10g %s %.10g", shown(m, n->resource, n->nominal), shown(m, n->resource, n->used),
            rest < 0 ? "− lent" : "+ borrowable", fabs(shown(m, n->resource, rest)));
}

static void print_limit(const struct manifest *m, const struct policy_numbers *n, const char *name, int64_t limit, FILE *out)
{
    if (limit == POLICY_NIL)
        return;
    fprintf(out, "; %s ", name);
    print_amount(m, n->resource, limit, out);
}

static void print_try(const struct manifest *m, const struct policy_try *t, FILE *out)
{
    const struct policy_numbers *n = &t->numbers;
    fprintf(out, "  %s %s: %s, asks ", flavor_name(m, n->flavor), resource_name(m, n->resource), policy_grade_name(t->grade));
    print_amount(m, n->resource, n->requested, out);
    fputs(", available ", out);
    print_amount(m, n->resource, n->available, out);
    fputs(" of ", out);
    print_amount(m, n->resource, n->nominal, out);
    if (n->available != POLICY_UNLIMITED && n->nominal != POLICY_UNLIMITED && n->used != POLICY_UNLIMITED)
        print_sum(m, n, out);
    print_limit(m, n, "borrowingLimit", n->borrowing_limit, out);
    print_limit(m, n, "lendingLimit", n->lending_limit, out);
    if (n->requested > n->potential)
        fprintf(out, "; never more than %.10g", shown(m, n->resource, n->potential));
    if (n->level > 0)
        fprintf(out, "; borrows at level %" PRIu32, n->level);
    fputs("\n", out);
}

static bool tried(const struct mnow_evaluation *e, uint32_t flavor)
{
    for (uint32_t i = 0; i < e->try_count; i++)
        if (e->tries[i].numbers.flavor == flavor)
            return true;
    return false;
}

/* Flavors of the queue that were not tried, in its order: `fn` for each. */
static void each_not_tried(const struct manifest *m, uint32_t queue, const struct mnow_evaluation *e,
                           void (*fn)(void *ctx, const char *name), void *ctx)
{
    const struct policy_cluster_queue *q = &m->config.cluster_queues[queue];
    for (uint32_t g = 0; g < q->group_count && e->try_count > 0; g++)
        for (uint32_t f = 0; f < q->groups[g].flavor_count; f++)
            if (!tried(e, q->groups[g].flavors[f]))
                fn(ctx, flavor_name(m, q->groups[g].flavors[f]));
}

struct line {
    FILE *out;
    bool begun;
};

static void print_name(void *ctx, const char *name)
{
    struct line *l = ctx;
    fprintf(l->out, "%s %s", l->begun ? "," : "  not tried (labels or taints, or the search had ended):", name);
    l->begun = true;
}

static void print_share(double v, FILE *out)
{
    if (isinf(v))
        fputs("beyond all (weight 0)", out);
    else
        fprintf(out, "%" PRId64, (int64_t)v);
}

void manifest_tries_text(const struct manifest *m, uint32_t queue, const struct mnow_evaluation *e, FILE *out)
{
    struct line l = {out, false};
    for (uint32_t i = 0; i < e->try_count; i++)
        print_try(m, &e->tries[i], out);
    each_not_tried(m, queue, e, print_name, &l);
    fputs(l.begun ? "\n" : "", out);
    for (uint32_t i = 0; i < e->spared_count; i++)
        fprintf(out, "%s %s/%s", i == 0 ? "  fill-back spared" : ",", m->workloads[e->spared[i]].name_space,
                m->workloads[e->spared[i]].name);
    fputs(e->spared_count > 0 ? "\n" : "", out);
    for (uint32_t i = 0; i < e->share_count; i++) {
        fprintf(out, "%s %s ", i == 0 ? "  share of" : ", of", m->config.cluster_queues[e->shares[i].cluster_queue].name);
        print_share(e->shares[i].before, out);
        fputs(" before, ", out);
        print_share(e->shares[i].after, out);
        fputs(" after", out);
    }
    fputs(e->share_count > 0 ? "\n" : "", out);
}

/* ---- JSON ---- */

static void add_number(cJSON *o, const char *key, double v)
{
    if (isnan(v) || isinf(v))
        cJSON_AddNullToObject(o, key);
    else
        cJSON_AddNumberToObject(o, key, v);
}

static cJSON *try_json(const struct manifest *m, const struct policy_try *t)
{
    const struct policy_numbers *n = &t->numbers;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "flavor", flavor_name(m, n->flavor));
    cJSON_AddStringToObject(o, "resource", resource_name(m, n->resource));
    cJSON_AddStringToObject(o, "grade", policy_grade_name(t->grade));
    add_number(o, "asks", shown(m, n->resource, n->requested));
    add_number(o, "available", shown(m, n->resource, n->available));
    add_number(o, "nominal", shown(m, n->resource, n->nominal));
    add_number(o, "used", shown(m, n->resource, n->used));
    add_number(o, "borrowingLimit", shown(m, n->resource, n->borrowing_limit));
    add_number(o, "lendingLimit", shown(m, n->resource, n->lending_limit));
    add_number(o, "most", shown(m, n->resource, n->potential));
    cJSON_AddNumberToObject(o, "level", n->level);
    return o;
}

static void add_name(void *ctx, const char *name)
{
    cJSON_AddItemToArray(ctx, cJSON_CreateString(name));
}

void manifest_tries_json(const struct manifest *m, uint32_t queue, const struct mnow_evaluation *e, cJSON *root)
{
    cJSON *list = cJSON_AddArrayToObject(root, "flavors");
    for (uint32_t i = 0; i < e->try_count; i++)
        cJSON_AddItemToArray(list, try_json(m, &e->tries[i]));
    each_not_tried(m, queue, e, add_name, cJSON_AddArrayToObject(root, "notTried"));
    list = cJSON_AddArrayToObject(root, "spared");
    for (uint32_t i = 0; i < e->spared_count; i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "namespace", m->workloads[e->spared[i]].name_space);
        cJSON_AddStringToObject(o, "name", m->workloads[e->spared[i]].name);
        cJSON_AddItemToArray(list, o);
    }
    list = cJSON_AddArrayToObject(root, "shares");
    for (uint32_t i = 0; i < e->share_count; i++) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddStringToObject(o, "clusterQueue", m->config.cluster_queues[e->shares[i].cluster_queue].name);
        add_number(o, "before", e->shares[i].before);
        add_number(o, "after", e->shares[i].after);
        cJSON_AddItemToArray(list, o);
    }
}
