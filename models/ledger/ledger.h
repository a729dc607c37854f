/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The card-time ledger: every card-nanosecond of every node pool lands in exactly one bucket, and
 * the sum equals the integral of capacity to the last unit (128 bits), per pool and period.
 *
 * Three ways in:
 *   by rate    capacity, offline and allocated cards change at instants; their integrals, and the
 *              idle time capacity - offline - allocated, are kept by the ledger;
 *   booked     what allocated cards did: a segment [t0, t1) is booked when it is settled, that is
 *              at every change of state and at the end (a segment over period ends is split);
 *   idle input four per-pool amounts by which idle time is split into its causes.
 * ledger_finish checks that both sides agree: what was booked is exactly what was allocated.
 *
 * Idle split, at every instant and in this order, each part min(rest, amount), I = idle cards:
 *   reserved   explicit holds
 *   fragmented cards of admitted gangs that are not placed
 *   quota      cards of waiting workloads whose last reason is quota and whose request is <= I
 *   blocked    all other waiting, also those that wait for quota and are larger than I
 *   no_demand  the remainder
 *
 * Units: milli-cards (1000 = one card), nanoseconds; sums in milli-card-ns (mcns). Calls at one
 * instant may come in any order and pass through inconsistent states; only the state that lasts
 * counts. Time never goes back within a pool. Nothing is allocated after ledger_create, except
 * when a request size is seen for the first time (ledger_register_request avoids that).
 */
#ifndef MODELS_LEDGER_LEDGER_H
#define MODELS_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "models/ledger/i128.h"
#include "sim/sim_time.h"

enum ledger_group {
    LEDGER_NOT_AVAILABLE,
    LEDGER_UNALLOCATED,
    LEDGER_NOT_COMPUTING, /* allocated, not computing */
    LEDGER_COMPUTING,
    LEDGER_GROUP_COUNT
};

/* X(enumerator, name in the database, group); order is the order of the idle split, then design. */
#define LEDGER_BUCKETS(X)                                                                          \
    X(LEDGER_OFFLINE, "offline", LEDGER_NOT_AVAILABLE)                                             \
    X(LEDGER_IDLE_RESERVED, "idle_reserved", LEDGER_UNALLOCATED)                                   \
    X(LEDGER_IDLE_FRAGMENTED, "idle_fragmented", LEDGER_UNALLOCATED)                               \
    X(LEDGER_IDLE_QUOTA, "idle_quota", LEDGER_UNALLOCATED)                                         \
    X(LEDGER_IDLE_BLOCKED, "idle_blocked", LEDGER_UNALLOCATED)                                     \
    X(LEDGER_IDLE_NO_DEMAND, "idle_no_demand", LEDGER_UNALLOCATED)                                 \
    X(LEDGER_STARTING, "starting", LEDGER_NOT_COMPUTING)                                           \
    X(LEDGER_LOADING, "loading", LEDGER_NOT_COMPUTING)                                             \
    X(LEDGER_GANG_WAIT, "gang_wait", LEDGER_NOT_COMPUTING)                                         \
    X(LEDGER_INPUT_WAIT, "input_wait", LEDGER_NOT_COMPUTING)                                       \
    X(LEDGER_CHECKPOINT_STALL, "checkpoint_stall", LEDGER_NOT_COMPUTING)                           \
    X(LEDGER_DRAINING, "draining", LEDGER_NOT_COMPUTING)                                           \
    X(LEDGER_SERVING_HEADROOM, "serving_headroom", LEDGER_NOT_COMPUTING)                           \
    X(LEDGER_SERVING, "serving", LEDGER_COMPUTING)                                                 \
    X(LEDGER_TRAINING_USEFUL, "training_useful", LEDGER_COMPUTING)                                 \
    X(LEDGER_TRAINING_REWORK, "training_rework", LEDGER_COMPUTING)                                 \
    X(LEDGER_LORA_USEFUL, "lora_useful", LEDGER_COMPUTING)                                         \
    X(LEDGER_SHARING_OVERHEAD, "sharing_overhead", LEDGER_COMPUTING)

enum ledger_bucket {
#define X(id, name, group) id,
    LEDGER_BUCKETS(X)
#undef X
        LEDGER_BUCKET_COUNT
};
#define LEDGER_FIRST_BOOKED LEDGER_STARTING

enum ledger_class {
    LEDGER_CLASS_NONE,
    LEDGER_CLASS_TRAINING,
    LEDGER_CLASS_INFERENCE,
    LEDGER_CLASS_LORA,
    LEDGER_CLASS_COUNT
};

#define LEDGER_NO_TEAM (-1) /* an account without a team */
#define LEDGER_ANY (-2)     /* in readers: sum over all */

const char *ledger_bucket_name(enum ledger_bucket b);
enum ledger_group ledger_bucket_group(enum ledger_bucket b);
/* "not_available", "unallocated", "allocated_not_computing", "computing". */
const char *ledger_group_name(enum ledger_group g);
/* "training", "inference", "lora"; NULL (SQL NULL) for LEDGER_CLASS_NONE. */
const char *ledger_class_name(enum ledger_class c);

struct ledger_config {
    uint32_t pool_count; /* node pools, >= 1 */
    uint32_t team_count; /* teams besides "none"; may be 0 */
    sim_time period;     /* length of an account period, > 0: an hour or a day */
    sim_time horizon;    /* end of the run, > 0; no call may lie beyond it */
};

struct ledger; /* opaque: capacity, accounts and idle inputs must stay consistent */

/* Owns its memory; ledger_destroy(NULL) is fine. Time starts at 0 with everything 0. */
struct ledger *ledger_create(const struct ledger_config *cfg);
void ledger_destroy(struct ledger *l);

/* --- by rate -------------------------------------------------------------------------------- */

/* Cards that exist (also those being repaired). */
void ledger_capacity_change(struct ledger *l, sim_time now, uint32_t pool, int64_t delta_milli);
/* Cards that exist but are not available: fault, reconfiguration, provisioning. */
void ledger_offline_change(struct ledger *l, sim_time now, uint32_t pool, int64_t delta_milli);
/* Cards held by workloads; whatever is added here must be booked for exactly that time. */
void ledger_alloc_change(struct ledger *l, sim_time now, uint32_t pool, int64_t delta_milli);

enum ledger_idle_input {
    LEDGER_INPUT_RESERVED, /* explicit holds */
    LEDGER_INPUT_UNPLACED, /* cards of admitted gangs that are not placed */
    LEDGER_INPUT_WAITING,  /* cards of workloads that wait for another reason than quota */
    LEDGER_INPUT_COUNT
};
void ledger_idle_input_change(struct ledger *l, sim_time now, uint32_t pool,
                              enum ledger_idle_input which, int64_t delta_milli);
/* delta workloads (each of request_milli > 0 cards in total) begin (> 0) or cease (< 0) to wait
 * with quota as their last reason. O(log distinct sizes). */
void ledger_quota_wait_change(struct ledger *l, sim_time now, uint32_t pool, int64_t request_milli,
                              int64_t delta);
/* Makes a request size known, so that its first use does not allocate. Idempotent. */
void ledger_register_request(struct ledger *l, int64_t request_milli);

/* --- booked --------------------------------------------------------------------------------- */

/* Where allocated time goes. */
struct ledger_account {
    uint32_t pool;
    int32_t team; /* 0 .. team_count-1, or LEDGER_NO_TEAM */
    enum ledger_class workload_class;
};

/* milli cards were in bucket (one of the allocated ones) during [t0, t1); split exactly at period
 * ends. t0 <= t1 <= horizon; milli >= 0. */
void ledger_book(struct ledger *l, struct ledger_account a, enum ledger_bucket bucket,
                    sim_time t0, sim_time t1, int64_t milli);
/* mcns in the period that holds t_at, for splits inside one period that a closed form gives. A
 * segment that ends at a period's end is given by an instant before it. */
void ledger_book_amount(struct ledger *l, struct ledger_account a, enum ledger_bucket bucket,
                        sim_time t_at, i128 mcns);

/* Work done by cards of the pool, as card-time of a fully used card (the fourth utilisation). */
void ledger_work(struct ledger *l, uint32_t pool, i128 mcns);

/* --- the end -------------------------------------------------------------------------------- */

/* Integrates all rates up to now and requires closure, per pool and period, in 128 bits:
 *   offline + idle + booked == integral of capacity,   booked == integral of allocated cards.
 * Aborts with the pool, the period and both sides if not. The readers want it to be called first. */
void ledger_finish(struct ledger *l, sim_time now);

/* --- readers -------------------------------------------------------------------------------- */

/* Sum over the accounts that match; any of pool, team, class, bucket, period may be LEDGER_ANY.
 * Offline and idle accounts have LEDGER_NO_TEAM and LEDGER_CLASS_NONE. */
struct ledger_query {
    int32_t pool, team, workload_class, bucket;
    int64_t period;
};
struct ledger_query ledger_query_all(void);
i128 ledger_sum(const struct ledger *l, struct ledger_query q);
/* Sum of a group of buckets in one pool (or LEDGER_ANY), all periods, teams and classes. */
i128 ledger_group_sum(const struct ledger *l, int32_t pool, enum ledger_group g);
/* Integral of capacity of one pool (or LEDGER_ANY) in one period (or LEDGER_ANY). */
i128 ledger_capacity_integral(const struct ledger *l, int32_t pool, int64_t period);

/* The four utilisations, each over capacity - offline; pool may be LEDGER_ANY. */
struct ledger_utilisation {
    double allocated; /* what dashboards built on requests show */
    double real;      /* computing: what nvidia-smi shows */
    double useful;    /* computing - rework - sharing overhead */
    double work;      /* work done / work that all available cards could have done */
};
struct ledger_utilisation ledger_utilisations(const struct ledger *l, int32_t pool);

uint32_t ledger_period_count(const struct ledger *l);

/* All accounts that are not zero, in the order period, pool, team (none first), class, bucket.
 * Start with a zeroed cursor; false at the end. */
struct ledger_row {
    uint32_t period, pool;
    int32_t team; /* or LEDGER_NO_TEAM */
    enum ledger_class workload_class;
    enum ledger_bucket bucket;
    i128 mcns;
};
struct ledger_cursor {
    uint64_t next;
};
bool ledger_next_row(const struct ledger *l, struct ledger_cursor *at, struct ledger_row *row);

#endif
