/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engine's copies of the objects, and the trees built from them. */
#ifndef MODELS_POLICIES_KUEUE_OBJECTS_H
#define MODELS_POLICIES_KUEUE_OBJECTS_H

#include "models/policies/kueue/kq.h"

/* Stores a copy of the object (NULL: it is deleted). Trees are stale until kq_build. */
void kq_set_object(struct kq *k, enum policy_object_kind kind, uint32_t id, const void *object);

/* Builds trees, quota records and topologies anew and counts all usage into them. */
void kq_build(struct kq *k);

/* Quota record index of (flavor, resource) in a tree, POLICY_NONE if nobody mentions it. */
uint32_t kq_fr_find(const struct kq_tree *t, uint32_t flavor, uint32_t resource);

void kq_objects_fini(struct kq *k);

#endif
