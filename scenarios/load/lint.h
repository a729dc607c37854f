/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known mistakes: a scenario that is valid, and will do something its author may not expect. Each
 * is a warning that states the numbers and the reason.
 */
#ifndef SCENARIOS_LOAD_LINT_H
#define SCENARIOS_LOAD_LINT_H

#include "models/world/scenario.h"
#include "scenarios/load/ytree.h"

/* root: the tree the scenario was read from, for places. */
void scenario_lint(const struct scenario *s, const struct ynode *root, struct diag_list *diags);

/* The same of what stands in its jobs files, once they can be opened. */
void scenario_lint_files(const struct scenario *s, const struct ynode *root, struct diag_list *diags);

#endif
