/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LoRA on one base in worlds that can be counted by hand. The base is 16 GB at 1 GB/s and 150 ms to
 * the first byte (16.15 s), an adapter 100 MB, 150 ms and 0.75 s more (1 s): a tenant that opens an
 * instance computes 17.15 s after it came, one that joins after 1 s.
 */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

#define ADAPTER "adapter: {rank: 16, bytes: 100MB, memory: 1GB, activations: 3GB}"
#define TENANT(name, share, rest)                                                                  \
    "    - {name: " name ", queue: q, team: " name ", loraBase: m, share: " share ", restart: 0s, " \
    "checkpoint: {interval: 0s}, file: jobs.csv, " rest "}\n"
#define HEAD(nodes, weights)                                                                       \
    "name: one-base\n"                                                                             \
    "horizon: 4h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: " nodes ", pricePerCard: 1usd/h}]}\n"     \
    "transfer: {processStart: 0s, store: 1GB/s}\n"                                                 \
    "loraSharing: {adapterLoad: 750ms}\n"                                                          \
    "teams: [{name: t0}, {name: t1}, {name: t2}, {name: t3}, {name: t4}, {name: t5}]\n"            \
    "queues: [{name: q, team: t0, cards: {a: 8}, preemption: {withinClusterQueue: LowerPriority}}]\n" \
    "models: [{name: m, weights: " weights "}]\n"
#define FIVE(share, rest)                                                                          \
    "demand:\n  lora:\n" TENANT("t0", share, rest) TENANT("t1", share, rest)                       \
    TENANT("t2", share, rest) TENANT("t3", share, rest) TENANT("t4", share, rest)
#define SIXTH(share) TENANT("t5", share, ADAPTER)

/* 0 and 1: one base; 2 and 3: a card each; 4: fused. */
#define ARBITERS                                                                                   \
    "arbiters:\n"                                                                                  \
    "  - {preset: cohort, name: base, cache: none, requeueBatch: 0s}\n"                            \
    "  - {preset: cohort, name: small, cache: none, loraSlots: 2, requeueBatch: 0s}\n"             \
    "  - {preset: pools, cache: none}\n"                                                           \
    "  - {preset: hyperpod, cache: none, borrowLimitPercent: -1}\n"                                \
    "  - {preset: cohort, name: fused, cache: none, loraMode: fused, requeueBatch: 0s}\n"

static const char one_job[] = "submit_s,duration_s\n0,1000\n";

/* Duties of 0.2 fill the card: nobody waits for anybody. 80 % fewer cards than a card each. */
static void five_tenants_on_one_base_need_a_fifth_of_the_cards(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("0.2", ADAPTER) ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 1, 0);
    assert_near(told_metric(t, "lora.cards_mean"), 1017.15 / (4 * 3600), 1e-12);
    assert_near(told_metric(t, "lora.stretch"), 1.01715, 1e-12);
    assert_near(told_metric(t, "lora.finished"), 5, 0);
    assert_int_equal(told_card_ms(t, "lora_useful"), 1000 * S);
    assert_int_equal(told_card_ms(t, "loading"), 17150);
    assert_int_equal(told_card_ms(t, "serving_headroom"), 0);
    assert_int_equal(told_card_ms_all(t), 4 * 3600 * 8 * S);
    told_free(t);
    for (int32_t a = 2; a <= 3; a++) {
        t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = a});
        assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
        assert_int_equal(told_card_ms(t, "lora_useful"), 5 * 200 * S);
        assert_int_equal(told_card_ms(t, "input_wait"), 5 * 800 * S);
        told_free(t);
    }
}

/* Five that would each keep a card busy: 1/5 of the card each, five times as long. Fused: 1.17/5. */
static void tenants_that_are_all_busy_take_turns(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("1", ADAPTER) ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 1, 0);
    assert_near(told_metric(t, "lora.stretch"), 5.01715, 1e-9);
    assert_int_equal(told_card_ms(t, "lora_useful"), 5000 * S);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 4});
    assert_near(told_metric(t, "lora.stretch"), 5 / 1.17 + 0.01715, 1e-5);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 2});
    assert_near(told_metric(t, "lora.stretch"), 1.01625, 1e-9); /* a card each: 16.1 GB and 150 ms */
    assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
    told_free(t);
}

/* 70 GB + 1 GB context + 3 GB activations leave 11.9 of 85.9 GB: eleven adapters of 1 GB, but two
 * of 5 GB. Five tenants then need three instances. */
static void too_large_adapters_open_more_instances(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "70GB")
        FIVE("0.2", "adapter: {rank: 16, bytes: 100MB, memory: 5GB, activations: 3GB}") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 3, 0);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 4}); /* 5 + 3 GB each: one */
    assert_near(told_metric(t, "lora.cards_peak"), 5, 0);
    told_free(t);
}

static void a_tenant_beyond_the_slots_opens_another_instance(void **state)
{
    (void)state;
    static const char yaml[] = HEAD("1", "16GB") FIVE("0.1", ADAPTER) SIXTH("0.1") ARBITERS;
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = one_job});
    assert_near(told_metric(t, "lora.cards_peak"), 2, 0);
    told_free(t);
    t = tell(&(struct story){.yaml = yaml, .jobs = one_job, .arbiter = 1}); /* two slots */
    assert_near(told_metric(t, "lora.cards_peak"), 3, 0);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_tenants_on_one_base_need_a_fifth_of_the_cards),
        cmocka_unit_test(tenants_that_are_all_busy_take_turns),
        cmocka_unit_test(too_large_adapters_open_more_instances),
        cmocka_unit_test(a_tenant_beyond_the_slots_opens_another_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
