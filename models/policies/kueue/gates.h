/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Feature gates by name and the named version profiles (spec 7 and 10). */
#ifndef MODELS_POLICIES_KUEUE_GATES_H
#define MODELS_POLICIES_KUEUE_GATES_H

#include "models/policies/kueue/kq.h"

/* Sets k->gate from the profile and the gates given by name. Gates that change no decision here
 * are accepted; an unknown profile or gate fills error and returns false. */
bool kq_gates_init(struct kq *k, const struct policy_config *cfg, char *error, size_t error_size);

#endif
