/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Enflame slices and AWS Neuron devices and cores. */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

/* ---- Enflame ---- */

struct profile {
    int32_t size, mem_gb, percent;
};

static int32_t largest_slice(const struct hami_fit *f)
{
    int32_t most = 0;
    for (int32_t i = 0; i < f->count; i++) {
        const struct hami_card *d = hami_fit_card(f, f->cards[i]);
        most = d->max_slice > most ? d->max_slice : most;
    }
    for (int32_t i = 0; i < f->count && most <= 0; i++)
        for (int32_t k = 0; k < hami_fit_card(f, f->cards[i])->drs_count; k++) {
            int32_t size = hami_fit_card(f, f->cards[i])->drs[k].size;
            most = size > most ? size : most;
        }
    return most;
}

static bool profile_before(struct profile a, struct profile b)
{
    return a.size != b.size ? a.size < b.size : a.mem_gb < b.mem_gb;
}

/* The profiles of all cards, each once, by size then memory. */
static int32_t collect_profiles(const struct hami_fit *f, struct profile *out)
{
    int32_t n = 0, most = largest_slice(f);
    for (int32_t i = 0; i < f->count && most > 0; i++)
        for (int32_t k = 0; k < hami_fit_card(f, f->cards[i])->drs_count; k++) {
            struct hami_drs_profile d = hami_fit_card(f, f->cards[i])->drs[k];
            struct profile p = {d.size, d.mem_gb, (d.size * 100 + most - 1) / most};
            int32_t at = 0;
            while (at < n && profile_before(out[at], p))
                at++;
            if (p.size <= 0 || p.mem_gb <= 0 || (at < n && !profile_before(p, out[at])))
                continue;
            memmove(out + at + 1, out + at, (size_t)(n - at) * sizeof(*out));
            out[at] = p;
            n++;
        }
    return n;
}

/* By exact slice count, or the smallest with enough memory and cores. */
static bool choose_profile(const struct hami_fit *f, struct profile *chosen)
{
    struct profile *all =
        arena_alloc(f->arena, (size_t)f->count * HAMI_PROFILES + 1, sizeof(*all));
    int32_t n = collect_profiles(f, all);
    bool direct = f->req.mem_percent == 0;
    int32_t mem = f->req.mem > 0 ? f->req.mem : 0;
    if (n > 0 && !direct && mem > 2 * all[n - 1].mem_gb)
        mem = (mem + 1023) / 1024; /* a value that large is MiB */
    for (int32_t i = 0; i < n; i++) {
        *chosen = all[i];
        if (direct ? all[i].size == f->req.mem
                   : (mem == 0 || all[i].mem_gb >= mem) &&
                         (f->req.cores <= 0 || all[i].percent >= f->req.cores))
            return true;
    }
    return false;
}

static int enflame_reason(const struct hami_fit *f, int32_t card, const struct profile *p,
                          bool mutex)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    const struct hami_backend *b = &hami_backends[f->vendor];
    if (!d->healthy)
        return HAMI_REASON_HEALTH;
    if (!hami_uuid_allowed(f->pod, d->id, b->use_uuid, b->nouse_uuid))
        return HAMI_REASON_UUID;
    if (d->slots <= u->used)
        return HAMI_REASON_SLOTS;
    if (mutex && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    if (d->mem - u->mem < p->mem_gb * 1024)
        return HAMI_REASON_MEMORY;
    if (d->cores > 0 && d->cores - u->cores < p->percent)
        return HAMI_REASON_CORES;
    return -1;
}

bool hami_fit_enflame(struct hami_fit *f)
{
    struct profile p;
    bool mutex = hami_fit_mutex(f);
    if (!choose_profile(f, &p)) {
        f->reason[HAMI_REASON_MODE]++;
        return false;
    }
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int why = enflame_reason(f, f->cards[i], &p, mutex);
        if (why >= 0) {
            f->reason[why]++;
            continue;
        }
        hami_fit_add(f, f->cards[i], p.mem_gb * 1024, p.percent);
        f->found.items[f->found.count - 1].slices = p.size;
        return true; /* every request is for one card */
    }
    return hami_fit_short(f);
}

/* As many slots as slices while the pod is decided; later one (hami_collapse). */
bool hami_take_enflame(const struct hami_fit *f, struct hami_grant *g)
{
    struct hami_use *u = &f->use[g->card];
    u->used += g->slices > 0 ? g->slices : 1;
    u->cores += g->cores;
    u->mem += g->mem;
    return true;
}

/* ---- AWS Neuron ---- */

/* Which cores a request takes: both, the first, or what the mask leaves. */
static int32_t neuron_mask(int32_t before, int32_t cores)
{
    int32_t used = before < 0 ? 0 : before;
    if (used == 0 && (cores == 1 || cores == 2))
        return cores == 2 ? 3 : 1;
    return 3 - used;
}

static bool run_idle(const struct hami_fit *f, int32_t start, int32_t n)
{
    if (start + n > f->count)
        return false;
    for (int32_t i = start; i < start + n; i++)
        if (f->use[f->cards[i]].used > 0 || !hami_fit_card(f, f->cards[i])->healthy)
            return false;
    return true;
}

/* First position of a run of idle devices in the list, or -1. Inferentia is a ring with any
 * start; elsewhere only 4, 8 or 16 at multiples of the count. */
static int32_t find_run(const struct hami_fit *f)
{
    int32_t n = f->req.count, step = n;
    const char *type = f->count > 0 ? hami_fit_card(f, f->cards[0])->node_type : NULL;
    if (type == NULL)
        return -1;
    if (strstr(type, "inf") != NULL || strstr(type, "Inf") != NULL)
        step = 1;
    else if (n != 4 && n != 8 && n != 16)
        return -1;
    for (int32_t i = 0; i < f->count; i += step)
        if (run_idle(f, i, n))
            return i;
    return -1;
}

/* The devices whose index is a position of the run. */
static bool fit_run(struct hami_fit *f)
{
    int32_t start = find_run(f);
    if (start < 0) {
        f->reason[HAMI_REASON_NUMA]++;
        return false;
    }
    for (int32_t index = start; index < start + f->req.count; index++)
        for (int32_t i = 0; i < f->count; i++) {
            const struct hami_card *d = hami_fit_card(f, f->cards[i]);
            if (d->index != index)
                continue;
            hami_fit_add(f, f->cards[i], d->mem, d->cores);
            f->found.items[f->found.count - 1].neuron =
                neuron_mask(f->use[f->cards[i]].neuron, f->req.cores);
            break;
        }
    return true;
}

static int32_t ones(int32_t mask)
{
    return mask > 0 ? __builtin_popcount((uint32_t)mask) : 0;
}

static int neuron_reason(const struct hami_fit *f, int32_t card, bool mutex)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    const struct hami_backend *b = &hami_backends[f->vendor];
    if (!d->healthy)
        return HAMI_REASON_HEALTH;
    if (!hami_uuid_allowed(f->pod, d->id, b->use_uuid, b->nouse_uuid))
        return HAMI_REASON_UUID;
    if (d->slots <= u->used)
        return HAMI_REASON_SLOTS;
    if (mutex && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    return ones(d->cores) - ones(u->cores) < f->req.cores ? HAMI_REASON_CORES : -1;
}

bool hami_fit_neuron(struct hami_fit *f)
{
    bool mutex = hami_fit_mutex(f);
    if (f->req.count > 1)
        return fit_run(f);
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int32_t card = f->cards[i];
        if (f->use[card].neuron < 0)
            f->use[card].neuron = f->use[card].cores;
        int why = neuron_reason(f, card, mutex);
        if (why >= 0) {
            f->reason[why]++;
            continue;
        }
        int32_t mask = neuron_mask(f->use[card].neuron, f->req.cores);
        hami_fit_add(f, card, 0, mask);
        f->found.items[0].neuron = mask;
        return true;
    }
    return false;
}

bool hami_take_neuron(const struct hami_fit *f, struct hami_grant *g)
{
    struct hami_use *u = &f->use[g->card];
    u->neuron = (u->neuron < 0 ? 0 : u->neuron) + g->neuron;
    return hami_take_plain(f, g);
}
