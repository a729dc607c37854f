/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Short scenarios with many items. In any list of maps, an item with `repeat: N` stands for N
 * copies of itself without that key; in the texts of copy i, `{i}` becomes i (from 1), and a value
 * `each: [a, b, c]` becomes a for copy 1, b for copy 2, c for copy 3, a again for copy 4.
 *
 *   - name: research-{i}            - name: research-1     - name: research-2
 *     repeat: 2               =>      cards: {h100: 100}     cards: {h100: 40}
 *     cards: {h100: {each: [100, 40]}}
 *
 * A repeat inside a repeat is refused. Limits: 10000 copies, YTREE_NODES_MAX values in all.
 */
#ifndef SCENARIOS_LOAD_REPEAT_H
#define SCENARIOS_LOAD_REPEAT_H

#include "scenarios/load/ytree.h"

enum { REPEAT_MAX = 10000 };

/* Expands in place. False after problems were added. */
bool repeat_expand(struct ynode *root, struct arena *a, struct diag_list *diags);

#endif
