/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random histories of a small fleet, against a naive reference that walks every 1 ns step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/ledger/ledger.h"

enum { POOLS = 2, TEAMS = 3, JOBS = 12, HORIZON = 400, PERIOD = 37, SIZES = 6 };

static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* A job holds milli cards in bucket since t; milli 0 = not running. */
struct job {
    struct ledger_account account;
    enum ledger_bucket bucket;
    sim_time since;
    int64_t milli;
};

struct naive {
    int64_t capacity[POOLS], offline[POOLS], allocated[POOLS];
    int64_t input[POOLS][LEDGER_INPUT_COUNT];
    int64_t quota[POOLS][SIZES]; /* workloads of (1 + index) * 700 milli-cards */
    int64_t sum[POOLS][(HORIZON - 1) / PERIOD + 1][LEDGER_BUCKET_COUNT];
    struct job jobs[JOBS];
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* One nanosecond of everything, from the words of the contract. */
static void naive_step(struct naive *n, sim_time t)
{
    for (int p = 0; p < POOLS; p++) {
        int64_t *sum = n->sum[p][t / PERIOD];
        int64_t idle = n->capacity[p] - n->offline[p] - n->allocated[p], rest = idle;
        int64_t quota = 0, blocked = n->input[p][LEDGER_INPUT_WAITING];
        for (int s = 0; s < SIZES; s++) {
            int64_t size = (s + 1) * 700;
            *(size <= idle ? &quota : &blocked) += n->quota[p][s] * size;
        }
        int64_t want[4] = {n->input[p][LEDGER_INPUT_RESERVED], n->input[p][LEDGER_INPUT_UNPLACED],
                           quota, blocked};
        for (int i = 0; i < 4; i++) {
            int64_t part = least(want[i], rest);
            sum[LEDGER_IDLE_RESERVED + i] += part;
            rest -= part;
        }
        sum[LEDGER_IDLE_NO_DEMAND] += rest;
        sum[LEDGER_OFFLINE] += n->offline[p];
    }
    for (int j = 0; j < JOBS; j++)
        n->sum[n->jobs[j].account.pool][t / PERIOD][n->jobs[j].bucket] += n->jobs[j].milli;
}

static void change_job(struct ledger *l, struct naive *n, sim_time t, uint64_t *x)
{
    struct job *j = &n->jobs[next(x) % JOBS];
    uint32_t pool = j->account.pool;
    ledger_book(l, j->account, j->bucket, j->since, t, j->milli);
    int64_t idle = n->capacity[pool] - n->offline[pool] - n->allocated[pool] + j->milli;
    int64_t milli = next(x) % 3 ? (int64_t)(next(x) % (uint64_t)(idle + 1)) : 0;
    ledger_alloc_change(l, t, pool, milli - j->milli);
    n->allocated[pool] += milli - j->milli;
    j->milli = milli;
    j->since = t;
    j->bucket = (enum ledger_bucket)(LEDGER_FIRST_BOOKED +
                                     next(x) % (LEDGER_BUCKET_COUNT - LEDGER_FIRST_BOOKED));
}

static void change_input(struct ledger *l, struct naive *n, sim_time t, uint64_t *x)
{
    uint32_t p = (uint32_t)(next(x) % POOLS);
    if (next(x) % 2) {
        size_t s = next(x) % SIZES;
        int64_t delta = n->quota[p][s] > 0 && next(x) % 2 ? -1 : 1;
        n->quota[p][s] += delta;
        ledger_quota_wait_change(l, t, p, ((int64_t)s + 1) * 700, delta);
    } else {
        size_t which = next(x) % LEDGER_INPUT_COUNT;
        int64_t value = (int64_t)(next(x) % 4000);
        ledger_idle_input_change(l, t, p, (enum ledger_idle_input)which,
                                 value - n->input[p][which]);
        n->input[p][which] = value;
    }
}

static void change_cards(struct ledger *l, struct naive *n, sim_time t, uint64_t *x)
{
    uint32_t p = (uint32_t)(next(x) % POOLS);
    int64_t free_milli = n->capacity[p] - n->offline[p] - n->allocated[p];
    int64_t cut = (int64_t)(next(x) % (uint64_t)(free_milli + 1));
    if (next(x) % 2) {
        int64_t delta = next(x) % 2 ? 3000 : -cut;
        ledger_capacity_change(l, t, p, delta);
        n->capacity[p] += delta;
    } else {
        int64_t delta = next(x) % 2 ? cut : -n->offline[p];
        ledger_offline_change(l, t, p, delta);
        n->offline[p] += delta;
    }
}

static void run(uint64_t seed, struct naive *n)
{
    memset(n, 0, sizeof *n);
    struct ledger_config cfg = {POOLS, TEAMS, PERIOD, HORIZON};
    struct ledger *l = ledger_create(&cfg);
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
    for (int j = 0; j < JOBS; j++) {
        n->jobs[j].account = (struct ledger_account){
            (uint32_t)(next(&x) % POOLS), (int32_t)(next(&x) % (TEAMS + 1)) - 1,
            (enum ledger_class)(next(&x) % LEDGER_CLASS_COUNT)};
        n->jobs[j].bucket = LEDGER_STARTING;
    }
    for (sim_time t = 0; t < HORIZON; t++) {
        for (uint64_t k = next(&x) % 4; k > 0; k--) {
            switch (next(&x) % 3) {
            case 0:
                change_job(l, n, t, &x);
                break;
            case 1:
                change_input(l, n, t, &x);
                break;
            default:
                change_cards(l, n, t, &x);
            }
        }
        naive_step(n, t);
    }
    for (int j = 0; j < JOBS; j++)
        ledger_book(l, n->jobs[j].account, n->jobs[j].bucket, n->jobs[j].since, HORIZON,
                    n->jobs[j].milli);
    ledger_finish(l, HORIZON);
    struct ledger_query q = ledger_query_all();
    for (q.pool = 0; q.pool < POOLS; q.pool++)
        for (q.period = 0; q.period < (int64_t)ledger_period_count(l); q.period++)
            for (q.bucket = 0; q.bucket < LEDGER_BUCKET_COUNT; q.bucket++)
                assert_true(ledger_sum(l, q) == n->sum[q.pool][q.period][q.bucket]);
    ledger_destroy(l);
}

static void random_histories_close_and_agree_with_a_step_by_step_count(void **state)
{
    (void)state;
    static struct naive n;
    for (uint64_t seed = 1; seed <= 200; seed++)
        run(seed, &n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories_close_and_agree_with_a_step_by_step_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
