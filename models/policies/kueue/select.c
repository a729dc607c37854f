/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/select.h"

#include <stdlib.h>
#include <string.h>

const char *kq_label(const struct policy_label *labels, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(labels[i].key, key) == 0)
            return labels[i].value;
    return NULL;
}

static bool listed(const struct policy_expr *e, const char *value)
{
    for (uint32_t i = 0; i < e->value_count; i++)
        if (strcmp(e->values[i], value) == 0)
            return true;
    return false;
}

static bool beyond(const struct policy_expr *e, const char *value)
{
    char *end_a, *end_b;
    if (e->value_count == 0)
        return false;
    const long long a = strtoll(value, &end_a, 10), b = strtoll(e->values[0], &end_b, 10);
    if (end_a == value || *end_a != '\0' || end_b == e->values[0] || *end_b != '\0')
        return false;
    return e->op == POLICY_GT ? a > b : a < b;
}

bool kq_expr_matches(const struct policy_expr *e, const struct policy_label *labels, uint32_t count)
{
    const char *value = kq_label(labels, count, e->key);
    switch (e->op) {
    case POLICY_IN:
        return value != NULL && listed(e, value);
    case POLICY_NOT_IN:
        return value == NULL || !listed(e, value);
    case POLICY_EXISTS:
        return value != NULL;
    case POLICY_DOES_NOT_EXIST:
        return value == NULL;
    case POLICY_GT:
    case POLICY_LT:
        return value != NULL && beyond(e, value);
    }
    return false;
}

bool kq_selector_matches(const struct policy_selector *s, const struct policy_label *labels,
                         uint32_t count)
{
    for (uint32_t i = 0; i < s->label_count; i++) {
        const char *value = kq_label(labels, count, s->labels[i].key);
        if (value == NULL || strcmp(value, s->labels[i].value) != 0)
            return false;
    }
    for (uint32_t i = 0; i < s->expr_count; i++)
        if (!kq_expr_matches(&s->exprs[i], labels, count))
            return false;
    return true;
}

static bool tolerates(const struct policy_toleration *t, const struct policy_taint *taint)
{
    if (t->effect != POLICY_EFFECT_ANY && t->effect != taint->effect)
        return false;
    if (t->key != NULL && t->key[0] != '\0' && strcmp(t->key, taint->key) != 0)
        return false;
    if (t->exists)
        return true;
    return strcmp(t->value != NULL ? t->value : "", taint->value != NULL ? taint->value : "") == 0;
}

static bool one_tolerates(const struct policy_toleration *t, uint32_t count,
                          const struct policy_taint *taint)
{
    for (uint32_t i = 0; i < count; i++)
        if (tolerates(&t[i], taint))
            return true;
    return false;
}

bool kq_taints_tolerated(const struct policy_taint *taints, uint32_t taint_count,
                         const struct policy_toleration *a, uint32_t a_count,
                         const struct policy_toleration *b, uint32_t b_count)
{
    for (uint32_t i = 0; i < taint_count; i++) {
        if (taints[i].effect != POLICY_NO_SCHEDULE && taints[i].effect != POLICY_NO_EXECUTE)
            continue;
        if (!one_tolerates(a, a_count, &taints[i]) && !one_tolerates(b, b_count, &taints[i]))
            return false;
    }
    return true;
}

static const char *copy_text(struct arena *mem, const char *s)
{
    return arena_strdup(mem, s != NULL ? s : "");
}

struct policy_label *kq_copy_labels(struct arena *mem, const struct policy_label *from, uint32_t n)
{
    struct policy_label *to = arena_alloc(mem, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = (struct policy_label){copy_text(mem, from[i].key), copy_text(mem, from[i].value)};
    return to;
}

struct policy_taint *kq_copy_taints(struct arena *mem, const struct policy_taint *from, uint32_t n)
{
    struct policy_taint *to = arena_alloc(mem, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = (struct policy_taint){copy_text(mem, from[i].key), copy_text(mem, from[i].value),
                                      from[i].effect};
    return to;
}

struct policy_toleration *kq_copy_tolerations(struct arena *mem,
                                              const struct policy_toleration *from, uint32_t n)
{
    struct policy_toleration *to = arena_alloc(mem, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].key = copy_text(mem, from[i].key);
        to[i].value = copy_text(mem, from[i].value);
    }
    return to;
}

static struct policy_expr *copy_exprs(struct arena *mem, const struct policy_expr *from, uint32_t n)
{
    struct policy_expr *to = arena_alloc(mem, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++) {
        const char **values = arena_alloc(mem, from[i].value_count, sizeof *values);
        for (uint32_t v = 0; v < from[i].value_count; v++)
            values[v] = copy_text(mem, from[i].values[v]);
        to[i] = (struct policy_expr){copy_text(mem, from[i].key), from[i].op, values,
                                     from[i].value_count};
    }
    return to;
}

struct policy_selector *kq_copy_selectors(struct arena *mem, const struct policy_selector *from,
                                          uint32_t n)
{
    struct policy_selector *to = arena_alloc(mem, n, sizeof *to);
    for (uint32_t i = 0; i < n; i++)
        to[i] = (struct policy_selector){kq_copy_labels(mem, from[i].labels, from[i].label_count),
                                         copy_exprs(mem, from[i].exprs, from[i].expr_count),
                                         from[i].label_count, from[i].expr_count};
    return to;
}
