/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What HyperPod task governance cannot do, or does otherwise than its names suggest
 * (managed-and-costs 1.2 to 1.6). */
#include <string.h>

#include "models/fleet/catalogue.h"
#include "scenarios/load/lint_priv.h"

enum { BORROW_LIMIT_DOCUMENTED = 500, PRIORITY_CLASSES_MAX = 10, WEIGHT_MAX = 100 };

static void lint_hardware(struct lint *l, int32_t a)
{
    for (int32_t i = 0; i < l->s->fleet.pool_count; i++) {
        const struct card_type *card = &catalogue_builtin()->cards[l->s->fleet.pools[i].card];
        if (strcmp(card->vendor, "NVIDIA") != 0 && strcmp(card->vendor, "AWS") != 0)
            lint_warn(l, "arbiters", a, NULL,
                      "arbiter '%s': HyperPod has no %s of %s (pool '%s'); its part of the result has no counterpart", l->s->arbiters[a].name,
                      card->name, card->vendor, l->s->fleet.pools[i].name);
    }
}

/* lendingLimit 0 is DontLend, and a DontLend team cannot borrow either. */
static void lint_dont_lend(struct lint *l, int32_t a)
{
    for (int32_t i = 0; i < l->s->quota.queue_count; i++) {
        const struct queue_config *q = &l->s->quota.queues[i];
        for (int32_t k = 0; k < q->quota_count; k++) {
            if (q->quotas[k].resource != -1 || q->quotas[k].lending_limit != 0 ||
                q->quotas[k].nominal == 0 || q->quotas[k].borrowing_limit == 0)
                continue;
            lint_warn(l, "queues", i, NULL,
                      "arbiter '%s': queue '%s' lends nothing (DontLend); HyperPod then lets it borrow nothing either, so set borrowingLimit: 0",
                      l->s->arbiters[a].name, q->name);
            break;
        }
    }
}

/* Some pool is cut by MIG under this arbiter. */
static bool has_mig(const struct scenario *s, const struct arbiter_config *arb)
{
    for (int32_t i = 0; i < arb->pool_sharing_count; i++)
        if (arb->pool_sharings[i].sharing.kind == SHARE_MIG)
            return true;
    for (int32_t i = 0; i < s->fleet.pool_count; i++)
        if (s->fleet.pools[i].sharing.kind == SHARE_MIG)
            return true;
    return false;
}

static void lint_shares(struct lint *l, int32_t a)
{
    if (l->s->arbiters[a].lora_base)
        lint_warn(l, "arbiters", a, "loraBase",
                  "arbiter '%s': HyperPod has no software slicing; tenants of one base take a card or a MIG profile each", l->s->arbiters[a].name);
    if (l->s->arbiters[a].sharing == SHARING_FRACTION && !has_mig(l->s, &l->s->arbiters[a]))
        lint_warn(l, "arbiters", a, "sharing",
                  "arbiter '%s': HyperPod gives whole cards or MIG profiles; it has no other fraction", l->s->arbiters[a].name);
    for (int32_t i = 0; i < l->s->quota.queue_count; i++) {
        double weight = l->s->quota.queues[i].weight;
        if (weight > WEIGHT_MAX)
            lint_warn(l, "queues", i, "fairSharing",
                      "arbiter '%s': HyperPod's FairShareWeight ends at %d, queue '%s' has %.6g", l->s->arbiters[a].name, WEIGHT_MAX,
                      l->s->quota.queues[i].name, weight);
        else if (!(weight > 0))
            lint_warn(l, "queues", i, "fairSharing",
                      "arbiter '%s': weight 0 means last, always; queue '%s' borrows only what nobody wants", l->s->arbiters[a].name,
                      l->s->quota.queues[i].name);
    }
}

void lint_hyperpod(struct lint *l)
{
    for (int32_t a = 0; a < l->s->arbiter_count; a++) {
        const struct arbiter_config *arbiter = &l->s->arbiters[a];
        if (arbiter->preset != PRESET_HYPERPOD)
            continue;
        if (arbiter->borrow_limit_percent > BORROW_LIMIT_DOCUMENTED)
            lint_warn(l, "arbiters", a, "borrowLimitPercent",
                      "arbiter '%s': BorrowLimit %d is above %d; AWS's documents disagree on whether more is accepted", arbiter->name,
                      (int)arbiter->borrow_limit_percent, BORROW_LIMIT_DOCUMENTED);
        if (l->s->quota.priority_class_count > PRIORITY_CLASSES_MAX)
            lint_warn(l, "arbiters", a, NULL,
                      "arbiter '%s': a HyperPod cluster policy has at most %d priority classes, the scenario has %d", arbiter->name, PRIORITY_CLASSES_MAX,
                      (int)l->s->quota.priority_class_count);
        lint_hardware(l, a);
        lint_dont_lend(l, a);
        lint_shares(l, a);
    }
}
