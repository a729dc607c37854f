/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `manifests:` beside demand: reads the objects and writes them into the tree of the scenario. */
#include <stdio.h>
#include <string.h>

#include "scenarios/load/objects/objects.h"
#include "sim/fnv.h"

static void remove_key(struct ynode *map, const char *key)
{
    const int32_t at = ynode_find(map, key);
    if (at < 0)
        return;
    for (int32_t k = at + 1; k < map->count; k++) {
        map->keys[k - 1] = map->keys[k];
        map->key_places[k - 1] = map->key_places[k];
        map->items[k - 1] = map->items[k];
    }
    map->count--;
}

/* The fleet of a scenario is of cards. */
static bool counts_cards(const struct ob *o)
{
    const struct policy_config *cfg = &o->m->config;
    const char *name = o->card == POLICY_NONE ? "" : cfg->resources[o->card];
    if (strchr(name, '/') != NULL)
        return true;
    ob_error(o, ynode_get(o->root, "manifests")->place,
             "no ClusterQueue has quota of a resource such as nvidia.com/gpu; the fleet of a scenario is of cards");
    return false;
}

static void take_files(struct ob *o)
{
    const struct replay_config *r = &o->in->replay;
    o->left = arena_alloc(o->a, 1, sizeof *o->left);
    *o->left = (struct load_objects){.files = r->manifests, .file_count = r->manifest_count};
    o->sources = arena_alloc(o->a, (size_t)r->manifest_count + 1, sizeof *o->sources);
    for (int32_t i = 0; i < r->manifest_count; i++)
        o->sources[i] = (struct ysource){.name = r->manifests[i], .is_objects = true};
}

static void translate(struct ob *o)
{
    ob_count_quotas(o);
    ob_local_queues(o); /* before the quotas: namespaces are their teams */
    ob_fleet(o);
    ob_priority_classes(o);
    ob_quota(o);
    ob_arbiters(o);
    ob_tell(o);
}

const struct load_objects *objects_expand(struct read_ctx *ctx, struct ynode *root)
{
    const size_t errors = ctx->diags->error_count;
    struct scenario_in *in = arena_alloc(ctx->arena, 1, sizeof *in);
    struct ob o = {.a = ctx->arena, .diags = ctx->diags, .ctx = ctx, .root = root, .in = in, .types = ynode_get(root, "nodeTypes")};
    if (!replay_keys_ok(ctx, root))
        return NULL;
    replay_read_objects(ctx, root, in);
    if (ctx->diags->error_count > errors)
        return NULL;
    take_files(&o);
    struct manifest *m = manifest_read_objects(in->replay.manifests, (int)in->replay.manifest_count, ctx->diags);
    if (m == NULL)
        return NULL;
    o.m = m;
    o.card = m->main_resource;
    if (counts_cards(&o))
        translate(&o);
    manifest_free(m);
    remove_key(root, "manifests");
    remove_key(root, "nodeTypes");
    return ctx->diags->error_count > errors ? NULL : o.left;
}
