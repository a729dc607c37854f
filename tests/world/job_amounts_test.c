/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that bring cpu and memory of their own (docs/jobs-file.md), through whole runs counted by hand. */
#include <string.h>

#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define S INT64_C(1000) /* card-milliseconds of a card-second */

#define ONE_NODE(allocatable)                                                                      \
    "name: one-node\nhorizon: 1h\ntransfer: {processStart: 0s}\n"                                  \
    "fleet: {nodePools: [{name: p, card: H100-80, nodes: 1, cardsPerNode: 8, price: 1usd/h" allocatable "}]}\n" \
    "queues: [{name: q, cards: {p: 8}}]\n"                                                         \
    "demand:\n  training:\n"                                                                       \
    "    - {name: s, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}, resources: {cpu: 1}}\n" \
    "arbiters:\n  - {preset: cohort, requeueBatch: 0s}\n"

/* A takes 10 of 16 cpus; B wants 10 and waits for its end; C is of cpu alone and fits beside A; D has the
 * stream's one cpu, but more memory than A and C leave. */
#define JOBS "submit_s,duration_s,cards_per_worker,cpu,memory_mib\n" \
             "0,100,1,10,40960\n1,100,1,10,1024\n2,50,0,5,8192\n3,100,2,,24576\n"

static double finish_of(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "workload"); i++)
        if (strcmp(told_text(t, "workload", i, "id"), id) == 0)
            return told_real(t, "workload", i, "finish_s");
    return -1;
}

static struct told *tell_jobs(const char *yaml)
{
    return tell(&(struct story){.yaml = yaml, .jobs = JOBS, .level = RECORD_LEVEL_FULL});
}

static void jobs_wait_for_their_own_cpu_and_memory(void **state)
{
    (void)state;
    struct told *t = tell_jobs(ONE_NODE(", allocatable: {cpu: 16, memory: 64Gi}"));
    assert_near(finish_of(t, "s-0"), 100, 1e-6);
    assert_near(finish_of(t, "s-1"), 200, 1e-6); /* A's cpu */
    assert_near(finish_of(t, "s-2"), 52, 1e-6);
    assert_near(finish_of(t, "s-3"), 152, 1e-6); /* C's memory */
    told_free(t);
}

static void a_job_of_cpu_alone_holds_no_card(void **state)
{
    (void)state;
    struct told *t = tell_jobs(ONE_NODE(", allocatable: {cpu: 16, memory: 64Gi}"));
    assert_int_equal(told_card_ms(t, "training_useful"), (100 + 100 + 2 * 100) * S);
    assert_int_equal(told_card_ms_all(t), 8 * 3600 * S);
    told_free(t);
}

static void where_no_node_says_how_much_it_has_nobody_waits(void **state)
{
    (void)state;
    struct told *t = tell_jobs("name: one-node\nhorizon: 1h\ntransfer: {processStart: 0s}\n"
                               "fleet: {nodePools: [{name: p, card: H100-80, nodes: 1, cardsPerNode: 8, price: 1usd/h}]}\n"
                               "queues: [{name: q, cards: {p: 8}}]\n"
                               "demand: {training: [{name: s, queue: q, file: jobs.csv, restart: 0s, checkpoint: {interval: 0s}}]}\n"
                               "arbiters:\n  - {preset: cohort, requeueBatch: 0s}\n");
    assert_near(finish_of(t, "s-1"), 101, 1e-6);
    assert_near(finish_of(t, "s-3"), 103, 1e-6);
    told_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_wait_for_their_own_cpu_and_memory),
        cmocka_unit_test(a_job_of_cpu_alone_holds_no_card),
        cmocka_unit_test(where_no_node_says_how_much_it_has_nobody_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
