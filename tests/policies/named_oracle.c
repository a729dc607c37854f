/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kueue's table of flavor assignments says what a search for victims finds, instead of searching:
 * preemption within the queue on every flavor, at borrowing level 0, unless the case has
 * "oracle FLAVOR RESOURCE 0|1|2 LEVEL" (0: nobody, 1: within the queue, 2: elsewhere only). The
 * linker puts these functions before the policy's (--wrap).
 */
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/quota.h"
#include "models/policies/kueue/search.h"
#include "tests/policies/named.h"

bool __real_kq_search_run(struct kq *k, const struct kq_search *s, struct kq_targets *targets);
bool __wrap_kq_search_run(struct kq *k, const struct kq_search *s, struct kq_targets *targets);
uint32_t __real_kq_borrow_level(const struct kq_node *cq, uint32_t fr, int64_t v, bool *may_reclaim);
uint32_t __wrap_kq_borrow_level(const struct kq_node *cq, uint32_t fr, int64_t v, bool *may_reclaim);

static struct { /* of the case being played */
    struct named_oracle o;
    bool level_next; /* the next borrowing level is the one after the search */
    uint32_t level;
} now;

void named_oracle_set(const struct named_oracle *o)
{
    now.o = *o;
    now.level_next = false;
}

bool __wrap_kq_search_run(struct kq *k, const struct kq_search *s, struct kq_targets *targets)
{
    struct named *n = now.o.n;
    int answer = 1;
    if (n == NULL)
        return __real_kq_search_run(k, s, targets);
    now.level = 0;
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        if (strcmp(l->word[0], "oracle") == 0 &&
            named_fr(n, s->cq->node.id, l->word[1], named_id(&n->resources, l->word[2])) == s->want[0].fr) {
            answer = atoi(l->word[3]);
            now.level = (uint32_t)atoi(l->word[4]);
        }
    }
    targets->count = 0;
    if (answer == 0)
        return false;
    kq_targets_push(targets, answer == 1 ? now.o.mine : now.o.others, POLICY_EVICT_IN_CLUSTER_QUEUE);
    now.level_next = true;
    return true;
}

uint32_t __wrap_kq_borrow_level(const struct kq_node *cq, uint32_t fr, int64_t v, bool *may_reclaim)
{
    const uint32_t level = __real_kq_borrow_level(cq, fr, v, may_reclaim);
    if (!now.level_next)
        return level;
    now.level_next = false;
    return now.level;
}
