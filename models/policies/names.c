/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/policy.h"

const char *policy_evict_reason_name(enum policy_evict_reason reason)
{
    static const char *const names[] = {
        "InClusterQueue",      "InCohortReclamation", "InCohortFairSharing",
        "InCohortReclaimWhileBorrowing", "PodsReadyTimeout",
        "DeactivatedDueToRequeuingLimitExceeded", "Stopped", "NodeFailures"};
    return names[reason];
}

const char *policy_requeue_reason_name(enum policy_requeue_reason reason)
{
    static const char *const names[] = {
        "",  "NamespaceMismatch", "NoFit", "PreemptionNoCandidates", "PendingPreemption",
        "PreemptionFailed", "FailedAfterNomination"};
    return names[reason];
}

const char *policy_mode_name(enum policy_mode mode)
{
    static const char *const names[] = {"NoFit", "Preempt", "DeferredFit", "Fit"};
    return names[mode];
}

const char *policy_grade_name(enum policy_grade grade)
{
    static const char *const names[] = {"NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit", "Short"};
    return names[grade];
}

const char *policy_outcome_name(enum policy_outcome outcome)
{
    static const char *const names[] = {"waiting", "admitted", "preempting", "skipped"};
    return names[outcome];
}
