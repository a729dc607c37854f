/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms of sharing behind one interface: requests, room, shares, isolation, who dies. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/sharing/blast.h"
#include "models/fleet/sharing/sharing.h"
#include "sim/arena.h"

static struct share_pool pool_of(struct share_config cfg)
{
    struct share_pool pool;
    struct err e = {0};
    if (!share_pool_init(&pool, &cfg, "A100-40", 40960, &e))
        fail_msg("%s", e.text);
    return pool;
}

static struct share_request fraction(int32_t milli)
{
    return (struct share_request){.milli = milli, .cores = -1};
}

static struct share_demand demand_of(const struct share_pool *pool, struct share_request req)
{
    struct share_demand d;
    struct err e = {0};
    if (!share_demand_make(pool, &req, &d, &e))
        fail_msg("%s", e.text);
    return d;
}

static int64_t amount(const struct share_demand *d, const char *name)
{
    for (int32_t i = 0; i < d->resource_count; i++)
        if (strcmp(d->resources[i].name, name) == 0)
            return d->resources[i].amount;
    return -1;
}

/* Takes demands until the card is full; returns how many. */
static int32_t fill(const struct share_pool *pool, struct share_card *card, struct share_demand d)
{
    int32_t n = 0;
    *card = (struct share_card){0};
    for (; share_fits(pool, card, &d); n++)
        share_take(pool, card, n, &d);
    return n;
}

static void a_fraction_becomes_what_the_mechanism_calls_it(void **state)
{
    (void)state;
    struct share_demand d;
    struct share_pool whole = pool_of((struct share_config){.kind = SHARE_WHOLE});
    d = demand_of(&whole, fraction(250));
    assert_int_equal(amount(&d, "nvidia.com/gpu"), 1);
    struct share_pool mig = pool_of((struct share_config){.kind = SHARE_MIG});
    d = demand_of(&mig, fraction(125)); /* 1g: 1/7 and 1/8 */
    assert_int_equal(amount(&d, "nvidia.com/mig-1g.5gb"), 1);
    d = demand_of(&mig, fraction(250)); /* 2g: 2/7 and 2/8 */
    assert_int_equal(amount(&d, "nvidia.com/mig-2g.10gb"), 1);
    d = demand_of(&mig, (struct share_request){.profile = "3g.20gb"});
    assert_int_equal(d.amounts.axis[SHARE_COMPUTE], 3);
    struct share_pool single = pool_of((struct share_config){
        .kind = SHARE_MIG, .mig_layout = "all-1g.5gb", .mig_single = true});
    d = demand_of(&single, (struct share_request){.cards = 1});
    assert_int_equal(amount(&d, "nvidia.com/gpu"), 1);
    assert_int_equal(single.mig->profiles[d.profile].compute, 1);
    struct share_pool hami = pool_of((struct share_config){.kind = SHARE_HAMI});
    d = demand_of(&hami, fraction(250));
    assert_int_equal(amount(&d, "nvidia.com/gpumem"), 10240);
    assert_int_equal(amount(&d, "nvidia.com/gpucores"), 25);
    struct share_pool slices = pool_of((struct share_config){
        .kind = SHARE_TIME_SLICING, .replicas = 10, .rename_shared = true});
    d = demand_of(&slices, fraction(250));
    assert_int_equal(amount(&d, "nvidia.com/gpu.shared"), 1);
    struct share_pool kai = pool_of((struct share_config){.kind = SHARE_KAI});
    d = demand_of(&kai, (struct share_request){.memory_mib = 10000, .cores = -1});
    assert_int_equal(d.amounts.axis[SHARE_MEMORY], 245); /* 244.14 rounded up */
}

/* HAMi's admission (gpu-sharing 2.1): what is unset. */
static void hami_defaults_are_kept(void **state)
{
    (void)state;
    struct share_pool hami = pool_of((struct share_config){.kind = SHARE_HAMI});
    struct share_demand d = demand_of(&hami, (struct share_request){.cores = -1}); /* exclusive */
    assert_int_equal(d.amounts.axis[SHARE_COMPUTE], 100);
    d = demand_of(&hami, (struct share_request){.cores = -1, .memory_mib = 1000});
    assert_int_equal(d.amounts.axis[SHARE_COMPUTE], 0);
    d = demand_of(&hami, (struct share_request){.cores = 30});
    assert_int_equal(d.amounts.axis[SHARE_MEMORY], 40960);
    d = demand_of(&hami, (struct share_request){.cores = -1, .memory_percent = 100, .memory_mib = 1000});
    assert_int_equal(d.amounts.axis[SHARE_MEMORY], 1000);
    assert_int_equal(d.amounts.axis[SHARE_COMPUTE], 100);
    /* no cores wanted, all cores reserved: refused */
    struct share_card *card = mem_zalloc(1, sizeof(*card));
    struct share_demand all = demand_of(&hami, (struct share_request){.cores = 100, .memory_mib = 1000});
    struct share_demand none = demand_of(&hami, (struct share_request){.cores = 0, .memory_mib = 1000});
    assert_true(share_fits(&hami, card, &none));
    share_take(&hami, card, 1, &all);
    assert_false(share_fits(&hami, card, &none));
    free(card);
}

static void each_mechanism_takes_as_many_as_it_advertises(void **state)
{
    (void)state;
    struct share_card *card = mem_alloc(1, sizeof(*card));
    struct share_pool whole = pool_of((struct share_config){.kind = SHARE_WHOLE});
    assert_int_equal(fill(&whole, card, demand_of(&whole, fraction(100))), 1);
    struct share_pool mig = pool_of((struct share_config){.kind = SHARE_MIG}); /* 3g, 2g, 1g, 1g */
    assert_int_equal(fill(&mig, card, demand_of(&mig, fraction(100))), 2);
    struct share_pool hami = pool_of((struct share_config){.kind = SHARE_HAMI});
    assert_int_equal(fill(&hami, card, demand_of(&hami, fraction(250))), 4);
    assert_int_equal(fill(&hami, card, demand_of(&hami, fraction(10))), 10); /* slots */
    struct share_pool slices = pool_of((struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 7});
    assert_int_equal(fill(&slices, card, demand_of(&slices, fraction(900))), 7); /* nothing is limited */
    struct share_pool mps = pool_of((struct share_config){.kind = SHARE_MPS, .replicas = 48});
    assert_int_equal(fill(&mps, card, demand_of(&mps, fraction(10))), 48);
    struct share_pool kai = pool_of((struct share_config){.kind = SHARE_KAI});
    assert_int_equal(fill(&kai, card, demand_of(&kai, fraction(300))), 3);
    free(card);
}

/* Thirds: 334, 333, 333 in id order, whatever the order of arrival. Then the card is as full as
 * its fullest axis (memory 30 + 40 %, not cores), divided 3 to 4. */
static void shares_add_up_by_largest_remainder(void **state)
{
    (void)state;
    struct share_card *card = mem_zalloc(1, sizeof(*card));
    int32_t milli[SHARE_TENANTS_MAX];
    struct share_pool slices = pool_of((struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 3});
    struct share_demand d = demand_of(&slices, fraction(100));
    share_take(&slices, card, 9, &d);
    share_take(&slices, card, 5, &d);
    share_take(&slices, card, 7, &d);
    assert_int_equal(share_allocated(&slices, card, milli), 1000);
    assert_int_equal(milli[0], 333);
    assert_int_equal(milli[1], 334);
    assert_int_equal(milli[2], 333);
    share_give(card, 5);
    assert_int_equal(share_allocated(&slices, card, milli), 667);
    assert_int_equal(milli[0] + milli[1], 667);
    struct share_pool hami = pool_of((struct share_config){.kind = SHARE_HAMI});
    struct share_demand a = demand_of(&hami, (struct share_request){.cores = 10, .memory_percent = 30});
    struct share_demand b = demand_of(&hami, (struct share_request){.cores = 20, .memory_percent = 40});
    *card = (struct share_card){0};
    share_take(&hami, card, 1, &a);
    share_take(&hami, card, 2, &b);
    assert_int_equal(share_allocated(&hami, card, milli), 700);
    assert_int_equal(milli[0], 300);
    assert_int_equal(milli[1], 400);
    /* one full in memory, one in cores: together one card, half each */
    a = demand_of(&hami, (struct share_request){.cores = 10, .memory_percent = 80});
    b = demand_of(&hami, (struct share_request){.cores = 80, .memory_percent = 10});
    *card = (struct share_card){0};
    share_take(&hami, card, 1, &a);
    share_take(&hami, card, 2, &b);
    assert_int_equal(share_allocated(&hami, card, milli), 900);
    assert_int_equal(milli[0], 450);
    free(card);
}

static void bad_requests_name_the_legal_values(void **state)
{
    (void)state;
    struct share_config hami = {.kind = SHARE_HAMI}, mig = {.kind = SHARE_MIG};
    struct share_config mps = {.kind = SHARE_MPS, .replicas = 4}, whole = {.kind = SHARE_WHOLE};
    struct share_config kai = {.kind = SHARE_KAI};
    const struct {
        struct share_config cfg;
        struct share_request req;
        const char *text;
    } bad[] = {
        {mig, {.profile = "3g.40gb"}, "expected one of 1g.5gb, 1g.5gb+me"},
        {mig, {.profile = "7g.40gb"}, "no card of the pool has an instance '7g.40gb'"},
        {mig, {.milli = 600}, "gives 600/1000"},
        {mig, {.cards = 2}, "instances cannot be pooled"},
        {hami, {.memory_mib = 50000, .cores = -1}, "gpumem 50000 MiB: expected at most the card's 40960"},
        {hami, {.cores = 150}, "gpucores 150: expected 0 to 100"},
        {hami, {.memory_percent = 101, .cores = -1}, "gpumem-percentage 101: expected 0 to 100"},
        {hami, {.profile = "1g.5gb"}, "MIG profile '1g.5gb' on cards under 'hami'"},
        {hami, {.milli = 1300}, "1.300 cards: expected more than 0 and less than 1"},
        {whole, {.milli = 0}, "a request for no card"},
        {kai, {.milli = 5}, "expected 0.01 or more"},
        {mps, {.milli = 500}, "expected at most 250/1000"},
        {mps, {.replicas = 2}, "expected 1 (failRequestsGreaterThanOne)"},
        {whole, {.cards = 1, .milli = 500}, "expected one of them"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct share_pool pool = pool_of(bad[i].cfg);
        struct share_demand d;
        struct err e = {0};
        assert_false(share_demand_make(&pool, &bad[i].req, &d, &e));
        assert_int_equal(e.code, ERR_INPUT);
        if (strstr(e.text, bad[i].text) == NULL)
            fail_msg("'%s' lacks '%s'", e.text, bad[i].text);
    }
}

static void bad_pools_name_the_legal_values(void **state)
{
    (void)state;
    const struct {
        struct share_config cfg;
        const char *card, *text;
    } bad[] = {
        {{.kind = SHARE_TIME_SLICING, .replicas = 0}, "A100-40", "time-slicing replicas 0: expected 2 to"},
        {{.kind = SHARE_MPS, .replicas = 49}, "A100-40", "mps replicas 49: expected 2 to 48"},
        {{.kind = SHARE_MIG}, "L40S", "L40S has no MIG profiles"},
        {{.kind = SHARE_MIG, .mig_layout = "4g.20gb*2"}, "A100-40", "does not fit on A100-40"},
        {{.kind = SHARE_MIG, .mig_layout = "all-disabled"}, "A100-40", "has no instance"},
        {{.kind = SHARE_MIG, .mig_single = true}, "A100-40", "strategy single needs one"},
        {{.kind = SHARE_MPS, .replicas = 2, .mig_layout = "all-1g.5gb"}, "A100-40", "two sharing mechanisms"},
        {{.kind = SHARE_HAMI, .slots = -1}, "A100-40", "deviceSplitCount -1"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct share_pool pool;
        struct err e = {0};
        assert_false(share_pool_init(&pool, &bad[i].cfg, bad[i].card, 40960, &e));
        if (strstr(e.text, bad[i].text) == NULL)
            fail_msg("'%s' lacks '%s'", e.text, bad[i].text);
    }
    struct err e = {0};
    assert_int_equal(share_kind_find("time-slice", &e), SHARE_KINDS);
    assert_non_null(strstr(e.text, "did you mean 'time-slicing'?"));
    e.code = ERR_NONE;
    assert_int_equal(share_kind_find("mps", &e), SHARE_MPS);
    assert_true(share_combination_ok(SHARE_MIG, SHARE_TIME_SLICING, &e));
    assert_false(share_combination_ok(SHARE_MPS, SHARE_TIME_SLICING, &e));
    assert_non_null(strstr(e.text, "'mps' and 'time-slicing'"));
}

static void isolation_is_that_of_the_mechanism(void **state)
{
    (void)state;
    static const char *const wanted[SHARE_KINDS] = {"exclusive", "hardware", "software", "none",
                                                    "software", "none"};
    for (int k = 0; k < SHARE_KINDS; k++)
        assert_string_equal(
            share_isolation_name(share_mechanism_of((enum share_kind)k)->isolation), wanted[k]);
}

static void rates_use_what_the_tenants_hold(void **state)
{
    (void)state;
    struct share_card *card = mem_zalloc(1, sizeof(*card));
    struct share_pool mig = pool_of((struct share_config){.kind = SHARE_MIG});
    struct speed_tenant t[2] = {speed_tenant_default(), speed_tenant_default()};
    struct speed_params p = speed_params_default();
    double rate[2];
    struct share_demand small = demand_of(&mig, (struct share_request){.profile = "1g.5gb"});
    struct share_demand large = demand_of(&mig, (struct share_request){.profile = "3g.20gb"});
    share_take(&mig, card, 1, &small);
    share_take(&mig, card, 2, &large);
    share_rates(&mig, card, t, &p, rate);
    assert_true(fabs(rate[0] - 14.0 / 108) < 1e-12);
    assert_true(fabs(rate[1] - 42.0 / 108) < 1e-12);
    struct share_pool hami = pool_of((struct share_config){.kind = SHARE_HAMI});
    struct share_demand third = demand_of(&hami, fraction(300)), rest = demand_of(&hami, fraction(700));
    *card = (struct share_card){0};
    share_take(&hami, card, 1, &third);
    share_take(&hami, card, 2, &rest);
    p.hami_limiter = 1;
    share_rates(&hami, card, t, &p, rate);
    assert_true(fabs(rate[0] / rate[1] - 3.0 / 7) < 1e-12);
    struct share_pool mps = pool_of((struct share_config){.kind = SHARE_MPS, .replicas = 3});
    struct share_demand slot = demand_of(&mps, fraction(100));
    *card = (struct share_card){0};
    share_take(&mps, card, 1, &slot); /* 100 / 3 = 33 percent in integers, also when alone */
    share_rates(&mps, card, t, &p, rate);
    assert_true(fabs(rate[0] - 0.33) < 1e-12);
    free(card);
}

/* ---- memory and faults ---- */

static void time_slicing_runs_out_of_memory(void **state)
{
    (void)state;
    struct share_pool pool = pool_of((struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 4});
    struct blast_tenant t[3] = {{1, 15000, 500, 0}, {2, 15000, 500, 0}, {3, 0, 500, 0}};
    struct rng rng;
    rng_open(&rng, 1, 0, 1002, 0);
    struct blast_card card = {&pool, t, 3, BLAST_ALLOCATOR, &rng};
    struct blast b;
    assert_true(blast_allocate(&card, 2, 9000, &b)); /* 40500 of 40960 */
    assert_int_equal(t[2].resident_mib, 9000);
    assert_false(blast_allocate(&card, 0, 500, &b)); /* 41000: the next to allocate fails */
    assert_int_equal(b.cause, BLAST_CARD_FULL);
    assert_int_equal(b.victim_count, 1);
    assert_int_equal(b.victims[0], 0);
    assert_int_equal(t[0].resident_mib, 15000);
    int hit[3] = {0};
    card.victim = BLAST_ANY_TENANT;
    for (int i = 0; i < 300; i++) {
        assert_false(blast_allocate(&card, 0, 500, &b));
        hit[b.victims[0]]++;
    }
    assert_true(hit[0] > 60 && hit[1] > 60 && hit[2] > 60); /* 100 each, sd 8 */
}

static void limits_stop_only_the_one_who_passes_them(void **state)
{
    (void)state;
    struct rng rng;
    struct blast b;
    rng_open(&rng, 1, 0, 1002, 0);
    struct share_pool mps = pool_of((struct share_config){.kind = SHARE_MPS, .replicas = 4});
    struct share_demand slot = demand_of(&mps, fraction(100));
    assert_int_equal(blast_limit_mib(&mps, &slot), 10240);
    struct blast_tenant t[2] = {{1, 0, 500, 10240}, {2, 0, 500, 10240}};
    struct blast_card card = {&mps, t, 2, BLAST_ANY_TENANT, &rng};
    assert_true(blast_allocate(&card, 0, 10240, &b));
    assert_false(blast_allocate(&card, 0, 1, &b));
    assert_int_equal(b.cause, BLAST_OVER_LIMIT);
    assert_int_equal(b.victims[0], 0);
    struct share_pool mig = pool_of((struct share_config){.kind = SHARE_MIG});
    struct share_demand small = demand_of(&mig, fraction(100));
    assert_int_equal(blast_limit_mib(&mig, &small), 4864);
    struct share_pool hami = pool_of((struct share_config){.kind = SHARE_HAMI});
    struct share_demand quarter = demand_of(&hami, fraction(250));
    assert_int_equal(blast_limit_mib(&hami, &quarter), 10240);
    /* contexts lie outside HAMi's limit: four full quarters do not fit a card */
    struct blast_tenant four[4] = {{1, 10240, 500, 10240}, {2, 10240, 500, 10240},
                                   {3, 10240, 500, 10240}, {4, 0, 500, 10240}};
    struct blast_card shared = {&hami, four, 4, BLAST_ALLOCATOR, &rng};
    assert_true(blast_allocate(&shared, 3, 8240, &b));
    assert_false(blast_allocate(&shared, 3, 2000, &b));
    assert_int_equal(b.cause, BLAST_CARD_FULL);
    hami.unified_memory = true; /* scaled memory moves pages instead */
    assert_true(blast_allocate(&shared, 3, 2000, &b));
}

static void a_fault_has_the_radius_of_its_mechanism(void **state)
{
    (void)state;
    static const int32_t victims[SHARE_KINDS] = {
        [SHARE_WHOLE] = 1, [SHARE_MIG] = 1, [SHARE_HAMI] = 3,
        [SHARE_TIME_SLICING] = 3, [SHARE_MPS] = 3, [SHARE_KAI] = 3};
    struct blast_tenant t[3] = {{1, 0, 0, 0}, {2, 0, 0, 0}, {3, 0, 0, 0}};
    for (int k = 0; k < SHARE_KINDS; k++) {
        struct share_pool pool = pool_of((struct share_config){.kind = (enum share_kind)k, .replicas = 4});
        struct blast_card card = {&pool, t, 3, BLAST_ALLOCATOR, NULL};
        struct blast b;
        blast_fault(&card, 1, &b);
        assert_int_equal(b.victim_count, victims[k]);
        assert_int_equal(b.victims[0], victims[k] == 1 ? 1 : 0);
        assert_int_equal(b.refuses_new, k == SHARE_MPS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fraction_becomes_what_the_mechanism_calls_it),
        cmocka_unit_test(hami_defaults_are_kept),
        cmocka_unit_test(each_mechanism_takes_as_many_as_it_advertises),
        cmocka_unit_test(shares_add_up_by_largest_remainder),
        cmocka_unit_test(bad_requests_name_the_legal_values),
        cmocka_unit_test(bad_pools_name_the_legal_values),
        cmocka_unit_test(isolation_is_that_of_the_mechanism),
        cmocka_unit_test(rates_use_what_the_tenants_hold),
        cmocka_unit_test(time_slicing_runs_out_of_memory),
        cmocka_unit_test(limits_stop_only_the_one_who_passes_them),
        cmocka_unit_test(a_fault_has_the_radius_of_its_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
