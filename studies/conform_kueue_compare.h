/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our decisions on a case against the recorded ones: cycles, end, history, stopped. */
#ifndef STUDIES_CONFORM_KUEUE_COMPARE_H
#define STUDIES_CONFORM_KUEUE_COMPARE_H

#include "studies/conform_kueue_play.h"

struct kueue_difference {
    char where[64];
    struct kueue_text ours, recorded;
    size_t lines_agreed; /* of cycles, before the first difference */
};

/* True: equal. Usage texts within a relative 1e-12, everything else exactly. */
bool kueue_compare(const struct kueue_case *c, const struct kueue_result *r,
                   struct kueue_difference *d);
/* End and history alone, of a run without entries. */
bool kueue_compare_outcome(const struct kueue_case *c, const struct kueue_result *r,
                           struct kueue_difference *d);
void kueue_difference_fini(struct kueue_difference *d);

#endif
