/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/elastic/hpa_rules.h"

#include <math.h> /* ceil: exact by IEEE 754 */
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/check.h"

struct hpa_behavior hpa_behavior_defaults(int32_t downscale_stabilization_s)
{
    return (struct hpa_behavior){
        .present = true,
        .scaleUp = {.selectPolicy = HPA_SELECT_MAX,
                    .stabilizationWindowSeconds = 0,
                    .policy_count = 2,
                    .policies = {{HPA_POLICY_PODS, 4, 15}, {HPA_POLICY_PERCENT, 100, 15}}},
        .scaleDown = {.selectPolicy = HPA_SELECT_MAX,
                      .stabilizationWindowSeconds = downscale_stabilization_s,
                      .policy_count = 1,
                      .policies = {{HPA_POLICY_PERCENT, 100, 15}}},
    };
}

void hpa_memory_fini(struct hpa_memory *m)
{
    free(m->records);
    free(m->up.items);
    free(m->down.items);
    memset(m, 0, sizeof *m);
}

void hpa_memory_record(struct hpa_memory *m, sim_time now, int32_t value, sim_time keep)
{
    size_t old = 0;
    while (old < m->record_count && m->records[old].t < now - keep)
        old++;
    if (old > 0) {
        m->record_count -= old;
        memmove(m->records, m->records + old, m->record_count * sizeof *m->records);
    }
    if (m->record_count > 0 && m->records[m->record_count - 1].value == value) {
        m->records[m->record_count - 1].t = now;
        return;
    }
    m->records = mem_grow(m->records, &m->record_capacity, m->record_count + 1,
                          sizeof *m->records);
    m->records[m->record_count++] = (struct hpa_record){value, now};
}

/* When an extreme that differs from raw is gone: the last of its records to leave the window
 * decides. leave = instant at which the record no longer counts. */
struct extreme {
    int32_t value;
    sim_time leave;
};

static void extreme_add(struct extreme *x, bool better, int32_t value, sim_time leave)
{
    if (better)
        *x = (struct extreme){value, leave};
    else if (value == x->value && leave > x->leave)
        x->leave = leave;
}

static struct hpa_window window_of(struct extreme lo, struct extreme hi, int32_t raw)
{
    struct hpa_window w = {lo.value, hi.value, SIM_NEVER};
    if (lo.value != raw && lo.leave < w.next)
        w.next = lo.leave;
    if (hi.value != raw && hi.leave < w.next)
        w.next = hi.leave;
    return w;
}

struct hpa_window hpa_window_behavior(const struct hpa_memory *m, const struct hpa_behavior *b,
                                      sim_time now, int32_t raw)
{
    sim_time up = b->scaleUp.stabilizationWindowSeconds * SIM_SECOND;
    sim_time down = b->scaleDown.stabilizationWindowSeconds * SIM_SECOND;
    struct extreme lo = {raw, 0}, hi = {raw, 0};
    for (size_t i = 0; i < m->record_count; i++) {
        const struct hpa_record *r = &m->records[i];
        if (r->t > now - up)
            extreme_add(&lo, r->value < lo.value, r->value, r->t + up);
        if (r->t > now - down)
            extreme_add(&hi, r->value > hi.value, r->value, r->t + down);
    }
    return window_of(lo, hi, raw);
}

struct hpa_window hpa_window_legacy(const struct hpa_memory *m, sim_time window, sim_time now,
                                    int32_t raw)
{
    struct extreme lo = {raw, 0}, hi = {raw, 0};
    for (size_t i = 0; i < m->record_count; i++) {
        const struct hpa_record *r = &m->records[i];
        if (r->t >= now - window)
            extreme_add(&hi, r->value > hi.value, r->value, r->t + window + 1);
    }
    return window_of(lo, hi, raw);
}

int32_t hpa_stabilise(struct hpa_window w, int32_t current)
{
    int32_t r = current;
    if (r < w.lo)
        r = w.lo;
    if (r > w.hi)
        r = w.hi;
    return r;
}

static int64_t changed_since(const struct hpa_event_list *l, sim_time after)
{
    int64_t sum = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].t > after)
            sum += l->items[i].change;
    return sum;
}

/* Replicas at the start of the policy's period, rebuilt from the events since. */
static int64_t period_base(const struct hpa_memory *m, const struct hpa_policy *p, sim_time now,
                           int32_t current)
{
    sim_time after = now - p->periodSeconds * SIM_SECOND;
    return current - changed_since(&m->up, after) + changed_since(&m->down, after);
}

static int32_t to_int32(double x)
{
    if (x >= (double)INT32_MAX)
        return INT32_MAX;
    return x <= (double)INT32_MIN ? INT32_MIN : (int32_t)x;
}

int32_t hpa_up_limit(const struct hpa_behavior *b, const struct hpa_memory *m, sim_time now,
                     int32_t current)
{
    const struct hpa_scaling_rules *r = &b->scaleUp;
    if (r->selectPolicy == HPA_SELECT_DISABLED)
        return current;
    bool smallest = r->selectPolicy == HPA_SELECT_MIN;
    int32_t limit = smallest ? INT32_MAX : INT32_MIN;
    for (uint32_t i = 0; i < r->policy_count; i++) {
        const struct hpa_policy *p = &r->policies[i];
        double base = (double)period_base(m, p, now, current);
        int32_t to = to_int32(p->type == HPA_POLICY_PODS
                                  ? base + (double)p->value
                                  : ceil(base * (1.0 + (double)p->value / 100.0)));
        if (smallest ? to < limit : to > limit)
            limit = to;
    }
    return limit;
}

int32_t hpa_down_limit(const struct hpa_behavior *b, const struct hpa_memory *m, sim_time now,
                       int32_t current)
{
    const struct hpa_scaling_rules *r = &b->scaleDown;
    if (r->selectPolicy == HPA_SELECT_DISABLED)
        return current;
    bool largest = r->selectPolicy == HPA_SELECT_MIN; /* the smallest change */
    int32_t limit = largest ? INT32_MIN : INT32_MAX;
    for (uint32_t i = 0; i < r->policy_count; i++) {
        const struct hpa_policy *p = &r->policies[i];
        double base = (double)period_base(m, p, now, current);
        int32_t to = to_int32(p->type == HPA_POLICY_PODS
                                  ? base - (double)p->value
                                  : base * (1.0 - (double)p->value / 100.0)); /* truncated */
        if (largest ? to > limit : to < limit)
            limit = to;
    }
    return limit;
}

const char *hpa_limit_name(enum hpa_limit l)
{
    static const char *const names[] = {"DesiredWithinRange", "ScaleUpLimit", "ScaleDownLimit",
                                        "TooManyReplicas", "TooFewReplicas"};
    REQUIRE((size_t)l < sizeof names / sizeof names[0]);
    return names[l];
}

struct hpa_limited hpa_limit_behavior(const struct hpa_behavior *b, const struct hpa_memory *m,
                                      sim_time now, int32_t current, int32_t desired,
                                      struct hpa_bounds bounds)
{
    struct hpa_limited out = {desired, HPA_WITHIN_RANGE, desired};
    if (desired > current) {
        int32_t limit = hpa_up_limit(b, m, now, current);
        out.policy_limit = limit < current ? current : limit;
        bool by_policy = bounds.max > out.policy_limit;
        int32_t most = by_policy ? out.policy_limit : bounds.max;
        if (desired > most) {
            out.replicas = most;
            out.reason = by_policy ? HPA_SCALE_UP_LIMIT : HPA_TOO_MANY_REPLICAS;
        }
    } else if (desired < current) {
        int32_t limit = hpa_down_limit(b, m, now, current);
        out.policy_limit = limit > current ? current : limit;
        bool by_policy = bounds.min < out.policy_limit;
        int32_t least = by_policy ? out.policy_limit : bounds.min;
        if (desired < least) {
            out.replicas = least;
            out.reason = by_policy ? HPA_SCALE_DOWN_LIMIT : HPA_TOO_FEW_REPLICAS;
        }
    }
    return out;
}

struct hpa_limited hpa_limit_legacy(int32_t current, int32_t desired, struct hpa_bounds bounds)
{
    int64_t cap = (int64_t)current * 2 > 4 ? (int64_t)current * 2 : 4;
    struct hpa_limited out = {desired, HPA_WITHIN_RANGE,
                              cap > INT32_MAX ? INT32_MAX : (int32_t)cap};
    bool by_cap = bounds.max > out.policy_limit;
    int32_t most = by_cap ? out.policy_limit : bounds.max;
    if (desired < bounds.min) {
        out.replicas = bounds.min;
        out.reason = HPA_TOO_FEW_REPLICAS;
    } else if (desired > most) {
        out.replicas = most;
        out.reason = by_cap ? HPA_SCALE_UP_LIMIT : HPA_TOO_MANY_REPLICAS;
    }
    return out;
}

static sim_time longest_period(const struct hpa_scaling_rules *r)
{
    int32_t longest = 0;
    for (uint32_t i = 0; i < r->policy_count; i++)
        if (r->policies[i].periodSeconds > longest)
            longest = r->policies[i].periodSeconds;
    return longest * SIM_SECOND;
}

void hpa_events_store(struct hpa_memory *m, const struct hpa_behavior *b, sim_time now,
                      int32_t from, int32_t to)
{
    if (from == to)
        return;
    bool up = to > from;
    struct hpa_event_list *l = up ? &m->up : &m->down;
    struct hpa_event e = {up ? to - from : from - to, now};
    sim_time keep = longest_period(up ? &b->scaleUp : &b->scaleDown);
    for (size_t i = l->count; i > 0; i--) {
        if (l->items[i - 1].t < now - keep) {
            l->items[i - 1] = e;
            return;
        }
    }
    l->items = mem_grow(l->items, &l->capacity, l->count + 1, sizeof *l->items);
    l->items[l->count++] = e;
}

static void next_of_list(const struct hpa_event_list *l, const struct hpa_scaling_rules *r,
                         sim_time now, sim_time *next)
{
    for (size_t i = 0; i < l->count; i++) {
        for (uint32_t k = 0; k < r->policy_count; k++) {
            sim_time leave = l->items[i].t + r->policies[k].periodSeconds * SIM_SECOND;
            if (leave > now && leave < *next)
                *next = leave;
        }
    }
}

sim_time hpa_events_next(const struct hpa_memory *m, const struct hpa_behavior *b, sim_time now)
{
    sim_time next = SIM_NEVER;
    const struct hpa_scaling_rules *rules[2] = {&b->scaleUp, &b->scaleDown};
    for (int i = 0; i < 2; i++) {
        next_of_list(&m->up, rules[i], now, &next);
        next_of_list(&m->down, rules[i], now, &next);
    }
    return next;
}
