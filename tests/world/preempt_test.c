/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Preemption by the scheduler in worlds that can be counted by hand. Quotas are larger than the
 * fleet (Kueue knows no nodes: kueue#3210), so that workloads are admitted that find no node.
 */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

#define WORLD(nodes, quota, checkpoint, arbiter)                                                   \
    "name: preempt\n"                                                                              \
    "horizon: 6h\n"                                                                                \
    "fleet: {nodePools: [{name: a, card: H100-80, nodes: " nodes ", pricePerCard: 1usd/h}]}\n"      \
    "transfer: {processStart: 0s}\n"                                                               \
    "priorityClasses:\n"                                                                           \
    "  - {name: urgent, value: 10}\n"                                                              \
    "  - {name: patient, value: 20, preemptionPolicy: Never}\n"                                    \
    "queues: [{name: q, cards: {a: " quota "}}]\n"                                                  \
    "demand:\n"                                                                                    \
    "  training:\n"                                                                                \
    "    - {name: s, queue: q, restart: 0s, checkpoint: " checkpoint ", file: jobs.csv}\n"          \
    "arbiters: [{preset: cohort, requeueBatch: 0s, " arbiter "}]\n"
#define CHECKPOINTS "{interval: 1000s, stall: 100s}"
#define NO_CHECKPOINTS "{interval: 0s, stall: 0s}"
#define JOBS "submit_s,duration_s,cards_per_worker,workers,priority\n"

/* As jobs_test's eviction by the policy: A has computed 3200 s at 3500, of which 3000 s are saved;
 * B runs from 3530 to 4030; A goes on until 11630. */
static void a_job_without_a_node_takes_that_of_a_lower_priority(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = WORLD("1", "16", CHECKPOINTS, "schedulerPreemption: true"),
        .jobs = JOBS "0,10000,8,1,0\n3500,500,8,1,10\n"});
    assert_int_equal(told_card_ms(t, "training_useful"), (10000 + 500) * 8 * S);
    assert_int_equal(told_card_ms(t, "training_rework"), 200 * 8 * S);
    assert_int_equal(told_card_ms(t, "draining"), 30 * 8 * S);
    assert_int_equal(told_card_ms(t, "idle_no_demand"), (6 * 3600 - 11630) * 8 * S);
    assert_int_equal(told_card_ms_all(t), 6 * 3600 * 8 * S);
    assert_near(told_metric(t, "training.lost"), 200 * 8 / 3600.0, 1e-12);
    assert_near(told_metric(t, "training.wait.max"), 30, 0);
    assert_near(told_metric(t, "training.preemptions"), 0, 0); /* the policy evicted nobody */
    assert_near(told_metric(t, "scheduler.preemptions"), 1, 0);
    assert_near(told_metric(t, "scheduler.gangs_broken"), 0, 0);
    told_free(t);
}

/* A runs undisturbed until 10900 (nine stalls). */
static void waits(const char *yaml, const char *jobs)
{
    struct told *t = tell(&(struct story){.yaml = yaml, .jobs = jobs});
    assert_near(told_metric(t, "training.wait.max"), 10900 - 3500, 0);
    assert_near(told_metric(t, "training.lost"), 0, 0);
    told_free(t);
}

static void never_and_equal_priority_and_no_switch_wait(void **state)
{
    (void)state;
    waits(WORLD("1", "16", CHECKPOINTS, "schedulerPreemption: true"), JOBS "0,10000,8,1,0\n3500,500,8,1,20\n");
    waits(WORLD("1", "16", CHECKPOINTS, "schedulerPreemption: true"), JOBS "0,10000,8,1,10\n3500,500,8,1,10\n");
    waits(WORLD("1", "16", CHECKPOINTS, "schedulerPreemption: false"), JOBS "0,10000,8,1,0\n3500,500,8,1,10\n");
}

/* Never is no protection: the patient job goes for one of a higher priority. */
static void a_patient_job_is_evicted_like_any_other(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = WORLD("1", "16", CHECKPOINTS, "schedulerPreemption: true"),
        .jobs = JOBS "0,10000,8,1,20\n3500,500,8,1,30\n"});
    assert_near(told_metric(t, "scheduler.preemptions"), 1, 0);
    assert_near(told_metric(t, "training.wait.max"), 30, 0);
    told_free(t);
}

/* Two pods on two nodes. One loses its node at 3500 and finds it again at 4030; the other holds its
 * cards all the while. Without checkpoints 3500 s on 16 cards are lost. */
static void one_lost_pod_breaks_its_gang(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = WORLD("2", "32", NO_CHECKPOINTS, "schedulerPreemption: true, gang: pods"),
        .jobs = JOBS "0,10000,8,2,0\n3500,500,8,1,10\n"});
    assert_int_equal(told_card_ms(t, "gang_wait"), 530 * 8 * S);
    assert_int_equal(told_card_ms(t, "draining"), 30 * 8 * S);
    assert_int_equal(told_card_ms(t, "training_rework"), 3500 * 16 * S);
    assert_near(told_metric(t, "scheduler.preemptions"), 1, 0);
    assert_near(told_metric(t, "scheduler.gangs_broken"), 1, 0);
    assert_near(told_metric(t, "scheduler.gang_lost"), 3500 * 16 / 3600.0, 1e-9);
    told_free(t);
}

/* Placed whole, the gang leaves whole: its second node is idle until both are free again. */
static void a_gang_that_is_placed_whole_leaves_whole(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = WORLD("2", "32", NO_CHECKPOINTS, "schedulerPreemption: true"),
        .jobs = JOBS "0,10000,8,2,0\n3500,500,8,1,10\n"});
    assert_int_equal(told_card_ms(t, "gang_wait"), 0);
    assert_int_equal(told_card_ms(t, "draining"), 30 * 16 * S);
    assert_int_equal(told_card_ms(t, "idle_fragmented"), 500 * 8 * S);
    assert_int_equal(told_card_ms(t, "training_useful"), (10000 * 16 + 500 * 8) * S);
    assert_near(told_metric(t, "scheduler.gangs_broken"), 1, 0);
    told_free(t);
}

/* The third job comes at the instant when the cards come free, with a smaller priority. */
static void the_room_is_for_who_made_it(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = WORLD("1", "24", CHECKPOINTS, "schedulerPreemption: true"),
        .jobs = JOBS "0,1500,8,1,0\n100,500,8,1,10\n130,500,8,1,5\n"});
    assert_near(told_metric(t, "scheduler.preemptions"), 1, 0);
    assert_near(told_metric(t, "training.wait.max"), 630 - 130, 0); /* before the first job, too */
    told_free(t);
}

/* The second node is held by an equal: evicting the first would not help the gang. */
static void a_whole_gang_evicts_nobody_in_vain(void **state)
{
    (void)state;
    struct told *t = tell(&(struct story){
        .yaml = WORLD("2", "32", NO_CHECKPOINTS, "schedulerPreemption: true"),
        .jobs = JOBS "0,5000,8,1,0\n0,3000,8,1,10\n100,500,8,2,10\n"});
    /* at 3000 the second node is free, and the first one's job goes: 3030 */
    assert_near(told_metric(t, "scheduler.preemptions"), 1, 0);
    assert_near(told_metric(t, "training.wait.max"), 3030 - 100, 0);
    assert_near(told_metric(t, "training.lost"), 3000 * 8 / 3600.0, 1e-9);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_without_a_node_takes_that_of_a_lower_priority),
        cmocka_unit_test(never_and_equal_priority_and_no_switch_wait),
        cmocka_unit_test(a_patient_job_is_evicted_like_any_other),
        cmocka_unit_test(one_lost_pod_breaks_its_gang),
        cmocka_unit_test(a_gang_that_is_placed_whole_leaves_whole),
        cmocka_unit_test(the_room_is_for_who_made_it),
        cmocka_unit_test(a_whole_gang_evicts_nobody_in_vain),
    };
    return cmocka_run_group_tests_name("scheduler preemption", tests, NULL, NULL);
}
