/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/blast.h"

int64_t blast_limit_mib(const struct share_pool *pool, const struct share_demand *demand)
{
    switch (pool->kind) {
    case SHARE_MIG:
        return pool->mig->profiles[demand->profile].memory_mib;
    case SHARE_HAMI:
        return demand->amounts.axis[SHARE_MEMORY];
    case SHARE_MPS:
        return pool->memory_mib / pool->replicas;
    case SHARE_WHOLE:
    case SHARE_TIME_SLICING:
    case SHARE_KAI:
    case SHARE_KINDS:
        break;
    }
    return 0;
}

static bool fail_alone(struct blast *b, enum blast_cause cause, int32_t victim)
{
    b->cause = cause;
    b->victims[b->victim_count++] = victim;
    return false;
}

/* MIG instances have their own memory; elsewhere all processes draw on the card's. */
static bool card_full(const struct blast_card *card, int64_t more_mib)
{
    int64_t sum = more_mib;
    if (card->pool->kind == SHARE_MIG || card->pool->unified_memory)
        return false;
    for (int32_t i = 0; i < card->count; i++)
        sum += card->tenants[i].resident_mib + card->tenants[i].context_mib;
    return sum > card->pool->memory_mib;
}

bool blast_allocate(const struct blast_card *card, int32_t index, int64_t more_mib,
                    struct blast *b)
{
    struct blast_tenant *t = &card->tenants[index];
    *b = (struct blast){.culprit = index};
    int64_t counted = t->resident_mib + more_mib;
    if (card->pool->kind == SHARE_MIG)
        counted += t->context_mib;
    if (t->limit_mib > 0 && counted > t->limit_mib)
        return fail_alone(b, BLAST_OVER_LIMIT, index);
    if (card_full(card, more_mib)) {
        bool any = card->victim == BLAST_ANY_TENANT;
        int32_t victim = any ? (int32_t)rng_below(card->rng, (uint64_t)card->count) : index;
        return fail_alone(b, BLAST_CARD_FULL, victim);
    }
    t->resident_mib += more_mib;
    return true;
}

void blast_fault(const struct blast_card *card, int32_t index, struct blast *b)
{
    *b = (struct blast){.cause = BLAST_FAULT, .culprit = index};
    bool all = share_mechanism_of(card->pool->kind)->fault_hits_card;
    for (int32_t i = 0; i < card->count; i++)
        if (all || i == index)
            b->victims[b->victim_count++] = i;
    b->refuses_new = card->pool->kind == SHARE_MPS;
}
