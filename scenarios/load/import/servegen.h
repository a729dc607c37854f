/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two files of the ServeGen importer share. */
#ifndef SCENARIOS_LOAD_IMPORT_SERVEGEN_H
#define SCENARIOS_LOAD_IMPORT_SERVEGEN_H

#include "scenarios/load/import/import_ctx.h"

/* The client named by the file: 143 of chunk-143-trace.csv. */
uint32_t servegen_client_of_file(struct import *x);
void servegen_add_length(struct import *x, uint32_t client, int64_t time, bool is_output, double mean);

/* chunk-N-dataset.json: window start -> field -> text of a Python dict from length to probability. */
bool servegen_json_run(struct import *x, struct text_input *in, struct err *err);

/* Mean of "{461: 2.8e-06, 462: 0.5}"; false when the text is no such dict or its weights are 0. */
bool servegen_dict_mean(const char *text, double *mean);

#endif
