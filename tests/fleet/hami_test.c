/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cases of HAMi's own tests (gpu-sharing 2.8), through the public interface. */
#include "models/fleet/sharing/hami.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/sharing/hami_sort.h"
#include "sim/rng.h"

#define MODEL "NVIDIA A100"

static struct hami_card card(const char *id, int32_t slots, int32_t mem, int32_t cores)
{
    return (struct hami_card){.id = id, .type = MODEL, .vendor = HAMI_NVIDIA, .slots = slots,
                              .mem = mem, .cores = cores, .healthy = true, .mode = "hami-core",
                              .qos = ""};
}

/* A pod of one container with up to four limits (name NULL = end). */
struct one_pod {
    struct hami_limit limits[5];
    struct hami_text annotations[3];
    struct hami_container container;
    struct hami_pod pod;
};

static void make_pod(struct one_pod *p, int64_t cards, int64_t mem, int64_t cores, int64_t percent)
{
    static const char *const names[4] = {"nvidia.com/gpu", "nvidia.com/gpumem",
                                         "nvidia.com/gpucores", "nvidia.com/gpumem-percentage"};
    const int64_t values[4] = {cards, mem, cores, percent};
    *p = (struct one_pod){0};
    for (int i = 0; i < 4; i++)
        if (values[i] >= 0) /* -1 = not given */
            p->limits[p->container.limit_count++] =
                (struct hami_limit){.name = names[i], .value = values[i]};
    p->container.limits = p->limits;
    p->pod = (struct hami_pod){.ns = "default", .annotations = p->annotations,
                               .containers = &p->container, .container_count = 1};
}

static void annotate(struct one_pod *p, const char *key, const char *value)
{
    p->annotations[p->pod.annotation_count++] = (struct hami_text){key, value};
}

struct scene {
    struct hami_cluster *cluster;
    struct arena arena;
};

static const struct hami_config defaults = {.node_policy = "binpack", .card_policy = "spread",
                                            .default_count = 1, .mem_factor = 1};

static struct hami_result *decide(struct scene *s, struct one_pod *p)
{
    assert_int_equal(hami_admit(s->cluster, &p->pod, &s->arena), HAMI_ADMITTED);
    return hami_decide(s->cluster, &p->pod, &s->arena);
}

static void end(struct scene *s)
{
    hami_cluster_destroy(s->cluster);
    arena_fini(&s->arena);
}

/* The reason for which a pod does not fit one card with `used` pods of used_mem, used_cores each. */
static void assert_reason(struct hami_card d, int used, int64_t used_mem, int64_t used_cores,
                          struct one_pod *p, const char *reason)
{
    struct hami_node node = {.name = "n", .cards = &d, .card_count = 1};
    struct scene s = {hami_cluster_create(&defaults, &node, 1), {0}};
    struct hami_bound *held[128];
    for (int i = 0; i < used; i++) {
        struct one_pod before;
        make_pod(&before, 1, used_mem, used_cores, -1);
        struct hami_result *r = decide(&s, &before);
        assert_true(r[0].fits);
        held[i] = hami_bind(s.cluster, &before.pod, 0, &r[0]);
    }
    struct hami_result *r = decide(&s, p);
    if (reason == NULL)
        assert_true(r[0].fits);
    else
        assert_string_equal(r[0].reason, reason);
    for (int i = 0; i < used; i++)
        hami_unbind(s.cluster, held[i]);
    end(&s);
}

static void reasons_are_those_of_the_fit_tests(void **state)
{
    (void)state;
    struct one_pod p;
    make_pod(&p, 1, 512, 50, -1);
    assert_reason(card("g", 100, 128, 100), 0, 0, 0, &p, "1/1 CardInsufficientMemory");
    make_pod(&p, 1, 16, 50, -1);
    assert_reason(card("g", 100, 128, 100), 1, 16, 100, &p, "1/1 CardInsufficientCore");
    make_pod(&p, 1, 16, 50, -1);
    annotate(&p, "nvidia.com/use-gputype", "H100");
    assert_reason(card("g", 100, 128, 100), 0, 0, 0, &p, "1/1 CardTypeMismatch");
    make_pod(&p, 1, 16, 50, -1);
    annotate(&p, "nvidia.com/use-gpuuuid", "other");
    assert_reason(card("g", 100, 128, 100), 0, 0, 0, &p, "1/1 CardUuidMismatch");
    make_pod(&p, 1, 16, 50, -1);
    annotate(&p, "nvidia.com/nouse-gpuuuid", "g");
    assert_reason(card("g", 100, 128, 100), 0, 0, 0, &p, "1/1 CardUuidMismatch");
    make_pod(&p, 1, 1, 0, -1);
    assert_reason(card("g", 100, 128, 100), 100, 1, 0, &p, "1/1 CardTimeSlicingExhausted");
    make_pod(&p, 1, 64, 120, -1);
    assert_reason(card("g", 100, 128, 100), 0, 0, 0, &p, NULL); /* clamped to 100 */
    make_pod(&p, 1, 1, 100, -1);
    assert_reason(card("g", 100, 128, 100), 20, 1, 0, &p, "1/1 ExclusiveDeviceAllocateConflict");
    make_pod(&p, 1, 1, 0, -1);
    assert_reason(card("g", 100, 128, 100), 1, 16, 100, &p, "1/1 CardComputeUnitsExhausted");
    make_pod(&p, 1, -1, 0, 10);
    assert_reason(card("g", 100, 1280, 100), 0, 0, 0, &p, NULL);
    make_pod(&p, 2, 1, 0, -1);
    assert_reason(card("g", 100, 128, 100), 0, 0, 0, &p, "NodeInsufficientDevice");
}

static void cards_are_taken_from_the_end_of_the_list(void **state)
{
    (void)state;
    struct hami_card cards[2] = {card("g0", 100, 128, 100), card("g1", 100, 128, 100)};
    struct hami_node node = {.name = "n", .cards = cards, .card_count = 2};
    struct scene s = {hami_cluster_create(&defaults, &node, 1), {0}};
    struct one_pod p;
    make_pod(&p, 1, 64, 50, -1);
    struct hami_result *r = decide(&s, &p);
    assert_true(r[0].fits);
    assert_int_equal(r[0].allocation.lists[HAMI_NVIDIA][0].items[0].card, 1);
    end(&s);
}

/* Test_Filter: two nodes of two cards; node1 card1 holds 25 c / 2000, node2 card4 75 c / 6000. */
static void assert_filter(const char *node_policy, const char *card_policy, int32_t best_node,
                          int32_t best_card)
{
    struct hami_card cards[4];
    static const char *const ids[4] = {"card1", "card2", "card3", "card4"};
    for (int i = 0; i < 4; i++)
        cards[i] = card(ids[i], 10, 8000, 100);
    struct hami_node nodes[2] = {{.name = "node1", .cards = cards, .card_count = 2},
                                 {.name = "node2", .cards = cards + 2, .card_count = 2}};
    struct hami_config cfg = defaults;
    cfg.node_policy = node_policy;
    cfg.card_policy = card_policy;
    struct scene s = {hami_cluster_create(&cfg, nodes, 2), {0}};
    struct hami_bound *held[2];
    static const int64_t mem[2] = {2000, 6000}, cores[2] = {25, 75};
    static const char *const uuid[2] = {"card1", "card4"};
    for (int i = 0; i < 2; i++) {
        struct one_pod before;
        make_pod(&before, 1, mem[i], cores[i], -1);
        annotate(&before, "nvidia.com/use-gpuuuid", uuid[i]);
        struct hami_result *r = decide(&s, &before);
        assert_true(r[i].fits);
        held[i] = hami_bind(s.cluster, &before.pod, i, &r[i]);
    }
    struct one_pod p;
    make_pod(&p, 1, 1000, 20, -1);
    struct hami_result *r = decide(&s, &p);
    assert_true(r[0].fits && r[1].fits);
    assert_true(r[0].score > 2.99F && r[0].score < 3.01F);
    assert_true(r[1].score > 7.99F && r[1].score < 8.01F);
    int32_t best = hami_better(s.cluster, &p.pod, r[1].score, r[0].score) ? 1 : 0;
    assert_int_equal(best, best_node);
    assert_int_equal(r[best].allocation.lists[HAMI_NVIDIA][0].items[0].card, best_card);
    hami_unbind(s.cluster, held[0]);
    hami_unbind(s.cluster, held[1]);
    end(&s);
}

static void node_and_card_policies_choose_as_in_the_filter_test(void **state)
{
    (void)state;
    assert_filter("binpack", "binpack", 1, 1); /* node2/card4 */
    assert_filter("binpack", "spread", 1, 0);  /* node2/card3 */
    assert_filter("spread", "binpack", 0, 0);  /* node1/card1 */
    assert_filter("spread", "spread", 0, 1);   /* node1/card2 */
}

/* Test_calcScore: one card 5/10 slots, 4000/8000, 50/100: node score 15; with an idle card 7.5. */
static void node_scores_are_those_of_the_score_test(void **state)
{
    (void)state;
    for (int cards_count = 1; cards_count <= 2; cards_count++) {
        struct hami_card cards[2] = {card("a", 10, 8000, 100), card("b", 10, 8000, 100)};
        struct hami_node node = {.name = "n", .cards = cards, .card_count = cards_count};
        struct scene s = {hami_cluster_create(&defaults, &node, 1), {0}};
        struct hami_bound *held[5];
        for (int i = 0; i < 5; i++) {
            struct one_pod p;
            make_pod(&p, 1, 800, 10, -1);
            annotate(&p, "nvidia.com/use-gpuuuid", "a");
            struct hami_result *r = decide(&s, &p);
            assert_true(r[0].fits);
            held[i] = hami_bind(s.cluster, &p.pod, 0, &r[0]);
        }
        struct one_pod p;
        make_pod(&p, 1, 100, 10, -1);
        float score = decide(&s, &p)[0].score;
        float want = cards_count == 1 ? 15.0F : 7.5F;
        assert_true(score > want - 0.001F && score < want + 0.001F);
        for (int i = 0; i < 5; i++)
            hami_unbind(s.cluster, held[i]);
        end(&s);
    }
}

static struct hami_card mig_card(void)
{
    struct hami_card d = card("g", 7, 40960, 100);
    d.mode = "mig";
    d.mig_count = 4;
    d.mig[0] = (struct hami_mig_profile){"1g.5gb", 4864, 15, 1, 1, {0, 1, 2, 3, 4, 5, 6}, 7};
    d.mig[1] = (struct hami_mig_profile){"2g.10gb", 9856, 29, 2, 2, {0, 2, 4}, 3};
    d.mig[2] = (struct hami_mig_profile){"3g.20gb", 19968, 43, 3, 4, {0, 4}, 2};
    d.mig[3] = (struct hami_mig_profile){"7g.40gb", 40192, 100, 7, 8, {0}, 1};
    return d;
}

/* Places pods of these memories one after another; each must start where start[] says. */
static void place_instances(struct scene *s, const int64_t *mem, const int32_t *start, int count,
                            struct hami_bound **held)
{
    for (int i = 0; i < count; i++) {
        struct one_pod p;
        make_pod(&p, 1, mem[i], 0, -1);
        struct hami_result *r = decide(s, &p);
        assert_true(r[0].fits);
        assert_int_equal(r[0].allocation.lists[HAMI_NVIDIA][0].items[0].start, start[i]);
        held[i] = hami_bind(s->cluster, &p.pod, 0, &r[0]);
    }
}

/* TestSelectMigPlacementUsesBalancedPacking: 3g, 2g, 1g, 1g in turn start at 4, 0, 3, 2. */
static void mig_instances_are_packed_balanced(void **state)
{
    (void)state;
    struct hami_card d = mig_card();
    struct hami_node node = {.name = "n", .cards = &d, .card_count = 1};
    struct scene s = {hami_cluster_create(&defaults, &node, 1), {0}};
    struct hami_bound *held[4];
    place_instances(&s, (const int64_t[]){19968, 9856, 4864, 4000}, (const int32_t[]){4, 0, 3, 2},
                    4, held);
    for (int i = 0; i < 4; i++)
        hami_unbind(s.cluster, held[i]);
    assert_int_equal(hami_card_usage(s.cluster, 0, 0).slots, 0);
    end(&s);
}

/* After three 2g only slice 6 is left: a 1g fits, what needs more does not, whatever memory says. */
static void mig_requests_need_a_free_place(void **state)
{
    (void)state;
    struct hami_card d = mig_card();
    struct hami_node node = {.name = "n", .cards = &d, .card_count = 1};
    struct scene s = {hami_cluster_create(&defaults, &node, 1), {0}};
    struct hami_bound *held[4];
    struct one_pod p;
    place_instances(&s, (const int64_t[]){9856, 9856, 9856}, (const int32_t[]){0, 2, 4}, 3, held);
    make_pod(&p, 1, 10000, 0, -1);
    assert_string_equal(decide(&s, &p)[0].reason, "1/1 CardMigTopologyInfeasible");
    place_instances(&s, (const int64_t[]){4000}, (const int32_t[]){6}, 1, held + 3);
    for (int i = 0; i < 4; i++)
        hami_unbind(s.cluster, held[i]);
    end(&s);
}

static void an_explicit_quota_of_zero_blocks_everything(void **state)
{
    (void)state;
    struct hami_card d = card("g", 10, 8000, 100);
    struct hami_node node = {.name = "n", .cards = &d, .card_count = 1};
    struct scene s = {hami_cluster_create(&defaults, &node, 1), {0}};
    hami_quota_set(s.cluster, "default", "nvidia.com/gpumem", 0);
    struct one_pod p;
    make_pod(&p, 1, 100, 0, -1);
    assert_int_equal(hami_admit(s.cluster, &p.pod, &s.arena), HAMI_OVER_QUOTA);
    make_pod(&p, 1, -1, 0, 10); /* a percentage passes admission and stops at the filter */
    assert_string_equal(decide(&s, &p)[0].reason, "1/1 ResourceQuotaNotFit");
    end(&s);
}

/* ---- the sort ---- */

static bool key_before(const void *context, int32_t a, int32_t b)
{
    const int32_t *key = context;
    return key[a] < key[b];
}

static void sorting_orders_and_keeps_short_lists_stable(void **state)
{
    (void)state;
    struct rng r;
    rng_open(&r, 1, 0, 1000, 6);
    for (int i = 0; i < 3000; i++) {
        int32_t key[200], at[200], n = (int32_t)rng_below(&r, 200), seen[200] = {0};
        uint64_t range = 1 + rng_below(&r, 50);
        for (int32_t k = 0; k < n; k++) {
            key[k] = i % 3 == 0 ? n - k : (int32_t)rng_below(&r, range);
            at[k] = k;
        }
        hami_sort(at, n, key_before, key);
        for (int32_t k = 0; k < n; k++)
            seen[at[k]]++;
        for (int32_t k = 0; k < n; k++) {
            assert_int_equal(seen[k], 1);
            assert_true(k == 0 || key[at[k - 1]] <= key[at[k]]);
            if (n <= 12 && k > 0 && key[at[k - 1]] == key[at[k]])
                assert_true(at[k - 1] < at[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reasons_are_those_of_the_fit_tests),
        cmocka_unit_test(cards_are_taken_from_the_end_of_the_list),
        cmocka_unit_test(node_and_card_policies_choose_as_in_the_filter_test),
        cmocka_unit_test(node_scores_are_those_of_the_score_test),
        cmocka_unit_test(mig_instances_are_packed_balanced),
        cmocka_unit_test(mig_requests_need_a_free_place),
        cmocka_unit_test(an_explicit_quota_of_zero_blocks_everything),
        cmocka_unit_test(sorting_orders_and_keeps_short_lists_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
