/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services in small worlds: cold starts, evicted replicas, replicas with and without a scaler. */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

/*
 * One node of eight cards, one replica that takes it all, and jobs of higher priority. Image 30 GB
 * at 30 MB/s, weights 32 GB at 1 GB/s from the store and at 3.2 GB/s from the node's disk; the
 * first byte of the store takes 150 ms. Process 20 s, engine 60 s.
 */
#define ONE_REPLICA                                                                                \
    "name: one-replica\n"                                                                          \
    "horizon: 4h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"             \
    "queues: [{name: q, cards: {a: 8}, preemption: {withinClusterQueue: LowerPriority}}]\n"        \
    "models: [{name: m, weights: 32GB, image: 30GB}]\n"                                            \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, restart: 0s, checkpoint: {interval: 0s}, file: jobs.csv}\n"         \
    "  services:\n"                                                                                \
    "    - {name: v, kind: simple, queue: q, priority: 5, model: m, cardsPerReplica: 8, maxReplicaCount: 1,\n" \
    "       serviceTime: {mean: 100ms}, traffic: {base: 1/s}}\n"                                   \
    "arbiters:\n"

#define COHORT(name, cache)                                                                        \
    "  - {preset: cohort, name: " name ", scaler: none, requeueBatch: 0s, cache: " cache "}\n"

/* The job evicts the ready replica at 7200, has the node from 7230 to 7330. */
static const char evicting[] = "submit_s,duration_s,cards_per_worker,priority\n7200,80,8,10\n";

static void a_cold_start_is_image_and_weights_and_shorter_on_the_node_that_has_them(void **state)
{
    (void)state;
    static const int64_t second_load_ms[] = {
        32150, /* none: from the store again, and the image is on the node */
        10000, /* node: from its disk */
    };
    for (int32_t i = 0; i < 2; i++) {
        struct told *t = tell(&(struct story){
            .yaml = ONE_REPLICA COHORT("none", "none") COHORT("node", "node"),
            .jobs = evicting, .arbiter = i});
        /* Replica: image 1000 s, process and engine 80 s; the second time without the image. The
         * job: process 20 s. */
        assert_int_equal(told_card_ms(t, "starting"), (1000 + 80 + 80 + 20) * 8 * S);
        assert_int_equal(told_card_ms(t, "loading"), 8 * (32150 + second_load_ms[i]));
        assert_int_equal(told_card_ms(t, "draining"), 30 * 8 * S);
        assert_int_equal(told_card_ms(t, "training_useful"), 80 * 8 * S);
        assert_near(told_metric(t, "inference.cold_starts"), 2, 0);
        assert_near(told_metric(t, "replicas.preemptions"), 1, 0);
        int64_t up = (4 * 3600 * S) - (1080 * S + 32150) - (30 + 20 + 80 + 80) * S - second_load_ms[i];
        assert_int_equal(told_card_ms(t, "serving") + told_card_ms(t, "serving_headroom"), 8 * up);
        assert_near(told_metric_of(t, "service", "v", "replicas.mean"), (double)up / (4 * 3600 * 1000.0), 1e-12);
        told_free(t);
    }
}

/*
 * A second job of the replica's priority waits since 5000. When the first one ends at 7330 it comes
 * before the replica, which is a new workload since 7230; had the replica kept its place of second
 * 0, the job would never run.
 */
static void an_evicted_replica_returns_as_a_new_workload(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = ONE_REPLICA COHORT("node", "node"),
        .jobs = "submit_s,duration_s,cards_per_worker,priority\n5000,100,8,5\n7200,80,8,10\n"});
    assert_near(told_metric(t, "training.finished"), 2, 0);
    assert_near(told_metric(t, "training.wait.max"), 7330 - 5000, 0);
    assert_near(told_metric(t, "replicas.preemptions"), 1, 0);
    assert_near(told_metric(t, "inference.cold_starts"), 2, 0);
    told_free(t);
}

/* ---- with and without a scaler ---- */

#define FIVE_REPLICAS                                                                              \
    "name: five\n"                                                                                 \
    "horizon: 1d\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, pricePerCard: 1usd/h}]}\n"             \
    "transfer: {processStart: 0s}\n"                                                               \
    "queues: [{name: q, cards: {a: 8}}]\n"                                                         \
    "demand:\n"                                                                                    \
    "  services:\n"                                                                                \
    "    - {name: v, kind: simple, queue: q, minReplicaCount: 1, maxReplicaCount: 5, engineStart: 0s,\n" \
    "       serviceTime: {mean: 100ms}, traffic: {base: 4/s}, slo: {latency: 2s}}\n"               \
    "arbiters:\n"                                                                                  \
    "  - {preset: pools}\n"                                                                        \
    "  - {preset: cohort}\n"

/* Four requests a second of 100 ms each are 0.4 of a card, however many cards there are. */
static void without_a_scaler_all_replicas_stay(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = FIVE_REPLICAS});
    assert_near(told_metric_of(t, "service", "v", "replicas.mean"), 5, 1e-9);
    assert_near(told_metric(t, "utilization.allocated"), 5 / 8.0, 1e-9);
    assert_near(told_metric(t, "utilization.real"), 0.4 / 8, 1e-6);
    assert_near(told_metric(t, "inference.served"), 4 * 86400, 1e-3);
    told_free(t);
}

/* One replica carries it within 2 s (load 0.4), so that the scaler leaves one. */
static void a_scaler_keeps_what_the_traffic_needs(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = FIVE_REPLICAS, .arbiter = 1});
    assert_near(told_metric_of(t, "service", "v", "replicas.mean"), 1, 1e-9);
    assert_near(told_metric(t, "utilization.real"), 0.4 / 8, 1e-6);
    assert_near(told_metric(t, "inference.cold_starts"), 1, 0);
    told_free(t);
}

/* A simple service has requests and no tokens. */
static void only_language_models_have_tokens(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){.yaml = FIVE_REPLICAS});
    assert_near(told_metric(t, "inference.tokens"), 0, 0);
    assert_near(told_metric(t, "inference.tokens_arrived"), 0, 0);
    double per_token = told_metric(t, "cost.per_million_tokens");
    assert_true(isnan(per_token));
    told_free(t);
}

/* ---- no replica, then one ---- */

/* Traffic of 2/s from 0 to 600 s; the only replica is ready at 300 s. What waited is served. */
static void requests_wait_for_a_cold_start(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = "name: cold\n"
                "horizon: 1h\n"
                "fleet: {nodePools: [{name: a, card: H100-80, nodes: 1, cardsPerNode: 1, pricePerCard: 1usd/h}]}\n"
                "transfer: {processStart: 0s}\n"
                "queues: [{name: q, cards: {a: 1}}]\n"
                "demand:\n"
                "  services:\n"
                "    - {name: v, kind: simple, queue: q, engineStart: 300s, serviceTime: {mean: 100ms, cv: 0},\n"
                "       traffic: {file: traffic.csv}, slo: {latency: 1s}}\n"
                "arbiters: [{preset: pools}]\n",
        .traffic = "t_s,step_s,rate_per_s\n0,600,2\n"});
    assert_near(told_metric(t, "inference.arrived"), 1200, 1e-9);
    assert_near(told_metric(t, "inference.served"), 1200, 1e-6);
    assert_near(told_metric(t, "inference.queued"), 0, 1e-9);
    assert_int_equal(told_card_ms(t, "starting"), 300 * S);
    /* 1200 requests of 100 ms. While the queue is served the replica is busy all the time: 600
     * waiting and 2/s new ones, 10/s served, are gone after 75 s. */
    assert_near((double)told_card_ms(t, "serving"), 120e3, 10);
    /* The last of the queue came at 375 s, with 10/s and 2/s: those after it are served at once. */
    assert_near(told_metric(t, "inference.slo_attainment"), 1 - 2 * 375 / 1200.0, 0.01);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cold_start_is_image_and_weights_and_shorter_on_the_node_that_has_them),
        cmocka_unit_test(an_evicted_replica_returns_as_a_new_workload),
        cmocka_unit_test(without_a_scaler_all_replicas_stay),
        cmocka_unit_test(a_scaler_keeps_what_the_traffic_needs),
        cmocka_unit_test(only_language_models_have_tokens),
        cmocka_unit_test(requests_wait_for_a_cold_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
