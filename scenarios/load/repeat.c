/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/repeat.h"

#include <stdio.h>
#include <string.h>

#include "scenarios/load/units.h"

struct expand {
    struct arena *arena;
    struct diag_list *diags;
    int64_t nodes;
    bool inside, failed;
};

static void problem(struct expand *x, const struct ynode *n, const char *text)
{
    yplace_report(&n->place, DIAG_ERROR, x->diags, "%s", text);
    x->failed = true;
}

/* text with every `{i}` replaced by i. */
static const char *substitute(struct expand *x, const char *text, int64_t i)
{
    const char *hit = strstr(text, "{i}");
    if (hit == NULL)
        return text;
    char number[24];
    size_t digits = (size_t)snprintf(number, sizeof number, "%lld", (long long)i), used = 0;
    /* Every mark of three bytes becomes at most `digits` bytes. */
    char *out = arena_alloc(x->arena, strlen(text) / 3 + 1, digits + 3);
    for (; hit != NULL; hit = strstr(text, "{i}")) {
        memcpy(out + used, text, (size_t)(hit - text));
        used += (size_t)(hit - text);
        memcpy(out + used, number, digits);
        used += digits;
        text = hit + 3;
    }
    memcpy(out + used, text, strlen(text) + 1);
    return out;
}

/* The list of an `each:` map, or NULL when n is none. */
static const struct ynode *each_list(const struct ynode *n)
{
    const struct ynode *each = n->kind == YNODE_MAP && n->count == 1 ? ynode_get(n, "each") : NULL;
    return each != NULL && each->kind == YNODE_LIST && each->count > 0 ? each : NULL;
}

static struct ynode *copy_for(struct expand *x, const struct ynode *n, int64_t i)
{
    const struct ynode *each = each_list(n);
    if (each != NULL)
        n = each->items[(i - 1) % each->count];
    if (x->nodes++ >= YTREE_NODES_MAX)
        return ynode_new(x->arena, YNODE_SCALAR, n->place);
    struct ynode *c = ynode_new(x->arena, n->kind, n->place);
    c->quoted = n->quoted;
    c->text = n->kind == YNODE_SCALAR ? substitute(x, n->text, i) : "";
    for (int32_t k = 0; k < n->count; k++)
        ynode_add(x->arena, c, n->kind == YNODE_MAP ? n->keys[k] : NULL,
                  n->kind == YNODE_MAP ? n->key_places[k] : n->place, copy_for(x, n->items[k], i));
    return c;
}

static void remove_key(struct ynode *map, int32_t at)
{
    for (int32_t k = at + 1; k < map->count; k++) {
        map->keys[k - 1] = map->keys[k];
        map->key_places[k - 1] = map->key_places[k];
        map->items[k - 1] = map->items[k];
    }
    map->count--;
}

static int64_t repeat_count(struct expand *x, const struct ynode *n)
{
    int64_t count = 0;
    char what[64], text[128];
    if (n->kind == YNODE_SCALAR && units_int(n->text, &count) == UNITS_OK && count >= 1 &&
        count <= REPEAT_MAX)
        return count;
    snprintf(text, sizeof text, "repeat: expected a whole number of 1 to %d, got %s", REPEAT_MAX,
             ynode_what(n, what));
    problem(x, n, text);
    return 0;
}

static void expand(struct expand *x, struct ynode *n);

static void expand_item(struct expand *x, struct ynode *list, struct ynode *item)
{
    int32_t at = ynode_find(item, "repeat");
    if (at < 0) {
        expand(x, item);
        ynode_add(x->arena, list, NULL, list->place, item);
        return;
    }
    if (x->inside) {
        problem(x, item->items[at], "a repeat inside a repeat is not supported");
        return;
    }
    int64_t count = repeat_count(x, item->items[at]);
    remove_key(item, at);
    x->inside = true;
    expand(x, item);
    x->inside = false;
    for (int64_t i = 1; i <= count && x->nodes < YTREE_NODES_MAX; i++)
        ynode_add(x->arena, list, NULL, list->place, copy_for(x, item, i));
}

static void expand(struct expand *x, struct ynode *n)
{
    if (n->kind != YNODE_LIST) {
        for (int32_t k = 0; k < n->count; k++)
            expand(x, n->items[k]);
        return;
    }
    struct ynode old = *n;
    n->count = 0;
    n->capacity = 0;
    n->items = NULL;
    for (int32_t k = 0; k < old.count; k++)
        expand_item(x, n, old.items[k]);
}

bool repeat_expand(struct ynode *root, struct arena *a, struct diag_list *diags)
{
    struct expand x = {.arena = a, .diags = diags, .nodes = ynode_size(root)};
    expand(&x, root);
    if (x.nodes >= YTREE_NODES_MAX)
        problem(&x, root, "more than 1000000 values after repeats, the limit of a scenario");
    return !x.failed;
}
