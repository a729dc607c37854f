/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/span.h"

#include "models/fleet/fleet_priv.h"

struct gang_span gang_span_none(void)
{
    return (struct gang_span){.pool = -1, .first = -1, .second = -1, .oversubscription = 1};
}

/* The span leaves domains of the first `levels` levels of the pool. */
static void leave(struct gang_span *span, const struct node_pool_config *pool, int32_t levels)
{
    double product = 1;
    for (int32_t i = 0; i < levels; i++)
        product *= pool->domains[i].oversubscription > 1 ? pool->domains[i].oversubscription : 1;
    span->levels = levels > span->levels ? levels : span->levels;
    span->oversubscription = product > span->oversubscription ? product : span->oversubscription;
}

static void add_node(struct gang_span *span, int32_t node)
{
    if (span->first < 0)
        span->first = node;
    else if (node != span->first && span->second < 0)
        span->second = node;
    if (node == span->first)
        span->nodes = span->nodes > 1 ? span->nodes : 1;
    else if (node == span->second)
        span->nodes = span->nodes > 2 ? span->nodes : 2;
    else
        span->nodes = 3;
}

void gang_span_add(const struct fleet *f, struct lease_id lease, struct gang_span *span)
{
    int32_t count;
    const struct lease_part *part = fleet_lease_parts(f, lease, &count);
    for (int32_t i = 0; i < count; i++) {
        const struct node_pool_config *pool = &f->cfg->pools[part[i].pool];
        if (span->pool < 0)
            span->pool = part[i].pool;
        add_node(span, part[i].node);
        if (part[i].pool != span->pool) {
            leave(span, pool, pool->domain_count);
            leave(span, &f->cfg->pools[span->pool], f->cfg->pools[span->pool].domain_count);
            continue;
        }
        int32_t first_node = f->pools[span->pool].first_node, levels = 0;
        int32_t a = span->first - first_node, b = part[i].node - first_node;
        while (levels < pool->domain_count && a / pool->domains[levels].nodes != b / pool->domains[levels].nodes)
            levels++;
        leave(span, pool, levels);
    }
}

struct gang_span gang_span_packed(const struct node_pool_config *pool, int32_t workers, int32_t cards_per_worker)
{
    struct gang_span span = gang_span_none();
    int32_t per_node = cards_per_worker > 0 ? pool->cards_per_node / cards_per_worker : workers;
    int32_t nodes = per_node > 0 ? (workers - 1) / per_node + 1 : workers, levels = 0;
    span.nodes = nodes < 3 ? nodes : 3;
    while (levels < pool->domain_count && pool->domains[levels].nodes < nodes)
        levels++;
    leave(&span, pool, levels);
    return span;
}
