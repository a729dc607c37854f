/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_hami.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/hami.h"
#include "sim/arena.h"
#include "studies/conform_report.h"
#include "studies/hami_json.h"
#include "studies/jsonl.h"

/* A bound pod of the case at hand. */
struct live {
    const char *pod;
    struct hami_bound *bound;
};

struct replay {
    struct conform_report *report;
    struct hami_cluster *cluster;
    struct hami_node *nodes;
    int32_t node_count;
    struct live *live;
    size_t live_count, live_capacity;
    struct arena arena;      /* of the case */
};

static void put(struct arena *a, const char **text, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends to *text. */
static void put(struct arena *a, const char **text, const char *fmt, ...)
{
    char part[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(part, sizeof(part), fmt, args);
    va_end(args);
    *text = arena_printf(a, "%s%s", *text, part);
}

/* ---- requests ---- */

static const char *our_request(const struct hami_container *c, struct arena *a)
{
    const char *text = "";
    for (int v = 0; v < HAMI_VENDORS; v++) {
        const struct hami_request *r = &c->request[v];
        if (r->count > 0)
            put(a, &text, "%s[%d,%d,%d,%d]", hami_vendor_name(v), r->count, r->mem, r->mem_percent,
                r->cores);
    }
    return text;
}

static const char *recorded_request(const cJSON *row, struct arena *a)
{
    const char *text = "";
    for (int v = 0; v < HAMI_VENDORS; v++) {
        const cJSON *r = jsonl_get(row, hami_vendor_name(v));
        if (r != NULL)
            put(a, &text, "%s[%d,%d,%d,%d]", hami_vendor_name(v), (int)jsonl_at(r, 0, -1),
                (int)jsonl_at(r, 1, -1), (int)jsonl_at(r, 2, -1), (int)jsonl_at(r, 3, -1));
    }
    return text;
}

static void compare_requests(struct replay *p, const cJSON *event, const struct hami_pod *pod)
{
    const cJSON *req = jsonl_get(event, "req");
    conform_int(p->report, "containers", pod->container_count,
                req != NULL ? cJSON_GetArraySize(req) : pod->container_count);
    for (int32_t i = 0; i < pod->container_count && req != NULL; i++)
        conform_text(p->report, "request", our_request(&pod->containers[i], &p->arena),
                     recorded_request(cJSON_GetArrayItem(req, i), &p->arena));
}

/* ---- cards of a candidate ---- */

static int compare_strings(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* "[card,card]"; the halves of 910C modules are recorded by name. */
static void put_list(struct arena *a, const char **text, const char **items, size_t n, bool sorted)
{
    if (sorted)
        qsort(items, n, sizeof(*items), compare_strings);
    put(a, text, "[");
    for (size_t i = 0; i < n; i++)
        put(a, text, "%s%s", i > 0 ? " " : "", items[i]);
    put(a, text, "]");
}

static const char *our_grant(const struct hami_node *node, const struct hami_grant *g,
                             struct arena *a)
{
    const struct hami_card *d = &node->cards[g->card];
    const char *text = arena_printf(a, "%s:%d,%d", d->id, g->mem, g->cores);
    if (g->profile >= 0)
        put(a, &text, ",%s,%d,%d", d->mig[g->profile].name, g->start, d->mig[g->profile].size);
    return text;
}

static const char *our_cards(const struct hami_node *node, const struct hami_allocation *al,
                             const cJSON *recorded, struct arena *a)
{
    const char *text = "";
    for (int v = 0; v < HAMI_VENDORS; v++) {
        /* vendors that nothing was asked of are not recorded */
        if (!al->present[v] || jsonl_get(recorded, hami_vendor_name(v)) == NULL)
            continue;
        put(a, &text, "%s", hami_vendor_name(v));
        for (int32_t i = 0; i < al->list_count[v]; i++) {
            const struct hami_grants *g = &al->lists[v][i];
            const char **items = arena_alloc(a, (size_t)g->count + 1, sizeof(*items));
            for (int32_t k = 0; k < g->count; k++)
                items[k] = our_grant(node, &g->items[k], a);
            put_list(a, &text, items, (size_t)g->count, v == HAMI_910C);
        }
    }
    return text;
}

static const char *recorded_grant(const cJSON *row, struct arena *a)
{
    const cJSON *id = cJSON_GetArrayItem(row, 0), *profile = cJSON_GetArrayItem(row, 3);
    const char *text = arena_printf(a, "%s:%d,%d", cJSON_IsString(id) ? id->valuestring : "?",
                                    (int)jsonl_at(row, 1, -1), (int)jsonl_at(row, 2, -1));
    if (cJSON_IsString(profile))
        put(a, &text, ",%s,%d,%d", profile->valuestring, (int)jsonl_at(row, 4, -1),
            (int)jsonl_at(row, 5, -1));
    return text;
}

static const char *recorded_cards(const cJSON *d, struct arena *a)
{
    const char *text = "";
    for (int v = 0; v < HAMI_VENDORS; v++) {
        const cJSON *lists = jsonl_get(d, hami_vendor_name(v)), *list, *row;
        if (lists == NULL)
            continue;
        put(a, &text, "%s", hami_vendor_name(v));
        cJSON_ArrayForEach(list, lists)
        {
            size_t n = 0;
            const char **items =
                arena_alloc(a, (size_t)cJSON_GetArraySize(list) + 1, sizeof(*items));
            cJSON_ArrayForEach(row, list)
                items[n++] = recorded_grant(row, a);
            put_list(a, &text, items, n, v == HAMI_910C);
        }
    }
    return text;
}

static const cJSON *candidate_named(const cJSON *event, const char *node)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, jsonl_get(event, "cand"))
        if (strcmp(jsonl_string(row, "n", ""), node) == 0)
            return row;
    return NULL;
}

static void compare_node(struct replay *p, const cJSON *event, int32_t n,
                         const struct hami_result *r)
{
    const char *name = p->nodes[n].name;
    const cJSON *row = candidate_named(event, name);
    const char *fail = jsonl_string(jsonl_get(event, "fail"), name, "");
    const cJSON *d = jsonl_get(row, "d");
    struct arena *a = &p->arena;
    conform_text(p->report, "reason",
                 arena_printf(a, "%s %s", name, r->fits ? "fits" : r->reason),
                 arena_printf(a, "%s %s", name, row != NULL ? "fits" : fail));
    if (!r->fits || row == NULL)
        return;
    const char *ours = our_cards(&p->nodes[n], &r->allocation, d, a);
    conform_text(p->report, "cards", arena_printf(a, "%s %s", name, ours),
                 arena_printf(a, "%s %s", name, recorded_cards(d, a)));
    conform_text(p->report, "score", arena_printf(a, "%s %.9g", name, (double)r->score),
                 arena_printf(a, "%s %.9g", name, (double)(float)jsonl_double(row, "s", -1)));
}

/* ---- the choice and what it counts for ---- */

static int32_t node_named(const struct replay *p, const char *name)
{
    for (int32_t n = 0; n < p->node_count; n++)
        if (strcmp(p->nodes[n].name, name) == 0)
            return n;
    return -1;
}

/* The recorded node must be one of the best; how many are is recorded when it is more than one. */
static void compare_choice(struct replay *p, const cJSON *event, const struct hami_pod *pod,
                           const struct hami_result *r, int32_t chosen)
{
    int32_t best = -1;
    int64_t equal = 0;
    for (int32_t n = 0; n < p->node_count; n++)
        if (r[n].fits && (best < 0 || hami_better(p->cluster, pod, r[n].score, r[best].score)))
            best = n;
    bool is_best = chosen < 0 ? best < 0
                              : best >= 0 && r[chosen].fits &&
                                    !hami_better(p->cluster, pod, r[best].score, r[chosen].score);
    const char *recorded = chosen < 0 ? "none" : p->nodes[chosen].name;
    conform_text(p->report, "node",
                 is_best ? recorded : best < 0 ? "none" : p->nodes[best].name, recorded);
    for (int32_t n = 0; n < p->node_count && best >= 0; n++)
        equal += r[n].fits && !hami_better(p->cluster, pod, r[best].score, r[n].score);
    conform_int(p->report, "tied nodes", equal > 1 ? equal : 0, jsonl_int(event, "tie", 0));
}

static const char *our_usage(const struct replay *p, const struct hami_bound *b, struct arena *a)
{
    const char *text = "";
    const struct hami_node *node = &p->nodes[hami_bound_node(b)];
    for (int32_t i = 0; i < node->card_count; i++) {
        struct hami_usage u = hami_bound_usage(b, i);
        if (u.slots > 0)
            put(a, &text, "%s:%d,%d,%d ", node->cards[i].id, u.slots, u.mem, u.cores);
    }
    return text;
}

static const char *recorded_usage(const struct replay *p, int32_t node, const cJSON *acct,
                                  struct arena *a)
{
    const char *text = "";
    for (int32_t i = 0; i < p->nodes[node].card_count; i++) {
        const cJSON *u = jsonl_get(acct, p->nodes[node].cards[i].id);
        if (u != NULL)
            put(a, &text, "%s:%d,%d,%d ", p->nodes[node].cards[i].id, (int)jsonl_at(u, 0, -1),
                (int)jsonl_at(u, 1, -1), (int)jsonl_at(u, 2, -1));
    }
    return text;
}

static void compare_usage(struct replay *p, const cJSON *event, const struct hami_bound *b)
{
    conform_text(p->report, "usage", our_usage(p, b, &p->arena),
                 recorded_usage(p, hami_bound_node(b), jsonl_get(event, "acct"), &p->arena));
}

static void decide(struct replay *p, const cJSON *event, const struct hami_pod *pod)
{
    struct hami_result *r = hami_decide(p->cluster, pod, &p->arena);
    conform_text(p->report, "error", r == NULL ? "weights" : "", jsonl_string(event, "err", ""));
    if (r == NULL || jsonl_get(event, "err") != NULL)
        return;
    for (int32_t n = 0; n < p->node_count; n++)
        compare_node(p, event, n, &r[n]);
    const char *name = jsonl_string(event, "node", NULL);
    int32_t chosen = name != NULL ? node_named(p, name) : -1;
    compare_choice(p, event, pod, r, chosen);
    if (chosen < 0 || !r[chosen].fits)
        return;
    struct hami_bound *b = hami_bind(p->cluster, pod, chosen, &r[chosen]);
    compare_usage(p, event, b);
    p->live = mem_grow(p->live, &p->live_capacity, p->live_count + 1, sizeof(*p->live));
    p->live[p->live_count++] = (struct live){jsonl_string(event, "pod", ""), b};
}

/* ---- events ---- */

static bool on_add(struct replay *p, const cJSON *event, struct err *e)
{
    static const char *const outcomes[] = {
        [HAMI_ADMITTED] = "", [HAMI_REFUSED] = "error", [HAMI_OVER_QUOTA] = "quota"};
    struct hami_pod pod;
    if (!hami_json_pod(event, &pod, &p->arena, e))
        return false;
    enum hami_admission outcome = hami_admit(p->cluster, &pod, &p->arena);
    conform_text(p->report, "admission", outcomes[outcome], jsonl_string(event, "admit", ""));
    if (outcome != HAMI_ADMITTED || jsonl_get(event, "admit") != NULL)
        return true;
    compare_requests(p, event, &pod);
    bool pass = !hami_asks(&pod);
    conform_int(p->report, "passes", pass, jsonl_bool(event, "pass", false));
    if (!pass && !jsonl_bool(event, "pass", false))
        decide(p, event, &pod);
    return true;
}

static struct live *live_named(const struct replay *p, const char *pod)
{
    for (size_t i = 0; i < p->live_count; i++)
        if (strcmp(p->live[i].pod, pod) == 0)
            return &p->live[i];
    return NULL;
}

static bool on_event(struct replay *p, const cJSON *event, struct err *e)
{
    const char *kind = jsonl_string(event, "e", ""), *pod = jsonl_string(event, "pod", "");
    conform_at(p->report, "%s %s", kind, pod);
    if (strcmp(kind, "add") == 0)
        return on_add(p, event, e);
    struct live *l = live_named(p, pod);
    if (strcmp(kind, "del") == 0 || strcmp(kind, "done") == 0) {
        if (l != NULL) { /* a pod that was never placed has nothing to give back */
            hami_unbind(p->cluster, l->bound);
            *l = p->live[--p->live_count];
        }
        return true;
    }
    if (strcmp(kind, "init_done") == 0) {
        if (l != NULL) {
            hami_init_done(p->cluster, l->bound);
            compare_usage(p, event, l->bound);
        }
        return true;
    }
    return strcmp(kind, "term") == 0 ||
           err_set(e, ERR_INPUT, "unknown event '%s' (add, del, done, term, init_done)", kind);
}

/* ---- the end of a case ---- */

static const char *join_sorted(const char **rows, size_t n, struct arena *a)
{
    const char *text = "";
    qsort(rows, n, sizeof(*rows), compare_strings);
    for (size_t i = 0; i < n; i++)
        put(a, &text, "{%s}", rows[i]);
    return text;
}

static const char *our_instances(struct replay *p, int32_t node, int32_t card)
{
    const char *rows[64] = {NULL};
    struct arena *a = &p->arena;
    int32_t n = 0, profile, start;
    while (n < 64 && hami_card_instance(p->cluster, node, card, n, &profile, &start))
        rows[n++] =
            arena_printf(a, "%d,%s", start, p->nodes[node].cards[card].mig[profile].name);
    return join_sorted(rows, (size_t)n, a);
}

static const char *recorded_instances(const cJSON *list, struct arena *a)
{
    const char *rows[64] = {NULL};
    size_t n = 0;
    const cJSON *row;
    cJSON_ArrayForEach(row, list)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 1);
        if (n < 64)
            rows[n++] = arena_printf(a, "%d,%s", (int)jsonl_at(row, 0, -1),
                                     cJSON_IsString(name) ? name->valuestring : "?");
    }
    return join_sorted(rows, n, a);
}

static void compare_final(struct replay *p, const cJSON *final)
{
    struct arena *a = &p->arena;
    conform_at(p->report, "end");
    for (int32_t n = 0; n < p->node_count; n++)
        for (int32_t i = 0; i < p->nodes[n].card_count; i++) {
            const char *id = p->nodes[n].cards[i].id;
            const cJSON *row = jsonl_get(final, id);
            struct hami_usage u = hami_card_usage(p->cluster, n, i);
            conform_text(p->report, "final",
                         arena_printf(a, "%s %d,%d,%d%s", id, u.slots, u.mem, u.cores,
                                      our_instances(p, n, i)),
                         arena_printf(a, "%s %d,%d,%d%s", id, (int)jsonl_at(row, 0, 0),
                                      (int)jsonl_at(row, 1, 0), (int)jsonl_at(row, 2, 0),
                                      recorded_instances(cJSON_GetArrayItem(row, 3), a)));
        }
}

static void set_quotas(struct replay *p, const cJSON *quotas)
{
    static const char prefix[] = "limits.";
    const cJSON *quota, *limit;
    cJSON_ArrayForEach(quota, quotas)
        cJSON_ArrayForEach(limit, jsonl_get(quota, "hard"))
        {
            int64_t value;
            bool unit;
            if (strncmp(limit->string, prefix, sizeof(prefix) - 1) == 0 &&
                hami_json_quantity(limit, &value, &unit))
                hami_quota_set(p->cluster, jsonl_string(quota, "ns", ""),
                               limit->string + sizeof(prefix) - 1, value);
        }
}

static bool replay_case(struct conform_report *report, const cJSON *o, struct err *e)
{
    struct replay p = {.report = report};
    const cJSON *event;
    bool ok = false;
    p.nodes = hami_json_nodes(jsonl_get(o, "nodes"), &p.node_count, &p.arena, e);
    if (p.nodes != NULL) {
        struct hami_config cfg = hami_json_config(jsonl_get(o, "config"));
        p.cluster = hami_cluster_create(&cfg, p.nodes, p.node_count);
        set_quotas(&p, jsonl_get(o, "quota"));
        conform_begin(report, jsonl_string(o, "family", "?"), jsonl_string(o, "id", "?"));
        ok = true;
        cJSON_ArrayForEach(event, jsonl_get(o, "events"))
            ok = ok && on_event(&p, event, e);
        if (ok)
            compare_final(&p, jsonl_get(o, "final"));
        conform_end(report);
    }
    for (size_t i = 0; i < p.live_count; i++)
        hami_unbind(p.cluster, p.live[i].bound);
    free(p.live);
    hami_cluster_destroy(p.cluster);
    arena_fini(&p.arena);
    return ok;
}

static bool replay_file(struct conform_report *r, const char *path, struct err *e)
{
    struct jsonl *f = jsonl_open(path, e);
    cJSON *o;
    bool ok = f != NULL;
    while (ok && (o = jsonl_next(f, e)) != NULL) {
        ok = replay_case(r, o, e);
        cJSON_Delete(o);
    }
    if (f != NULL)
        jsonl_close(f);
    return ok && e->code == ERR_NONE;
}

int conform_hami_files(int n, char **files, FILE *out)
{
    struct conform_report *r = mem_zalloc(1, sizeof(*r));
    struct err e = {0};
    bool ok = n > 0 || err_set(&e, ERR_INPUT, "no file given");
    for (int i = 0; ok && i < n; i++)
        ok = replay_file(r, files[i], &e);
    if (!ok)
        fprintf(stderr, "error: %s\n", e.text);
    int status = ok ? conform_print(r, "HAMi scheduler, recorded decisions", out) : 2;
    free(r);
    return status;
}
