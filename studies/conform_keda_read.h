/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of conform_keda.h: manifests and records from JSON, and the parts of a case. */
#ifndef STUDIES_CONFORM_KEDA_READ_H
#define STUDIES_CONFORM_KEDA_READ_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "models/elastic/keda.h"
#include "sim/err.h"
#include "studies/conform_report.h"

/* spec of a ScaledObject as a user writes it, and its annotations (an object or NULL). */
bool keda_json_config(const cJSON *spec, const cJSON *annotations, struct keda_config *cfg,
                      struct err *e);
void keda_json_annotations(const cJSON *o, struct keda_annotations *a);

/* `in` of a record (the prometheus triggers in order): one sample per trigger. */
void keda_json_samples(const struct keda_config *cfg, const cJSON *in, struct keda_sample *samples);

/* Checks shared by all records. */
void keda_check_health(struct conform_report *r, const struct keda_config *cfg,
                       const struct keda_state *s, const cJSON *rec);
void keda_check_hpa(struct conform_report *r, const struct keda_config *cfg, const cJSON *hpa);

bool keda_replay_jobs(struct conform_report *r, const cJSON *c, struct err *e);
bool keda_replay_joint(struct conform_report *r, const cJSON *c, struct err *e);

#endif
