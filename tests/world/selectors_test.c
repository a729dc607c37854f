/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taints, tolerations and node selectors decide where a job runs: two pools of one flavor. */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define WORLD(taints, more)                                                                        \
    "name: selectors\n"                                                                            \
    "horizon: 1000s\n"                                                                             \
    "fleet:\n"                                                                                     \
    "  nodePools:\n"                                                                               \
    "    - {name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h, labels: {zone: x, disk: ssd}, taints: [" taints "]}\n" \
    "    - {name: b, card: H100-80, nodes: 1, pricePerCard: 1usd/h, labels: {zone: x}}\n"           \
    "  flavors: [{name: f, nodeLabels: {zone: x}}]\n"                                              \
    "transfer: {processStart: 0s}\n"                                                               \
    "queues: [{name: q, cards: {f: 16}}]\n"                                                        \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv" more "}\n"  \
    "arbiters: [{preset: cohort, requeueBatch: 0s}]\n"

/* Parts of the two pools that the jobs hold; each runs for the whole horizon. */
static void runs_on(const char *yaml, const char *jobs, double a, double b)
{
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = jobs});
    assert_near(told_metric_of(t, "node_pool", "a", "utilization.allocated"), a, 1e-12);
    assert_near(told_metric_of(t, "node_pool", "b", "utilization.allocated"), b, 1e-12);
    told_free(t);
}

#define ONE "submit_s,duration_s,cards_per_worker\n0,5000,8\n"
#define TWO ONE "0,5000,8\n"

static void without_taints_the_first_pool_goes_first(void **state)
{
    (void)state;
    runs_on(WORLD("", ""), ONE, 1, 0);
}

static void prefer_no_schedule_is_avoided_while_there_is_another_place(void **state)
{
    (void)state;
    runs_on(WORLD("{key: old, effect: PreferNoSchedule}", ""), ONE, 0, 1);
    runs_on(WORLD("{key: old, effect: PreferNoSchedule}", ""), TWO, 1, 1);
    runs_on(WORLD("{key: old, effect: PreferNoSchedule}", ", tolerations: [{key: old}]"), ONE, 1, 0);
}

static void no_schedule_and_no_execute_keep_out_who_does_not_tolerate_them(void **state)
{
    (void)state;
    runs_on(WORLD("{key: k, value: v, effect: NoSchedule}", ""), TWO, 0, 1);
    runs_on(WORLD("{key: k, value: v, effect: NoExecute}", ""), TWO, 0, 1);
    runs_on(WORLD("{key: k, value: v, effect: NoExecute}", ", tolerations: [{key: k, value: w}]"), TWO, 0, 1);
    runs_on(WORLD("{key: k, value: v, effect: NoExecute}", ", tolerations: [{key: k, effect: NoSchedule}]"), TWO, 0, 1);
    runs_on(WORLD("{key: k, value: v, effect: NoExecute}", ", tolerations: [{key: k, value: v}]"), TWO, 1, 1);
    runs_on(WORLD("{key: k, value: v, effect: NoSchedule}", ", tolerations: [{}]"), TWO, 1, 1); /* everything */
}

/* A toleration permits, it does not attract; a node selector does (managed-and-costs 4.4). */
static void a_node_selector_admits_only_pools_with_the_label(void **state)
{
    (void)state;
    runs_on(WORLD("", ", nodeSelector: {disk: ssd}"), TWO, 1, 0);
    runs_on(WORLD("", ", nodeSelector: {node-pool: b}"), TWO, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_taints_the_first_pool_goes_first),
        cmocka_unit_test(prefer_no_schedule_is_avoided_while_there_is_another_place),
        cmocka_unit_test(no_schedule_and_no_execute_keep_out_who_does_not_tolerate_them),
        cmocka_unit_test(a_node_selector_admits_only_pools_with_the_label),
    };
    return cmocka_run_group_tests_name("selectors", tests, NULL, NULL);
}
