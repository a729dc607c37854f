/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/query.h"

#include "models/policies/kueue/objects.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/share.h"

static const struct kq_wl *find(const struct kq *k, uint32_t id)
{
    if (id >> KQ_CHUNK_BITS >= k->chunk_count || !kq_wl(k, id)->known)
        return NULL;
    return kq_wl(k, id);
}

static struct kq_node *node_of(const struct kq *k, enum policy_object_kind kind, uint32_t id)
{
    if (kind == POLICY_OBJ_CLUSTER_QUEUE && id < k->cq_count && k->cqs[id] != NULL &&
        k->cqs[id]->exists)
        return &k->cqs[id]->node;
    if (kind == POLICY_OBJ_COHORT && id < k->cohort_count && k->cohorts[id] != NULL &&
        k->cohorts[id]->exists)
        return &k->cohorts[id]->node;
    return NULL;
}

static const struct kq_cq *queue_of(const struct kq *k, uint32_t id)
{
    return id < k->cq_count && k->cqs[id] != NULL && k->cqs[id]->exists ? k->cqs[id] : NULL;
}

enum policy_place kq_query_place(void *ctx, uint32_t workload)
{
    const struct kq *k = ctx;
    const struct kq_wl *w = find(k, workload);
    return w == NULL ? POLICY_PLACE_NONE : kq_place(k, w);
}

bool kq_query_quota(void *ctx, enum policy_object_kind kind, uint32_t id, uint32_t flavor,
                    uint32_t resource, struct policy_quota_state *s)
{
    const struct kq *k = ctx;
    const struct kq_node *n = node_of(k, kind, id);
    const uint32_t fr = n == NULL ? POLICY_NONE : kq_fr_find(n->tree, flavor, resource);
    if (fr == POLICY_NONE || !n->q[fr].set)
        return false;
    const struct kq_quota *q = &n->q[fr];
    *s = (struct policy_quota_state){.nominal = q->nominal, .subtree = q->subtree, .used = q->use};
    s->available = kq_available(n, fr);
    if (n->is_queue)
        s->available = kq_max(0, s->available);
    s->borrowed = kq_max(0, kq_minus(q->use, q->subtree));
    /* What others use of this node's lendable part: they can have no more than is missing from
     * what the node could use by itself. */
    const int64_t own = kq_max(0, kq_minus(q->subtree, kq_max(q->use, q->local)));
    const int64_t reach = kq_max(0, kq_minus(s->available, kq_free_local(q)));
    s->lent = n->parent == NULL ? 0 : kq_max(0, kq_minus(own, reach));
    return true;
}

uint32_t kq_query_pending_count(void *ctx, uint32_t cluster_queue)
{
    const struct kq_cq *cq = queue_of(ctx, cluster_queue);
    return cq == NULL ? 0 : cq->waiting;
}

uint32_t kq_query_admitted_count(void *ctx, uint32_t cluster_queue)
{
    const struct kq_cq *cq = queue_of(ctx, cluster_queue);
    return cq == NULL ? 0 : cq->admitted;
}

void kq_query_pending(void *ctx, uint32_t cluster_queue,
                      void (*fn)(void *arg, const struct policy_pending *group), void *arg)
{
    const struct kq *k = ctx;
    const struct kq_cq *cq = queue_of(k, cluster_queue);
    for (size_t i = 0; cq != NULL && i < cq->classes.count; i++) {
        const struct kq_class *c = &k->classes[cq->classes.v[i]];
        if (c->waiting == 0)
            continue;
        const struct policy_pending p = {
            .cluster_queue = c->cq,
            .shape = c->shape,
            .priority = c->priority,
            .count = c->waiting,
            .wait = c->has_reason ? c->reason.wait : POLICY_WAIT_ORDER,
            .flavor_tried = c->has_reason ? c->reason.flavor_tried : POLICY_NONE};
        fn(arg, &p);
    }
}

bool kq_query_reason(void *ctx, uint32_t workload, struct policy_reason *reason)
{
    const struct kq *k = ctx;
    const struct kq_wl *w = find(k, workload);
    if (w == NULL || w->live || !k->classes[w->cls].has_reason)
        return false;
    *reason = k->classes[w->cls].reason;
    reason->workload = workload;
    reason->group_count = k->classes[w->cls].waiting;
    return true;
}

double kq_query_share(void *ctx, enum policy_object_kind kind, uint32_t id)
{
    struct kq_node *n = node_of(ctx, kind, id);
    if (n == NULL)
        return 0.0;
    const struct kq_share s = kq_share_of(n);
    if (kq_share_infinite(s))
        return -1.0;
    return s.ratio == 0.0 ? 0.0 : s.ratio / s.weight;
}
