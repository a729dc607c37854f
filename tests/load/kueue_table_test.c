/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kueue of an arbiter: what is written reaches the policy's configuration, and what is wrong is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/world/quota_view.h"
#include "scenarios/load/load.h"

static struct scenario *load(const char *kueue, struct diag_list *diags)
{
    char text[1024];
    const int n = snprintf(text, sizeof text,
                           "fleet: {nodePools: [{name: h100, instance: p5.48xlarge, nodes: 1}]}\n"
                           "queues: [{name: q, cards: {h100: 8}}]\n"
                           "demand: {training: [{name: j, queue: q, arrivals: {base: 1/h}, gangs: [{duration: 1h}]}]}\n"
                           "arbiters: [{preset: cohort%s}]\n", kueue);
    return scenario_load_text("k.yaml", text, (size_t)n, NULL, 0, diags);
}

static struct policy_config *config_of(struct scenario *s, const char *kueue)
{
    struct diag_list diags = {0};
    struct scenario *got = load(kueue, &diags);
    diag_print(&diags, stderr);
    assert_non_null(got);
    diag_fini(&diags);
    *s = *got;
    free(got);
    return quota_view_config(&s->arena, s, &s->arbiters[0]);
}

static bool gate(const struct policy_config *cfg, const char *name, bool otherwise)
{
    for (uint32_t i = 0; i < cfg->gate_count; i++)
        if (strcmp(cfg->gates[i].name, name) == 0)
            otherwise = cfg->gates[i].on; /* the last one counts */
    return otherwise;
}

static void the_newest_release_decides_unless_another_is_named(void **state)
{
    (void)state;
    struct scenario s;
    const struct policy_config *cfg = config_of(&s, "");
    assert_string_equal(cfg->profile, "HEAD");
    assert_int_equal(cfg->strategy_count, 0); /* both */
    arena_fini(&s.arena);
    cfg = config_of(&s, ", kueue: {version: v0.18}");
    assert_string_equal(cfg->profile, "v0.18");
    assert_true(gate(cfg, "QuotaCheckStrategy", false)); /* queues may count cards only, whatever the release */
    arena_fini(&s.arena);
}

static void gates_and_strategies_reach_the_policy(void **state)
{
    (void)state;
    struct scenario s;
    const struct policy_config *cfg =
        config_of(&s, ", kueue: {version: v0.19, featureGates: {PrioritySortingWithinCohort: false, QuotaCheckStrategy: false, "
                      "PrioritizePreemptorWorkloads: true}, preemptionStrategies: [LessThanInitialShare]}");
    assert_string_equal(cfg->profile, "v0.19");
    assert_false(gate(cfg, "PrioritySortingWithinCohort", true));
    assert_false(gate(cfg, "QuotaCheckStrategy", true));
    assert_true(gate(cfg, "PrioritizePreemptorWorkloads", false));
    assert_int_equal(cfg->strategy_count, 1);
    assert_int_equal(cfg->strategies[0], POLICY_LESS_THAN_INITIAL_SHARE);
    arena_fini(&s.arena);
    cfg = config_of(&s, ", kueue: {preemptionStrategies: [LessThanOrEqualToFinalShare]}");
    assert_int_equal(cfg->strategy_count, 1);
    assert_int_equal(cfg->strategies[0], POLICY_LESS_OR_EQUAL_FINAL_SHARE);
    arena_fini(&s.arena);
    cfg = config_of(&s, ", kueue: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}");
    assert_int_equal(cfg->strategy_count, 0);
    arena_fini(&s.arena);
}

static void refused(const char *kueue, const char *with)
{
    struct diag_list diags = {0};
    assert_null(load(kueue, &diags));
    assert_true(diags.count > 0);
    if (strstr(diags.items[0].text, with) == NULL)
        fail_msg("expected '%s' in '%s'", with, diags.items[0].text);
    assert_int_equal(diags.items[0].line, 4);
    diag_fini(&diags);
}

static void what_kueue_does_not_know_is_refused(void **state)
{
    (void)state;
    refused(", kueue: {version: v0.17}", "arbiters[0].kueue.version: expected");
    refused(", kueue: {featureGates: {PrioritySorting: false}}", "arbiters[0].kueue.featureGates: no feature gate 'PrioritySorting' is known");
    refused(", kueue: {featureGates: {PartialAdmission: maybe}}", "expected true or false for gate 'PartialAdmission', got 'maybe'");
    refused(", kueue: {featureGates: [PartialAdmission]}", "expected a map of gates");
    refused(", kueue: {preemptionStrategies: [LessThanInitialShare, LessThanOrEqualToFinalShare]}", "or both in this order");
    refused(", kueue: {preemptionStrategies: []}", "or both in this order");
    refused(", kueue: {preemptionStrategies: LessThanInitialShare}", "or both in this order");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_release_decides_unless_another_is_named),
        cmocka_unit_test(gates_and_strategies_reach_the_policy),
        cmocka_unit_test(what_kueue_does_not_know_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
