/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Built-in catalogue of accelerators and instance types with dated prices and sources
 * (docs: managed-and-costs 3, workload-models 1.10 and 4.2). Shipped as a data file
 * (scenarios/catalogue.csv: kind,name,field,value,unit,as_of,source,confidence), compiled in by
 * the build so that the program works without it; never constants in code.
 */
#ifndef MODELS_FLEET_CATALOGUE_H
#define MODELS_FLEET_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct card_type {
    const char *name;          /* "H100-80", "A100-40", "L40S", "910B", ... */
    const char *vendor;
    int64_t memory_bytes;
    int32_t cores;             /* SMs or AI cores; 0 = unknown */
    int32_t speed_milli;       /* training speed, A100-80 = 1000; 0 = unknown: the user must give it */
    double hbm_bytes_per_s, flops_bf16, flops_fp8, link_bytes_per_s;
    int32_t mig_slices;        /* compute slices under MIG, 7 or 4; 0 = no MIG */
    const char *as_of, *source, *confidence;
};

struct instance_type {
    const char *name;          /* "p5.48xlarge" */
    int32_t card;              /* index of the card type */
    int32_t card_count;
    int64_t cpu_milli, memory_bytes;
    int64_t price_uusd_per_h;  /* on demand; 0 = none published */
    int64_t spot_uusd_per_h;   /* 0 = none */
    const char *as_of, *source, *confidence;
};

/* One line of the catalogue as it stands in the file. */
struct catalogue_fact {
    const char *kind, *name, *field;
    const char *text;          /* the value as written */
    double value;              /* in base units (bytes, s, usd, 1/s); 0 when the value is a word */
    bool is_number;
    const char *unit, *as_of, *source;
    const char *confidence;    /* V vendor, D data set, B secondary article, A our assumption */
};

struct catalogue {
    const struct card_type *cards;
    int32_t card_count;
    const struct instance_type *instances;
    int32_t instance_count;
    const struct catalogue_fact *facts; /* every line, also those that made cards and instances */
    int32_t fact_count;
};

/* The built-in catalogue; read-only, lives as long as the program (static const data). */
const struct catalogue *catalogue_builtin(void);

/* Index by name (cards: or alias, such as "Ascend910B3" for "910B3"), or -1. */
int32_t catalogue_find_card(const struct catalogue *c, const char *name);
int32_t catalogue_find_instance(const struct catalogue *c, const char *name);

/* A fact by its three names, or NULL. */
const struct catalogue_fact *catalogue_fact(const struct catalogue *c, const char *kind,
                                            const char *name, const char *field);
/* The number of a fact that must be in every catalogue of this program, in base units. */
double catalogue_value(const struct catalogue *c, const char *kind, const char *name,
                       const char *field);

#endif
