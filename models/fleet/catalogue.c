/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Look-ups; the data comes from scenarios/catalogue.csv through catalogue_gen. */
#include "models/fleet/catalogue.h"

#include <string.h>

#include "sim/check.h"

const struct catalogue_fact *catalogue_fact(const struct catalogue *c, const char *kind,
                                            const char *name, const char *field)
{
    for (int32_t i = 0; i < c->fact_count; i++) {
        const struct catalogue_fact *f = &c->facts[i];
        if (strcmp(f->kind, kind) == 0 && strcmp(f->name, name) == 0 && strcmp(f->field, field) == 0)
            return f;
    }
    return NULL;
}

double catalogue_value(const struct catalogue *c, const char *kind, const char *name,
                       const char *field)
{
    const struct catalogue_fact *f = catalogue_fact(c, kind, name, field);
    REQUIRE(f != NULL && f->is_number);
    return f->value;
}

int32_t catalogue_find_card(const struct catalogue *c, const char *name)
{
    const struct catalogue_fact *alias = catalogue_fact(c, "alias", name, "card");
    if (alias != NULL)
        name = alias->text;
    for (int32_t i = 0; i < c->card_count; i++)
        if (strcmp(c->cards[i].name, name) == 0)
            return i;
    return -1;
}

int32_t catalogue_find_instance(const struct catalogue *c, const char *name)
{
    for (int32_t i = 0; i < c->instance_count; i++)
        if (strcmp(c->instances[i].name, name) == 0)
            return i;
    return -1;
}
