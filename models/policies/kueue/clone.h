/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies of objects as the interface gives them, for changes that wait for the end of a cycle. */
#ifndef MODELS_POLICIES_KUEUE_CLONE_H
#define MODELS_POLICIES_KUEUE_CLONE_H

#include "models/policies/policy.h"
#include "sim/arena.h"

/* A deep copy in `mem`; NULL stays NULL. */
const void *kq_clone_object(struct arena *mem, enum policy_object_kind kind, const void *object);

#endif
