/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Node and pod lists of the Alibaba GPU trace 2023 (openb), as the FGD experiment reads them
 * (gpu-sharing 5.1): plain or packed CSV. Times are not read: nothing ever leaves.
 */
#ifndef BENCH_FGD_OPENB_H
#define BENCH_FGD_OPENB_H

#include "models/fleet/score/packing.h"
#include "scenarios/load/text_input.h"
#include "sim/arena.h"
#include "sim/err.h"

#define OPENB_MODELS_MAX 63

struct openb_nodes {
    struct arena arena;
    struct packing_node *nodes; /* owned, by name */
    char **names;               /* the array is owned, names are the arena's */
    int32_t count;
    char *models[OPENB_MODELS_MAX];
    int32_t model_count;
    int64_t card_milli;         /* of all nodes */
};

struct openb_pods {
    struct arena arena;
    struct packing_pod *kinds;  /* owned: distinct pods */
    int32_t kind_count;
    int32_t *kind;              /* owned: [pod], pods by name */
    char **names;
    int32_t count;
    int64_t card_milli;         /* of all pods */
};

/* columns sn, cpu_milli, memory_mib, gpu, model. Needs at least one card. */
bool openb_read_nodes(struct openb_nodes *n, struct text_input *in, struct err *e);
/* columns name, cpu_milli, memory_mib, num_gpu, gpu_milli and perhaps gpu_spec. Models that no
 * node has are accepted and match nothing. */
bool openb_read_pods(struct openb_pods *p, const struct openb_nodes *n, struct text_input *in,
                     struct err *e);
void openb_nodes_fini(struct openb_nodes *n);
void openb_pods_fini(struct openb_pods *p);

#endif
