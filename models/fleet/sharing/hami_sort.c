/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/sharing/hami_sort.h"

enum { INSERTION_MOST = 12, NINTHER_LEAST = 50, SHIFT_LEAST = 50, SHIFT_STEPS = 5, ALL_SWAPPED = 12 };

struct sorter {
    int32_t *v;
    hami_less_fn *less;
    const void *context;
};

static bool before(const struct sorter *s, int32_t i, int32_t j)
{
    return s->less(s->context, s->v[i], s->v[j]);
}

static void swap(const struct sorter *s, int32_t i, int32_t j)
{
    int32_t held = s->v[i];
    s->v[i] = s->v[j];
    s->v[j] = held;
}

static void insertion(const struct sorter *s, int32_t lo, int32_t hi)
{
    for (int32_t i = lo + 1; i < hi; i++)
        for (int32_t j = i; j > lo && before(s, j, j - 1); j--)
            swap(s, j, j - 1);
}

static void sift(const struct sorter *s, int32_t root, int32_t size, int32_t base)
{
    for (int32_t child; (child = 2 * root + 1) < size; root = child) {
        if (child + 1 < size && before(s, base + child, base + child + 1))
            child++;
        if (!before(s, base + root, base + child))
            return;
        swap(s, base + root, base + child);
    }
}

static void heap(const struct sorter *s, int32_t lo, int32_t hi)
{
    for (int32_t i = (hi - lo - 1) / 2; i >= 0; i--)
        sift(s, i, hi - lo, lo);
    for (int32_t i = hi - lo - 1; i >= 0; i--) {
        swap(s, lo, lo + i);
        sift(s, 0, i, lo);
    }
}

/* Median position of three; counts exchanged pairs. */
static int32_t median(const struct sorter *s, int32_t a, int32_t b, int32_t c, int32_t *swaps)
{
    int32_t held;
    if (before(s, b, a)) {
        ++*swaps;
        held = a, a = b, b = held;
    }
    if (before(s, c, b)) {
        ++*swaps;
        b = c;
    }
    if (before(s, b, a)) {
        ++*swaps;
        b = a;
    }
    return b;
}

static int32_t choose_pivot(const struct sorter *s, int32_t lo, int32_t hi, int32_t *swaps)
{
    int32_t quarter = (hi - lo) / 4;
    int32_t at[3] = {lo + quarter, lo + quarter * 2, lo + quarter * 3};
    *swaps = 0;
    if (hi - lo >= NINTHER_LEAST)
        for (int k = 0; k < 3; k++)
            at[k] = median(s, at[k] - 1, at[k], at[k] + 1, swaps);
    return median(s, at[0], at[1], at[2], swaps);
}

static void reverse(const struct sorter *s, int32_t lo, int32_t hi)
{
    for (int32_t i = lo, j = hi - 1; i < j; i++, j--)
        swap(s, i, j);
}

/* Exchanges three elements in the middle with pseudo-random ones (xorshift from the length). */
static void break_patterns(const struct sorter *s, int32_t lo, int32_t hi)
{
    int32_t length = hi - lo, middle = lo + length / 4 * 2;
    uint64_t random = (uint64_t)length;
    uint32_t modulus = UINT32_C(1) << (32 - __builtin_clz((uint32_t)length));
    for (int32_t i = middle - 1; i <= middle + 1; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int32_t other = (int32_t)((uint32_t)random & (modulus - 1));
        swap(s, i, lo + (other >= length ? other - length : other));
    }
}

/* Moves a few elements that are out of place; true when all is in order afterwards. */
static bool nearly_sorted(const struct sorter *s, int32_t lo, int32_t hi)
{
    int32_t i = lo + 1;
    for (int step = 0; step < SHIFT_STEPS; step++) {
        while (i < hi && !before(s, i, i - 1))
            i++;
        if (i == hi)
            return true;
        if (hi - lo < SHIFT_LEAST)
            return false;
        swap(s, i, i - 1);
        if (i - lo >= 2)
            for (int32_t j = i - 1; j >= 1 && before(s, j, j - 1); j--)
                swap(s, j, j - 1);
        if (hi - i >= 2)
            for (int32_t j = i + 1; j < hi && before(s, j, j - 1); j++)
                swap(s, j, j - 1);
    }
    return false;
}

/* Smaller elements to the left of the pivot; its new position. *moved = something was not there. */
static int32_t partition(const struct sorter *s, int32_t lo, int32_t hi, int32_t pivot, bool *moved)
{
    int32_t i = lo + 1, j = hi - 1;
    swap(s, lo, pivot);
    *moved = false;
    for (;;) {
        while (i <= j && before(s, i, lo))
            i++;
        while (i <= j && !before(s, j, lo))
            j--;
        if (i > j)
            break;
        *moved = true;
        swap(s, i++, j--);
    }
    swap(s, j, lo);
    return j;
}

/* Elements equal to the pivot to the left (none is smaller); the first greater position. */
static int32_t partition_equal(const struct sorter *s, int32_t lo, int32_t hi, int32_t pivot)
{
    int32_t i = lo + 1, j = hi - 1;
    swap(s, lo, pivot);
    for (;;) {
        while (i <= j && !before(s, lo, i))
            i++;
        while (i <= j && before(s, lo, j))
            j--;
        if (i > j)
            return i;
        swap(s, i++, j--);
    }
}

static void quick(const struct sorter *s, int32_t lo, int32_t hi, int32_t bad_left)
{
    bool balanced = true, moved = false;
    while (hi - lo > INSERTION_MOST) {
        if (bad_left == 0) {
            heap(s, lo, hi);
            return;
        }
        if (!balanced) {
            break_patterns(s, lo, hi);
            bad_left--;
        }
        int32_t swaps, pivot = choose_pivot(s, lo, hi, &swaps);
        if (swaps == ALL_SWAPPED) {
            reverse(s, lo, hi);
            pivot = hi - 1 - (pivot - lo);
        }
        if (balanced && !moved && (swaps == 0 || swaps == ALL_SWAPPED) && nearly_sorted(s, lo, hi))
            return;
        if (lo > 0 && !before(s, lo - 1, pivot)) {
            lo = partition_equal(s, lo, hi, pivot);
            continue;
        }
        int32_t length = hi - lo, middle = partition(s, lo, hi, pivot, &moved);
        if (middle - lo < hi - middle) {
            balanced = middle - lo >= length / 8;
            quick(s, lo, middle, bad_left);
            lo = middle + 1;
        } else {
            balanced = hi - middle >= length / 8;
            quick(s, middle + 1, hi, bad_left);
            hi = middle;
        }
    }
    insertion(s, lo, hi);
}

void hami_sort(int32_t *items, int32_t count, hami_less_fn *less, const void *context)
{
    struct sorter s = {items, less, context};
    if (count > 1)
        quick(&s, 0, count, 32 - __builtin_clz((uint32_t)count));
}
