/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the mechanisms' files. */
#ifndef MODELS_FLEET_SHARING_SHARE_RESOURCE_H
#define MODELS_FLEET_SHARING_SHARE_RESOURCE_H

#include <stdio.h>

#include "models/fleet/sharing/sharing.h"

#define RESOURCE_GPU "nvidia.com/gpu"

static inline void share_add_resource(struct share_demand *d, const char *name, int64_t amount)
{
    struct share_resource *r = &d->resources[d->resource_count++];
    snprintf(r->name, sizeof(r->name), "%s", name);
    r->amount = amount;
}

#endif
