/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests waiting because capacity was short: a fluid in order of arrival (workload-models 2.5).
 * It remembers when its parts arrived, so latency is booked when they are served and the capacity
 * that served them is known: within a stretch of constant arrival density and capacity the waits
 * are uniform. Memory is fixed: when all cohorts are taken neighbours are merged in pairs, which
 * keeps masses and order and blurs ages by less than the length of the merged pair.
 */
#ifndef MODELS_DEMAND_BACKLOG_H
#define MODELS_DEMAND_BACKLOG_H

#include <stdint.h>

#define BACKLOG_COHORTS 48

struct cohort {
    double from_s, to_s;      /* when they arrived, evenly spread; from_s < to_s */
    double mass;              /* requests */
    double tokens_in, tokens_out; /* of each */
};

struct backlog {
    int32_t first, count;     /* items[first .. first + count) */
    struct cohort items[BACKLOG_COHORTS];
};

/* What became of a part of the queue during a stretch of time. */
struct backlog_part {
    double served, lost;      /* requests; lost = waited as long as their patience */
    double wait_from_s, wait_to_s; /* waits of the served, evenly spread */
    double tokens_in, tokens_out;  /* of each */
};
typedef void (*backlog_book_fn)(void *ctx, const struct backlog_part *part);

/* Adds arrivals after those already there; nothing when mass is 0. Extends the last cohort when
 * density and tokens are the same. */
void backlog_push(struct backlog *b, const struct cohort *c);

/*
 * Serves from from_s to to_s at `capacity` requests/s, oldest first, and drops who reaches
 * patience_s of waiting (INFINITY = never). Arrivals of the stretch itself must have been pushed.
 * Returns the instant from which nobody waits and capacity is at least the arrival density: then
 * the rest of the stretch is not in the queue any more and *rest has its mass. Else to_s, rest 0.
 */
double backlog_serve(struct backlog *b, double from_s, double to_s, double capacity,
                     double patience_s, backlog_book_fn book, void *ctx, double *rest);

/* Sum of the masses. */
double backlog_mass(const struct backlog *b);
double backlog_tokens(const struct backlog *b);

#endif
