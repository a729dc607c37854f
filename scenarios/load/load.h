/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scenarios from YAML (docs/scenario-reference.md). A file is either a whole scenario or a change
 * of another one:
 *
 *   base: bank-10k.yaml
 *   name: bank-10k-training-1.3x
 *   set: ["demand.training[*].rateScale=1.3"]
 *
 * Order: base, set: of the files from the base up, repeats, then --set. A relative path of a data
 * file belongs to the directory of the file it is written in, one of --set to the current one.
 *
 * scenario.text is what the results keep: the text of the base-most file with a `set:` key at its
 * end that holds all changes. It loads to the same scenario with scenario_load_text.
 */
#ifndef SCENARIOS_LOAD_LOAD_H
#define SCENARIOS_LOAD_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "models/world/scenario.h"
#include "sim/diag.h"

/* Reads, completes and checks. NULL when there were errors, all of them (up to the list's limit)
 * in diags. sets: set_count arguments "path=value". The result is the caller's, scenario_free. */
struct scenario *scenario_load(const char *path, const char *const *sets, int set_count,
                               struct diag_list *diags);

/* The same from memory; path names it in messages and gives the directory of data files. `base:`
 * is refused. */
struct scenario *scenario_load_text(const char *path, const char *text, size_t length,
                                    const char *const *sets, int set_count, struct diag_list *diags);

/* scenario_load, and known mistakes as warnings with their reasons (lint.c). */
struct scenario *scenario_check(const char *path, const char *const *sets, int set_count,
                                struct diag_list *diags);

/* The whole scenario as YAML: base, set, repeats, the objects of manifests and --set written out. Paths of data files stay
 * as they are written. Fields are not checked. NULL after problems; the caller frees. */
char *scenario_print(const char *path, const char *const *sets, int set_count, struct diag_list *diags);

/* Bad rows of jobs files that are left out instead of being errors. */
void scenario_skip_bad(struct scenario *s, uint64_t rows);

/* NULL is allowed. */
void scenario_free(struct scenario *s);

/* JSON Schema (draft 2020-12) of scenario files; the caller frees. */
char *scenario_json_schema(void);
/* docs/scenario-reference.md; the caller frees. */
char *scenario_reference(void);

#endif
