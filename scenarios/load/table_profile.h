/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows of a rate profile, the same for arrivals of jobs and traffic of services: offsets differ.
 * PROFILE_SUBS makes the tables of its nested maps under a prefix, PROFILE_ROWS the rows.
 */
#ifndef SCENARIOS_LOAD_TABLE_PROFILE_H
#define SCENARIOS_LOAD_TABLE_PROFILE_H

#include "scenarios/load/load_priv.h"

#define PROFILE_SUBS(prefix, type, p)                                                              \
    static const struct field prefix##_daily_fields[] = {                                          \
        {.name = "amplitude", .kind = FIELD_FRACTION, .offset = offsetof(type, p.a1), .max = 1, \
         .help = "A1: 0.5 means half above and half below the mean."}, \
        {.name = "peak", .kind = FIELD_HOURS, .offset = offsetof(type, p.phase1_h), .max = 24, \
         .help = "Hour of its maximum (UTC)."}, \
        {0}};                                                                                      \
    static const struct schema prefix##_daily_schema = {.title = "daily", .fields = prefix##_daily_fields, .size = sizeof(type)}; \
    static const struct field prefix##_half_fields[] = {                                           \
        {.name = "amplitude", .kind = FIELD_FRACTION, .offset = offsetof(type, p.a2), .max = 1, \
         .help = "A2, of the wave of twelve hours."}, \
        {.name = "peak", .kind = FIELD_HOURS, .offset = offsetof(type, p.phase2_h), .max = 24, \
         .help = "Hour of one of its maxima (UTC)."}, \
        {0}};                                                                                      \
    static const struct schema prefix##_half_schema = {.title = "halfDaily", .fields = prefix##_half_fields, .size = sizeof(type)}; \
    static const struct field prefix##_noise_fields[] = {                                          \
        {.name = "sigma", .kind = FIELD_REAL, .offset = offsetof(type, p.ou_sigma), .max = 3, \
         .help = "Standard deviation of the logarithm of the rate."}, \
        {.name = "tau", .kind = FIELD_DURATION, .offset = offsetof(type, p.ou_tau), .min = 1e9, \
         .max = 2592e12, .help = "How long a deviation lasts (Ornstein-Uhlenbeck)."}, \
        {0}};                                                                                      \
    static const struct schema prefix##_noise_schema = {.title = "noise", .fields = prefix##_noise_fields, .size = sizeof(type)}; \
    static const struct field prefix##_burst_fields[] = {                                          \
        {.name = "perDay", .kind = FIELD_REAL, .offset = offsetof(type, p.burst_per_day), \
         .max = 1000, .help = "Bursts a day on average."}, \
        {.name = "factor", .kind = FIELD_REAL, .offset = offsetof(type, p.burst_factor), \
         .max = 1000, .help = "The rate is multiplied by this during a burst."}, \
        {.name = "length", .kind = FIELD_DURATION, .offset = offsetof(type, p.burst_length), \
         .min = 1e9, .max = 2592e12, .help = "Length of a burst."}, \
        {0}};                                                                                      \
    static const struct schema prefix##_burst_schema = {.title = "bursts", .fields = prefix##_burst_fields, .size = sizeof(type)}

#define PROFILE_ROWS(prefix, type, p, cv)                                                          \
    {.name = "preset", .kind = FIELD_CUSTOM, .offset = offsetof(type, p), \
     .count_offset = offsetof(type, cv), .read = read_profile_preset, \
     .shape = "steady, chat, apiBursty, reasoning or office", .fallback = "none", \
     .help = "Published shape of a day and its noise; the keys below override it."}, \
    {.name = "base", .kind = FIELD_RATE, .offset = offsetof(type, p.base_per_s), .max = 1e9, \
     .help = "Mean rate before the factors below."}, \
    {.name = "daily", .kind = FIELD_STRUCT, .sub = &prefix##_daily_schema, \
     .help = "Wave of one day."}, \
    {.name = "halfDaily", .kind = FIELD_STRUCT, .sub = &prefix##_half_schema, \
     .help = "Wave of half a day."}, \
    {.name = "weekday", .kind = FIELD_REALS, .offset = offsetof(type, p.weekday), .fixed = 7, \
     .fallback = "all 1", .help = "Factor of each day, Monday first."}, \
    {.name = "hours", .kind = FIELD_REALS, .offset = offsetof(type, p.hours), .fixed = 24, \
     .fallback = "none", .help = "Factor of each hour from 00 UTC, instead of the two waves."}, \
    {.name = "window", .kind = FIELD_CUSTOM, .offset = offsetof(type, p), .read = read_window, \
     .sub = &window_schema, .shape = "map", .fallback = "none", \
     .help = "The base rate between two hours of the day and nothing outside, instead of hours."}, \
    {.name = "noise", .kind = FIELD_STRUCT, .sub = &prefix##_noise_schema, \
     .help = "Slow random drift of the rate."}, \
    {.name = "bursts", .kind = FIELD_STRUCT, .sub = &prefix##_burst_schema, \
     .help = "Random bursts (Poisson)."}, \
    {.name = "cv", .kind = FIELD_REAL, .offset = offsetof(type, cv), .max = 30, \
     .help = "Coefficient of variation of the times between arrivals; 1 = Poisson."}

#endif
