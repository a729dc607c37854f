/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workloads that no quota of their queue can ever admit, whatever else is running: some request, of any
 * resource, is more than the queue could use on every flavor that they may use, with all limits on
 * borrowing and lending up the tree. */
#ifndef STUDIES_MANIFEST_NEVER_H
#define STUDIES_MANIFEST_NEVER_H

#include <stdio.h>

#include "scenarios/load/manifest/manifest.h"
#include "sim/text.h"

enum mnever_who {
    MNEVER_ALL, /* of a replay, where finished ones come again */
    MNEVER_NOW  /* that have not finished */
};

struct mnever { /* of one queue and shape */
    uint32_t workload, count; /* the first of so many like it */
    uint32_t queue, shape;
    uint32_t behind;          /* others that wait in its queue */
    bool strict;              /* StrictFIFO: it blocks all behind it once it is first */
    bool first;               /* it is first among those that wait */
    bool holds;               /* it holds quota now; once evicted it does not come back */
    struct policy_numbers numbers; /* of the flavor that comes nearest */
};

struct mnever_list {
    struct mnever *items; /* first ones of StrictFIFO queues first, then others of such queues */
    uint32_t count;
    const struct policy_ops *ops; /* with the shapes of the items; may be NULL */
    void *policy;
    struct qflow *flow;
};

void mnever_find(const struct manifest *m, enum mnever_who who, struct mnever_list *list);
void mnever_fini(struct mnever_list *list);

/* "workload a/b (and 2 more like it) can never be admitted to queue 'q': it asks ..." */
void mnever_sentence(const struct manifest *m, const struct mnever *n, struct text *t);
/* Lines: every flavor with what is asked of it and the most that there could be, up the tree. */
void mnever_arithmetic(const struct manifest *m, const struct mnever_list *list, const struct mnever *n, FILE *out);

/* Before a replay: a warning each; how many. */
uint32_t manifest_never_fit(const struct manifest *m, FILE *out);

#endif
