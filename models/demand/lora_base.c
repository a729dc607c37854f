/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/lora_base.h"

#include <stddef.h>

#include "sim/check.h"
#include "sim/dmath.h"

#define PPM 1000000
#define TRAIN_STATE_PER_FILE_BYTE 8 /* 16 bytes of state per parameter, 2 in the file */

struct lora_sharing lora_sharing_defaults(void)
{
    return (struct lora_sharing){
        .any_adapter = 0.05, /* 5.4: assumption */
        .per_adapter = 0.01,
        .factor_most = 1.5,
        .max_rank = 32,                        /* 5.3: Twinkle */
        .train_reserve_bytes = 1000000000,     /* 5.1: context */
        .serve_reserve_bytes = 3760000000,     /* 1.3 */
        .serve_utilization = 0.9,              /* 1.1: vLLM */
        .adapter_load_s = 0.37,                /* cache-and-checkpoint 2.3: usual path */
    };
}

int64_t lora_parameters(int32_t rank, int32_t layers, int64_t dims)
{
    return (int64_t)rank * layers * dims;
}

int64_t lora_adapter_memory(const struct lora_adapter *a, bool serves)
{
    if (a->memory_bytes > 0)
        return a->memory_bytes;
    return serves ? a->bytes : a->bytes * TRAIN_STATE_PER_FILE_BYTE;
}

struct lora_memory lora_memory_open(int64_t base_bytes, bool serves, const struct lora_sharing *p)
{
    return (struct lora_memory){
        .base_bytes = base_bytes,
        .reserve_bytes = serves ? p->serve_reserve_bytes : p->train_reserve_bytes};
}

void lora_memory_add(struct lora_memory *m, const struct lora_adapter *a, bool serves)
{
    int64_t bytes = lora_adapter_memory(a, serves), act = a->activation_bytes;
    m->adapters_bytes += bytes;
    m->largest_adapter = bytes > m->largest_adapter ? bytes : m->largest_adapter;
    m->activations_bytes += act;
    m->largest_activation = act > m->largest_activation ? act : m->largest_activation;
    m->count++;
}

int64_t lora_memory_training(const struct lora_memory *m, enum lora_mode mode)
{
    int64_t act = mode == LORA_FUSED ? m->activations_bytes : m->largest_activation;
    return m->base_bytes + m->reserve_bytes + m->adapters_bytes + act;
}

int64_t lora_memory_serving(const struct lora_memory *m, int32_t slots)
{
    return m->base_bytes + m->reserve_bytes + slots * m->largest_adapter;
}

void lora_fair(const int64_t *asked_ppm, int32_t n, int64_t capacity_ppm, int64_t *got_ppm)
{
    REQUIRE(n >= 0 && n <= LORA_SLOTS_MAX);
    bool done[LORA_SLOTS_MAX] = {false};
    int64_t rest = capacity_ppm;
    int32_t open = n;
    for (bool again = true; again && open > 0;) {
        again = false; /* whoever asks for less than an equal part has all it asked for */
        for (int32_t i = 0; i < n; i++)
            if (!done[i] && asked_ppm[i] <= rest / open) {
                got_ppm[i] = asked_ppm[i];
                rest -= asked_ppm[i];
                done[i] = again = true;
                if (--open == 0)
                    break;
            }
    }
    for (int32_t i = 0; i < n; i++)
        if (!done[i])
            got_ppm[i] = rest / open;
}

int64_t lora_capacity_ppm(enum lora_mode mode, double gain, int32_t n)
{
    return mode == LORA_FUSED && n > 1 ? PPM + (int64_t)dm_round(gain * PPM) : PPM;
}

double lora_serving_factor(const struct lora_sharing *p, int32_t adapters, int32_t max_rank)
{
    if (adapters == 0)
        return 1.0;
    double f = 1.0 + p->any_adapter + p->per_adapter * adapters * (max_rank / 16.0);
    return f < p->factor_most ? f : p->factor_most;
}

void lora_serving_speeds(const double *loads, int32_t n, double factor, double *speeds,
                         int64_t *parts_ppm)
{
    int64_t asked[LORA_SLOTS_MAX], got[LORA_SLOTS_MAX], sum = 0;
    REQUIRE(n >= 1 && n <= LORA_SLOTS_MAX && factor >= 1.0);
    for (int32_t i = 0; i < n; i++) {
        double load = loads[i] * factor; /* more than a card never counts */
        asked[i] = (int64_t)dm_round((load < 1.0 ? load : 1.0) * PPM);
    }
    lora_fair(asked, n, PPM, got);
    for (int32_t i = 0; i < n; i++)
        sum += got[i];
    for (int32_t i = 0; i < n; i++)
        speeds[i] = (double)(PPM - (sum - got[i])) / PPM / factor;
    for (int32_t i = 0; i < n && parts_ppm != NULL; i++)
        parts_ppm[i] = got[i];
}

int64_t lora_cards(int32_t tenants, int32_t slots, double duty_sum, double gain)
{
    REQUIRE(slots >= 1 && duty_sum >= 0.0 && gain >= 0.0);
    int64_t by_slots = (tenants + slots - 1) / slots;
    int64_t by_work = (int64_t)dm_ceil(duty_sum / (1.0 + gain) * (1.0 - 1e-12));
    return by_slots > by_work ? by_slots : by_work;
}
