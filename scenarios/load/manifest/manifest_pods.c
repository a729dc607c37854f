/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pod template as the amounts one pod asks for: LimitRange defaults, limits where requests are
 * missing, containers and init containers as Kubernetes adds them up, overhead, then Kueue's
 * configured transformations.
 */
#include <stdio.h>
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (a == POLICY_UNLIMITED || b == POLICY_UNLIMITED || __builtin_add_overflow(a, b, &sum))
        return POLICY_UNLIMITED;
    return sum;
}

struct pods { /* one pod spec at hand */
    struct mf *r;
    const struct mf_limits *limits; /* of the namespace, or NULL */
    const char **why;
};

static void add(struct mf *r, struct mf_amounts *to, const struct mf_amounts *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const uint32_t id = from->v[i].resource;
        mf_amount_set(&r->tree, to, id, plus(mf_amount_of(to, id, 0), from->v[i].amount));
    }
}

static void keep_max(struct mf *r, struct mf_amounts *to, const struct mf_amounts *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (from->v[i].amount > mf_amount_of(to, from->v[i].resource, 0))
            mf_amount_set(&r->tree, to, from->v[i].resource, from->v[i].amount);
}

static void keep_first(struct mf *r, struct mf_amounts *to, const struct mf_amounts *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (mf_amount_of(to, from->v[i].resource, POLICY_NIL) == POLICY_NIL)
            mf_amount_set(&r->m->mem, to, from->v[i].resource, from->v[i].amount);
}

static void inadmissible(struct pods *p, const char *what, uint32_t resource)
{
    if (*p->why == NULL)
        *p->why = arena_printf(&p->r->m->mem, "%s: %s: %s%s", p->r->path[0] == '.' ? p->r->path + 1 : p->r->path,
                               mf_id_name(&p->r->resources, resource), what, "");
}

/* The container's amounts lie within the LimitRange, and requests within limits. */
static void check_container(struct pods *p, const struct mf_amounts *requests, const struct mf_amounts *limits)
{
    for (uint32_t i = 0; i < requests->count; i++)
        if (requests->v[i].amount > mf_amount_of(limits, requests->v[i].resource, INT64_MAX))
            inadmissible(p, "requests must not exceed its limits", requests->v[i].resource);
    if (p->limits == NULL || !p->limits->set[MF_LIMIT_CONTAINER])
        return;
    const struct mf_amounts *max = &p->limits->max[MF_LIMIT_CONTAINER], *min = &p->limits->min[MF_LIMIT_CONTAINER];
    for (uint32_t i = 0; i < max->count; i++) {
        const uint32_t id = max->v[i].resource;
        const int64_t a = mf_amount_of(requests, id, 0), b = mf_amount_of(limits, id, 0);
        if ((a > b ? a : b) > max->v[i].amount)
            inadmissible(p, "requests must not be above the limitRange max", id);
    }
    for (uint32_t i = 0; i < min->count; i++) {
        const uint32_t id = min->v[i].resource;
        const int64_t a = mf_amount_of(requests, id, INT64_MAX), b = mf_amount_of(limits, id, INT64_MAX);
        const int64_t least = a < b ? a : b;
        if ((least == INT64_MAX ? 0 : least) < min->v[i].amount)
            inadmissible(p, "requests must not be below the limitRange min", id);
    }
}

static struct mf_amounts requests_of(struct pods *p, const struct mnode *resources, const char *at)
{
    struct mf *r = p->r;
    const size_t mark = mf_into(r, "%s", at);
    struct mf_amounts requests = mf_amounts(r, resources, "requests", false);
    struct mf_amounts limits = mf_amounts(r, resources, "limits", false);
    if (p->limits != NULL && p->limits->set[MF_LIMIT_CONTAINER]) {
        keep_first(r, &limits, &p->limits->defaults[MF_LIMIT_CONTAINER]);
        keep_first(r, &requests, &p->limits->default_requests[MF_LIMIT_CONTAINER]);
    }
    keep_first(r, &requests, &limits);
    mf_out(r, mark);
    for (uint32_t i = 0; i < requests.count; i++)
        if (strcmp(mf_id_name(&r->resources, requests.v[i].resource), "pods") == 0)
            mf_error(r, resources, NULL, "Invalid value: \"pods\": the key is reserved for internal kueue use");
    check_container(p, &requests, &limits);
    return requests;
}

/* Init containers run one after the other, beside the sidecars that started before them. */
static void init_containers(struct pods *p, const struct mnode *list, struct mf_amounts *total)
{
    struct mf_amounts sidecars = {0}, largest = {0};
    unsigned at = 0;
    for (const struct mnode *c = mnode_first(list); c != NULL; c = c->next, at++) {
        const size_t mark = mf_into(p->r, ".initContainers[%u]", at);
        struct mf_amounts one = {0};
        const struct mf_amounts own = requests_of(p, mnode_get(c, "resources"), ".resources");
        if (strcmp(mnode_text(c, "restartPolicy", ""), "Always") == 0) {
            add(p->r, &sidecars, &own);
            add(p->r, &one, &sidecars);
        } else {
            add(p->r, &one, &own);
            add(p->r, &one, &sidecars);
        }
        keep_max(p->r, &largest, &one);
        mf_out(p->r, mark);
    }
    add(p->r, total, &sidecars);
    keep_max(p->r, total, &largest);
}

static void check_pod(struct pods *p, const struct mf_amounts *total)
{
    if (p->limits == NULL || !p->limits->set[MF_LIMIT_POD])
        return;
    const struct mf_amounts *max = &p->limits->max[MF_LIMIT_POD], *min = &p->limits->min[MF_LIMIT_POD];
    for (uint32_t i = 0; i < max->count; i++)
        if (mf_amount_of(total, max->v[i].resource, 0) > max->v[i].amount)
            inadmissible(p, "requests must not be above the limitRange max", max->v[i].resource);
    for (uint32_t i = 0; i < min->count; i++)
        if (mf_amount_of(total, min->v[i].resource, 0) < min->v[i].amount)
            inadmissible(p, "requests must not be below the limitRange min", min->v[i].resource);
}

static struct mf_amounts pod_requests(struct pods *p, const struct mnode *spec)
{
    struct mf *r = p->r;
    struct mf_amounts total = {0};
    unsigned at = 0;
    for (const struct mnode *c = mnode_first(mf_list(r, spec, "containers")); c != NULL; c = c->next, at++) {
        const size_t mark = mf_into(r, ".containers[%u]", at);
        const struct mf_amounts one = requests_of(p, mnode_get(c, "resources"), ".resources");
        add(r, &total, &one);
        mf_out(r, mark);
    }
    init_containers(p, mf_list(r, spec, "initContainers"), &total);
    const struct mnode *pod_level = mf_map(r, spec, "resources");
    if (pod_level != NULL) { /* what the pod asks for as a whole replaces the sum */
        struct mf_amounts whole = mf_amounts(r, pod_level, "requests", false);
        const struct mf_amounts limits = mf_amounts(r, pod_level, "limits", false);
        keep_first(r, &whole, &limits);
        for (uint32_t i = 0; i < whole.count; i++)
            mf_amount_set(&r->tree, &total, whole.v[i].resource, whole.v[i].amount);
    }
    const struct mf_amounts overhead = mf_amounts(r, spec, "overhead", false);
    add(r, &total, &overhead);
    check_pod(p, &total);
    return total;
}

/* ---- configured transformations (Configuration resources.*) ---- */

static bool is_excluded(const struct mf *r, const char *name)
{
    for (uint32_t i = 0; i < r->excluded_count; i++)
        if (strncmp(name, r->excluded[i], strlen(r->excluded[i])) == 0)
            return true;
    return false;
}

static bool is_milli(const char *name)
{
    return strcmp(name, "cpu") == 0;
}

static bool apply_one(struct mf *r, const struct mf_transformation *t, const struct policy_amount *from,
                      struct mf_amounts *to)
{
    const double units = (double)from->amount / (is_milli(t->input) ? 1000.0 : 1.0);
    for (uint32_t i = 0; i < t->output_count; i++) {
        const double v = units * t->factors[i] * (is_milli(t->outputs[i]) ? 1000.0 : 1.0);
        const uint32_t id = mf_id(&r->resources, t->outputs[i]);
        int64_t whole = v >= 9e18 ? POLICY_UNLIMITED : v <= -9e18 ? -POLICY_UNLIMITED : (int64_t)v;
        whole += whole != POLICY_UNLIMITED && (double)whole < v; /* rounded up */
        mf_amount_set(&r->tree, to, id, plus(mf_amount_of(to, id, 0), whole));
    }
    return t->replace;
}

void mf_transform(struct mf *r, struct mf_amounts *requests)
{
    struct mf_amounts to = {0};
    if (r->excluded_count == 0 && r->transformation_count == 0)
        return;
    for (uint32_t i = 0; i < requests->count; i++) {
        const struct policy_amount *a = &requests->v[i];
        const char *name = mf_id_name(&r->resources, a->resource);
        bool replaced = is_excluded(r, name);
        for (uint32_t t = 0; t < r->transformation_count && !replaced; t++)
            if (strcmp(r->transformations[t].input, name) == 0)
                replaced = apply_one(r, &r->transformations[t], a, &to);
        if (!replaced)
            mf_amount_set(&r->tree, &to, a->resource,
                          plus(mf_amount_of(&to, a->resource, 0), a->amount));
    }
    *requests = to;
}

/* ---- the pod set ---- */

static void affinity(struct mf *r, const struct mnode *spec, struct policy_pod_set *to)
{
    const struct mnode *terms = mnode_at(
        spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    struct policy_selector *list = arena_alloc(&r->m->mem, (size_t)mnode_count(terms) + 1, sizeof *list);
    const size_t mark = mf_into(r, ".affinity.nodeAffinity");
    for (const struct mnode *t = mnode_first(terms); t != NULL; t = t->next) {
        list[to->affinity_term_count++] = mf_selector(r, t);
        if (mnode_get(t, "matchFields") != NULL)
            mf_unsupported(r, "node affinity matchFields");
    }
    to->affinity_terms = list;
    mf_out(r, mark);
}

void mf_pod_spec(struct mf *r, const struct mnode *spec, uint32_t name_space,
                 struct policy_pod_set *to, const char **why)
{
    const bool limited = name_space < r->limits_capacity;
    struct pods p = {r, limited ? &r->limits[name_space] : NULL, why};
    struct mf_amounts requests = pod_requests(&p, spec);
    mf_transform(r, &requests);
    struct policy_amount *copy = arena_alloc(&r->m->mem, (size_t)requests.count + 1, sizeof *copy);
    if (requests.count > 0)
        memcpy(copy, requests.v, requests.count * sizeof *copy);
    to->requests = copy;
    to->request_count = requests.count;
    to->node_selector = mf_labels(r, spec, "nodeSelector", &to->node_selector_count);
    to->tolerations = mf_tolerations(r, spec, "tolerations", &to->toleration_count);
    affinity(r, spec, to);
    if (mnode_get(spec, "resourceClaims") != NULL)
        mf_unsupported(r, "resourceClaims of pods (dynamic resource allocation)");
    if (mnode_get(spec, "runtimeClassName") != NULL && mnode_get(spec, "overhead") == NULL)
        mf_unsupported(r, "overhead of a runtimeClassName");
}

/* ---- topology requests ---- */

static void slices(struct mf *r, const struct mnode *t, struct policy_topology_request *to)
{
    const struct mnode *list = mf_list(r, t, "podsetSliceRequiredTopologyConstraints");
    if (mnode_count(list) > POLICY_SLICES_MAX)
        mf_error(r, list, "podsetSliceRequiredTopologyConstraints", "Too many: must have at most 3 items");
    for (const struct mnode *s = mnode_first(list); s != NULL && to->slice_count < POLICY_SLICES_MAX; s = s->next) {
        to->slices[to->slice_count].level = mf_keep(r, mf_string(r, s, "topology", ""));
        to->slices[to->slice_count++].size = mf_int(r, s, "size", 1, INT32_MAX, 1);
    }
    const char *level = mf_string(r, t, "podSetSliceRequiredTopology", "");
    if (to->slice_count == 0 && level[0] != '\0') {
        to->slices[0].level = mf_keep(r, level);
        to->slices[0].size = mf_int(r, t, "podSetSliceSize", 1, INT32_MAX, 0);
        to->slice_count = 1;
    }
}

void mf_topology_request(struct mf *r, const struct mnode *t, struct policy_topology_request *to)
{
    const char *required = mf_string(r, t, "required", ""), *preferred = mf_string(r, t, "preferred", "");
    const char *group = mf_string(r, t, "podSetGroupName", "");
    *to = (struct policy_topology_request){.mode = POLICY_TOPOLOGY_NONE};
    slices(r, t, to);
    to->group = group[0] != '\0' ? mf_keep(r, group) : NULL;
    if (required[0] != '\0' || preferred[0] != '\0') {
        to->mode = required[0] != '\0' ? POLICY_TOPOLOGY_REQUIRED : POLICY_TOPOLOGY_PREFERRED;
        to->level = mf_keep(r, required[0] != '\0' ? required : preferred);
    } else if (mnode_get(t, "unconstrained") != NULL) {
        to->mode = POLICY_TOPOLOGY_UNCONSTRAINED;
    } else if (to->slice_count > 0) {
        to->mode = POLICY_TOPOLOGY_SLICES;
    }
}

static const char *annotation(const struct mnode *a, const char *name)
{
    char key[96];
    snprintf(key, sizeof key, "kueue.x-k8s.io/%s", name);
    return mnode_text(a, key, "");
}

void mf_topology_annotations(struct mf *r, const struct mnode *a, struct policy_topology_request *to)
{
    const char *required = annotation(a, "podset-required-topology");
    const char *preferred = annotation(a, "podset-preferred-topology");
    const char *slice = annotation(a, "podset-slice-required-topology");
    const char *group = annotation(a, "podset-group-name");
    *to = (struct policy_topology_request){.mode = POLICY_TOPOLOGY_NONE};
    if (required[0] != '\0' || preferred[0] != '\0') {
        to->mode = required[0] != '\0' ? POLICY_TOPOLOGY_REQUIRED : POLICY_TOPOLOGY_PREFERRED;
        to->level = mf_keep(r, required[0] != '\0' ? required : preferred);
    } else if (strcmp(annotation(a, "podset-unconstrained-topology"), "true") == 0) {
        to->mode = POLICY_TOPOLOGY_UNCONSTRAINED;
    } else if (slice[0] != '\0') {
        to->mode = POLICY_TOPOLOGY_SLICES;
    }
    if (slice[0] != '\0') {
        int64_t size = 0;
        for (const char *c = annotation(a, "podset-slice-size"); *c >= '0' && *c <= '9' && size < INT32_MAX; c++)
            size = size * 10 + (*c - '0');
        to->slices[0].level = mf_keep(r, slice);
        to->slices[0].size = size;
        to->slice_count = 1;
    }
    to->group = group[0] != '\0' ? mf_keep(r, group) : NULL;
}
