/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the read tables to a struct scenario: lists are joined, selectors and files resolved. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/file_hash.h"
#include "scenarios/load/load_priv.h"

/* `card: H100-80` and `card: H100` are one label: values of that key take the catalogue's name. */
static void canonical_cards(struct label *labels, int32_t count)
{
    const struct catalogue *c = catalogue_builtin();
    for (int32_t i = 0; i < count; i++) {
        int32_t card = strcmp(labels[i].key, "card") == 0 ? catalogue_find_card(c,
            labels[i].value) : -1;
        if (card >= 0)
            labels[i].value = c->cards[card].name;
    }
}

static bool carries(const struct node_pool_config *p, const struct label *want)
{
    for (int32_t i = 0; i < p->label_count; i++)
        if (strcmp(p->labels[i].key, want->key) == 0)
            return strcmp(p->labels[i].value, want->value) == 0;
    return false;
}

static void finish_fleet(struct read_ctx *ctx, struct scenario_in *in)
{
    struct fleet_config *f = &in->s.fleet;
    f->pool_count = in->pool_count;
    f->pools = arena_alloc(ctx->arena, (size_t)in->pool_count + 1, sizeof *f->pools);
    for (int32_t i = 0; i < in->pool_count; i++) {
        f->pools[i] = in->pools[i].c;
        canonical_cards(f->pools[i].labels, f->pools[i].label_count);
    }
    if (f->flavor_count == 0) {
        f->flavor_count = f->pool_count;
        f->flavors = arena_alloc(ctx->arena, (size_t)f->pool_count + 1, sizeof *f->flavors);
        for (int32_t i = 0; i < f->pool_count; i++) {
            /* All labels of the pool: Kueue looks at a selector key only where the flavor has it. */
            f->flavors[i] = (struct flavor_config){.name = f->pools[i].name,
                                                   .node_labels = f->pools[i].labels,
                                                   .node_label_count = f->pools[i].label_count};
        }
    }
    for (int32_t i = 0; i < f->flavor_count; i++) {
        struct flavor_config *v = &f->flavors[i];
        canonical_cards(v->node_labels, v->node_label_count);
        v->pools = arena_alloc(ctx->arena, (size_t)f->pool_count + 1, sizeof *v->pools);
        for (int32_t p = 0; p < f->pool_count; p++) {
            bool all = true;
            for (int32_t k = 0; k < v->node_label_count; k++)
                all = all && carries(&f->pools[p], &v->node_labels[k]);
            if (all)
                v->pools[v->pool_count++] = p;
        }
    }
    f->resource_count = ctx->resources.count;
    f->resources = arena_alloc(ctx->arena, (size_t)f->resource_count + 1, sizeof *f->resources);
    memcpy(f->resources, ctx->resources.items, (size_t)f->resource_count * sizeof *f->resources);
}

/* Without `teams`, every queue is one. */
static void finish_teams(struct read_ctx *ctx, struct quota_config *q)
{
    if (q->team_count > 0)
        return;
    q->team_count = q->queue_count;
    q->teams = arena_alloc(ctx->arena, (size_t)q->queue_count + 1, sizeof *q->teams);
    for (int32_t i = 0; i < q->queue_count; i++)
        q->teams[i].name = q->queues[i].name;
}

static void finish_demand(struct read_ctx *ctx, struct scenario_in *in)
{
    struct demand_config *d = &in->s.demand;
    d->stream_count = in->training_count + in->lora_count;
    d->streams = arena_alloc(ctx->arena, (size_t)d->stream_count + 1, sizeof *d->streams);
    for (int32_t i = 0; i < d->stream_count; i++) {
        d->streams[i] = i < in->training_count ? in->training[i].c : in->lora[i - in->training_count].c;
        canonical_cards(d->streams[i].node_selector, d->streams[i].node_selector_count);
    }
    d->service_count = in->service_count;
    d->services = arena_alloc(ctx->arena, (size_t)d->service_count + 1, sizeof *d->services);
    in->s.service_scaling = arena_alloc(ctx->arena, (size_t)d->service_count + 1,
                                        sizeof *in->s.service_scaling);
    for (int32_t i = 0; i < d->service_count; i++) {
        d->services[i] = in->services[i].c;
        in->s.service_scaling[i] = in->services[i].scaling;
        canonical_cards(d->services[i].node_selector, d->services[i].node_selector_count);
    }
}

/* ---- data files ---- */

const char *load_path_beside(struct read_ctx *ctx, const struct ynode *n)
{
    const char *file = n->place.source->name, *slash = strrchr(file, '/');
    /* A path typed on the command line belongs to the current directory. */
    if (n->place.source->is_argument || n->text[0] == '/' || slash == NULL)
        return n->text;
    return arena_printf(ctx->arena, "%.*s/%s", (int)(slash - file), file, n->text);
}

static void take_path(struct read_ctx *ctx, struct scenario *s, const struct ynode *n, const char *path)
{
    struct stat st;
    uint64_t hash = 0;
    if (stat(path, &st) != 0)
        field_problem(ctx, n, "cannot open '%.200s': %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        field_problem(ctx, n, "'%.200s' is %s; expected a file", path,
                      S_ISDIR(st.st_mode) ? "a directory" : "not a plain file");
    else if (!file_hash(path, &hash))
        field_problem(ctx, n, "cannot read '%.200s': %s", path, strerror(errno));
    for (int32_t i = 0; i < s->input_count; i++)
        if (strcmp(s->input_files[i], path) == 0)
            return;
    s->input_files[s->input_count] = path;
    s->input_hashes[s->input_count++] = hash;
}

static void take_file(struct read_ctx *ctx, struct scenario *s, const struct ynode *n,
                      const char **file)
{
    if (*file == NULL || n == NULL)
        return;
    *file = load_path_beside(ctx, n);
    take_path(ctx, s, n, *file);
}

static void finish_files(struct read_ctx *ctx, struct scenario_in *in, const struct ynode *root)
{
    struct scenario *s = &in->s;
    const struct ynode *demand = ynode_get(root, "demand");
    const int32_t objects = in->objects == NULL ? 0 : in->objects->file_count;
    size_t most = (size_t)(s->demand.stream_count + s->demand.service_count + objects) + 1;
    s->input_files = arena_alloc(ctx->arena, most, sizeof *s->input_files);
    s->input_hashes = arena_alloc(ctx->arena, most, sizeof *s->input_hashes);
    snprintf(ctx->path, sizeof ctx->path, "manifests");
    for (int32_t i = 0; i < objects; i++)
        take_path(ctx, s, root, in->objects->files[i]);
    for (int32_t i = 0; i < s->demand.stream_count; i++) {
        bool lora = i >= in->training_count;
        const struct ynode *list = ynode_get(demand, lora ? "lora" : "training");
        int32_t at = lora ? i - in->training_count : i;
        snprintf(ctx->path, sizeof ctx->path, "demand.%s[%d].file", lora ? "lora" : "training",
                 (int)at);
        take_file(ctx, s, ynode_get(list->items[at], "file"), &s->demand.streams[i].file);
    }
    for (int32_t i = 0; i < s->demand.service_count; i++) {
        const struct ynode *item = ynode_get(demand, "services")->items[i];
        snprintf(ctx->path, sizeof ctx->path, "demand.services[%d].traffic.file", (int)i);
        take_file(ctx, s, ynode_get(ynode_get(item, "traffic"), "file"),
                  &s->demand.services[i].traffic.file);
    }
    ctx->path[0] = '\0';
}

void load_finish(struct read_ctx *ctx, const struct ynode *root)
{
    struct scenario_in *in = scenario_of(ctx);
    in->s.sharing_model = in->sharing_model.c;
    finish_fleet(ctx, in);
    finish_teams(ctx, &in->s.quota);
    finish_demand(ctx, in);
    in->s.arbiter_count = in->arbiter_count;
    in->s.arbiters = arena_alloc(ctx->arena, (size_t)in->arbiter_count + 1, sizeof *in->s.arbiters);
    for (int32_t i = 0; i < in->arbiter_count; i++)
        in->s.arbiters[i] = in->arbiters[i].c;
    finish_files(ctx, in, root);
}
