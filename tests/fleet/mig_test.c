/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MIG: enumeration oracles of gpu-sharing 1.5, orders of creation, names, changes of layout. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/fleet/sharing/mig.h"
#include "models/fleet/sharing/mig_node.h"
#include "models/fleet/sharing/share_round.h"

/* ---- enumeration ---- */

#define NUMBERS 6 /* profiles of one set */

struct family {
    const struct mig_card *card;
    int32_t profiles[NUMBERS];
    int count;
    int layouts, maximal_layouts, multisets, maximal_multisets;
};

static struct family family_of(const char *card, const char *const *names, int count)
{
    struct family f = {.card = mig_card_find(card), .count = count};
    struct err e = {0};
    assert_non_null(f.card);
    for (int i = 0; i < count; i++) {
        f.profiles[i] = mig_profile_find(f.card, names[i], &e);
        assert_true(f.profiles[i] >= 0);
    }
    return f;
}

static bool extends(const struct family *f, const struct mig_layout *l)
{
    if (l->count == MIG_INSTANCES_MAX)
        return false;
    for (int i = 0; i < f->count; i++)
        if (mig_next_start(f->card, l, f->profiles[i], MIG_DRIVER) >= 0)
            return true;
    return false;
}

/* All layouts as sets: placements are numbered profile by profile, taken in ascending order. */
static void count_layouts(struct family *f, struct mig_layout *l, int from)
{
    assert_true(mig_layout_ok(f->card, l));
    f->layouts++;
    f->maximal_layouts += !extends(f, l);
    int number = 0;
    for (int i = 0; i < f->count; i++) {
        const struct mig_profile *p = &f->card->profiles[f->profiles[i]];
        for (int s = 0; s < p->start_count; s++, number++) {
            if (number < from || l->count == MIG_INSTANCES_MAX)
                continue;
            l->items[l->count++] = (struct mig_instance){(int8_t)f->profiles[i], p->starts[s]};
            if (mig_layout_ok(f->card, l))
                count_layouts(f, l, number + 1);
            l->count--;
        }
    }
}

static bool possible(const struct family *f, const int *times)
{
    static const struct mig_layout none = {.count = 0};
    int32_t wanted[MIG_INSTANCES_MAX + 1], n = 0;
    for (int i = 0; i < f->count; i++)
        for (int k = 0; k < times[i]; k++) {
            if (n == MIG_INSTANCES_MAX)
                return false;
            wanted[n++] = f->profiles[i];
        }
    return mig_can_add(f->card, &none, wanted, n, NULL);
}

static void count_multisets(struct family *f, int *times, int at)
{
    if (at == f->count) {
        f->multisets++;
        bool more = false;
        for (int i = 0; i < f->count; i++) {
            times[i]++;
            more = more || possible(f, times);
            times[i]--;
        }
        f->maximal_multisets += !more;
        return;
    }
    for (times[at] = 0; possible(f, times); times[at]++)
        count_multisets(f, times, at + 1);
    times[at] = 0;
}

static void assert_counts(struct family f, int layouts, int maximal, int multisets, int maximal_sets)
{
    struct mig_layout l = {.count = 0};
    int times[NUMBERS] = {0};
    count_layouts(&f, &l, 0);
    count_multisets(&f, times, 0);
    assert_int_equal(f.layouts, layouts);
    assert_int_equal(f.maximal_layouts, maximal);
    assert_int_equal(f.multisets, multisets);
    assert_int_equal(f.maximal_multisets, maximal_sets);
}

static void seven_slices_have_298_layouts_of_38_kinds(void **state)
{
    (void)state;
    static const char *const a100[] = {"1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"};
    static const char *const h200[] = {"1g.18gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"};
    assert_counts(family_of("A100-40", a100, 5), 298, 19, 38, 12);
    assert_counts(family_of("H200", h200, 5), 298, 19, 38, 12);
}

static void with_the_double_memory_profile_there_are_723_of_78_kinds(void **state)
{
    (void)state;
    static const char *const names[] = {"1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"};
    assert_counts(family_of("A100-40", names, 6), 723, 78, 78, 28);
}

static void four_slices_have_26_layouts_of_10_kinds(void **state)
{
    (void)state;
    static const char *const a30[] = {"1g.6gb", "2g.12gb", "4g.24gb"};
    static const char *const rtx[] = {"1g.24gb", "2g.48gb", "4g.96gb"};
    assert_counts(family_of("A30", a30, 3), 26, 5, 10, 4);
    assert_counts(family_of("RTX-PRO-6000", rtx, 3), 26, 5, 10, 4);
}

/* Every maximal multiset of the seven-slice family, as 1.5 lists them: all fit, none can grow. */
static void the_twelve_maximal_sets_fit(void **state)
{
    (void)state;
    static const char *const sets[] = {
        "7g.40gb", "4g.20gb,3g.20gb", "4g.20gb,2g.10gb,1g.5gb", "4g.20gb,1g.5gb*3", "3g.20gb*2",
        "3g.20gb,2g.10gb*2", "3g.20gb,2g.10gb,1g.5gb*2", "3g.20gb,1g.5gb*4", "2g.10gb*3,1g.5gb",
        "2g.10gb*2,1g.5gb*3", "2g.10gb,1g.5gb*5", "1g.5gb*7"};
    const struct mig_card *card = mig_card_find("A100-40");
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct mig_layout l;
        struct err e = {0};
        if (!mig_layout_parse(card, sets[i], &l, &e))
            fail_msg("%s: %s", sets[i], e.text);
        assert_true(mig_layout_ok(card, &l));
        static const char *const names[] = {"1g.5gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"};
        struct family f = family_of("A100-40", names, 5);
        int times[NUMBERS] = {0};
        for (int k = 0; k < l.count; k++)
            for (int p = 0; p < f.count; p++)
                times[p] += f.profiles[p] == l.items[k].profile;
        for (int p = 0; p < f.count; p++) {
            times[p]++;
            assert_false(possible(&f, times));
            times[p]--;
        }
    }
}

/* ---- order of creation ---- */

static struct mig_layout make(const struct mig_card *card, const char *const *names, int n,
                              enum mig_policy policy, bool *made)
{
    int32_t wanted[8];
    struct mig_layout l;
    struct err e = {0};
    for (int i = 0; i < n; i++)
        wanted[i] = mig_profile_find(card, names[i], &e);
    *made = mig_create(card, wanted, n, policy, &l);
    return l;
}

static void assert_starts(const struct mig_layout *l, const char *starts)
{
    char got[16] = "";
    for (int i = 0; i < l->count; i++)
        got[i] = (char)('0' + l->items[i].start);
    assert_string_equal(got, starts);
}

static void the_driver_depends_on_the_order_of_creation(void **state)
{
    (void)state;
    static const char *const bad[] = {"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"};
    static const char *const good[] = {"3g.20gb", "2g.10gb", "1g.5gb", "1g.5gb"};
    static const char *const one_two[] = {"2g.10gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb", "1g.5gb"};
    const struct mig_card *card = mig_card_find("A100-40");
    bool made;
    make(card, bad, 4, MIG_DRIVER, &made);
    assert_false(made);
    struct mig_layout l = make(card, good, 4, MIG_DRIVER, &made);
    assert_true(made);
    assert_starts(&l, "4201");
    l = make(card, one_two, 6, MIG_DRIVER, &made);
    assert_true(made);
    assert_starts(&l, "460123");
    make(card, bad, 4, MIG_PERMUTE, &made); /* mig-parted finds an order */
    assert_true(made);
    l = make(card, good, 4, MIG_HIGH_ODD, &made); /* HAMi: 3g, 2g, 1g, 1g at 4, 0, 3, 2 */
    assert_true(made);
    assert_starts(&l, "4032");
}

/* TestCanPlaceMigProfilesA100 of HAMi, gpu-sharing 2.8. */
static void what_can_be_added_is_searched(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    const struct mig_layout none = {.count = 0};
    const struct mig_layout high = {.items = {{4, 4}}, .count = 1};          /* 3g at 4 */
    const struct mig_layout full = {.items = {{6, 0}}, .count = 1};          /* 7g */
    const struct mig_layout twos = {.items = {{3, 0}, {3, 2}, {3, 4}}, .count = 3};
    const int32_t mixed[] = {4, 3, 0, 0}, small[] = {3, 0, 0}, one[] = {0}, two[] = {3};
    assert_true(mig_can_add(card, &none, mixed, 4, NULL));
    assert_true(mig_can_add(card, &high, small, 3, NULL));
    assert_false(mig_can_add(card, &full, one, 1, NULL));
    assert_false(mig_can_add(card, &twos, two, 1, NULL));
    assert_true(mig_can_add(card, &twos, one, 1, NULL));
}

/* Legal but smaller than another layout of the kind: three 1g beside a 3g at 0. */
static void a_3g_at_0_strands_a_slice(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    const struct mig_layout trap = {.items = {{4, 0}, {0, 4}, {0, 5}, {0, 6}}, .count = 4};
    const struct mig_layout two_3g = {.items = {{4, 0}, {4, 4}}, .count = 2};
    struct mig_layout ones = {.count = 7};
    for (int8_t i = 0; i < 7; i++)
        ones.items[i] = (struct mig_instance){0, i};
    int32_t compute, memory;
    assert_true(mig_maximal(card, &trap));
    mig_stranded(card, &trap, &compute, &memory);
    assert_int_equal(compute, 1);
    mig_stranded(card, &two_3g, &compute, &memory);
    assert_int_equal(compute, 1);
    assert_int_equal(memory, 0);
    mig_stranded(card, &ones, &compute, &memory);
    assert_int_equal(compute, 0);
    assert_int_equal(memory, 1);
    const struct mig_layout some = {.items = {{4, 0}}, .count = 1};
    mig_stranded(card, &some, &compute, &memory);
    assert_int_equal(compute + memory, 0); /* still usable */
}

static void media_engines_have_a_budget(void **state)
{
    (void)state;
    const struct mig_card *a100 = mig_card_find("A100-40"), *rtx = mig_card_find("RTX-PRO-6000");
    const struct mig_card *small = mig_card_find("RTX-PRO-5000");
    struct err e = {0};
    struct mig_layout l;
    assert_true(mig_layout_parse(a100, "1g.5gb+me,1g.5gb*6", &l, &e));
    assert_false(mig_layout_parse(a100, "1g.5gb+me*2", &l, &e));
    e.code = ERR_NONE;
    assert_true(mig_layout_parse(rtx, "1g.24gb+me.all,1g.24gb-me*3", &l, &e));
    assert_false(mig_layout_parse(rtx, "1g.24gb+me.all,1g.24gb", &l, &e));
    e.code = ERR_NONE;
    assert_true(mig_layout_parse(small, "1g.12gb,1g.12gb-me*3", &l, &e));
    assert_false(mig_layout_parse(small, "1g.12gb,1g.12gb+gfx", &l, &e));
}

/* ---- names ---- */

/* A selection of gpu-sharing 1.2: every card, all its profiles, memory where it is printed. */
static void profiles_have_their_names(void **state)
{
    (void)state;
    static const char *const rows[][7] = {
        {"A100-40", "1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"},
        {"A100-80", "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
        {"H100-80", "1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"},
        {"H100-94", "1g.12gb", "1g.24gb", "2g.24gb", "3g.47gb", "4g.47gb", "7g.94gb"},
        {"GH200-96", "1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"},
        {"H20", "1g.12gb", "1g.24gb", "2g.24gb", "3g.48gb", "4g.48gb", "7g.96gb"},
        {"H200", "1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"},
        {"GH200-144", "1g.18gb", "1g.36gb", "2g.36gb", "3g.72gb", "4g.72gb", "7g.144gb"},
        {"B200", "1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"},
        {"GB200", "1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"},
        {"B300", "1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"},
        {"GB300", "1g.35gb", "1g.70gb", "2g.70gb", "3g.139gb", "4g.139gb", "7g.278gb"},
    };
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        const struct mig_card *card = mig_card_find(rows[r][0]);
        struct err e = {0};
        assert_non_null(card);
        for (int i = 1; i < 7; i++)
            if (mig_profile_find(card, rows[r][i], &e) < 0)
                fail_msg("%s", e.text);
        assert_int_equal(card->profile_count, 7);
    }
    const struct mig_card *a100 = mig_card_find("A100-40"), *large = mig_card_find("A100-80");
    assert_int_equal(a100->profiles[0].memory_mib, 4864);
    assert_int_equal(a100->profiles[4].memory_mib, 19968);
    assert_int_equal(a100->profiles[6].memory_mib, 40192);
    assert_int_equal(large->profiles[6].memory_mib, 80384);
    assert_null(mig_card_find("L40S"));
    assert_null(mig_card_find("H100-")); /* half a word */
}

static void other_spellings_are_read_and_bad_names_named(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    struct err e = {0};
    char name[64];
    assert_int_equal(mig_profile_find(card, "nvidia.com/mig-1g.5gb.me", &e), 1);
    assert_int_equal(mig_profile_find(card, "1c.3g.20gb", &e), 4);
    mig_resource_name(name, &card->profiles[1]);
    assert_string_equal(name, "nvidia.com/mig-1g.5gb.me");
    assert_int_equal(mig_profile_find(card, "3g.40gb", &e), -1);
    assert_non_null(strstr(e.text, "A100-40 has no MIG profile '3g.40gb'"));
    assert_non_null(strstr(e.text, "3g.20gb, 4g.20gb, 7g.40gb"));
    static const char *const bad[][2] = {{"4g.20gb,3g.20gb,1g.5gb", "does not fit"},
                                         {"1g.5gb*9", "expected a count from 1 to 7"},
                                         {"1g.5gb*0", "expected a count"},
                                         {"1g.5gb*7,1g.5gb", "more than 7"},
                                         {"", "expected one of"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct mig_layout l;
        struct err one = {0};
        assert_false(mig_layout_parse(card, bad[i][0], &l, &one));
        if (strstr(one.text, bad[i][1]) == NULL)
            fail_msg("'%s' lacks '%s'", one.text, bad[i][1]);
    }
}

static void the_balanced_layout_is_that_of_mig_parted(void **state)
{
    (void)state;
    struct err e = {0};
    struct mig_layout l;
    const struct mig_card *a30 = mig_card_find("A30"), *h100 = mig_card_find("H100");
    int ones = 0, compute = 0;
    assert_true(mig_layout_parse(h100, "all-balanced", &l, &e));
    assert_int_equal(l.count, 4);
    for (int i = 0; i < l.count; i++) {
        ones += h100->profiles[l.items[i].profile].compute == 1;
        compute += h100->profiles[l.items[i].profile].compute;
    }
    assert_int_equal(ones, 2);
    assert_int_equal(compute, 7);
    assert_true(mig_layout_parse(a30, "all-balanced", &l, &e));
    assert_int_equal(l.count, 3);
    assert_true(mig_layout_parse(h100, "all-1g.20gb", &l, &e));
    assert_int_equal(l.count, 4);
    assert_true(mig_layout_parse(h100, "all-disabled", &l, &e));
    assert_int_equal(l.count, 0);
}

/* ---- shares in milli ---- */

/* Seven sevenths: 142.857 each, six of them rounded up. 3g+2g+1g+1g: weights 1/2, 2/7, 1/7, 1/7
 * (28, 16, 8, 8 of 60) of the whole card; thirds of a milli go to the first. */
static void layouts_are_divided_by_largest_remainder(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    struct mig_layout ones = {.count = 7};
    for (int8_t i = 0; i < 7; i++)
        ones.items[i] = (struct mig_instance){0, i};
    int32_t milli[MIG_INSTANCES_MAX];
    assert_int_equal(share_round_layout(card, &ones, milli), 1000);
    for (int i = 0; i < 7; i++)
        assert_int_equal(milli[i], i < 6 ? 143 : 142);
    const struct mig_layout mixed = {.items = {{4, 4}, {3, 2}, {0, 0}, {0, 1}}, .count = 4};
    assert_int_equal(share_round_layout(card, &mixed, milli), 1000);
    assert_int_equal(milli[0], 467);
    assert_int_equal(milli[1], 267);
    assert_int_equal(milli[2], 133);
    assert_int_equal(milli[3], 133);
}

/* ---- changing the layout ---- */

static struct mig_layout layout_of(const struct mig_card *card, const char *text)
{
    struct mig_layout l;
    struct err e = {0};
    assert_true(mig_layout_parse(card, text, &l, &e));
    return l;
}

/* A100: 7 x 1g to balanced on one of two cards under the manager: 7 removed, 4 made, a cycle of
 * 120 s = 131 s, after the tenant has left at 40 s. Both cards are closed from the request on. */
static void a_change_drains_then_takes_time(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    struct mig_layout ones = layout_of(card, "all-1g.5gb"), mixed = layout_of(card, "all-balanced");
    struct mig_costs costs = mig_costs_default();
    struct mig_node n;
    mig_node_init(&n, card, 2, &ones, &costs, 0);
    int32_t at = mig_node_take(&n, 0, 0, 0);
    assert_int_equal(at, 0);
    assert_true(mig_node_ask(&n, 0, &mixed, 10 * SIM_SECOND));
    assert_false(mig_node_ask(&n, 0, &mixed, 10 * SIM_SECOND)); /* one at a time */
    assert_int_equal(mig_node_settle(&n, 10 * SIM_SECOND), 310 * SIM_SECOND);
    assert_int_equal(mig_node_blocking(&n, 0), 1);
    assert_int_equal(mig_node_take(&n, 1, 0, 20 * SIM_SECOND), -1); /* no card is advertised */
    mig_node_give(&n, 0, at, 40 * SIM_SECOND);
    assert_int_equal(mig_node_settle(&n, 40 * SIM_SECOND), 171 * SIM_SECOND);
    assert_int_equal(n.state, MIG_RECONFIGURING);
    assert_int_equal(mig_node_settle(&n, 171 * SIM_SECOND), -1);
    assert_int_equal(n.state, MIG_SERVING);
    assert_int_equal(n.layouts[0].count, 4);
    assert_int_equal(n.layouts[1].count, 7);
    assert_int_equal(n.busy_mcns, 40 * SIM_SECOND * 143);
    assert_int_equal(n.drained_mcns, (161 * SIM_SECOND * 2000) - (30 * SIM_SECOND * 143));
    mig_node_fini(&n);
}

static void a_tenant_that_stays_makes_the_change_fail(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    struct mig_layout ones = layout_of(card, "all-1g.5gb"), mixed = layout_of(card, "all-balanced");
    struct mig_costs costs = mig_costs_default();
    struct mig_node n;
    mig_node_init(&n, card, 1, &ones, &costs, 0);
    assert_int_equal(mig_node_take(&n, 0, 0, 0), 0);
    assert_true(mig_node_ask(&n, -1, &mixed, 0));
    assert_int_equal(mig_node_settle(&n, 0), 300 * SIM_SECOND);
    assert_int_equal(mig_node_settle(&n, 300 * SIM_SECOND), -1);
    assert_int_equal(n.failures, 1);
    assert_int_equal(n.layouts[0].count, 7);
    assert_int_equal(mig_node_take(&n, 0, 0, 300 * SIM_SECOND), 1); /* serves on */
    assert_true(mig_node_ask(&n, -1, &ones, 301 * SIM_SECOND));     /* nothing to do */
    assert_int_equal(mig_node_settle(&n, 301 * SIM_SECOND), -1);
    assert_int_equal(n.changes, 0);
    mig_node_fini(&n);
}

/* k8s-device-plugin #992: a 2g is replaced by two 1g while a 4g is busy. 1 + 2 s. */
static void on_demand_changes_leave_the_rest_running(void **state)
{
    (void)state;
    const struct mig_card *card = mig_card_find("A100-40");
    const struct mig_layout before = {.items = {{5, 0}, {3, 4}, {0, 6}}, .count = 3};
    const struct mig_layout after = {.items = {{0, 4}, {5, 0}, {0, 5}, {0, 6}}, .count = 4};
    struct mig_costs costs = mig_costs_default();
    costs.scope = MIG_SCOPE_INSTANCE;
    struct mig_node n;
    mig_node_init(&n, card, 1, &before, &costs, 0);
    assert_int_equal(mig_node_take(&n, 0, 5, 0), 0);
    assert_true(mig_node_ask(&n, 0, &after, 0));
    assert_int_equal(mig_node_blocking(&n, 0), 0);
    assert_int_equal(mig_node_settle(&n, 0), 3 * SIM_SECOND);
    assert_int_equal(mig_node_settle(&n, 3 * SIM_SECOND), -1);
    assert_int_equal(n.busy[0], 2); /* the 4g is now instance 1 */
    mig_node_give(&n, 0, 1, 4 * SIM_SECOND);
    mig_node_fini(&n);
}

/* Mode on: Ampere resets the card (60 s), Hopper does not (30 s); 4 instances made. */
static void turning_the_mode_on_costs_more_on_ampere(void **state)
{
    (void)state;
    const struct mig_layout off = {.count = 0};
    struct mig_costs costs = mig_costs_default();
    costs.scope = MIG_SCOPE_CARD;
    const struct mig_card *ampere = mig_card_find("A100-80"), *hopper = mig_card_find("H100");
    struct mig_layout mixed = layout_of(ampere, "all-balanced");
    assert_int_equal(mig_change_ns(ampere, &off, &mixed, &costs), 64 * SIM_SECOND);
    mixed = layout_of(hopper, "all-balanced");
    assert_int_equal(mig_change_ns(hopper, &off, &mixed, &costs), 34 * SIM_SECOND);
    assert_int_equal(mig_change_ns(hopper, &mixed, &mixed, &costs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_slices_have_298_layouts_of_38_kinds),
        cmocka_unit_test(with_the_double_memory_profile_there_are_723_of_78_kinds),
        cmocka_unit_test(four_slices_have_26_layouts_of_10_kinds),
        cmocka_unit_test(the_twelve_maximal_sets_fit),
        cmocka_unit_test(the_driver_depends_on_the_order_of_creation),
        cmocka_unit_test(what_can_be_added_is_searched),
        cmocka_unit_test(a_3g_at_0_strands_a_slice),
        cmocka_unit_test(media_engines_have_a_budget),
        cmocka_unit_test(profiles_have_their_names),
        cmocka_unit_test(other_spellings_are_read_and_bad_names_named),
        cmocka_unit_test(the_balanced_layout_is_that_of_mig_parted),
        cmocka_unit_test(layouts_are_divided_by_largest_remainder),
        cmocka_unit_test(a_change_drains_then_takes_time),
        cmocka_unit_test(a_tenant_that_stays_makes_the_change_fail),
        cmocka_unit_test(on_demand_changes_leave_the_rest_running),
        cmocka_unit_test(turning_the_mode_on_costs_more_on_ampere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
