/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Placements of the specification's table (6.2): rack A: a1 3, a2 2, a3 4; rack B: b1 8, b2 1. */
#include "tests/policies/cluster.h"

#include "models/policies/kueue/place.h"
#include "models/policies/kueue/shape.h"

static const char *const level_names[] = {"rack", "kubernetes.io/hostname"};
static const struct policy_topology topology = {"t", level_names, 2};

static struct policy_node nodes[5];
static struct policy_label labels[5][2];
static struct policy_amount amounts[5][2];

static void make_nodes(void)
{
    static const struct {
        const char *rack, *host;
        int64_t gpus;
    } rows[] = {{"A", "a1", 3}, {"A", "a2", 2}, {"A", "a3", 4}, {"B", "b1", 8}, {"B", "b2", 1}};
    for (int i = 0; i < 5; i++) {
        labels[i][0] = (struct policy_label){"rack", rows[i].rack};
        labels[i][1] = (struct policy_label){"kubernetes.io/hostname", rows[i].host};
        amounts[i][0] = (struct policy_amount){0, rows[i].gpus};
        amounts[i][1] = (struct policy_amount){1, 110}; /* pods */
        nodes[i] = (struct policy_node){.name = rows[i].host,
                                        .labels = labels[i],
                                        .allocatable = amounts[i],
                                        .label_count = 2,
                                        .allocatable_count = 2,
                                        .ready = true};
    }
}

struct row {
    int64_t count;
    enum policy_topology_mode mode;
    const char *level, *slice_level;
    int64_t slice_size;
    int64_t hosts[5]; /* a1 a2 a3 b1 b2 */
};

static void apply_hosts(void *ctx, int64_t now, const struct policy_output *o, size_t n)
{
    int64_t *hosts = ctx;
    (void)now;
    for (size_t i = 0; i < n; i++)
        for (uint32_t d = 0; o[i].kind == POLICY_DO_ADMIT && d < o[i].u.entry->sets[0].domain_count; d++) {
            const struct policy_domain *at = &o[i].u.entry->sets[0].domains[d];
            assert_string_equal(at->values[0], nodes[at->node].name);
            hosts[at->node] += at->count;
        }
}

static void play_row(const struct row *r)
{
    static const char *const resources[] = {"gpu", "pods"};
    struct cluster *c = cl_new();
    int64_t hosts[5] = {0};
    char error[256];
    make_nodes();
    cl_queue(c, "q", POLICY_NONE, 99, CL_NIL, CL_NIL);
    c->flavors[0].topology = 0;
    c->cfg.resources = resources;
    c->cfg.resource_count = 2;
    c->cfg.topologies = &topology;
    c->cfg.topology_count = 1;
    c->cfg.nodes = nodes;
    c->cfg.node_count = 5;
    const struct policy_ops *ops = policy_kueue();
    void *policy = ops->create(&c->cfg, NULL, error, sizeof error);
    const struct settle_host host = {.ctx = hosts, .apply = apply_hosts};
    struct settle *settle = settle_create(ops, policy, &c->settling, &host);
    const struct policy_amount a = {0, 1};
    struct policy_pod_set set = {.name = "main", .count = r->count, .min_count = POLICY_NIL,
                                 .requests = &a, .request_count = 1};
    set.topology.mode = r->mode;
    set.topology.level = r->level;
    if (r->slice_level != NULL) {
        set.topology.slices[0].level = r->slice_level;
        set.topology.slices[0].size = r->slice_size;
        set.topology.slice_count = 1;
    }
    const struct policy_shape shape = {&set, 1};
    const struct policy_workload w = {.shape = ops->register_shape(policy, &shape)};
    const struct policy_input in = {.kind = POLICY_IN_SUBMIT, .submit = &w};
    policy_settle(settle, CL_S, &in, 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(hosts[i], r->hosts[i]);
    settle_destroy(settle);
    ops->destroy(policy);
    free(c);
}

static void placements_are_those_of_the_table(void **state)
{
    (void)state;
    static const char host[] = "kubernetes.io/hostname";
    const struct row rows[] = {
        {5, POLICY_TOPOLOGY_REQUIRED, "rack", NULL, 0, {0, 1, 4, 0, 0}},
        {10, POLICY_TOPOLOGY_PREFERRED, host, NULL, 0, {0, 2, 0, 8, 0}},
        {9, POLICY_TOPOLOGY_UNCONSTRAINED, NULL, NULL, 0, {3, 2, 3, 0, 1}},
        {6, POLICY_TOPOLOGY_REQUIRED, "rack", "rack", 2, {3, 2, 1, 0, 0}},
        {6, POLICY_TOPOLOGY_REQUIRED, "rack", host, 2, {0, 2, 4, 0, 0}},
        {6, POLICY_TOPOLOGY_SLICES, NULL, host, 2, {2, 2, 2, 0, 0}},
        {19, POLICY_TOPOLOGY_UNCONSTRAINED, NULL, NULL, 0, {0, 0, 0, 0, 0}}, /* one too many */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        play_row(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(placements_are_those_of_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
