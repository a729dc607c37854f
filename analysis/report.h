/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One self-contained HTML page about a results database, for somebody who never saw the tool. */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include <stdbool.h>

#include "sim/err.h"

/*
 * Writes the page; the file appears whole or not at all. No part of it needs a network. ERR_INPUT:
 * the database cannot be used; ERR_SYSTEM: nothing can be written, or gnuplot is missing or failed.
 */
bool report_write(const char *db_path, const char *html_path, struct err *err);

#endif
