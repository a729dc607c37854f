/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of traces (trace-formats 5): date texts with up to 9 fraction digits, or bare numbers. */
#ifndef SCENARIOS_LOAD_IMPORT_CLOCK_H
#define SCENARIOS_LOAD_IMPORT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/load/import/tz.h"

enum clock_kind { CLOCK_UNKNOWN, CLOCK_DATES, CLOCK_NUMBERS };

struct clock {
    struct tz tz;
    int64_t unit_ns;      /* of bare numbers */
    enum clock_kind kind; /* settled by the first time read; later ones must be alike */
};

/* Reads `YYYY-MM-DD[ T]hh:mm:ss[.f{1,9}][Z|+hh:mm|+hhmm|+hh]`, `YYYY-MM-DD`, or a number of units.
 * ns since 1970 (dates) or since the number 0. NULL on success, else what was expected. */
const char *clock_read(struct clock *c, const char *text, int64_t *ns);

/* The same for a date alone. False when it is none. */
bool clock_date(const struct tz *tz, const char *text, int64_t *ns);

/* "2017-10-21 23:03:38" (UTC, or the local time when zones were not given), or "4105977 s". */
const char *clock_print(const struct clock *c, int64_t ns, char buffer[64]);

#endif
