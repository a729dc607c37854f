/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The score rules (models/fleet/score) on the nodes of one pool, or of all pools without a mechanism
 * (fleet_place_across; there random too). A request's shape is a class of
 * the pool's score index; the CLASSES_MAX last used shapes are kept. The pods that FGD expects are
 * the ones placed last (gpu-sharing 5.8 leaves the window open): WINDOW of them, looked at again
 * after 64, 512, 4096, ... placements, later after as many as the pool has nodes, so that the cost
 * per placement stays the same in large pools. MIG instances are packed as by binpack.
 */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/placement.h"
#include "models/fleet/score/frag.h"
#include "models/fleet/score/score_index.h"
#include "sim/check.h"

#define CLASSES_MAX 512
#define WINDOW 1024
#define FIRST_LOOK 64
#define COVERED 0.95
#define TAGS 31

struct shape_class {
    uint64_t hash;
    struct score_pod pod;
    int64_t amounts[CARD_ROW_MAX]; /* of a node; of a card with two budgets, too */
    uint8_t *allowed;              /* [pool of the configuration] across pools; else NULL */
    int64_t used_at;
};

struct pool_score {
    struct fleet *fleet;
    bool across;                 /* all pools without a mechanism that have this as their score */
    int32_t first_node, node_count;
    int32_t cpu;                 /* index of the resource "cpu", or -1 */
    uint8_t *wanted;             /* [pool of the configuration] across pools: those of the request */
    const struct score_rule *rule;
    struct score_settings settings;
    struct score_index index;
    struct shape_class classes[CLASSES_MAX];
    int32_t class_count;
    int64_t clock;
    int16_t *left;               /* scratch of a view */
    double *frag;                /* [node], right when frag_at is the node's last change */
    int64_t *frag_at;
    int16_t *tag_users;          /* [node * TAGS + bit] */
    uint32_t *tags;              /* [node] the bits that have users */
    struct frag_mix mix;
    struct score_pod window[WINDOW];
    int64_t noted, look_at;
    bool told;                   /* the mix was given (fleet_expect) */
};

/* ---- what a rule sees ---- */

/* Does a share of the class fit on the card although its fuller budget has less free than the larger part of the
 * share? Then a rule sees as much as that part. */
static bool fits_crosswise(const struct fleet *f, const struct fleet_pool *p, const struct shape_class *c, int64_t card,
                           int16_t left)
{
    return p->share != NULL && p->share->axes != NULL && c->pod.milli > left && c->pod.milli < CARD_MILLI &&
           f->card_tenants[card] > 0 && card_axes_fit(f, p, c->amounts, card);
}

/* Whole cards have no index: the first closed cards of the view stand for the idle ones. A card
 * whose slots are all taken has nothing left. */
static struct score_node view_of(struct pool_score *s, const struct shape_class *k, int32_t local)
{
    const struct fleet *f = s->fleet;
    int32_t node = s->first_node + local, idle = f->node_free[node];
    const struct fleet_pool *p = &f->pools[f->node_pool[node]];
    int64_t first = node_first_card(f, node);
    struct score_node v = {.left = s->left, .cards = p->cards_per_node, .model = -1};
    bool crosswise = false;
    for (int32_t c = 0; c < p->cards_per_node; c++) {
        bool closed = f->card_free[first + c] == CARD_MILLI;
        int16_t left = node_card_open(f, p, first + c) ? f->card_free[first + c] : 0;
        if (closed && idle > 0) {
            left = CARD_MILLI;
            idle--;
        }
        if (fits_crosswise(f, p, k, first + c, left)) {
            left = (int16_t)k->pod.milli;
            crosswise = true;
        }
        s->left[c] = left;
        v.left_sum += left;
    }
    v.cpu_free_milli = s->cpu >= 0 ? f->node_amounts[(int64_t)node * f->resources + s->cpu] : 0;
    v.tags = s->tags[local];
    if (s->mix.count > 0) {
        if (!crosswise && s->frag_at[local] != s->index.change[local].at) {
            s->frag[local] = frag_of(&s->mix, &v);
            s->frag_at[local] = s->index.change[local].at;
        }
        v.frag_milli = crosswise ? frag_of(&s->mix, &v) : s->frag[local];
    }
    return v;
}

static int32_t score_of(void *owner, int32_t class_index, int32_t local)
{
    struct pool_score *s = owner;
    struct fleet *f = s->fleet;
    const struct shape_class *c = &s->classes[class_index];
    int32_t node = s->first_node + local, card;
    f->looks++;
    if (c->allowed != NULL && !c->allowed[f->node_pool[node]])
        return -1;
    for (int32_t r = 0; r < f->resources; r++)
        if (f->node_amounts[(int64_t)node * f->resources + r] < c->amounts[r])
            return -1;
    struct score_node v = view_of(s, c, local);
    return score_fits(&c->pod, &v) ? s->rule->score(&s->settings, &c->pod, &v, &card) : -1;
}

/* ---- classes ---- */

static struct score_pod pod_of(const struct pool_score *s, const struct place_request *req)
{
    return (struct score_pod){.cpu_milli = s->cpu >= 0 ? req->resources[s->cpu] : 0,
                              .cards = req->share_milli > 0 ? 1 : req->cards,
                              .milli = req->share_milli > 0 ? req->share_milli
                                       : req->cards > 0     ? CARD_MILLI
                                                            : 0,
                              .models = SCORE_ANY_MODEL};
}

static uint64_t hash_of(const struct score_pod *pod, const int64_t *amounts, int32_t count)
{
    uint64_t h = rng_hash((uint64_t)pod->cards * 1024 + (uint64_t)pod->milli);
    for (int32_t r = 0; r < count; r++)
        h = rng_hash(h ^ (uint64_t)amounts[r]);
    return h;
}

/* The class longest unused, or a new one. */
static int32_t free_class(struct pool_score *s)
{
    if (s->class_count < CLASSES_MAX) {
        int32_t made = score_index_add(&s->index);
        REQUIRE(made == s->class_count);
        return s->class_count++;
    }
    int32_t oldest = 0;
    for (int32_t i = 1; i < CLASSES_MAX; i++)
        if (s->classes[i].used_at < s->classes[oldest].used_at)
            oldest = i;
    score_index_reset(&s->index, oldest);
    return oldest;
}

/* Marks the pools of the request that belong to the score. */
static void mark_wanted(struct pool_score *s, const struct place_request *req)
{
    memset(s->wanted, 0, (size_t)s->fleet->cfg->pool_count);
    for (int32_t i = 0; i < req->pool_count; i++)
        s->wanted[req->pools[i]] = s->fleet->pools[req->pools[i]].score == s;
}

static bool same_pools(const struct pool_score *s, const struct shape_class *c)
{
    return !s->across || memcmp(c->allowed, s->wanted, (size_t)s->fleet->cfg->pool_count) == 0;
}

/* The class becomes that of another shape; it keeps its memory. */
static void renew_class(struct pool_score *s, struct shape_class *c, struct shape_class to)
{
    to.allowed = c->allowed;
    size_t pools = (size_t)s->fleet->cfg->pool_count;
    if (s->across && to.allowed == NULL)
        to.allowed = mem_alloc(pools + 1, 1);
    if (s->across)
        memcpy(to.allowed, s->wanted, pools);
    *c = to;
}

static int32_t class_of(struct pool_score *s, const struct fleet_pool *p, const struct place_request *req)
{
    struct score_pod pod = pod_of(s, req);
    if (s->across)
        mark_wanted(s, req);
    uint64_t hash = hash_of(&pod, p->card_need, p->open_cards.resources);
    size_t bytes = (size_t)p->open_cards.resources * sizeof(int64_t);
    int32_t i = 0;
    while (i < s->class_count &&
           !(s->classes[i].hash == hash && score_same_pod(&s->classes[i].pod, &pod) &&
             memcmp(s->classes[i].amounts, p->card_need, bytes) == 0 && same_pools(s, &s->classes[i])))
        i++;
    if (i == s->class_count) {
        i = free_class(s);
        renew_class(s, &s->classes[i], (struct shape_class){.hash = hash, .pod = pod});
        memcpy(s->classes[i].amounts, p->card_need, bytes);
    }
    s->classes[i].used_at = ++s->clock;
    return i;
}

/* ---- choosing ---- */

struct place_choice place_score_choose(struct fleet *f, struct fleet_pool *p, const struct place_request *req)
{
    if (p->set >= 0)
        return place_binpack.share(f, p, req);
    struct pool_score *s = p->score;
    int32_t k = class_of(s, p, req);
    int32_t local = s->rule->uniform ? score_index_draw(&s->index, k, &f->rng) : score_index_best(&s->index, k);
    struct place_choice c = {-1, -1};
    if (local < 0)
        return c;
    c.node = s->first_node + local;
    if (req->share_milli == 0)
        return c;
    struct score_node v = view_of(s, &s->classes[k], local);
    c.card = score_choose_card(s->rule, &s->settings, &s->classes[k].pod, &v, &f->rng);
    if (c.card < 0 || v.left[c.card] == CARD_MILLI)
        c.card = node_closed_card(f, c.node);
    return c;
}

static int compare(int32_t free_a, int32_t free_b)
{
    return (free_a > free_b) - (free_a < free_b);
}

const struct place_rule place_dot_product = {"dot-product", place_score_choose, place_score_choose, compare, &score_dot_product};
const struct place_rule place_clustering = {"clustering", place_score_choose, place_score_choose, compare, &score_clustering};
const struct place_rule place_packing = {"packing", place_score_choose, place_score_choose, compare, &score_packing};
const struct place_rule place_best_fit = {"best-fit", place_score_choose, place_score_choose, compare, &score_best_fit};
const struct place_rule place_fgd = {"fgd", place_score_choose, place_score_choose, compare, &score_fgd};

/* ---- keeping up ---- */

static int32_t resource_named(const struct fleet_config *cfg, const char *name)
{
    for (int32_t r = 0; r < cfg->resource_count; r++)
        if (strcmp(cfg->resources[r], name) == 0)
            return r;
    return -1;
}

/* The score of some nodes, the largest of which has so much. */
static struct pool_score *score_make(struct fleet *f, const struct score_rule *rule, int32_t first_node,
                                     int32_t node_count, int32_t cards_most, int64_t cpu_most)
{
    struct pool_score *s = mem_zalloc(1, sizeof(*s));
    size_t nodes = (size_t)node_count, cards = (size_t)cards_most;
    *s = (struct pool_score){.fleet = f, .first_node = first_node, .node_count = node_count, .rule = rule,
                             .look_at = FIRST_LOOK};
    s->cpu = resource_named(f->cfg, "cpu");
    s->left = mem_alloc(cards + 1, sizeof(*s->left));
    s->frag = mem_zalloc(nodes + 1, sizeof(*s->frag));
    s->frag_at = mem_zalloc(nodes + 1, sizeof(*s->frag_at));
    s->tag_users = mem_zalloc(nodes * TAGS + 1, sizeof(*s->tag_users));
    s->tags = mem_zalloc(nodes + 1, sizeof(*s->tags));
    s->settings = (struct score_settings){.cpu_norm_milli = cpu_most > 0 ? cpu_most : 1,
                                          .card_norm_milli = cards > 0 ? (int64_t)cards * CARD_MILLI : 1,
                                          .mix = &s->mix,
                                          .scratch = mem_alloc(cards + 1, sizeof(int16_t))};
    score_index_init(&s->index, node_count, rule->uniform, score_of, s);
    return s;
}

static int64_t cpu_of_node(const struct fleet *f, const struct fleet_pool *p)
{
    int32_t cpu = resource_named(f->cfg, "cpu");
    return cpu >= 0 && p->node_count > 0 ? f->node_amounts[(int64_t)p->first_node * f->resources + cpu] : 0;
}

void place_score_init(struct fleet *f, int32_t pool)
{
    struct fleet_pool *p = &f->pools[pool];
    if (f->rule->score != NULL)
        p->score = score_make(f, f->rule->score, p->first_node, p->node_count, p->cards_per_node, cpu_of_node(f, p));
}

static void score_free(struct pool_score *s)
{
    score_index_fini(&s->index);
    frag_mix_fini(&s->mix);
    for (int32_t i = 0; i < s->class_count; i++)
        free(s->classes[i].allowed);
    free(s->wanted);
    free(s->left);
    free(s->frag);
    free(s->frag_at);
    free(s->tag_users);
    free(s->tags);
    free(s->settings.scratch);
    free(s);
}

void place_score_fini(struct fleet_pool *p)
{
    if (p->score != NULL && !p->score->across)
        score_free(p->score);
    p->score = NULL;
}

void place_across_fini(struct fleet *f)
{
    if (f->across != NULL)
        score_free(f->across);
}

void fleet_place_across(struct fleet *f)
{
    const struct score_rule *rule = f->rule == &place_random ? &score_random : f->rule->score;
    int32_t nodes = 0, cards = 0;
    int64_t cpu = 0;
    REQUIRE(rule != NULL && f->across == NULL);
    for (int32_t i = 0; i < f->cfg->pool_count; i++) {
        const struct fleet_pool *p = &f->pools[i];
        nodes += p->node_count;
        if (p->share != NULL)
            continue;
        cards = p->cards_per_node > cards ? p->cards_per_node : cards;
        cpu = cpu_of_node(f, p) > cpu ? cpu_of_node(f, p) : cpu;
    }
    f->across = score_make(f, rule, 0, nodes, cards, cpu);
    f->across->across = true;
    f->across->wanted = mem_zalloc((size_t)f->cfg->pool_count + 1, 1);
    for (int32_t i = 0; i < f->cfg->pool_count; i++)
        if (f->pools[i].share == NULL) {
            place_score_fini(&f->pools[i]);
            f->pools[i].score = f->across;
        }
}

void place_score_changed(struct fleet *f, int32_t node, int32_t cards, bool share, int sign)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    struct pool_score *s = p->score;
    if (s == NULL)
        return;
    struct score_pod pod = {.cards = share ? 1 : cards, .milli = share ? 1 : CARD_MILLI};
    uint32_t tag = score_tag(&pod);
    int64_t local = node - s->first_node;
    if (tag != 0) {
        int16_t *users = &s->tag_users[local * TAGS + __builtin_ctz(tag)];
        *users = (int16_t)(*users + sign);
        s->tags[local] = *users > 0 ? s->tags[local] | tag : s->tags[local] & ~tag;
    }
    score_index_touch(&s->index, (int32_t)local);
}

/* ---- the pods to expect ---- */

static void look_again(struct pool_score *s)
{
    struct frag_count *kinds = mem_alloc(WINDOW, sizeof(*kinds));
    int32_t held = s->noted < WINDOW ? (int32_t)s->noted : WINDOW, count = 0;
    for (int32_t i = 0; i < held; i++) {
        int32_t k = 0;
        while (k < count && !score_same_pod(&kinds[k].pod, &s->window[i]))
            k++;
        if (k == count)
            kinds[count++] = (struct frag_count){s->window[i], 0};
        kinds[k].count++;
    }
    frag_mix_fini(&s->mix);
    frag_mix_init(&s->mix, kinds, count, COVERED);
    free(kinds);
    score_index_touch_all(&s->index);
    int64_t nodes = s->node_count;
    int64_t step = s->noted * 7 < nodes ? s->noted * 7 : nodes;
    s->look_at = s->noted + (step > FIRST_LOOK ? step : FIRST_LOOK);
}

void place_score_note(struct fleet *f, int32_t pool, const struct place_request *req)
{
    struct place_ask ask;
    struct pool_score *s = f->pools[pool].score;
    if (s == NULL || s->rule != &score_fgd || s->told || !place_ask_make(f, pool, req, &ask) ||
        ask.pool.set >= 0)
        return;
    s->window[s->noted++ % WINDOW] = pod_of(s, &ask.req);
    if (s->noted >= s->look_at)
        look_again(s);
}

/* The kinds of pods as the pool sees them, the same score_pod once. */
static int32_t kinds_of(struct fleet *f, int32_t pool, const struct fleet_expected *pods, int32_t count,
                        struct frag_count *kinds)
{
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) {
        struct place_ask ask;
        int32_t k = 0;
        if (!place_ask_make(f, pool, &pods[i].request, &ask) || ask.pool.set >= 0)
            continue;
        struct score_pod pod = pod_of(f->pools[pool].score, &ask.req);
        while (k < n && !score_same_pod(&kinds[k].pod, &pod))
            k++;
        if (k == n)
            kinds[n++] = (struct frag_count){pod, 0};
        kinds[k].count += pods[i].count;
    }
    return n;
}

void fleet_expect(struct fleet *f, const struct fleet_expected *pods, int32_t count)
{
    struct frag_count *kinds = mem_alloc((size_t)count + 1, sizeof(*kinds));
    for (int32_t p = 0; p < f->cfg->pool_count; p++) {
        struct pool_score *s = f->pools[p].score;
        if (s == NULL || s->rule != &score_fgd || s->told)
            continue;
        frag_mix_fini(&s->mix);
        frag_mix_init(&s->mix, kinds, kinds_of(f, p, pods, count, kinds), COVERED);
        score_index_touch_all(&s->index);
        s->told = true;
    }
    free(kinds);
}
