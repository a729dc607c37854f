/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pending view of a world: replication 0, from the level `series` on. */
#include "models/policies/pending_view.h"

#include <string.h>

#include "models/world/pending_rows.h"
#include "models/world/world_priv.h"
#include "models/world/world_record.h"

_Static_assert(PENDING_NAME_SIZE == RECORD_NAME_SIZE, "names fit");

static void name(void *ctx, uint32_t workload, char text[PENDING_NAME_SIZE])
{
    record_name(ctx, workload, text);
}

/* Cards are counted in thousandths here, cpu in thousandths as everywhere in Kueue. */
static double *units_of(struct world *w, const struct policy_config *cfg)
{
    double *units = arena_alloc(&w->arena, (size_t)cfg->resource_count + 1, sizeof *units);
    for (uint32_t r = 0; r < cfg->resource_count; r++)
        units[r] = r == 0 || strcmp(cfg->resources[r], "cpu") == 0 ? 1000.0 : 1.0;
    return units;
}

void world_pending_init(struct world *w, const struct policy_config *cfg)
{
    if (w->opt.level == RECORD_LEVEL_SUMMARY || w->opt.replication != 0)
        return;
    w->pending_units = units_of(w, cfg);
    const struct pending_options o = {
        .config = cfg,
        .ops = w->ops,
        .policy = w->policy,
        .patience_ns = sim_time_after(sim_time_after(w->arb->requeue_batch, w->arb->eviction_grace), PENDING_PATIENCE_NS),
        .main_resource = 0,
        .units = w->pending_units,
        .ctx = w,
        .name = name,
        .holdings = w->opt.level == RECORD_LEVEL_FULL};
    w->pending_config = cfg;
    w->pending = pending_create(&o);
    qflow_keep(pending_flow(w->pending), qflow_step(pending_flow(w->pending), w->s->horizon));
}

void world_pending_output(struct world *w, const struct policy_output *o)
{
    if (w->pending != NULL && (o->kind == POLICY_DO_ADMIT || o->kind == POLICY_SAY_PENDING))
        pending_output(w->pending, w->now, o, o->kind == POLICY_DO_ADMIT ? w->wl[o->workload].shape : 0, 0);
}

void world_pending_emit(struct world *w)
{
    const struct pending_rows r = {w->pending_config, w->pending_units, w->opt.run_id, &w->opt.sink};
    if (w->pending == NULL)
        return;
    pending_finish(w->pending, w->now);
    pending_rows_emit(&r, w->pending);
}
