/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Good manifests: defaults of the API, both versions, amounts of pods, status, configuration. */
#include "scenarios/load/manifest/durations.h"
#include "scenarios/load/manifest/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim_time.h"

static struct manifest *read_text(const char *text)
{
    struct diag_list diags = {0};
    struct manifest *m = manifest_read_text("m.yaml", text, strlen(text), &diags);
    if (m == NULL)
        diag_print(&diags, stderr);
    assert_non_null(m);
    diag_fini(&diags);
    return m;
}

#define QUEUE(version, spec)                                                                       \
    "apiVersion: kueue.x-k8s.io/" version "\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {" spec "}\n"

static void missing_fields_take_the_defaults_of_the_api(void **state)
{
    (void)state; /* ClusterQueue of apis/kueue/v1beta2 */
    struct manifest *m = read_text(QUEUE("v1beta2", ""));
    const struct policy_cluster_queue *q = &m->config.cluster_queues[0];
    assert_int_equal(q->queueing, POLICY_BEST_EFFORT_FIFO);
    assert_int_equal(q->when_can_borrow, POLICY_MAY_STOP_SEARCH);
    assert_int_equal(q->when_can_preempt, POLICY_TRY_NEXT_FLAVOR);
    assert_int_equal(q->within_cluster_queue, POLICY_NEVER_PREEMPT);
    assert_int_equal(q->reclaim_within_cohort, POLICY_NEVER_PREEMPT);
    assert_int_equal(q->borrow_within_cohort, POLICY_NEVER_PREEMPT);
    assert_true(q->max_priority_threshold == POLICY_NIL);
    assert_true(q->weight == 1.0);
    assert_int_equal(q->stop, POLICY_RUN);
    assert_null(q->namespace_selector); /* nil matches nothing */
    manifest_free(m);
}

static void both_versions_name_the_same_things(void **state)
{
    (void)state;
    struct manifest *a = read_text(QUEUE("v1beta1", "cohort: c, flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: Preempt}, namespaceSelector: {}"));
    struct manifest *b = read_text(QUEUE("v1beta2", "cohortName: c, flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: MayStopSearch}, namespaceSelector: {}"));
    const struct policy_cluster_queue *x = &a->config.cluster_queues[0], *y = &b->config.cluster_queues[0];
    assert_string_equal(a->config.cohorts[x->cohort].name, "c");
    assert_string_equal(b->config.cohorts[y->cohort].name, "c");
    assert_int_equal(x->when_can_borrow, y->when_can_borrow);
    assert_int_equal(x->when_can_preempt, POLICY_MAY_STOP_SEARCH);
    assert_int_equal(y->when_can_preempt, POLICY_MAY_STOP_SEARCH);
    assert_non_null(x->namespace_selector);
    manifest_free(a);
    manifest_free(b);
}

static int64_t request(const struct manifest *m, const char *resource)
{
    const struct policy_pod_set *p = &m->workloads[0].shape.pod_sets[0];
    for (uint32_t i = 0; i < p->request_count; i++)
        if (strcmp(m->config.resources[p->requests[i].resource], resource) == 0)
            return p->requests[i].amount;
    return -1;
}

#define WORKLOAD(spec)                                                                             \
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w}\n"                      \
    "spec: {queueName: l, podSets: [{template: {spec: {" spec "}}}]}\n"

/* KEP-753 and KEP-688: containers and sidecars add up, an init container needs its own beside the
 * sidecars before it, overhead comes on top. */
static void pods_ask_for_what_kubernetes_adds_up(void **state)
{
    (void)state;
    struct manifest *m = read_text(WORKLOAD(
        "overhead: {cpu: 100m},"
        "containers: [{resources: {requests: {cpu: 1, memory: 1Gi}}}, {resources: {limits: {cpu: 1500m, nvidia.com/gpu: 2}}}],"
        "initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 500m}}}, {resources: {requests: {cpu: 4, memory: 512Mi}}}]"));
    /* max(1 + 1.5 + 0.5, 4 + 0.5) + 0.1 */
    assert_int_equal(request(m, "cpu"), 4600);
    assert_int_equal(request(m, "memory"), INT64_C(1) << 30);
    assert_int_equal(request(m, "nvidia.com/gpu"), 2);
    assert_int_equal(m->workloads[0].shape.pod_sets[0].count, 1);
    assert_string_equal(m->workloads[0].shape.pod_sets[0].name, "main");
    manifest_free(m);
}

static void limit_ranges_give_defaults(void **state)
{
    (void)state;
    struct manifest *m = read_text(WORKLOAD("containers: [{resources: {requests: {memory: 1Ki}}}, {}]")
                                   "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\n"
                                   "spec: {limits: [{type: Container, default: {cpu: 2}, defaultRequest: {cpu: 250m}}]}\n");
    assert_int_equal(request(m, "cpu"), 500); /* 250m in each of two containers */
    assert_int_equal(request(m, "memory"), 1024);
    manifest_free(m);
}

static void configured_transformations_are_applied(void **state)
{
    (void)state;
    struct manifest *m = read_text(WORKLOAD("containers: [{resources: {requests: {nvidia.com/mig-1g.5gb: 2, example.com/x: 3}}}]")
                                   "---\napiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
                                   "resources: {excludeResourcePrefixes: [example.com], transformations: [{input: nvidia.com/mig-1g.5gb,"
                                   " strategy: Replace, outputs: {example.com/memory: 5Gi, example.com/credits: 1500m}}]}\n");
    assert_int_equal(request(m, "nvidia.com/mig-1g.5gb"), -1);
    assert_int_equal(request(m, "example.com/x"), -1);
    assert_int_equal(request(m, "example.com/memory"), INT64_C(10) << 30);
    assert_int_equal(request(m, "example.com/credits"), 3);
    manifest_free(m);
}

static void a_finished_workload_tells_its_run_time(void **state)
{
    (void)state;
    struct manifest *m = read_text(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- apiVersion: kueue.x-k8s.io/v1beta1\n  kind: Workload\n"
        "  metadata: {name: w, namespace: n, creationTimestamp: \"2026-01-05T08:00:10Z\"}\n"
        "  spec: {queueName: l, podSets: [{name: a, count: 4}]}\n"
        "  status:\n    accumulatedPastExexcutionTimeSeconds: 7\n    schedulingStats: {evictions: [{reason: Preempted, underlyingCause: \"\", count: 2}]}\n"
        "    admission: {clusterQueue: q, podSetAssignments: [{name: a, count: 2, flavors: {cpu: f}, resourceUsage: {cpu: 3}}]}\n"
        "    conditions:\n"
        "    - {type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-01-05T08:01:00Z\"}\n"
        "    - {type: Admitted, status: \"True\", lastTransitionTime: \"2026-01-05T08:01:05Z\"}\n"
        "    - {type: PodsReady, status: \"True\", lastTransitionTime: \"2026-01-05T08:02:05Z\"}\n"
        "    - {type: Finished, status: \"True\", reason: Failed, lastTransitionTime: \"2026-01-05T10:02:05+01:00\"}\n");
    const struct manifest_workload *w = &m->workloads[0];
    assert_int_equal(w->policy.created_ns, 0);
    assert_int_equal((w->reserved - w->created) / SIM_SECOND, 50);
    assert_int_equal(w->startup_ns / SIM_SECOND, 60);
    assert_int_equal(w->duration_ns / SIM_SECOND, 3600); /* 09:02:05 UTC - 08:02:05 */
    assert_int_equal(w->past_ns / SIM_SECOND, 7);
    assert_true(w->finished && w->failed);
    assert_int_equal(w->evictions, 2);
    assert_int_equal(w->held_counts[0], 2);
    assert_int_equal(w->use_count, 1);
    assert_int_equal(w->uses[0].amount, 3000);
    manifest_free(m);
}

/* Integrations of Kueue: Job, JobSet, PyTorchJob. */
static void jobs_become_the_workloads_of_their_integrations(void **state)
{
    (void)state;
    struct manifest *m = read_text(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a-job, labels: {kueue.x-k8s.io/queue-name: l, kueue.x-k8s.io/priority-class: p},"
        " annotations: {kueue.x-k8s.io/job-min-parallelism: \"2\"}}\nspec: {parallelism: 5, completions: 3, template: {spec: {containers: [{}]}}}\n"
        "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: b-set, labels: {kueue.x-k8s.io/queue-name: l}}\n"
        "spec: {replicatedJobs: [{name: driver, template: {spec: {template: {spec: {containers: [{}]}}}}},"
        " {name: workers, replicas: 2, template: {spec: {parallelism: 4, template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}, spec: {containers: [{}]}}}}}]}\n"
        "---\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: c-torch, labels: {kueue.x-k8s.io/queue-name: l}}\n"
        "spec: {pytorchReplicaSpecs: {Worker: {replicas: 3, template: {spec: {containers: [{}]}}}, Master: {template: {spec: {containers: [{}]}}}}}\n"
        "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: p}\nvalue: 7\n");
    assert_int_equal(m->workload_count, 3);
    const struct policy_pod_set *a = m->workloads[0].shape.pod_sets;
    assert_int_equal(a[0].count, 3);
    assert_int_equal(a[0].min_count, 2);
    assert_int_equal(m->workloads[0].policy.priority, 7);
    const struct policy_pod_set *b = m->workloads[1].shape.pod_sets;
    assert_int_equal(m->workloads[1].shape.pod_set_count, 2);
    assert_string_equal(b[1].name, "workers");
    assert_int_equal(b[1].count, 8);
    assert_int_equal(b[1].topology.mode, POLICY_TOPOLOGY_REQUIRED);
    const struct policy_pod_set *c = m->workloads[2].shape.pod_sets;
    assert_string_equal(c[0].name, "master");
    assert_int_equal(c[0].count, 1);
    assert_int_equal(c[1].count, 3);
    manifest_free(m);
}

static void a_job_whose_workload_is_there_counts_once(void **state)
{
    (void)state;
    struct manifest *m = read_text(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: l}}\nspec: {template: {spec: {containers: [{}]}}}\n---\n"
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: job-j-1a2b, ownerReferences: [{kind: Job, name: j}]}\nspec: {queueName: l, podSets: [{}]}\n");
    assert_int_equal(m->workload_count, 1);
    assert_string_equal(m->workloads[0].name, "job-j-1a2b");
    manifest_free(m);
}

static void the_image_of_the_controller_picks_the_profile(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"registry.k8s.io/kueue/kueue:v0.18.6", "v0.18"},
                                          {"registry.example.com:5000/kueue:v0.19.2@sha256:00", "v0.19"},
                                          {"gcr.io/k8s-staging-kueue/kueue:main", "HEAD"},
                                          {"registry.k8s.io/kueue/kueue:v0.10.1", "HEAD"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kueue-controller-manager, namespace: kueue-system}\n"
                 "spec: {template: {spec: {containers: [{name: manager, image: \"%s\", args: [\"--feature-gates=PartialAdmission=false\"]}]}}}\n",
                 rows[i][0]);
        struct manifest *m = read_text(text);
        assert_string_equal(m->config.profile, rows[i][1]);
        assert_int_equal(m->config.gate_count, 1);
        assert_false(m->config.gates[0].on);
        assert_int_equal(m->workload_count, 0);
        manifest_free(m);
    }
}

/* Defaults of apis/config: v1beta1 has switches, v1beta2 reads presence. */
static void the_configuration_decides_modes_and_times(void **state)
{
    (void)state;
    struct manifest *m = read_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kueue-manager-config}\ndata:\n  controller_manager_config.yaml: |\n"
        "    apiVersion: config.kueue.x-k8s.io/v1beta1\n    kind: Configuration\n    fairSharing: {enable: true, preemptionStrategies: [LessThanInitialShare]}\n"
        "    waitForPodsReady: {enable: true, timeout: 10m, requeuingStrategy: {timestamp: Creation, backoffLimitCount: 3}}\n"
        "    featureGates: {LocalQueueMetrics: true, FlavorFungibility: false}\n");
    assert_true(m->config.fair_sharing);
    assert_int_equal(m->config.strategy_count, 1);
    assert_int_equal(m->config.strategies[0], POLICY_LESS_THAN_INITIAL_SHARE);
    assert_true(m->config.pods_ready.on && m->config.pods_ready.block_admission); /* true by default in v1beta1 */
    assert_int_equal(m->config.pods_ready.timeout_ns / SIM_MINUTE, 10);
    assert_true(m->config.pods_ready.creation_timestamp);
    assert_int_equal(m->config.pods_ready.backoff_limit, 3);
    assert_int_equal(m->config.pods_ready.backoff_base_ns / SIM_SECOND, 60);
    assert_int_equal(m->config.gate_count, 1); /* the other one changes no decision */
    manifest_free(m);
    m = read_text("apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\nfairSharing: {enable: false}\n");
    assert_false(m->config.fair_sharing || m->config.pods_ready.on);
    manifest_free(m);
    m = read_text("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}\n");
    assert_true(m->config.fair_sharing && m->config.pods_ready.on && !m->config.pods_ready.block_admission);
    assert_int_equal(m->config.pods_ready.timeout_ns / SIM_MINUTE, 30);
    manifest_free(m);
}

/* apis/config/v1beta1: blockAdmission is true by default, but means nothing unless enable is. */
static void admission_blocks_only_where_readiness_is_waited_for(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool on, blocks;
    } cases[] = {{"v1beta1\nkind: Configuration\n", false, false},
                 {"v1beta1\nkind: Configuration\nwaitForPodsReady: {blockAdmission: true}\n", false, false},
                 {"v1beta1\nkind: Configuration\nwaitForPodsReady: {enable: true}\n", true, true},
                 {"v1beta2\nkind: Configuration\nwaitForPodsReady: {timeout: 1m}\n", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, "apiVersion: config.kueue.x-k8s.io/%s", cases[i].text);
        struct manifest *m = read_text(text);
        assert_int_equal(m->config.pods_ready.on, cases[i].on);
        assert_int_equal(m->config.pods_ready.block_admission, cases[i].blocks);
        manifest_free(m);
    }
}

static void json_and_yaml_read_alike(void **state)
{
    (void)state;
    struct manifest *a = read_text("{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"WorkloadList\",\"items\":[{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\","
                                   "\"kind\":\"Workload\",\"metadata\":{\"name\":\"w\"},\"spec\":{\"queueName\":\"l\",\"podSets\":[{\"template\":{\"spec\":"
                                   "{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"250m\"}}}]}}}]}}]}\n");
    struct manifest *b = read_text(WORKLOAD("containers: [{resources: {requests: {cpu: 250m}}}]"));
    assert_int_equal(request(a, "cpu"), 250);
    assert_int_equal(request(b, "cpu"), 250);
    manifest_free(a);
    manifest_free(b);
}

static void durations_come_from_a_law_by_name(void **state)
{
    (void)state;
    struct err e = {0};
    struct manifest *m = read_text("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\n" QUEUE("v1beta2", "namespaceSelector: {}")
                                   "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: l}\nspec: {clusterQueue: q}\n---\n" WORKLOAD("containers: []"));
    assert_int_equal(manifest_without_duration(m), 1);
    assert_false(manifest_durations(m, "lognormal,median", 1, &e));
    assert_int_equal(e.code, ERR_INPUT);
    e = (struct err){0};
    assert_true(manifest_durations(m, "uniform,from=10m,to=20m", 1, &e));
    assert_int_equal(manifest_without_duration(m), 0);
    assert_in_range(m->workloads[0].duration_ns / SIM_SECOND, 600, 1200);
    const int64_t first = m->workloads[0].duration_ns;
    m->workloads[0].duration_ns = POLICY_NEVER;
    assert_true(manifest_durations(m, "uniform,from=10m,to=20m", 1, &e));
    assert_true(m->workloads[0].duration_ns == first);
    manifest_free(m);
}

/* The baseline file of Kueue's scheduler performance test: 5 x 6 queues, 500 workloads each. */
static void a_generator_file_is_a_cluster(void **state)
{
    (void)state;
    struct manifest *m = read_text(
        "cohorts:\n- className: cohort\n  count: 2\n  queuesSets:\n  - className: cq\n    count: 3\n    nominalQuota: 20\n    borrowingLimit: 100\n"
        "    reclaimWithinCohort: Any\n    withinClusterQueue: LowerPriority\n    workloadsSets:\n    - count: 4\n      creationIntervalMs: 100\n"
        "      workloads: [{className: small, runtimeMs: 200, priority: 50, request: 1}]\n");
    assert_true(m->generator);
    assert_int_equal(m->config.cohort_count, 2);
    assert_int_equal(m->config.cluster_queue_count, 6);
    assert_string_equal(m->config.cluster_queues[0].name, "cq-0-0-cohort-0");
    assert_int_equal(m->config.cluster_queues[0].groups[0].quotas[0].borrowing_limit, 100000);
    assert_int_equal(m->workload_count, 24);
    assert_int_equal(m->workloads[0].policy.created_ns, 100 * SIM_MS);
    assert_int_equal(m->workloads[23].policy.created_ns, 400 * SIM_MS);
    assert_int_equal(m->workloads[0].duration_ns, 200 * SIM_MS);
    assert_string_equal(m->config.resources[m->main_resource], "cpu");
    manifest_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_fields_take_the_defaults_of_the_api),
        cmocka_unit_test(both_versions_name_the_same_things),
        cmocka_unit_test(pods_ask_for_what_kubernetes_adds_up),
        cmocka_unit_test(limit_ranges_give_defaults),
        cmocka_unit_test(configured_transformations_are_applied),
        cmocka_unit_test(a_finished_workload_tells_its_run_time),
        cmocka_unit_test(jobs_become_the_workloads_of_their_integrations),
        cmocka_unit_test(a_job_whose_workload_is_there_counts_once),
        cmocka_unit_test(the_image_of_the_controller_picks_the_profile),
        cmocka_unit_test(the_configuration_decides_modes_and_times),
        cmocka_unit_test(admission_blocks_only_where_readiness_is_waited_for),
        cmocka_unit_test(json_and_yaml_read_alike),
        cmocka_unit_test(durations_come_from_a_law_by_name),
        cmocka_unit_test(a_generator_file_is_a_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
