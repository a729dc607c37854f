/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that worlds write and analysis reads; the contract between models/world and analysis
 * (kept in docs/results-schema.md). scope_kind 'all' has scope ''.
 *
 * metric, scope_kind 'all' (fractions, seconds, card-hours, usd, counts):
 *   demand.offered                 demand without limits / capacity (fraction)
 *   utilization.{allocated,real,useful,work}
 *   idle.{no_demand,quota,blocked,fragmented,reserved}
 *   training.wait.{p50,p95} (censored flag), training.unfinished, training.rework, training.lost,
 *   training.preemptions, training.started, training.finished, training.submitted,
 *   training.failed (given up after their retries), training.abandoned (work left in those);
 *   where a stream has a communication model training.network_loss (card-hours), training.gang_speed (fraction of
 *   computing time that is not lost to the network), training.across_domains (of runs on several nodes: those
 *   that leave an innermost network domain)
 *   lora.: the same names; where anybody names a loraBase lora.cards_peak, lora.cards_mean (cards its tenants
 *   hold), lora.stretch (time from first start to end over work, finished LoRA jobs)
 *   inference.latency.{p50,p99}, inference.ttft.{p50,p99}, inference.slo_attainment,
 *   inference.cold_starts, inference.{arrived,served,rejected,timed_out,queued},
 *   inference.{tokens,tokens_arrived,tokens_lost,tokens_queued}
 *   replicas.preemptions
 *   sharing.{asked,got,lost} (card-hours, only scope kind tenant)
 *   sharing.{overhead,incidents,victims,cards_peak,cards_mean} (also scope kind node_pool)
 *   sharing.{instances_made,instance_wait} (only scope kind node_pool, of pools under dynamic MIG)
 *   cost.nodes, cost.engineers, cost.total, cost.per_million_tokens, cost.per_useful_card_hour
 *   managed.throttled (share of requests refused), managed.job_card_hours
 * scope_kind 'team': quota.nominal, quota.used, quota.lent, quota.borrowed (mean cards),
 *   training.wait.{p50,p95}, training.unfinished, training.rework, training.evictions, cost.total,
 *   inference.slo_attainment
 * scope_kind 'service': inference.latency.{p50,p99}, inference.slo_attainment, inference.cold_starts,
 *   inference.{arrived,served,rejected,timed_out,queued}, replicas.mean
 * scope_kind 'node_pool': utilization.*, idle.*; 'class': card-hours computing ('useful')
 *
 * series (replication 0; steps of an hour over the whole run): cards.<bucket> (mean cards),
 *   cards.capacity, traffic.rate (requests/s, scope '' = sum), replicas.cards (cards of ready
 *   replicas), replicas.wanted_cards, training.cards, pending.cards (cards asked by waiting jobs),
 *   evictions (count), rework.card_h
 * series of the day around the costliest reclaim (steps of 5 minutes): day.<same names>
 * series of quota, scope '<node>/<flavor>/<resource>' (cohorts: 'cohort:<node>/...'), see table quota_node:
 *   quota.{pending,reserved,admitted,borrowed,lent,free}; a row where the value changes
 * histogram: training.wait, lora.wait, inference.latency (seconds)
 * event_of_note: costliest_reclaim (magnitude = card-hours lost), worst_wait
 */
