/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/lint_priv.h"

/* One mistake in the template of a repeat is one warning: told by its place and its kind. */
static bool given(struct lint *l, const struct yplace *place, const char *fmt)
{
    for (size_t i = 0; i < l->seen_count; i++)
        if (l->seen[i].line == place->line && l->seen[i].column == place->column &&
            l->seen[i].source == place->source && l->seen[i].fmt == fmt)
            return place->source != NULL && !place->source->is_argument;
    l->seen = mem_grow(l->seen, &l->seen_capacity, l->seen_count + 1, sizeof *l->seen);
    l->seen[l->seen_count++] = (struct lint_seen){place->source, place->line, place->column, fmt};
    return false;
}

__attribute__((format(printf, 3, 0))) static void warn_at(struct lint *l, const struct ynode *n,
                                                          const char *fmt, va_list args)
{
    char text[768];
    vsnprintf(text, sizeof text, fmt, args);
    if (!given(l, &n->place, fmt))
        yplace_report(&n->place, DIAG_WARNING, l->diags, "%s", text);
}

static const struct ynode *find_item(const struct ynode *list, int32_t ix, const char *key,
                                     const struct ynode *otherwise)
{
    if (list == NULL || list->kind != YNODE_LIST || ix < 0 || ix >= list->count)
        return otherwise;
    const struct ynode *value = key == NULL ? NULL : ynode_get(list->items[ix], key);
    return value != NULL ? value : list->items[ix];
}

void lint_warn(struct lint *l, const char *list, int32_t ix, const char *key, const char *fmt, ...)
{
    const struct ynode *n = ynode_get(l->root, list);
    if (n == NULL)
        n = ynode_get(ynode_get(l->root, "demand"), list);
    if (n == NULL)
        n = ynode_get(ynode_get(l->root, "fleet"), list);
    va_list args;
    va_start(args, fmt);
    warn_at(l, find_item(n, ix, key, n != NULL ? n : l->root), fmt, args);
    va_end(args);
}

void lint_warn_stream(struct lint *l, int32_t ix, const char *key, const char *fmt, ...)
{
    const struct ynode *demand = ynode_get(l->root, "demand"), *training = ynode_get(demand,
                                                                                     "training");
    int32_t first_lora = training == NULL ? 0 : training->count;
    const struct ynode *list = ix < first_lora ? training : ynode_get(demand, "lora");
    va_list args;
    va_start(args, fmt);
    warn_at(l, find_item(list, ix < first_lora ? ix : ix - first_lora, key, l->root), fmt, args);
    va_end(args);
}

void scenario_lint(const struct scenario *s, const struct ynode *root, struct diag_list *diags)
{
    struct lint l = {.s = s, .root = root, .diags = diags};
    lint_quota(&l);
    lint_gangs(&l);
    lint_reach(&l);
    lint_services(&l);
    lint_sharing(&l);
    lint_network(&l);
    lint_hyperpod(&l);
    free(l.seen);
}

void scenario_lint_files(const struct scenario *s, const struct ynode *root, struct diag_list *diags)
{
    struct lint l = {.s = s, .root = root, .diags = diags};
    lint_files(&l);
    free(l.seen);
}
