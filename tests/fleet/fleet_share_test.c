/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools under a mechanism: what a share gets, how many fit, and that nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/catalogue.h"
#include "models/fleet/fleet.h"
#include "models/fleet/sharing/mig.h"
#include "sim/rng.h"

static struct resource_amount cpu = {0, 1000000};
static const char *names[1] = {"cpu"};
static const int32_t only_pool[1] = {0};

static struct node_pool_config pool_of(int32_t nodes, int32_t cards, struct share_config sharing)
{
    return (struct node_pool_config){.name = "p",
                                     .card = catalogue_find_card(catalogue_builtin(), "A100-40"),
                                     .node_count = nodes,
                                     .cards_per_node = cards,
                                     .allocatable = &cpu,
                                     .allocatable_count = 1,
                                     .sharing = sharing};
}

static struct fleet_config config_of(struct node_pool_config *pool)
{
    return (struct fleet_config){.resources = names, .resource_count = 1, .pools = pool, .pool_count = 1};
}

static struct place_request share_of(int32_t milli)
{
    return (struct place_request){.share_milli = milli, .pools = only_pool, .pool_count = 1,
                                  .prefer_model = -1};
}

/* Places shares on one node of two cards until nothing fits; their number and milli. */
static int32_t fill(struct share_config sharing, int32_t milli, int64_t *held)
{
    struct node_pool_config pool = pool_of(1, 2, sharing);
    struct fleet_config cfg = config_of(&pool);
    struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
    struct place_request req = share_of(milli);
    struct lease_id l = fleet_lease_open(f);
    int32_t n = fleet_place(f, l, &req, 200, false, false), count;
    const struct lease_part *parts = fleet_lease_parts(f, l, &count);
    assert_int_equal(n, count);
    *held = 0;
    for (int32_t i = 0; i < n; i++)
        *held += parts[i].milli;
    assert_int_equal(*held, fleet_pool_used_milli(f, 0));
    assert_true(fleet_could_place(&cfg, &req, n));
    assert_false(fleet_could_place(&cfg, &req, n + 1));
    fleet_lease_close(f, l);
    assert_int_equal(fleet_pool_used_milli(f, 0), 0);
    fleet_destroy(f);
    return n;
}

/* On two cards: replicas add up to whole cards; HAMi rounds cores up and has ten slots; MIG gives
 * the smallest instance of 3g, 2g, 1g, 1g that covers the share. */
static void a_share_gets_what_the_mechanism_gives(void **state)
{
    (void)state;
    int64_t held;
    assert_int_equal(fill((struct share_config){.kind = SHARE_WHOLE}, 300, &held), 6);
    assert_int_equal(held, 1800);
    assert_int_equal(fill((struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 3}, 900, &held), 6);
    assert_int_equal(held, 2000);
    assert_int_equal(fill((struct share_config){.kind = SHARE_MPS, .replicas = 48}, 20, &held), 96);
    assert_int_equal(held, 2000);
    assert_int_equal(fill((struct share_config){.kind = SHARE_MPS, .replicas = 4}, 300, &held), 0);
    assert_int_equal(fill((struct share_config){.kind = SHARE_HAMI}, 333, &held), 4);
    assert_int_equal(held, 4 * 340);
    assert_int_equal(fill((struct share_config){.kind = SHARE_HAMI}, 20, &held), 20);
    assert_int_equal(held, 2000);
    assert_int_equal(fill((struct share_config){.kind = SHARE_HAMI, .slots = 3}, 100, &held), 6);
    assert_int_equal(fill((struct share_config){.kind = SHARE_KAI}, 300, &held), 6);
    assert_int_equal(fill((struct share_config){.kind = SHARE_MIG}, 100, &held), 4);
    assert_int_equal(held, 4 * 133);
    assert_int_equal(fill((struct share_config){.kind = SHARE_MIG}, 250, &held), 2);
    assert_int_equal(held, 2 * 267);
    assert_int_equal(fill((struct share_config){.kind = SHARE_MIG, .mig_layout = "all-1g.5gb"}, 100, &held), 14);
    assert_int_equal(held, 2000);
    assert_int_equal(fill((struct share_config){.kind = SHARE_MIG}, 600, &held), 0);
}

/* One node of four cards: how many workers with one card, and with two, it holds. */
static void whole_cards_are_whole_or_replicas_or_not_to_be_had(void **state)
{
    (void)state;
    const struct {
        struct share_config sharing;
        int32_t fit[2];
    } cases[] = {{{.kind = SHARE_WHOLE}, {4, 2}},
                 {{.kind = SHARE_HAMI}, {4, 2}},
                 {{.kind = SHARE_KAI}, {4, 2}},
                 {{.kind = SHARE_MIG}, {0, 0}},
                 {{.kind = SHARE_MIG, .mig_layout = "1g.5gb*7", .mig_single = true}, {28, 0}},
                 {{.kind = SHARE_TIME_SLICING, .replicas = 3, .allow_above_one = true}, {12, 6}},
                 {{.kind = SHARE_TIME_SLICING, .replicas = 3}, {12, 0}},
                 {{.kind = SHARE_TIME_SLICING, .replicas = 3, .rename_shared = true}, {0, 0}},
                 {{.kind = SHARE_MPS, .replicas = 2}, {8, 0}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int32_t cards = 1; cards <= 2; cards++) {
            struct node_pool_config pool = pool_of(1, 4, cases[i].sharing);
            struct fleet_config cfg = config_of(&pool);
            struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
            struct place_request req = {.cards = cards, .pools = only_pool, .pool_count = 1, .prefer_model = -1};
            struct lease_id l = fleet_lease_open(f);
            int32_t fit = cases[i].fit[cards - 1];
            assert_int_equal(fleet_place(f, l, &req, fit + 1, true, false), 0);
            assert_int_equal(fleet_pool_used_milli(f, 0), 0);
            assert_int_equal(fleet_place(f, l, &req, fit + 1, false, false), fit);
            assert_true(fleet_could_place(&cfg, &req, fit));
            assert_false(fleet_could_place(&cfg, &req, fit + 1));
            fleet_lease_close(f, l);
            assert_int_equal(fleet_pool_used_milli(f, 0), 0);
            fleet_destroy(f);
        }
}

/* Replicas of a worker lie on the cards with the fewest: four cards, one replica each, the lowest first. */
static void replicas_of_a_worker_are_spread_over_cards(void **state)
{
    (void)state;
    struct node_pool_config pool =
        pool_of(1, 4, (struct share_config){.kind = SHARE_TIME_SLICING, .replicas = 3, .allow_above_one = true});
    struct fleet_config cfg = config_of(&pool);
    struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
    struct place_request one = {.cards = 1, .pools = only_pool, .pool_count = 1, .prefer_model = -1}, four = one;
    four.cards = 4;
    struct lease_id a = fleet_lease_open(f), b = fleet_lease_open(f);
    int32_t count;
    assert_int_equal(fleet_place(f, a, &one, 1, true, false), 1);
    assert_int_equal(fleet_place(f, b, &four, 1, true, false), 1);
    const struct lease_part *p = fleet_lease_parts(f, b, &count);
    static const int32_t expected[] = {1, 2, 3, 0};
    assert_int_equal(count, 4);
    for (int32_t i = 0; i < 4; i++)
        assert_int_equal(p[i].first_card, expected[i]);
    fleet_lease_close(f, a);
    fleet_lease_close(f, b);
    fleet_destroy(f);
}

/* A node gives out the instances of one layout at a time, and parts of the old one are given back while it is
 * shut. */
static void a_node_changes_its_layout(void **state)
{
    (void)state;
    struct share_change change = {.at_ns = 1, .layout = "3g.20gb*2"};
    struct node_pool_config pool = pool_of(2, 2, (struct share_config){.kind = SHARE_MIG, .mig_layout = "1g.5gb*7",
                                                                       .changes = &change, .change_count = 1});
    struct fleet_config cfg = config_of(&pool);
    struct fleet *f = fleet_create(&cfg, PLACE_BINPACK, 1, 0);
    struct place_request small = share_of(100), large = share_of(400);
    struct lease_id a = fleet_lease_open(f), b = fleet_lease_open(f);
    int32_t count;
    assert_int_equal(fleet_place(f, b, &large, 1, true, false), 0);
    assert_int_equal(fleet_place(f, a, &small, 1, true, false), 1);
    fleet_node_layout(f, 0, 0, -1);
    assert_int_equal(fleet_place(f, b, &small, 100, false, false), 14); /* the other node's */
    fleet_release(f, b, -1);
    fleet_release(f, a, -1);
    fleet_node_layout(f, 0, 0, 1);
    assert_int_equal(fleet_place(f, b, &large, 100, false, false), 4);
    const struct lease_part *p = fleet_lease_parts(f, b, &count);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(p[i].node, 0);
        assert_int_equal(p[i].layout, 1);
    }
    assert_int_equal(fleet_pool_used_milli(f, 0), 2000); /* two halves of two cards */
    fleet_release(f, b, -1);
    fleet_node_layout(f, 0, 0, 0);
    assert_int_equal(fleet_place(f, b, &small, 100, false, false), 28);
    fleet_lease_close(f, a);
    fleet_lease_close(f, b);
    fleet_destroy(f);
}

/* ---- coming and going ---- */

#define LEASES 80
#define CARDS 24

struct seen {
    int32_t milli[CARDS], tenants[CARDS];
    uint32_t instances[CARDS];
    int32_t mib[CARDS], memory[CARDS], cores[CARDS]; /* HAMi; memory in milli, each part rounded up */
};

/* HAMi: no budget of a card is exceeded, and its fullest one is in use. A100-40: 40,960 MiB. */
static int64_t check_budgets(const struct seen *s, int32_t card)
{
    int32_t most = s->tenants[card] * 100;
    assert_true(s->mib[card] <= 40960);
    assert_true(s->cores[card] <= 100);
    most = s->memory[card] > most ? s->memory[card] : most;
    most = s->cores[card] * 10 > most ? s->cores[card] * 10 : most;
    return most < 1000 ? most : 1000;
}

static void check_cards(const struct fleet *f, const struct lease_id *leases, int32_t count,
                        const struct node_pool_config *pool)
{
    struct seen s = {.tenants = {0}};
    int64_t used = 0;
    bool hami = pool->sharing.kind == SHARE_HAMI;
    for (int32_t i = 0; i < count; i++) {
        int32_t n;
        const struct lease_part *parts = fleet_lease_parts(f, leases[i], &n);
        for (int32_t k = 0; k < n; k++) {
            used += hami ? 0 : parts[k].milli;
            if (parts[k].first_card < 0)
                continue;
            int32_t card = parts[k].node * pool->cards_per_node + parts[k].first_card;
            s.milli[card] += parts[k].milli;
            s.tenants[card]++;
            s.mib[card] += parts[k].memory_mib;
            s.memory[card] += (parts[k].memory_mib * 1000 + 40959) / 40960;
            s.cores[card] += parts[k].cores;
            if (parts[k].instance >= 0) {
                assert_int_equal(s.instances[card] >> parts[k].instance & 1, 0);
                s.instances[card] |= UINT32_C(1) << parts[k].instance;
            }
        }
    }
    int32_t most = pool->sharing.replicas > 0 ? pool->sharing.replicas
                   : pool->sharing.kind == SHARE_HAMI ? 10
                                                      : 1000;
    for (int32_t c = 0; c < CARDS; c++) {
        if (hami)
            used += check_budgets(&s, c);
        else
            assert_true(s.milli[c] <= 1000);
        assert_true(s.tenants[c] <= most);
        if (pool->sharing.replicas > 0 && s.tenants[c] == most)
            assert_int_equal(s.milli[c], 1000);
    }
    assert_int_equal(used, fleet_pool_used_milli(f, 0));
}

static void churn(struct share_config sharing, enum placement_kind kind)
{
    struct node_pool_config pool = pool_of(6, CARDS / 6, sharing);
    struct fleet_config cfg = config_of(&pool);
    struct fleet *f = fleet_create(&cfg, kind, 3, 0);
    struct lease_id leases[LEASES];
    struct rng r;
    int32_t count = 0, placed = 0;
    rng_open(&r, 7, 0, 1003, (uint64_t)kind);
    for (int step = 0; step < 3000; step++) {
        if (count == LEASES || (count > 0 && rng_below(&r, 10) < 4)) {
            int32_t i = (int32_t)rng_below(&r, (uint64_t)count);
            fleet_lease_close(f, leases[i]);
            leases[i] = leases[--count];
        } else {
            struct place_request req = share_of(10 + (int32_t)rng_below(&r, 300));
            req.resources[0] = (int64_t)rng_below(&r, 60000);
            leases[count] = fleet_lease_open(f);
            placed += fleet_place(f, leases[count], &req, 1 + (int32_t)rng_below(&r, 3),
                                  rng_below(&r, 2) == 0, false);
            count++;
        }
        if (step % 50 == 0)
            check_cards(f, leases, count, &pool);
    }
    assert_true(placed > 500);
    while (count > 0)
        fleet_lease_close(f, leases[--count]);
    assert_int_equal(fleet_pool_used_milli(f, 0), 0);
    struct place_request all = share_of(100); /* everything is there again */
    struct lease_id l = fleet_lease_open(f);
    int32_t n = fleet_place(f, l, &all, 1000, false, false);
    assert_true(fleet_could_place(&cfg, &all, n));
    assert_false(fleet_could_place(&cfg, &all, n + 1));
    fleet_lease_close(f, l);
    fleet_destroy(f);
}

static void cards_never_hold_more_than_the_mechanism_allows(void **state)
{
    (void)state;
    static const struct share_config all[] = {
        {.kind = SHARE_WHOLE},
        {.kind = SHARE_MIG},
        {.kind = SHARE_MIG, .mig_layout = "all-1g.5gb"},
        {.kind = SHARE_HAMI},
        {.kind = SHARE_TIME_SLICING, .replicas = 7},
        {.kind = SHARE_MPS, .replicas = 3},
        {.kind = SHARE_KAI},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int kind = 0; kind < PLACE_KIND_COUNT; kind++)
            churn(all[i], (enum placement_kind)kind);
}

/* The first 1g of a balanced card is taken beside another before a new card is opened; spread does
 * the opposite. */
static void instances_are_packed_or_spread(void **state)
{
    (void)state;
    for (int kind = PLACE_BINPACK; kind <= PLACE_SPREAD; kind++) {
        struct node_pool_config pool = pool_of(2, 2, (struct share_config){.kind = SHARE_MIG});
        struct fleet_config cfg = config_of(&pool);
        struct fleet *f = fleet_create(&cfg, (enum placement_kind)kind, 1, 0);
        struct place_request req = share_of(100);
        struct lease_id l = fleet_lease_open(f);
        int32_t n;
        assert_int_equal(fleet_place(f, l, &req, 2, true, false), 2);
        const struct lease_part *parts = fleet_lease_parts(f, l, &n);
        bool same = parts[0].node == parts[1].node && parts[0].first_card == parts[1].first_card;
        assert_int_equal(same, kind == PLACE_BINPACK);
        fleet_lease_close(f, l);
        fleet_destroy(f);
    }
}

static void impossible_pools_are_named(void **state)
{
    (void)state;
    struct node_pool_config pool = pool_of(1, 8, (struct share_config){.kind = SHARE_MIG});
    struct err e = {0};
    assert_true(fleet_pool_sharing_ok(&pool, &e));
    pool.card = catalogue_find_card(catalogue_builtin(), "L40S");
    assert_false(fleet_pool_sharing_ok(&pool, &e));
    assert_non_null(strstr(e.text, "L40S has no MIG profiles"));
    struct err again = {0};
    pool.sharing = (struct share_config){.kind = SHARE_MPS, .replicas = 60};
    assert_false(fleet_pool_sharing_ok(&pool, &again));
    assert_non_null(strstr(again.text, "expected 2 to 48"));
}

/* Every card of the catalogue that says it has MIG is known here, with as many slices. */
static void the_catalogue_and_the_mig_table_agree(void **state)
{
    (void)state;
    const struct catalogue *c = catalogue_builtin();
    int32_t count, known = 0;
    const struct mig_card *cards = mig_cards(&count);
    for (int32_t i = 0; i < c->card_count; i++) {
        const struct mig_card *m = mig_card_find(c->cards[i].name);
        if (m != NULL)
            assert_int_equal(m->compute, c->cards[i].mig_slices);
        known += m != NULL;
        if (m == NULL && c->cards[i].mig_slices > 0)
            assert_string_equal(c->cards[i].name, "RTX-PRO-4500"); /* profiles not documented */
    }
    assert_true(known >= 8 && count >= known);
    assert_int_equal(cards[0].compute, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_gets_what_the_mechanism_gives),
        cmocka_unit_test(whole_cards_are_whole_or_replicas_or_not_to_be_had),
        cmocka_unit_test(replicas_of_a_worker_are_spread_over_cards),
        cmocka_unit_test(a_node_changes_its_layout),
        cmocka_unit_test(cards_never_hold_more_than_the_mechanism_allows),
        cmocka_unit_test(instances_are_packed_or_spread),
        cmocka_unit_test(impossible_pools_are_named),
        cmocka_unit_test(the_catalogue_and_the_mig_table_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
