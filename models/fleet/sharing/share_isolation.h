/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef MODELS_FLEET_SHARING_SHARE_ISOLATION_H
#define MODELS_FLEET_SHARING_SHARE_ISOLATION_H

/* What stands between two tenants of a card. */
enum share_isolation {
    ISOLATION_NONE,      /* nothing: time-slicing, KAI fractions */
    ISOLATION_SOFTWARE,  /* limits in a library or server: HAMi, MPS */
    ISOLATION_HARDWARE,  /* own memory slices and SMs: MIG */
    ISOLATION_EXCLUSIVE  /* nobody else on the card */
};

const char *share_isolation_name(enum share_isolation isolation);

#endif
