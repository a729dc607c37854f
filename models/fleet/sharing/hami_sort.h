/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pattern-defeating quicksort (arXiv 2106.05123) with the constants of Go's sort package, whose
 * order of equal elements HAMi's card choice depends on: plain insertion (stable) up to 12
 * elements, not stable above.
 */
#ifndef MODELS_FLEET_SHARING_HAMI_SORT_H
#define MODELS_FLEET_SHARING_HAMI_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Is element a (a value of the array) to stand before b? */
typedef bool hami_less_fn(const void *context, int32_t a, int32_t b);

void hami_sort(int32_t *items, int32_t count, hami_less_fn *less, const void *context);

#endif
