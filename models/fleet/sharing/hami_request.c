/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From limits to the normalised request {cards, MiB, percent, cores} per card. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

enum { PERCENT_UNSET = 101, XPU_MEMORY = 98304 };

const struct hami_limit *hami_limit_get(const struct hami_container *ctr, const char *name)
{
    for (int32_t i = 0; name != NULL && i < ctr->limit_count; i++)
        if (strcmp(ctr->limits[i].name, name) == 0)
            return &ctr->limits[i];
    return NULL;
}

void hami_limit_set(struct hami_container *ctr, const char *name, int64_t value,
                    struct arena *arena)
{
    for (int32_t i = 0; i < ctr->limit_count; i++)
        if (strcmp(ctr->limits[i].name, name) == 0) {
            ctr->limits[i].value = value;
            return;
        }
    struct hami_limit *grown = arena_alloc(arena, (size_t)ctr->limit_count + 1, sizeof(*grown));
    if (ctr->limit_count > 0)
        memcpy(grown, ctr->limits, (size_t)ctr->limit_count * sizeof(*grown));
    grown[ctr->limit_count++] = (struct hami_limit){.name = name, .value = value};
    ctr->limits = grown;
}

static const struct hami_request none;

/* The value of a limit, or otherwise. */
static int64_t limit_or(const struct hami_container *ctr, const char *name, int64_t otherwise)
{
    const struct hami_limit *l = hami_limit_get(ctr, name);
    return l != NULL ? l->value : otherwise;
}

/* Number of cards asked for; 0 when none or not a legal int32. */
static int32_t card_count(const struct hami_container *ctr, int v)
{
    int64_t n = limit_or(ctr, hami_backends[v].count, 0);
    return n > 0 && n <= INT32_MAX ? (int32_t)n : 0;
}

/* Memory in MiB of the vendor's unit; false when it is out of range (the request is dropped). */
static bool memory(const struct hami_container *ctr, int v, int64_t factor, int32_t *mem)
{
    int64_t asked = limit_or(ctr, hami_backends[v].mem, 0);
    if (asked < 0 || asked > INT32_MAX / factor)
        return false;
    *mem = (int32_t)(asked * factor);
    return true;
}

struct hami_request hami_request_nvidia(const struct hami_cluster *c, int v,
                                        const struct hami_container *ctr)
{
    int32_t factor = c->cfg.mem_factor > 1 ? c->cfg.mem_factor : 1;
    struct hami_request r = {.count = card_count(ctr, v), .mem_percent = PERCENT_UNSET};
    if (r.count == 0 || !memory(ctr, v, factor, &r.mem))
        return none;
    int64_t percent = limit_or(ctr, hami_backends[v].percent, 0);
    if (percent > 0)
        r.mem_percent = percent > 100 ? 100 : (int32_t)percent;
    if (r.mem_percent == PERCENT_UNSET && r.mem == 0) {
        if (c->cfg.default_mem != 0)
            r.mem = c->cfg.default_mem;
        else
            r.mem_percent = 100;
    }
    r.cores = (int32_t)limit_or(ctr, hami_backends[v].cores, c->cfg.default_cores);
    return r;
}

/* Count, memory in units, cores with a default; no memory means all of it. */
struct hami_request hami_request_plain(const struct hami_cluster *c, int v,
                                       const struct hami_container *ctr)
{
    (void)c;
    const struct hami_backend *b = &hami_backends[v];
    struct hami_request r = {.count = card_count(ctr, v)};
    if (r.count == 0 || !memory(ctr, v, b->mem_factor, &r.mem))
        return none;
    int64_t cores = limit_or(ctr, b->cores, b->default_cores);
    if (cores < 0 || cores > INT32_MAX)
        return none;
    r.cores = (int32_t)cores;
    r.mem_percent = r.mem == 0 ? 100 : 0;
    return r;
}

/* Whole cards: nothing but a count. */
struct hami_request hami_request_whole(const struct hami_cluster *c, int v,
                                       const struct hami_container *ctr)
{
    (void)c;
    int32_t n = card_count(ctr, v);
    if (n == 0)
        return none;
    return (struct hami_request){.count = n, .mem = v == HAMI_GCU ? 100 : 0, .mem_percent = 100,
                                 .cores = hami_backends[v].default_cores};
}

struct hami_request hami_request_mthreads(const struct hami_cluster *c, int v,
                                          const struct hami_container *ctr)
{
    struct hami_request r = hami_request_plain(c, v, ctr);
    if (r.count > 0) { /* limits are those of the container, requests those of a card */
        r.mem /= r.count;
        r.cores /= r.count;
    }
    return r;
}

struct hami_request hami_request_metax_sgpu(const struct hami_cluster *c, int v,
                                            const struct hami_container *ctr)
{
    (void)c;
    struct hami_request r = {.count = card_count(ctr, v)};
    int64_t cores = limit_or(ctr, hami_backends[v].cores, 100);
    if (r.count == 0 || cores < 0 || cores > INT32_MAX)
        return none;
    const struct hami_limit *l = hami_limit_get(ctr, hami_backends[v].mem);
    int64_t mem = l == NULL ? 0 : l->unit ? l->value / 1024 / 1024 : l->value;
    int64_t factor = l == NULL || l->unit ? 1 : hami_backends[v].mem_factor;
    if (mem < 0 || mem > INT32_MAX / factor)
        return none;
    r.mem = (int32_t)(mem * factor);
    r.mem_percent = r.mem == 0 ? 100 : 0;
    r.cores = (int32_t)cores;
    return r;
}

static int64_t xpu_memory(int64_t asked)
{
    return asked <= 24576 ? 24576 : asked <= 49152 ? 49152 : XPU_MEMORY;
}

bool hami_admit_xpu(const struct hami_cluster *c, int v, struct hami_container *ctr,
                    struct hami_pod *pod, struct arena *arena)
{
    (void)c;
    (void)pod;
    const struct hami_limit *l = hami_limit_get(ctr, hami_backends[v].mem);
    if (hami_limit_get(ctr, hami_backends[v].count) != NULL && l != NULL)
        hami_limit_set(ctr, hami_backends[v].mem, xpu_memory(l->value), arena);
    return true;
}

struct hami_request hami_request_xpu(const struct hami_cluster *c, int v,
                                     const struct hami_container *ctr)
{
    (void)c;
    struct hami_request r = {.count = card_count(ctr, v)};
    if (r.count == 0)
        return none;
    const struct hami_limit *l = hami_limit_get(ctr, hami_backends[v].mem);
    r.mem_percent = l == NULL ? 100 : 0;
    r.mem = l == NULL ? XPU_MEMORY : (int32_t)xpu_memory(l->value);
    r.cores = r.mem * 100 / XPU_MEMORY;
    return r;
}

struct hami_request hami_request_amd(const struct hami_cluster *c, int v,
                                     const struct hami_container *ctr)
{
    (void)c;
    struct hami_request r = {.count = card_count(ctr, v)};
    int64_t cores = limit_or(ctr, hami_backends[v].cores, 100);
    if (r.count == 0 || !memory(ctr, v, 1, &r.mem) || cores < 1 || cores > 100)
        return none;
    r.cores = (int32_t)cores;
    return r;
}

/* Slices directly (percent 0), or by memory and cores (percent -1). */
struct hami_request hami_request_enflame(const struct hami_cluster *c, int v,
                                         const struct hami_container *ctr)
{
    (void)c;
    const struct hami_limit *slices = hami_limit_get(ctr, hami_backends[v].count);
    if (slices != NULL && slices->value > 0) {
        if (slices->value > INT32_MAX)
            return none;
        return (struct hami_request){.count = 1, .mem = (int32_t)slices->value};
    }
    const struct hami_limit *mem = hami_limit_get(ctr, hami_backends[v].mem);
    const struct hami_limit *cores = hami_limit_get(ctr, hami_backends[v].cores);
    if ((mem == NULL && cores == NULL) || (mem != NULL && mem->value > INT32_MAX) ||
        (cores != NULL && cores->value > INT32_MAX))
        return none;
    return (struct hami_request){.count = 1, .mem = mem != NULL ? (int32_t)mem->value : 0,
                                 .mem_percent = -1,
                                 .cores = cores != NULL ? (int32_t)cores->value : 0};
}

/* At most two cores per device are told apart. */
static int32_t neuron_cores_per_device(const struct hami_cluster *c)
{
    return c->neuron_cores <= 0 || c->neuron_cores > 2 ? 2 : c->neuron_cores;
}

bool hami_admit_neuron(const struct hami_cluster *c, int v, struct hami_container *ctr,
                       struct hami_pod *pod, struct arena *arena)
{
    (void)pod;
    (void)arena;
    const struct hami_limit *devices = hami_limit_get(ctr, hami_backends[v].count);
    const struct hami_limit *cores = hami_limit_get(ctr, hami_backends[v].cores);
    if (devices != NULL)
        return devices->value > 0 && devices->value <= INT32_MAX;
    if (cores == NULL)
        return true;
    int32_t per = neuron_cores_per_device(c);
    return cores->value > 0 && cores->value <= (int64_t)INT32_MAX * 2 &&
           (cores->value <= per || cores->value % per == 0);
}

struct hami_request hami_request_neuron(const struct hami_cluster *c, int v,
                                        const struct hami_container *ctr)
{
    struct hami_request r = {.count = card_count(ctr, v), .cores = c->neuron_cores};
    if (hami_limit_get(ctr, hami_backends[v].count) != NULL)
        return r.count > 0 ? r : none;
    const struct hami_limit *cores = hami_limit_get(ctr, hami_backends[v].cores);
    int32_t per = neuron_cores_per_device(c);
    if (cores == NULL || cores->value <= 0 || (cores->value > per && cores->value % per != 0))
        return none;
    if (cores->value <= per)
        return (struct hami_request){.count = 1, .cores = (int32_t)cores->value};
    return (struct hami_request){.count = (int32_t)(cores->value / per), .cores = per};
}
