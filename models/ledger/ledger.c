/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/ledger/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/ledger/quota_wait.h"
#include "sim/arena.h"
#include "sim/check.h"

#define BOOKED_COUNT (LEDGER_BUCKET_COUNT - LEDGER_FIRST_BOOKED)
#define IDLE_COUNT (LEDGER_FIRST_BOOKED - LEDGER_IDLE_RESERVED)

/* What one pool did in one period, except the booked buckets. */
struct pool_period {
    i128 capacity, offline, allocated;
    i128 idle[IDLE_COUNT]; /* from LEDGER_IDLE_RESERVED */
};

struct pool {
    sim_time since;          /* rates below are integrated up to here */
    sim_time capacity_since; /* capacity is integrated on its own, so that closure proves something */
    int64_t capacity, offline, allocated;
    int64_t input[LEDGER_INPUT_COUNT];
    i128 work;
    struct pool_period *periods;
};

struct ledger {
    struct ledger_config cfg;
    uint32_t period_count;
    sim_time cur_start, cur_end; /* bounds of period cur: saves a division per booking */
    uint32_t cur;
    struct pool *pools;
    struct pool_period *pool_periods; /* pool_count * period_count */
    i128 *booked; /* [pool][1 + team][class][period][bucket]: untouched rows cost no memory */
    bool *used;   /* [pool][1 + team][class]: something was booked there */
    i128 *totals; /* [pool][1 + team][class][bucket] over all periods, made by ledger_finish */
    struct quota_wait quota;
};

static const char *const bucket_names[] = {
#define X(id, name, group) name,
    LEDGER_BUCKETS(X)
#undef X
};

static const enum ledger_group bucket_groups[] = {
#define X(id, name, group) group,
    LEDGER_BUCKETS(X)
#undef X
};

const char *ledger_bucket_name(enum ledger_bucket b)
{
    REQUIRE(b < LEDGER_BUCKET_COUNT);
    return bucket_names[b];
}

enum ledger_group ledger_bucket_group(enum ledger_bucket b)
{
    REQUIRE(b < LEDGER_BUCKET_COUNT);
    return bucket_groups[b];
}

const char *ledger_group_name(enum ledger_group g)
{
    static const char *const names[] = {"not_available", "unallocated", "allocated_not_computing",
                                        "computing"};
    REQUIRE(g < LEDGER_GROUP_COUNT);
    return names[g];
}

const char *ledger_class_name(enum ledger_class c)
{
    static const char *const names[] = {NULL, "training", "inference", "lora"};
    REQUIRE(c < LEDGER_CLASS_COUNT);
    return names[c];
}

struct ledger *ledger_create(const struct ledger_config *cfg)
{
    REQUIRE(cfg->pool_count > 0 && cfg->period > 0 && cfg->horizon > 0);
    sim_time n = (cfg->horizon - 1) / cfg->period + 1;
    REQUIRE(n < UINT32_MAX && cfg->team_count < INT32_MAX);
    struct ledger *l = mem_zalloc(1, sizeof *l);
    l->cfg = *cfg;
    l->period_count = (uint32_t)n;
    l->cur_end = cfg->period;
    l->pools = mem_zalloc(cfg->pool_count, sizeof *l->pools);
    l->pool_periods = mem_zalloc((size_t)cfg->pool_count * (size_t)n, sizeof *l->pool_periods);
    for (uint32_t p = 0; p < cfg->pool_count; p++)
        l->pools[p].periods = l->pool_periods + (size_t)p * (size_t)n;
    size_t owners = (size_t)cfg->pool_count * ((size_t)cfg->team_count + 1) * LEDGER_CLASS_COUNT;
    l->booked = mem_zalloc(owners * (size_t)n, BOOKED_COUNT * sizeof *l->booked);
    l->used = mem_zalloc(owners, sizeof *l->used);
    l->totals = mem_zalloc(owners, LEDGER_BUCKET_COUNT * sizeof *l->totals);
    quota_wait_init(&l->quota, cfg->pool_count);
    return l;
}

void ledger_destroy(struct ledger *l)
{
    if (!l)
        return;
    quota_wait_fini(&l->quota);
    free(l->used);
    free(l->totals);
    free(l->booked);
    free(l->pool_periods);
    free(l->pools);
    free(l);
}

/* Period that holds t, 0 <= t <= horizon; the horizon itself belongs to the last one. */
static uint32_t period_of(struct ledger *l, sim_time t)
{
    if (t >= l->cur_start && t < l->cur_end)
        return l->cur;
    REQUIRE(t >= 0 && t <= l->cfg.horizon);
    sim_time ix = t / l->cfg.period;
    if (ix >= (sim_time)l->period_count)
        ix = (sim_time)l->period_count - 1;
    l->cur = (uint32_t)ix;
    l->cur_start = ix * l->cfg.period;
    l->cur_end = sim_time_after(l->cur_start, l->cfg.period);
    return l->cur;
}

/* End of the piece of [t, to) inside the period of t. */
static sim_time piece_end(struct ledger *l, sim_time t, sim_time to, uint32_t *period)
{
    *period = period_of(l, t);
    return to < l->cur_end ? to : l->cur_end;
}

static int64_t take(int64_t *rest, int64_t amount)
{
    int64_t part = amount < *rest ? amount : *rest;
    *rest -= part;
    return part;
}

/* The idle split of the header, for the state that lasted. */
static void split_idle(const struct ledger *l, uint32_t pool, int64_t idle,
                       int64_t part[IDLE_COUNT])
{
    const struct pool *p = &l->pools[pool];
    int64_t rest = idle;
    int64_t quota = quota_wait_up_to(&l->quota, pool, idle);
    int64_t larger = quota_wait_total(&l->quota, pool) - quota;
    for (int i = 0; i < LEDGER_INPUT_COUNT; i++)
        REQUIRE(p->input[i] >= 0);
    part[0] = take(&rest, p->input[LEDGER_INPUT_RESERVED]);
    part[1] = take(&rest, p->input[LEDGER_INPUT_UNPLACED]);
    part[2] = take(&rest, quota);
    part[3] = take(&rest, p->input[LEDGER_INPUT_WAITING] + larger);
    part[4] = rest;
}

static void advance_capacity(struct ledger *l, struct pool *p, sim_time now)
{
    for (sim_time t = p->capacity_since; t < now;) {
        uint32_t ix;
        sim_time end = piece_end(l, t, now, &ix);
        p->periods[ix].capacity += i128_mcns(p->capacity, end - t);
        t = end;
    }
    p->capacity_since = now;
}

/* Integrates the pool's rates up to now. */
static struct pool *advance(struct ledger *l, uint32_t pool, sim_time now)
{
    REQUIRE(pool < l->cfg.pool_count);
    struct pool *p = &l->pools[pool];
    if (now == p->since)
        return p;
    REQUIRE(now > p->since && now <= l->cfg.horizon);
    int64_t idle = p->capacity - p->offline - p->allocated;
    REQUIRE(p->offline >= 0 && p->allocated >= 0 && idle >= 0);
    int64_t part[IDLE_COUNT];
    split_idle(l, pool, idle, part);
    for (sim_time t = p->since; t < now;) {
        uint32_t ix;
        sim_time end = piece_end(l, t, now, &ix);
        struct pool_period *pp = &p->periods[ix];
        pp->offline += i128_mcns(p->offline, end - t);
        pp->allocated += i128_mcns(p->allocated, end - t);
        for (int i = 0; i < IDLE_COUNT; i++)
            pp->idle[i] += i128_mcns(part[i], end - t);
        t = end;
    }
    p->since = now;
    return p;
}

void ledger_capacity_change(struct ledger *l, sim_time now, uint32_t pool, int64_t delta_milli)
{
    struct pool *p = advance(l, pool, now);
    advance_capacity(l, p, now);
    p->capacity += delta_milli;
}

void ledger_offline_change(struct ledger *l, sim_time now, uint32_t pool, int64_t delta_milli)
{
    advance(l, pool, now)->offline += delta_milli;
}

void ledger_alloc_change(struct ledger *l, sim_time now, uint32_t pool, int64_t delta_milli)
{
    advance(l, pool, now)->allocated += delta_milli;
}

void ledger_idle_input_change(struct ledger *l, sim_time now, uint32_t pool,
                              enum ledger_idle_input which, int64_t delta_milli)
{
    REQUIRE(which < LEDGER_INPUT_COUNT);
    advance(l, pool, now)->input[which] += delta_milli;
}

void ledger_quota_wait_change(struct ledger *l, sim_time now, uint32_t pool, int64_t request_milli,
                              int64_t delta)
{
    advance(l, pool, now);
    quota_wait_change(&l->quota, pool, request_milli, delta);
}

void ledger_register_request(struct ledger *l, int64_t request_milli)
{
    quota_wait_register(&l->quota, request_milli);
}

static size_t owner_of(const struct ledger *l, struct ledger_account a)
{
    size_t owner = (size_t)a.pool * ((size_t)l->cfg.team_count + 1) + (size_t)(a.team + 1);
    return owner * LEDGER_CLASS_COUNT + (size_t)a.workload_class;
}

static size_t booked_row(const struct ledger *l, struct ledger_account a, uint32_t period)
{
    return (owner_of(l, a) * l->period_count + period) * BOOKED_COUNT;
}

static void require_account(const struct ledger *l, struct ledger_account a,
                            enum ledger_bucket bucket)
{
    REQUIRE(a.pool < l->cfg.pool_count && a.workload_class < LEDGER_CLASS_COUNT);
    REQUIRE(a.team >= LEDGER_NO_TEAM && a.team < (int32_t)l->cfg.team_count);
    REQUIRE(bucket >= LEDGER_FIRST_BOOKED && bucket < LEDGER_BUCKET_COUNT);
}

void ledger_book(struct ledger *l, struct ledger_account a, enum ledger_bucket bucket,
                    sim_time t0, sim_time t1, int64_t milli)
{
    require_account(l, a, bucket);
    REQUIRE(t0 >= 0 && t0 <= t1 && t1 <= l->cfg.horizon && milli >= 0);
    l->used[owner_of(l, a)] = true;
    while (t0 < t1) {
        uint32_t ix;
        sim_time end = piece_end(l, t0, t1, &ix);
        l->booked[booked_row(l, a, ix) + (bucket - LEDGER_FIRST_BOOKED)] +=
            i128_mcns(milli, end - t0);
        t0 = end;
    }
}

void ledger_book_amount(struct ledger *l, struct ledger_account a, enum ledger_bucket bucket,
                        sim_time t_at, i128 mcns)
{
    require_account(l, a, bucket);
    uint32_t ix = period_of(l, t_at);
    l->used[owner_of(l, a)] = true;
    l->booked[booked_row(l, a, ix) + (bucket - LEDGER_FIRST_BOOKED)] += mcns;
}

void ledger_work(struct ledger *l, uint32_t pool, i128 mcns)
{
    REQUIRE(pool < l->cfg.pool_count);
    l->pools[pool].work += mcns;
}

static i128 booked_in_period(const struct ledger *l, uint32_t pool, uint32_t period)
{
    i128 sum = 0;
    for (int32_t team = LEDGER_NO_TEAM; team < (int32_t)l->cfg.team_count; team++) {
        for (int c = 0; c < LEDGER_CLASS_COUNT; c++) {
            struct ledger_account a = {pool, team, (enum ledger_class)c};
            if (!l->used[owner_of(l, a)])
                continue;
            const i128 *row = l->booked + booked_row(l, a, period);
            for (int b = 0; b < BOOKED_COUNT; b++)
                sum += row[b];
        }
    }
    return sum;
}

static void print_difference(uint32_t pool, uint32_t period, const char *what, i128 ledger,
                             i128 expected)
{
    struct i128_card_s a = i128_split(ledger), b = i128_split(expected);
    fprintf(stderr,
            "ledger does not close: pool %u, period %u: %s is %lld card-s + %lld mcns, "
            "expected %lld card-s + %lld mcns\n",
            pool, period, what, (long long)a.card_s, (long long)a.rest_mcns, (long long)b.card_s,
            (long long)b.rest_mcns);
}

static bool closes(const struct ledger *l, uint32_t pool, uint32_t period)
{
    const struct pool_period *pp = &l->pools[pool].periods[period];
    i128 booked = booked_in_period(l, pool, period);
    i128 sum = pp->offline + booked;
    for (int i = 0; i < IDLE_COUNT; i++)
        sum += pp->idle[i];
    if (booked != pp->allocated) {
        print_difference(pool, period, "booked time", booked, pp->allocated);
        return false;
    }
    if (sum != pp->capacity) {
        print_difference(pool, period, "sum of all buckets", sum, pp->capacity);
        return false;
    }
    return true;
}

/* Amount of one account; team or class that a bucket cannot have give 0. */
static i128 account_amount(const struct ledger *l, struct ledger_account a, uint32_t period, int b)
{
    if (b >= LEDGER_FIRST_BOOKED)
        return l->booked[booked_row(l, a, period) + (size_t)(b - LEDGER_FIRST_BOOKED)];
    if (a.team != LEDGER_NO_TEAM || a.workload_class != LEDGER_CLASS_NONE)
        return 0;
    const struct pool_period *pp = &l->pools[a.pool].periods[period];
    return b == LEDGER_OFFLINE ? pp->offline : pp->idle[b - LEDGER_IDLE_RESERVED];
}

/* False for an owner whose accounts are all 0. */
static bool may_hold(const struct ledger *l, struct ledger_account a)
{
    bool nobody = a.team == LEDGER_NO_TEAM && a.workload_class == LEDGER_CLASS_NONE;
    return nobody || l->used[owner_of(l, a)];
}

static void sum_periods(struct ledger *l, struct ledger_account a)
{
    i128 *total = l->totals + owner_of(l, a) * LEDGER_BUCKET_COUNT;
    if (!may_hold(l, a))
        return;
    for (int b = 0; b < LEDGER_BUCKET_COUNT; b++) {
        total[b] = 0;
        for (uint32_t i = 0; i < l->period_count; i++)
            total[b] += account_amount(l, a, i, b);
    }
}

void ledger_finish(struct ledger *l, sim_time now)
{
    for (uint32_t p = 0; p < l->cfg.pool_count; p++) {
        advance(l, p, now);
        advance_capacity(l, &l->pools[p], now);
        for (uint32_t i = 0; i < l->period_count; i++) {
            bool ledger_closes = closes(l, p, i);
            REQUIRE(ledger_closes);
        }
        for (int32_t team = LEDGER_NO_TEAM; team < (int32_t)l->cfg.team_count; team++)
            for (int c = 0; c < LEDGER_CLASS_COUNT; c++)
                sum_periods(l, (struct ledger_account){p, team, (enum ledger_class)c});
    }
}

struct ledger_query ledger_query_all(void)
{
    return (struct ledger_query){LEDGER_ANY, LEDGER_ANY, LEDGER_ANY, LEDGER_ANY, LEDGER_ANY};
}

struct range {
    int64_t from, to;
};

static struct range range_of(int64_t asked, int64_t least, int64_t end)
{
    if (asked == LEDGER_ANY)
        return (struct range){least, end};
    REQUIRE(asked >= least && asked < end);
    return (struct range){asked, asked + 1};
}

static i128 sum_buckets(const struct ledger *l, struct ledger_account a, int64_t period,
                        struct range buckets)
{
    const i128 *total = l->totals + owner_of(l, a) * LEDGER_BUCKET_COUNT;
    i128 sum = 0;
    for (int64_t b = buckets.from; b < buckets.to; b++)
        sum += period == LEDGER_ANY ? total[b] : account_amount(l, a, (uint32_t)period, (int)b);
    return sum;
}

i128 ledger_sum(const struct ledger *l, struct ledger_query q)
{
    struct range pools = range_of(q.pool, 0, l->cfg.pool_count);
    struct range teams = range_of(q.team, LEDGER_NO_TEAM, l->cfg.team_count);
    struct range classes = range_of(q.workload_class, 0, LEDGER_CLASS_COUNT);
    struct range buckets = range_of(q.bucket, 0, LEDGER_BUCKET_COUNT);
    REQUIRE(q.period == LEDGER_ANY || (q.period >= 0 && q.period < l->period_count));
    i128 sum = 0;
    for (int64_t p = pools.from; p < pools.to; p++) {
        for (int64_t t = teams.from; t < teams.to; t++) {
            for (int64_t c = classes.from; c < classes.to; c++) {
                struct ledger_account a = {(uint32_t)p, (int32_t)t, (enum ledger_class)c};
                sum += sum_buckets(l, a, q.period, buckets);
            }
        }
    }
    return sum;
}

i128 ledger_group_sum(const struct ledger *l, int32_t pool, enum ledger_group g)
{
    i128 sum = 0;
    struct ledger_query q = ledger_query_all();
    q.pool = pool;
    for (int b = 0; b < LEDGER_BUCKET_COUNT; b++) {
        if (bucket_groups[b] != g)
            continue;
        q.bucket = b;
        sum += ledger_sum(l, q);
    }
    return sum;
}

i128 ledger_capacity_integral(const struct ledger *l, int32_t pool, int64_t period)
{
    struct range pools = range_of(pool, 0, l->cfg.pool_count);
    struct range periods = range_of(period, 0, l->period_count);
    i128 sum = 0;
    for (int64_t p = pools.from; p < pools.to; p++)
        for (int64_t i = periods.from; i < periods.to; i++)
            sum += l->pools[p].periods[i].capacity;
    return sum;
}

struct ledger_utilisation ledger_utilisations(const struct ledger *l, int32_t pool)
{
    struct ledger_query q = ledger_query_all();
    q.pool = pool;
    i128 available = ledger_capacity_integral(l, pool, LEDGER_ANY) -
                     ledger_group_sum(l, pool, LEDGER_NOT_AVAILABLE);
    i128 computing = ledger_group_sum(l, pool, LEDGER_COMPUTING);
    i128 allocated = computing + ledger_group_sum(l, pool, LEDGER_NOT_COMPUTING);
    q.bucket = LEDGER_TRAINING_REWORK;
    i128 useful = computing - ledger_sum(l, q);
    q.bucket = LEDGER_SHARING_OVERHEAD;
    useful -= ledger_sum(l, q);
    i128 work = 0;
    struct range pools = range_of(pool, 0, l->cfg.pool_count);
    for (int64_t p = pools.from; p < pools.to; p++)
        work += l->pools[p].work;
    return (struct ledger_utilisation){.allocated = i128_ratio(allocated, available),
                                       .real = i128_ratio(computing, available),
                                       .useful = i128_ratio(useful, available),
                                       .work = i128_ratio(work, available)};
}

uint32_t ledger_period_count(const struct ledger *l)
{
    return l->period_count;
}

bool ledger_next_row(const struct ledger *l, struct ledger_cursor *at, struct ledger_row *row)
{
    uint64_t teams = (uint64_t)l->cfg.team_count + 1;
    uint64_t end = teams * l->period_count * l->cfg.pool_count * LEDGER_CLASS_COUNT *
                   LEDGER_BUCKET_COUNT;
    while (at->next < end) {
        uint64_t i = at->next++;
        row->bucket = (enum ledger_bucket)(i % LEDGER_BUCKET_COUNT);
        i /= LEDGER_BUCKET_COUNT;
        row->workload_class = (enum ledger_class)(i % LEDGER_CLASS_COUNT);
        i /= LEDGER_CLASS_COUNT;
        row->team = (int32_t)(i % teams) - 1;
        i /= teams;
        row->pool = (uint32_t)(i % l->cfg.pool_count);
        row->period = (uint32_t)(i / l->cfg.pool_count);
        struct ledger_account a = {row->pool, row->team, row->workload_class};
        if (!may_hold(l, a)) {
            at->next += LEDGER_BUCKET_COUNT - 1 - row->bucket;
            continue;
        }
        row->mcns = account_amount(l, a, row->period, (int)row->bucket);
        if (row->mcns != 0)
            return true;
    }
    return false;
}
