/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/import/import.h"
#include "scenarios/load/text_number.h"
#include "scenarios/load/units.h"

#define ONE_PPM INT64_C(1000000)

void import_options_init(struct import_options *o)
{
    *o = (struct import_options){.sample_ppm = ONE_PPM,
                                 .seed = 1,
                                 .arrivals_ppm = ONE_PPM,
                                 .durations_ppm = ONE_PPM,
                                 .unit_ns = SIM_SECOND,
                                 .step = SIM_MINUTE};
}

static bool refuse(const char *name, const char *expected, const char *value, struct err *err)
{
    char quoted[48];
    number_quote(quoted, value);
    return err_set(err, ERR_INPUT, "--%s: expected %s, got '%s'", name, expected, quoted);
}

static bool set_form(struct import_options *o, const char *name, const char *value, struct err *err)
{
    static const char *const forms[] = {"auto", "jobs", "requests", "rates"};
    for (int i = FORM_JOBS; i <= FORM_RATES; i++) {
        if (strcmp(value, forms[i]) == 0) {
            o->form = (enum import_form)i;
            return true;
        }
    }
    return refuse(name, "jobs, requests or rates", value, err);
}

static bool read_length(sim_time *out, const char *name, const char *value, struct err *err)
{
    sim_time ns;
    if (units_duration(value, &ns) != UNITS_OK || ns <= 0) {
        return refuse(name, "a duration such as 7d, 36h or 600s", value, err);
    }
    *out = ns;
    return true;
}

static bool read_factor(int64_t *out, int64_t most, const char *name, const char *value, struct err *err)
{
    int64_t ppm;
    if (number_decimal(value, 6, false, &ppm) != NUMBER_OK || ppm < 1 || ppm > most) {
        return refuse(name, most == ONE_PPM ? "a part above 0, up to 1, at most 6 decimals"
                                            : "a factor above 0, up to 1000000, at most 6 decimals",
                      value, err);
    }
    *out = ppm;
    return true;
}

static bool set_unit(struct import_options *o, const char *name, const char *value, struct err *err)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"s", SIM_SECOND}, {"ms", SIM_MS}, {"us", 1000}, {"ns", 1}, {"min", SIM_MINUTE},
                 {"h", SIM_HOUR}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(value, units[i].name) == 0) {
            o->unit_ns = units[i].ns;
            return true;
        }
    }
    return refuse(name, "s, ms, us, ns, min or h", value, err);
}

static bool set_separator(struct import_options *o, const char *name, const char *value, struct err *err)
{
    if (strcmp(value, "tab") == 0) {
        o->separator = '\t';
        return true;
    }
    if (value[0] == '\0' || value[1] != '\0' || strchr(",;|\t", value[0]) == NULL) {
        return refuse(name, "one of , ; | or tab", value, err);
    }
    o->separator = value[0];
    return true;
}

static bool read_count(uint64_t *out, const char *name, const char *value, struct err *err)
{
    int64_t n;
    if (number_decimal(value, 0, false, &n) != NUMBER_OK || n < 0) {
        return refuse(name, "a whole number from 0", value, err);
    }
    *out = (uint64_t)n;
    return true;
}

static bool set_retries(struct import_options *o, const char *name, const char *value, struct err *err)
{
    static const char *const names[] = {"sum", "last", "span"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            o->retries = (enum import_retries)i;
            return true;
        }
    }
    return refuse(name, "sum, last or span", value, err);
}

static bool append(const char **list, int *count, int most, const char *name, const char *value,
                   struct err *err)
{
    const char *equals = strchr(value, '=');
    if (equals == NULL || equals == value || equals[1] == '\0') {
        return refuse(name, "NAME=VALUE", value, err);
    }
    if (*count == most) {
        return err_set(err, ERR_INPUT, "--%s: given more than %d times", name, most);
    }
    list[(*count)++] = value;
    return true;
}

static bool set_zero_gpus(struct import_options *o, const char *name, const char *value, struct err *err)
{
    o->keep_cpu_jobs = strcmp(value, "keep") == 0;
    return o->keep_cpu_jobs || strcmp(value, "drop") == 0 || refuse(name, "drop or keep", value, err);
}

static bool set_zero(struct import_options *o, const char *name, const char *value, struct err *err)
{
    o->lift_zero = strcmp(value, "lift") == 0;
    return o->lift_zero || strcmp(value, "drop") == 0 || refuse(name, "drop or lift", value, err);
}

static bool set_start(struct import_options *o, const char *name, const char *value, struct err *err)
{
    (void)name;
    (void)err;
    o->start = value;
    return true;
}

static bool set_tz(struct import_options *o, const char *name, const char *value, struct err *err)
{
    (void)name;
    (void)err;
    o->tz = value;
    return true;
}

static bool set_strict(struct import_options *o, const char *name, const char *value, struct err *err)
{
    (void)name;
    (void)value;
    (void)err;
    o->strict = true;
    return true;
}

static bool set_per_client(struct import_options *o, const char *name, const char *value, struct err *err)
{
    (void)name;
    (void)value;
    (void)err;
    o->per_client = true;
    return true;
}

static bool set_window(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_length(&o->window, name, value, err);
}

static bool set_step(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_length(&o->step, name, value, err);
}

static bool set_sample(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_factor(&o->sample_ppm, ONE_PPM, name, value, err);
}

static bool set_arrivals(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_factor(&o->arrivals_ppm, ONE_PPM * ONE_PPM, name, value, err);
}

static bool set_durations(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_factor(&o->durations_ppm, ONE_PPM * ONE_PPM, name, value, err);
}

static bool set_seed(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_count(&o->seed, name, value, err);
}

static bool set_skip_bad(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return read_count(&o->skip_bad, name, value, err);
}

static bool set_map(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return append(o->map, &o->map_count, IMPORT_MAPS_MAX, name, value, err);
}

static bool set_only(struct import_options *o, const char *name, const char *value, struct err *err)
{
    return append(o->only, &o->only_count, IMPORT_ONLY_MAX, name, value, err);
}

bool import_options_set(struct import_options *o, const char *name, const char *value, struct err *err)
{
    static const struct {
        const char *name;
        bool (*set)(struct import_options *o, const char *name, const char *value, struct err *err);
    } setters[] = {{"format", set_form},           {"start", set_start},
                   {"window", set_window},         {"step", set_step},
                   {"sample", set_sample},         {"seed", set_seed},
                   {"scale-arrivals", set_arrivals}, {"scale-durations", set_durations},
                   {"tz", set_tz},                 {"time-unit", set_unit},
                   {"separator", set_separator},   {"map", set_map},
                   {"only", set_only},             {"zero-duration", set_zero},
                   {"zero-gpus", set_zero_gpus},
                   {"retries", set_retries},       {"per-client", set_per_client},
                   {"strict", set_strict},         {"skip-bad", set_skip_bad}};
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        if (strcmp(setters[i].name, name) == 0) {
            return setters[i].set(o, name, value, err);
        }
    }
    return err_set(err, ERR_INPUT, "unknown option --%s", name);
}
