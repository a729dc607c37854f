/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of a replayed manifest as rows of the results database (docs/results-schema.md). */
#ifndef STUDIES_MANIFEST_FIGURES_H
#define STUDIES_MANIFEST_FIGURES_H

#include "sim/record.h"
#include "studies/manifest_play.h"

struct mfigures;

/* Shown instants: at most about a thousand. */
struct mfigures *mfigures_create(const struct manifest *m);
void mfigures_destroy(struct mfigures *f);

/* Before time moves to `now`: integrals of what is held since the last call. */
void mfigures_instant(struct mfigures *f, const struct mplay *p, int64_t now);

/* Metrics and histogram; with `reason_of` (the last reason of a workload that waits or waited, or
 * NULL) also series and workloads. */
void mfigures_emit(struct mfigures *f, const struct mplay *p, int64_t run_id,
                   const struct record_sink *sink,
                   const char *(*reason_of)(void *ctx, uint32_t workload), void *ctx);

#endif
