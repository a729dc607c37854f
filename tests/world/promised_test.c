/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes promised to preemptors while their victims drain (kube-scheduler: nominated pods), in worlds that
 * can be counted by hand, and in random ones where nobody needs to evict twice. Pods drain for 30 s.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/fleet/fleet.h"
#include "sim/rng.h"
#include "tests/demand/near.h"
#include "tests/world/world_help.h"

#define WORLD(fleet, streams, arbiter)                                                             \
    "name: promised\nhorizon: 6h\ntransfer: {processStart: 0s}\n"                                  \
    "fleet: {nodePools: [{name: p, price: 1usd/h, " fleet "}]}\n"                                    \
    "sharingModel: {switchLoss: 0, hamiOverhead: 0}\n"                                             \
    "queues: [{name: q, cards: {p: 1000}}]\n"                                                      \
    "demand:\n" streams                                                                            \
    "arbiters: [{preset: cohort, requeueBatch: 0s, schedulerPreemption: true, " arbiter "}]\n"
#define STREAM(name, file, more)                                                                   \
    "    - {name: " name ", queue: q, file: " file ", restart: 0s, checkpoint: {interval: 0s, stall: 0s}" more "}\n"
#define WHOLE(nodes, arbiter) WORLD("card: H100-80, nodes: " nodes, "  training:\n" STREAM("s", "jobs.csv", ""), arbiter)
#define JOBS "submit_s,duration_s,cards_per_worker,workers,priority\n"

static struct told *told_of(const char *yaml, const char *jobs, const char *more)
{
    return tell(&(struct story){.yaml = yaml, .jobs = jobs, .traffic = more, .level = RECORD_LEVEL_FULL});
}

static double finish_of(const struct told *t, const char *id)
{
    for (int32_t i = 0; i < told_rows(t, "workload"); i++)
        if (strcmp(told_text(t, "workload", i, "id"), id) == 0)
            return told_real(t, "workload", i, "finish_s");
    return -1;
}

static void evictions(struct told *t, int expected)
{
    assert_near(told_metric(t, "scheduler.preemptions"), expected, 0);
}

/* ---- whole cards ---- */

/* A (4 of 8 cards) drains from 100 for B (8). C would fit on the other four at 110; it waits for B, which runs from
 * 130 to 630 and has evicted once. Then A starts anew, beside C. */
static void room_beside_a_victim_is_kept_for_its_preemptor(void **state)
{
    (void)state;
    struct told *t = told_of(WHOLE("1", "evictionGrace: 30s"), JOBS "0,1000,4,1,0\n100,500,8,1,10\n110,300,4,1,0\n", NULL);
    evictions(t, 1);
    assert_near(finish_of(t, "s-1"), 630, 1e-6);
    assert_near(finish_of(t, "s-2"), 930, 1e-6);
    assert_near(finish_of(t, "s-0"), 1630, 1e-6);
    told_free(t);
}

/* The same with C of B's priority, which B's promise binds as well; and of a higher one, which it does not: C runs from
 * 110 to 410. Then nobody below B is left at 130, so that it is promised nothing and A starts anew beside C; at 410 B
 * evicts A once more, and runs from 440 to 940. */
static void equals_wait_too_and_higher_priorities_do_not(void **state)
{
    (void)state;
    struct told *t = told_of(WHOLE("1", "evictionGrace: 30s"), JOBS "0,1000,4,1,0\n100,500,8,1,10\n110,300,4,1,10\n", NULL);
    evictions(t, 1);
    assert_near(finish_of(t, "s-1"), 630, 1e-6);
    assert_near(finish_of(t, "s-2"), 930, 1e-6);
    told_free(t);
    t = told_of(WHOLE("1", "evictionGrace: 30s"), JOBS "0,1000,4,1,0\n100,500,8,1,10\n110,300,4,1,20\n", NULL);
    assert_near(finish_of(t, "s-2"), 410, 1e-6);
    assert_near(finish_of(t, "s-1"), 940, 1e-6);
    assert_near(finish_of(t, "s-0"), 1940, 1e-6);
    evictions(t, 2);
    told_free(t);
}

/* B waits for A to leave; C comes with a higher priority at 110 and counts on A as well: nobody else need go. It runs
 * from 130 to 630, then B to 1130, then A anew. */
static void a_higher_priority_takes_the_promised_node(void **state)
{
    (void)state;
    struct told *t = told_of(WHOLE("1", "evictionGrace: 30s"), JOBS "0,10000,8,1,0\n100,500,8,1,10\n110,500,8,1,20\n", NULL);
    evictions(t, 1);
    assert_near(finish_of(t, "s-2"), 630, 1e-6);
    assert_near(finish_of(t, "s-1"), 1130, 1e-6);
    assert_near(finish_of(t, "s-0"), 11130, 1e-6);
    told_free(t);
}

/* B (6 cards) waits for A (4) on the first node; the second is C's until 120. B goes there then, and at that instant
 * D (4 cards, there since 110) gets the other half of the first node: until 420. A starts anew at 130. */
static void who_finds_room_elsewhere_frees_its_promise(void **state)
{
    (void)state;
    struct told *t = told_of(WHOLE("2", "evictionGrace: 30s"),
                             JOBS "0,1000,4,1,0\n0,120,8,1,10\n100,500,6,1,10\n110,300,4,1,0\n", NULL);
    evictions(t, 1);
    assert_near(finish_of(t, "s-2"), 620, 1e-6);
    assert_near(finish_of(t, "s-3"), 420, 1e-6);
    assert_near(finish_of(t, "s-0"), 1130, 1e-6);
    told_free(t);
}

/* Twelve jobs of one card on two nodes. A gang of two times eight evicts them all at 1000. Of the four cards that are
 * free the twenty that come until 1020 get none; the gang runs from 1030 to 1530. */
static void small_pods_do_not_get_between_a_whole_gang_and_its_nodes(void **state)
{
    (void)state;
    char jobs[4096];
    size_t n = (size_t)snprintf(jobs, sizeof jobs, JOBS);
    for (int i = 0; i < 12; i++)
        n += (size_t)snprintf(jobs + n, sizeof jobs - n, "0,5000,1,1,0\n");
    n += (size_t)snprintf(jobs + n, sizeof jobs - n, "1000,500,8,2,10\n");
    for (int i = 1; i <= 20; i++)
        n += (size_t)snprintf(jobs + n, sizeof jobs - n, "%d,100,1,1,0\n", 1000 + i);
    static const char *const worlds[] = {WHOLE("2", "evictionGrace: 30s"), WHOLE("2", "evictionGrace: 30s, placement: spread"),
                                         WHOLE("2", "evictionGrace: 30s, placement: random")};
    for (size_t k = 0; k < sizeof worlds / sizeof *worlds; k++) {
        struct told *t = told_of(worlds[k], jobs, NULL);
        evictions(t, 12);
        assert_near(finish_of(t, "s-12"), 1530, 1e-6);
        told_free(t);
    }
}

/* The first worker finds a free node at 100, and only the second needs a victim: both nodes are promised. C, which comes
 * at 110, waits until 630. */
static void a_free_node_is_promised_to_a_gang_as_well(void **state)
{
    (void)state;
    struct told *t = told_of(WHOLE("2", "evictionGrace: 30s"), JOBS "0,1000,8,1,0\n100,500,8,2,10\n110,300,8,1,0\n", NULL);
    evictions(t, 1);
    assert_near(finish_of(t, "s-1"), 630, 1e-6);
    assert_near(finish_of(t, "s-2"), 930, 1e-6);
    told_free(t);
}

/* A and B (4 cards each) drain for two preemptors of 4; no third pod goes for the one that comes later. */
static void two_preemptors_share_a_node(void **state)
{
    (void)state;
    struct told *t = told_of(WHOLE("1", "evictionGrace: 30s"),
                             JOBS "0,1000,8,1,0\n100,500,4,1,10\n110,500,4,1,10\n115,100,1,1,0\n", NULL);
    evictions(t, 1);
    assert_near(finish_of(t, "s-1"), 630, 1e-6);
    assert_near(finish_of(t, "s-2"), 630, 1e-6);
    assert_near(finish_of(t, "s-3"), 730, 1e-6);
    told_free(t);
}

/* ---- shares of a card ---- */

#define SHARED(sharing, a, b)                                                                      \
    WORLD("card: A100-40, nodes: 1, cardsPerNode: 1, sharing: {" sharing "}",                      \
          "  lora:\n" STREAM("a", "jobs.csv", ", duty: 0.1, " a) STREAM("b", "traffic.csv", ", duty: 1, " b), "evictionGrace: 30s")

/* A tenth of the card drains from 100 for a job that wants all of it. Another tenth comes every three seconds; the
 * newcomer gets the card at 130 and keeps it for its 500 s. */
static void shares(const char *yaml, double finish)
{
    char jobs[1024];
    size_t n = (size_t)snprintf(jobs, sizeof jobs, "submit_s,duration_s,priority\n0,3000,0\n");
    for (int i = 1; i <= 8; i++)
        n += (size_t)snprintf(jobs + n, sizeof jobs - n, "%d,100,0\n", 100 + 3 * i);
    struct told *t = told_of(yaml, jobs, "submit_s,duration_s,priority\n100,500,10\n");
    evictions(t, 1);
    assert_near(finish_of(t, "b-0"), finish, 1e-6);
    told_free(t);
}

static void a_card_that_drains_is_kept_under_every_mechanism(void **state)
{
    (void)state;
    shares(SHARED("mechanism: hami", "share: 0.1, gpumem: 4096, gpucores: 10", "share: 0.9, gpumem: 36864, gpucores: 100"), 630);
    shares(SHARED("mechanism: hami", "share: 0.1, gpumem: 4096, gpucores: 10", "share: 0.95, gpumem: 38912, gpucores: 50"), 630);
    /* a second to destroy an instance, a second to make one */
    shares(SHARED("mechanism: mig, dynamic: true", "share: 0.1, computeDemand: 0.1, profile: 1g.5gb",
                  "share: 0.9, computeDemand: 0.1, profile: 7g.40gb"), 632);
    shares(WORLD("card: A100-40, nodes: 1, cardsPerNode: 1",
                 "  lora:\n" STREAM("a", "jobs.csv", ", share: 0.1, duty: 0.1") STREAM("b", "traffic.csv", ", share: 0.95, duty: 1"),
                 "evictionGrace: 30s"), 630);
}

/* ---- random worlds ---- */

/* Preemptors have the highest priority there is: nobody takes what was promised to them. */
struct kind {
    const char *fleet, *streams;
    int cards, workers; /* of a preemptor at most; 0: it asks for a share */
    bool low_cards;     /* so do the others: 1 to 4 */
};
#define TWO(class, a, b) "  " class ":\n" STREAM("a", "jobs.csv", a) STREAM("b", "traffic.csv", b)
#define SMALL(sharing) "card: A100-40, nodes: 3, cardsPerNode: 2" sharing
static const struct kind kinds[] = {
    {"card: A100-40, nodes: 6, cardsPerNode: 4", TWO("training", "", ""), 4, 3, true},
    {SMALL(""), TWO("lora", ", share: 0.3, duty: 0.1", ", share: 0.8, duty: 0.5"), 0, 0, false},
    {SMALL(""), "  lora:\n" STREAM("a", "jobs.csv", ", share: 0.3, duty: 0.1") "  training:\n" STREAM("b", "traffic.csv", ""), 2, 2, false},
    {SMALL(", sharing: {mechanism: hami}"),
     TWO("lora", ", duty: 0.1, share: 0.2, gpumem: 8192, gpucores: 10", ", duty: 0.5, share: 0.9, gpumem: 36864, gpucores: 100"), 0, 0, false},
    {SMALL(", sharing: {mechanism: hami}"),
     TWO("lora", ", duty: 0.1, share: 0.2, gpumem: 8192, gpucores: 30", ", duty: 0.5, share: 0.6, gpumem: 20000, gpucores: 60"), 0, 0, false},
    {SMALL(", sharing: {mechanism: mig}"),
     TWO("lora", ", duty: 0.5, share: 0.5, computeDemand: 0.1, profile: 3g.20gb", ", duty: 0.5, share: 0.5, computeDemand: 0.1, profile: 3g.20gb"), 0, 0, false},
    {SMALL(", sharing: {mechanism: mig, dynamic: true}"),
     TWO("lora", ", duty: 0.5, share: 0.1, profile: 2g.10gb", ", duty: 0.5, share: 0.5, computeDemand: 0.1, profile: 4g.20gb"), 0, 0, false},
    {SMALL(", sharing: {mechanism: time-slicing, replicas: 4}"), TWO("training", "", ""), 6, 1, true},
};
static const char *const rules[] = {"binpack", "spread", "random", "fgd", "best-fit"};
enum { KINDS = sizeof kinds / sizeof *kinds, RULES = sizeof rules / sizeof *rules, LOW = 150, HIGH = 50, TEXT = 8192 };

static void some_jobs(char *text, struct rng *r, int count, int cards, int workers, bool high)
{
    uint64_t at = 0, step = 14000 / (uint64_t)count;
    size_t n = (size_t)snprintf(text, TEXT, "submit_s,duration_s,priority%s\n", cards > 0 ? ",cards_per_worker,workers" : "");
    for (int i = 0; i < count; i++) {
        at += rng_below(r, 2 * step);
        n += (size_t)snprintf(text + n, TEXT - n, "%d,%d,%d", (int)at, 100 + (int)rng_below(r, 1500),
                              high ? 10 : rng_below(r, 3) == 0 ? 5 : 0);
        if (cards > 0)
            n += (size_t)snprintf(text + n, TEXT - n, ",%d,%d", 1 + (int)rng_below(r, (uint64_t)cards), 1 + (int)rng_below(r, (uint64_t)workers));
        n += (size_t)snprintf(text + n, TEXT - n, "\n");
        assert_true(n < TEXT);
    }
}

/* Evictions; each preemptor has them all at one instant. */
static int once_each(const struct told *t, const char *what)
{
    int64_t when[HIGH];
    int evictions = 0;
    size_t at = 0;
    memset(when, -1, sizeof when);
    for (const struct row *d; (d = told_next(t, "decision", &at)) != NULL;) {
        if (strcmp(row_text(d, "kind"), "preempts") != 0 || row_text(d, "workload")[0] != 'b')
            continue;
        long who = strtol(row_text(d, "workload") + 2, NULL, 10);
        assert_true(who >= 0 && who < HIGH);
        if (when[who] >= 0 && when[who] != row_int(d, "t_ns"))
            fail_msg("%s: b-%ld evicts at %g and at %g s", what, who, (double)when[who] / 1e9, (double)row_int(d, "t_ns") / 1e9);
        when[who] = row_int(d, "t_ns");
        evictions++;
    }
    return evictions;
}

static void nobody_evicts_twice_for_one_place(void **state)
{
    (void)state;
    char yaml[2048], what[512];
    static char low[TEXT], high[TEXT];
    for (int i = 0; i < 3 * KINDS * RULES; i++) {
        const struct kind *k = &kinds[i / RULES % KINDS];
        struct rng r;
        rng_open(&r, 5, (uint32_t)i, 99, 0);
        some_jobs(low, &r, LOW, k->low_cards ? 4 : 0, 1, false);
        some_jobs(high, &r, HIGH, k->cards, k->workers, true);
        (void)snprintf(yaml, sizeof yaml, WORLD("%s", "%s", "evictionGrace: %ds, placement: %s"), k->fleet, k->streams,
                       30 + 60 * (i % 3), rules[i % RULES]);
        (void)snprintf(what, sizeof what, "%s, %s, %s", k->fleet, k->streams, rules[i % RULES]);
        struct told *t = told_of(yaml, low, high);
        assert_true(once_each(t, what) > 10);
        told_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_beside_a_victim_is_kept_for_its_preemptor),
        cmocka_unit_test(equals_wait_too_and_higher_priorities_do_not),
        cmocka_unit_test(a_higher_priority_takes_the_promised_node),
        cmocka_unit_test(who_finds_room_elsewhere_frees_its_promise),
        cmocka_unit_test(small_pods_do_not_get_between_a_whole_gang_and_its_nodes),
        cmocka_unit_test(a_free_node_is_promised_to_a_gang_as_well),
        cmocka_unit_test(two_preemptors_share_a_node),
        cmocka_unit_test(a_card_that_drains_is_kept_under_every_mechanism),
        cmocka_unit_test(nobody_evicts_twice_for_one_place),
    };
    return cmocka_run_group_tests_name("nodes promised to preemptors", tests, NULL, NULL);
}
