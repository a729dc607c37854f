/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pods count for: collapse of containers, namespace quotas, binding and release. */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"
#include "sim/check.h"

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Init containers run one after another: the most of them; the others together: their sum. */
void hami_collapse(const struct hami_grants *lists, int32_t list_count, int32_t init_count,
                   bool app_only, struct hami_usage *usage)
{
    for (int32_t i = init_count; i < list_count; i++)
        for (int32_t k = 0; k < lists[i].count; k++) {
            struct hami_usage *u = &usage[lists[i].items[k].card];
            u->slots++;
            u->mem += lists[i].items[k].mem;
            u->cores += lists[i].items[k].cores;
        }
    for (int32_t i = 0; i < init_count && i < list_count && !app_only; i++)
        for (int32_t k = 0; k < lists[i].count; k++) {
            struct hami_usage *u = &usage[lists[i].items[k].card];
            u->slots = max32(u->slots, 1);
            u->mem = max32(u->mem, lists[i].items[k].mem);
            u->cores = max32(u->cores, lists[i].items[k].cores);
        }
}

/* ---- quotas ---- */

static struct hami_quota *quota_find(const struct hami_cluster *c, const char *ns,
                                     const char *resource)
{
    for (size_t i = 0; resource != NULL && i < c->quota_count; i++)
        if (strcmp(c->quotas[i].ns, ns) == 0 && strcmp(c->quotas[i].resource, resource) == 0)
            return &c->quotas[i];
    return NULL;
}

static struct hami_quota *quota_make(struct hami_cluster *c, const char *ns, const char *resource)
{
    struct hami_quota *q = quota_find(c, ns, resource);
    if (q != NULL || resource == NULL)
        return q;
    c->quotas = mem_grow(c->quotas, &c->quota_capacity, c->quota_count + 1, sizeof(*c->quotas));
    c->quotas[c->quota_count] = (struct hami_quota){.ns = arena_strdup(&c->arena, ns),
                                                    .resource = resource};
    return &c->quotas[c->quota_count++];
}

void hami_quota_set(struct hami_cluster *c, const char *ns, const char *resource, int64_t limit)
{
    for (int v = 0; v < HAMI_VENDORS; v++) {
        const struct hami_backend *b = &hami_backends[v];
        const char *name = b->mem != NULL && strcmp(b->mem, resource) == 0     ? b->mem
                           : b->cores != NULL && strcmp(b->cores, resource) == 0 ? b->cores
                                                                                 : NULL;
        struct hami_quota *q = quota_make(c, ns, name);
        if (q != NULL) {
            q->limit = limit;
            q->limited = true;
            return;
        }
    }
}

bool hami_quota_fits(const struct hami_cluster *c, const char *ns, int vendor, int64_t mem,
                     int64_t cores, int32_t mem_factor)
{
    const struct hami_quota *m = quota_find(c, ns, hami_backends[vendor].mem);
    const struct hami_quota *k = quota_find(c, ns, hami_backends[vendor].cores);
    if (m != NULL && m->limited &&
        m->used + mem > m->limit * (mem_factor > 1 ? mem_factor : 1))
        return false;
    return k == NULL || !k->limited || k->used + cores <= k->limit;
}

void hami_quota_use(struct hami_cluster *c, const char *ns, int vendor, int64_t mem, int64_t cores)
{
    struct hami_quota *m = quota_make(c, ns, hami_backends[vendor].mem);
    if (m != NULL)
        m->used = m->used + mem > 0 ? m->used + mem : 0;
    struct hami_quota *k = quota_make(c, ns, hami_backends[vendor].cores);
    if (k != NULL)
        k->used = k->used + cores > 0 ? k->used + cores : 0;
}

/* ---- bound pods ---- */

struct hami_bound {
    int32_t node, init_count, card_count;
    char *ns;
    bool online, offline;
    struct hami_usage *usage[HAMI_VENDORS];  /* [card], NULL = nothing of this vendor */
    struct hami_grants *lists[HAMI_VENDORS];
    int32_t list_count[HAMI_VENDORS];
    struct arena arena;
};

/* Adds (sign 1) or takes away the pod's usage everywhere. */
static void account(struct hami_cluster *c, const struct hami_bound *b, int32_t sign)
{
    for (int v = 0; v < HAMI_VENDORS; v++) {
        int64_t mem = 0, cores = 0;
        for (int32_t i = 0; b->usage[v] != NULL && i < b->card_count; i++) {
            const struct hami_usage *u = &b->usage[v][i];
            struct hami_use *use = &c->cards[b->node][i].use;
            if (u->slots == 0)
                continue;
            use->used += sign * u->slots;
            use->mem += sign * u->mem;
            use->cores += sign * u->cores;
            use->online += b->online ? sign : 0;
            use->offline += b->offline ? sign : 0;
            mem += u->mem;
            cores += u->cores;
        }
        if (b->usage[v] != NULL)
            hami_quota_use(c, b->ns, v, sign * mem, sign * cores);
    }
}

static void collapse_all(struct hami_bound *b, bool app_only)
{
    for (int v = 0; v < HAMI_VENDORS; v++) {
        if (b->lists[v] == NULL)
            continue;
        b->usage[v] = arena_alloc(&b->arena, (size_t)b->card_count + 1, sizeof(*b->usage[v]));
        hami_collapse(b->lists[v], b->list_count[v], b->init_count, app_only, b->usage[v]);
    }
}

static void copy_lists(struct hami_bound *b, const struct hami_allocation *a)
{
    for (int v = 0; v < HAMI_VENDORS; v++) {
        if (!a->present[v])
            continue;
        b->list_count[v] = a->list_count[v];
        b->lists[v] =
            arena_alloc(&b->arena, (size_t)a->list_count[v] + 1, sizeof(*b->lists[v]));
        for (int32_t i = 0; i < a->list_count[v]; i++) {
            int32_t n = a->lists[v][i].count;
            struct hami_grant *items = arena_alloc(&b->arena, (size_t)n + 1, sizeof(*items));
            if (n > 0)
                memcpy(items, a->lists[v][i].items, (size_t)n * sizeof(*items));
            b->lists[v][i] = (struct hami_grants){items, n};
        }
    }
}

static uint32_t instance_slices(const struct hami_mig_profile *p, int32_t start)
{
    return ((UINT32_C(1) << p->size) - 1) << start;
}

static void instance_remove(struct hami_card_state *s, int32_t profile, int32_t start)
{
    for (size_t i = 0; i < s->instance_count; i++)
        if (s->instances[i].profile == profile && s->instances[i].start == start) {
            memmove(&s->instances[i], &s->instances[i + 1],
                    (s->instance_count - i - 1) * sizeof(*s->instances));
            s->instance_count--;
            return;
        }
    REQUIRE(false); /* an instance that was never placed */
}

/* MIG instances stay for the pod's whole life, those of init containers too. */
static void instances(struct hami_cluster *c, const struct hami_bound *b, bool add)
{
    for (int32_t i = 0; i < b->list_count[HAMI_NVIDIA]; i++)
        for (int32_t k = 0; k < b->lists[HAMI_NVIDIA][i].count; k++) {
            const struct hami_grant *g = &b->lists[HAMI_NVIDIA][i].items[k];
            struct hami_card_state *s = &c->cards[b->node][g->card];
            if (g->profile < 0)
                continue;
            uint32_t mask =
                instance_slices(&c->nodes[b->node].cards[g->card].mig[g->profile], g->start);
            if (add) {
                s->instances = mem_grow(s->instances, &s->instance_capacity,
                                        s->instance_count + 1, sizeof(*s->instances));
                s->instances[s->instance_count++] =
                    (struct hami_mig_instance){g->profile, g->start};
                s->use.mig_taken |= mask;
            } else {
                instance_remove(s, g->profile, g->start);
                s->use.mig_taken &= ~mask;
            }
        }
}

struct hami_bound *hami_bind(struct hami_cluster *c, const struct hami_pod *pod, int32_t node,
                             const struct hami_result *result)
{
    REQUIRE(node >= 0 && node < c->node_count && result->fits);
    struct hami_bound *b = mem_zalloc(1, sizeof(*b));
    const char *class = hami_pod_annotation(pod, "metax-tech.com/sgpu-app-class");
    b->node = node;
    b->init_count = pod->init_count;
    b->card_count = c->nodes[node].card_count;
    b->ns = arena_strdup(&b->arena, pod->ns);
    b->online = class != NULL && strcmp(class, "online") == 0;
    b->offline = class != NULL && strcmp(class, "offline") == 0;
    copy_lists(b, &result->allocation);
    collapse_all(b, false);
    account(c, b, 1);
    instances(c, b, true);
    hami_metax_remember(c, node, pod, &result->allocation);
    return b;
}

void hami_unbind(struct hami_cluster *c, struct hami_bound *b)
{
    account(c, b, -1);
    instances(c, b, false);
    arena_fini(&b->arena);
    free(b);
}

void hami_init_done(struct hami_cluster *c, struct hami_bound *b)
{
    account(c, b, -1);
    collapse_all(b, true);
    account(c, b, 1);
}

struct hami_usage hami_bound_usage(const struct hami_bound *b, int32_t card)
{
    struct hami_usage sum = {0, 0, 0};
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (b->usage[v] != NULL) {
            sum.slots += b->usage[v][card].slots;
            sum.mem += b->usage[v][card].mem;
            sum.cores += b->usage[v][card].cores;
        }
    return sum;
}

int32_t hami_bound_node(const struct hami_bound *b)
{
    return b->node;
}
