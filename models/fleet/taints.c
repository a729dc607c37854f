/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/taints.h"

#include <string.h>

static bool matches(const struct taint *toleration, const struct taint *taint)
{
    if (toleration->effect != TAINT_EFFECT_ANY && toleration->effect != taint->effect)
        return false;
    if (toleration->key[0] != '\0' && strcmp(toleration->key, taint->key) != 0)
        return false;
    return toleration->value == NULL ||
           strcmp(toleration->value, taint->value == NULL ? "" : taint->value) == 0;
}

bool taint_tolerated(const struct taint *taint, const struct taint *tolerations, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (matches(&tolerations[i], taint))
            return true;
    return false;
}
