/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words and numbers of decision rows. Integers only, so that rows are equal everywhere. */
#ifndef MODELS_WORLD_RECORD_TEXT_H
#define MODELS_WORLD_RECORD_TEXT_H

#include "models/world/world_priv.h"

#define RECORD_TEXT_SIZE 768

/* A text that grows to its end and is cut there. */
struct record_text {
    char text[RECORD_TEXT_SIZE];
    size_t length;
};
void record_say(struct record_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "3d 04h", "3h 12m", "12m 05s", "45s", "250ms". */
void record_duration(struct record_text *t, sim_time d);

/* An amount of a policy's resource: cards for resource 0 ("8", "0.2"), else the resource's unit. */
void record_amount(struct record_text *t, uint32_t resource, int64_t amount);

/* "h100: available 3 of 8: nominal 8 − used 7 + borrowable 2". */
void record_quota(struct record_text *t, const struct world *w, uint32_t queue, uint32_t flavor,
                  uint32_t resource);

/* What a workload of this shape asks, the flavor that decided, then the queue's other flavors. */
void record_reason(struct record_text *t, const struct world *w, const struct policy_reason *r,
                   uint32_t shape);

/* What the queue uses after an admission to `flavor`. */
void record_after(struct record_text *t, const struct world *w, uint32_t queue, uint32_t flavor);

/* "; shares: serving 125, research 214" under fair sharing, else nothing. */
void record_shares(struct record_text *t, const struct world *w, uint32_t a, uint32_t b);

#endif
