/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/tables.h"

#include <stddef.h>

#define INT_(n) {n, RECORD_INT, false}
#define REAL_(n) {n, RECORD_REAL, false}
#define TEXT_(n) {n, RECORD_TEXT, false}
#define INT_NULL(n) {n, RECORD_INT, true}
#define REAL_NULL(n) {n, RECORD_REAL, true}
#define TEXT_NULL(n) {n, RECORD_TEXT, true}

const struct record_table table_metric = {
    "metric",
    "one figure of one run: scope_kind is 'all', 'team', 'queue', 'node_pool', 'flavor', 'service', 'tenant' or 'class'; "
    "censored = 1 when the value is only a lower bound (prints >=)",
    {INT_("run"), TEXT_("scope_kind"), TEXT_("scope"), TEXT_("name"), REAL_NULL("value"), INT_("censored")},
    6};

const struct record_table table_ledger = {
    "ledger",
    "card time by period, node pool, team, class and bucket; card_s whole card-seconds, rest_mcns "
    "milli-card-nanoseconds below one card-second (< 10^12)",
    {INT_("run"), INT_("period"), TEXT_("node_pool"), TEXT_("purchase"), TEXT_NULL("team"), TEXT_NULL("class"),
     TEXT_("bucket"), INT_("card_s"), INT_("rest_mcns")},
    9};

const struct record_table table_series = {
    "series",
    "values over time (replication 0), at most 1,000 steps: the mean over [t_s, next t_s)",
    {INT_("run"), TEXT_("name"), TEXT_("scope"), REAL_("t_s"), REAL_NULL("value")},
    5};

const struct record_table table_histogram = {
    "histogram",
    "distributions, as mass between lo and hi (hi NULL = infinite)",
    {INT_("run"), TEXT_("name"), TEXT_("scope"), REAL_("lo"), REAL_NULL("hi"), REAL_("mass")},
    6};

const struct record_table table_workload = {
    "workload",
    "one job (with --record full): times in seconds, NULL = did not happen",
    {INT_("run"), TEXT_("id"), TEXT_("class"), TEXT_("team"), TEXT_("queue"), INT_("priority"), INT_("workers"),
     INT_("cards_milli"), REAL_("submit_s"), REAL_NULL("start_s"), REAL_NULL("finish_s"), REAL_("work_s"),
     REAL_("done_s"), INT_("evictions"), REAL_("rework_card_s"), TEXT_NULL("wait_reason")},
    16};

const struct record_table table_service_interval = {
    "service_interval",
    "one service between two changes (with --record full)",
    {INT_("run"), TEXT_("service"), REAL_("t_s"), REAL_("duration_s"), REAL_("arrivals"), REAL_("served"),
     REAL_("rejected"), REAL_("backlog"), INT_("replicas_ready"), INT_("replicas_wanted"), REAL_NULL("latency_mean_s")},
    11};

const struct record_table table_decision = {
    "decision",
    "why: every change of reason of a workload, with the numbers that made it; repeats counted",
    {INT_("run"), INT_("t_ns"), INT_("seq"), TEXT_("workload"), TEXT_("queue"), TEXT_("kind"), TEXT_("reason"),
     TEXT_NULL("detail"), INT_("repeats")},
    9};

const struct record_table table_nomination = {
    "nomination",
    "what an evaluation looked at before the decision of that seq: each flavor tried, in order, with its grade (Fit, Reclaim, Preempt, NoCandidates, NoFit; Short: more than is available, and no evaluation was needed) and its numbers, in cards, cores or pieces; NULL: unlimited, or no such limit; most: what the queue could ever use; level: how far away it borrows",
    {INT_("run"), INT_("seq"), INT_("n"), TEXT_("flavor"), TEXT_("resource"), TEXT_("grade"), REAL_NULL("asks"),
     REAL_NULL("available"), REAL_NULL("nominal"), REAL_NULL("used"), REAL_NULL("borrowing_limit"),
     REAL_NULL("lending_limit"), REAL_NULL("most"), INT_("level")},
    14};

const struct record_table table_decision_share = {
    "decision_share",
    "fair sharing, at the evaluation behind the decision of that seq: dominant share in thousandths of the workload's queue "
    "and of those whose workloads would go, before and once it is in and they are gone; NULL: weight 0 and borrowing",
    {INT_("run"), INT_("seq"), INT_("n"), TEXT_("queue"), REAL_NULL("before"), REAL_NULL("after")},
    6};

const struct record_table table_decision_spared = {
    "decision_spared",
    "a workload that the search for victims had chosen and fill-back gave back",
    {INT_("run"), INT_("seq"), INT_("n"), TEXT_("workload")},
    4};

const struct record_table table_tenant = {
    "tenant",
    "a service (kind 'service') or a stream of jobs ('jobs') that can share a card, and the isolation it requires: "
    "none, software, hardware or exclusive",
    {INT_("run"), TEXT_("tenant"), TEXT_("kind"), TEXT_NULL("team"), TEXT_("requires"), TEXT_NULL("reason")},
    6};

const struct record_table table_sharing = {
    "sharing",
    "one card that two tenants held parts of at the same time (tenant < other), for shared_s seconds in `times` overlaps "
    "between from_s and to_s; isolation is what stood between them: none, software or hardware",
    {INT_("run"), TEXT_("node_pool"), INT_("node"), INT_("card"), TEXT_("mechanism"), TEXT_("isolation"),
     TEXT_("tenant"), TEXT_("other"), REAL_("from_s"), REAL_("to_s"), REAL_("shared_s"), INT_("times")},
    12};

const struct record_table table_incident = {
    "incident",
    "one victim of an incident on a shared card: cause over-limit, card-full or fault; culprit is the tenant whose "
    "allocation or fault it was, and is a victim too when it dies",
    {INT_("run"), INT_("incident"), REAL_("t_s"), TEXT_("cause"), TEXT_("node_pool"), INT_("node"), INT_("card"),
     TEXT_("mechanism"), TEXT_("isolation"), TEXT_("culprit"), TEXT_("victim"), REAL_("lost_card_s")},
    12};

const struct record_table table_sharing_pool = {
    "sharing_pool",
    "how a node pool shares its cards: cards_peak is the most cards with a tenant at once, tenants_mean the mean number of "
    "tenants of a card in use; isolation is none, software, hardware or exclusive",
    {INT_("run"), TEXT_("node_pool"), TEXT_("card"), TEXT_("mechanism"), TEXT_("isolation"), INT_("cards"),
     INT_("cards_peak"), REAL_("cards_mean"), REAL_("tenants_mean"), REAL_("shared_card_s"), INT_("incidents"),
     INT_("victims")},
    12};

const struct record_table table_cost = {
    "cost",
    "money by node pool, purchase, team (NULL = nobody's) and item, in micro-USD",
    {INT_("run"), TEXT_NULL("node_pool"), TEXT_NULL("purchase"), TEXT_NULL("team"), TEXT_("item"), INT_("uusd")},
    6};

const struct record_table table_event_of_note = {
    "event_of_note",
    "what the report opens with, e.g. the costliest reclaim: kind, instant, size and words",
    {INT_("run"), REAL_("t_s"), TEXT_("kind"), TEXT_NULL("team"), REAL_("magnitude"), TEXT_NULL("detail")},
    6};

const struct record_table table_assumption = {
    "assumption",
    "defaults that mattered for this run: what was assumed, from where (confidence V vendor, D data, B secondary, "
    "A ours), and the share of the fleet's card time it touches",
    {INT_("run"), TEXT_("name"), TEXT_("value"), TEXT_("source"), TEXT_("confidence"), REAL_("touches")},
    6};

const struct record_table table_quota_node = {
    "quota_node",
    "one node of the quota tree on one flavor and resource, in cards, cores or pieces: scope is its name in the series "
    "quota.*; own and nominal without and with the nodes below it; most: what it could use if nothing else were admitted, "
    "NULL = unlimited; parent NULL: a root; root NULL: a queue that stands alone; limits NULL: not set",
    {INT_("run"), TEXT_("scope"), TEXT_("kind"), TEXT_("node"), TEXT_NULL("parent"), TEXT_NULL("root"), TEXT_("flavor"),
     TEXT_("resource"), REAL_("own"), REAL_("nominal"), REAL_NULL("most"), REAL_NULL("borrowing_limit"),
     REAL_NULL("lending_limit")},
    13};

const struct record_table table_holding = {
    "holding",
    "what an admitted workload held of the quota of its queue, in cards, cores or pieces, from the admission to the release "
    "(with --record full, replication 0); to_ns NULL: until the end",
    {INT_("run"), TEXT_("workload"), TEXT_("queue"), TEXT_("flavor"), TEXT_("resource"), REAL_("amount"), INT_("from_ns"),
     INT_NULL("to_ns")},
    8};

const struct record_table table_alarm = {
    "alarm",
    "the first waiting workload of a queue would have fitted what the queue's own nominal quota had left, and stayed out; "
    "reason and why as they were when it was last looked at",
    {INT_("run"), REAL_("from_s"), REAL_("to_s"), TEXT_("queue"), TEXT_("workload"), TEXT_("reason"), TEXT_("why")},
    7};

const struct record_table *const world_tables[] = {
    &table_metric,   &table_ledger,   &table_series,  &table_histogram, &table_workload, &table_service_interval,
    &table_decision, &table_nomination, &table_decision_share, &table_decision_spared, &table_tenant,   &table_sharing, &table_incident,  &table_sharing_pool, &table_cost,
    &table_event_of_note, &table_assumption, &table_quota_node, &table_alarm, &table_holding, NULL};
