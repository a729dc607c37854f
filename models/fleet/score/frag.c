/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/score/frag.h"

#include <stdlib.h>

#include "sim/arena.h"

#define THRESHOLDS_AT_ONCE 64

static int compare_int64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Most frequent first; equal counts: the larger pod first. */
static int compare_counts(const void *left, const void *right)
{
    const struct frag_count *a = left, *b = right;
    int c = compare_int64(b->count, a->count);
    if (c == 0)
        c = compare_int64(b->pod.cpu_milli, a->pod.cpu_milli);
    if (c == 0)
        c = compare_int64(b->pod.milli, a->pod.milli);
    if (c == 0)
        c = compare_int64(b->pod.cards, a->pod.cards);
    return c != 0 ? c : compare_int64(b->pod.spec, a->pod.spec);
}

static int compare_milli(const void *left, const void *right)
{
    return compare_int64(*(const int16_t *)left, *(const int16_t *)right);
}

static void find_thresholds(struct frag_mix *mix)
{
    mix->thresholds = mem_alloc((size_t)mix->count + 1, sizeof(*mix->thresholds));
    int32_t n = 0;
    for (int32_t i = 0; i < mix->count; i++)
        if (mix->types[i].pod.cards > 0)
            mix->thresholds[n++] = (int16_t)mix->types[i].pod.milli;
    qsort(mix->thresholds, (size_t)n, sizeof(*mix->thresholds), compare_milli);
    for (int32_t i = 0; i < n; i++)
        if (i == 0 || mix->thresholds[i] != mix->thresholds[i - 1])
            mix->thresholds[mix->threshold_count++] = mix->thresholds[i];
    for (int32_t i = 0; i < mix->count; i++)
        for (int32_t t = 0; t < mix->threshold_count; t++)
            if (mix->thresholds[t] == mix->types[i].pod.milli)
                mix->types[i].threshold = t;
}

void frag_mix_set(struct frag_mix *mix, const struct score_pod *pods, const double *p,
                  int32_t count)
{
    *mix = (struct frag_mix){.count = count};
    mix->types = mem_zalloc((size_t)count + 1, sizeof(*mix->types));
    for (int32_t i = 0; i < count; i++)
        mix->types[i] = (struct frag_type){.pod = pods[i], .p = p[i]};
    find_thresholds(mix);
}

void frag_mix_init(struct frag_mix *mix, struct frag_count *kinds, int32_t count, double share)
{
    int64_t all = 0, covered = 0;
    for (int32_t i = 0; i < count; i++)
        all += kinds[i].count;
    qsort(kinds, (size_t)count, sizeof(*kinds), compare_counts);
    int32_t n = 0;
    while (n < count && (double)covered < share * (double)all)
        covered += kinds[n++].count;
    struct score_pod *pods = mem_alloc((size_t)n + 1, sizeof(*pods));
    double *p = mem_alloc((size_t)n + 1, sizeof(*p));
    for (int32_t i = 0; i < n; i++) {
        pods[i] = kinds[i].pod;
        p[i] = (double)kinds[i].count / (double)all / ((double)covered / (double)all);
    }
    frag_mix_set(mix, pods, p, n);
    free(pods);
    free(p);
}

void frag_mix_fini(struct frag_mix *mix)
{
    free(mix->types);
    free(mix->thresholds);
    *mix = (struct frag_mix){0};
}

/* Sums in the order of the original: scores are cut to integers, so the last bit of a difference
 * that should be 0 decides between 49 and 50. */

/* For one threshold: milli on cards below it, and how many cards reach it. */
struct split {
    int32_t below_milli, reach;
};

static struct split split_at(const struct score_node *node, int16_t threshold)
{
    struct split s = {0, 0};
    for (int32_t i = 0; i < node->cards; i++) {
        int32_t reaches = node->left[i] >= threshold;
        s.reach += reaches;
        s.below_milli += reaches ? 0 : node->left[i];
    }
    return s;
}

/* Kinds of loss, in the order in which they are added up; a type that fits loses the cards that
 * are too small for it under LACKS_CARDS. */
enum { LACKS_BOTH, LACKS_CARDS, LACKS_CPU, CPU_ONLY_FITS, CPU_ONLY_LACKS, NOT_ACCEPTED, LOSSES };

static int loss_of(const struct score_pod *pod, const struct score_node *node,
                   const struct split *split, int32_t *milli)
{
    bool cpu = pod->cpu_milli <= node->cpu_free_milli;
    *milli = node->left_sum;
    if (pod->cards == 0)
        return cpu ? CPU_ONLY_FITS : CPU_ONLY_LACKS;
    if (!score_accepts(pod, node->model))
        return NOT_ACCEPTED;
    if (split->reach < pod->cards)
        return cpu ? LACKS_CARDS : LACKS_BOTH;
    if (!cpu)
        return LACKS_CPU;
    *milli = split->below_milli;
    return LACKS_CARDS;
}

double frag_of(const struct frag_mix *mix, const struct score_node *node)
{
    struct split splits[THRESHOLDS_AT_ONCE];
    int32_t kept = mix->threshold_count < THRESHOLDS_AT_ONCE ? mix->threshold_count
                                                             : THRESHOLDS_AT_ONCE;
    if (node->left_sum == 0)
        return 0;
    for (int32_t t = 0; t < kept; t++)
        splits[t] = split_at(node, mix->thresholds[t]);
    double sums[LOSSES] = {0}, all = 0;
    for (int32_t i = 0; i < mix->count; i++) {
        const struct frag_type *type = &mix->types[i];
        struct split split = {0, 0};
        if (type->pod.cards > 0)
            split = type->threshold < kept ? splits[type->threshold]
                                           : split_at(node, (int16_t)type->pod.milli);
        int32_t milli;
        int loss = loss_of(&type->pod, node, &split, &milli);
        sums[loss] += type->p * (double)milli;
    }
    for (int i = 0; i < LOSSES; i++)
        all += sums[i];
    return all;
}
