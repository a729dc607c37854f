/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Multi-instance GPU: which profiles a card has, where their instances may lie, and which sets of
 * instances are legal (gpu-sharing 1; NVIDIA MIG User Guide and mig-parted's default
 * configuration). A placement is an interval of memory slices: start and size. Instances conflict
 * when their intervals overlap; the budget of compute slices follows from that.
 */
#ifndef MODELS_FLEET_SHARING_MIG_H
#define MODELS_FLEET_SHARING_MIG_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/err.h"

#define MIG_PROFILES_MAX 12
#define MIG_INSTANCES_MAX 7
#define MIG_STARTS_MAX 7

/* Media engines of an instance (1.1): as many as its slices bring, all that a small instance can
 * get (+me), all of the card (+me.all), none (-me). */
enum mig_media { MIG_MEDIA_PLAIN, MIG_MEDIA_EXTRA, MIG_MEDIA_ALL, MIG_MEDIA_NONE };

struct mig_profile {
    const char *name;        /* "1g.5gb", "1g.5gb+me" */
    int8_t compute, size;    /* compute slices, memory slices */
    int8_t starts[MIG_STARTS_MAX], start_count; /* legal starts, ascending */
    int8_t driver_starts[MIG_STARTS_MAX];       /* the same in the driver's order */
    int8_t max;              /* instances on one card */
    enum mig_media media;
    bool graphics;           /* +gfx */
    int32_t memory_mib, sms;
};

struct mig_card {
    const char *name;        /* as in the catalogue: "A100-40", "H100", ... */
    const char *aliases;     /* other names, separated by blanks, or "" */
    int8_t compute, memory;  /* slices: 7 and 8, or 4 and 4 */
    int32_t sms;             /* of the whole card without MIG */
    int8_t media_max;        /* instances with media engines, 0 = as many as fit */
    bool assumed;            /* starts, sizes in MiB or SMs of this card are inferred, not documented */
    bool reset;              /* a change of mode resets the card (Ampere) */
    struct mig_profile profiles[MIG_PROFILES_MAX];
    int8_t profile_count;
};

struct mig_instance {
    int8_t profile, start;
};

/* Instances of one card, in order of creation. */
struct mig_layout {
    struct mig_instance items[MIG_INSTANCES_MAX];
    int8_t count;
};

/* Order in which starts are tried (1.4). */
enum mig_policy {
    MIG_DRIVER,   /* as the driver would choose; the order of creation matters */
    MIG_PERMUTE,  /* mig-parted: every distinct order of creation until one works */
    MIG_HIGH_ODD  /* HAMi: 1g and 3g high, the others low */
};

/* The card by name or alias, or NULL: no MIG, or no documented profiles. */
const struct mig_card *mig_card_find(const char *name);
/* All cards, in the order of the table. */
const struct mig_card *mig_cards(int32_t *count);

/* Index of a profile. Accepts "1g.5gb", "1g.5gb+me", the resource spelling "1g.5gb.me", the
 * prefixes "mig-" and "nvidia.com/mig-", and "1c.3g.20gb" (a compute instance stands for its GPU
 * instance; version 1 does not cut further). -1 with e naming the legal profiles. */
int32_t mig_profile_find(const struct mig_card *card, const char *name, struct err *e);
/* Resource that the device plugin advertises under the mixed strategy (1.7). */
void mig_resource_name(char out[64], const struct mig_profile *profile);

/* Memory slices of an instance as bits. */
uint32_t mig_slices(const struct mig_card *card, struct mig_instance instance);
uint32_t mig_taken(const struct mig_card *card, const struct mig_layout *layout);
/* Instances, maxima, media engines: everything but whether the starts are free. */
bool mig_counts_ok(const struct mig_card *card, const struct mig_layout *layout);
/* Is this a layout the card can have? */
bool mig_layout_ok(const struct mig_card *card, const struct mig_layout *layout);

/* Where the next instance of the profile would go, or -1. */
int32_t mig_next_start(const struct mig_card *card, const struct mig_layout *layout,
                       int32_t profile, enum mig_policy policy);

/* Can all wanted profiles be added to what is there (1.4, with backtracking)? out receives the
 * whole layout; it may be NULL. */
bool mig_can_add(const struct mig_card *card, const struct mig_layout *there,
                 const int32_t *wanted, int32_t count, struct mig_layout *out);

/* Makes the profiles on an empty card one after another, as the policy does it: in the order given
 * (driver, high-odd) or in the first order that works (permute). */
bool mig_create(const struct mig_card *card, const int32_t *wanted, int32_t count,
                enum mig_policy policy, struct mig_layout *out);

/* A layout by name: "all-balanced", "all-disabled", "all-1g.5gb" as in mig-parted's default
 * configuration, or a list "3g.20gb,2g.10gb,1g.5gb*2". Errors name the legal values. */
bool mig_layout_parse(const struct mig_card *card, const char *text, struct mig_layout *out,
                      struct err *e);

/* Slices that no further instance can use (1.5): compute and memory slices of the card minus those
 * of the layout, when nothing more can be added; else 0. */
void mig_stranded(const struct mig_card *card, const struct mig_layout *layout, int32_t *compute,
                  int32_t *memory);
bool mig_maximal(const struct mig_card *card, const struct mig_layout *layout);

/* Part of the whole card's SMs, 0..1. */
double mig_sm_share(const struct mig_card *card, int32_t profile);

#endif
