/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prices of managed services: tokens by tier, model units, custom model import, training jobs
 * (managed-and-costs section 2). Integer micro-USD, each bill rounded once, halves up.
 */
#ifndef MODELS_MONEY_MANAGED_PRICE_H
#define MODELS_MONEY_MANAGED_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/fleet/catalogue.h"
#include "sim/sim_time.h"

/* Micro-USD per million tokens. */
struct token_price {
    int64_t in, out, cache_read, cache_write;
};

struct token_usage {
    int64_t in, out, cache_read, cache_write; /* tokens >= 0 */
};

/* The catalogue's price of a model (in and out; caches 0), false when it has none. */
bool token_price_find(const struct catalogue *c, const char *model, struct token_price *out);

/* Multiplier of a service tier in milli (default 1000, flex 500, priority 1750, batch 500), or
 * -1 when the catalogue has no such tier. */
int64_t token_tier_milli(const struct catalogue *c, const char *tier);

/* tier * (in P_in + cache_read P_cr + cache_write P_cw + out P_out) / 1e6. */
int64_t token_cost_uusd(const struct token_price *price, const struct token_usage *used,
                        int64_t tier_milli);

/* Tokens counted against the quota: in + cache_write + out * burndown. Never billed. */
int64_t token_quota(const struct token_usage *used, int64_t burndown);

/* Token bucket per minute of one model and account (2.1): admission reserves in + max_tokens,
 * the end of the request gives back what was not used (or takes more). */
struct token_bucket {
    int64_t per_minute; /* tokens; > 0 */
    int64_t left;
    sim_time minute;    /* start of the minute `left` belongs to */
};

/* Full at time 0. */
void token_bucket_init(struct token_bucket *b, int64_t per_minute);
/* now must not go back. Returns false = 429. */
bool token_bucket_admit(struct token_bucket *b, sim_time now, int64_t need);
/* used: token_quota of the request. What belongs to an earlier minute is settled in this one. */
void token_bucket_finish(struct token_bucket *b, sim_time now, int64_t need, int64_t used);

/* Provisioned throughput: tokens per hour at which a model unit costs as much as its tokens. */
double model_unit_break_even(double unit_usd_per_h, double blended_usd_per_million);

/* One copy of an imported model (2.3): windows of 5 minutes from its first call; a window with a
 * call is charged whole; after 5 minutes without a call the copy is gone, and the next call
 * starts a new one. A zeroed struct is a copy that was never called. */
struct cmi_copy {
    bool active;
    sim_time window, last_call;
    int64_t windows;    /* charged so far */
};

/* Calls in order of time. Returns true when the call found no copy (ModelNotReadyException). */
bool cmi_call(struct cmi_copy *copy, sim_time now);
int64_t cmi_cost_uusd(int64_t windows, int64_t units_per_copy, int64_t uusd_per_unit_minute);

/* SageMaker training job (2.4): billable and retained (warm pool) time of instance_count. */
int64_t training_cost_uusd(sim_time billable, sim_time retained, int64_t instance_count,
                           int64_t ml_uusd_per_h);
/* 1 - billable / training time; training > 0. */
double training_spot_saving(sim_time billable, sim_time training);

/* ml.* price of an instance type: the catalogue's own row, else EC2 on demand times the uplift of
 * its family (2.6); 0 when EC2 publishes none. */
int64_t ml_price_uusd(const struct catalogue *c, const char *instance);
/* The uplift alone, e.g. 1.15. */
double ml_uplift(const struct catalogue *c, const char *instance);

#endif
