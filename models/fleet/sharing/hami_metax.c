/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MetaX: sGPU with quality of service, application class and link zones; whole cards' scores. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"
#include "models/fleet/sharing/hami_sort.h"

enum { LINK_SCORE = 10 };

static bool has_class(const struct hami_pod *pod, const char *name)
{
    const char *class = hami_pod_annotation(pod, "metax-tech.com/sgpu-app-class");
    return class != NULL && strcmp(class, name) == 0;
}

static const char *qos_of(const struct hami_pod *pod)
{
    const char *qos = hami_pod_annotation(pod, "metax-tech.com/sgpu-qos-policy");
    return qos != NULL ? qos : "";
}

/* Cards used by online or offline pods and by others do not mix; no offline pod where an online
 * one runs. */
static bool class_allowed(const struct hami_pod *pod, const struct hami_use *u)
{
    if (u->used == 0)
        return true;
    bool offline = has_class(pod, "offline"), classed = offline || has_class(pod, "online");
    if ((u->online > 0 || u->offline > 0) != classed)
        return false;
    return !(u->online > 0 && offline);
}

static bool qos_allowed(const struct hami_fit *f, int32_t card)
{
    const struct hami_use *u = &f->use[card];
    if (u->used == 0 || f->req.cores == 100)
        return true;
    const char *expected = f->cluster->cards[f->node_index][card].expected_qos;
    const char *qos = expected != NULL ? expected : u->qos;
    return qos[0] == '\0' || strcmp(qos, qos_of(f->pod)) == 0;
}

static int32_t sgpu_memory(const struct hami_fit *f, int32_t card)
{
    int64_t all = hami_fit_card(f, card)->mem;
    return f->req.mem > 0 ? f->req.mem : (int32_t)(all * f->req.mem_percent / 100);
}

static int sgpu_core_reason(const struct hami_fit *f, int32_t card)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    if (d->cores - u->cores < f->req.cores)
        return HAMI_REASON_CORES;
    if (d->cores == 100 && f->req.cores == 100 && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    if (d->cores != 0 && u->cores == d->cores && f->req.cores == 0)
        return HAMI_REASON_EXHAUSTED;
    return -1;
}

static int sgpu_reason(const struct hami_fit *f, int32_t card, bool online, bool mutex)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    const struct hami_backend *b = &hami_backends[f->vendor];
    if (!d->healthy)
        return HAMI_REASON_UNHEALTHY;
    if (!class_allowed(f->pod, u))
        return HAMI_REASON_CLASS;
    if (!online && !qos_allowed(f, card))
        return HAMI_REASON_QOS;
    if (!hami_uuid_allowed(f->pod, d->id, b->use_uuid, b->nouse_uuid))
        return HAMI_REASON_UUID;
    if (d->slots <= u->used)
        return HAMI_REASON_SLOTS;
    if (mutex && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    if (d->mem - u->mem < sgpu_memory(f, card))
        return HAMI_REASON_MEMORY;
    return online ? -1 : sgpu_core_reason(f, card);
}

/* Fewer online pods first, then fewer offline ones; cards with offline pods only come last. */
static bool online_before(const void *context, int32_t a, int32_t b)
{
    const struct hami_fit *f = context;
    const struct hami_use *x = &f->use[f->found.items[a].card];
    const struct hami_use *y = &f->use[f->found.items[b].card];
    bool x_last = x->online == 0 && x->offline > 0, y_last = y->online == 0 && y->offline > 0;
    if (x_last != y_last)
        return y_last;
    if (x_last || x->online == y->online)
        return x->offline < y->offline;
    return x->online < y->online;
}

/* Keeps the grants at these positions, in this order. */
static void keep(struct hami_fit *f, const int32_t *at, int32_t count)
{
    struct hami_grant *out = arena_alloc(f->arena, (size_t)count + 1, sizeof(*out));
    for (int32_t i = 0; i < count; i++)
        out[i] = f->found.items[at[i]];
    f->found = (struct hami_grants){out, count};
    f->capacity = count + 1;
}

static void prefer_online(struct hami_fit *f)
{
    int32_t *at = arena_alloc(f->arena, (size_t)f->found.count, sizeof(*at));
    for (int32_t i = 0; i < f->found.count; i++)
        at[i] = i;
    hami_sort(at, f->found.count, online_before, f);
    keep(f, at, f->req.count);
}

static int32_t zone_at(const struct hami_fit *f, int32_t i)
{
    return hami_fit_card(f, f->found.items[i].card)->link_zone;
}

static int32_t zone_size(const struct hami_fit *f, int32_t zone)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->found.count; i++)
        n += zone_at(f, i) == zone;
    return n;
}

/* The smallest zone larger than (size, zone) in that order, -1 = none. */
static int32_t next_zone(const struct hami_fit *f, int32_t size, int32_t zone)
{
    int32_t best = -1, best_size = 0;
    for (int32_t i = 0; i < f->found.count; i++) {
        int32_t z = zone_at(f, i), n = zone_size(f, z);
        bool later = n > size || (n == size && z > zone);
        if (z > 0 && later && (best < 0 || n < best_size || (n == best_size && z < best))) {
            best = z;
            best_size = n;
        }
    }
    return best;
}

/* Cards of one zone (0 = without zone) into at[]. */
static int32_t gather(const struct hami_fit *f, int32_t zone, int32_t *at, int32_t n)
{
    for (int32_t i = 0; i < f->found.count; i++) {
        int32_t z = zone_at(f, i);
        if (z == zone || (zone == 0 && z <= 0))
            at[n++] = i;
    }
    return n;
}

/* The smallest zone that holds them all; else zones from small to large, then cards without. */
static void prefer_zones(struct hami_fit *f)
{
    int32_t *at = arena_alloc(f->arena, (size_t)f->found.count + 1, sizeof(*at)), n = 0;
    for (int32_t z = next_zone(f, 0, 0); z > 0; z = next_zone(f, zone_size(f, z), z))
        if (zone_size(f, z) >= f->req.count) {
            gather(f, z, at, 0);
            keep(f, at, f->req.count);
            return;
        }
    for (int32_t z = next_zone(f, 0, 0); z > 0; z = next_zone(f, zone_size(f, z), z))
        n = gather(f, z, at, n);
    gather(f, 0, at, n);
    keep(f, at, f->req.count);
}

bool hami_fit_metax_sgpu(struct hami_fit *f)
{
    bool online = has_class(f->pod, "online"), mutex = hami_fit_mutex(f);
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int why = sgpu_reason(f, f->cards[i], online, mutex);
        if (why >= 0)
            f->reason[why]++;
        else
            hami_fit_add(f, f->cards[i], sgpu_memory(f, f->cards[i]), online ? 0 : f->req.cores);
    }
    if (f->found.count < f->req.count)
        return hami_fit_short(f);
    if (f->found.count == f->req.count)
        return true;
    if (online)
        prefer_online(f);
    else if (!has_class(f->pod, "offline") && f->req.cores == 100)
        prefer_zones(f);
    else
        f->found.count = f->req.count;
    return true;
}

bool hami_take_metax_sgpu(const struct hami_fit *f, struct hami_grant *g)
{
    if (!has_class(f->pod, "online"))
        f->use[g->card].qos = g->cores == 100 ? "" : qos_of(f->pod);
    return hami_take_plain(f, g);
}

/* What cards are expected to become, until the node says so (it never does in a simulation). */
void hami_metax_remember(struct hami_cluster *c, int32_t node, const struct hami_pod *pod,
                         const struct hami_allocation *a)
{
    static const char *const known[] = {"best-effort", "fixed-share", "burst-share"};
    const char *qos = "";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i], qos_of(pod)) == 0)
            qos = known[i];
    if (has_class(pod, "online"))
        return;
    for (int32_t i = 0; i < a->list_count[HAMI_METAX_SGPU]; i++) {
        const struct hami_grants *g = &a->lists[HAMI_METAX_SGPU][i];
        for (int32_t k = 0; k < g->count; k++) {
            const char *expected = g->items[k].cores == 100 ? "" : qos;
            const char *now = c->nodes[node].cards[g->items[k].card].qos;
            if (strcmp(expected, now) != 0)
                c->cards[node][g->items[k].card].expected_qos = expected;
        }
    }
}

/* ---- scores ---- */

static bool given(const struct hami_allocation *a, int32_t card, bool exclusive_only)
{
    for (int32_t i = 0; i < a->list_count[HAMI_METAX_SGPU]; i++) {
        const struct hami_grants *g = &a->lists[HAMI_METAX_SGPU][i];
        for (int32_t k = 0; k < g->count; k++)
            if (g->items[k].card == card && (!exclusive_only || g->items[k].cores == 100))
                return true;
    }
    return false;
}

enum link_set { LINK_FREE, LINK_CHOSEN, LINK_REST };

static bool in_set(const struct hami_cluster *c, int32_t node, const struct hami_allocation *a,
                   int32_t card, enum link_set set)
{
    bool chosen = given(a, card, true), idle = c->cards[node][card].use.used == 0;
    return set == LINK_CHOSEN ? chosen : set == LINK_FREE ? idle : idle && !chosen;
}

static int32_t links(const struct hami_cluster *c, int32_t node, const struct hami_allocation *a,
                     enum link_set set)
{
    const struct hami_node *n = &c->nodes[node];
    int32_t score = 0;
    for (int32_t i = 0; i < n->card_count; i++)
        for (int32_t k = i + 1; k < n->card_count; k++)
            if (n->cards[i].link_zone != 0 && n->cards[i].link_zone == n->cards[k].link_zone &&
                in_set(c, node, a, i, set) && in_set(c, node, a, k, set))
                score += LINK_SCORE;
    return score;
}

static int32_t exclusive_score(const struct hami_cluster *c, int32_t node,
                               const struct hami_allocation *a)
{
    int32_t chosen = links(c, node, a, LINK_CHOSEN);
    return 10 * chosen - (links(c, node, a, LINK_FREE) - chosen - links(c, node, a, LINK_REST));
}

static int32_t online_score(const struct hami_cluster *c, int32_t node,
                            const struct hami_allocation *a)
{
    int32_t score = 0;
    for (int32_t i = 0; i < c->nodes[node].card_count; i++) {
        const struct hami_use *u = &c->cards[node][i].use;
        if (!given(a, i, false))
            continue;
        score -= u->offline > 0 && u->online == 0 ? 100 * u->offline
                                                  : 20 * u->online + 2 * u->offline;
    }
    return score;
}

static bool any_grant(const struct hami_allocation *a, bool exclusive_only)
{
    for (int32_t i = 0; i < a->list_count[HAMI_METAX_SGPU]; i++)
        for (int32_t k = 0; k < a->lists[HAMI_METAX_SGPU][i].count; k++)
            if (!exclusive_only || a->lists[HAMI_METAX_SGPU][i].items[k].cores == 100)
                return true;
    return false;
}

static bool topology_wanted(const struct hami_cluster *c, const struct hami_pod *pod)
{
    const char *own = hami_pod_annotation(pod, "metax-tech.com/sgpu-topology-aware");
    bool value;
    return own != NULL && hami_bool(own, &value) ? value : c->cfg.metax_topology_aware;
}

float hami_score_metax_sgpu(const struct hami_cluster *c, int32_t node, int vendor,
                            const struct hami_pod *pod, const struct hami_allocation *a,
                            const char *policy)
{
    (void)vendor;
    int32_t score = 0;
    if (has_class(pod, "online") && any_grant(a, false))
        score = online_score(c, node, a);
    else if (any_grant(a, true) && topology_wanted(c, pod))
        score = exclusive_score(c, node, a);
    float weight = strcmp(policy, "spread") == 0 ? -10000.0F : 10000.0F;
    return weight * (float)score;
}

/* 2000 minus the node's published loss (binpack) or score (spread) for this number of cards. */
float hami_score_metax_gpu(const struct hami_cluster *c, int32_t node, int vendor,
                           const struct hami_pod *pod, const struct hami_allocation *a,
                           const char *policy)
{
    (void)pod;
    const struct hami_node *n = &c->nodes[node];
    int32_t cards = 0;
    for (int32_t i = 0; i < a->list_count[vendor]; i++)
        cards += a->lists[vendor][i].count;
    if (strcmp(policy, "binpack") == 0 && n->has_loss)
        return 2000.0F - (float)(cards < HAMI_METAX_COUNTS ? n->loss[cards] : 0);
    if (strcmp(policy, "spread") == 0 && n->has_score)
        return 2000.0F - (float)(cards < HAMI_METAX_COUNTS ? n->score[cards] : 0);
    return 0;
}
