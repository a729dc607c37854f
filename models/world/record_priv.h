/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of the record. */
#ifndef MODELS_WORLD_RECORD_PRIV_H
#define MODELS_WORLD_RECORD_PRIV_H

#include "models/world/nominations.h"
#include "models/world/record_text.h"
#include "models/world/world_record.h"

struct decision {
    sim_time t;
    const char *workload, *queue, *kind, *reason, *detail; /* in the arena; detail may be NULL */
    uint32_t repeats;
};

/* Workloads of one (queue, shape, priority): the policy gives one reason for all of them. */
struct group {
    uint32_t queue, shape;
    int64_t priority;
    uint32_t next;        /* of the same shape */
    size_t row;           /* its open waiting row, SIZE_MAX: none */
    uint32_t counted;     /* repeats of its reason that are in rows already */
    const char *first;    /* name of the first workload that came */
    const char *reason;   /* of the open row */
};

struct subject {          /* by workload index */
    const char *name;
    uint32_t group;
    int32_t pod;
    bool told;            /* a waiting row carries its name */
    int64_t number;       /* of a replica */
};

struct record_jobs;
struct world_record {
    struct arena arena;
    struct decision *rows;
    size_t row_count, row_capacity;
    struct group *groups;
    size_t group_count, group_capacity;
    uint32_t *by_shape;   /* first group of a shape, NONE32: none */
    size_t shape_capacity;
    struct subject *subjects;
    size_t subject_capacity;
    uint32_t *requeued;   /* heads that went back, of the outputs being applied */
    size_t requeued_count, requeued_capacity;
    uint32_t said_group;  /* of the last PENDING output: a REASON of the same class follows it */
    struct record_jobs *jobs;
    struct nominations nominations;
};

/* A row about a workload; the pointer holds until the next row. */
struct decision *record_row_of(struct world *w, uint32_t wl, const char *kind);
void record_detail(struct world *w, struct decision *d, const struct record_text *t);
/* A gang of pods speaks with one name; which pod it is about comes first. */
/* Its name and the group that it waits in. */
void record_subject(struct world *w, uint32_t ix, int64_t priority, uint64_t uid);
struct record_text record_begin(const struct world *w, uint32_t wl);

#endif
