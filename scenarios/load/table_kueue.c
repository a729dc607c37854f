/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table of an arbiter's `kueue`: whose decisions they are; Kueue's release, gates and fair-sharing strategies. */
#include <stddef.h>
#include <string.h>

#include "models/policies/policy.h"
#include "scenarios/load/load_priv.h"

#define KUEUE(member) offsetof(struct kueue_config, member)

static const struct enum_name version_names[] = {{"HEAD", KUEUE_HEAD}, {"v0.19", KUEUE_V0_19}, {"v0.18", KUEUE_V0_18}, {NULL, 0}};

/* The policy itself knows its gates. */
static bool known_gate(const char *name)
{
    char error[256];
    const struct policy_gate gate = {name, true};
    const struct policy_config one = {.abi = POLICY_ABI, .size = sizeof one, .gates = &gate, .gate_count = 1};
    const struct policy_ops *ops = policy_kueue();
    void *policy = ops->create(&one, NULL, error, sizeof error);
    if (policy != NULL)
        ops->destroy(policy);
    return policy != NULL;
}

static void read_gates(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    struct kueue_config *k = base;
    (void)f;
    if (n->kind != YNODE_MAP) {
        field_expected(ctx, n, "a map of gates such as {PrioritySortingWithinCohort: false}");
        return;
    }
    k->gates = arena_alloc(ctx->arena, (size_t)n->count + 1, sizeof *k->gates);
    for (int32_t i = 0; i < n->count; i++) {
        const struct ynode *v = n->items[i];
        const bool on = v->kind == YNODE_SCALAR && strcmp(v->text, "true") == 0;
        if (!known_gate(n->keys[i]))
            field_problem(ctx, v, "no feature gate '%.60s' is known", n->keys[i]);
        else if (!on && (v->kind != YNODE_SCALAR || strcmp(v->text, "false") != 0))
            field_expected(ctx, v, "true or false for gate '%.60s'", n->keys[i]);
        else
            k->gates[k->gate_count++] = (struct kueue_gate){n->keys[i], on};
    }
}

/* Kueue takes one of them, or both in this order. */
static void read_strategies(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    static const char final[] = "LessThanOrEqualToFinalShare", initial[] = "LessThanInitialShare";
    struct kueue_config *k = base;
    const bool list = n->kind == YNODE_LIST && (n->count == 1 || n->count == 2) && n->items[0]->kind == YNODE_SCALAR;
    const char *first = list ? n->items[0]->text : "", *second = list && n->count == 2 ? n->items[1]->text : "";
    (void)f;
    if (strcmp(first, final) == 0 && strcmp(second, initial) == 0)
        k->strategies = KUEUE_BOTH_SHARES;
    else if (strcmp(first, final) == 0 && second[0] == '\0' && n->count == 1)
        k->strategies = KUEUE_FINAL_SHARE;
    else if (strcmp(first, initial) == 0 && n->count == 1)
        k->strategies = KUEUE_INITIAL_SHARE;
    else
        field_expected(ctx, n, "[%s], [%s] or both in this order", final, initial);
}

static const struct field kueue_fields[] = {
    {.name = "version", .kind = FIELD_ENUM, .offset = KUEUE(version), .names = version_names,
     .help = "Release whose decisions are taken; HEAD is the newest."},
    {.name = "featureGates", .kind = FIELD_CUSTOM, .offset = KUEUE(gates), .read = read_gates, .shape = "map of gate: true or false",
     .fallback = "those of the version", .help = "Gates that differ from the version's defaults."},
    {.name = "preemptionStrategies", .kind = FIELD_CUSTOM, .offset = KUEUE(strategies), .read = read_strategies,
     .shape = "list of strategies", .fallback = "both",
     .help = "With fairSharing: LessThanOrEqualToFinalShare, LessThanInitialShare, or both in this order."},
    {0}};

const struct schema kueue_schema = {.title = "kueue",
                                    .about = "Which Kueue decides; for arbiters of the presets cohort, hyperpod and pools alike.",
                                    .fields = kueue_fields, .size = sizeof(struct kueue_config)};
