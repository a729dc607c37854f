/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pending-event set: an implicit 4-ary heap of 24-byte records held by value (style-anchors 4.2).
 *
 * Total order: (time, class, rank, sequence). The class says what happens first at one instant;
 * the rank is the stable id of the entity concerned, so that ties do not depend on the order of
 * scheduling of unrelated things; the sequence is a counter (design, section 3.5).
 *
 * Cancelling is by generation: the dead event stays, and its handler sees that `gen` no longer
 * matches its subject. evq_compact drops dead ones when a caller knows there are many.
 */
#ifndef SIM_EVQ_H
#define SIM_EVQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim_time.h"

struct ev {
    sim_time time;
    uint64_t key; /* class 8 bits | rank 32 bits | sequence 24 bits */
    uint32_t kind;
    uint32_t gen; /* generation of the subject when the event was scheduled */
};
_Static_assert(sizeof(struct ev) == 24, "events are compact on purpose");

struct evq {
    struct ev *heap;
    size_t count, capacity;
    uint32_t sequence;
    uint64_t pushed, popped;
    size_t peak;
};

static inline uint32_t ev_rank(const struct ev *e)
{
    return (uint32_t)(e->key >> 24);
}

static inline unsigned ev_class(const struct ev *e)
{
    return (unsigned)(e->key >> 56);
}

void evq_init(struct evq *q, size_t capacity_hint);
void evq_fini(struct evq *q);

/* Schedules an event; time >= 0 and not SIM_NEVER. Grows by doubling (amortised O(log4 n)). */
void evq_push(struct evq *q, sim_time time, uint8_t cls, uint32_t rank, uint32_t kind,
              uint32_t gen);

/* Earliest event without removing it; false when empty. */
bool evq_peek(const struct evq *q, struct ev *out);

/* Removes the earliest event; false when empty. */
bool evq_pop(struct evq *q, struct ev *out);

/* Removes all events of the earliest instant in order, at most max; returns how many. Events
 * pushed for the same instant afterwards come with the next call. */
size_t evq_pop_instant(struct evq *q, struct ev *out, size_t max);

/* Keeps the events for which alive(ctx, e) holds, rebuilding in O(n). */
void evq_compact(struct evq *q, bool (*alive)(void *ctx, const struct ev *e), void *ctx);

#endif
