/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quota against nodes: too much, too little, nobody's, never given back. */
#include <string.h>

#include "scenarios/load/lint_priv.h"

int64_t lint_flavor_cards(const struct scenario *s, int32_t flavor)
{
    const struct flavor_config *f = &s->fleet.flavors[flavor];
    int64_t cards = 0;
    for (int32_t i = 0; i < f->pool_count; i++) {
        const struct node_pool_config *p = &s->fleet.pools[f->pools[i]];
        cards += (int64_t)p->node_count * p->cards_per_node;
    }
    return cards;
}

static const struct quota_amount *find_cards(const struct quota_amount *quotas, int32_t count,
                                             int32_t flavor)
{
    for (int32_t i = 0; i < count; i++)
        if (quotas[i].flavor == flavor && quotas[i].resource == -1)
            return &quotas[i];
    return NULL;
}

/* Sum of nominal quota against the nodes behind a flavor. */
static void lint_sums(struct lint *l)
{
    const struct quota_config *q = &l->s->quota;
    for (int32_t f = 0; f < l->s->fleet.flavor_count; f++) {
        int64_t sum = 0, cards = lint_flavor_cards(l->s, f);
        for (int32_t i = 0; i < q->queue_count; i++) {
            const struct quota_amount *a = find_cards(q->queues[i].quotas, q->queues[i].quota_count,
                                                      f);
            sum += a == NULL ? 0 : a->nominal;
        }
        for (int32_t i = 0; i < q->cohort_count; i++) {
            const struct quota_amount *a = find_cards(q->cohorts[i].quotas,
                                                      q->cohorts[i].quota_count, f);
            sum += a == NULL ? 0 : a->nominal;
        }
        const char *name = l->s->fleet.flavors[f].name;
        if (sum > cards * 1000)
            lint_warn(l, "queues", -1, NULL,
                      "quotas of flavor '%s' sum to %.10g cards, its nodes have %lld; admitted work will find no node",
                      name, (double)sum / 1000, (long long)cards);
        else if (sum < cards * 1000)
            lint_warn(l, "queues", -1, NULL,
                      "%.10g of %lld cards of flavor '%s' are in no quota; no queue can own or borrow them",
                      (double)(cards * 1000 - sum) / 1000, (long long)cards, name);
    }
}

static void lint_pools(struct lint *l)
{
    for (int32_t p = 0; p < l->s->fleet.pool_count; p++) {
        int32_t holders = 0;
        for (int32_t f = 0; f < l->s->fleet.flavor_count; f++)
            for (int32_t i = 0; i < l->s->fleet.flavors[f].pool_count; i++)
                holders += l->s->fleet.flavors[f].pools[i] == p;
        if (holders == 0)
            lint_warn(l, "nodePools", p, NULL,
                      "node pool '%s' belongs to no flavor; nothing can run there", l->s->fleet.pools[p].name);
        else if (holders > 1)
            lint_warn(l, "nodePools", p, NULL,
                      "node pool '%s' belongs to %d flavors; each counts its cards as its own", l->s->fleet.pools[p].name, (int)holders);
    }
}

static bool is_used(const struct scenario *s, int32_t queue)
{
    for (int32_t i = 0; i < s->demand.stream_count; i++)
        if (s->demand.streams[i].queue == queue || s->demand.streams[i].file_queue_column != NULL)
            return true;
    for (int32_t i = 0; i < s->demand.service_count; i++)
        if (s->demand.services[i].queue == queue)
            return true;
    return false;
}

static bool serves(const struct scenario *s, int32_t queue)
{
    for (int32_t i = 0; i < s->demand.service_count; i++)
        if (s->demand.services[i].queue == queue)
            return true;
    return false;
}

static void lint_queues(struct lint *l)
{
    for (int32_t i = 0; i < l->s->quota.queue_count; i++) {
        const struct queue_config *q = &l->s->quota.queues[i];
        int64_t own = 0;
        bool lends = q->cohort >= 0;
        for (int32_t k = 0; k < q->quota_count; k++) {
            own += q->quotas[k].resource == -1 ? q->quotas[k].nominal : 0;
            lends = lends && !(q->quotas[k].resource == -1 && q->quotas[k].lending_limit == 0);
        }
        if (own > 0 && !is_used(l->s, i))
            lint_warn(l, "queues", i, NULL,
                      "queue '%s' owns %.10g cards and nothing is submitted to it%s", q->name, (double)own / 1000,
                      q->cohort < 0 ? "; without a cohort they stay idle" : "");
        if (own > 0 && lends && serves(l->s, i) && q->reclaim_within_cohort == PREEMPT_NEVER)
            lint_warn(l, "queues", i, NULL,
                      "queue '%s' lends to its cohort with reclaimWithinCohort Never; its replicas then wait until the borrower's jobs end", q->name);
    }
}

void lint_quota(struct lint *l)
{
    lint_sums(l);
    lint_pools(l);
    lint_queues(l);
}
