/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities as the Kubernetes API writes them (8, 500m, 1.5Gi, 1e3), in Kueue's units: rounded up
 * to whole units (milli-units for cpu); what does not fit is POLICY_UNLIMITED.
 */
#ifndef MODELS_POLICIES_QUANTITY_H
#define MODELS_POLICIES_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* False: not a quantity. Negative amounts are valid here (the API's validation refuses them where
 * they are wrong). */
bool quantity_parse(const char *text, bool milli, int64_t *amount);

/* The same as a real number of units: weights. */
bool quantity_real(const char *text, double *value);

#endif
