/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values with units as a person writes them in a scenario, and back. Numbers are plain decimals:
 * no leading zeros, no `_`, no hexadecimal, no `inf` or `nan`; a quantity with a unit must carry
 * it (`300` is not a duration, `300s` is). Everything is read by this file alone, without locale.
 *
 *   duration     30s 5m 1h30m 28d 1.5h 250ms   ns us ms s m h d w, largest first, each once
 *   bytes        80GiB 15GB 64Gi 512MB          decimal (kB MB GB TB PB), binary (KiB.. or Ki..)
 *   rate         12/s 3/min 40/h 500/day 9/week
 *   bytes rate   10GB/s
 *   money rate   6.88usd/h 200000usd/year       per s, min, h, day, year (365 days)
 *   token price  0.72usd/Mtok
 *   cards        2 or 0.25                      at most three decimals
 *   instant      2026-01-05T00:00:00Z           UTC only
 */
#ifndef SCENARIOS_LOAD_UNITS_H
#define SCENARIOS_LOAD_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim_time.h"

enum units_status {
    UNITS_OK,
    UNITS_BAD,     /* not of this form */
    UNITS_NO_UNIT, /* a bare number where a unit is needed */
    UNITS_RANGE    /* does not fit the type */
};

enum units_status units_int(const char *text, int64_t *out);   /* optional minus sign */
enum units_status units_uint(const char *text, uint64_t *out);
enum units_status units_real(const char *text, double *out);   /* finite */
enum units_status units_bool(const char *text, bool *out);     /* true or false, nothing else */
enum units_status units_duration(const char *text, sim_time *out_ns);      /* >= 0 */
enum units_status units_seconds(const char *text, double *out_s);           /* the same, not cut to ns */
enum units_status units_bytes(const char *text, int64_t *out);             /* >= 0 */
enum units_status units_rate(const char *text, double *out_per_s);         /* >= 0 */
enum units_status units_byte_rate(const char *text, double *out_bytes_per_s);
enum units_status units_money_rate(const char *text, double *out_usd_per_s);
/* The same in whole micro-USD per hour, exact for every price of up to six decimals. */
enum units_status units_money_hour(const char *text, int64_t *out_uusd_per_h);
enum units_status units_money_year(const char *text, int64_t *out_uusd_per_year);
enum units_status units_token_price(const char *text, int64_t *out_uusd_per_mtok);
enum units_status units_milli(const char *text, int64_t *out_milli);       /* >= 0, three decimals */
enum units_status units_instant(const char *text, int64_t *out_unix_ns);

/* A quantity as Kubernetes writes it, in Kueue's unit of the resource: cpu in milli (8, 500m),
 * memory in bytes (a unit or a whole number), everything else whole. */
enum units_status units_quantity(const char *resource, const char *text, int64_t *out);

/* Shortest exact text; n >= 64. Times that units_duration and units_bytes read back exactly. */
void units_print_duration(char *out, size_t n, sim_time ns);
void units_print_seconds(char *out, size_t n, double s); /* below a nanosecond in ns with decimals */
void units_print_bytes(char *out, size_t n, int64_t bytes);
void units_print_real(char *out, size_t n, double value);
void units_print_milli(char *out, size_t n, int64_t milli);
void units_print_instant(char *out, size_t n, int64_t unix_ns);

#endif
