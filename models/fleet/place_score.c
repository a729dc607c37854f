/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The score rules (models/fleet/score) on the nodes of one pool. A request's shape is a class of
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
    int64_t used_at;
};

struct pool_score {
    struct fleet *fleet;
    int32_t pool, cpu;           /* index of the resource "cpu", or -1 */
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
    const struct fleet_pool *p = &f->pools[s->pool];
    int32_t node = p->first_node + local, idle = f->node_free[node];
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
    int32_t node = f->pools[s->pool].first_node + local, card;
    f->looks++;
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

static int32_t class_of(struct pool_score *s, const struct fleet_pool *p, const struct place_request *req)
{
    struct score_pod pod = pod_of(s, req);
    uint64_t hash = hash_of(&pod, p->card_need, p->open_cards.resources);
    size_t bytes = (size_t)p->open_cards.resources * sizeof(int64_t);
    int32_t i = 0;
    while (i < s->class_count &&
           !(s->classes[i].hash == hash && score_same_pod(&s->classes[i].pod, &pod) &&
             memcmp(s->classes[i].amounts, p->card_need, bytes) == 0))
        i++;
    if (i == s->class_count) {
        i = free_class(s);
        s->classes[i] = (struct shape_class){.hash = hash, .pod = pod};
        memcpy(s->classes[i].amounts, p->card_need, bytes);
    }
    s->classes[i].used_at = ++s->clock;
    return i;
}

/* ---- choosing ---- */

static struct place_choice choose(struct fleet *f, struct fleet_pool *p,
                                  const struct place_request *req)
{
    if (p->set >= 0)
        return place_binpack.share(f, p, req);
    struct pool_score *s = p->score;
    int32_t k = class_of(s, p, req), local = score_index_best(&s->index, k);
    struct place_choice c = {-1, -1};
    if (local < 0)
        return c;
    c.node = p->first_node + local;
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

const struct place_rule place_dot_product = {"dot-product", choose, choose, compare, &score_dot_product};
const struct place_rule place_clustering = {"clustering", choose, choose, compare, &score_clustering};
const struct place_rule place_packing = {"packing", choose, choose, compare, &score_packing};
const struct place_rule place_best_fit = {"best-fit", choose, choose, compare, &score_best_fit};
const struct place_rule place_fgd = {"fgd", choose, choose, compare, &score_fgd};

/* ---- keeping up ---- */

static int32_t resource_named(const struct fleet_config *cfg, const char *name)
{
    for (int32_t r = 0; r < cfg->resource_count; r++)
        if (strcmp(cfg->resources[r], name) == 0)
            return r;
    return -1;
}

void place_score_init(struct fleet *f, int32_t pool)
{
    struct fleet_pool *p = &f->pools[pool];
    if (f->rule->score == NULL)
        return;
    struct pool_score *s = p->score = mem_zalloc(1, sizeof(*s));
    size_t nodes = (size_t)p->node_count, cards = (size_t)p->cards_per_node;
    *s = (struct pool_score){.fleet = f, .pool = pool, .rule = f->rule->score, .look_at = FIRST_LOOK};
    s->cpu = resource_named(f->cfg, "cpu");
    s->left = mem_alloc(cards + 1, sizeof(*s->left));
    s->frag = mem_zalloc(nodes + 1, sizeof(*s->frag));
    s->frag_at = mem_zalloc(nodes + 1, sizeof(*s->frag_at));
    s->tag_users = mem_zalloc(nodes * TAGS + 1, sizeof(*s->tag_users));
    s->tags = mem_zalloc(nodes + 1, sizeof(*s->tags));
    int64_t cpu = s->cpu >= 0 && nodes > 0
                      ? f->node_amounts[(int64_t)p->first_node * f->resources + s->cpu] : 0;
    s->settings = (struct score_settings){.cpu_norm_milli = cpu > 0 ? cpu : 1,
                                          .card_norm_milli = cards > 0 ? (int64_t)cards * CARD_MILLI : 1,
                                          .mix = &s->mix,
                                          .scratch = mem_alloc(cards + 1, sizeof(int16_t))};
    score_index_init(&s->index, p->node_count, false, score_of, s);
}

void place_score_fini(struct fleet_pool *p)
{
    struct pool_score *s = p->score;
    if (s == NULL)
        return;
    score_index_fini(&s->index);
    frag_mix_fini(&s->mix);
    free(s->left);
    free(s->frag);
    free(s->frag_at);
    free(s->tag_users);
    free(s->tags);
    free(s->settings.scratch);
    free(s);
    p->score = NULL;
}

void place_score_changed(struct fleet *f, int32_t node, int32_t cards, bool share, int sign)
{
    struct fleet_pool *p = &f->pools[f->node_pool[node]];
    struct pool_score *s = p->score;
    if (s == NULL)
        return;
    struct score_pod pod = {.cards = share ? 1 : cards, .milli = share ? 1 : CARD_MILLI};
    uint32_t tag = score_tag(&pod);
    int64_t local = node - p->first_node;
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
    int64_t nodes = s->fleet->pools[s->pool].node_count;
    int64_t step = s->noted * 7 < nodes ? s->noted * 7 : nodes;
    s->look_at = s->noted + (step > FIRST_LOOK ? step : FIRST_LOOK);
}

void place_score_note(struct fleet *f, int32_t pool, const struct place_request *req)
{
    struct place_ask ask;
    struct pool_score *s = f->pools[pool].score;
    if (s == NULL || s->rule != &score_fgd || !place_ask_make(f, pool, req, &ask) ||
        ask.pool.set >= 0)
        return;
    s->window[s->noted++ % WINDOW] = pod_of(s, &ask.req);
    if (s->noted >= s->look_at)
        look_again(s);
}
