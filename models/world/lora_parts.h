/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of world_lora.c: what the tenants of an instance do with its card. */
#ifndef MODELS_WORLD_LORA_PARTS_H
#define MODELS_WORLD_LORA_PARTS_H

#include "models/world/world_lora.h"

const struct lora_adapter *lora_adapter_of(const struct world *w, uint32_t wl);
struct lora_memory lora_instance_memory(const struct world *w, const struct lora_instance *in);

int32_t lora_source_of(const struct world *w, uint32_t wl); /* stream, or stream_count + service */

/* Part of the service's KV cache that the adapters leave, >= 0. */
double lora_cache_part(const struct world *w, const struct lora_memory *m, const struct service_config *c);

/* All tenants up to now, at the parts they have had. */
void lora_book(struct world *w, struct lora_instance *in);
/* Parts and speeds for the tenants as they are now; lora_book came first. */
void lora_parts(struct world *w, struct lora_instance *in);

/* lora_meet.c: the instance has its card; tenants came or left; rows of `sharing`. */
void lora_seat(struct world *w, struct lora_instance *in);
void lora_meet(struct world *w, struct lora_instance *in);
void lora_emit_pairs(struct world *w);

#endif
