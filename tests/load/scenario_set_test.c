/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --set, base and set, repeat and each, and the text that results keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenarios/load/load.h"
#include "sim/dmath.h"

static const char base[] =
    "name: base\n"
    "fleet:\n"
    "  nodePools: [{name: h100, instance: p5.48xlarge, nodes: 10}]\n"
    "queues:\n"
    "  - {name: team-{i}, repeat: 3, cards: {h100: {each: [40, 24, 16]}}}\n"
    "demand:\n"
    "  training:\n"
    "    - name: jobs-{i}\n"
    "      repeat: 3\n"
    "      queue: team-{i}\n"
    "      arrivals: {base: {each: [10/day, 20/day]}}\n"
    "      gangs: [{duration: 1h}]\n"
    "  services:\n"
    "    - {name: llama-3.1, kind: simple, queue: team-1, traffic: {base: 1/s}, serviceTime: {mean: 100ms}}\n"
    "arbiters: [{preset: pools}, {preset: cohort, name: b}]\n";

/* The flow map of queues cannot hold a bare {i}: quotes make it text. */
static const char *base_text(void)
{
    static char text[sizeof base + 8];
    const char *hit = strstr(base, "team-{i}, repeat");
    snprintf(text, sizeof text, "%.*s\"team-{i}\"%s", (int)(hit - base), base,
             hit + strlen("team-{i}"));
    return text;
}

static struct scenario *load_with(const char *const *sets, int count)
{
    struct diag_list diags = {0};
    struct scenario *s = scenario_load_text("base.yaml", base_text(), strlen(base_text()), sets,
                                            count, &diags);
    if (s == NULL)
        diag_print(&diags, stderr);
    assert_non_null(s);
    assert_int_equal(diags.count, 0);
    return s;
}

static struct scenario *load_one(const char *set)
{
    return load_with(&set, 1);
}

static void a_repeat_makes_copies_with_their_own_values(void **state)
{
    (void)state;
    struct scenario *s = load_with(NULL, 0);
    assert_int_equal(s->quota.queue_count, 3);
    assert_string_equal(s->quota.queues[2].name, "team-3");
    assert_int_equal(s->quota.queues[0].quotas[0].nominal, 40000);
    assert_int_equal(s->quota.queues[2].quotas[0].nominal, 16000);
    assert_int_equal(s->demand.stream_count, 3);
    assert_int_equal(s->demand.streams[1].queue, 1);
    assert_true(dm_floor(s->demand.streams[1].arrivals.base_per_s * 86400 + 0.5) == 20);
    assert_true(dm_floor(s->demand.streams[2].arrivals.base_per_s * 86400 + 0.5) == 10); /* in turn */
    assert_string_equal(s->text, base_text());
    scenario_free(s);
}

static void any_field_can_be_set(void **state)
{
    (void)state;
    struct scenario *s = load_one("horizon=3d");
    assert_int_equal(s->horizon, 3 * SIM_DAY);
    scenario_free(s);
    s = load_one("demand.training[1].rateScale=1.5");
    assert_true(s->demand.streams[1].time_scale == 1.5 && s->demand.streams[0].time_scale == 1);
    scenario_free(s);
    s = load_one("demand.training[*].rateScale=1.5");
    for (int i = 0; i < 3; i++)
        assert_true(s->demand.streams[i].time_scale == 1.5);
    scenario_free(s);
    s = load_one("demand.training[jobs-3].checkpoint.interval=2h");
    assert_int_equal(s->demand.streams[2].checkpoint_interval, 2 * SIM_HOUR);
    scenario_free(s);
    s = load_one("demand.training.jobs-2.restart=9m");
    assert_int_equal(s->demand.streams[1].restart, 9 * SIM_MINUTE);
    scenario_free(s);
    s = load_one("demand.services[llama-3.1].maxReplicaCount=7");
    assert_int_equal(s->demand.services[0].max_replicas, 7);
    scenario_free(s);
    s = load_one("arbiters.pools.placement=spread"); /* without a name: by preset */
    assert_int_equal(s->arbiters[0].placement, PLACE_SPREAD);
    scenario_free(s);
    s = load_one("arbiters.b.gang=pods");
    assert_int_equal(s->arbiters[1].gang, GANG_PODS);
    scenario_free(s);
    s = load_one("arbiters=[{preset: hyperpod}]");
    assert_int_equal(s->arbiter_count, 1);
    assert_int_equal(s->arbiters[0].preset, PRESET_HYPERPOD);
    scenario_free(s);
    s = load_one("transfer.drain=5s"); /* a map that is not in the file */
    assert_int_equal(s->transfer.drain, 5 * SIM_SECOND);
    scenario_free(s);
    s = load_one("queues[0].cards.h100=8");
    assert_int_equal(s->quota.queues[0].quotas[0].nominal, 8000);
    scenario_free(s);
}

static void later_sets_win(void **state)
{
    (void)state;
    static const char *const sets[] = {"seed=5", "seed=6"};
    struct scenario *s = load_with(sets, 2);
    assert_int_equal(s->seed, 6);
    scenario_free(s);
}

static void the_kept_text_loads_to_the_same_scenario(void **state)
{
    (void)state;
    static const char *const sets[] = {"demand.training[*].rateScale=1.5",
                                       "description=\"a: 'b'\\\\\"", "arbiters.b.placement=spread"};
    struct scenario *s = load_with(sets, 3);
    struct diag_list diags = {0};
    struct scenario *again = scenario_load_text("kept.yaml", s->text, strlen(s->text), NULL, 0,
                                                &diags);
    diag_print(&diags, stderr);
    assert_non_null(again);
    assert_string_equal(again->description, "a: 'b'\\");
    assert_true(again->demand.streams[2].time_scale == 1.5);
    assert_int_equal(again->arbiters[1].placement, PLACE_SPREAD);
    /* Once more with another change: the set list grows, nothing is lost. */
    static const char *const more[] = {"seed=9"};
    struct scenario *third = scenario_load_text("kept.yaml", s->text, strlen(s->text), more, 1,
                                                &diags);
    assert_non_null(third);
    struct scenario *fourth = scenario_load_text("kept.yaml", third->text, strlen(third->text),
                                                 NULL, 0, &diags);
    assert_non_null(fourth);
    assert_int_equal(fourth->seed, 9);
    assert_string_equal(fourth->description, "a: 'b'\\");
    assert_true(fourth->demand.streams[2].time_scale == 1.5);
    assert_int_equal(fourth->demand.stream_count, 3);
    scenario_free(s);
    scenario_free(again);
    scenario_free(third);
    scenario_free(fourth);
}

static void wrong_sets_are_named_by_their_argument(void **state)
{
    (void)state;
    static const struct {
        const char *set, *file, *text;
    } rows[] = {
        {"horizon", "--set horizon", "expected path=value, such as horizon=7d"},
        {"=7d", "--set =7d", "expected path=value"},
        {"horizon=7", "--set horizon=7",
         "horizon: '7' has no unit; expected a duration such as 90s, 5m or 1h30m"},
        {"horizn=7d", "--set horizn=7d",
         "unknown key 'horizn' of a scenario; did you mean 'horizon'?"},
        {"horizon=", "--set horizon=",
         "horizon: expected a duration such as 90s, 5m or 1h30m, got nothing"},
        {"horizon.x=1", "--set horizon.x=1",
         "horizon: expected a duration such as 90s, 5m or 1h30m, got a map"},
        {"name.x=1", "--set name.x=1", "the path goes on after a plain value, at 'x'"},
        {"queues[3].cards.h100=1", "--set queues[3].cards.h100=1",
         "there is no item [3]; the list has 3, counted from 0"},
        {"queues[taem-1].cards.h100=1", "--set queues[taem-1].cards.h100=1",
         "no item of the list is named 'taem-1'; did you mean 'team-1'?"},
        {"queues[0.cards=1", "--set queues[0.cards=1", "the path has a '[' without its ']'"},
        {"queues[0]cards=1", "--set queues[0]cards=1", "expected '.', '[' or '=' after ']'"},
        {"queues[]=1", "--set queues[]=1",
         "expected a path such as demand.training[0].rateScale before '='"},
        {"fleet[x]=1", "--set fleet[x]=1", "'[x]' needs a list, and this is a map"},
        {"horizon=[", "--set horizon=[",
         "not YAML: did not find expected node content while parsing a flow node"},
        {"horizon=&a 1d", "--set horizon=&a 1d",
         "anchors (&) and aliases (*) are not supported; use repeat: for copies"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diag_list diags = {0};
        struct scenario *s = scenario_load_text("base.yaml", base_text(), strlen(base_text()),
                                                &rows[i].set, 1, &diags);
        if (s != NULL || diags.count < 1 || strcmp(diags.items[0].file, rows[i].file) != 0 ||
            strcmp(diags.items[0].text, rows[i].text) != 0)
            fail_msg("%s: got '%s'", rows[i].set,
                     diags.count < 1 ? "nothing" : diags.items[0].text);
        diag_fini(&diags);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

static void a_file_can_change_another(void **state)
{
    (void)state;
    char folder[] = "scenario_set_XXXXXX", path[64], derived[64], twice[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/base.yaml", folder);
    snprintf(derived, sizeof derived, "%s/more.yaml", folder);
    snprintf(twice, sizeof twice, "%s/twice.yaml", folder);
    write_file(path, base_text());
    write_file(derived,
               "base: base.yaml\nname: more\nset: [\"demand.training[*].rateScale=2\", seed=4]\n");
    write_file(twice, "base: more.yaml\nset: [seed=8]\n");
    static const char *const sets[] = {"replications=3"};
    struct diag_list diags = {0};
    struct scenario *s = scenario_load(twice, sets, 1, &diags);
    diag_print(&diags, stderr);
    assert_non_null(s);
    assert_string_equal(s->name, "more");
    assert_int_equal(s->seed, 8);
    assert_int_equal(s->replications, 3);
    assert_true(s->demand.streams[0].time_scale == 2);
    struct scenario *again = scenario_load_text("kept", s->text, strlen(s->text), NULL, 0, &diags);
    assert_non_null(again);
    assert_string_equal(again->name, "more");
    assert_int_equal(again->seed, 8);
    assert_int_equal(again->replications, 3);
    scenario_free(s);
    scenario_free(again);
    write_file(derived, "base: base.yaml\nhorizon: 1d\n");
    assert_null(scenario_load(derived, NULL, 0, &diags));
    assert_string_equal(diags.items[0].text,
                        "key 'horizon' beside base; a file with a base holds only name, description and set");
    diag_fini(&diags);
    write_file(derived, "base: more.yaml\n");
    diags = (struct diag_list){0};
    assert_null(scenario_load(derived, NULL, 0, &diags));
    assert_string_equal(diags.items[0].text,
                        "base: more than 8 files on top of each other; is it a circle?");
    diag_fini(&diags);
    unlink(path);
    unlink(derived);
    unlink(twice);
    rmdir(folder);
}

static void data_files_are_found_beside_the_scenario(void **state)
{
    (void)state;
    char folder[] = "scenario_data_XXXXXX", path[64], jobs[64], set[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    snprintf(jobs, sizeof jobs, "%s/jobs.csv", folder);
    write_file(jobs, "submit_s,duration_s,cards_per_worker,workers\n0,60,4,2\n30,60,1,1\n");
    write_file(path, "fleet:\n  nodePools: [{name: h100, instance: p5.48xlarge, nodes: 10}]\nqueues: [{name: q, cards: {h100: 80}}]\n"
                     "demand: {training: [{name: j, queue: q, file: jobs.csv}]}\narbiters: [{preset: pools}]\n");
    struct diag_list diags = {0};
    struct scenario *s = scenario_load(path, NULL, 0, &diags);
    diag_print(&diags, stderr);
    assert_non_null(s);
    assert_int_equal(s->input_count, 1);
    assert_string_equal(s->input_files[0], jobs);
    struct job_reader r;
    struct err err = {0};
    struct job_spec spec = {0};
    assert_true(s->open_jobs(s->loader, &s->demand.streams[0], &r, &err));
    assert_true(r.next(r.ctx, &spec, &err));
    assert_int_equal(spec.workers, 2);
    assert_int_equal(spec.cards_per_worker, 4);
    assert_true(r.next(r.ctx, &spec, &err));
    assert_int_equal(spec.submit, 30 * SIM_SECOND);
    assert_false(r.next(r.ctx, &spec, &err));
    r.close(r.ctx);
    uint64_t before = s->input_hashes[0];
    scenario_free(s);
    /* The hash belongs to the content; a path of --set belongs to the current directory. */
    write_file(jobs, "submit_s,duration_s,cards_per_worker,workers\n0,61,4,2\n");
    snprintf(set, sizeof set, "demand.training[0].file=%s", jobs);
    const char *sets[] = {set};
    s = scenario_load(path, sets, 1, &diags);
    assert_non_null(s);
    assert_string_equal(s->input_files[0], jobs);
    assert_true(s->input_hashes[0] != before);
    scenario_free(s);
    unlink(path);
    unlink(jobs);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeat_makes_copies_with_their_own_values),
        cmocka_unit_test(any_field_can_be_set),
        cmocka_unit_test(later_sets_win),
        cmocka_unit_test(the_kept_text_loads_to_the_same_scenario),
        cmocka_unit_test(wrong_sets_are_named_by_their_argument),
        cmocka_unit_test(a_file_can_change_another),
        cmocka_unit_test(data_files_are_found_beside_the_scenario),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
