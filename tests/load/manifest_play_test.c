/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replays of manifests against what the real Kueue scheduler did: the histories of recorded cases
 * (when each job was admitted, preempted and finished), a selection that is always here and all of
 * them where the shared folder is. Cases with pods that become unready or objects that change have
 * no counterpart in a manifest.
 */
#include "studies/manifest_play.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim_time.h"
#include "studies/conform_kueue_read.h"
#include "studies/jsonl.h"

struct tally {
    unsigned cases, jobs, loops;
};

static const char *root(void)
{
    const char *r = getenv("FLEETSIM_SOURCE_ROOT");
    return r != NULL ? r : ".";
}

static bool is_replayable(const struct kueue_case *c, const cJSON *json)
{
    const char *stopped = jsonl_string(json, "stopped", "");
    bool plain = c->change_count == 0 && strcmp(stopped, "length") != 0;
    for (uint32_t i = 0; i < c->job_count; i++)
        plain &= c->jobs[i].attempt_count == 1 && c->jobs[i].attempts[0].ready == POLICY_NEVER &&
                 c->jobs[i].at_ns == c->jobs[i].workload.created_ns;
    return plain && !c->readiness;
}

/* The case's settings over its manifest, as a Configuration and finished runs would give them. */
static void overlay(struct kueue_case *c)
{
    struct manifest *m = c->manifest;
    m->config = c->config;
    for (uint32_t i = 0; i < c->job_count; i++)
        for (uint32_t k = 0; k < m->workload_count; k++)
            if (strcmp(m->workloads[k].name, c->jobs[i].name) == 0)
                m->workloads[k].duration_ns = c->jobs[i].attempts[0].end;
}

static int64_t second(const struct manifest *m, const struct kueue_case *c, int64_t ns)
{
    return ns == POLICY_NEVER ? -1 : (ns + c->jobs[0].workload.created_ns - (m->workloads[0].policy.created_ns)) / SIM_SECOND;
}

static void check_job(const struct kueue_case *c, const struct mplay *p, uint32_t k, const cJSON *history)
{
    const struct manifest *m = p->m;
    const struct mplay_run *r = &p->runs[k];
    const cJSON *h = jsonl_get(history, m->workloads[k].name);
    const cJSON *admitted = jsonl_get(h, "admittedAt"), *preempted = jsonl_get(h, "preemptedAt");
    const int n = cJSON_GetArraySize(admitted);
    if (r->reserved != POLICY_NEVER)
        assert_int_equal(second(m, c, r->reserved), jsonl_at(admitted, 0, -1));
    assert_int_equal(r->admissions, n);
    assert_int_equal(r->preemptions, cJSON_GetArraySize(preempted));
    if (n > 0)
        assert_int_equal(second(m, c, r->last_reserved), jsonl_at(admitted, n - 1, -1));
    assert_int_equal(second(m, c, r->finished), jsonl_int(h, "finishedAt", -1));
}

static void check_case(struct kueue_case *c, const cJSON *json, bool reasons, struct tally *t)
{
    const bool loops = strcmp(jsonl_string(json, "stopped", ""), "cycles") == 0;
    const struct mplay_options o = {.horizon_ns = POLICY_NEVER,
                                    .eviction_ns = c->eviction_ns,
                                    .requeue_batch_ns = c->config.requeue_batch_ns,
                                    .reasons = reasons};
    struct mplay p;
    struct err e = {0};
    overlay(c);
    assert_true(mplay_run(&p, c->manifest, &o, &e));
    if (p.stopped != loops)
        print_error("case %s\n", c->name);
    assert_int_equal(p.stopped, loops);
    t->loops += loops;
    t->cases++;
    for (uint32_t k = 0; k < c->manifest->workload_count && !loops; k++, t->jobs++)
        check_job(c, &p, k, jsonl_get(json, "history"));
    mplay_fini(&p);
}

static void check_file(const char *path, struct tally *t)
{
    struct err e = {0};
    struct jsonl *f = jsonl_open(path, &e);
    cJSON *json;
    assert_non_null(f);
    while ((json = jsonl_next(f, &e)) != NULL) {
        struct kueue_case c = {0};
        assert_true(kueue_case_read(json, &c, &e));
        if (is_replayable(&c, json)) {
            struct tally again = {0};
            check_case(&c, json, false, t);
            check_case(&c, json, true, &again); /* saying why changes nothing */
        }
        kueue_case_fini(&c);
        cJSON_Delete(json);
    }
    assert_int_equal(e.code, ERR_NONE);
    jsonl_close(f);
}

static void a_replay_admits_preempts_and_finishes_when_kueue_did(void **state)
{
    (void)state;
    struct tally t = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/load/data/manifest/oracle_cases.jsonl.gz", root());
    check_file(path, &t);
    print_message("# %u cases, %u jobs\n", t.cases, t.jobs);
    assert_true(t.cases >= 20 && t.jobs > 300);
}

static void all_recorded_histories_are_replayed(void **state)
{
    (void)state;
    const char *shared = getenv("FLEETSIM_SHARED");
    char folder[512], path[1024];
    struct tally t = {0};
    snprintf(folder, sizeof folder, "%s%s/oracle/kueue", shared != NULL ? shared : root(),
             shared != NULL ? "" : "/../shared");
    DIR *d = opendir(folder);
    if (d == NULL) {
        print_message("# skipped: no recorded Kueue decisions in %s\n", folder);
        skip();
    }
    for (struct dirent *x; (x = readdir(d)) != NULL;) {
        if (strstr(x->d_name, ".jsonl.gz") == NULL)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, x->d_name);
        check_file(path, &t);
    }
    closedir(d);
    print_message("# %u cases, %u jobs, %u of the cases never come to rest\n", t.cases, t.jobs, t.loops);
    assert_true(t.cases > 300 && t.loops > 10);
}

/* Two jobs of the whole quota, the first one from the queue that had used 8 cpus until the dump. */
#define USAGE(name, status)                                                                                       \
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: " name ", namespace: default}\n"    \
    "spec: {clusterQueue: q}\nstatus: " status "\n"
#define CONSUMED(cpu) "{fairSharing: {weightedShare: 0, admissionFairSharingStatus: {consumedResources: {cpu: " cpu \
                      "}, lastUpdate: 2026-01-05T00:00:00Z}}}"
#define JOB(name, local, at)                                                                                      \
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: " name                              \
    ", namespace: default, creationTimestamp: \"" at "\"}\n"                                                      \
    "spec: {queueName: " local ", podSets: [{name: main, count: 1, template: {spec: {containers: "                \
    "[{name: c, resources: {requests: {cpu: 8}}}]}}}]}\n"

static const char used_cluster[] =
    "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    "admissionFairSharing: {usageHalfLifeTime: 10s, usageSamplingInterval: 1s}\n"
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n"
    "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n"
    "spec: {namespaceSelector: {}, admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}, resourceGroups: "
    "[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 8}]}]}]}\n"
    USAGE("a", CONSUMED("\"7800m\"")) USAGE("b", "{}") JOB("a1", "a", "2026-01-05T00:00:00Z")
    JOB("b1", "b", "2026-01-05T00:00:00Z");

static void the_usage_that_local_queues_had_decides_who_goes_first(void **state)
{
    (void)state;
    const struct mplay_options o = {.horizon_ns = 100 * SIM_SECOND}; /* wakes at once */
    struct diag_list diags = {0};
    struct err e = {0};
    struct mplay p;
    struct manifest *m = manifest_read_text("cluster.yaml", used_cluster, strlen(used_cluster), &diags);
    assert_non_null(m);
    for (uint32_t i = 0; i < m->workload_count; i++)
        m->workloads[i].duration_ns = 20 * SIM_SECOND;
    assert_true(mplay_run(&p, m, &o, &e));
    for (uint32_t i = 0; i < m->workload_count; i++)
        assert_int_equal((p.runs[i].reserved - m->workloads[i].policy.created_ns) / SIM_SECOND,
                         strcmp(m->workloads[i].name, "b1") == 0 ? 0 : 20);
    assert_int_equal(m->workload_count, 2);
    mplay_fini(&p);
    manifest_free(m);
    diag_fini(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_admits_preempts_and_finishes_when_kueue_did),
        cmocka_unit_test(all_recorded_histories_are_replayed),
        cmocka_unit_test(the_usage_that_local_queues_had_decides_who_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
