/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of decisions about tenants of instances of a base model. */
#include <stdio.h>

#include "models/world/record_jobs.h"
#include "models/world/record_priv.h"
#include "models/world/world_lora.h"
#include "models/world/world_record.h"

void record_base_name(const struct world *w, uint32_t ix, char *name)
{
    const struct lora_instance *in = &w->lora->instances[w->wl[ix].owner];
    const struct lora_group *g = &w->lora->groups[in->group];
    (void)snprintf(name, RECORD_NAME_SIZE, "%.100s-%s-%d/%llu", w->s->demand.models[g->base].name,
                   g->serves ? "serving" : "tuning", (int)in->group, (unsigned long long)in->number);
}

void record_joined(struct world *w, uint32_t ix, uint64_t uid)
{
    if (w->record == NULL)
        return;
    const struct lora_instance *in = &w->lora->instances[w->wl[ix].base];
    char base[RECORD_NAME_SIZE];
    record_base_name(w, in->workload, base);
    record_subject(w, ix, lora_priority(w, ix), uid);
    if (w->wl[ix].kind != WL_REPLICA)
        record_jobs_begin(w->record->jobs, w->wl[ix].owner);
    struct record_text t = {.length = 0};
    record_say(&t, "%d of %d adapters on it", (int)in->count, (int)w->arb->lora_slots);
    struct decision *d = record_row_of(w, ix, "joined");
    d->reason = arena_printf(&w->record->arena, "%s", base);
    record_detail(w, d, &t);
}

void record_tenant_evicted(struct world *w, uint32_t ix)
{
    if (w->record == NULL)
        return;
    char base[RECORD_NAME_SIZE];
    record_base_name(w, w->lora->instances[w->wl[ix].base].workload, base);
    struct record_text t = {.length = 0};
    record_say(&t, "with %s and all of its tenants", base);
    struct decision *d = record_row_of(w, ix, "evicted");
    d->reason = "BaseEvicted";
    record_detail(w, d, &t);
}
