/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/score/packing.h"

#include <stdlib.h>

#include "models/fleet/score/score_index.h"
#include "sim/arena.h"
#include "sim/check.h"

#define TAGS 31 /* bits of score_tag */
#define PACKING_PURPOSE 0x7061636b /* stream of the random rule: not one of a scenario's */

struct packed_node {
    int64_t cpu_free_milli, memory_free_mib;
    int32_t pods, cards, left_sum, model;
    double frag_milli;
    int16_t *left;      /* in the packing's block */
    int32_t tag_users[TAGS];
    uint32_t tags;
};

struct packing {
    const struct score_rule *rule;
    struct score_settings settings;
    int32_t node_count;
    struct packed_node *nodes;
    int16_t *left;
    struct packing_pod *kinds;
    size_t kind_count, kind_capacity;
    struct score_index index;
    struct rng rng;
    struct packing_totals totals;
};

struct score_node packing_view(const struct packing *p, int32_t node)
{
    const struct packed_node *n = &p->nodes[node];
    return (struct score_node){.cpu_free_milli = n->cpu_free_milli, .left = n->left,
                               .cards = n->cards, .left_sum = n->left_sum, .model = n->model,
                               .tags = n->tags, .frag_milli = n->frag_milli};
}

static int32_t score_of(void *owner, int32_t kind, int32_t node)
{
    struct packing *p = owner;
    const struct packing_pod *pod = &p->kinds[kind];
    if (p->nodes[node].memory_free_mib < pod->memory_mib ||
        p->nodes[node].pods >= PACKING_PODS_PER_NODE)
        return -1;
    struct score_node view = packing_view(p, node);
    int32_t card;
    return score_fits(&pod->pod, &view) ? p->rule->score(&p->settings, &pod->pod, &view, &card) : -1;
}

/* The node has changed. */
static void renew(struct packing *p, int32_t node)
{
    struct score_node view = packing_view(p, node);
    double frag = p->settings.mix->count > 0 ? frag_of(p->settings.mix, &view) : 0;
    p->totals.frag_milli += frag - p->nodes[node].frag_milli;
    p->nodes[node].frag_milli = frag;
    score_index_touch(&p->index, node);
}

static void fill(struct packing *p, const struct packing_node *from)
{
    int16_t *left = p->left;
    for (int32_t i = 0; i < p->node_count; i++) {
        struct packed_node *n = &p->nodes[i];
        *n = (struct packed_node){.cpu_free_milli = from[i].cpu_milli,
                                  .memory_free_mib = from[i].memory_mib,
                                  .cards = from[i].cards,
                                  .left_sum = from[i].cards * SCORE_CARD_MILLI,
                                  .model = from[i].model,
                                  .left = left};
        for (int32_t c = 0; c < n->cards; c++)
            *left++ = SCORE_CARD_MILLI;
        p->totals.capacity_milli += n->left_sum;
        renew(p, i);
    }
}

struct packing *packing_create(const struct packing_node *nodes, int32_t node_count,
                               enum score_kind rule, const struct frag_mix *mix, uint64_t seed)
{
    struct packing *p = mem_zalloc(1, sizeof(*p));
    p->rule = score_rule_of(rule);
    p->settings = (struct score_settings){.cpu_norm_milli = 1, .card_norm_milli = 1, .mix = mix};
    p->node_count = node_count;
    size_t cards = 0;
    for (int32_t i = 0; i < node_count; i++) {
        REQUIRE(nodes[i].cards >= 0 && nodes[i].cards <= PACKING_CARDS_MAX);
        cards += (size_t)nodes[i].cards;
        int64_t card_milli = (int64_t)nodes[i].cards * SCORE_CARD_MILLI;
        if (nodes[i].cpu_milli > p->settings.cpu_norm_milli)
            p->settings.cpu_norm_milli = nodes[i].cpu_milli;
        if (card_milli > p->settings.card_norm_milli)
            p->settings.card_norm_milli = card_milli;
    }
    p->nodes = mem_zalloc((size_t)node_count + 1, sizeof(*p->nodes));
    p->left = mem_alloc(cards + 1, sizeof(*p->left));
    p->settings.scratch = mem_alloc(PACKING_CARDS_MAX, sizeof(*p->settings.scratch));
    score_index_init(&p->index, node_count, p->rule->uniform, score_of, p);
    fill(p, nodes);
    rng_open(&p->rng, seed, 0, PACKING_PURPOSE, 0);
    return p;
}

void packing_destroy(struct packing *p)
{
    if (p == NULL)
        return;
    score_index_fini(&p->index);
    free(p->nodes);
    free(p->left);
    free(p->settings.scratch);
    free(p->kinds);
    free(p);
}

int32_t packing_add_kind(struct packing *p, const struct packing_pod *pod)
{
    REQUIRE(pod->pod.cards == 0 || (pod->pod.milli > 0 && pod->pod.milli <= SCORE_CARD_MILLI));
    REQUIRE(pod->pod.cards <= 1 || pod->pod.milli == SCORE_CARD_MILLI);
    for (size_t i = 0; i < p->kind_count; i++)
        if (score_same_pod(&p->kinds[i].pod, &pod->pod) && p->kinds[i].memory_mib == pod->memory_mib)
            return (int32_t)i;
    p->kinds = mem_grow(p->kinds, &p->kind_capacity, p->kind_count + 1, sizeof(*p->kinds));
    p->kinds[p->kind_count++] = *pod;
    return score_index_add(&p->index);
}

/* sign 1 takes the pod's amounts from the node, -1 gives them back. */
static void book(struct packing *p, const struct packing_spot *spot, int32_t sign)
{
    const struct packing_pod *pod = &p->kinds[spot->kind];
    struct packed_node *n = &p->nodes[spot->node];
    n->cpu_free_milli -= sign * pod->pod.cpu_milli;
    n->memory_free_mib -= sign * pod->memory_mib;
    n->pods += sign;
    p->totals.cpu_used_milli += sign * pod->pod.cpu_milli;
    p->totals.memory_used_mib += sign * pod->memory_mib;
    for (uint64_t rest = spot->cards; rest != 0; rest &= rest - 1) {
        int card = __builtin_ctzll(rest);
        bool idle = n->left[card] == SCORE_CARD_MILLI;
        n->left[card] = (int16_t)(n->left[card] - sign * pod->pod.milli);
        CHECK(n->left[card] >= 0 && n->left[card] <= SCORE_CARD_MILLI);
        n->left_sum -= sign * pod->pod.milli;
        p->totals.used_milli += sign * pod->pod.milli;
        p->totals.cards_touched += (int)idle - (n->left[card] == SCORE_CARD_MILLI);
    }
    uint32_t tag = score_tag(&pod->pod);
    if (tag != 0) {
        int32_t *users = &n->tag_users[__builtin_ctz(tag)];
        *users += sign;
        n->tags = *users > 0 ? n->tags | tag : n->tags & ~tag;
    }
    renew(p, spot->node);
}

/* The lowest idle cards of the node. */
static uint64_t idle_cards(const struct packed_node *n, int32_t count)
{
    uint64_t cards = 0;
    for (int32_t i = 0; i < n->cards && count > 0; i++)
        if (n->left[i] == SCORE_CARD_MILLI) {
            cards |= UINT64_C(1) << i;
            count--;
        }
    REQUIRE(count == 0);
    return cards;
}

struct packing_spot packing_place(struct packing *p, int32_t kind)
{
    struct packing_spot spot = {.kind = kind};
    spot.node = p->rule->uniform ? score_index_draw(&p->index, kind, &p->rng)
                                 : score_index_best(&p->index, kind);
    if (spot.node < 0)
        return spot;
    const struct score_pod *pod = &p->kinds[kind].pod;
    if (pod->cards > 0 && pod->milli < SCORE_CARD_MILLI) {
        struct score_node view = packing_view(p, spot.node);
        int32_t card = score_choose_card(p->rule, &p->settings, pod, &view, &p->rng);
        spot.cards = UINT64_C(1) << card;
    } else if (pod->cards > 0) {
        spot.cards = idle_cards(&p->nodes[spot.node], pod->cards);
    }
    book(p, &spot, 1);
    return spot;
}

void packing_take_back(struct packing *p, struct packing_spot spot)
{
    REQUIRE(spot.node >= 0 && spot.node < p->node_count);
    book(p, &spot, -1);
}

const struct packing_totals *packing_totals_of(const struct packing *p)
{
    return &p->totals;
}

int64_t packing_looks(const struct packing *p)
{
    return p->index.looks;
}
