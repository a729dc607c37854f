/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaving polls and syncs out changes nothing: random services (policies, windows, cooldowns,
 * triggers, failures, cold starts) run once with every poll and sync, and once with only those
 * that scaler_next_due and scaler_next_change ask for. What both ran must be equal in every field;
 * what was left out must have been a repetition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/elastic/scaler.h"

enum { CHANGES = 60, STARTS = 512, DECISIONS = 4096, HORIZON_S = 7200 };

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static int64_t below(uint64_t *x, int64_t n)
{
    return (int64_t)(next_random(x) % (uint64_t)n);
}

/* --- a random service -------------------------------------------------------------------------- */

struct change { /* of one metric */
    sim_time t;
    uint32_t trigger;
    struct keda_sample sample;
};

struct service {
    struct scaler_config cfg;
    struct change changes[CHANGES];
    sim_time cold_start;
    int32_t initial;
};

static void random_rules(uint64_t *x, struct hpa_scaling_rules *r)
{
    static const int32_t windows[] = {0, 15, 60, 100, 300, 600};
    static const int32_t periods[] = {15, 30, 45, 60, 100, 300};
    if (below(x, 2))
        r->stabilizationWindowSeconds = windows[below(x, 6)];
    if (below(x, 4) == 0)
        r->selectPolicy = (enum hpa_select_policy)below(x, 3);
    if (below(x, 2)) {
        r->policy_count = (uint32_t)below(x, 2) + 1;
        for (uint32_t i = 0; i < r->policy_count; i++) {
            bool pods = below(x, 2);
            r->policies[i] = (struct hpa_policy){pods ? HPA_POLICY_PODS : HPA_POLICY_PERCENT,
                                                 (int32_t)(pods ? 1 + below(x, 5)
                                                                : 10 * (1 + below(x, 20))),
                                                 periods[below(x, 6)]};
        }
    }
}

static void random_trigger(uint64_t *x, struct keda_trigger *t)
{
    *t = keda_trigger_defaults(1.0 + (double)below(x, 200) / 10.0);
    t->activationThreshold = below(x, 3) ? 0.0 : (double)below(x, 30);
    t->useCachedMetrics = below(x, 3) == 0;
    t->ignoreNullValues = below(x, 2);
    if (below(x, 4) == 0)
        t->metricType = HPA_TARGET_VALUE;
}

static void random_keda(uint64_t *x, struct keda_config *k)
{
    static const int64_t seconds[] = {0, 15, 60, 61, 300, 900};
    k->pollingInterval = (1 + below(x, 4)) * 15 * SIM_SECOND;
    k->cooldownPeriod = seconds[below(x, 6)] * SIM_SECOND;
    k->initialCooldownPeriod = seconds[below(x, 6)] * SIM_SECOND;
    k->minReplicaCount = (int32_t)below(x, 4) - 1;
    k->maxReplicaCount = 5 + (int32_t)below(x, 30);
    if (k->minReplicaCount > 0 && below(x, 3) == 0)
        k->idleReplicaCount = 0;
    if (below(x, 2)) {
        k->behavior = hpa_behavior_defaults(300);
        random_rules(x, &k->behavior.scaleUp);
        random_rules(x, &k->behavior.scaleDown);
    }
    if (below(x, 3) == 0)
        k->fallback = (struct keda_fallback){true, (int32_t)below(x, 4), (int32_t)below(x, 6),
                                             (enum keda_fallback_behavior)below(x, 4)};
    k->trigger_count = 1 + (uint32_t)below(x, 3);
    for (uint32_t i = 0; i < k->trigger_count; i++)
        random_trigger(x, &k->triggers[i]);
    k->annotations.force_activation = below(x, 10) == 0;
    k->annotations.paused_scale_in = below(x, 10) == 0;
}

static void random_service(uint64_t seed, struct service *s)
{
    static const sim_time phases[] = {0, 0, 250 * SIM_MS, 7 * SIM_SECOND, 15 * SIM_SECOND};
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
    memset(s, 0, sizeof *s);
    s->cfg = scaler_config_defaults();
    random_keda(&x, &s->cfg.keda);
    s->cfg.hpa.downscale_stabilization = (below(&x, 2) ? 300 : 45) * SIM_SECOND;
    s->cfg.poll_phase = phases[below(&x, 5)];
    s->cfg.sync_phase = phases[below(&x, 5)];
    s->cfg.query_latency = below(&x, 3) ? 0 : 120 * SIM_MS;
    s->cold_start = below(&x, 2) ? below(&x, 180) * SIM_SECOND : 15 * SIM_SECOND;
    s->initial = (int32_t)below(&x, 5);
    bool failing = below(&x, 3) == 0;
    sim_time t = 0;
    for (int i = 0; i < CHANGES; i++) {
        int64_t gap_s = below(&x, 3) ? below(&x, 60) : below(&x, 700);
        t += below(&x, 2) ? gap_s * SIM_SECOND : gap_s / 15 * 15 * SIM_SECOND;
        struct keda_sample sample = {KEDA_ANSWER_VALUE, (double)below(&x, 4000) / 13.0};
        if (below(&x, 3) == 0)
            sample.value = 0.0;
        if (failing && below(&x, 4) == 0)
            sample.answer = (enum keda_answer)(1 + below(&x, 3));
        s->changes[i] = (struct change){t, (uint32_t)below(&x, s->cfg.keda.trigger_count), sample};
    }
}

/* --- running it -------------------------------------------------------------------------------- */

struct run {
    struct scaler *scaler;
    struct keda_sample samples[KEDA_TRIGGER_LIMIT];
    struct hpa_target target;
    sim_time starts[STARTS]; /* instants at which a pod becomes ready, in order */
    size_t start_count, started;
    struct scaler_decision decisions[DECISIONS];
    size_t decision_count;
};

/* Pods follow at once; new ones become ready after the cold start, the newest go first. */
static void apply(struct run *r, const struct service *s, sim_time now, int32_t replicas)
{
    struct hpa_target *t = &r->target;
    int32_t starting = t->pod_count - t->ready_count;
    for (int32_t i = t->pod_count; i < replicas && r->start_count < STARTS; i++)
        r->starts[r->start_count++] = now + s->cold_start;
    int32_t gone = t->pod_count - replicas;
    for (; gone > 0; gone--) {
        if (starting > 0) {
            starting--;
            r->start_count--;
        } else {
            t->ready_count--;
        }
    }
    t->current = t->status_replicas = t->pod_count = replicas;
}

/* Everything that happens to the inputs at now; true if something did. */
static bool inputs_at(struct run *r, const struct service *s, sim_time now, int *change)
{
    bool any = false;
    for (; *change < CHANGES && s->changes[*change].t <= now; (*change)++) {
        r->samples[s->changes[*change].trigger] = s->changes[*change].sample;
        any = true;
    }
    for (; r->started < r->start_count && r->starts[r->started] <= now; r->started++) {
        r->target.ready_count++;
        any = true;
    }
    return any;
}

static sim_time earliest(sim_time a, sim_time b)
{
    return a < b ? a : b;
}

static void run_service(struct run *r, const struct service *s, bool every)
{
    memset(r, 0, sizeof *r);
    r->scaler = scaler_create(&s->cfg);
    r->target = (struct hpa_target){s->initial, s->initial, s->initial, s->initial, NULL};
    int change = 0;
    sim_time wake = scaler_next_due(r->scaler, 0), end = HORIZON_S * SIM_SECOND;
    for (;;) {
        sim_time input = change < CHANGES ? s->changes[change].t : SIM_NEVER;
        if (r->started < r->start_count)
            input = earliest(input, r->starts[r->started]);
        sim_time now = earliest(wake, input);
        if (now > end)
            break;
        if (inputs_at(r, s, now, &change))
            wake = earliest(wake, scaler_next_due(r->scaler, now));
        if (wake > now)
            continue;
        struct scaler_inputs in = {.samples = r->samples, .target = r->target};
        struct scaler_decision d[2];
        int n = scaler_run(r->scaler, now, &in, d);
        assert_true(n > 0);
        for (int i = 0; i < n; i++) {
            assert_true(r->decision_count < DECISIONS);
            r->decisions[r->decision_count++] = d[i];
            apply(r, s, now, d[i].replicas);
        }
        wake = every ? scaler_next_due(r->scaler, now + 1) : scaler_next_change(r->scaler);
    }
    scaler_destroy(r->scaler);
}

static bool same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void expect_equal(const struct scaler_decision *a, const struct scaler_decision *b)
{
    assert_int_equal(a->t, b->t);
    assert_int_equal(a->owner, b->owner);
    assert_int_equal(a->current, b->current);
    assert_int_equal(a->replicas, b->replicas);
    assert_int_equal(a->write, b->write);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->metric, b->metric);
    assert_true(same_double(a->value, b->value) && same_double(a->target, b->target));
    assert_true(same_double(a->ratio, b->ratio));
    assert_int_equal(a->raw, b->raw);
    assert_int_equal(a->stabilised, b->stabilised);
    assert_int_equal(a->limit, b->limit);
    assert_int_equal(a->limited_by, b->limited_by);
}

static size_t compare(const struct run *all, const struct run *few)
{
    const struct scaler_decision *last[2] = {NULL, NULL};
    size_t k = 0, left_out = 0;
    for (size_t i = 0; i < all->decision_count; i++) {
        const struct scaler_decision *a = &all->decisions[i];
        const struct scaler_decision *b = &few->decisions[k];
        if (k < few->decision_count && b->t == a->t && b->owner == a->owner) {
            expect_equal(a, b);
            last[a->owner] = b;
            k++;
            continue;
        }
        left_out++;
        assert_non_null(last[a->owner]);
        assert_false(a->write);
        assert_int_equal(a->replicas, last[a->owner]->replicas);
        assert_string_equal(a->reason, last[a->owner]->reason);
        assert_int_equal(a->raw, last[a->owner]->raw);
        assert_int_equal(a->stabilised, last[a->owner]->stabilised);
    }
    assert_int_equal(k, few->decision_count);
    return left_out;
}

static struct run all, few;

static void leaving_out_gives_exactly_the_same_decisions(void **state)
{
    (void)state;
    size_t left_out = 0, run = 0, writes = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct service s;
        random_service(seed, &s);
        run_service(&all, &s, true);
        run_service(&few, &s, false);
        left_out += compare(&all, &few);
        run += few.decision_count;
        for (size_t i = 0; i < few.decision_count; i++)
            writes += few.decisions[i].write;
    }
    print_message("# %zu polls and syncs run, %zu left out, %zu writes\n", run, left_out, writes);
    assert_true(left_out > run); /* the point of it */
    assert_true(writes > 1500 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaving_out_gives_exactly_the_same_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
