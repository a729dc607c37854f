/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/yaml_extra.h"

#include <stddef.h>

enum yaml_extra yaml_extra_of(const yaml_event_t *e)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    }
    if (e->type == YAML_ALIAS_EVENT || anchor != NULL)
        return YAML_EXTRA_ANCHOR;
    return tag != NULL ? YAML_EXTRA_TAG : YAML_EXTRA_NONE;
}
