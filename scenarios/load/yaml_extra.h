/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Anchors, aliases and tags of YAML: what our readers refuse wherever it stands. */
#ifndef SCENARIOS_LOAD_YAML_EXTRA_H
#define SCENARIOS_LOAD_YAML_EXTRA_H

#include <yaml.h>

enum yaml_extra { YAML_EXTRA_NONE, YAML_EXTRA_ANCHOR /* or alias */, YAML_EXTRA_TAG };

enum yaml_extra yaml_extra_of(const yaml_event_t *e);

#endif
