/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits in a queue, and who holds its quota, at one instant. */
#ifndef ANALYSIS_EXPLAIN_STANDING_H
#define ANALYSIS_EXPLAIN_STANDING_H

#include "analysis/explain_priv.h"

struct explain_waiter {
    const char *name, *group;
    int64_t priority, since_ns;  /* since: it began to wait */
    int64_t order_ns, submitted; /* what the queue goes by after the priority: instant, then row */
    double cards;                /* it asks for (of the resource that figures count); NAN: not a job */
    bool evicted;                /* and was not told a word since */
    size_t same_as;              /* told the same as this one before it; SIZE_MAX: has its own word */
};

struct explain_holder {
    const char *name, *flavor, *resource;
    double amount; /* of the resource that figures count */
    int64_t from_ns;
};

struct explain_standing {
    struct arena arena;
    struct explain_waiter *waiters; /* in the order of the queue */
    size_t waiter_count;
    size_t admitted, leaving; /* leaving: evicted, and not yet gone */
    struct explain_holder *holders; /* the largest first */
    size_t holder_count;
    struct explain_rows said; /* what the first `limit` waiters were told last, by rank */
};

/* After the decisions of t_ns. `limit`: waiters whose reason is read and holders that are listed; 0: all. */
void explain_standing_read(struct explain_standing *s, struct results *results, int64_t run, const char *queue, int64_t t_ns,
                           size_t limit, struct err *err);
void explain_standing_fini(struct explain_standing *s);

void explain_standing_text(FILE *out, const struct explain_standing *s);
/* One waiter whose reason was read. */
void explain_waiter_text(FILE *out, const struct explain_standing *s, size_t i);
void explain_waiter_json(FILE *out, const struct explain_standing *s, size_t i);
/* , "waiting_count": n, "waiting": [...], "admitted": n, "leaving": n, "largest": [...] */
void explain_standing_json(FILE *out, const struct explain_standing *s);

/* Where a workload stands by its last decision: the CASE of a query with its columns kind and reason. */
#define EXPLAIN_STATE                                                                             \
    "CASE WHEN kind IN ('admitted', 'started', 'unplaced', 'joined') THEN 'holds'"                          \
    " WHEN kind IN ('finished', 'failed', 'stopped', 'deactivated') OR reason = 'Replaced' THEN 'gone'" \
    " WHEN kind = 'evicted' THEN 'leaves' ELSE 'waits' END"

#endif
