/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Alarms of a results database in words (table `alarm`). */
#ifndef ANALYSIS_ALARMS_H
#define ANALYSIS_ALARMS_H

#include <stdio.h>

#include "sim/err.h"

enum { ALARM_LINES = 5 }; /* printed after a run */

/* One line per arbiter, queue and reason: how many, how long together, and the longest with its
 * numbers. At most `most` lines; nothing when there are no alarms. False with err. */
bool alarms_print(FILE *out, const char *db_path, int most, struct err *err);

#endif
