/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a gang gets with network locality, counted by hand. */
#include "models/fleet/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Sixteen nodes of eight cards: racks 0-3, 4-7, 8-11, 12-15, blocks 0-7, 8-15. */
static struct network_domain levels[2] = {{"rack", 4, 1}, {"block", 8, 1}};
static struct resource_amount node_has[1] = {{0, 8}};
static struct node_pool_config pools[1] = {{.name = "p", .node_count = 16, .cards_per_node = 8,
    .allocatable = node_has, .allocatable_count = 1, .domains = levels, .domain_count = 2}};
static const char *names[1] = {"efa"};
static const struct fleet_config config = {.resources = names, .resource_count = 1, .pools = pools, .pool_count = 1};
static const int32_t pool[1] = {0};

static struct fleet *fleet_new(void)
{
    struct fleet *f = fleet_create(&config, PLACE_BINPACK, 1, 0);
    fleet_keep_local(f);
    return f;
}

static struct lease_id gang(struct fleet *f, int32_t workers, int32_t cards, int64_t efa, int32_t expected)
{
    struct place_request req = {.cards = cards, .resources = {efa}, .pools = pool, .pool_count = 1, .prefer_model = -1};
    struct lease_id l = fleet_lease_open(f);
    assert_int_equal(fleet_place(f, l, &req, workers, true, true), expected);
    return l;
}

static void assert_nodes(struct fleet *f, struct lease_id l, int32_t count, const int32_t *nodes)
{
    int32_t n;
    const struct lease_part *p = fleet_lease_parts(f, l, &n);
    assert_int_equal(n, count);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(p[i].node, nodes[i]);
}

static void a_gang_takes_a_rack_that_holds_it_and_not_the_first_nodes(void **state)
{
    (void)state;
    struct fleet *f = fleet_new();
    assert_nodes(f, gang(f, 2, 8, 0, 2), 2, (int32_t[]){0, 1});
    assert_nodes(f, gang(f, 3, 8, 0, 3), 3, (int32_t[]){4, 5, 6}); /* two are left in rack 0 */
    assert_nodes(f, gang(f, 2, 8, 0, 2), 2, (int32_t[]){2, 3});    /* 16 free cards; rack 1 has 8 */
    fleet_destroy(f);
}

static void among_racks_the_one_with_the_fewest_free_cards_is_taken(void **state)
{
    (void)state;
    struct fleet *f = fleet_new();
    struct lease_id a = gang(f, 4, 8, 0, 4), b = gang(f, 4, 8, 0, 4);
    fleet_lease_close(f, a);
    fleet_release(f, b, 2); /* racks: 32, 16, 32, 32 free */
    assert_nodes(f, gang(f, 2, 8, 0, 2), 2, (int32_t[]){6, 7});
    assert_nodes(f, gang(f, 2, 8, 0, 2), 2, (int32_t[]){0, 1}); /* the lowest of equals */
    fleet_destroy(f);
}

static void a_gang_too_large_for_a_rack_takes_one_block_and_then_the_pool(void **state)
{
    (void)state;
    struct fleet *f = fleet_new();
    gang(f, 3, 8, 0, 3); /* five nodes are left in block 0 */
    assert_nodes(f, gang(f, 6, 8, 0, 6), 6, (int32_t[]){8, 9, 10, 11, 12, 13});
    assert_nodes(f, gang(f, 6, 8, 0, 6), 6, (int32_t[]){3, 4, 5, 6, 7, 14}); /* no block holds six */
    gang(f, 2, 8, 0, 0);
    fleet_destroy(f);
}

static void a_gang_that_one_node_holds_stays_on_it(void **state)
{
    (void)state;
    struct fleet *f = fleet_new();
    gang(f, 1, 6, 0, 1); /* node 0 has two left */
    assert_nodes(f, gang(f, 2, 2, 0, 2), 2, (int32_t[]){1, 1});
    assert_nodes(f, gang(f, 2, 1, 0, 2), 2, (int32_t[]){0, 0});
    fleet_destroy(f);
}

static void a_rack_whose_other_resources_are_short_is_passed_over(void **state)
{
    (void)state;
    struct fleet *f = fleet_new();
    gang(f, 4, 1, 8, 4); /* rack 0: 28 free cards, no efa */
    assert_nodes(f, gang(f, 4, 6, 1, 4), 4, (int32_t[]){4, 5, 6, 7});
    assert_nodes(f, gang(f, 4, 7, 0, 4), 4, (int32_t[]){0, 1, 2, 3});
    fleet_destroy(f);
}

static void without_the_switch_domains_have_no_say(void **state)
{
    (void)state;
    struct fleet *f = fleet_create(&config, PLACE_BINPACK, 1, 0);
    gang(f, 2, 8, 0, 2);
    assert_nodes(f, gang(f, 3, 8, 0, 3), 3, (int32_t[]){2, 3, 4});
    fleet_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_takes_a_rack_that_holds_it_and_not_the_first_nodes),
        cmocka_unit_test(among_racks_the_one_with_the_fewest_free_cards_is_taken),
        cmocka_unit_test(a_gang_too_large_for_a_rack_takes_one_block_and_then_the_pool),
        cmocka_unit_test(a_gang_that_one_node_holds_stays_on_it),
        cmocka_unit_test(a_rack_whose_other_resources_are_short_is_passed_over),
        cmocka_unit_test(without_the_switch_domains_have_no_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
