/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/mig_dynamic.h"

#include <string.h>

#include "sim/check.h"

int32_t mig_room(const struct mig_card *card, const struct mig_layout *there, int32_t profile)
{
    const struct mig_profile *p = &card->profiles[profile];
    if (mig_next_start(card, there, profile, MIG_DRIVER) < 0)
        return 0;
    uint32_t taken = mig_taken(card, there);
    int32_t starts = 0, left = p->max;
    for (int i = 0; i < p->start_count; i++)
        starts += (mig_slices(card, (struct mig_instance){(int8_t)profile, p->starts[i]}) & taken) == 0;
    for (int i = 0; i < there->count; i++)
        left -= there->items[i].profile == profile;
    return starts < left ? starts : left; /* starts of one profile do not overlap */
}

void mig_add(const struct mig_card *card, struct mig_layout *layout, struct mig_instance made)
{
    REQUIRE(layout->count < MIG_INSTANCES_MAX);
    layout->items[layout->count++] = made;
    CHECK(mig_layout_ok(card, layout));
}

void mig_drop(struct mig_layout *layout, struct mig_instance gone)
{
    int i = 0;
    while (i < layout->count && (layout->items[i].profile != gone.profile || layout->items[i].start != gone.start))
        i++;
    REQUIRE(i < layout->count);
    layout->count--;
    memmove(layout->items + i, layout->items + i + 1, (size_t)(layout->count - i) * sizeof(layout->items[0]));
}

int32_t mig_part_milli(int32_t part, int32_t of)
{
    return (2 * part * 1000 + of) / (2 * of);
}

static bool smaller(const struct mig_profile *a, const struct mig_profile *b)
{
    if (a->size != b->size)
        return a->size < b->size;
    return a->compute != b->compute ? a->compute < b->compute : a->max > b->max;
}

int32_t mig_smallest(const struct mig_card *card, int32_t milli)
{
    int32_t best = -1;
    for (int32_t k = 0; k < card->profile_count; k++) {
        const struct mig_profile *p = &card->profiles[k];
        if (mig_part_milli(p->compute, card->compute) >= milli && mig_part_milli(p->size, card->memory) >= milli &&
            (best < 0 || smaller(p, &card->profiles[best])))
            best = k;
    }
    return best;
}
