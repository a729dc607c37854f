/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placement by score: unit values of the published rules, and the index against a full scan. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/fleet/score/frag.h"
#include "models/fleet/score/packing.h"
#include "models/fleet/score/score.h"
#include "sim/arena.h"

static const int16_t mixed_left[4] = {200, 1000, 1000, 500};
static const int16_t idle_left[8] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};

static struct score_node node_of(const int16_t *left, int32_t cards, int64_t cpu)
{
    struct score_node n = {.cpu_free_milli = cpu, .left = left, .cards = cards, .model = -1};
    for (int32_t i = 0; i < cards; i++)
        n.left_sum += left[i];
    return n;
}

static struct score_pod pod_of(int64_t cpu, int32_t cards, int32_t milli)
{
    return (struct score_pod){.cpu_milli = cpu, .cards = cards, .milli = milli,
                              .models = SCORE_ANY_MODEL};
}

static int32_t score_by(enum score_kind rule, struct score_pod pod, struct score_node node)
{
    int16_t scratch[8];
    int32_t card;
    struct score_settings s = {.cpu_norm_milli = 128000, .card_norm_milli = 8000, .scratch = scratch};
    return score_rule_of(rule)->score(&s, &pod, &node, &card);
}

/* gpu_packing_score_test.go of the original, as quoted in gpu-sharing 5.5. */
static void packing_gives_the_published_scores(void **state)
{
    (void)state;
    assert_int_equal(score_by(SCORE_PACKING, pod_of(0, 2, 1000), node_of(mixed_left, 4, 0)), 48);
    assert_int_equal(score_by(SCORE_PACKING, pod_of(0, 1, 1000), node_of(idle_left, 4, 0)), 29);
    assert_int_equal(score_by(SCORE_PACKING, pod_of(0, 1, 1000), node_of(idle_left, 8, 0)), 25);
    assert_int_equal(score_by(SCORE_PACKING, pod_of(0, 2, 200), node_of(mixed_left, 4, 0)), 93);
    assert_int_equal(score_by(SCORE_PACKING, pod_of(4000, 0, 0), node_of(mixed_left, 4, 0)), 0);
}

/* The formulas of gpu-sharing 5.5 by hand. Dot product: (0.5 * 0.25 + 0.5 * 0.125) / 2 = 0.09375.
 * Best fit: half of cpu (64000 - 32000) / 128000 and of cards (4000 - 1000) / 8000 = 0.3125. */
static void the_formulas_by_hand(void **state)
{
    (void)state;
    struct score_node half = node_of(idle_left, 4, 64000);
    assert_int_equal(score_by(SCORE_DOT_PRODUCT, pod_of(32000, 1, 1000), half), 90);
    assert_int_equal(score_by(SCORE_BEST_FIT, pod_of(32000, 1, 1000), half), 68);
    assert_int_equal(score_by(SCORE_RANDOM, pod_of(32000, 1, 1000), half),
                     score_by(SCORE_RANDOM, pod_of(1, 1, 10), node_of(mixed_left, 4, 1)));
}

/* base = int(25 * 4000 / 8000) = 12 on a node with 4 cards left. */
static void clustering_looks_for_its_own_kind(void **state)
{
    (void)state;
    struct score_node n = node_of(idle_left, 4, 64000);
    struct score_pod share = pod_of(0, 1, 300), two = pod_of(0, 2, 1000);
    assert_int_equal(score_by(SCORE_CLUSTERING, share, n), 12 + 25);
    n.tags = score_tag(&share);
    assert_int_equal(score_by(SCORE_CLUSTERING, share, n), 12 + 75);
    assert_int_equal(score_by(SCORE_CLUSTERING, two, n), 12);
    n.tags |= score_tag(&two);
    assert_int_equal(score_by(SCORE_CLUSTERING, two, n), 12 + 50);
    assert_int_equal(score_by(SCORE_CLUSTERING, pod_of(1000, 0, 0), n), 0);
}

static double frag_against(struct score_pod type, double p, struct score_node node)
{
    struct frag_mix mix;
    frag_mix_set(&mix, &type, &p, 1);
    double frag = frag_of(&mix, &node);
    frag_mix_fini(&mix);
    return frag;
}

/* GetGpuFragMilli and TestNodeGpuShareFragAmountScore of the original (gpu-sharing 5.4). */
static void fragments_have_the_published_values(void **state)
{
    (void)state;
    struct score_node n = node_of(mixed_left, 4, 1000);
    assert_true(frag_against(pod_of(0, 2, 1000), 1, n) == 700);
    assert_true(frag_against(pod_of(0, 2, 200), 1, n) == 0);
    assert_true(fabs(frag_against(pod_of(6000, 1, 465), 0.0933, n) - 251.91) < 0.005);
    /* classes: cpu-only wastes all; so does a model that is not accepted */
    assert_true(frag_against(pod_of(500, 0, 0), 1, n) == 2700);
    struct score_pod other = pod_of(0, 1, 100);
    other.models = 2;
    assert_true(frag_against(other, 1, n) == 2700);
    n.model = 1;
    assert_true(frag_against(other, 1, n) == 0);
}

/* Only whole cards are expected. A half on a card with a half left frees 500 milli of fragment:
 * 1 / (1 + e^-0.5) = 0.622; on an idle card it makes as much: 0.378. */
static void fgd_closes_fragments(void **state)
{
    (void)state;
    static const int16_t left[3] = {1000, 500, 1000};
    struct score_pod whole = pod_of(0, 1, 1000), half = pod_of(0, 1, 500);
    struct frag_mix mix;
    int16_t scratch[3];
    int32_t card = -1;
    double p = 1;
    frag_mix_set(&mix, &whole, &p, 1);
    struct score_settings s = {128000, 8000, &mix, scratch};
    struct score_node node = node_of(left, 3, 1000);
    node.frag_milli = frag_of(&mix, &node);
    assert_int_equal(score_fgd.score(&s, &half, &node, &card), 62);
    assert_int_equal(card, 1);
    node = node_of(left, 1, 1000);
    node.frag_milli = frag_of(&mix, &node);
    assert_int_equal(score_fgd.score(&s, &half, &node, &card), 37);
    assert_int_equal(score_fgd.score(&s, &whole, &node, &card), 50); /* nothing becomes a fragment */
    frag_mix_fini(&mix);
}

static void expected_pods_are_the_most_frequent_ones(void **state)
{
    (void)state;
    struct frag_count kinds[4] = {{pod_of(1000, 1, 100), 3}, {pod_of(2000, 1, 200), 50},
                                  {pod_of(3000, 1, 300), 3}, {pod_of(4000, 0, 0), 44}};
    struct frag_mix mix;
    frag_mix_init(&mix, kinds, 4, 0.95);
    assert_int_equal(mix.count, 3); /* 50 + 44 = 94 of 100 is not enough */
    assert_int_equal(mix.types[1].pod.cpu_milli, 4000);
    assert_int_equal(mix.types[2].pod.cpu_milli, 3000); /* equal counts: the larger */
    assert_true(fabs(mix.types[0].p - 50.0 / 97) < 1e-15);
    frag_mix_fini(&mix);
}

/* ---- index ---- */

#define KINDS 12

static const int32_t card_counts[4] = {1, 2, 4, 8};

static struct packing_node some_node(struct rng *r)
{
    return (struct packing_node){.cpu_milli = 8000 * (1 + (int64_t)rng_below(r, 16)),
                                 .memory_mib = 65536 * (1 + (int64_t)rng_below(r, 8)),
                                 .cards = card_counts[rng_below(r, 4)],
                                 .model = (int32_t)rng_below(r, 4) - 1};
}

static struct packing_pod some_pod(struct rng *r)
{
    struct packing_pod p = {.pod = pod_of(1000 * (int64_t)rng_below(r, 16), 1, 1000),
                            .memory_mib = 1024 * (int64_t)rng_below(r, 64)};
    uint64_t kind = rng_below(r, 4);
    if (kind == 0)
        p.pod.cards = p.pod.milli = 0;
    else if (kind == 1)
        p.pod.cards = card_counts[rng_below(r, 3)];
    else
        p.pod.milli = 50 + 10 * (int32_t)rng_below(r, 90);
    if (p.pod.cards > 0 && rng_below(r, 3) == 0) {
        p.pod.models = 1 + rng_below(r, 7);
        p.pod.spec = 1 + (int32_t)p.pod.models;
    }
    return p;
}

/* What a test knows about one node beside the rule's view. */
struct held {
    int64_t memory_free_mib;
};

struct trial {
    struct packing *packing;
    struct packing_node nodes[60];
    struct held held[60];
    struct packing_pod kinds[KINDS];
    struct packing_spot spots[4000];
    struct frag_mix mix;
    struct rng rng;
    int32_t node_count, spot_count;
    enum score_kind rule;
};

static int32_t scan_best(const struct trial *t, int32_t kind, int32_t *fitting)
{
    int16_t scratch[PACKING_CARDS_MAX];
    struct score_settings s = {.cpu_norm_milli = 1, .card_norm_milli = 1, .mix = &t->mix,
                               .scratch = scratch};
    int32_t best = -1, best_score = -1, card;
    for (int32_t i = 0; i < t->node_count; i++) {
        if (t->nodes[i].cpu_milli > s.cpu_norm_milli)
            s.cpu_norm_milli = t->nodes[i].cpu_milli;
        if (t->nodes[i].cards * 1000 > s.card_norm_milli)
            s.card_norm_milli = t->nodes[i].cards * 1000;
    }
    *fitting = 0;
    for (int32_t i = 0; i < t->node_count; i++) {
        struct score_node view = packing_view(t->packing, i);
        const struct packing_pod *pod = &t->kinds[kind];
        if (t->held[i].memory_free_mib < pod->memory_mib || !score_fits(&pod->pod, &view))
            continue;
        int32_t score = score_rule_of(t->rule)->score(&s, &pod->pod, &view, &card);
        ++*fitting;
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static void place_and_check(struct trial *t)
{
    int32_t kind = (int32_t)rng_below(&t->rng, KINDS), fitting;
    int32_t wanted = scan_best(t, kind, &fitting);
    struct packing_spot spot = packing_place(t->packing, kind);
    if (t->rule == SCORE_RANDOM)
        assert_int_equal(spot.node >= 0, fitting > 0);
    else
        assert_int_equal(spot.node, wanted);
    if (spot.node < 0)
        return;
    t->held[spot.node].memory_free_mib -= t->kinds[kind].memory_mib;
    t->spots[t->spot_count++] = spot;
}

static void take_one_back(struct trial *t)
{
    int32_t i = (int32_t)rng_below(&t->rng, (uint64_t)t->spot_count);
    t->held[t->spots[i].node].memory_free_mib += t->kinds[t->spots[i].kind].memory_mib;
    packing_take_back(t->packing, t->spots[i]);
    t->spots[i] = t->spots[--t->spot_count];
}

static void check_totals(const struct trial *t)
{
    struct packing_totals sum = {0};
    for (int32_t i = 0; i < t->node_count; i++) {
        struct score_node view = packing_view(t->packing, i);
        sum.frag_milli += frag_of(&t->mix, &view);
        sum.used_milli += view.cards * 1000 - view.left_sum;
    }
    const struct packing_totals *totals = packing_totals_of(t->packing);
    assert_int_equal(totals->used_milli, sum.used_milli);
    assert_true(fabs(totals->frag_milli - sum.frag_milli) < 1e-6);
}

static void run_trial(enum score_kind rule, uint64_t seed)
{
    struct trial *t = mem_zalloc(1, sizeof(*t));
    struct frag_count counts[KINDS];
    rng_open(&t->rng, seed, 0, 1001, (uint64_t)rule);
    t->rule = rule;
    t->node_count = 60;
    for (int32_t i = 0; i < t->node_count; i++) {
        t->nodes[i] = some_node(&t->rng);
        t->held[i].memory_free_mib = t->nodes[i].memory_mib;
    }
    for (int32_t k = 0; k < KINDS; k++) {
        t->kinds[k] = some_pod(&t->rng);
        counts[k] = (struct frag_count){t->kinds[k].pod, 1 + (int64_t)rng_below(&t->rng, 9)};
    }
    frag_mix_init(&t->mix, counts, KINDS, 0.95);
    t->packing = packing_create(t->nodes, t->node_count, rule, &t->mix, seed);
    for (int32_t k = 0; k < KINDS; k++)
        assert_int_equal(packing_add_kind(t->packing, &t->kinds[k]), k);
    for (int step = 0; step < 3000; step++) {
        if (t->spot_count > 0 && rng_below(&t->rng, 10) < 4)
            take_one_back(t);
        else
            place_and_check(t);
    }
    check_totals(t);
    while (t->spot_count > 0)
        take_one_back(t);
    assert_int_equal(packing_totals_of(t->packing)->used_milli, 0);
    assert_int_equal(packing_totals_of(t->packing)->cards_touched, 0);
    packing_destroy(t->packing);
    frag_mix_fini(&t->mix);
    free(t);
}

static void every_rule_chooses_as_a_full_scan_does(void **state)
{
    (void)state;
    for (int rule = 0; rule < SCORE_KINDS; rule++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            run_trial((enum score_kind)rule, seed);
}

/* Scores computed per placement when pods come and go, after the cluster has been filled. */
static double looks_per_placement(enum score_kind rule, int32_t nodes)
{
    struct packing_node *all = mem_alloc((size_t)nodes, sizeof(*all));
    struct frag_count counts[KINDS];
    struct packing_pod kinds[KINDS];
    struct frag_mix mix;
    struct rng r;
    rng_open(&r, 5, 0, 1001, 0);
    for (int32_t k = 0; k < KINDS; k++) {
        kinds[k] = some_pod(&r);
        kinds[k].pod.models = SCORE_ANY_MODEL;
        counts[k] = (struct frag_count){kinds[k].pod, 1};
    }
    for (int32_t i = 0; i < nodes; i++)
        all[i] = (struct packing_node){96000, 512 * 1024, 8, 0};
    frag_mix_init(&mix, counts, KINDS, 1);
    struct packing *p = packing_create(all, nodes, rule, &mix, 1);
    for (int32_t k = 0; k < KINDS; k++)
        packing_add_kind(p, &kinds[k]);
    struct packing_spot *spots = mem_alloc((size_t)nodes * 100, sizeof(*spots));
    int32_t count = 0;
    int64_t start = 0;
    for (int32_t i = 0; i < 12 * nodes + 20000; i++) {
        if (i == 12 * nodes)
            start = packing_looks(p);
        spots[count] = packing_place(p, (int32_t)rng_below(&r, KINDS));
        count += spots[count].node >= 0;
        if (i >= 12 * nodes && count > 0) {
            int32_t victim = (int32_t)rng_below(&r, (uint64_t)count);
            packing_take_back(p, spots[victim]);
            spots[victim] = spots[--count];
        }
    }
    double looks = (double)(packing_looks(p) - start) / 20000;
    packing_destroy(p);
    frag_mix_fini(&mix);
    free(spots);
    free(all);
    return looks;
}

static void a_decision_does_not_look_at_unchanged_nodes(void **state)
{
    (void)state;
    for (int rule = 0; rule < SCORE_KINDS; rule++) {
        double small = looks_per_placement((enum score_kind)rule, 1250);
        double large = looks_per_placement((enum score_kind)rule, 12500);
        print_message("# %s: %.1f scores per placement with 10,000 cards, %.1f with 100,000\n",
                      score_rule_of((enum score_kind)rule)->name, small, large);
        assert_true(large <= 3 * small);
        assert_true(large < 3 * KINDS); /* two changes per step, seen once by every kind */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_gives_the_published_scores),
        cmocka_unit_test(the_formulas_by_hand),
        cmocka_unit_test(clustering_looks_for_its_own_kind),
        cmocka_unit_test(fragments_have_the_published_values),
        cmocka_unit_test(fgd_closes_fragments),
        cmocka_unit_test(expected_pods_are_the_most_frequent_ones),
        cmocka_unit_test(every_rule_chooses_as_a_full_scan_does),
        cmocka_unit_test(a_decision_does_not_look_at_unchanged_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
