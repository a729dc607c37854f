/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the evaluation of a job looked at: each flavor that was tried, with its grade and numbers, whom
 * fill-back spared, shares before and after. */
#ifndef STUDIES_MANIFEST_TRIES_H
#define STUDIES_MANIFEST_TRIES_H

#include <stdio.h>

#include <cjson/cJSON.h>

#include "studies/manifest_now.h"

/* Lines; nothing when no evaluation was made. `queue`: the job's cluster queue. */
void manifest_tries_text(const struct manifest *m, uint32_t queue, const struct mnow_evaluation *e, FILE *out);
/* "flavors", "notTried", "spared" and "shares" of the object. */
void manifest_tries_json(const struct manifest *m, uint32_t queue, const struct mnow_evaluation *e, cJSON *root);

#endif
