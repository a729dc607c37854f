/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster and the decision: per node containers one after another, card order, scores. */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"
#include "models/fleet/sharing/hami_sort.h"
#include "sim/check.h"

struct hami_cluster *hami_cluster_create(const struct hami_config *cfg,
                                         const struct hami_node *nodes, int32_t node_count)
{
    struct hami_cluster *c = mem_zalloc(1, sizeof(*c));
    c->cfg = *cfg;
    c->nodes = nodes;
    c->node_count = node_count;
    c->cards = mem_zalloc((size_t)node_count + 1, sizeof(struct hami_card_state *));
    for (int32_t n = 0; n < node_count; n++) {
        c->cards[n] = mem_zalloc((size_t)nodes[n].card_count + 1, sizeof(**c->cards));
        for (int32_t i = 0; i < nodes[n].card_count; i++) {
            const struct hami_card *d = &nodes[n].cards[i];
            c->cards[n][i].use = (struct hami_use){.neuron = -1, .qos = d->qos != NULL ? d->qos : ""};
            if (d->vendor == HAMI_NEURON && c->neuron_cores == 0)
                c->neuron_cores = d->slots;
        }
    }
    return c;
}

void hami_cluster_destroy(struct hami_cluster *c)
{
    if (c == NULL)
        return;
    for (int32_t n = 0; n < c->node_count; n++) {
        for (int32_t i = 0; i < c->nodes[n].card_count; i++)
            free(c->cards[n][i].instances);
        free(c->cards[n]);
    }
    free(c->cards);
    free(c->quotas);
    arena_fini(&c->arena);
    free(c);
}

struct hami_usage hami_card_usage(const struct hami_cluster *c, int32_t node, int32_t card)
{
    const struct hami_use *u = &c->cards[node][card].use;
    return (struct hami_usage){u->used, u->mem, u->cores};
}

bool hami_card_instance(const struct hami_cluster *c, int32_t node, int32_t card, int32_t i,
                        int32_t *profile, int32_t *start)
{
    const struct hami_card_state *s = &c->cards[node][card];
    if (i < 0 || (size_t)i >= s->instance_count)
        return false;
    *profile = s->instances[i].profile;
    *start = s->instances[i].start;
    return true;
}

bool hami_better(const struct hami_cluster *c, const struct hami_pod *pod, float a, float b)
{
    return strcmp(hami_node_policy(c, pod), "spread") == 0 ? a < b : a > b;
}

/* ---- order of cards ---- */

enum sort_key { KEY_BINPACK, KEY_SPREAD, KEY_NUMA, KEY_COUNT };

/* The cards of one node while a pod is decided on it. */
struct board {
    const struct hami_node *node;
    struct hami_use *use;
    int32_t *order;            /* list order, kept between containers */
    float *score;
    bool chain, mutex, numa_bind, binpack;
    enum sort_key key[KEY_COUNT + 1];
    int32_t key_count;
};

/* The recognised words of a comma list, in order, each once. */
static int32_t chain_keys(const char *policy, enum sort_key *key)
{
    static const char *const names[KEY_COUNT] = {"binpack", "spread", "numa"};
    int32_t n = 0;
    for (const char *p = policy; p != NULL; p = strchr(p, ',')) {
        p += *p == ',';
        while (*p == ' ' || *p == '\t')
            p++;
        size_t length = strcspn(p, ",");
        while (length > 0 && (p[length - 1] == ' ' || p[length - 1] == '\t'))
            length--;
        for (int k = 0; k < KEY_COUNT; k++) {
            bool seen = false;
            for (int32_t i = 0; i < n; i++)
                seen |= key[i] == (enum sort_key)k;
            if (!seen && length == strlen(names[k]) && memcmp(p, names[k], length) == 0)
                key[n++] = (enum sort_key)k;
        }
    }
    return n;
}

static void board_policy(struct board *b, const struct hami_cluster *c, const struct hami_pod *pod)
{
    const char *policy = hami_card_policy(c, pod);
    b->numa_bind = hami_true(hami_pod_annotation(pod, "nvidia.com/numa-bind"));
    b->chain = strchr(policy, ',') != NULL || strcmp(policy, "numa") == 0;
    b->mutex = strcmp(policy, "mutex") == 0;
    b->binpack = strcmp(policy, "binpack") == 0;
    b->key_count = chain_keys(policy, b->key);
    if (b->key_count == 0)
        b->key[b->key_count++] = KEY_SPREAD;
    if (!b->numa_bind || b->key[0] == KEY_NUMA)
        return;
    int32_t n = 0; /* NUMA first, then the others as written */
    for (int32_t i = 0; i < b->key_count; i++)
        if (b->key[i] != KEY_NUMA)
            b->key[n++] = b->key[i];
    memmove(b->key + 1, b->key, (size_t)n * sizeof(b->key[0]));
    b->key[0] = KEY_NUMA;
    b->key_count = n + 1;
}

static bool chain_before(const struct board *b, int32_t x, int32_t y)
{
    for (int32_t i = 0; i < b->key_count; i++) {
        if (b->key[i] == KEY_NUMA) {
            if (b->node->cards[x].numa != b->node->cards[y].numa)
                return b->node->cards[x].numa < b->node->cards[y].numa;
        } else if (b->score[x] < b->score[y] || b->score[x] > b->score[y]) {
            return (b->score[x] < b->score[y]) == (b->key[i] == KEY_BINPACK);
        }
    }
    return b->node->cards[x].index < b->node->cards[y].index;
}

static bool card_before(const void *context, int32_t x, int32_t y)
{
    const struct board *b = context;
    int32_t numa_x = b->node->cards[x].numa, numa_y = b->node->cards[y].numa;
    if (b->chain)
        return chain_before(b, x, y);
    if (b->mutex)
        return b->use[x].used != b->use[y].used ? b->use[x].used > b->use[y].used
                                                : numa_x < numa_y;
    bool score_less = b->score[x] < b->score[y], score_more = b->score[x] > b->score[y];
    if (b->numa_bind && numa_x != numa_y)
        return b->binpack ? numa_x > numa_y : numa_x < numa_y;
    if (score_less || score_more)
        return b->binpack ? score_less : score_more;
    return !b->numa_bind && numa_x < numa_y;
}

/* ---- scores ---- */

static int32_t percent_of(int32_t total, int32_t percent)
{
    return (int32_t)((int64_t)total * percent / 100);
}

/* IEEE single, added left to right. The request part counts only when its vendor's name is the
 * card's type. */
static float card_score(const struct hami_card *d, const struct hami_use *u,
                        const struct hami_container *ctr, const struct hami_weights *w)
{
    int32_t slots = u->used, cores = u->cores, mem = u->mem;
    if (d->slots == 0 || d->cores == 0 || d->mem == 0)
        return 0;
    for (int v = 0; v < HAMI_VENDORS; v++) {
        const struct hami_request *r = &ctr->request[v];
        if (r->count <= 0 || strcmp(hami_backends[v].vendor, d->type) != 0)
            continue;
        slots++;
        cores += r->cores;
        mem += r->mem_percent != 0 && r->mem_percent != 101 ? percent_of(d->mem, r->mem_percent)
                                                            : r->mem;
    }
    float s = (float)slots / (float)d->slots, k = (float)cores / (float)d->cores;
    float m = (float)mem / (float)d->mem;
    return 10.0F * ((float)w->slot * s + (float)w->core * k + (float)w->memory * m);
}

static float node_score(const struct hami_node *node, const struct hami_use *use)
{
    int32_t used = 0, used_cores = 0, used_mem = 0, slots = 0, cores = 0, mem = 0;
    for (int32_t i = 0; i < node->card_count; i++) {
        used += use[i].used;
        used_cores += use[i].cores;
        used_mem += use[i].mem;
        slots += node->cards[i].slots;
        cores += node->cards[i].cores;
        mem += node->cards[i].mem;
    }
    if (slots == 0 || cores == 0 || mem == 0)
        return 0;
    return 10.0F * ((float)used / (float)slots + (float)used_cores / (float)cores +
                    (float)used_mem / (float)mem);
}

/* ---- one pod on one node ---- */

struct attempt {
    const struct hami_cluster *c;
    int32_t node_index;
    const struct hami_node *node;
    const struct hami_pod *pod;
    struct hami_weights weights;
    struct arena *arena;
    bool base[HAMI_VENDORS];   /* a card's type is exactly this vendor's name */
    const char *reason;
};

static struct board make_board(const struct attempt *t)
{
    size_t n = (size_t)t->node->card_count + 1;
    struct board b = {.node = t->node,
                      .use = arena_alloc(t->arena, n, sizeof(*b.use)),
                      .order = arena_alloc(t->arena, n, sizeof(*b.order)),
                      .score = arena_alloc(t->arena, n, sizeof(*b.score))};
    for (int32_t i = 0; i < t->node->card_count; i++) {
        b.use[i] = t->c->cards[t->node_index][i].use;
        b.order[i] = i;
    }
    board_policy(&b, t->c, t->pod);
    return b;
}

static void append(const struct attempt *t, struct hami_allocation *a, int v,
                   struct hami_grants list)
{
    if (a->lists[v] == NULL)
        a->lists[v] = arena_alloc(t->arena, (size_t)t->pod->container_count * 2 + 2,
                                  sizeof(*a->lists[v]));
    a->present[v] = true;
    a->lists[v][a->list_count[v]++] = list;
}

/* Empty entries, but only for vendors whose name is a card's type on this node (a quirk that
 * shifts positions: docs/hami-fidelity.md). With up_to >= 0 only lists of that length. */
static void append_empty(const struct attempt *t, struct hami_allocation *a, int32_t up_to)
{
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (t->base[v] && (up_to < 0 || a->list_count[v] == up_to))
            append(t, a, v, (struct hami_grants){NULL, 0});
}

static bool is_mig_request(const struct attempt *t, int v, const int32_t *cards, int32_t count)
{
    const char *mode = hami_pod_annotation(t->pod, "nvidia.com/vgpu-mode");
    if (v != HAMI_NVIDIA || (mode != NULL && strstr(mode, "mig") == NULL))
        return false;
    for (int32_t i = 0; i < count; i++)
        if (strcmp(t->node->cards[cards[i]].mode, "mig") == 0)
            return true;
    return false;
}

static bool take_all(struct attempt *t, struct hami_fit *f)
{
    for (int32_t i = 0; i < f->found.count; i++)
        if (!hami_backends[f->vendor].take(f, &f->found.items[i])) {
            t->reason = arena_printf(t->arena,
                                     "AddResourceUsage failed for device %s: MIG profile and "
                                     "placement allocation failed",
                                     t->node->cards[f->found.items[i].card].id);
            return false;
        }
    return true;
}

/* One vendor's request of one container. */
static bool fit_vendor(struct attempt *t, struct board *b, int v, const struct hami_request *r,
                       struct hami_allocation *a)
{
    int32_t *cards = arena_alloc(t->arena, (size_t)t->node->card_count + 1, sizeof(*cards));
    int32_t n = 0;
    hami_sort(b->order, t->node->card_count, card_before, b);
    for (int32_t i = 0; i < t->node->card_count; i++)
        if (hami_contains_nocase(t->node->cards[b->order[i]].type, hami_backends[v].vendor))
            cards[n++] = b->order[i];
    if (r->count > n && !is_mig_request(t, v, cards, n)) {
        t->reason = "NodeInsufficientDevice";
        return false;
    }
    struct hami_fit f = {.cluster = t->c, .node_index = t->node_index, .node = t->node,
                         .pod = t->pod, .use = b->use, .cards = cards, .count = n, .vendor = v,
                         .req = *r, .allocated = a, .arena = t->arena, .divisor = n};
    if (!hami_backends[v].fit(&f)) {
        t->reason = hami_reason_text(t->arena, f.reason, f.divisor);
        return false;
    }
    if (!take_all(t, &f))
        return false;
    append(t, a, v, f.found);
    return true;
}

static bool fit_container(struct attempt *t, struct board *b, const struct hami_container *ctr,
                          struct hami_allocation *a)
{
    for (int32_t i = 0; i < t->node->card_count; i++)
        b->score[i] = card_score(&t->node->cards[i], &b->use[i], ctr, &t->weights);
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (ctr->request[v].count > 0 && !fit_vendor(t, b, v, &ctr->request[v], a))
            return false;
    return true;
}

static bool container_asks(const struct hami_container *ctr)
{
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (ctr->request[v].count > 0)
            return true;
    return false;
}

/* Each init container alone on the present use. */
static bool fit_init(struct attempt *t, struct hami_allocation *a)
{
    for (int32_t i = 0; i < t->pod->init_count; i++) {
        const struct hami_container *ctr = &t->pod->containers[i];
        if (!container_asks(ctr)) {
            append_empty(t, a, -1);
            continue;
        }
        struct board b = make_board(t);
        if (!fit_container(t, &b, ctr, a))
            return false;
        append_empty(t, a, i);
    }
    return true;
}

/* The others one after another on one copy. */
static bool fit_ordinary(struct attempt *t, struct board *b, struct hami_allocation *a)
{
    for (int32_t i = t->pod->init_count; i < t->pod->container_count; i++) {
        const struct hami_container *ctr = &t->pod->containers[i];
        if (!container_asks(ctr)) {
            append_empty(t, a, -1);
            continue;
        }
        if (!fit_container(t, b, ctr, a))
            return false;
        append_empty(t, a, i - t->pod->init_count);
    }
    return true;
}

static void decide_node(struct attempt *t, struct hami_result *out)
{
    struct hami_allocation init = {0}, ordinary = {0};
    for (int32_t i = 0; i < t->node->card_count; i++)
        for (int v = 0; v < HAMI_VENDORS; v++)
            t->base[v] |= strcmp(hami_backends[v].vendor, t->node->cards[i].type) == 0;
    struct board b = make_board(t);
    float score = node_score(t->node, b.use);
    out->fits = fit_init(t, &init) && fit_ordinary(t, &b, &ordinary);
    out->reason = out->fits ? NULL : t->reason;
    if (!out->fits)
        return;
    for (int v = 0; v < HAMI_VENDORS; v++) {
        for (int32_t i = 0; i < ordinary.list_count[v]; i++)
            append(t, &init, v, ordinary.lists[v][i]);
        init.present[v] |= ordinary.present[v];
    }
    const char *policy = hami_node_policy(t->c, t->pod);
    float bonus = 0;
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (init.present[v] && hami_backends[v].score != NULL)
            bonus += hami_backends[v].score(t->c, t->node_index, v, t->pod, &init, policy);
    out->allocation = init;
    out->score = score + bonus;
}

struct hami_result *hami_decide(const struct hami_cluster *c, const struct hami_pod *pod,
                                struct arena *arena)
{
    struct hami_weights weights;
    if (!hami_weights_parse(pod, &weights))
        return NULL;
    struct hami_result *out = arena_alloc(arena, (size_t)c->node_count + 1, sizeof(*out));
    for (int32_t n = 0; n < c->node_count; n++) {
        struct attempt t = {.c = c, .node_index = n, .node = &c->nodes[n], .pod = pod,
                            .weights = weights, .arena = arena};
        decide_node(&t, &out[n]);
    }
    return out;
}
