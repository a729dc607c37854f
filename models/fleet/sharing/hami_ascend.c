/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ascend: soft split, network groups, die pairs of 910C; and Vastai's cards, grouped the same way. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

bool hami_ascend_soft(const struct hami_pod *pod)
{
    const char *mode = hami_pod_annotation(pod, "huawei.com/vnpu-mode");
    return mode != NULL && strcmp(mode, "hami-core") == 0;
}

bool hami_ascend_node_soft(const struct hami_cluster *c, const struct hami_node *node)
{
    const char *own = hami_annotation(node->annotations, node->annotation_count, "hami-vnpu-core");
    return own != NULL ? strcmp(own, "true") == 0 : c->cfg.ascend_hami_core;
}

static bool is_910(int vendor)
{
    return strncmp(hami_vendor_name(vendor), "Ascend910", 9) == 0;
}

static bool all_have_network(const struct hami_fit *f)
{
    for (int32_t i = 0; i < f->count; i++)
        if (!hami_fit_card(f, f->cards[i])->has_network)
            return false;
    return true;
}

static bool wants_pairs(const struct hami_fit *f)
{
    return f->vendor == HAMI_910C && f->req.count > 1;
}

/* Are all fitting cards gathered before the choice? */
bool hami_ascend_collects(const struct hami_fit *f)
{
    return wants_pairs(f) || (is_910(f->vendor) && all_have_network(f));
}

/* Keeps `want` grants, taking groups by size, larger first; equal groups in order of first
 * appearance (the real choice is arbitrary). group[i] < 0 = in no group, dropped. */
static void keep_by_group(struct hami_fit *f, const int32_t *group, int32_t want)
{
    int32_t n = f->found.count, kept = 0;
    struct hami_grant *out = arena_alloc(f->arena, (size_t)n + 1, sizeof(*out));
    bool *done = arena_alloc(f->arena, (size_t)n + 1, sizeof(*done));
    for (;;) {
        int32_t best = -1, best_size = 0;
        for (int32_t i = 0; i < n; i++) {
            int32_t size = 0;
            for (int32_t k = i; k < n && group[i] >= 0 && !done[i]; k++)
                size += group[k] == group[i] && !done[k];
            if (size > best_size) {
                best = group[i];
                best_size = size;
            }
        }
        if (best < 0)
            break;
        for (int32_t i = 0; i < n; i++)
            if (group[i] == best && !done[i]) {
                done[i] = true;
                if (kept < want)
                    out[kept++] = f->found.items[i];
            }
    }
    f->found.items = out;
    f->found.count = kept;
    f->capacity = n + 1;
}

/* Only modules with both dies usable count. */
static bool choose_pairs(struct hami_fit *f)
{
    int32_t n = f->found.count;
    int32_t *group = arena_alloc(f->arena, (size_t)n + 1, sizeof(*group));
    for (int32_t i = 0; i < n; i++) {
        int32_t module = hami_fit_card(f, f->found.items[i].card)->index / 2, halves = 0;
        for (int32_t k = 0; k < n; k++)
            halves += hami_fit_card(f, f->found.items[k].card)->index / 2 == module;
        group[i] = halves == 2 ? module : -1;
    }
    keep_by_group(f, group, f->req.count);
    if (f->found.count == f->req.count)
        return true;
    f->reason[HAMI_REASON_FOUND] = f->found.count > 0 ? f->found.count : HAMI_NOTED_ZERO;
    f->divisor = f->req.count;
    return false;
}

static void choose_network(struct hami_fit *f)
{
    int32_t *group = arena_alloc(f->arena, (size_t)f->found.count + 1, sizeof(*group));
    for (int32_t i = 0; i < f->found.count; i++) {
        const struct hami_card *d = hami_fit_card(f, f->found.items[i].card);
        /* cards of another kind whose name contains this one's are found but not known here */
        group[i] = d->vendor == f->vendor && d->has_network ? d->network : -1;
    }
    keep_by_group(f, group, f->req.count);
}

/* done = the answer stands; otherwise too few cards were found. */
bool hami_ascend_choose(struct hami_fit *f, bool *done)
{
    *done = true;
    if (wants_pairs(f))
        return choose_pairs(f);
    if (f->found.count == f->req.count)
        return true;
    if (f->found.count > f->req.count) {
        if (f->req.count == 1)
            f->found.count = 1;
        else
            choose_network(f);
        return true;
    }
    *done = false;
    return false;
}

/* Largest group of a container's cards over all of them. */
static float group_share(const struct hami_grants *g, const int32_t *group)
{
    int32_t largest = 0;
    for (int32_t i = 0; i < g->count; i++) {
        int32_t size = 0;
        for (int32_t k = 0; k < g->count; k++)
            size += group[k] == group[i];
        largest = size > largest ? size : largest;
    }
    return (float)largest / (float)g->count;
}

enum { GROUP_CARDS = 64 };

float hami_score_ascend(const struct hami_cluster *c, int32_t node, int vendor,
                        const struct hami_pod *pod, const struct hami_allocation *a,
                        const char *policy)
{
    (void)pod;
    (void)policy;
    float score = 0;
    if (!is_910(vendor))
        return 0;
    for (int32_t i = 0; i < a->list_count[vendor]; i++) {
        const struct hami_grants *g = &a->lists[vendor][i];
        int32_t group[GROUP_CARDS];
        for (int32_t k = 0; k < g->count && k < GROUP_CARDS; k++) {
            const struct hami_card *d = &c->nodes[node].cards[g->items[k].card];
            if (!d->has_network)
                return 0;
            group[k] = d->network;
        }
        if (g->count > 0 && g->count <= GROUP_CARDS)
            score += group_share(g, group);
    }
    return score * 10.0F;
}

/* Number of the Vastai card a die belongs to: its first card with the same name, -1 = none. */
static int32_t aic_of(const struct hami_node *node, int32_t card)
{
    const char *aic = node->cards[card].aic;
    for (int32_t i = 0; aic != NULL && i <= card; i++)
        if (node->cards[i].aic != NULL && strcmp(node->cards[i].aic, aic) == 0)
            return i;
    return -1;
}

void hami_vastai_choose(struct hami_fit *f)
{
    if (f->req.count == 1) {
        f->found.count = 1;
        return;
    }
    int32_t *group = arena_alloc(f->arena, (size_t)f->found.count + 1, sizeof(*group));
    for (int32_t i = 0; i < f->found.count; i++)
        group[i] = aic_of(f->node, f->found.items[i].card);
    keep_by_group(f, group, f->req.count);
}

float hami_score_vastai(const struct hami_cluster *c, int32_t node, int vendor,
                        const struct hami_pod *pod, const struct hami_allocation *a,
                        const char *policy)
{
    (void)pod;
    (void)policy;
    float score = 0;
    for (int32_t i = 0; i < a->list_count[vendor]; i++) {
        const struct hami_grants *g = &a->lists[vendor][i];
        int32_t group[GROUP_CARDS];
        for (int32_t k = 0; k < g->count && k < GROUP_CARDS; k++) {
            const struct hami_card *d = &c->nodes[node].cards[g->items[k].card];
            if (!d->has_info || !d->die || d->aic == NULL)
                return 0;
            group[k] = aic_of(&c->nodes[node], g->items[k].card);
        }
        if (g->count > 0 && g->count <= GROUP_CARDS)
            score += group_share(g, group);
    }
    return score;
}
