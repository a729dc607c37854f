/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pending view of a replayed manifest. */
#ifndef STUDIES_MANIFEST_PENDING_H
#define STUDIES_MANIFEST_PENDING_H

#include "sim/record.h"
#include "studies/manifest_play.h"

struct mpending;

struct mpending *mpending_create(const struct manifest *m);
void mpending_destroy(struct mpending *v);

void mpending_output(struct mpending *v, const struct mplay *p, int64_t now, const struct policy_output *o);
void mpending_finished(struct mpending *v, int64_t now, uint32_t workload);
/* The instant p->now is at rest. */
void mpending_instant(struct mpending *v, const struct mplay *p);
void mpending_emit(struct mpending *v, const struct mplay *p, int64_t run_id, const struct record_sink *sink);

#endif
