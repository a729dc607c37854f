/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/share_round.h"

#include "sim/check.h"

__extension__ typedef __int128 wide;

struct fraction {
    int64_t part, whole;
};

static bool larger(struct fraction a, struct fraction b)
{
    return ((wide)a.part * b.whole) > ((wide)b.part * a.whole);
}

/* Nearest milli, half up; at most the whole card. */
static int32_t to_milli(struct fraction f)
{
    int64_t milli = (int64_t)(((wide)f.part * 2 * SHARE_CARD_MILLI + f.whole) /
                              (2 * f.whole));
    return milli > SHARE_CARD_MILLI ? SHARE_CARD_MILLI : (int32_t)milli;
}

static struct fraction largest_axis(const struct share_amounts *amount,
                                    const struct share_amounts *capacity)
{
    struct fraction best = {0, 1};
    for (int a = 0; a < SHARE_AXES; a++) {
        struct fraction f = {amount->axis[a], capacity->axis[a]};
        if (capacity->axis[a] > 0 && larger(f, best))
            best = f;
    }
    return best;
}

/* Common denominator of the axes that count: weights are integers then. */
static int64_t product_of_others(const struct share_amounts *capacity, int64_t whole)
{
    int64_t product = 1;
    bool left_out = false;
    for (int a = 0; a < SHARE_AXES; a++) {
        if (capacity->axis[a] == whole && !left_out)
            left_out = true;
        else if (capacity->axis[a] > 0)
            product *= capacity->axis[a];
    }
    return product;
}

/* One unit to the tenants with the largest remainders, lowest id first. */
static void give_rest(int32_t rest, const int64_t *remainder, int32_t tenants, int32_t *milli)
{
    bool given[SHARE_TENANTS_MAX] = {false};
    for (; rest > 0; rest--) {
        int32_t best = -1;
        for (int32_t i = 0; i < tenants; i++)
            if (!given[i] && (best < 0 || remainder[i] > remainder[best]))
                best = i;
        if (best < 0)
            return;
        given[best] = true;
        milli[best]++;
    }
}

int32_t share_round(const struct share_amounts *amounts, int32_t tenants,
                    const struct share_amounts *capacity, int32_t *milli)
{
    REQUIRE(tenants <= SHARE_TENANTS_MAX);
    struct share_amounts sums = {{0}};
    int64_t weight[SHARE_TENANTS_MAX], remainder[SHARE_TENANTS_MAX], all = 0;
    for (int32_t i = 0; i < tenants; i++) {
        struct fraction f = largest_axis(&amounts[i], capacity);
        weight[i] = f.part * (f.part > 0 ? product_of_others(capacity, f.whole) : 0);
        all += weight[i];
        for (int a = 0; a < SHARE_AXES; a++)
            sums.axis[a] += amounts[i].axis[a];
    }
    int32_t total = to_milli(largest_axis(&sums, capacity)), given = 0;
    for (int32_t i = 0; i < tenants; i++) {
        wide exact = all > 0 ? ((wide)weight[i] * total) : 0;
        milli[i] = all > 0 ? (int32_t)(exact / all) : 0;
        remainder[i] = all > 0 ? (int64_t)(exact % all) : 0;
        given += milli[i];
    }
    give_rest(total - given, remainder, tenants, milli);
    return total;
}

int32_t share_round_layout(const struct mig_card *card, const struct mig_layout *layout,
                           int32_t *milli)
{
    struct share_amounts amounts[MIG_INSTANCES_MAX] = {{{0}}};
    struct share_amounts capacity = {
        {[SHARE_MEMORY] = card->memory, [SHARE_COMPUTE] = card->compute}};
    for (int i = 0; i < layout->count; i++) {
        const struct mig_profile *p = &card->profiles[layout->items[i].profile];
        amounts[i].axis[SHARE_MEMORY] = p->size;
        amounts[i].axis[SHARE_COMPUTE] = p->compute;
    }
    return share_round(amounts, layout->count, &capacity, milli);
}
