/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of warnings. */
#ifndef SCENARIOS_LOAD_LINT_PRIV_H
#define SCENARIOS_LOAD_LINT_PRIV_H

#include "scenarios/load/lint.h"

struct lint_seen {
    const struct ysource *source;
    int32_t line, column;
    const char *fmt; /* the literal it was called with */
};

struct lint {
    const struct scenario *s;
    const struct ynode *root;
    struct diag_list *diags;
    struct lint_seen *seen;
    size_t seen_count, seen_capacity;
};

/* A warning at item ix of a list of the root ("queues") or of demand ("services"), at its key when
 * that is written. Copies of a repeat share a
 * place: the first of them speaks for all. */
void lint_warn(struct lint *l, const char *list, int32_t ix, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* A warning at a job stream, which stands in demand.training or demand.lora. */
void lint_warn_stream(struct lint *l, int32_t ix, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The largest part of one flavor that a queue may ever get (lint_jobs.c), in milli-cards. */
struct qflow;
int64_t lint_largest_reach(const struct scenario *s, const struct qflow *flow, int32_t queue);

int64_t lint_flavor_cards(const struct scenario *s, int32_t flavor);

void lint_quota(struct lint *l);    /* lint_quota.c */
void lint_gangs(struct lint *l);    /* lint_jobs.c */
void lint_reach(struct lint *l);    /* lint_reach.c */
void lint_files(struct lint *l);    /* likewise: what stands in jobs files */
void lint_services(struct lint *l); /* lint_services.c */
void lint_hyperpod(struct lint *l); /* lint_hyperpod.c */
void lint_sharing(struct lint *l);  /* lint_sharing.c */
void lint_network(struct lint *l);  /* lint_network.c */

#endif
