/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the gate's outputs share: words and figures, and files that appear whole. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "analysis/regress_priv.h"
#include "analysis/store/target.h"

void regress_scope_text(char *out, size_t size, const struct regress_finding *f)
{
    if (strcmp(f->kind, "all") == 0)
        (void)snprintf(out, size, "whole fleet");
    else
        (void)snprintf(out, size, "%s %s", strcmp(f->kind, "node_pool") == 0 ? "pool" : f->kind, f->scope);
}

void regress_value_text(char out[FIGURE_SIZE], const struct metric_def *def, double value)
{
    char figure[FIGURE_SIZE];
    figure_print(figure, def->format, value);
    (void)snprintf(out, FIGURE_SIZE, "%.40s%s", figure, def->format == METRIC_PERCENT && !isnan(value) ? " %" : "");
}

void regress_change_text(char out[FIGURE_SIZE], const struct regress_finding *f)
{
    struct figure change = {.value = f->change.mean, .half = f->change.high - f->change.mean,
                            .censored = f->censored, .change = true};
    figure_print_interval(out, f->def->format, &change, FIGURE_SIZE, NULL);
}

void regress_allowed_text(char out[FIGURE_SIZE], const struct regress_finding *f)
{
    char figure[FIGURE_SIZE];
    figure_print(figure, f->def->format, f->allowed);
    (void)snprintf(out, FIGURE_SIZE, "%.36s%s", figure, f->def->format == METRIC_PERCENT ? " points" : "");
}

void regress_time_text(char out[FIGURE_SIZE], double seconds)
{
    if (!(seconds > -1e12 && seconds < 1e12)) { /* no run is so long: a database that somebody changed */
        (void)snprintf(out, FIGURE_SIZE, "?");
        return;
    }
    long long s = (long long)(seconds + 0.5);
    char day[24] = "";
    if (s >= 86400)
        (void)snprintf(day, sizeof day, "%lldd ", s / 86400);
    (void)snprintf(out, FIGURE_SIZE, "%s%02lld:%02lld:%02lld", day, s / 3600 % 24, s / 60 % 60, s % 60);
}

const char *regress_verdict_word(enum regress_verdict v)
{
    static const char *const words[] = {"same", "better", "unclear", "worse"};
    return words[v];
}

void regress_headline(char *out, size_t size, const struct regress *r)
{
    int status = regress_status(r);
    (void)snprintf(out, size, "%s: %zu of %zu figures worse, %zu unclear, %zu better",
                   status == 4 ? "new eviction loops" : status == 1 ? "worse" : "nothing worse",
                   r->counts[REGRESS_WORSE], r->finding_count, r->counts[REGRESS_UNCLEAR],
                   r->counts[REGRESS_BETTER]);
}

bool regress_file(const char *path, const struct regress *r, void (*write)(FILE *, const struct regress *),
                  struct err *err)
{
    struct target target;
    if (!target_open(&target, path, err))
        return false;
    FILE *f = fopen(target.temporary, "w");
    bool ok = f != NULL;
    if (ok) {
        write(f, r);
        ok = fflush(f) == 0 && !ferror(f);
        ok = fclose(f) == 0 && ok;
    }
    if (!ok) {
        err_errno(err, ERR_SYSTEM, "cannot write '%s'", path);
        target_discard(&target);
        return false;
    }
    return target_commit(&target, NULL, err);
}
