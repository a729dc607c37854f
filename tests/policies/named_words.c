/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "tests/policies/named.h"

void named_refuse(const struct named *n, const struct named_line *l, const char *what)
{
    fprintf(stderr, "%s, line %d: %s\n", n->c->name, l->number, what);
    exit(99);
}

uint32_t named_id(struct named_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->v[i], name) == 0)
            return i;
    if (names->count == NAMED_MAX) {
        fprintf(stderr, "too many names: %s\n", name);
        exit(99);
    }
    names->v[names->count] = name;
    return names->count++;
}

const char *named_value(const char *word, const char *key)
{
    const size_t n = strlen(key);
    return strncmp(word, key, n) == 0 ? word + n : NULL;
}

uint32_t named_resource(struct named *n, const char *word, const char **rest)
{
    static const char *const keys[] = {"min=", "required=", "preferred=", "slice=", "podSetGroup="};
    const char *eq = strchr(word, '=');
    const char *colon = strchr(word, ':');
    if (eq == NULL || (colon != NULL && colon < eq))
        return POLICY_NONE;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (named_value(word, keys[i]) != NULL)
            return POLICY_NONE;
    *rest = eq + 1;
    return named_id(&n->resources, arena_strndup(&n->mem, word, (size_t)(eq - word)));
}

int64_t named_amount(const struct named *n, uint32_t resource, const char *text)
{
    int64_t v;
    if (!quantity_parse(text, strcmp(n->resources.v[resource], "cpu") == 0, &v)) {
        fprintf(stderr, "%s: bad quantity '%s'\n", n->c->name, text);
        exit(99);
    }
    return v;
}

/* ---- labels, taints, tolerations: lists over the words of a line ---- */

struct policy_label *named_labels(struct named *n, const struct named_line *l, const char *key,
                                   uint32_t *count)
{
    struct policy_label *v = arena_alloc(&n->mem, NAMED_WORDS, sizeof *v);
    *count = 0;
    for (int i = 1; i < l->count; i++) {
        const char *text = named_value(l->word[i], key);
        if (text == NULL)
            continue;
        const char *eq = strchr(text, '=');
        v[*count].key = arena_strndup(&n->mem, text, (size_t)(eq - text));
        v[(*count)++].value = eq + 1;
    }
    return v;
}

static enum policy_effect effect(const char *text)
{
    if (strcmp(text, "NoSchedule") == 0)
        return POLICY_NO_SCHEDULE;
    if (strcmp(text, "NoExecute") == 0)
        return POLICY_NO_EXECUTE;
    return text[0] == '\0' ? POLICY_EFFECT_ANY : POLICY_PREFER_NO_SCHEDULE;
}

struct policy_taint *named_taints(struct named *n, const struct named_line *l, uint32_t *count)
{
    struct policy_taint *v = arena_alloc(&n->mem, NAMED_WORDS, sizeof *v);
    *count = 0;
    for (int i = 1; i < l->count; i++) {
        const char *text = named_value(l->word[i], "taint:");
        if (text == NULL)
            continue;
        const char *eq = strchr(text, '='), *colon = strrchr(text, ':');
        v[(*count)++] = (struct policy_taint){arena_strndup(&n->mem, text, (size_t)(eq - text)),
                                              arena_strndup(&n->mem, eq + 1, (size_t)(colon - eq - 1)),
                                              effect(colon + 1)};
    }
    return v;
}

struct policy_toleration *named_tolerations(struct named *n, const struct named_line *l,
                                             uint32_t *count)
{
    struct policy_toleration *v = arena_alloc(&n->mem, NAMED_WORDS, sizeof *v);
    *count = 0;
    for (int i = 1; i < l->count; i++) {
        const char *text = named_value(l->word[i], "tolerate:");
        if (text == NULL)
            continue;
        const char *colon = strrchr(text, ':'), *eq = strchr(text, '=');
        const char *end = eq != NULL ? eq : colon;
        v[(*count)++] = (struct policy_toleration){
            .key = arena_strndup(&n->mem, text, (size_t)(end - text)),
            .value = eq != NULL ? arena_strndup(&n->mem, eq + 1, (size_t)(colon - eq - 1)) : "",
            .effect = effect(colon + 1),
            .exists = eq == NULL};
    }
    return v;
}

struct policy_amount *named_amounts(struct named *n, const struct named_line *l, uint32_t *count)
{
    struct policy_amount *v = arena_alloc(&n->mem, NAMED_WORDS, sizeof *v);
    const char *rest;
    *count = 0;
    for (int i = 2; i < l->count; i++) {
        const uint32_t r = named_resource(n, l->word[i], &rest);
        if (r != POLICY_NONE)
            v[(*count)++] = (struct policy_amount){r, named_amount(n, r, rest)};
    }
    return v;
}

/* The value of the first word that begins with key; else otherwise. */
const char *named_word(const struct named_line *l, const char *key, const char *otherwise)
{
    for (int i = 1; i < l->count; i++)
        if (named_value(l->word[i], key) != NULL)
            return named_value(l->word[i], key);
    return otherwise;
}

bool named_has(const struct named_line *l, const char *word)
{
    for (int i = 2; i < l->count; i++)
        if (strcmp(l->word[i], word) == 0)
            return true;
    return false;
}

double named_weight(const struct named_line *l)
{
    double w = 1.0;
    quantity_real(named_word(l, "weight=", "1"), &w);
    return w;
}
