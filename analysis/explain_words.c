/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reasons mean. Names are Kueue's (requeue reasons of the scheduler, reasons of the
 * Preempted condition) where it has one. */
#include <string.h>

#include "analysis/explain_priv.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

struct word {
    const char *kind, *reason; /* kind NULL: any */
    const char *means, *wakes;
};

static const char any_release[] = "a workload of its cohort ends or is evicted, or a quota changes";

static const struct word words[] = {
    {NULL, "NoFit", "no flavor it may use has the quota, and evicting others would not help", any_release},
    {NULL, "PreemptionNoCandidates", "no quota is free, and its queue's rules let it evict nobody", any_release},
    {NULL, "PendingPreemption", "its victims are on their way out", "they have released their cards"},
    {NULL, "PreemptionFailed", "an eviction it asked for failed", "the next cycle, at once"},
    {"skipped", "FailedAfterNomination", "it fitted, but another head of the same cycle took the quota first",
     "the next cycle, at once"},
    {NULL, "FailedAfterNomination", "it fitted, but could not be admitted in this cycle", "the next cycle, at once"},
    {NULL, "NamespaceMismatch", "its namespace is not selected by the queue", "the queue's namespaceSelector changes"},
    {NULL, "DecisionDelay", "the decision takes its time (decisionDelay)", "the delay is over"},
    {NULL, "QueueOrder", "others stand before it in its queue", "it comes first"},
    {"evicted", "InClusterQueue", "lower priority in the same queue (withinClusterQueue)", ""},
    {"evicted", "InCohortReclamation", "its queue had borrowed what the other queue owns (reclaimWithinCohort)", ""},
    {"evicted", "InCohortFairSharing", "its queue's share was the larger one (fair sharing)", ""},
    {"evicted", "InCohortReclaimWhileBorrowing",
     "low priority, and the other queue may borrow by eviction (borrowWithinCohort)", ""},
    {"evicted", "PodsReadyTimeout", "its pods were not ready in time (waitForPodsReady)", ""},
    {"evicted", "Stopped", "its queue was stopped (stopPolicy)", ""},
    {"evicted", "NodeFailures", "a node failed", ""},
    {"unplaced", "Fragmentation", "quota is not a place: free cards are scattered over nodes",
     "cards come free on a node that fits"},
    {"released", "Requeued", "back in its queue, at its old place", ""},
    {"released", "Replaced", "the service asks for a new replica", ""},
    {"failed", "RetriesUsedUp", "the user's error ended each of its attempts; it is given up", ""},
    {"deactivated", "RequeuingLimitExceeded", "it was requeued too often and is never looked at again", ""},
    {"stopped", "ScaledDown", "the scaler wants fewer replicas", ""},
};

static const struct word *find(const char *kind, const char *reason)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if ((words[i].kind == NULL ? explain_is_waiting(kind) : strcmp(words[i].kind, kind) == 0) &&
            strcmp(words[i].reason, reason) == 0)
            return &words[i];
    return NULL;
}

bool explain_is_waiting(const char *kind)
{
    return strcmp(kind, "waiting") == 0 || strcmp(kind, "skipped") == 0 || strcmp(kind, "preempting") == 0;
}

const char *explain_means(const char *kind, const char *reason)
{
    const struct word *w = find(kind, reason);
    return w == NULL ? "" : w->means;
}

const char *explain_wakes(const char *kind, const char *reason)
{
    const struct word *w = find(kind, reason);
    return w == NULL ? "" : w->wakes;
}
