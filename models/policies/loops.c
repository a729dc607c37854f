/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/loops.h"

#include <stdlib.h>

#include "sim/arena.h"

enum { RECENT = 64, CHAIN_MAX = 8, EVICTIONS_OF_A_LOOP = 16 };

struct last { /* of one workload */
    uint32_t preemptor, evictions;
    uint32_t in_instant; /* evictions at `instant` */
    int64_t instant;
    enum policy_evict_reason rule;
};

struct loops {
    struct last *of;
    size_t count;
    /* ring of the latest evictions */
    uint32_t preemptors[RECENT], victims[RECENT];
    enum policy_evict_reason rules[RECENT];
    uint64_t noted;
    /* the report */
    struct settle_loop report;
    uint32_t report_preemptors[RECENT], report_victims[RECENT];
    enum policy_evict_reason report_rules[RECENT];
    bool found;
};

struct loops *loops_create(void)
{
    return mem_zalloc(1, sizeof(struct loops));
}

void loops_destroy(struct loops *l)
{
    free(l->of);
    free(l);
}

static struct last *last_of(struct loops *l, uint32_t id)
{
    if (id >= l->count) {
        size_t capacity = l->count;
        l->of = mem_grow(l->of, &capacity, (size_t)id + 1, sizeof *l->of);
        for (size_t i = l->count; i < capacity; i++)
            l->of[i] = (struct last){.preemptor = POLICY_NONE};
        l->count = capacity;
    }
    return &l->of[id];
}

static void report_pair(struct loops *l, uint32_t preemptor, uint32_t victim,
                        enum policy_evict_reason rule)
{
    for (uint32_t i = 0; i < l->report.count; i++)
        if (l->report_preemptors[i] == preemptor && l->report_victims[i] == victim)
            return;
    l->report_preemptors[l->report.count] = preemptor;
    l->report_victims[l->report.count] = victim;
    l->report_rules[l->report.count++] = rule;
}

static void begin_report(struct loops *l, int64_t now, uint32_t cycles)
{
    l->found = true;
    l->report = (struct settle_loop){.time_ns = now,
                                     .cycles = cycles,
                                     .preemptors = l->report_preemptors,
                                     .victims = l->report_victims,
                                     .rules = l->report_rules};
}

/* Follows "was last evicted by" from the victim; reports the chain if it closes. */
static void look_for_chain(struct loops *l, uint32_t victim, int64_t now)
{
    uint32_t id = victim, steps = 0;
    do {
        id = last_of(l, id)->preemptor;
        steps++;
    } while (id != POLICY_NONE && id != victim && steps < CHAIN_MAX);
    if (id != victim)
        return;
    begin_report(l, now, 0);
    do {
        const struct last *at = last_of(l, id);
        report_pair(l, at->preemptor, id, at->rule);
        id = at->preemptor;
    } while (id != victim);
}

uint32_t loops_note(struct loops *l, uint32_t victim, uint32_t preemptor, enum policy_evict_reason rule,
                int64_t now)
{
    if (preemptor == POLICY_NONE)
        return 0;
    const size_t at = l->noted++ % RECENT;
    l->preemptors[at] = preemptor;
    l->victims[at] = victim;
    l->rules[at] = rule;
    last_of(l, preemptor);
    struct last *v = last_of(l, victim);
    v->preemptor = preemptor;
    v->rule = rule;
    v->in_instant = v->instant == now ? v->in_instant + 1 : 1;
    v->instant = now;
    const uint32_t in_instant = v->in_instant;
    if (++v->evictions >= EVICTIONS_OF_A_LOOP)
        look_for_chain(l, victim, now);
    return in_instant;
}

void loops_forget(struct loops *l, uint32_t workload)
{
    if (workload < l->count)
        l->of[workload] = (struct last){.preemptor = POLICY_NONE};
}

void loops_instant(struct loops *l, int64_t now, uint32_t cycles)
{
    begin_report(l, now, cycles);
    const uint64_t n = l->noted < RECENT ? l->noted : RECENT;
    for (uint64_t i = l->noted - n; i < l->noted; i++)
        report_pair(l, l->preemptors[i % RECENT], l->victims[i % RECENT], l->rules[i % RECENT]);
}

const struct settle_loop *loops_last(const struct loops *l)
{
    return l->found ? &l->report : NULL;
}
