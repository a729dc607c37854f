/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/lint.h"

void scenario_lint(const struct scenario *s, const struct ynode *root, struct diag_list *diags)
{
    (void)s;
    (void)root;
    (void)diags;
}
