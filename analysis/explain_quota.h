/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The quota tree at one instant, to the last piece: table `quota_node` with what table `holding` says
 * was held then. Borrowed, lent and free are those of the series quota.* (docs/results-schema.md,
 * "Quota at every node"): what is taken from the pot of a cohort comes from its children's unused
 * quota that may be lent and from its own, in proportion.
 */
#ifndef ANALYSIS_EXPLAIN_QUOTA_H
#define ANALYSIS_EXPLAIN_QUOTA_H

#include "analysis/explain.h"

struct explain_cell { /* one node on one flavor and resource; in cards, cores or pieces */
    const char *node, *parent, *flavor, *resource; /* parent NULL: a root, or a queue that stands alone */
    bool cohort;
    size_t up; /* the parent's cell; SIZE_MAX */
    double own, nominal, most, borrowing_limit, lending_limit; /* NAN: unlimited, or no such limit */
    double used, borrowed, lent, free;
    /* inside: decision specification 3.1 */
    double subtree, local, use, below_borrowed, below_unused, share;
};

struct explain_quota {
    struct arena arena;
    struct explain_cell *cells; /* of a cohort after those below it */
    size_t count;
};

/* Of the tree that the queue is in, or (NULL) of all. No cells: the run did not record them. */
void explain_quota_read(struct explain_quota *quota, struct results *results, int64_t run, const char *queue, int64_t t_ns,
                        struct err *err);
void explain_quota_fini(struct explain_quota *quota);

/* The queue and the cohorts above it, from the root. */
void explain_quota_path_text(FILE *out, const struct explain_quota *quota, const char *queue);
/* Every node, those below a cohort behind it; at most `limit` nodes, 0: all. */
void explain_quota_tree_text(FILE *out, const struct explain_quota *quota, size_t limit);
/* , "tree": [names from the root], "quota": [...]; queue NULL: , "quota": [...] of all nodes */
void explain_quota_json(FILE *out, const struct explain_quota *quota, const char *queue);

#endif
