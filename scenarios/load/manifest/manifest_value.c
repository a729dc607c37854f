/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times, durations, labels, selectors, taints and tolerations. */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/clock.h"
#include "scenarios/load/manifest/manifest_priv.h"
#include "sim/sim_time.h"

int64_t mf_time(struct mf *r, const struct mnode *map, const char *key)
{
    static const struct tz utc = {0};
    int64_t ns;
    const char *text = mf_string(r, map, key, "");
    if (text[0] == '\0')
        return POLICY_NEVER;
    if (strlen(text) < 20 || text[10] != 'T' || !clock_date(&utc, text, &ns)) {
        mf_error(r, mnode_get(map, key), key,
                 "Invalid value: \"%.60s\": expected a time such as 2026-11-02T10:00:00Z", text);
        return POLICY_NEVER;
    }
    return ns;
}

/* Decimal numbers each with a unit: 1h30m, 1.5s, 100ms. */
bool mf_go_duration(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    const bool negative = *text == '-';
    double sum = 0;
    text += negative || *text == '+';
    if (strcmp(text, "0") == 0) {
        *ns = 0;
        return true;
    }
    if (*text == '\0')
        return false;
    while (*text != '\0') {
        char *end;
        if (strspn(text, "0123456789.") == 0)
            return false;
        const double v = strtod(text, &end);
        size_t u = 0, length = strcspn(end, "0123456789.");
        for (; u < sizeof units / sizeof units[0]; u++)
            if (strlen(units[u].name) == length && strncmp(units[u].name, end, length) == 0)
                break;
        if (end == text || u == sizeof units / sizeof units[0])
            return false;
        sum += v * units[u].ns;
        text = end + length;
    }
    if (sum > 9e18)
        return false;
    *ns = negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

int64_t mf_duration(struct mf *r, const struct mnode *map, const char *key, int64_t otherwise)
{
    int64_t ns;
    const struct mnode *n = mnode_get(map, key);
    if (n == NULL)
        return otherwise;
    if ((n->kind != MNODE_STRING && n->kind != MNODE_NUMBER) || !mf_go_duration(n->text, &ns)) {
        mf_error(r, n, key, "Invalid value: \"%.60s\": expected a duration such as 5m", n->text);
        return otherwise;
    }
    if (ns < 0) {
        mf_error(r, n, key, "Invalid value: \"%.60s\": must be greater than or equal to 0", n->text);
        return otherwise;
    }
    return ns;
}

struct policy_label *mf_labels(struct mf *r, const struct mnode *map, const char *key, uint32_t *count)
{
    const struct mnode *list = mf_map(r, map, key);
    struct policy_label *to = arena_alloc(&r->m->mem, (size_t)mnode_count(list) + 1, sizeof *to);
    *count = 0;
    for (const struct mnode *c = mnode_first(list); c != NULL; c = c->next) {
        if (c->kind != MNODE_STRING && c->kind != MNODE_NULL)
            mf_error(r, c, key, "Invalid value: label %.60s: expected a string", c->key);
        to[(*count)++] = (struct policy_label){mf_keep(r, c->key), mf_keep(r, c->text)};
    }
    return to;
}

static void read_values(struct mf *r, const struct mnode *x, struct policy_expr *to)
{
    const struct mnode *values = mf_list(r, x, "values");
    const char **texts = arena_alloc(&r->m->mem, (size_t)mnode_count(values) + 1, sizeof *texts);
    for (const struct mnode *v = mnode_first(values); v != NULL; v = v->next)
        texts[to->value_count++] = mf_keep(r, v->text);
    to->values = texts;
    const bool listed = to->op == POLICY_IN || to->op == POLICY_NOT_IN;
    if (listed && to->value_count == 0)
        mf_error(r, x, "values", "Required value: must be specified when `operator` is 'In' or 'NotIn'");
    if ((to->op == POLICY_EXISTS || to->op == POLICY_DOES_NOT_EXIST) && to->value_count > 0)
        mf_error(r, x, "values",
                 "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    if ((to->op == POLICY_GT || to->op == POLICY_LT) && to->value_count != 1)
        mf_error(r, x, "values",
                 "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'");
}

struct policy_selector mf_selector(struct mf *r, const struct mnode *s)
{
    static const char *const operators[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", NULL};
    struct policy_selector to = {0};
    to.labels = mf_labels(r, s, "matchLabels", &to.label_count);
    const struct mnode *exprs = mf_list(r, s, "matchExpressions");
    struct policy_expr *e = arena_alloc(&r->m->mem, (size_t)mnode_count(exprs) + 1, sizeof *e);
    for (const struct mnode *x = mnode_first(exprs); x != NULL; x = x->next) {
        const size_t mark = mf_into(r, ".matchExpressions[%u]", (unsigned)to.expr_count);
        struct policy_expr *at = &e[to.expr_count++];
        at->key = mf_keep(r, mf_string(r, x, "key", ""));
        if (at->key[0] == '\0')
            mf_error(r, x, "key", "Required value: name part must be non-empty");
        at->op = (enum policy_operator)mf_choice(r, x, "operator", operators, -1);
        if ((int)at->op < 0) {
            if (mnode_get(x, "operator") == NULL)
                mf_error(r, x, "operator", "Required value");
            at->op = POLICY_EXISTS;
        } else {
            read_values(r, x, at);
        }
        mf_out(r, mark);
    }
    to.exprs = e;
    return to;
}

static enum policy_effect effect(struct mf *r, const struct mnode *t)
{
    static const char *const names[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    static const enum policy_effect effects[] = {POLICY_NO_SCHEDULE, POLICY_PREFER_NO_SCHEDULE,
                                                 POLICY_NO_EXECUTE};
    const int i = mf_choice(r, t, "effect", names, -1);
    return i < 0 ? POLICY_EFFECT_ANY : effects[i];
}

struct policy_taint *mf_taints(struct mf *r, const struct mnode *map, const char *key, uint32_t *count)
{
    const struct mnode *list = mf_list(r, map, key);
    struct policy_taint *to = arena_alloc(&r->m->mem, (size_t)mnode_count(list) + 1, sizeof *to);
    *count = 0;
    for (const struct mnode *t = mnode_first(list); t != NULL; t = t->next) {
        const size_t mark = mf_into(r, ".%s[%u]", key, (unsigned)*count);
        struct policy_taint *at = &to[(*count)++];
        at->key = mf_keep(r, mf_string(r, t, "key", ""));
        at->value = mf_keep(r, mf_string(r, t, "value", ""));
        at->effect = effect(r, t);
        if (at->key[0] == '\0')
            mf_error(r, t, "key", "Invalid value: \"\": name part must be non-empty");
        for (uint32_t i = 0; i + 1 < *count; i++)
            if (strcmp(to[i].key, at->key) == 0 && to[i].effect == at->effect)
                mf_error(r, t, NULL, "Duplicate value: taints must be unique by key and effect pair");
        mf_out(r, mark);
    }
    return to;
}

struct policy_toleration *mf_tolerations(struct mf *r, const struct mnode *map, const char *key,
                                         uint32_t *count)
{
    static const char *const operators[] = {"Equal", "Exists", "Lt", "Gt", NULL};
    const struct mnode *list = mf_list(r, map, key);
    struct policy_toleration *to = arena_alloc(&r->m->mem, (size_t)mnode_count(list) + 1, sizeof *to);
    *count = 0;
    for (const struct mnode *t = mnode_first(list); t != NULL; t = t->next) {
        const size_t mark = mf_into(r, ".%s[%u]", key, (unsigned)*count);
        struct policy_toleration *at = &to[(*count)++];
        const int op = mf_choice(r, t, "operator", operators, 0);
        at->key = mf_keep(r, mf_string(r, t, "key", ""));
        at->value = mf_keep(r, mf_string(r, t, "value", ""));
        at->effect = effect(r, t);
        at->exists = op == 1;
        if (op > 1)
            mf_unsupported(r, "a toleration's operator Lt or Gt counts as Equal");
        if (at->key[0] == '\0' && !at->exists)
            mf_error(r, t, "operator", "Invalid value: \"Equal\": operator must be Exists when `key` "
                     "is empty, which means \"match all values and all keys\"");
        mf_out(r, mark);
    }
    return to;
}
