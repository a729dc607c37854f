/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several LoRA adapters on one copy of a base model (workload-models 5): memory of an instance,
 * who gets how much of the card, how fast a request is beside its neighbours. Pure functions;
 * bytes, parts of the instance's card in ppm, loads as parts of a card.
 *
 * Sources of the rules, by section of workload-models:
 *   5.1 parameters r L sum(d_in + d_out); training state 16 bytes each (2 weight + 2 gradient +
 *       4 master + 8 Adam); context 1 GB
 *   5.3 memory base + sum of adapters + (largest or sum of) activations; 5 slots and rank <= 32
 *       (Twinkle: max_loras, max_r); time-share: an adapter at a time, so each of k busy tenants
 *       has 1/k of the card; fused: (1 + g) times as much in total; cards of k tenants
 *   5.4 iteration time x (1 + k0 + k1 distinct adapters max rank / 16), at most 1.5; slots of the
 *       largest adapter taken from the KV cache
 *   1.3 serving: 0.9 of the card less 3.76 GB
 */
#ifndef MODELS_DEMAND_LORA_BASE_H
#define MODELS_DEMAND_LORA_BASE_H

#include <stdbool.h>
#include <stdint.h>

#define LORA_SLOTS_MAX 64

enum lora_mode {
    LORA_TIME_SHARE, /* adapters take turns: one set of activations, no gain */
    LORA_FUSED       /* adapters in one batch: activations each, (1 + gain) in total */
};

/* What all instances of a scenario have in common. */
struct lora_sharing {
    double any_adapter, per_adapter; /* k0, k1 of 5.4 */
    double factor_most;
    int32_t max_rank;
    int64_t train_reserve_bytes; /* context, once per instance */
    int64_t serve_reserve_bytes;
    double serve_utilization;    /* part of the card that an engine takes */
    double adapter_load_s;       /* beside moving its bytes, at every join */
};
struct lora_sharing lora_sharing_defaults(void);

/* One adapter. */
struct lora_adapter {
    int32_t rank;
    int64_t bytes;            /* its file: what joining moves */
    int64_t memory_bytes;     /* on the card; 0: 8 x bytes when it trains, bytes when it serves */
    int64_t activation_bytes; /* while it trains */
};

/* Trainable parameters; dims = sum over the adapted matrices of a layer of (d_in + d_out). */
int64_t lora_parameters(int32_t rank, int32_t layers, int64_t dims);
/* On the card: 16 bytes per parameter that trains, 2 (bf16) when it serves, from the bf16 file. */
int64_t lora_adapter_memory(const struct lora_adapter *a, bool serves);

/* Memory of an instance: base once, adapters each. */
struct lora_memory {
    int64_t base_bytes, reserve_bytes;
    int64_t adapters_bytes, largest_adapter; /* sum, largest; of those counted so far */
    int64_t activations_bytes, largest_activation;
    int32_t count;
};
struct lora_memory lora_memory_open(int64_t base_bytes, bool serves, const struct lora_sharing *p);
void lora_memory_add(struct lora_memory *m, const struct lora_adapter *a, bool serves);
/* Training: base + reserve + sum of adapters + activations (largest when they take turns). */
int64_t lora_memory_training(const struct lora_memory *m, enum lora_mode mode);
/* Serving: base + reserve + slots x largest adapter; what is left of the card's utilized part is KV. */
int64_t lora_memory_serving(const struct lora_memory *m, int32_t slots);

/* Max-min fair: nobody gets more than asked[i]; what somebody leaves goes to the others in equal
 * parts. Sum of got <= capacity; rounding (less than n ppm) stays unused. */
void lora_fair(const int64_t *asked_ppm, int32_t n, int64_t capacity_ppm, int64_t *got_ppm);

/* The whole of the card to share among n busy tenants, ppm: 10^6, fused with n > 1 (1 + gain) of it. */
int64_t lora_capacity_ppm(enum lora_mode mode, double gain, int32_t n);

/* Factor on iteration times with `adapters` distinct ones in the batch, the largest of max_rank. */
double lora_serving_factor(const struct lora_sharing *p, int32_t adapters, int32_t max_rank);

/*
 * Speeds of n services on one instance, from their loads (rate / capacity of the instance if it were
 * theirs alone): processor sharing, in which the others take from one what they use of the card, so
 * speed_i = 1 - sum of others' parts, less by the factor. A service then is slower by exactly the
 * 1/(1 - rho) of all of them together: (A + w)/(s (1 - rho_i/s)) = (A + w)/(1 - sum rho). Parts are
 * max-min fair where the loads sum to more than 1.
 */
void lora_serving_speeds(const double *loads, int32_t n, double factor, double *speeds,
                         int64_t *parts_ppm); /* of the card; may be NULL */

/* Cards for `tenants` whose duties (part of its own card that each would keep busy) sum to
 * duty_sum: max(ceil(tenants / slots), ceil(duty_sum / (1 + gain))), gain 0 when they take turns. */
int64_t lora_cards(int32_t tenants, int32_t slots, double duty_sum, double gain);

#endif
