/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/promised.h"

#include <stdlib.h>

#include "models/fleet/hold.h"
#include "models/world/world_preempt.h"
#include "sim/check.h"

struct entry {
    uint32_t wl;
    int32_t node, pool;
    int64_t priority;
};

struct promises {
    struct entry *items;     /* by priority, descending; then in the order in which they were made */
    size_t count, capacity;
    int32_t *on_node;        /* [node] how many */
    struct lease_id held;
    bool holding, room;
};

void promise(struct world *w, uint32_t ix, int32_t node, int32_t pool)
{
    struct promises *p = w->promises;
    int64_t priority = workload_priority(w, ix);
    CHECK(w->wl[ix].state == WL_UNPLACED);
    p->items = mem_grow(p->items, &p->capacity, p->count + 1, sizeof *p->items);
    size_t at = p->count++;
    for (; at > 0 && p->items[at - 1].priority < priority; at--)
        p->items[at] = p->items[at - 1];
    p->items[at] = (struct entry){ix, node, pool, priority};
    p->on_node[node]++;
    w->wl[ix].promised++;
}

static bool among(const struct lease_part *parts, int32_t count, int32_t node)
{
    for (int32_t i = 0; i < count; i++)
        if (parts[i].node == node)
            return true;
    return false;
}

void promised_end(struct world *w, uint32_t ix, const struct lease_part *parts, int32_t count)
{
    struct promises *p = w->promises;
    if (w->wl[ix].promised == 0)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct entry *e = &p->items[i];
        if (e->wl != ix) {
            p->items[kept++] = *e;
            continue;
        }
        p->on_node[e->node]--;
        if (!among(parts, count, e->node))
            p->room = w->freed = true;
    }
    p->count = kept;
    w->wl[ix].promised = 0;
}

bool promised_room(struct world *w)
{
    struct promises *p = w->promises;
    bool room = p != NULL && p->room;
    if (room)
        p->room = false;
    return room;
}

/* ---- questions ---- */

uint32_t promised_below(const struct world *w, int32_t node, int64_t priority)
{
    const struct promises *p = w->promises;
    if (p->on_node[node] == 0)
        return NONE32;
    for (size_t i = p->count; i > 0 && p->items[i - 1].priority < priority; i--)
        if (p->items[i - 1].node == node)
            return p->items[i - 1].wl;
    return NONE32;
}

bool promised_waits(struct world *w, uint32_t ix)
{
    const struct promises *p = w->promises;
    int32_t left = w->wl[ix].promised, leaving = 0;
    for (size_t i = 0; left > 0 && leaving == 0; i++) {
        if (p->items[i].wl != ix)
            continue;
        left--;
        (void)preemption_leaving(w, p->items[i].node, p->items[i].priority, &leaving);
    }
    return leaving > 0;
}

int32_t promised_node(const struct world *w, uint32_t ix)
{
    const struct promises *p = w->promises;
    if (w->wl[ix].promised != 1)
        return -1;
    size_t i = 0;
    while (p->items[i].wl != ix)
        i++;
    return p->items[i].node;
}

/* ---- room that is kept ---- */

static bool may_use(const struct place_request *req, int32_t pool)
{
    for (int32_t i = 0; i < req->pool_count; i++)
        if (req->pools[i] == pool)
            return true;
    return false;
}

void promised_hold(struct world *w, uint32_t ix, const struct place_request *req)
{
    struct promises *p = w->promises;
    if (p == NULL || p->count == 0)
        return;
    int64_t priority = workload_priority(w, ix);
    struct place_request each;
    uint32_t of = NONE32;
    for (size_t i = 0; i < p->count && p->items[i].priority >= priority; i++) {
        const struct entry *e = &p->items[i];
        if (e->wl == ix || !may_use(req, e->pool))
            continue;
        if (e->wl != of)
            place_request_of(w, e->wl, &each);
        of = e->wl;
        if (!p->holding)
            p->held = fleet_lease_open(w->fleet);
        p->holding = true;
        int32_t leaving;
        const struct lease_part *parts = preemption_leaving(w, e->node, e->priority, &leaving);
        fleet_hold(w->fleet, p->held, e->node, &each, parts, leaving);
    }
}

void promised_let_go(struct world *w)
{
    struct promises *p = w->promises;
    if (p == NULL || !p->holding)
        return;
    fleet_lease_close(w->fleet, p->held);
    p->holding = false;
}

void promised_view(const struct world *w, uint32_t ix, struct preempt_view *view, int32_t node)
{
    const struct promises *p = w->promises;
    int32_t left = p->on_node[node];
    int64_t priority = workload_priority(w, ix);
    for (size_t i = 0; left > 0 && p->items[i].priority >= priority; i++) {
        if (p->items[i].node != node)
            continue;
        left--;
        if (p->items[i].wl == ix)
            continue;
        struct place_request req;
        place_request_of(w, p->items[i].wl, &req);
        preempt_promised(view, &req);
    }
}

/* ---- life ---- */

void promised_init(struct world *w, int64_t nodes)
{
    w->promises = mem_zalloc(1, sizeof *w->promises);
    w->promises->on_node = mem_zalloc((size_t)nodes + 1, sizeof *w->promises->on_node);
}

void promised_fini(struct world *w)
{
    if (w->promises == NULL)
        return;
    free(w->promises->items);
    free(w->promises->on_node);
    free(w->promises);
    w->promises = NULL;
}
