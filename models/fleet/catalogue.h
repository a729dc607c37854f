/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Built-in catalogue of accelerators and instance types with dated prices and sources
 * (docs: managed-and-costs 3, workload-models 1.10 and 4.2). Shipped as a data file
 * (scenarios/catalogue.csv: kind,name,field,value,unit,as_of,source,confidence), compiled in by
 * the build so that the program works without it; never constants in code.
 */
#ifndef MODELS_FLEET_CATALOGUE_H
#define MODELS_FLEET_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

struct card_type {
    const char *name;          /* "H100-80", "A100-40", "L40S", "910B", ... */
    const char *vendor;
    int64_t memory_bytes;
    int32_t cores;             /* SMs or AI cores; 0 = unknown */
    int32_t speed_milli;       /* training speed, A100-80 = 1000 */
    double hbm_bytes_per_s, flops_bf16, flops_fp8, link_bytes_per_s;
    int32_t mig_slices;        /* 7 where MIG exists, else 0 */
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

struct catalogue {
    struct card_type *cards;
    int32_t card_count;
    struct instance_type *instances;
    int32_t instance_count;
};

/* The built-in catalogue; read-only, lives as long as the program (static const data). */
const struct catalogue *catalogue_builtin(void);

/* Index by name, or -1. */
int32_t catalogue_find_card(const struct catalogue *c, const char *name);
int32_t catalogue_find_instance(const struct catalogue *c, const char *name);

#endif
