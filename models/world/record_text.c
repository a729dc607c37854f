/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/record_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "sim/text.h"

void record_say(struct record_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct text whole = {t->text, sizeof t->text, t->length};
    text_vsay(&whole, fmt, args);
    va_end(args);
    t->length = whole.length;
}

void record_duration(struct record_text *t, sim_time d)
{
    if (d < SIM_SECOND)
        record_say(t, "%" PRId64 "ms", d / SIM_MS);
    else if (d < SIM_MINUTE)
        record_say(t, "%" PRId64 "s", d / SIM_SECOND);
    else if (d < SIM_HOUR)
        record_say(t, "%" PRId64 "m %02" PRId64 "s", d / SIM_MINUTE, d % SIM_MINUTE / SIM_SECOND);
    else if (d < SIM_DAY)
        record_say(t, "%" PRId64 "h %02" PRId64 "m", d / SIM_HOUR, d % SIM_HOUR / SIM_MINUTE);
    else
        record_say(t, "%" PRId64 "d %02" PRId64 "h", d / SIM_DAY, d % SIM_DAY / SIM_HOUR);
}

void record_amount(struct record_text *t, uint32_t resource, int64_t amount)
{
    if (amount == POLICY_UNLIMITED) {
        record_say(t, "unlimited");
        return;
    }
    if (resource != 0) {
        record_say(t, "%" PRId64, amount);
        return;
    }
    const char *sign = amount < 0 ? "-" : "";
    uint64_t u = amount < 0 ? 0 - (uint64_t)amount : (uint64_t)amount;
    if (u % 1000 == 0)
        record_say(t, "%s%" PRIu64, sign, u / 1000);
    else if (u % 100 == 0)
        record_say(t, "%s%" PRIu64 ".%" PRIu64, sign, u / 1000, u % 1000 / 100);
    else
        record_say(t, "%s%" PRIu64 ".%03" PRIu64, sign, u / 1000, u % 1000);
}

static void flavor_name(struct record_text *t, const struct world *w, uint32_t flavor, uint32_t resource)
{
    const struct fleet_config *f = &w->s->fleet;
    record_say(t, "%s", flavor < (uint32_t)f->flavor_count ? f->flavors[flavor].name : "no flavor");
    if (resource > 0 && resource <= (uint32_t)f->resource_count)
        record_say(t, " %s", f->resources[resource - 1]);
}

/* As people say it: cpu in cores. */
static void amount(struct record_text *t, const struct world *w, uint32_t resource, int64_t v)
{
    const bool cpu = resource > 0 && resource <= (uint32_t)w->s->fleet.resource_count &&
                     strcmp(w->s->fleet.resources[resource - 1], "cpu") == 0;
    record_amount(t, cpu ? 0 : resource, v);
}

/* available = nominal - used + borrowable; a negative last term is what others have borrowed. */
static void sum(struct record_text *t, const struct world *w, uint32_t resource, int64_t available, int64_t nominal, int64_t used)
{
    record_say(t, "available ");
    amount(t, w, resource, available);
    record_say(t, " of ");
    amount(t, w, resource, nominal);
    if (available == POLICY_UNLIMITED || nominal == POLICY_UNLIMITED || used == POLICY_UNLIMITED)
        return;
    int64_t rest = available - (nominal - used);
    record_say(t, ": nominal ");
    amount(t, w, resource, nominal);
    record_say(t, " − used ");
    amount(t, w, resource, used);
    record_say(t, rest < 0 ? " − lent " : " + borrowable ");
    amount(t, w, resource, rest < 0 ? -rest : rest);
}

void record_quota(struct record_text *t, const struct world *w, uint32_t queue, uint32_t flavor,
                  uint32_t resource)
{
    struct policy_quota_state q;
    if (!w->ops->quota(w->policy, POLICY_OBJ_CLUSTER_QUEUE, queue, flavor, resource, &q))
        return;
    flavor_name(t, w, flavor, resource);
    record_say(t, ": ");
    sum(t, w, resource, q.available, q.nominal, q.used);
}

static void limits(struct record_text *t, const struct world *w, const struct policy_numbers *n)
{
    if (n->borrowing_limit != POLICY_NIL) {
        record_say(t, "; borrowingLimit ");
        amount(t, w, n->resource, n->borrowing_limit);
    }
    if (n->lending_limit != POLICY_NIL) {
        record_say(t, "; lendingLimit ");
        amount(t, w, n->resource, n->lending_limit);
    }
    if (n->requested > n->potential) {
        record_say(t, "; never more than ");
        amount(t, w, n->resource, n->potential);
    }
}

/* The flavor that decided, with the numbers of the nomination. */
static void decided(struct record_text *t, const struct world *w, const struct policy_numbers *n)
{
    record_say(t, "; ");
    flavor_name(t, w, n->flavor, n->resource);
    record_say(t, ": ");
    sum(t, w, n->resource, n->available, n->nominal, n->used);
    limits(t, w, n);
}

/* What the queue's flavors have for the card; those that the workload may not use are named. */
static void other_flavors(struct record_text *t, const struct world *w, const struct policy_reason *r,
                          const struct source_pools *may)
{
    for (int32_t f = 0; f < w->s->fleet.flavor_count; f++) {
        struct policy_quota_state q;
        bool done = (uint32_t)f == r->numbers.flavor && r->numbers.resource == 0;
        if (done || !w->ops->quota(w->policy, POLICY_OBJ_CLUSTER_QUEUE, r->cluster_queue, (uint32_t)f, 0, &q))
            continue;
        record_say(t, "; ");
        if (may->counts[f] > 0)
            record_quota(t, w, r->cluster_queue, (uint32_t)f, 0);
        else
            record_say(t, "%s: not for it (labels or taints)", w->s->fleet.flavors[f].name);
    }
}

void record_reason(struct record_text *t, const struct world *w, const struct policy_reason *r, uint32_t shape)
{
    const struct policy_numbers *n = &r->numbers;
    const struct shape *sh = &w->shapes[shape];
    record_say(t, "asks ");
    if (n->flavor != POLICY_NONE)
        amount(t, w, n->resource, n->requested);
    else
        record_amount(t, 0, sh->request_milli);
    if (n->flavor != POLICY_NONE)
        decided(t, w, n);
    other_flavors(t, w, r, &w->sources[sh->source]);
    if (r->share_before >= 0)
        record_say(t, "; share %" PRId64 " before, %" PRId64 " after", (int64_t)r->share_before,
                   (int64_t)r->share_after);
}

void record_after(struct record_text *t, const struct world *w, uint32_t queue, uint32_t flavor)
{
    struct policy_quota_state q;
    if (!w->ops->quota(w->policy, POLICY_OBJ_CLUSTER_QUEUE, queue, flavor, 0, &q))
        return;
    record_say(t, "; the queue then uses ");
    record_amount(t, 0, q.used);
    record_say(t, " of ");
    record_amount(t, 0, q.nominal);
    if (q.borrowed > 0) {
        record_say(t, ", borrows ");
        record_amount(t, 0, q.borrowed);
    }
}

void record_shares(struct record_text *t, const struct world *w, uint32_t a, uint32_t b)
{
    if (!w->arb->fair_sharing)
        return;
    const uint32_t queues[] = {a, b};
    record_say(t, "; shares now:");
    for (int i = 0; i < (a == b ? 1 : 2); i++) {
        double share = w->ops->share(w->policy, POLICY_OBJ_CLUSTER_QUEUE, queues[i]);
        record_say(t, i == 0 ? " %s " : ", %s ", w->s->quota.queues[queues[i]].name);
        if (share < 0)
            record_say(t, "borrowing with weight 0");
        else
            record_say(t, "%" PRId64, (int64_t)share);
    }
}
