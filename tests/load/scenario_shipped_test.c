/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every shipped scenario loads, and the central one asks what its comments say. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scenarios/load/load.h"

static const char *source_path(char *buffer, size_t size, const char *name)
{
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    snprintf(buffer, size, "%s/%s", root == NULL ? "." : root, name);
    return buffer;
}

/* The traces of the philly scenarios are not ours to ship: a file of ours stands in for them. */
static int stand_ins(const char *name, const char *sets[3])
{
    static const char *const paths[] = {"demand.training[*].file", "demand.lora[*].file",
                                        "demand.services[*].traffic.file"};
    static char texts[3][1100];
    char jobs[1024];
    int count = strcmp(name, "philly.yaml") == 0 ? 1 : strcmp(name,
                                                              "philly-mixed.yaml") == 0 ? 3 : 0;
    source_path(jobs, sizeof jobs, "tests/load/data/scenario_jobs.csv");
    for (int i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s=%s", paths[i], jobs);
        sets[i] = texts[i];
    }
    return count;
}

static struct scenario *load_shipped(const char *name)
{
    char relative[300], path[1024];
    const char *sets[3];
    int count = stand_ins(name, sets);
    snprintf(relative, sizeof relative, "scenarios/%s", name);
    struct diag_list diags = {0};
    struct scenario *s = scenario_check(source_path(path, sizeof path, relative), sets, count,
                                        &diags);
    if (s == NULL)
        diag_print(&diags, stderr);
    diag_fini(&diags);
    return s;
}

static void every_shipped_scenario_loads(void **state)
{
    (void)state;
    char path[1024];
    DIR *d = opendir(source_path(path, sizeof path, "scenarios"));
    assert_non_null(d);
    int count = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 5, ".yaml") != 0)
            continue;
        struct scenario *s = load_shipped(e->d_name);
        if (s == NULL)
            fail_msg("%s", e->d_name);
        scenario_free(s);
        count++;
    }
    closedir(d);
    assert_true(count >= 5);
}

static double mean_hours(const struct law *l)
{
    /* Mean of min(X, most) of a lognormal X: E[X] Phi(k - sigma) + most (1 - Phi(k)). */
    assert_int_equal(l->kind, LAW_LOGNORMAL);
    double k = (log(l->most) - l->a) / l->b;
    double below = 0.5 * erfc(-(k - l->b) / sqrt(2)), above = 0.5 * erfc(k / sqrt(2));
    return (exp(l->a + l->b * l->b / 2) * below + l->most * above) / 3600;
}

static double mean_factor(const struct rate_profile *p)
{
    double week = 0;
    for (int d = 0; d < 7; d++)
        week += p->weekday[d] / 7;
    assert_false(p->has_hours);
    return week; /* waves and drift have mean 1 */
}

struct offer {
    double jobs, training_cards, lora_cards, overloaded, mean_load_cut;
};

static struct offer offer_of(const struct scenario *s)
{
    struct offer o = {0};
    double own_total = 0;
    for (int32_t i = 0; i < s->demand.stream_count; i++) {
        const struct job_stream_config *c = &s->demand.streams[i];
        double weight = 0, card_hours = 0, own = 0;
        for (int32_t k = 0; k < c->shape_count; k++) {
            const struct gang_shape *g = &c->shapes[k];
            double cards = c->share_milli > 0 ? c->share_milli / 1000.0 : g->workers * g->cards_per_worker;
            weight += g->weight;
            card_hours += g->weight * cards * mean_hours(&g->duration_s);
        }
        double per_h = c->arrivals.base_per_s * c->time_scale * 3600 * mean_factor(&c->arrivals);
        double cards = per_h * card_hours / weight;
        o.jobs += per_h * (double)(s->horizon / SIM_HOUR);
        if (c->cls == CLASS_LORA) {
            o.lora_cards += cards;
            continue;
        }
        for (int32_t k = 0; k < s->quota.queues[c->queue].quota_count; k++)
            own += (double)s->quota.queues[c->queue].quotas[k].nominal / 1000;
        o.training_cards += cards;
        o.overloaded += cards > own;
        o.mean_load_cut += cards < own ? cards : own;
        own_total += own;
    }
    o.mean_load_cut /= own_total;
    return o;
}

static void the_bank_is_as_large_as_it_says(void **state)
{
    (void)state;
    struct scenario *s = load_shipped("bank-10k.yaml");
    assert_non_null(s);
    int64_t cards = 0;
    for (int32_t i = 0; i < s->fleet.pool_count; i++) {
        cards += (int64_t)s->fleet.pools[i].node_count * s->fleet.pools[i].cards_per_node;
        for (int32_t k = 0; k < i; k++)
            assert_int_not_equal(s->fleet.pools[i].card, s->fleet.pools[k].card);
    }
    assert_int_equal(cards, 10000);
    assert_true(s->fleet.pool_count >= 4);
    assert_int_equal(s->horizon, 28 * SIM_DAY);
    assert_true(s->demand.service_count >= 60);
    assert_true(s->quota.team_count >= 20);
    assert_int_equal(s->arbiter_count, 4);
    assert_int_equal(s->replications, 4);
    int64_t quota = 0, serving = 0;
    for (int32_t i = 0; i < s->quota.queue_count; i++)
        for (int32_t k = 0; k < s->quota.queues[i].quota_count; k++)
            quota += s->quota.queues[i].quotas[k].nominal;
    for (int32_t i = 0; i < s->demand.service_count; i++)
        serving += (int64_t)s->demand.services[i].max_replicas * s->demand.services[i].cards_per_replica;
    assert_int_equal(quota, 10000 * 1000);
    assert_true(serving > 4900 && serving <= 5000); /* inference owns half, sized for its peaks */
    scenario_free(s);
}

static void the_bank_offers_what_it_says(void **state)
{
    (void)state;
    struct scenario *s = load_shipped("bank-10k.yaml"), *more = load_shipped("bank-10k-training-1.3x.yaml");
    assert_non_null(s);
    assert_non_null(more);
    struct offer o = offer_of(s), m = offer_of(more);
    print_message("# jobs %.0f, training %.1f cards, lora %.1f cards, mean(min(1, load)) %.3f\n",
                  o.jobs, o.training_cards, o.lora_cards, o.mean_load_cut);
    assert_true(o.jobs > 100000);
    assert_true(fabs(o.training_cards / 10000 - 0.47) < 0.005);
    assert_true(fabs(o.lora_cards / 1000 - 0.10) < 0.01);
    assert_true(fabs(o.mean_load_cut - 0.6) < 0.03);
    assert_true(fabs(m.training_cards / o.training_cards - 1.3) < 1e-9);
    assert_true(fabs(m.lora_cards / o.lora_cards - 1) < 1e-9);
    scenario_free(s);
    scenario_free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_scenario_loads),
        cmocka_unit_test(the_bank_is_as_large_as_it_says),
        cmocka_unit_test(the_bank_offers_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
