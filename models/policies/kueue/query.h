/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be asked of the engine (the asking part of struct policy_ops). */
#ifndef MODELS_POLICIES_KUEUE_QUERY_H
#define MODELS_POLICIES_KUEUE_QUERY_H

#include "models/policies/policy.h"

enum policy_place kq_query_place(void *ctx, uint32_t workload);
bool kq_query_quota(void *ctx, enum policy_object_kind kind, uint32_t id, uint32_t flavor,
                    uint32_t resource, struct policy_quota_state *state);
uint32_t kq_query_pending_count(void *ctx, uint32_t cluster_queue);
uint32_t kq_query_admitted_count(void *ctx, uint32_t cluster_queue);
void kq_query_pending(void *ctx, uint32_t cluster_queue,
                      void (*fn)(void *arg, const struct policy_pending *group), void *arg);
bool kq_query_reason(void *ctx, uint32_t workload, struct policy_reason *reason);
double kq_query_share(void *ctx, enum policy_object_kind kind, uint32_t id);
/* head.c */
bool kq_query_head(void *ctx, uint32_t cluster_queue, struct policy_head *head);
bool kq_query_may_fit(void *ctx, uint32_t cluster_queue, uint32_t shape, struct policy_numbers *numbers);
void kq_query_reach(void *ctx, uint32_t cluster_queue, uint32_t shape, void (*fn)(void *arg, const struct policy_reach *reach),
                    void *arg);

#endif
