/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filter that most vendors share: cards are tried from the end of the sorted list; the first
 * reason that holds skips a card (gpu-sharing 2.3).
 */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

const struct hami_card *hami_fit_card(const struct hami_fit *f, int32_t card)
{
    return &f->node->cards[card];
}

bool hami_fit_mutex(const struct hami_fit *f)
{
    return hami_list_has(hami_card_policy(f->cluster, f->pod), "mutex");
}

void hami_fit_add(struct hami_fit *f, int32_t card, int32_t mem, int32_t cores)
{
    size_t capacity = (size_t)f->capacity;
    if (f->found.count == f->capacity) { /* MIG cards may be found several times */
        capacity = capacity > 0 ? capacity * 2 : 16;
        struct hami_grant *grown = arena_alloc(f->arena, capacity, sizeof(*grown));
        if (f->found.count > 0)
            memcpy(grown, f->found.items, (size_t)f->found.count * sizeof(*grown));
        f->found.items = grown;
        f->capacity = (int32_t)capacity;
    }
    f->found.items[f->found.count++] =
        (struct hami_grant){.card = card, .mem = mem, .cores = cores, .profile = -1};
}

bool hami_fit_short(struct hami_fit *f)
{
    if (f->found.count > 0)
        f->reason[HAMI_REASON_FOUND] = f->found.count;
    return false;
}

bool hami_take_plain(const struct hami_fit *f, struct hami_grant *g)
{
    struct hami_use *u = &f->use[g->card];
    u->used++;
    u->cores += g->cores;
    u->mem += g->mem;
    return true;
}

/* State of one walk over the cards. */
struct walk {
    bool mutex, numa, soft, collects;
    int32_t last_numa;
    int32_t cores;    /* clamped to 100 from the first card that gets so far */
    const char *cordon, *mode;
};

/* The pod's total of this vendor so far with this card, as it would be accounted. */
static bool quota_fits(const struct hami_fit *f, int32_t card, int32_t mem, int32_t cores)
{
    if (f->vendor != HAMI_NVIDIA && f->vendor != HAMI_MLU)
        return true;
    if (f->cluster->quota_count == 0)
        return true;
    int32_t lists = f->allocated->list_count[f->vendor];
    struct hami_grants *all = arena_alloc(f->arena, (size_t)lists + 1, sizeof(*all));
    if (lists > 0)
        memcpy(all, f->allocated->lists[f->vendor], (size_t)lists * sizeof(*all));
    size_t n = (size_t)f->found.count + 1;
    all[lists] = (struct hami_grants){arena_alloc(f->arena, n, sizeof(struct hami_grant)),
                                      f->found.count + 1};
    if (f->found.count > 0)
        memcpy(all[lists].items, f->found.items,
               (size_t)f->found.count * sizeof(struct hami_grant));
    all[lists].items[f->found.count] = (struct hami_grant){.card = card, .mem = mem, .cores = cores};
    struct hami_usage *usage =
        arena_alloc(f->arena, (size_t)f->node->card_count, sizeof(*usage));
    hami_collapse(all, lists + 1, f->pod->init_count, false, usage);
    int64_t sum_mem = 0, sum_cores = 0;
    for (int32_t i = 0; i < f->node->card_count; i++) {
        sum_mem += usage[i].mem;
        sum_cores += usage[i].cores;
    }
    int32_t factor = f->vendor == HAMI_NVIDIA ? f->cluster->cfg.mem_factor
                                              : hami_backends[f->vendor].mem_factor;
    return hami_quota_fits(f->cluster, f->pod->ns, f->vendor, sum_mem, sum_cores, factor);
}

/* Everything the pod already holds of this card's type must be this very card. */
static bool same_card(const struct hami_fit *f, int32_t card)
{
    if (f->vendor != HAMI_MTHREADS && f->vendor != HAMI_METAX_GPU)
        return true;
    for (int32_t i = 0; i < f->allocated->list_count[f->vendor]; i++) {
        const struct hami_grants *g = &f->allocated->lists[f->vendor][i];
        for (int32_t k = 0; k < g->count; k++)
            if (g->items[k].card != card)
                return false;
    }
    return true;
}

/* Health, cordon and type: what makes a card a member of a NUMA group. */
static int identity_reason(const struct hami_fit *f, const struct walk *w, int32_t card)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_backend *b = &hami_backends[f->vendor];
    if (!d->healthy)
        return HAMI_REASON_HEALTH;
    if (f->vendor == HAMI_NVIDIA && w->cordon != NULL && hami_list_has(w->cordon, d->id))
        return HAMI_REASON_CORDONED;
    if (!hami_type_allowed(f->pod, d->type, b->use_type, b->nouse_type))
        return HAMI_REASON_TYPE;
    if (f->vendor == HAMI_NVIDIA && w->mode != NULL && strstr(w->mode, d->mode) == NULL)
        return HAMI_REASON_TYPE;
    return -1;
}

static int amount_reason(struct hami_fit *f, struct walk *w, int32_t card, int32_t mem)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    int32_t total = w->soft ? 100 : d->cores;
    if (!quota_fits(f, card, mem, w->cores))
        return HAMI_REASON_QUOTA;
    if (d->mem - u->mem < mem)
        return HAMI_REASON_MEMORY;
    if (total - u->cores < w->cores)
        return HAMI_REASON_CORES;
    if (total == 100 && w->cores == 100 && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    if (total != 0 && u->cores == total && w->cores == 0)
        return HAMI_REASON_EXHAUSTED;
    if (f->vendor == HAMI_NVIDIA && !hami_nvidia_mig_fits(f, card, mem))
        return HAMI_REASON_MIG;
    return same_card(f, card) ? -1 : HAMI_REASON_CUSTOM;
}

/* The rest of the tests; mem receives the memory the card would give. */
static int card_reason(struct hami_fit *f, struct walk *w, int32_t card, int32_t *mem)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_backend *b = &hami_backends[f->vendor];
    const struct hami_use *u = &f->use[card];
    if (!hami_uuid_allowed(f->pod, d->id, b->use_uuid, b->nouse_uuid))
        return HAMI_REASON_UUID;
    if (d->slots <= u->used)
        return HAMI_REASON_SLOTS;
    if (w->mutex && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    w->cores = w->cores > 100 ? 100 : w->cores;
    *mem = f->req.mem;
    if (f->req.mem == 0 && f->req.mem_percent != 101)
        *mem = (int32_t)((int64_t)d->mem * f->req.mem_percent / 100);
    return amount_reason(f, w, card, *mem);
}

/* With NUMA binding a card of another node than the last one starts the group again. */
static void enter_numa(struct hami_fit *f, struct walk *w, int32_t numa)
{
    if (!w->numa || w->last_numa == numa)
        return;
    if (!w->collects) /* the topology search does not say what it threw away */
        f->reason[HAMI_REASON_NUMA] += f->found.count;
    f->found.count = 0;
    w->last_numa = numa;
}

static struct walk begin_walk(const struct hami_fit *f)
{
    struct walk w = {.mutex = hami_fit_mutex(f), .last_numa = -1, .cores = f->req.cores};
    if (f->vendor == HAMI_NVIDIA) {
        w.numa = hami_true(hami_pod_annotation(f->pod, "nvidia.com/numa-bind"));
        w.mode = hami_pod_annotation(f->pod, "nvidia.com/vgpu-mode");
        w.cordon = hami_annotation(f->node->annotations, f->node->annotation_count,
                                   "hami.io/device-cordon");
        w.collects = hami_list_has(hami_card_policy(f->cluster, f->pod), "topology-aware");
    } else if (hami_backends[f->vendor].score == hami_score_ascend) {
        w.soft = hami_ascend_soft(f->pod);
        w.collects = hami_ascend_collects(f);
    }
    return w;
}

/* Goes over the cards; true when enough were found and nothing is left to choose. */
static bool walk_cards(struct hami_fit *f, struct walk *w)
{
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int32_t card = f->cards[i], mem = 0;
        int why = identity_reason(f, w, card);
        if (why < 0) {
            enter_numa(f, w, hami_fit_card(f, card)->numa);
            why = card_reason(f, w, card, &mem);
        }
        if (why >= 0) {
            f->reason[why]++;
            continue;
        }
        hami_fit_add(f, card, mem, w->cores);
        if (!w->collects && f->found.count == f->req.count)
            return true;
        if (strcmp(hami_fit_card(f, card)->mode, "mig") == 0 && f->vendor == HAMI_NVIDIA)
            i++; /* another instance may fit on the same card */
    }
    return false;
}

bool hami_fit_shared(struct hami_fit *f)
{
    bool ascend = hami_backends[f->vendor].score == hami_score_ascend, done;
    if (ascend && hami_ascend_soft(f->pod) && !hami_ascend_node_soft(f->cluster, f->node)) {
        f->reason[HAMI_REASON_MODE]++;
        return false;
    }
    struct walk w = begin_walk(f);
    if (walk_cards(f, &w))
        return true;
    if (ascend && w.collects) {
        bool fits = hami_ascend_choose(f, &done);
        if (done)
            return fits;
    } else if (w.collects && f->found.count >= f->req.count) {
        if (f->found.count > f->req.count)
            hami_nvidia_topology(f);
        return true;
    }
    return hami_fit_short(f);
}

/* ---- others that walk the same way ---- */

static int amd_reason(struct hami_fit *f, bool mutex, int32_t card, int32_t *mem, int32_t *cores)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    const struct hami_backend *b = &hami_backends[f->vendor];
    if (!d->healthy)
        return HAMI_REASON_HEALTH;
    if (!hami_type_allowed(f->pod, d->type, b->use_type, b->nouse_type))
        return HAMI_REASON_TYPE;
    if (!hami_uuid_allowed(f->pod, d->id, b->use_uuid, b->nouse_uuid))
        return HAMI_REASON_UUID;
    if (d->slots <= u->used)
        return HAMI_REASON_SLOTS;
    if (mutex && u->used > 0)
        return HAMI_REASON_EXCLUSIVE;
    *mem = f->req.mem <= 0 && d->mem > 0 ? d->mem : f->req.mem;
    if (d->mem - u->mem < *mem)
        return HAMI_REASON_MEMORY;
    *cores = 0;
    if (f->req.cores > 0) {
        if (d->cores <= 0)
            return HAMI_REASON_CORES;
        *cores = (int32_t)((int64_t)d->cores * f->req.cores / 100);
        *cores = *cores < 1 ? 1 : *cores > d->cores ? d->cores : *cores;
    } else if (d->mem > 0 && *mem >= d->mem) {
        *cores = d->cores;
    }
    return d->cores - u->cores < *cores ? HAMI_REASON_CORES : -1;
}

/* Units = total * percent / 100, at least 1; no exclusive and no exhausted rule. */
bool hami_fit_amd(struct hami_fit *f)
{
    bool mutex = hami_fit_mutex(f);
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int32_t mem, cores;
        int why = amd_reason(f, mutex, f->cards[i], &mem, &cores);
        if (why >= 0) {
            f->reason[why]++;
            continue;
        }
        hami_fit_add(f, f->cards[i], mem, cores);
        if (f->found.count == f->req.count)
            return true;
    }
    return hami_fit_short(f);
}

/* Enflame whole cards: idle ones. */
bool hami_fit_gcu(struct hami_fit *f)
{
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int32_t card = f->cards[i];
        int why = !hami_fit_card(f, card)->healthy ? HAMI_REASON_HEALTH
                  : f->use[card].used > 0          ? HAMI_REASON_EXCLUSIVE
                                                   : -1;
        if (why >= 0) {
            f->reason[why]++;
            continue;
        }
        hami_fit_add(f, card, f->req.mem, f->req.cores);
        if (f->found.count == f->req.count)
            return true;
    }
    return hami_fit_short(f);
}

static bool die_mode(const struct hami_fit *f)
{
    return f->vendor == HAMI_VASTAI && f->count > 0 && hami_fit_card(f, f->cards[0])->die;
}

/* Is a die of the same physical card in use? */
static bool sibling_used(const struct hami_fit *f, int32_t card)
{
    const char *aic = hami_fit_card(f, card)->aic;
    for (int32_t i = 0; aic != NULL && i < f->count; i++) {
        const char *other = hami_fit_card(f, f->cards[i])->aic;
        if (f->use[f->cards[i]].used > 0 && other != NULL && strcmp(other, aic) == 0)
            return true;
    }
    return false;
}

/* Biren and Vastai: slots only. Vastai dies are all collected, then chosen by card. */
bool hami_fit_slots(struct hami_fit *f)
{
    const struct hami_backend *b = &hami_backends[f->vendor];
    bool mutex = hami_fit_mutex(f), dies = die_mode(f);
    for (int32_t i = f->count - 1; i >= 0; i--) {
        int32_t card = f->cards[i];
        const struct hami_card *d = hami_fit_card(f, card);
        int why = -1;
        if (!d->healthy)
            why = HAMI_REASON_HEALTH;
        else if (!hami_uuid_allowed(f->pod, d->id, b->use_uuid, b->nouse_uuid))
            why = HAMI_REASON_UUID;
        else if (d->slots <= f->use[card].used)
            why = HAMI_REASON_SLOTS;
        else if (mutex && (f->use[card].used > 0 || (dies && sibling_used(f, card))))
            why = HAMI_REASON_EXCLUSIVE;
        if (why >= 0) {
            f->reason[why]++;
            continue;
        }
        hami_fit_add(f, card, 0, f->req.cores);
        if (!dies && f->found.count == f->req.count)
            return true;
    }
    if (dies && f->found.count >= f->req.count) {
        if (f->found.count > f->req.count)
            hami_vastai_choose(f);
        return true;
    }
    return hami_fit_short(f);
}
