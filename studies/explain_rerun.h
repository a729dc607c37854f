/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run once more, from the scenario text that the results keep (of a replay of manifests: its files
 * and settings), with everything recorded, into a database in memory. Refused when an input file is missing or has another content, and when the
 * demand comes out differently.
 */
#ifndef STUDIES_EXPLAIN_RERUN_H
#define STUDIES_EXPLAIN_RERUN_H

#include "analysis/store/results.h"
#include "sim/diag.h"

struct explain_rerun {
    struct results results; /* what explanations read; run as stored */
    char version[64];       /* of the program that wrote the stored run */
    /* Of the whole fleet, against the stored ones; without the split of idle time, where the level of
     * recording moves seconds between waiting for quota and for order. */
    int64_t figures, figures_that_differ;
};

/* False with err, or with problems of the scenario in diags. Release with explain_rerun_fini. */
bool explain_rerun(struct explain_rerun *rerun, struct results *stored, int64_t run, struct diag_list *diags,
                   struct err *err);
void explain_rerun_fini(struct explain_rerun *rerun);

#endif
