/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Kueue engine behind the policy interface: creation and the table of functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/assign.h"
#include "models/policies/kueue/cycle.h"
#include "models/policies/kueue/gates.h"
#include "models/policies/kueue/inputs.h"
#include "models/policies/kueue/objects.h"
#include "models/policies/kueue/place.h"
#include "models/policies/kueue/query.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/ready.h"
#include "models/policies/kueue/shape.h"
#include "models/policies/kueue/usage.h"

static void copy_resources(struct kq *k, const struct policy_config *cfg)
{
    k->pods_resource = k->cpu_resource = POLICY_NONE;
    k->resources = mem_alloc((size_t)cfg->resource_count + 1, sizeof *k->resources);
    for (uint32_t i = 0; i < cfg->resource_count; i++) {
        k->resources[i] = mem_strdup(cfg->resources[i]);
        if (strcmp(k->resources[i], "pods") == 0)
            k->pods_resource = i;
        if (strcmp(k->resources[i], "cpu") == 0)
            k->cpu_resource = i;
    }
    k->resource_count = cfg->resource_count;
    if (k->pods_resource == POLICY_NONE) { /* topology always counts pods */
        k->pods_resource = k->resource_count++;
        k->resources[k->pods_resource] = mem_strdup("pods");
    }
    const double *weights = cfg->admission_fair_sharing.resource_weights;
    k->resource_weights = mem_alloc(k->resource_count, sizeof *k->resource_weights);
    for (uint32_t i = 0; i < k->resource_count; i++)
        k->resource_weights[i] = weights != NULL && i < cfg->resource_count ? weights[i] : 1.0;
}

static void copy_settings(struct kq *k, const struct policy_config *cfg,
                          const struct policy_host *host)
{
    k->cfg = *cfg;
    if (host != NULL)
        k->host = *host;
    k->fast = !cfg->record_entries && !cfg->record_reasons &&
              !cfg->pods_ready.block_admission && k->gate[KQ_SHAPE_HASHING] &&
              !k->gate[KQ_PRIORITIZE_PREEMPTOR];
    k->afs = cfg->admission_fair_sharing.on && k->gate[KQ_ADMISSION_FAIR_SHARING];
    k->strategy_count = cfg->strategy_count;
    k->strategies[0] = cfg->strategies[0];
    k->strategies[1] = cfg->strategies[1];
    if (k->strategy_count == 0) {
        k->strategy_count = 2;
        k->strategies[0] = POLICY_LESS_OR_EQUAL_FINAL_SHARE;
        k->strategies[1] = POLICY_LESS_THAN_INITIAL_SHARE;
    }
}

static void copy_objects(struct kq *k, const struct policy_config *c)
{
    for (uint32_t i = 0; i < c->topology_count; i++)
        kq_set_object(k, POLICY_OBJ_TOPOLOGY, i, &c->topologies[i]);
    for (uint32_t i = 0; i < c->node_count; i++)
        kq_set_object(k, POLICY_OBJ_NODE, i, &c->nodes[i]);
    for (uint32_t i = 0; i < c->flavor_count; i++)
        kq_set_object(k, POLICY_OBJ_FLAVOR, i, &c->flavors[i]);
    for (uint32_t i = 0; i < c->cohort_count; i++)
        kq_set_object(k, POLICY_OBJ_COHORT, i, &c->cohorts[i]);
    for (uint32_t i = 0; i < c->cluster_queue_count; i++)
        kq_set_object(k, POLICY_OBJ_CLUSTER_QUEUE, i, &c->cluster_queues[i]);
    for (uint32_t i = 0; i < c->local_queue_count; i++)
        kq_set_object(k, POLICY_OBJ_LOCAL_QUEUE, i, &c->local_queues[i]);
}

static void *create(const struct policy_config *config, const struct policy_host *host, char *error,
                    size_t error_size)
{
    if (config->abi != POLICY_ABI || config->size != sizeof *config) {
        snprintf(error, error_size, "the host speaks version %u of the policy interface, not %u",
                 config->abi, POLICY_ABI);
        return NULL;
    }
    struct kq *k = mem_zalloc(1, sizeof *k);
    if (!kq_gates_init(k, config, error, error_size)) {
        free(k);
        return NULL;
    }
    copy_settings(k, config, host);
    copy_resources(k, config);
    copy_objects(k, config);
    kq_build(k);
    for (uint32_t i = 0; i < k->tree_count; i++) /* creating the objects asks to wake each tree */
        kq_ask_wake(k, 0, k->trees[i].root);
    return k;
}

static void free_workloads(struct kq *k)
{
    for (size_t c = 0; c < k->chunk_count; c++) {
        for (uint32_t i = 0; i < KQ_CHUNK; i++) {
            free(k->chunks[c][i].progress);
            free(k->chunks[c][i].use);
            free(k->chunks[c][i].placed);
        }
        free(k->chunks[c]);
    }
    free(k->chunks);
    for (size_t g = 0; g < k->group_count; g++) {
        free(k->groups[g].items[0].v);
        free(k->groups[g].items[1].v);
    }
    free(k->groups);
    free(k->classes);
    kq_map_fini(&k->class_map);
}

static void free_scratch(struct kq *k)
{
    struct kq_ids *lists[] = {&k->warm, &k->order, &k->left,   &k->inadmissible,  &k->victims,
                              &k->pin,  &k->due,   &k->timers, &k->dirty_classes, &k->logged,
                              &k->held, &k->woken, &k->found.returned, &k->probe_targets.returned,
                              &k->retries};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        kq_ids_fini(lists[i]);
    void *blocks[] = {k->cursors.v,       k->cursors.heap, k->requests.v,  k->rest.v,
                      k->found.v,         k->probe_targets.v,  k->undo,        k->topo_undo,
                      k->deferred,        k->wakes,            k->order_keys,  k->place_scratch.sets,
                      k->resource_weights, k->place_scratch.domains};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    kq_assign_fini(&k->probe);
    kq_assign_fini(&k->best);
    kq_topo_scratch_destroy(k->topo_scratch);
    kq_bump_fini(&k->bump);
    arena_fini(&k->deferred_mem);
}

static void destroy(void *ctx)
{
    struct kq *k = ctx;
    free_workloads(k);
    kq_shapes_fini(k);
    kq_objects_fini(k);
    free_scratch(k);
    for (uint32_t i = 0; i < k->resource_count; i++)
        free(k->resources[i]);
    free(k->resources);
    free(k);
}

static uint32_t register_shape(void *ctx, const struct policy_shape *shape)
{
    return kq_shape_register(ctx, shape);
}

static enum policy_cycle cycle(void *ctx, int64_t now, struct policy_outputs *out)
{
    return kq_cycle_run(ctx, now, out);
}

static bool blocked(void *ctx)
{
    const struct kq *k = ctx;
    return k->suspended;
}

static bool ready_to_resume(void *ctx)
{
    const struct kq *k = ctx;
    return k->suspended && k->unready_live == 0;
}

static enum policy_cycle resume(void *ctx, int64_t now, struct policy_outputs *out)
{
    return kq_cycle_resume(ctx, now, out);
}

static void repeat(void *ctx, int64_t now, uint32_t cycles)
{
    struct kq *k = ctx;
    (void)now;
    k->counts.cycles += cycles;
    k->counts.idle += (uint64_t)cycles * k->ready_queues;
    k->cycle += cycles;
}

static bool due(void *ctx, int64_t now, enum policy_due what, struct policy_outputs *out)
{
    switch (what) {
    case POLICY_DUE_TIMEOUTS:
        return kq_ready_due(ctx, now, out);
    case POLICY_DUE_SAMPLES:
        return kq_usage_sample(ctx, now, out);
    case POLICY_DUE_WAKES:
        return kq_wake_due(ctx, now);
    }
    return false;
}

static int64_t next_due(void *ctx, enum policy_due what)
{
    switch (what) {
    case POLICY_DUE_TIMEOUTS:
        return kq_ready_next(ctx);
    case POLICY_DUE_SAMPLES:
        return kq_usage_next(ctx);
    case POLICY_DUE_WAKES:
        return kq_next_wake(ctx);
    }
    return POLICY_NEVER;
}

static uint32_t idle_limit(void *ctx)
{
    const struct kq *k = ctx;
    return k->flavors_alive + 2;
}

static void release_outputs(void *ctx)
{
    struct kq *k = ctx;
    kq_bump_reset(&k->bump);
}

struct kq_counts kq_counts_of(const void *policy)
{
    const struct kq *k = policy;
    return k->counts;
}

const struct policy_ops *policy_kueue(void)
{
    static const struct policy_ops ops = {.abi = POLICY_ABI,
                                          .size = sizeof ops,
                                          .name = "kueue",
                                          .create = create,
                                          .destroy = destroy,
                                          .register_shape = register_shape,
                                          .input = kq_input,
                                          .cycle = cycle,
                                          .blocked = blocked,
                                          .ready_to_resume = ready_to_resume,
                                          .resume = resume,
                                          .repeat = repeat,
                                          .observed = kq_observed,
                                          .observed_late = kq_observed_late,
                                          .due = due,
                                          .next_due = next_due,
                                          .idle_limit = idle_limit,
                                          .place = kq_query_place,
                                          .quota = kq_query_quota,
                                          .pending_count = kq_query_pending_count,
                                          .admitted_count = kq_query_admitted_count,
                                          .pending = kq_query_pending,
                                          .reason = kq_query_reason,
                                          .share = kq_query_share,
                                          .release_outputs = release_outputs,
                                          .head = kq_query_head,
                                          .may_fit = kq_query_may_fit,
                                          .reach = kq_query_reach};
    return &ops;
}
