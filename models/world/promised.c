/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/promised.h"

#include <stdlib.h>

#include "models/fleet/hold.h"
#include "models/world/world_preempt.h"
#include "sim/check.h"

/* Of the pool of entries; links are numbers from 1, 0 = end. */
struct entry {
    uint32_t wl;
    int32_t node;
    int64_t priority;
    int32_t next1;           /* on the node: by priority, descending, then in the order in which they were made */
    int32_t sibling1;        /* of the workload; in the free list the next free one */
};

struct promises {
    struct entry *items;
    size_t used, capacity;
    int32_t count, free1;
    int32_t *node_head1;     /* [node] */
    bool room;
    /* while somebody is placed: room that is kept, and on which nodes */
    struct lease_id held;
    uint64_t placing;        /* running number of the placement */
    uint64_t *held_in;       /* [node] placement in which its room was held last */
};

static struct entry *entry_of(const struct promises *p, int32_t e1)
{
    return e1 == 0 ? NULL : &p->items[e1 - 1];
}

static int32_t entry_new(struct promises *p)
{
    int32_t e1 = p->free1;
    p->count++;
    if (e1 != 0) {
        p->free1 = entry_of(p, e1)->sibling1;
        return e1;
    }
    p->items = mem_grow(p->items, &p->capacity, p->used + 1, sizeof *p->items);
    return (int32_t)++p->used;
}

void promise(struct world *w, uint32_t ix, int32_t node)
{
    struct promises *p = w->promises;
    CHECK(w->wl[ix].state == WL_UNPLACED);
    int32_t e1 = entry_new(p);
    struct entry *e = entry_of(p, e1);
    *e = (struct entry){ix, node, workload_priority(w, ix), 0, w->wl[ix].promised};
    w->wl[ix].promised = e1;
    int32_t *link = &p->node_head1[node];
    while (*link != 0 && entry_of(p, *link)->priority >= e->priority)
        link = &entry_of(p, *link)->next1;
    e->next1 = *link;
    *link = e1;
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
    for (int32_t e1 = w->wl[ix].promised, then; e1 != 0; e1 = then) {
        struct entry *e = entry_of(p, e1);
        int32_t *link = &p->node_head1[e->node];
        while (*link != e1)
            link = &entry_of(p, *link)->next1;
        *link = e->next1;
        if (!among(parts, count, e->node))
            p->room = w->freed = true;
        then = e->sibling1;
        e->sibling1 = p->free1;
        p->free1 = e1;
        p->count--;
    }
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
    const struct entry *e = entry_of(p, p->node_head1[node]);
    while (e != NULL && e->priority >= priority)
        e = entry_of(p, e->next1);
    return e == NULL ? NONE32 : e->wl;
}

bool promised_waits(struct world *w, uint32_t ix)
{
    int32_t leaving = 0;
    const struct entry *e = entry_of(w->promises, w->wl[ix].promised);
    for (; e != NULL && leaving == 0; e = entry_of(w->promises, e->sibling1))
        (void)preemption_leaving(w, e->node, e->priority, &leaving);
    return leaving > 0;
}

/* ---- room that is kept ---- */

/* From this entry of a node on, the first that comes before the workload; NULL: none. */
static const struct entry *first_before(const struct world *w, uint32_t ix, int32_t e1)
{
    const struct entry *e = entry_of(w->promises, e1);
    int64_t priority = workload_priority(w, ix);
    while (e != NULL && e->priority >= priority && e->wl == ix)
        e = entry_of(w->promises, e->next1);
    return e != NULL && e->priority >= priority ? e : NULL;
}

static void hold(struct world *w, uint32_t ix, int32_t node)
{
    struct promises *p = w->promises;
    for (const struct entry *e = first_before(w, ix, p->node_head1[node]); e != NULL; e = first_before(w, ix, e->next1)) {
        struct place_request req;
        int32_t leaving;
        place_request_of(w, e->wl, &req);
        const struct lease_part *parts = preemption_leaving(w, node, e->priority, &leaving);
        fleet_hold(w->fleet, p->held, node, &req, parts, leaving);
    }
    p->held_in[node] = p->placing;
}

/* Of the nodes of the lease, one with room promised to others that is not held; -1: there is none. */
static int32_t unheld_node(const struct world *w, uint32_t ix, struct lease_id lease)
{
    const struct promises *p = w->promises;
    int32_t count;
    const struct lease_part *parts = fleet_lease_parts(w->fleet, lease, &count);
    for (int32_t i = 0; i < count; i++) {
        int32_t node = parts[i].node;
        if (p->held_in[node] != p->placing && first_before(w, ix, p->node_head1[node]) != NULL)
            return node;
    }
    return -1;
}

/* A single worker tries the node that it is promised first. */
static int32_t place(struct world *w, uint32_t ix, struct lease_id lease, const struct place_request *req,
                     int32_t workers, bool all_or_nothing)
{
    const struct entry *e = workers == 1 ? entry_of(w->promises, w->wl[ix].promised) : NULL;
    if (e != NULL && fleet_place_on(w->fleet, lease, e->node, req))
        return 1;
    return fleet_place(w->fleet, lease, req, workers, all_or_nothing, true);
}

int32_t promised_place(struct world *w, uint32_t ix, struct lease_id lease, const struct place_request *req,
                       int32_t workers, bool all_or_nothing)
{
    struct promises *p = w->promises;
    if (p == NULL || p->count == 0)
        return fleet_place(w->fleet, lease, req, workers, all_or_nothing, true);
    struct place_request trial = *req;
    trial.trial = true;
    p->placing++;
    p->held = fleet_lease_open(w->fleet);
    int32_t placed = place(w, ix, lease, &trial, workers, all_or_nothing);
    for (int32_t node; (node = unheld_node(w, ix, lease)) >= 0;) {
        fleet_release(w->fleet, lease, -1);
        hold(w, ix, node);
        placed = place(w, ix, lease, &trial, workers, all_or_nothing);
    }
    fleet_lease_close(w->fleet, p->held);
    fleet_place_noted(w->fleet, lease, req, placed);
    return placed;
}

void promised_view(const struct world *w, uint32_t ix, struct preempt_view *view, int32_t node)
{
    const struct promises *p = w->promises;
    for (const struct entry *e = first_before(w, ix, p->node_head1[node]); e != NULL; e = first_before(w, ix, e->next1)) {
        struct place_request req;
        place_request_of(w, e->wl, &req);
        preempt_promised(view, &req);
    }
}

/* ---- life ---- */

void promised_init(struct world *w, int64_t nodes)
{
    struct promises *p = w->promises = mem_zalloc(1, sizeof *p);
    p->node_head1 = mem_zalloc((size_t)nodes + 1, sizeof *p->node_head1);
    p->held_in = mem_zalloc((size_t)nodes + 1, sizeof *p->held_in);
}

void promised_fini(struct world *w)
{
    struct promises *p = w->promises;
    if (p == NULL)
        return;
    free(p->items);
    free(p->node_head1);
    free(p->held_in);
    free(p);
    w->promises = NULL;
}
