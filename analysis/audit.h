/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who shared which card with whom, under which mechanism, how long; and who should not have.
 * Reads the tables `tenant`, `sharing`, `incident` and `sharing_pool` of the lowest replication of
 * each arbiter (docs/results-schema.md).
 *
 * A tenant (a service or a stream of jobs) requires an isolation: none < software < hardware <
 * exclusive (gpu-sharing 0: what each mechanism enforces at run time). Every overlap with another
 * tenant on a card whose isolation is lower is a finding. card-hours of sharing are counted per
 * pair: a card with three tenants for an hour is three pair-hours.
 */
#ifndef ANALYSIS_AUDIT_H
#define ANALYSIS_AUDIT_H

#include <stdio.h>

#include "analysis/rows_out.h"
#include "sim/arena.h"

struct audit_options {
    const char *arbiter; /* NULL: all */
    const char *tenant;  /* NULL: all; else only what concerns this one */
    enum rows_format format;
};

/* Two tenants that shared cards of one node pool. */
struct audit_pair {
    const char *node_pool, *mechanism, *isolation, *tenant, *other;
    int64_t cards, times;
    double shared_s;
    bool tenant_broken, other_broken; /* a finding of that tenant */
};

/* With whom a finding's tenant shared. */
struct audit_other {
    const char *name;
    int64_t cards;
    double shared_s;
};

struct audit_card {
    int64_t node, card;
    double shared_s; /* over all pairs of the tenant on this card */
};

/* A tenant that shared cards of a pool with less isolation than it requires. */
struct audit_finding {
    const char *tenant, *requires, *reason; /* reason "" when none is given */
    const char *node_pool, *mechanism, *isolation;
    double shared_s;
    struct audit_other *others; /* the longest first */
    size_t other_count;
    struct audit_card *cards; /* in order of node and card */
    size_t card_count;
    int64_t died_for_others; /* times that another tenant's failure took it down there */
    double lost_card_s;
};

/* A tenant that requires an isolation above none, and whether it got it. */
struct audit_requirement {
    const char *tenant, *requires, *reason;
    bool shared;       /* with anybody */
    bool broken;       /* there is a finding */
};

/* One incident: who caused it and who died of it. */
struct audit_incident {
    int64_t incident, node, card;
    double t_s, lost_card_s;
    const char *cause, *node_pool, *mechanism, *isolation, *culprit;
    const char *victims; /* "a, b (2 times)" */
    int64_t victim_count, others; /* all; and those that are not of the culprit: the blast radius */
};

/* How a node pool shares. */
struct audit_pool {
    const char *node_pool, *card, *mechanism, *isolation;
    const char *shared_by; /* the mechanism of its pairs where that is another (lora-base on whole cards) */
    int64_t cards, cards_peak, incidents, victims;
    double cards_mean, tenants_mean, shared_card_s;
    double computing_card_s; /* computing without rework and sharing overhead, from the ledger */
};

/* What one arbiter did. All arrays are in a stable order and live as long as the audit. */
struct audit_run {
    int64_t run, replication;
    const char *arbiter, *preset;
    double horizon_s;
    struct audit_finding *findings;
    size_t finding_count;
    struct audit_requirement *requirements;
    size_t requirement_count;
    struct audit_pair *pairs; /* the longest first */
    size_t pair_count;
    struct audit_incident *incidents; /* in order of time */
    size_t incident_count;
    struct audit_pool *pools;
    size_t pool_count;
    bool no_names; /* cards were shared, but the run was recorded without tenants (summary) */
};

struct audit {
    struct arena arena;
    struct audit_run *runs;
    size_t run_count;
    size_t finding_count; /* over all runs */
    const char *scenario;
};

/* True when the database has the tables; false without an error when it is older. */
bool audit_has_tables(struct results *results, struct err *err);

/* Reads all of it; always to be released with audit_fini. ERR_INPUT: no such arbiter or tenant
 * (the nearest name is given), a database without the tables, or one that shared cards but does
 * not name who (--record summary; not an error when `nameless` is set, see audit_run.no_names). */
bool audit_read(struct audit *audit, struct results *results, const struct audit_options *options,
                bool nameless, struct err *err);
void audit_fini(struct audit *audit);

/* Prints what was read. The table is for people, by pairs; json and csv have a row per card. */
void audit_print(FILE *out, const struct audit *audit, struct results *results,
                 const struct audit_options *options, struct err *err);

/* 0 none, 1 software, 2 hardware, 3 exclusive. */
int audit_rank(const char *isolation);

#endif
