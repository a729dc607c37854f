/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `--set path=value`, also as list items of a file's `set:` key. Applied after repeats, so every
 * copy has an address of its own.
 *
 *   horizon=7d                              a key
 *   demand.training[0].arrivals.base=20/h   an item by position (from 0) ...
 *   demand.services[llama-3.1-70b].max..=4  ... or by name, as it stands
 *   demand.training[*].rateScale=1.3        every item
 *   arbiters.cohort.placement=spread        a name without dots needs no brackets
 *   arbiters=[{preset: pools}]              any value, in YAML
 *
 * A key that is not there yet is made; an item of a list must exist. Arbiters without a name go by
 * their preset.
 */
#ifndef SCENARIOS_LOAD_OVERRIDE_H
#define SCENARIOS_LOAD_OVERRIDE_H

#include "scenarios/load/ytree.h"

/* Applies one argument to the tree. place NULL: the argument came from the command line and
 * problems name it; else it stands there in a file. False after problems were added. */
bool override_apply(struct ynode *root, const char *argument, const struct yplace *place,
                    struct arena *a, struct diag_list *diags);

#endif
