/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Inside of keda.h: triggers, fallback, failure counts and formulas; how a poll and a read of the
 * HPA see them (specs "autoscaling" 1.5).
 */
#ifndef MODELS_ELASTIC_KEDA_METRICS_H
#define MODELS_ELASTIC_KEDA_METRICS_H

#include "models/elastic/keda.h"

/* Fallback exists and counts: its numbers are >= 0 and, under a formula, the target is a positive
 * integer. */
bool keda_fallback_is_valid(const struct keda_config *cfg);

/* Reads all triggers for a poll: sets active, error, fallback, trigger_active, metric, value and
 * threshold of out; failure counts, stored answers and the state of the built scalers in s. */
void keda_poll_triggers(struct keda_state *s, const struct keda_config *cfg,
                        const struct keda_inputs *in, struct keda_decision *out);

#endif
