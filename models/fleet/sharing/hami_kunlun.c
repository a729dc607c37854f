/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kunlunxin: 1, 2, 4 or 8 cards of a node of two halves. Halves are the first and the last four of
 * the sorted list; links are by card index. Whole cards (kunlun) and memory slices (XPU) share the
 * search and differ in which card is usable.
 */
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

enum { HALF = 4, NODE_CARDS = 8 };

static bool slice_fits(const struct hami_fit *f, int32_t card)
{
    const struct hami_card *d = hami_fit_card(f, card);
    const struct hami_use *u = &f->use[card];
    if (!d->healthy || f->req.mem + u->mem > d->mem)
        return false;
    return u->used == 0 || u->mem / u->used == f->req.mem;
}

static bool uuid_fits(const struct hami_fit *f, int32_t card)
{
    const char *id = hami_fit_card(f, card)->id;
    return hami_uuid_allowed(f->pod, id, "hami.io/use-xpu-uuid", "hami.io/no-use-xpu-uuid") &&
           hami_uuid_allowed(f->pod, id, "baidu.com/use-gpuuuid", "baidu.com/nouse-gpuuuid");
}

static bool usable(const struct hami_fit *f, int32_t card)
{
    if (!uuid_fits(f, card))
        return false;
    if (f->vendor == HAMI_KUNLUN)
        return f->use[card].used == 0 && hami_fit_card(f, card)->healthy;
    return (f->use[card].used == 0 || !hami_fit_mutex(f)) && slice_fits(f, card);
}

static int32_t index_at(const struct hami_fit *f, int32_t position)
{
    return hami_fit_card(f, f->cards[position])->index;
}

/* Gives the first card of this index. */
static void give_index(struct hami_fit *f, int32_t index)
{
    for (int32_t i = 0; i < f->count; i++) {
        const struct hami_card *d = hami_fit_card(f, f->cards[i]);
        if (d->index != index)
            continue;
        bool whole = f->vendor == HAMI_KUNLUN;
        hami_fit_add(f, f->cards[i], whole ? d->mem : f->req.mem, whole ? d->cores : f->req.cores);
        return;
    }
}

static int32_t count_usable(const struct hami_fit *f, int32_t from, int32_t to)
{
    int32_t n = 0;
    for (int32_t i = from; i < to && i < f->count; i++)
        n += usable(f, f->cards[i]);
    return n;
}

static void pick_from(struct hami_fit *f, int32_t start)
{
    int32_t left = f->req.count;
    for (int32_t i = start; i < NODE_CARDS && i < f->count && left > 0; i++)
        if (usable(f, f->cards[i])) {
            give_index(f, index_at(f, i));
            left--;
        }
}

/* A half that has exactly enough, else the next larger number; odd counts ask for 1, 3, 2, 4. */
static bool pick_half(struct hami_fit *f, int32_t left, int32_t right)
{
    static const int32_t odd_order[HALF + 1] = {0, 1, 3, 2, 4};
    for (int32_t n = f->req.count; n <= HALF; n++) {
        int32_t wanted = f->req.count % 2 == 1 ? odd_order[n] : n;
        if (left == wanted || right == wanted) {
            pick_from(f, left == wanted ? 0 : HALF);
            return true;
        }
    }
    return false;
}

/* Linked across the halves: i and i + 4. */
static bool pick_pair(struct hami_fit *f)
{
    for (int32_t i = 0; i < f->count; i++)
        for (int32_t k = 0; k < f->count; k++) {
            int32_t a = index_at(f, i), b = index_at(f, k);
            int32_t low = a < b ? a : b, high = a < b ? b : a;
            if (high == low + HALF && low < HALF && usable(f, f->cards[i]) &&
                usable(f, f->cards[k])) {
                give_index(f, a);
                give_index(f, b);
                return true;
            }
        }
    return false;
}

/* Two linked cards: inside a half, or opposite each other. */
static bool linked(int32_t a, int32_t b)
{
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    return low / HALF == high / HALF || high == low + HALF;
}

/* The two cards that stay free when these four are taken from six: are they linked? */
static bool rest_linked(uint32_t free_set, const int32_t *four)
{
    int32_t rest[NODE_CARDS], n = 0;
    for (int i = 0; i < HALF; i++)
        free_set &= ~(UINT32_C(1) << four[i]);
    for (int32_t i = 0; i < NODE_CARDS; i++)
        if (free_set >> i & 1)
            rest[n++] = i;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k < n; k++)
            if (linked(rest[i], rest[k]))
                return true;
    return false;
}

static bool pick_four(struct hami_fit *f)
{
    static const int32_t sets[6][HALF] = {{0, 1, 4, 5}, {2, 3, 6, 7}, {0, 2, 4, 6},
                                          {1, 3, 5, 7}, {0, 3, 4, 7}, {1, 2, 5, 6}};
    uint32_t free_set = 0;
    int32_t free_count = 0, best = -1;
    for (int32_t i = 0; i < f->count; i++)
        if (usable(f, f->cards[i])) {
            free_count++;
            if (index_at(f, i) < NODE_CARDS)
                free_set |= UINT32_C(1) << index_at(f, i);
        }
    if (free_count < HALF || free_count > HALF + 2)
        return false;
    for (int s = 0; s < 6; s++) {
        uint32_t set = 0;
        for (int i = 0; i < HALF; i++)
            set |= UINT32_C(1) << sets[s][i];
        if ((set & free_set) != set)
            continue;
        best = s;
        if (free_count < HALF + 2 || rest_linked(free_set, sets[s]))
            break;
    }
    for (int i = 0; i < HALF && best >= 0; i++)
        give_index(f, sets[best][i]);
    return best >= 0;
}

static bool choose(struct hami_fit *f)
{
    int32_t left = count_usable(f, 0, HALF), right = count_usable(f, HALF, f->count);
    int32_t n = f->req.count;
    if (n == NODE_CARDS && left + right == NODE_CARDS) {
        for (int32_t i = 0; i < NODE_CARDS; i++)
            give_index(f, i);
        return true;
    }
    if (n != 1 && n != 2 && n != 4)
        return false;
    if ((left >= n || right >= n) && pick_half(f, left, right))
        return true;
    return n == 2 ? pick_pair(f) : n == 4 ? pick_four(f) : false;
}

bool hami_fit_kunlun(struct hami_fit *f)
{
    if (choose(f))
        return true;
    bool slices = f->vendor == HAMI_XPU, mutex = slices && hami_fit_mutex(f);
    int32_t busy = 0, uuid = 0;
    for (int32_t i = 0; i < f->count; i++) {
        busy += mutex && f->use[f->cards[i]].used > 0 && slice_fits(f, f->cards[i]);
        uuid += !uuid_fits(f, f->cards[i]);
    }
    if (busy > 0)
        f->reason[HAMI_REASON_EXCLUSIVE] = busy;
    else if (uuid > 0)
        f->reason[HAMI_REASON_UUID] = uuid;
    else
        f->reason[HAMI_REASON_NUMA] = 1;
    f->found.count = 0;
    return false;
}

/* Whole cards count a slot only, while the pod is decided. */
bool hami_take_kunlun(const struct hami_fit *f, struct hami_grant *g)
{
    f->use[g->card].used++;
    return true;
}

/* Bubbles of one half: 0 when all four, 2 when a single card, else 1. */
static int32_t half_bubbles(int32_t cards)
{
    return cards == 4 ? 0 : cards == 1 ? 2 : 1;
}

static int32_t bubbles(const bool *in_set)
{
    int32_t left = 0, right = 0;
    for (int32_t i = 0; i < NODE_CARDS * 8; i++) {
        left += i < HALF && in_set[i];
        right += in_set[i] && i >= HALF;
    }
    return left == 0 && right == 0 ? 1 : half_bubbles(left) + half_bubbles(right);
}

/* Compares the halves taken by the pod with those busy before; only on pure Kunlun nodes. */
float hami_score_kunlun(const struct hami_cluster *c, int32_t node, int vendor,
                        const struct hami_pod *pod, const struct hami_allocation *a,
                        const char *policy)
{
    (void)pod;
    (void)policy;
    const struct hami_node *n = &c->nodes[node];
    bool before[NODE_CARDS * 8] = {false}, taken[NODE_CARDS * 8] = {false};
    for (int32_t i = 0; i < n->card_count; i++) {
        if (strstr(n->cards[i].type, "kunlun") == NULL)
            return 0;
        if (c->cards[node][i].use.used > 0 && n->cards[i].index < NODE_CARDS * 8)
            before[n->cards[i].index] = true;
    }
    for (int32_t i = 0; i < a->list_count[vendor]; i++)
        for (int32_t k = 0; k < a->lists[vendor][i].count; k++) {
            int32_t index = n->cards[a->lists[vendor][i].items[k].card].index;
            if (index < NODE_CARDS * 8)
                taken[index] = true;
        }
    switch (bubbles(taken) - bubbles(before)) {
    case -1:
        return 3000;
    case 0:
        return 2000;
    case 2:
        return 0;
    default:
        return 1000;
    }
}
