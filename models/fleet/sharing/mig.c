/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/mig.h"

#include <string.h>

uint32_t mig_slices(const struct mig_card *card, struct mig_instance instance)
{
    const struct mig_profile *p = &card->profiles[instance.profile];
    return ((UINT32_C(1) << p->size) - 1) << instance.start;
}

uint32_t mig_taken(const struct mig_card *card, const struct mig_layout *layout)
{
    uint32_t taken = 0;
    for (int i = 0; i < layout->count; i++)
        taken |= mig_slices(card, layout->items[i]);
    return taken;
}

bool mig_counts_ok(const struct mig_card *card, const struct mig_layout *layout)
{
    int of_profile[MIG_PROFILES_MAX] = {0}, extra = 0, all = 0, with_media = 0;
    for (int i = 0; i < layout->count; i++) {
        const struct mig_profile *p = &card->profiles[layout->items[i].profile];
        if (++of_profile[layout->items[i].profile] > p->max)
            return false;
        extra += p->media == MIG_MEDIA_EXTRA;
        all += p->media == MIG_MEDIA_ALL;
        with_media += p->media != MIG_MEDIA_NONE;
    }
    if (card->media_max > 0 && with_media > card->media_max)
        return false;
    return extra <= 1 && all <= 1 && (all == 0 || with_media == 1);
}

static bool legal_start(const struct mig_profile *p, int32_t start)
{
    for (int i = 0; i < p->start_count; i++)
        if (p->starts[i] == start)
            return true;
    return false;
}

bool mig_layout_ok(const struct mig_card *card, const struct mig_layout *layout)
{
    uint32_t taken = 0;
    for (int i = 0; i < layout->count; i++) {
        uint32_t slices = mig_slices(card, layout->items[i]);
        if ((taken & slices) != 0 ||
            !legal_start(&card->profiles[layout->items[i].profile], layout->items[i].start))
            return false;
        taken |= slices;
    }
    return mig_counts_ok(card, layout);
}

static int8_t start_at(const struct mig_profile *p, enum mig_policy policy, int i)
{
    if (policy != MIG_HIGH_ODD)
        return p->driver_starts[i];
    bool high = p->compute == 1 || p->compute == 3;
    return p->starts[high ? p->start_count - 1 - i : i];
}

/* Adds the instance if the counts allow it; the start is known to be free. */
static bool push(const struct mig_card *card, struct mig_layout *layout, int32_t profile,
                 int32_t start)
{
    if (layout->count == MIG_INSTANCES_MAX)
        return false;
    layout->items[layout->count++] = (struct mig_instance){(int8_t)profile, (int8_t)start};
    if (mig_counts_ok(card, layout))
        return true;
    layout->count--;
    return false;
}

int32_t mig_next_start(const struct mig_card *card, const struct mig_layout *layout,
                       int32_t profile, enum mig_policy policy)
{
    const struct mig_profile *p = &card->profiles[profile];
    uint32_t taken = mig_taken(card, layout);
    struct mig_layout trial = *layout;
    for (int i = 0; i < p->start_count; i++) {
        struct mig_instance next = {(int8_t)profile, start_at(p, policy, i)};
        if ((mig_slices(card, next) & taken) == 0)
            return push(card, &trial, profile, next.start) ? next.start : -1;
    }
    return -1;
}

/* ---- adding several ---- */

static bool search(const struct mig_card *card, const int8_t *wanted, int32_t count,
                   struct mig_layout *layout)
{
    if (count == 0)
        return true;
    const struct mig_profile *p = &card->profiles[wanted[0]];
    uint32_t taken = mig_taken(card, layout);
    for (int i = 0; i < p->start_count; i++) {
        struct mig_instance next = {wanted[0], start_at(p, MIG_DRIVER, i)};
        if ((mig_slices(card, next) & taken) != 0 || !push(card, layout, next.profile, next.start))
            continue;
        if (search(card, wanted + 1, count - 1, layout))
            return true;
        layout->count--;
    }
    return false;
}

/* Fewest legal starts first, larger first: finds contradictions early. */
static bool goes_before(const struct mig_profile *a, const struct mig_profile *b)
{
    return a->start_count != b->start_count ? a->start_count < b->start_count : a->size > b->size;
}

bool mig_can_add(const struct mig_card *card, const struct mig_layout *there,
                 const int32_t *wanted, int32_t count, struct mig_layout *out)
{
    int8_t sorted[MIG_INSTANCES_MAX] = {0};
    if (count > MIG_INSTANCES_MAX - there->count)
        return false;
    for (int32_t n = 0; n < count; n++) {
        int32_t i = n;
        for (; i > 0 && goes_before(&card->profiles[wanted[n]], &card->profiles[sorted[i - 1]]); i--)
            sorted[i] = sorted[i - 1];
        sorted[i] = (int8_t)wanted[n];
    }
    struct mig_layout layout = *there;
    if (!search(card, sorted, count, &layout))
        return false;
    if (out != NULL)
        *out = layout;
    return true;
}

static bool create_in_order(const struct mig_card *card, const int32_t *wanted, int32_t count,
                            enum mig_policy policy, struct mig_layout *out)
{
    *out = (struct mig_layout){.count = 0};
    for (int32_t i = 0; i < count; i++) {
        int32_t start = mig_next_start(card, out, wanted[i], policy);
        if (start < 0 || !push(card, out, wanted[i], start))
            return false;
    }
    return true;
}

static void swap(int32_t *a, int32_t *b)
{
    int32_t held = *a;
    *a = *b;
    *b = held;
}

/* The next distinct order after this one; false after the last. */
static bool next_order(int32_t *order, int32_t n)
{
    int32_t i = n - 2, k = n - 1;
    while (i >= 0 && order[i] >= order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[k] <= order[i])
        k--;
    swap(&order[i], &order[k]);
    for (int32_t a = i + 1, b = n - 1; a < b; a++, b--)
        swap(&order[a], &order[b]);
    return true;
}

bool mig_create(const struct mig_card *card, const int32_t *wanted, int32_t count,
                enum mig_policy policy, struct mig_layout *out)
{
    if (count > MIG_INSTANCES_MAX)
        return false;
    if (policy != MIG_PERMUTE)
        return create_in_order(card, wanted, count, policy, out);
    int32_t order[MIG_INSTANCES_MAX];
    for (int32_t n = 0; n < count; n++) { /* ascending: the first order */
        int32_t i = n;
        for (; i > 0 && order[i - 1] > wanted[n]; i--)
            order[i] = order[i - 1];
        order[i] = wanted[n];
    }
    do
        if (create_in_order(card, order, count, policy, out))
            return true;
    while (next_order(order, count));
    return false;
}

/* ---- questions ---- */

bool mig_maximal(const struct mig_card *card, const struct mig_layout *layout)
{
    for (int32_t p = 0; p < card->profile_count; p++)
        if (mig_next_start(card, layout, p, MIG_DRIVER) >= 0)
            return false;
    return true;
}

void mig_stranded(const struct mig_card *card, const struct mig_layout *layout, int32_t *compute,
                  int32_t *memory)
{
    *compute = *memory = 0;
    if (!mig_maximal(card, layout))
        return;
    *compute = card->compute;
    *memory = card->memory;
    for (int i = 0; i < layout->count; i++) {
        *compute -= card->profiles[layout->items[i].profile].compute;
        *memory -= card->profiles[layout->items[i].profile].size;
    }
}

double mig_sm_share(const struct mig_card *card, int32_t profile)
{
    return (double)card->profiles[profile].sms / card->sms;
}
