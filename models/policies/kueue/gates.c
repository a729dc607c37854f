/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/gates.h"

#include <stdio.h>
#include <string.h>

enum profile { HEAD, V0_19, V0_18, PROFILE_COUNT };

struct gate_row {
    const char *name;
    int gate; /* enum kq_gate, or -1: known, changes nothing that is modelled */
    bool on[PROFILE_COUNT];
};

/* Defaults read from the gate tables of the releases (spec 7). */
static const struct gate_row rows[] = {
    {"PartialAdmission", KQ_PARTIAL_ADMISSION, {true, true, true}},
    {"FlavorFungibility", KQ_FLAVOR_FUNGIBILITY, {true, true, true}},
    {"FlavorFungibilityPreserveScanProgress", KQ_PRESERVE_SCAN_PROGRESS, {true, true, true}},
    {"PrioritySortingWithinCohort", KQ_PRIORITY_SORTING, {true, true, true}},
    {"PrioritizePreemptorWorkloads", KQ_PRIORITIZE_PREEMPTOR, {false, false, false}},
    {"FairSharingPreemptWithinNominal", KQ_FS_WITHIN_NOMINAL, {true, true, true}},
    {"FairSharingPrioritizeNonBorrowing", KQ_FS_NON_BORROWING, {true, true, true}},
    {"RecomputeAssignmentUponPreemptionTargetsOverlap", KQ_RECOMPUTE_OVERLAP, {true, false, false}},
    {"SchedulingEquivalenceHashing", KQ_SHAPE_HASHING, {true, true, true}},
    {"QuotaCheckStrategy", KQ_QUOTA_CHECK_STRATEGY, {true, true, false}},
    {"TopologyAwareScheduling", KQ_TOPOLOGY, {true, true, true}},
    {"TASRecomputeAssignmentWithinSchedulingCycle", KQ_TOPOLOGY_RECOMPUTE, {true, true, true}},
    {"TASProfileMixed", KQ_TOPOLOGY_MIXED, {true, true, true}},
    {"TASHandleOverlappingFlavors", KQ_TOPOLOGY_OVERLAPPING, {true, true, true}},
    {"TASMultiLayerTopology", KQ_TOPOLOGY_LAYERS, {true, true, false}},
    {"AdmissionFairSharing", KQ_ADMISSION_FAIR_SHARING, {true, true, true}},
    {"VectorizedResourceRequests", -1, {true, true, true}},
    {"ReclaimablePods", -1, {true, true, true}},
    {"ElasticJobsViaWorkloadSlices", -1, {true, true, true}},
    {"ConcurrentAdmission", -1, {false, false, false}},
    {"MultiKueueOrchestratedPreemption", -1, {false, false, false}},
    {"PriorityBoost", -1, {false, false, false}},
    {"DisableWaitForPodsReady", -1, {false, false, false}},
    {"TASBalancedPlacement", -1, {false, false, false}},
    {"TASRespectNodeAffinityPreferred", -1, {false, false, false}},
    {"TASFailedNodeReplacement", -1, {true, true, true}},
    {"TASFailedNodeReplacementFailFast", -1, {true, true, true}},
    {"TASReplaceNodeOnPodTermination", -1, {true, true, true}},
    {"TASReplaceNodeOnNodeTaints", -1, {true, true, true}},
    {"SchedulerTimestampPreemptionBuffer", -1, {false, false, false}},
    {"SchedulerLongRequeueInterval", -1, {false, false, false}},
    {"SchedulerLibraryIntegration", -1, {false, false, false}},
    {"WorkloadRequestUseMergePatch", -1, {false, false, false}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int profile_of(const char *name)
{
    static const char *const names[PROFILE_COUNT] = {"HEAD", "v0.19", "v0.18"};
    if (name == NULL)
        return HEAD;
    for (int i = 0; i < PROFILE_COUNT; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

static const struct gate_row *find(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool kq_gates_init(struct kq *k, const struct policy_config *cfg, char *error, size_t error_size)
{
    const int profile = profile_of(cfg->profile);
    if (profile < 0) {
        snprintf(error, error_size, "unknown profile '%s' (HEAD, v0.19 or v0.18)", cfg->profile);
        return false;
    }
    for (int i = 0; i < ROWS; i++)
        if (rows[i].gate >= 0)
            k->gate[rows[i].gate] = rows[i].on[profile];
    for (uint32_t i = 0; i < cfg->gate_count; i++) {
        const struct gate_row *row = find(cfg->gates[i].name);
        if (row == NULL) {
            snprintf(error, error_size, "unknown feature gate '%s'", cfg->gates[i].name);
            return false;
        }
        if (row->gate >= 0)
            k->gate[row->gate] = cfg->gates[i].on;
    }
    if (!k->gate[KQ_FLAVOR_FUNGIBILITY]) /* the second needs the first */
        k->gate[KQ_PRESERVE_SCAN_PROGRESS] = false;
    return true;
}
