/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/sharing.h"

#include <string.h>

#include "sim/check.h"
#include "sim/diag.h"

static const struct share_mechanism *const mechanisms[SHARE_KINDS] = {
    [SHARE_WHOLE] = &share_whole, [SHARE_MIG] = &share_mig,
    [SHARE_HAMI] = &share_hami,   [SHARE_TIME_SLICING] = &share_time_slicing,
    [SHARE_MPS] = &share_mps,     [SHARE_KAI] = &share_kai,
};

const struct share_mechanism *share_mechanism_of(enum share_kind kind)
{
    REQUIRE((unsigned)kind < SHARE_KINDS);
    return mechanisms[kind];
}

const char *share_isolation_name(enum share_isolation isolation)
{
    static const char *const names[] = {[ISOLATION_NONE] = "none",
                                        [ISOLATION_SOFTWARE] = "software",
                                        [ISOLATION_HARDWARE] = "hardware",
                                        [ISOLATION_EXCLUSIVE] = "exclusive"};
    return names[isolation];
}

enum share_kind share_kind_find(const char *name, struct err *e)
{
    const char *names[SHARE_KINDS];
    for (int k = 0; k < SHARE_KINDS; k++) {
        names[k] = mechanisms[k]->name;
        if (strcmp(names[k], name) == 0)
            return (enum share_kind)k;
    }
    const char *near = diag_nearest(name, names, SHARE_KINDS);
    err_set(e, ERR_INPUT,
            "unknown sharing mechanism '%.40s'%s%s%s: expected whole, mig, hami, time-slicing, mps or kai",
            name, near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "");
    return SHARE_KINDS;
}

bool share_combination_ok(enum share_kind a, enum share_kind b, struct err *e)
{
    bool slices_of_mig = (a == SHARE_MIG && b == SHARE_TIME_SLICING) ||
                         (a == SHARE_TIME_SLICING && b == SHARE_MIG);
    if (a == b || slices_of_mig)
        return true;
    return err_set(e, ERR_INPUT,
                   "two sharing mechanisms on one card: '%s' and '%s'; only mig and time-slicing go together",
                   share_mechanism_of(a)->name, share_mechanism_of(b)->name);
}

bool share_pool_init(struct share_pool *pool, const struct share_config *cfg, const char *card,
                     int32_t memory_mib, struct err *e)
{
    *pool = (struct share_pool){.kind = cfg->kind,
                                .card = card,
                                .memory_mib = memory_mib,
                                .mig_single = cfg->mig_single,
                                .rename_shared = cfg->rename_shared,
                                .allow_above_one = cfg->allow_above_one};
    return share_mechanism_of(cfg->kind)->setup(pool, cfg, e);
}

bool share_demand_make(const struct share_pool *pool, const struct share_request *req,
                       struct share_demand *d, struct err *e)
{
    const char *name = share_mechanism_of(pool->kind)->name;
    *d = (struct share_demand){.cards = 1, .profile = -1};
    if (req->cards == 0 && (req->milli < 0 || req->milli >= SHARE_CARD_MILLI))
        return err_set(e, ERR_INPUT,
                       "a fraction of %d.%03d cards: expected more than 0 and less than 1, or a number of whole cards",
                       req->milli / SHARE_CARD_MILLI, req->milli % SHARE_CARD_MILLI);
    if (req->cards < 0 || (req->cards > 0 && req->milli != 0))
        return err_set(e, ERR_INPUT, "%d cards and a fraction of %d/1000: expected one of them",
                       req->cards, req->milli);
    if (req->profile != NULL && pool->kind != SHARE_MIG)
        return err_set(e, ERR_INPUT, "MIG profile '%.40s' on cards under '%s': expected a pool with mechanism mig",
                       req->profile, name);
    return share_mechanism_of(pool->kind)->demand(pool, req, d, e);
}

/* Instances made on request, in order of arrival. */
static struct mig_layout made_on(const struct share_card *card)
{
    struct mig_layout made = {.count = 0};
    for (int32_t i = 0; i < card->count && made.count < MIG_INSTANCES_MAX; i++)
        made.items[made.count++] = mig_of_code(card->tenants[i].instance);
    return made;
}

/* What an instance makes busy. */
static uint32_t busy_of(const struct share_pool *pool, int32_t instance)
{
    return pool->mig_dynamic ? mig_slices(pool->mig, mig_of_code(instance)) : UINT32_C(1) << instance;
}

/* A free instance of the profile, or -1. */
static int32_t free_instance(const struct share_pool *pool, const struct share_card *card,
                             int32_t profile)
{
    if (pool->mig_dynamic) {
        struct mig_layout made = made_on(card);
        int32_t start = mig_next_start(pool->mig, &made, profile, pool->starts);
        return start < 0 ? -1 : mig_code((struct mig_instance){(int8_t)profile, (int8_t)start});
    }
    for (int i = 0; i < pool->layout.count; i++)
        if (pool->layout.items[i].profile == profile && (card->busy >> i & 1) == 0)
            return i;
    return -1;
}

bool share_fits(const struct share_pool *pool, const struct share_card *card,
                const struct share_demand *d)
{
    if (card->count == SHARE_TENANTS_MAX)
        return false;
    if (d->profile >= 0)
        return free_instance(pool, card, d->profile) >= 0;
    for (int a = 0; a < SHARE_AXES; a++)
        if (pool->capacity.axis[a] > 0 && card->used.axis[a] + d->amounts.axis[a] > pool->capacity.axis[a])
            return false;
    if (pool->kind != SHARE_HAMI)
        return true;
    /* all cores: on a card without others; no cores: on one whose cores are not all reserved */
    int64_t cores = d->amounts.axis[SHARE_COMPUTE], all = pool->capacity.axis[SHARE_COMPUTE];
    return cores == all ? card->count == 0 : card->used.axis[SHARE_COMPUTE] < all;
}

void share_take(const struct share_pool *pool, struct share_card *card, int32_t id,
                const struct share_demand *d)
{
    REQUIRE(share_fits(pool, card, d));
    int32_t instance = d->profile >= 0 ? free_instance(pool, card, d->profile) : -1;
    REQUIRE(d->profile < 0 || instance >= 0); /* share_fits */
    struct share_tenant *t = &card->tenants[card->count++];
    *t = (struct share_tenant){.id = id, .demand = *d, .instance = -1};
    if (d->profile >= 0) {
        t->instance = instance;
        t->busy = busy_of(pool, instance);
        card->busy |= t->busy;
    }
    for (int a = 0; a < SHARE_AXES; a++)
        card->used.axis[a] += d->amounts.axis[a];
}

void share_give(struct share_card *card, int32_t id)
{
    int32_t i = 0;
    while (i < card->count && card->tenants[i].id != id)
        i++;
    REQUIRE(i < card->count);
    const struct share_tenant *t = &card->tenants[i];
    card->busy &= ~t->busy;
    for (int a = 0; a < SHARE_AXES; a++)
        card->used.axis[a] -= t->demand.amounts.axis[a];
    card->count--;
    memmove(card->tenants + i, card->tenants + i + 1,
            (size_t)(card->count - i) * sizeof(card->tenants[0]));
}

struct share_amounts share_milli_of(const struct share_pool *pool, const struct share_amounts *amounts)
{
    struct share_amounts milli = {{[SHARE_SLOTS] = pool->slots > 0 ? SHARE_CARD_MILLI / pool->slots : 1}};
    for (int a = SHARE_MEMORY; a < SHARE_AXES; a++) {
        int64_t capacity = pool->capacity.axis[a];
        if (capacity > 0)
            milli.axis[a] = (amounts->axis[a] * SHARE_CARD_MILLI + capacity - 1) / capacity;
    }
    return milli;
}

/* Rank of tenant i by id. */
static int32_t rank_of(const struct share_card *card, int32_t i)
{
    int32_t rank = 0;
    for (int32_t k = 0; k < card->count; k++)
        rank += card->tenants[k].id < card->tenants[i].id ||
                (k < i && card->tenants[k].id == card->tenants[i].id);
    return rank;
}

int32_t share_allocated(const struct share_pool *pool, const struct share_card *card,
                        int32_t *milli)
{
    struct share_amounts amounts[SHARE_TENANTS_MAX];
    int32_t by_id[SHARE_TENANTS_MAX], rank[SHARE_TENANTS_MAX] = {0};
    for (int32_t i = 0; i < card->count; i++) {
        rank[i] = rank_of(card, i);
        amounts[rank[i]] = card->tenants[i].demand.amounts;
    }
    int32_t total = share_round(amounts, card->count, &pool->capacity, by_id);
    for (int32_t i = 0; i < card->count; i++)
        milli[i] = by_id[rank[i]];
    return total;
}

void share_rates(const struct share_pool *pool, const struct share_card *card,
                 const struct speed_tenant *t, const struct speed_params *p, double *rate)
{
    struct speed_tenant held[SPEED_TENANTS_MAX];
    for (int32_t i = 0; i < card->count; i++) {
        const struct share_demand *d = &card->tenants[i].demand;
        held[i] = t[i];
        if (pool->kind == SHARE_MIG)
            held[i].sm_share = mig_sm_share(pool->mig, d->profile);
        if (pool->kind == SHARE_HAMI)
            held[i].cap = (double)d->amounts.axis[SHARE_COMPUTE] / 100;
        if (pool->kind == SHARE_MPS) {
            int32_t percent = 100 / pool->replicas;
            held[i].cap = (double)percent / 100;
        }
    }
    share_mechanism_of(pool->kind)->rates(held, card->count, p, rate);
}
