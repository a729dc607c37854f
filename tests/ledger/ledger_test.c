/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every expected number is worked out by hand in the comment beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/ledger/ledger.h"

#define CARD 1000

static struct ledger *make(uint32_t pools, uint32_t teams, sim_time period, sim_time horizon)
{
    struct ledger_config cfg = {pools, teams, period, horizon};
    return ledger_create(&cfg);
}

static i128 bucket_sum(const struct ledger *l, int32_t pool, int bucket, int64_t period)
{
    struct ledger_query q = ledger_query_all();
    q.pool = pool;
    q.bucket = bucket;
    q.period = period;
    return ledger_sum(l, q);
}

#define assert_card_s(l, bucket, period, expected)                                                 \
    assert_true(bucket_sum((l), 0, (bucket), (period)) ==                                          \
                (i128)(expected) * I128_MCNS_PER_CARD_S)

static void an_untouched_pool_is_idle_without_demand(void **state)
{
    (void)state;
    struct ledger *l = make(1, 0, SIM_HOUR, SIM_DAY);
    ledger_capacity_change(l, 0, 0, 10 * CARD);
    ledger_finish(l, SIM_DAY);
    assert_card_s(l, LEDGER_IDLE_NO_DEMAND, LEDGER_ANY, 10 * 86400);
    assert_card_s(l, LEDGER_IDLE_NO_DEMAND, 23, 10 * 3600);
    assert_int_equal(ledger_period_count(l), 24);
    assert_true(ledger_group_sum(l, 0, LEDGER_UNALLOCATED) ==
                ledger_capacity_integral(l, LEDGER_ANY, LEDGER_ANY));
    ledger_destroy(l);
}

static void a_segment_is_split_exactly_at_period_ends(void **state)
{
    (void)state;
    struct ledger *l = make(1, 2, SIM_HOUR, 4 * SIM_HOUR);
    struct ledger_account a = {0, 1, LEDGER_CLASS_TRAINING};
    sim_time t0 = SIM_HOUR - 7, t1 = 3 * SIM_HOUR + 11;
    ledger_capacity_change(l, 0, 0, 3 * CARD);
    ledger_alloc_change(l, t0, 0, 1500);
    ledger_book(l, a, LEDGER_TRAINING_USEFUL, t0, t1, 1500);
    ledger_alloc_change(l, t1, 0, -1500);
    ledger_finish(l, 4 * SIM_HOUR);
    assert_true(bucket_sum(l, 0, LEDGER_TRAINING_USEFUL, 0) == 1500 * 7);
    assert_true(bucket_sum(l, 0, LEDGER_TRAINING_USEFUL, 1) == (i128)1500 * SIM_HOUR);
    assert_true(bucket_sum(l, 0, LEDGER_TRAINING_USEFUL, 2) == (i128)1500 * SIM_HOUR);
    assert_true(bucket_sum(l, 0, LEDGER_TRAINING_USEFUL, 3) == 1500 * 11);
    struct ledger_query q = ledger_query_all();
    q.team = 1;
    q.workload_class = LEDGER_CLASS_TRAINING;
    assert_true(ledger_sum(l, q) == (i128)1500 * (t1 - t0));
    q.team = 0;
    assert_true(ledger_sum(l, q) == 0);
    ledger_destroy(l);
}

static void capacity_may_change_in_mid_period(void **state)
{
    (void)state;
    struct ledger *l = make(2, 0, SIM_DAY, SIM_DAY);
    ledger_capacity_change(l, 0, 1, 4 * CARD);
    ledger_capacity_change(l, 6 * SIM_HOUR, 1, 4 * CARD);
    ledger_capacity_change(l, 18 * SIM_HOUR, 1, -6 * CARD);
    ledger_finish(l, SIM_DAY);
    /* 6 h x 4 + 12 h x 8 + 6 h x 2 = 132 card-hours */
    assert_true(ledger_capacity_integral(l, 1, 0) == (i128)132 * 3600 * I128_MCNS_PER_CARD_S);
    assert_true(ledger_capacity_integral(l, 0, 0) == 0);
    ledger_destroy(l);
}

static void idle_is_split_in_the_order_of_its_causes(void **state)
{
    (void)state;
    struct ledger *l = make(1, 0, SIM_DAY, SIM_DAY);
    ledger_capacity_change(l, 0, 0, 20 * CARD);
    ledger_idle_input_change(l, 0, 0, LEDGER_INPUT_RESERVED, 3 * CARD);
    ledger_idle_input_change(l, 0, 0, LEDGER_INPUT_UNPLACED, 4 * CARD);
    ledger_quota_wait_change(l, 0, 0, 5 * CARD, 1);
    ledger_idle_input_change(l, 0, 0, LEDGER_INPUT_WAITING, 2 * CARD);
    ledger_finish(l, SIM_SECOND);
    /* 20 = 3 reserved + 4 fragmented + 5 quota + 2 blocked + 6 without demand */
    assert_card_s(l, LEDGER_IDLE_RESERVED, 0, 3);
    assert_card_s(l, LEDGER_IDLE_FRAGMENTED, 0, 4);
    assert_card_s(l, LEDGER_IDLE_QUOTA, 0, 5);
    assert_card_s(l, LEDGER_IDLE_BLOCKED, 0, 2);
    assert_card_s(l, LEDGER_IDLE_NO_DEMAND, 0, 6);
    ledger_destroy(l);
}

/* With 10 idle cards and the given inputs for one second: expected card-seconds of each part. */
struct split_case {
    int64_t reserved, unplaced, quota_size, quota_count, waiting; /* cards */
    int64_t expect[5];
};

static void every_part_is_cut_at_what_is_left(void **state)
{
    (void)state;
    static const struct split_case cases[] = {
        {0, 0, 1, 0, 0, {0, 0, 0, 0, 10}},
        {12, 5, 1, 5, 5, {10, 0, 0, 0, 0}},  /* holds larger than idle */
        {4, 12, 1, 5, 5, {4, 6, 0, 0, 0}},   /* fragmentation takes the rest */
        {1, 2, 3, 4, 5, {1, 2, 7, 0, 0}},    /* quota 12, cut at 7 */
        {0, 0, 10, 1, 0, {0, 0, 10, 0, 0}},  /* request equal to idle is quota */
        {0, 0, 11, 1, 0, {0, 0, 0, 10, 0}},  /* larger than idle is blocked */
        {6, 0, 8, 1, 0, {6, 0, 4, 0, 0}},    /* <= I counts, not <= rest: quota, cut at 4 */
        {6, 0, 8, 1, 9, {6, 0, 4, 0, 0}},    /* and nothing is left for other waiting */
        {0, 1, 11, 2, 3, {0, 1, 0, 9, 0}},   /* blocked: 22 + 3, cut at 9 */
        {0, 0, 1, 2, 3, {0, 0, 2, 3, 5}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct split_case *c = &cases[i];
        struct ledger *l = make(1, 0, SIM_HOUR, SIM_HOUR);
        ledger_capacity_change(l, 0, 0, 10 * CARD);
        ledger_idle_input_change(l, 0, 0, LEDGER_INPUT_RESERVED, c->reserved * CARD);
        ledger_idle_input_change(l, 0, 0, LEDGER_INPUT_UNPLACED, c->unplaced * CARD);
        ledger_idle_input_change(l, 0, 0, LEDGER_INPUT_WAITING, c->waiting * CARD);
        if (c->quota_count > 0)
            ledger_quota_wait_change(l, 0, 0, c->quota_size * CARD, c->quota_count);
        ledger_finish(l, SIM_SECOND);
        for (int b = 0; b < 5; b++)
            assert_card_s(l, LEDGER_IDLE_RESERVED + b, 0, c->expect[b]);
        ledger_destroy(l);
    }
}

static void a_request_turns_from_quota_to_blocked_as_idle_shrinks(void **state)
{
    (void)state;
    struct ledger *l = make(1, 1, SIM_DAY, SIM_DAY);
    struct ledger_account a = {0, 0, LEDGER_CLASS_INFERENCE};
    ledger_capacity_change(l, 0, 0, 10 * CARD);
    ledger_quota_wait_change(l, 0, 0, 8 * CARD, 1);
    ledger_quota_wait_change(l, 0, 0, 2 * CARD, 1);
    ledger_alloc_change(l, 5 * SIM_SECOND, 0, 3 * CARD);
    ledger_book(l, a, LEDGER_SERVING, 5 * SIM_SECOND, 9 * SIM_SECOND, 3 * CARD);
    ledger_finish(l, 9 * SIM_SECOND);
    /* 5 s: I = 10, quota 8 + 2 = 10. 4 s: I = 7, quota 2, the gang of 8 blocks the other 5. */
    assert_card_s(l, LEDGER_IDLE_QUOTA, 0, 5 * 10 + 4 * 2);
    assert_card_s(l, LEDGER_IDLE_BLOCKED, 0, 4 * 5);
    assert_card_s(l, LEDGER_SERVING, 0, 12);
    ledger_destroy(l);
}

static void states_within_one_instant_do_not_count(void **state)
{
    (void)state;
    struct ledger *l = make(1, 1, SIM_DAY, SIM_DAY);
    ledger_capacity_change(l, 0, 0, 2 * CARD);
    ledger_alloc_change(l, SIM_SECOND, 0, 8 * CARD); /* more than there is, for no time at all */
    ledger_idle_input_change(l, SIM_SECOND, 0, LEDGER_INPUT_WAITING, -CARD);
    ledger_idle_input_change(l, SIM_SECOND, 0, LEDGER_INPUT_WAITING, 2 * CARD);
    ledger_alloc_change(l, SIM_SECOND, 0, -8 * CARD);
    ledger_finish(l, 3 * SIM_SECOND);
    assert_card_s(l, LEDGER_IDLE_BLOCKED, 0, 2 * 1);
    assert_card_s(l, LEDGER_IDLE_NO_DEMAND, 0, 2 * 1 + 2 * 1);
    ledger_destroy(l);
}

static void the_four_utilisations_leave_offline_out(void **state)
{
    (void)state;
    struct ledger *l = make(1, 1, SIM_DAY, SIM_DAY);
    struct ledger_account a = {0, 0, LEDGER_CLASS_TRAINING};
    sim_time end = 10 * SIM_SECOND;
    ledger_capacity_change(l, 0, 0, 12 * CARD);
    ledger_offline_change(l, 0, 0, 2 * CARD); /* 10 available, 100 card-s */
    ledger_alloc_change(l, 0, 0, 8 * CARD);
    ledger_book(l, a, LEDGER_LOADING, 0, end, 2 * CARD);         /* 20 */
    ledger_book(l, a, LEDGER_TRAINING_USEFUL, 0, end, 3 * CARD); /* 30 */
    ledger_book(l, a, LEDGER_TRAINING_REWORK, 0, end, 2 * CARD); /* 20 */
    ledger_book(l, a, LEDGER_SHARING_OVERHEAD, 0, end, 1 * CARD); /* 10 */
    ledger_work(l, 0, i128_mcns(CARD, 25 * SIM_SECOND));
    ledger_finish(l, end);
    struct ledger_utilisation u = ledger_utilisations(l, LEDGER_ANY);
    assert_true(u.allocated == 0.8);
    assert_true(u.real == 0.6);
    assert_true(u.useful == 0.3);
    assert_true(u.work == 0.25);
    assert_card_s(l, LEDGER_OFFLINE, 0, 20);
    ledger_destroy(l);
}

static void amounts_from_a_closed_form_land_in_the_period_of_their_instant(void **state)
{
    (void)state;
    struct ledger *l = make(1, 1, SIM_HOUR, 2 * SIM_HOUR);
    struct ledger_account a = {0, 0, LEDGER_CLASS_LORA};
    ledger_capacity_change(l, 0, 0, CARD);
    ledger_alloc_change(l, 0, 0, CARD);
    i128 busy = 123456789;
    ledger_book_amount(l, a, LEDGER_LORA_USEFUL, 0, busy);
    ledger_book_amount(l, a, LEDGER_SERVING_HEADROOM, 0, (i128)CARD * SIM_HOUR - busy);
    ledger_book_amount(l, a, LEDGER_LORA_USEFUL, SIM_HOUR, (i128)CARD * SIM_HOUR);
    ledger_finish(l, 2 * SIM_HOUR);
    assert_true(bucket_sum(l, 0, LEDGER_LORA_USEFUL, 0) == busy);
    assert_true(bucket_sum(l, 0, LEDGER_LORA_USEFUL, 1) == (i128)CARD * SIM_HOUR);
    ledger_destroy(l);
}

static void rows_come_in_order_and_sum_to_capacity(void **state)
{
    (void)state;
    struct ledger *l = make(2, 1, SIM_HOUR, 2 * SIM_HOUR);
    struct ledger_account a = {1, 0, LEDGER_CLASS_TRAINING};
    ledger_capacity_change(l, 0, 0, CARD);
    ledger_capacity_change(l, 0, 1, 2 * CARD);
    ledger_alloc_change(l, SIM_HOUR, 1, CARD);
    ledger_book(l, a, LEDGER_GANG_WAIT, SIM_HOUR, 2 * SIM_HOUR, CARD);
    ledger_finish(l, 2 * SIM_HOUR);
    struct ledger_cursor at = {0};
    struct ledger_row r, rows[8];
    size_t n = 0;
    i128 sum = 0;
    while (ledger_next_row(l, &at, &r)) {
        assert_true(n < 8);
        rows[n++] = r;
        sum += r.mcns;
    }
    assert_int_equal(n, 5); /* two pools idle, twice, and one gang that waits */
    assert_int_equal(rows[2].period, 1);
    assert_int_equal(rows[3].pool, 1);
    assert_int_equal(rows[3].team, LEDGER_NO_TEAM);
    assert_int_equal(rows[4].team, 0);
    assert_string_equal(ledger_bucket_name(rows[4].bucket), "gang_wait");
    assert_string_equal(ledger_class_name(rows[4].workload_class), "training");
    assert_null(ledger_class_name(rows[3].workload_class));
    assert_true(sum == ledger_capacity_integral(l, LEDGER_ANY, LEDGER_ANY));
    ledger_destroy(l);
}

/* --- what must not pass ----------------------------------------------------------------------- */

typedef void broken_run(struct ledger *l);

static void book_one_ns_too_little(struct ledger *l)
{
    struct ledger_account a = {0, 0, LEDGER_CLASS_TRAINING};
    ledger_book(l, a, LEDGER_TRAINING_USEFUL, 0, 10 * SIM_SECOND - 1, 4 * CARD);
}

static void book_in_the_wrong_period(struct ledger *l)
{
    struct ledger_account a = {0, 0, LEDGER_CLASS_TRAINING};
    ledger_book(l, a, LEDGER_TRAINING_USEFUL, 0, SIM_SECOND, 4 * CARD);
    ledger_book_amount(l, a, LEDGER_TRAINING_USEFUL, 0, (i128)36000 * SIM_SECOND);
}

static void forget_to_free(struct ledger *l)
{
    struct ledger_account a = {0, 0, LEDGER_CLASS_TRAINING};
    ledger_book(l, a, LEDGER_TRAINING_USEFUL, 0, 9 * SIM_SECOND, 4 * CARD);
}

static void allocate_more_than_there_is(struct ledger *l)
{
    ledger_alloc_change(l, SIM_SECOND, 0, 4 * CARD);
}

static void book_an_idle_bucket(struct ledger *l)
{
    struct ledger_account a = {0, 0, LEDGER_CLASS_NONE};
    ledger_book(l, a, LEDGER_IDLE_BLOCKED, 0, 1, CARD);
}

static void go_back_in_time(struct ledger *l)
{
    ledger_alloc_change(l, 2, 0, 0);
    ledger_alloc_change(l, 1, 0, 0);
}

static void all_is_well(struct ledger *l)
{
    struct ledger_account a = {0, 0, LEDGER_CLASS_TRAINING};
    ledger_book(l, a, LEDGER_TRAINING_USEFUL, 0, 10 * SIM_SECOND, 4 * CARD);
}

/* Signal that ended a child which ran 4 of 5 cards for ten 1 s periods and booked as told. */
static int signal_of(broken_run *run)
{
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int s = 1; s < 32; s++)
            if (s != SIGKILL && s != SIGSTOP)
                signal(s, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(3);
        struct ledger *l = make(1, 1, SIM_SECOND, 10 * SIM_SECOND);
        ledger_capacity_change(l, 0, 0, 5 * CARD);
        ledger_alloc_change(l, 0, 0, 4 * CARD);
        run(l);
        ledger_finish(l, 10 * SIM_SECOND);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_broken_transition_makes_the_assertion_fire(void **state)
{
    (void)state;
    assert_int_equal(signal_of(all_is_well), 0);
    assert_int_equal(signal_of(book_one_ns_too_little), SIGABRT);
    assert_int_equal(signal_of(book_in_the_wrong_period), SIGABRT);
    assert_int_equal(signal_of(forget_to_free), SIGABRT);
    assert_int_equal(signal_of(allocate_more_than_there_is), SIGABRT);
    assert_int_equal(signal_of(book_an_idle_bucket), SIGABRT);
    assert_int_equal(signal_of(go_back_in_time), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_untouched_pool_is_idle_without_demand),
        cmocka_unit_test(a_segment_is_split_exactly_at_period_ends),
        cmocka_unit_test(capacity_may_change_in_mid_period),
        cmocka_unit_test(idle_is_split_in_the_order_of_its_causes),
        cmocka_unit_test(every_part_is_cut_at_what_is_left),
        cmocka_unit_test(a_request_turns_from_quota_to_blocked_as_idle_shrinks),
        cmocka_unit_test(states_within_one_instant_do_not_count),
        cmocka_unit_test(the_four_utilisations_leave_offline_out),
        cmocka_unit_test(amounts_from_a_closed_form_land_in_the_period_of_their_instant),
        cmocka_unit_test(rows_come_in_order_and_sum_to_capacity),
        cmocka_unit_test(a_broken_transition_makes_the_assertion_fire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
