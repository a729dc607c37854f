/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bad manifests, as the API server, a webhook or the controller treats them: refused with the path
 * of the field, inactive with the reason, or accepted as they are.
 */
#include "scenarios/load/manifest/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define META(kind, name) "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " kind "\nmetadata: {name: " name "}\n"
#define FLAVOR META("ResourceFlavor", "f") "---\n"
/* A ClusterQueue whose one quota is written in `quota`, with further lines of its spec. */
#define QUEUE(more, quota)                                                                         \
    META("ClusterQueue", "q") "spec:\n  namespaceSelector: {}\n" more                               \
    "  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: f\n      resources: [{name: cpu, " quota "}]\n"

struct outcome {
    struct manifest *m;
    char text[4096]; /* all messages */
};

static struct outcome read_text(const char *text)
{
    struct outcome o = {0};
    struct diag_list diags = {0};
    char *printed = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&printed, &n);
    o.m = manifest_read_text("cluster.yaml", text, strlen(text), &diags);
    diag_print(&diags, out);
    fclose(out);
    snprintf(o.text, sizeof o.text, "%s", printed);
    free(printed);
    assert_int_equal(o.m == NULL, diags.error_count > 0);
    diag_fini(&diags);
    return o;
}

static void says(const struct outcome *o, const char *text)
{
    if (strstr(o->text, text) == NULL)
        print_error("expected '%s' in:\n%s\n", text, o->text);
    assert_non_null(strstr(o->text, text));
}

static void refused(const char *text, const char *with)
{
    struct outcome o = read_text(text);
    says(&o, with);
    assert_null(o.m);
}

static struct manifest *accepted(const char *text, const char *warning)
{
    struct outcome o = read_text(text);
    if (o.m == NULL)
        print_error("%s\n", o.text);
    assert_non_null(o.m);
    if (warning != NULL)
        says(&o, warning);
    return o.m;
}

static const struct policy_quota *first_quota(const struct manifest *m)
{
    return &m->config.cluster_queues[0].groups[0].quotas[0];
}

static void cohorts_whose_parents_run_in_a_circle_make_their_queues_inactive(void **state)
{
    (void)state;
    struct manifest *m = accepted(
        FLAVOR META("Cohort", "a") "spec: {parentName: b}\n---\n" META("Cohort", "b") "spec: {parentName: a}\n---\n"
        QUEUE("  cohortName: a\n", "nominalQuota: 1"),
        "Can't admit new workloads: the cohort \"a\" is part of a cycle.");
    assert_non_null(m->queues[0].inactive);
    manifest_free(m);
}

static void a_missing_flavor_makes_its_queue_inactive(void **state)
{
    (void)state;
    struct manifest *m = accepted(QUEUE("", "nominalQuota: 1"),
                                  "Can't admit new workloads: references missing ResourceFlavor(s): f.");
    assert_string_equal(m->queues[0].inactive, "Can't admit new workloads: references missing ResourceFlavor(s): f.");
    assert_null(m->config.flavors[0].name); /* the policy does not see it */
    manifest_free(m);
}

static void a_missing_topology_makes_its_queue_inactive(void **state)
{
    (void)state;
    manifest_free(accepted(META("ResourceFlavor", "f") "spec: {nodeLabels: {a: b}, topologyName: t}\n---\n" QUEUE("", "nominalQuota: 1"),
                           "there is no Topology \"t\" for TAS flavor \"f\""));
}

static void a_missing_or_inactive_check_makes_its_queue_inactive(void **state)
{
    (void)state;
    manifest_free(accepted(FLAVOR QUEUE("  admissionChecks: [c]\n", "nominalQuota: 1"),
                           "references missing AdmissionCheck(s): c"));
    manifest_free(accepted(FLAVOR META("AdmissionCheck", "c") "status: {conditions: [{type: Active, status: \"False\"}]}\n---\n"
                           QUEUE("  admissionChecksStrategy: {admissionChecks: [{name: c}]}\n", "nominalQuota: 1"),
                           "references inactive AdmissionCheck(s): c"));
}

static void quotas_of_unknown_resources_are_named(void **state)
{
    (void)state;
    manifest_free(accepted(FLAVOR QUEUE("", "nominalQuota: 1")
                           "---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {memory: 1Gi}}\n",
                           "spec.resourceGroups[0].coveredResources[0]: no node provides and no workload requests \"cpu\""));
}

static void limits_need_a_cohort(void **state)
{
    (void)state;
    refused(FLAVOR QUEUE("", "nominalQuota: 1, borrowingLimit: 1"),
            "ClusterQueue 'q': spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: "
            "Invalid value: \"1\": must be nil when cohort is empty");
    refused(FLAVOR QUEUE("", "nominalQuota: 1, lendingLimit: 1"), "lendingLimit: Invalid value: \"1\": must be nil when cohort is empty");
    refused(META("Cohort", "c") "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: f\n"
            "      resources: [{name: cpu, nominalQuota: 1, borrowingLimit: 1}]\n",
            "must be nil when parent is empty");
    refused(FLAVOR QUEUE("  cohortName: c\n", "nominalQuota: 1, lendingLimit: 2"),
            "lendingLimit: Invalid value: \"2\": must be less than or equal to the nominalQuota");
}

static void negative_amounts_are_refused(void **state)
{
    (void)state;
    refused(FLAVOR QUEUE("", "nominalQuota: -1"),
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: \"-1\": must be greater than or equal to 0");
    refused(FLAVOR QUEUE("  cohortName: c\n", "nominalQuota: 1, borrowingLimit: \"-1m\""), "borrowingLimit: Invalid value: \"-1m\"");
    refused(FLAVOR QUEUE("  fairSharing: {weight: -1}\n", "nominalQuota: 1"), "spec.fairSharing.weight: Invalid value: \"-1\"");
    refused(FLAVOR QUEUE("  fairSharing: {weight: 1n}\n", "nominalQuota: 1"), "When not 0, weight must be > 10e-9");
}

static void absurd_quantities_are_taken_as_the_api_server_takes_them(void **state)
{
    (void)state;
    struct manifest *m = accepted(FLAVOR QUEUE("", "nominalQuota: 1e30"), NULL);
    assert_true(first_quota(m)->nominal == POLICY_UNLIMITED);
    manifest_free(m);
    m = accepted(FLAVOR QUEUE("", "nominalQuota: 0.1m"), NULL); /* rounded up to a milli-core */
    assert_int_equal(first_quota(m)->nominal, 1);
    manifest_free(m);
    refused(FLAVOR QUEUE("", "nominalQuota: 1Q"), "nominalQuota: Invalid value: \"1Q\": quantities must match");
    refused(FLAVOR QUEUE("", "nominalQuota: \"\""), "quantities must match");
    refused(FLAVOR QUEUE("", "nominalQuota: [1]"), "nominalQuota: Invalid value: expected a quantity");
}

static void consumed_resources_are_amounts_from_nought(void **state)
{
    (void)state;
    refused(FLAVOR QUEUE("", "nominalQuota: 1") "---\n" META("LocalQueue", "l") "spec: {clusterQueue: q}\n"
            "status: {fairSharing: {admissionFairSharingStatus: {consumedResources: {cpu: -3}}}}\n",
            "status.fairSharing.admissionFairSharingStatus.consumedResources.cpu: Invalid value: \"-3\"");
}

static void names_stand_once(void **state)
{
    (void)state;
    refused(FLAVOR FLAVOR, "cluster.yaml:5:1: ResourceFlavor 'f': already exists (first in cluster.yaml, line 1)");
    refused(FLAVOR META("ClusterQueue", "q") "spec:\n  resourceGroups:\n  - coveredResources: [cpu, cpu]\n    flavors:\n"
            "    - name: f\n      resources: [{name: cpu, nominalQuota: 1}, {name: cpu, nominalQuota: 1}]\n",
            "spec.resourceGroups[0].coveredResources[1]: Duplicate value: \"cpu\"");
    refused(FLAVOR META("ClusterQueue", "q") "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n"
            "    - {name: f, resources: [{name: cpu, nominalQuota: 1}]}\n    - {name: f, resources: [{name: cpu, nominalQuota: 1}]}\n",
            "spec.resourceGroups[0].flavors[1].name: Duplicate value: \"f\"");
    refused("a: 1\na: 2\n", "cluster.yaml:2:1: key stands twice in this map");
    refused(META("ClusterQueue", "\"\""), "metadata.name: Required value");
}

static void resources_stand_in_the_order_that_is_covered(void **state)
{
    (void)state;
    refused(FLAVOR META("ClusterQueue", "q") "spec:\n  resourceGroups:\n  - coveredResources: [cpu, memory]\n    flavors:\n"
            "    - name: f\n      resources: [{name: memory, nominalQuota: 1}, {name: cpu, nominalQuota: 1}]\n",
            "flavors[0].resources[0].name: Invalid value: \"memory\": must match the name in coveredResources");
    refused(FLAVOR META("ClusterQueue", "q") "spec:\n  resourceGroups:\n  - coveredResources: [cpu, memory]\n    flavors:\n"
            "    - name: f\n      resources: [{name: cpu, nominalQuota: 1}]\n",
            "flavors must have the same number of resources as the coveredResources");
}

static void words_that_are_no_choice_are_refused_with_the_choices(void **state)
{
    (void)state;
    refused(FLAVOR QUEUE("  queueingStrategy: FIFO\n", "nominalQuota: 1"),
            "spec.queueingStrategy: Unsupported value: \"FIFO\": supported values: \"BestEffortFIFO\", \"StrictFIFO\"");
    refused(FLAVOR QUEUE("  preemption: {borrowWithinCohort: {policy: LowerPriority}}\n", "nominalQuota: 1"),
            "spec.preemption: Invalid value: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never");
    refused(FLAVOR QUEUE("  flavorFungibility: {preference: PreemptionOverBorrowing}\n", "nominalQuota: 1"),
            "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor");
    refused(FLAVOR QUEUE("  namespaceSelector2: {}\n  stopPolicy: Never\n", "nominalQuota: 1"), "spec.stopPolicy: Unsupported value");
}

static void unknown_fields_are_named_with_the_nearest(void **state)
{
    (void)state;
    manifest_free(accepted(FLAVOR QUEUE("  cohortname: a\n", "nominalQuota: 1"),
                           "unknown field \"cohortname\" (did you mean \"cohortName\"?) is ignored"));
}

static void anchors_aliases_and_tags_are_refused(void **state)
{
    (void)state;
    refused("a: &x 1\nb: *x\n", "cluster.yaml:1:4: anchors (&) and aliases (*) are not supported");
    refused("a: !!str 1\n", "tags (!) are not supported");
}

static void text_that_is_no_yaml_or_json_is_refused_where_it_breaks(void **state)
{
    (void)state;
    refused("kind: [a\n", "cluster.yaml:2:1: not YAML");
    refused("{\"kind\": \"List\",\n \"items\": nothing}", "cluster.yaml:2:11: not JSON");
    refused("{\"kind\": \"List\", \"items\": [", "the JSON ends too early; is the file truncated?");
    refused("kind: \xff\xfe\n", "cluster.yaml:1:7: byte 6 is not UTF-8 text");
    refused("- 1\n", "expected an object with kind and apiVersion");
    refused("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\nspec: {resourceGroups: [[a]]}\n",
            "cluster.yaml:4:25: ClusterQueue 'q': spec.resourceGroups[0]: Invalid value: expected an object");
    refused("metadata: {name: a}\n", "kind: Required value");
}

#define JSON_QUEUE(quota)                                                                                     \
    "{\"kind\": \"List\", \"items\": [\n {\"apiVersion\": \"kueue.x-k8s.io/v1beta2\", \"kind\": \"ResourceFlavor\",\r\n"  \
    "  \"metadata\": {\"name\": \"f\"}},\n {\"apiVersion\": \"kueue.x-k8s.io/v1beta2\", \"kind\": \"ClusterQueue\", \n"     \
    "  \"metadata\": {\"name\": \"q\"}, \"spec\": {\"namespaceSelector\": {}, \"resourceGroups\": [{\"coveredResources\": [\"cpu\"],\n" \
    "   \"flavors\": [{\"name\": \"f\", \"resources\": [{\"name\" : \"cpu\",\n\t\"nominalQuota\" :  " quota "}]}]}]}}]}"

static void json_has_places_and_digits_too(void **state)
{
    (void)state;
    refused(JSON_QUEUE("\"-5\""), "cluster.yaml:7:20: ClusterQueue 'q': spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: "
                                  "Invalid value: \"-5\": must be greater than or equal to 0");
    refused(JSON_QUEUE("[\"]\", {}, null, \"\\\\\"]"), "cluster.yaml:7:20: ClusterQueue 'q'");
    refused(JSON_QUEUE("\"a\\u0000b\""), "cluster.yaml:7:22: a NUL character in a text");
    refused("{}\n{\"kind\": \"List\", \"items\": 3}", "cluster.yaml:2:27: items: Invalid value: expected a list");
    refused(JSON_QUEUE("\"\\\\u0000\""), "cluster.yaml:7:20: ClusterQueue 'q'"); /* a backslash and letters */
}

static void a_resource_without_a_name_is_refused(void **state)
{
    (void)state;
    refused(META("LocalQueue", "l") "spec: {clusterQueue: q}\nstatus: {fairSharing: {admissionFairSharingStatus: {consumedResources: {\"\": 3}}}}\n",
            "cluster.yaml:5:77: LocalQueue 'default/l': status.fairSharing.admissionFairSharingStatus.consumedResources: "
            "Invalid value: \"\": name part must be non-empty");
    refused("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nadmissionFairSharing: {resourceWeights: {\"\": 2}}\n",
            "cluster.yaml:3:46: Configuration '': admissionFairSharing: Invalid value: \"\": name part must be non-empty");
    refused("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nresources: {transformations: [{input: a, outputs: {\"\": 2}}]}\n",
            "name part must be non-empty");
    refused("apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {\"\": 2}}\n",
            "cluster.yaml:4:28: Node 'n': status.allocatable[]: Invalid value: \"\": name part must be non-empty");
}

static void a_wrong_list_is_said_once(void **state)
{
    (void)state;
    struct outcome o = read_text("kind: List\nitems: {a: 1}\n");
    assert_string_equal(o.text, "cluster.yaml:2:8: items: Invalid value: expected a list\n");
}

static void names_are_those_that_the_api_server_takes(void **state)
{
    static const char *const names[] = {"Queue", "pr\xc3\xa4", "\"a\\nb\"", "\"a\\e[31mb\"", "a_b", "a.-b", "a-", ".a", "a.", "a..b", "-"};
    char text[600], *end = text;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(text, sizeof text, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: %s}\n", names[i]);
        refused(text, "cluster.yaml:3:18: ClusterQueue '");
        refused(text, "metadata.name: Invalid value: \"");
        refused(text, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'");
    }
    end += snprintf(text, sizeof text, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: ");
    memset(end, 'x', 253);
    strcpy(end + 253, "}\n");
    manifest_free(accepted(text, ""));
    strcpy(end + 253, "x}\n");
    refused(text, "must be no more than 253 bytes");
    refused("apiVersion: v1\nkind: Namespace\nmetadata: {name: a.b}\n", "a lowercase RFC 1123 label");
    refused("apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: a.b, namespace: a.b}\nspec: {clusterQueue: q}\n",
            "cluster.yaml:3:34: LocalQueue 'a.b/a.b': metadata.namespace: Invalid value: \"a.b\"");
    manifest_free(accepted(META("ResourceFlavor", "a.b-c.9"), ""));
}

static void ten_thousand_documents_are_read(void **state)
{
    (void)state;
    enum { DOCUMENTS = 10000 };
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    for (int i = 0; i < DOCUMENTS; i++)
        fprintf(out, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f%d}\n---\n", i);
    fclose(out);
    struct diag_list diags = {0};
    struct manifest *m = manifest_read_text("many.yaml", text, n, &diags);
    assert_non_null(m);
    assert_int_equal(m->config.flavor_count, DOCUMENTS);
    assert_string_equal(m->config.flavors[DOCUMENTS - 1].name, "f9999");
    manifest_free(m);
    diag_fini(&diags);
    free(text);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[2048];
    memset(text, '[', 1000);
    memset(text + 1000, ']', 1000);
    text[2000] = '\0';
    refused(text, "");
    text[0] = ' ';
    memmove(text + 3, text, 1997);
    memcpy(text, "a: ", 3);
    text[1999] = '\0';
    refused(text, "nested deeper than 128 levels");
}

static void unknown_kinds_are_counted(void **state)
{
    (void)state;
    struct manifest *m = accepted("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\n"
                                  "apiVersion: serving.knative.dev/v1\nkind: Deployment\nmetadata: {name: s}\n", NULL);
    assert_int_equal(m->kind_count, 2);
    assert_string_equal(m->kinds[0].name, "Service");
    assert_false(m->kinds[0].known);
    assert_false(m->kinds[1].known); /* of another group than apps */
    manifest_free(m);
}

/* ---- workloads ---- */

#define SPEC(more) META("Workload", "w") "spec:\n  queueName: l\n  podSets:\n" more
#define CONTAINER(resources) "  - name: main\n    template: {spec: {containers: [{resources: " resources "}]}}\n"

static void workloads_are_checked_like_their_webhook_does(void **state)
{
    (void)state;
    refused(META("Workload", "w") "spec: {queueName: l, podSets: []}\n", "Workload 'default/w': spec.podSets: Required value");
    refused(SPEC(CONTAINER("{requests: {cpu: -1}}")),
            "spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\"");
    refused(SPEC(CONTAINER("{requests: {pods: 1}}")), "\"pods\": the key is reserved for internal kueue use");
    refused(SPEC(CONTAINER("{}") CONTAINER("{}")), "spec.podSets[1]: Duplicate value");
    refused(SPEC("  - {name: a, count: 1, minCount: 2}\n"), "minCount should be positive and less or equal to count");
    refused(SPEC("  - {name: a, count: 2, minCount: 1}\n  - {name: b, count: 2, minCount: 1}\n"), "at most one podSet can use minCount");
    refused(SPEC("  - {name: a, count: two}\n"), "spec.podSets[0].count: Invalid value: \"two\": expected a whole number");
    refused(META("Workload", "w") "spec: {priorityClassName: p, podSets: [{name: a}]}\n", "priority should not be nil when priorityClassName is set");
    refused(SPEC("  - {name: a}\n") "status:\n  conditions: [{type: QuotaReserved, status: \"True\", lastTransitionTime: \"2026-01-01T00:00:00Z\"}]\n",
            "status.admission: Required value: must be set while the QuotaReserved condition is true");
    refused(SPEC("  - {name: a}\n") "status:\n  conditions: [{type: Finished, status: \"True\", lastTransitionTime: yesterday}]\n",
            "status.conditions[0].lastTransitionTime: Invalid value: \"yesterday\"");
}

static const char *why_not(const char *objects)
{
    static char text[512];
    struct manifest *m = accepted(objects, NULL);
    assert_int_equal(m->workload_count, 1);
    assert_non_null(m->workloads[0].inadmissible);
    snprintf(text, sizeof text, "%s", m->workloads[0].inadmissible);
    manifest_free(m);
    return text;
}

static void workloads_that_no_queue_takes_say_why(void **state)
{
    (void)state;
    assert_string_equal(why_not(SPEC(CONTAINER("{}"))), "LocalQueue l doesn't exist");
    assert_string_equal(why_not(SPEC(CONTAINER("{}")) "---\n" META("LocalQueue", "l") "spec: {clusterQueue: q}\n"), "ClusterQueue q doesn't exist");
}

#define LOCAL FLAVOR QUEUE("", "nominalQuota: 1") "---\n" META("LocalQueue", "l") "spec: {clusterQueue: q}\n---\n"

static void requests_above_limits_and_outside_a_limit_range_are_inadmissible(void **state)
{
    (void)state;
    struct outcome o = read_text(LOCAL SPEC(CONTAINER("{requests: {cpu: 2}, limits: {cpu: 1}}")));
    assert_non_null(o.m);
    assert_string_equal(o.m->workloads[0].inadmissible,
                        "spec.podSets[0].template.spec.containers[0]: cpu: requests must not exceed its limits");
    manifest_free(o.m);
    o = read_text(LOCAL SPEC(CONTAINER("{requests: {cpu: 2}}"))
                  "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\nspec: {limits: [{type: Container, max: {cpu: 1}}]}\n");
    assert_string_equal(o.m->workloads[0].inadmissible,
                        "spec.podSets[0].template.spec.containers[0]: cpu: requests must not be above the limitRange max");
    manifest_free(o.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cohorts_whose_parents_run_in_a_circle_make_their_queues_inactive),
        cmocka_unit_test(a_missing_flavor_makes_its_queue_inactive),
        cmocka_unit_test(a_missing_topology_makes_its_queue_inactive),
        cmocka_unit_test(a_missing_or_inactive_check_makes_its_queue_inactive),
        cmocka_unit_test(quotas_of_unknown_resources_are_named),
        cmocka_unit_test(limits_need_a_cohort),
        cmocka_unit_test(negative_amounts_are_refused),
        cmocka_unit_test(absurd_quantities_are_taken_as_the_api_server_takes_them),
        cmocka_unit_test(consumed_resources_are_amounts_from_nought),
        cmocka_unit_test(names_stand_once),
        cmocka_unit_test(resources_stand_in_the_order_that_is_covered),
        cmocka_unit_test(words_that_are_no_choice_are_refused_with_the_choices),
        cmocka_unit_test(unknown_fields_are_named_with_the_nearest),
        cmocka_unit_test(anchors_aliases_and_tags_are_refused),
        cmocka_unit_test(text_that_is_no_yaml_or_json_is_refused_where_it_breaks),
        cmocka_unit_test(json_has_places_and_digits_too),
        cmocka_unit_test(a_resource_without_a_name_is_refused),
        cmocka_unit_test(a_wrong_list_is_said_once),
        cmocka_unit_test(names_are_those_that_the_api_server_takes),
        cmocka_unit_test(ten_thousand_documents_are_read),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(unknown_kinds_are_counted),
        cmocka_unit_test(workloads_are_checked_like_their_webhook_does),
        cmocka_unit_test(workloads_that_no_queue_takes_say_why),
        cmocka_unit_test(requests_above_limits_and_outside_a_limit_range_are_inadmissible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
