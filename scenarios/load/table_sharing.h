/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that streams and services have in common: what they are as tenants of a shared card. */
#ifndef SCENARIOS_LOAD_TABLE_SHARING_H
#define SCENARIOS_LOAD_TABLE_SHARING_H

#include "models/fleet/sharing/share_isolation.h"
#include "scenarios/load/load_priv.h"

extern const struct enum_name isolation_names[]; /* table_sharing.c */

/* type is the struct that is read, t its member struct tenant_config. */
#define TENANT_ROWS(type, t)                                                                       \
    {.name = "memory", .kind = FIELD_BYTES, .offset = offsetof(type, t.memory_bytes), .max = 1e14, \
     .fallback = "not known: it never runs out", \
     .help = "Memory of a card that one worker or replica really needs at its peak."}, \
    {.name = "duty", .kind = FIELD_FRACTION, .offset = offsetof(type, t.duty), .min = 0.001, .max = 1, \
     .fallback = "its share, else 1", \
     .help = "Part of the time in which it has something for the card to do, when alone."}, \
    {.name = "computeDemand", .kind = FIELD_FRACTION, .offset = offsetof(type, t.compute_demand), \
     .min = 0.001, .max = 1, .help = "Part of a card's SMs that it can use at once."}, \
    {.name = "bandwidth", .kind = FIELD_FRACTION, .offset = offsetof(type, t.bandwidth), .max = 1, \
     .help = "Part of a card's memory bandwidth that it uses when alone."}, \
    {.name = "isolation", .kind = FIELD_ENUM, .offset = offsetof(type, t.requires), \
     .names = isolation_names, \
     .help = "What it requires between itself and others on its card (fleetsim audit)."}, \
    {.name = "isolationReason", .kind = FIELD_STRING, .offset = offsetof(type, t.isolation_reason), \
     .fallback = "none", .help = "Why, such as PCI-DSS."}

/* Of those that ask for a part of a card. */
#define SLICE_ROWS(type, t)                                                                        \
    {.name = "profile", .kind = FIELD_STRING, .offset = offsetof(type, t.profile), \
     .fallback = "the smallest that covers its share", \
     .help = "MIG profile it asks for in pools under MIG, such as 1g.10gb."}, \
    {.name = "gpumem", .kind = FIELD_INT, .offset = offsetof(type, t.gpumem_mib), .min = 1, .max = 1e8, \
     .fallback = "by its share", .help = "nvidia.com/gpumem in pools under HAMi: MiB of a card."}, \
    {.name = "gpucores", .kind = FIELD_INT, .offset = offsetof(type, t.gpucores), .max = 100, \
     .fallback = "by its share, but none with gpumem", \
     .help = "nvidia.com/gpucores in pools under HAMi: percent of a card."}

#endif
