/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The webhook: what each vendor changes or refuses, and the first look at the quota. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

bool hami_admit_nvidia(const struct hami_cluster *c, int v, struct hami_container *ctr,
                       struct hami_pod *pod, struct arena *arena)
{
    (void)pod;
    const struct hami_backend *b = &hami_backends[v];
    const struct hami_limit *percent = hami_limit_get(ctr, b->percent);
    if (percent != NULL && (percent->value < 0 || percent->value > 100))
        return false;
    bool asks = hami_limit_get(ctr, b->cores) != NULL || hami_limit_get(ctr, b->mem) != NULL ||
                percent != NULL;
    if (hami_limit_get(ctr, b->count) == NULL && asks && c->cfg.default_count > 0)
        hami_limit_set(ctr, b->count, c->cfg.default_count, arena);
    if (hami_limit_get(ctr, b->count) == NULL || hami_limit_get(ctr, b->cores) != NULL)
        return true;
    percent = hami_limit_get(ctr, b->percent);
    if (percent != NULL ? percent->value == 100 : hami_limit_get(ctr, b->mem) == NULL)
        hami_limit_set(ctr, b->cores, 100, arena); /* the whole memory alone means exclusive */
    return true;
}

bool hami_admit_iluvatar(const struct hami_cluster *c, int v, struct hami_container *ctr,
                         struct hami_pod *pod, struct arena *arena)
{
    (void)c;
    (void)pod;
    const struct hami_limit *count = hami_limit_get(ctr, hami_backends[v].count);
    if (count != NULL && count->value > 1)
        hami_limit_set(ctr, hami_backends[v].cores, count->value * 100, arena);
    return true;
}

enum { MTHREADS_CORES = 16, MTHREADS_UNITS = 96 };

bool hami_admit_mthreads(const struct hami_cluster *c, int v, struct hami_container *ctr,
                         struct hami_pod *pod, struct arena *arena)
{
    static const int64_t legal[] = {2, 4, 8, 16, 32, 64, 96};
    const struct hami_backend *b = &hami_backends[v];
    (void)c;
    (void)pod;
    const struct hami_limit *count = hami_limit_get(ctr, b->count);
    if (count == NULL)
        return true;
    int64_t n = count->value;
    if (n <= 0)
        return false;
    const struct hami_limit *mem = hami_limit_get(ctr, b->mem);
    if (n > 1 || mem == NULL) {
        hami_limit_set(ctr, b->cores, n * MTHREADS_CORES, arena);
        hami_limit_set(ctr, b->mem, n * MTHREADS_UNITS, arena);
        return true;
    }
    for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
        if (mem->value == legal[i])
            return true;
    return false;
}

static const char qos_key[] = "metax-tech.com/sgpu-qos-policy";

bool hami_admit_metax_sgpu(const struct hami_cluster *c, int v, struct hami_container *ctr,
                           struct hami_pod *pod, struct arena *arena)
{
    (void)c;
    const struct hami_limit *count = hami_limit_get(ctr, hami_backends[v].count);
    if (count == NULL)
        return true;
    const char *class = hami_pod_annotation(pod, "metax-tech.com/sgpu-app-class");
    bool online = class != NULL && strcmp(class, "online") == 0;
    if (class != NULL && ((!online && strcmp(class, "offline") != 0) || count->value != 1))
        return false;
    if (online)
        return true;
    const char *qos = hami_pod_annotation(pod, qos_key);
    if (qos != NULL)
        return strcmp(qos, "best-effort") == 0 || strcmp(qos, "fixed-share") == 0 ||
               strcmp(qos, "burst-share") == 0;
    struct hami_text *grown =
        arena_alloc(arena, (size_t)pod->annotation_count + 1, sizeof(*grown));
    if (pod->annotation_count > 0)
        memcpy(grown, pod->annotations, (size_t)pod->annotation_count * sizeof(*grown));
    grown[pod->annotation_count++] = (struct hami_text){qos_key, "best-effort"};
    pod->annotations = grown;
    return true;
}

bool hami_admit_amd(const struct hami_cluster *c, int v, struct hami_container *ctr,
                    struct hami_pod *pod, struct arena *arena)
{
    (void)c;
    (void)pod;
    (void)arena;
    const struct hami_limit *cores = hami_limit_get(ctr, hami_backends[v].cores);
    return hami_limit_get(ctr, hami_backends[v].count) == NULL || cores == NULL ||
           (cores->value >= 1 && cores->value <= 100);
}

bool hami_admit_enflame(const struct hami_cluster *c, int v, struct hami_container *ctr,
                        struct hami_pod *pod, struct arena *arena)
{
    (void)c;
    (void)pod;
    (void)arena;
    const struct hami_limit *slices = hami_limit_get(ctr, hami_backends[v].count);
    const struct hami_limit *mem = hami_limit_get(ctr, hami_backends[v].mem);
    const struct hami_limit *cores = hami_limit_get(ctr, hami_backends[v].cores);
    if (slices != NULL)
        return slices->value > 0;
    return (mem == NULL || mem->value > 0) &&
           (cores == NULL || (cores->value > 0 && cores->value <= 100));
}

/* Chips as HAMi's chart describes them. */
static const struct {
    int vendor;
    int64_t allocatable, capacity, template[4]; /* MiB; templates ascending, 0 = none */
} ascend_chips[] = {
    {HAMI_910A, 32768, 32768, {2184, 4369, 8738, 17476}},
    {HAMI_910B2, 65536, 65536, {8192, 16384, 32768, 0}},
    {HAMI_910B3, 65536, 65536, {16384, 32768, 0, 0}},
    {HAMI_910B4_1, 65536, 65536, {16384, 32768, 0, 0}},
    {HAMI_910B4, 32768, 32768, {8192, 16384, 0, 0}},
    {HAMI_310P, 21527, 24576, {3072, 6144, 12288, 0}},
    {HAMI_910C, 65536, 65536, {16384, 32768, 0, 0}},
};

static size_t ascend_chip(int v)
{
    size_t i = 0;
    while (ascend_chips[i].vendor != v)
        i++;
    return i;
}

/* Rounds up to a template, else to the whole card; 0 when more than the card. */
static int64_t ascend_round(size_t chip, int64_t asked)
{
    for (int i = 0; i < 4 && ascend_chips[chip].template[i] > 0; i++)
        if (asked <= ascend_chips[chip].template[i])
            return ascend_chips[chip].template[i];
    return asked <= ascend_chips[chip].capacity ? ascend_chips[chip].allocatable : 0;
}

bool hami_admit_ascend(const struct hami_cluster *c, int v, struct hami_container *ctr,
                       struct hami_pod *pod, struct arena *arena)
{
    (void)c;
    const struct hami_backend *b = &hami_backends[v];
    const struct hami_limit *count = hami_limit_get(ctr, b->count);
    if (count == NULL)
        return true;
    int64_t asked = count->value;
    if (v == HAMI_910C && asked == 1)
        hami_limit_set(ctr, b->count, 2, arena); /* two dies of a module go together */
    else if (v == HAMI_910C && asked % 2 != 0)
        return false;
    bool soft = hami_ascend_soft(pod);
    const struct hami_limit *cores = hami_limit_get(ctr, b->cores);
    if (!soft && cores != NULL && cores->value > 0)
        return false;
    size_t chip = ascend_chip(v);
    int64_t mem = ascend_chips[chip].allocatable;
    const struct hami_limit *l = hami_limit_get(ctr, b->mem);
    if (l != NULL)
        mem = soft ? l->value : ascend_round(chip, l->value);
    if (l != NULL && !soft && mem <= 0)
        return false;
    if (asked > 1 && !soft && mem != ascend_chips[chip].allocatable)
        return false;
    hami_limit_set(ctr, b->mem, mem, arena);
    return true;
}

/* Sum over ordinary containers, maximum over init containers, the larger of the two. */
static bool quota_admits(const struct hami_cluster *c, const struct hami_pod *pod, int v)
{
    const struct hami_backend *b = &hami_backends[v];
    int64_t mem[2] = {0, 0}, cores[2] = {0, 0}; /* ordinary, init */
    if (b->mem == NULL && b->cores == NULL)
        return true;
    for (int32_t i = 0; i < pod->container_count; i++) {
        const struct hami_request *r = &pod->containers[i].request[v];
        int64_t m = (int64_t)r->mem * r->count, k = (int64_t)r->cores * r->count;
        if (!pod->containers[i].init) {
            mem[0] += m;
            cores[0] += k;
            continue;
        }
        mem[1] = m > mem[1] ? m : mem[1];
        cores[1] = k > cores[1] ? k : cores[1];
    }
    int64_t m = mem[0] > mem[1] ? mem[0] : mem[1], k = cores[0] > cores[1] ? cores[0] : cores[1];
    int32_t factor = v == HAMI_NVIDIA ? c->cfg.mem_factor : b->mem_factor;
    return (m == 0 && k == 0) || hami_quota_fits(c, pod->ns, v, m, k, factor);
}

enum hami_admission hami_admit(const struct hami_cluster *c, struct hami_pod *pod,
                               struct arena *arena)
{
    for (int32_t i = 0; i < pod->container_count; i++)
        for (int v = 0; v < HAMI_VENDORS; v++)
            if (hami_backends[v].admit != NULL &&
                !hami_backends[v].admit(c, v, &pod->containers[i], pod, arena))
                return HAMI_REFUSED;
    for (int32_t i = 0; i < pod->container_count; i++)
        for (int v = 0; v < HAMI_VENDORS; v++)
            pod->containers[i].request[v] = hami_backends[v].request(c, v, &pod->containers[i]);
    for (int v = 0; v < HAMI_VENDORS; v++)
        if (!quota_admits(c, pod, v))
            return HAMI_OVER_QUOTA;
    return HAMI_ADMITTED;
}

bool hami_asks(const struct hami_pod *pod)
{
    for (int32_t i = 0; i < pod->container_count; i++)
        for (int v = 0; v < HAMI_VENDORS; v++)
            if (pod->containers[i].request[v].count > 0)
                return true;
    return false;
}
