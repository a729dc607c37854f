/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The policy's decisions on a recorded case, line by line in the recorder's form. */
#ifndef STUDIES_CONFORM_KUEUE_LOG_H
#define STUDIES_CONFORM_KUEUE_LOG_H

#include "studies/conform_kueue_read.h"

struct kueue_text { /* text that grows */
    char *v;
    size_t count, capacity;
};
void kueue_put(struct kueue_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct kueue_log {
    const struct kueue_case *c;
    struct kueue_text text;  /* finished lines, each ended by '\0' */
    size_t *lines;           /* where they begin */
    size_t line_count, line_capacity;
    struct kueue_text entries; /* of the cycle being told */
    struct kueue_text events;  /* not yet a line */
    struct kueue_text usage;
    int64_t events_ns, usage_ns;
    int64_t cycle_began_ns;
    size_t events_end; /* lines up to the last one that is not a cycle */
};

void kueue_log_fini(struct kueue_log *log);
void kueue_log_clear(struct kueue_log *log, const struct kueue_case *c);

/* Takes one output; `number` is that of the cycle it belongs to. */
void kueue_log_output(struct kueue_log *log, const struct policy_output *o, uint32_t number);
/* Writes what is not yet a line. */
void kueue_log_flush(struct kueue_log *log);
/* Keeps the first n lines. */
void kueue_log_cut(struct kueue_log *log, size_t n);

static inline const char *kueue_log_line(const struct kueue_log *log, size_t i)
{
    return log->text.v + log->lines[i];
}

#endif
