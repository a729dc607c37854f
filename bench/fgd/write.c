/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/fgd/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/arena.h"
#include "sim/sim_time.h"

#define STAYS_S 315360000 /* ten years: nobody leaves */

static const char *const placements[] = {"random", "dot-product", "gpu-clustering", "gpu-packing", "best-fit", "fgd"};

static FILE *open_file(const char *path, struct err *e)
{
    FILE *f = fopen(path, "w");
    if (f == NULL)
        err_errno(e, ERR_SYSTEM, "cannot write '%s'", path);
    return f;
}

static bool close_file(FILE *f, const char *path, struct err *e)
{
    bool bad = ferror(f) != 0;
    bad = fclose(f) != 0 || bad;
    return !bad || err_set(e, ERR_SYSTEM, "cannot write '%s'", path);
}

static bool write_pods(const char *path, const struct openb_nodes *n, const struct openb_pods *p,
                       const struct fgd_events *v, struct err *e)
{
    FILE *f = open_file(path, e);
    if (f == NULL)
        return false;
    int64_t arrived = 0;
    fputs("submit_s,duration_s,workers,cards_per_worker,share,cpu,memory_mib,id\n", f);
    for (int32_t i = 0; i < v->count; i++) {
        const struct packing_pod *pod = &p->kinds[p->kind[v->pod[i]]];
        bool share = pod->pod.cards == 1 && pod->pod.milli < SCORE_CARD_MILLI;
        arrived += (int64_t)pod->pod.cards * pod->pod.milli;
        int64_t ns = SIM_HOUR / n->card_milli * arrived + SIM_HOUR % n->card_milli * arrived / n->card_milli;
        fprintf(f, "%" PRId64 ".%09" PRId64 ",%d,1,", ns / SIM_SECOND, ns % SIM_SECOND, STAYS_S);
        if (share)
            fprintf(f, "0,0.%03d", (int)pod->pod.milli);
        else
            fprintf(f, "%d,", (int)pod->pod.cards);
        fprintf(f, ",%" PRId64 ".%03d,%" PRId64 ",%s\n", pod->pod.cpu_milli / 1000, (int)(pod->pod.cpu_milli % 1000),
                pod->memory_mib, p->names[v->pod[i]]);
    }
    return close_file(f, path, e);
}

static bool same_node(const struct packing_node *a, const struct packing_node *b)
{
    return a->cpu_milli == b->cpu_milli && a->memory_mib == b->memory_mib && a->cards == b->cards && a->model == b->model;
}

static void put_pools(FILE *f, const struct openb_nodes *n, const struct fgd_events *v)
{
    const struct packing_node **ranked = mem_alloc((size_t)n->count, sizeof *ranked);
    for (int32_t i = 0; i < n->count; i++)
        ranked[v->rank[i]] = &n->nodes[i];
    for (int32_t first = 0, next; first < n->count; first = next) {
        const struct packing_node *node = ranked[first];
        for (next = first + 1; next < n->count && same_node(ranked[next], node); next++) {
        }
        fprintf(f, "    - {name: n%" PRId32 ", card: A100-80, nodes: %" PRId32 ", cardsPerNode: %" PRId32 ", price: 0usd/h, ",
                first, next - first, node->cards);
        fprintf(f, "labels: {model: \"%s\"}, allocatable: {cpu: %" PRId64 "m, memory: %" PRId64 "Mi}}\n",
                node->model >= 0 ? n->models[node->model] : "", node->cpu_milli, node->memory_mib);
    }
    free(ranked);
}

static bool write_scenario(const char *path, const char *jobs, const struct openb_nodes *n, const struct fgd_events *v,
                           struct err *e)
{
    FILE *f = open_file(path, e);
    if (f == NULL)
        return false;
    fprintf(f, "# The FGD experiment, written by fleetsim-bench fgd: see docs/sharing.md. Card type and price stand for nothing.\n"
               "name: fgd\nhorizon: 90m\nreplications: 1\nfleet:\n  nodePools:\n");
    put_pools(f, n, v);
    fprintf(f, "  flavors: [{name: gpu, nodeLabels: {card: A100-80}}]\n"
               "queues: [{name: all, cards: {gpu: 1000000}}]\n"
               "demand:\n  trafficStep: 1m\n"
               "  training: [{name: pods, queue: all, file: %s, checkpoint: {interval: 0s}, restart: 0s}]\n"
               "arbiters:\n", jobs);
    for (size_t i = 0; i < sizeof placements / sizeof placements[0]; i++)
        fprintf(f, "  - {preset: cohort, name: %s, placement: %s, placementAcrossPools: true, fgdKnowsDemand: true, preemption: false}\n",
                placements[i], placements[i]);
    return close_file(f, path, e);
}

bool fgd_write(const char *folder, const char *name, int64_t seed, const struct openb_nodes *n,
               const struct openb_pods *p, const struct fgd_events *v, struct err *e)
{
    for (int32_t i = 0; i < p->count; i++)
        if (p->kinds[p->kind[i]].pod.models != SCORE_ANY_MODEL)
            return err_set(e, ERR_INPUT, "list '%s': pod '%s' is limited to some models of cards, which a jobs file cannot say",
                           name, p->names[i]);
    struct arena texts = {0};
    const char *jobs = arena_printf(&texts, "%s-%" PRId64 ".csv", name, seed);
    bool ok = write_pods(arena_printf(&texts, "%s/%s", folder, jobs), n, p, v, e) &&
              write_scenario(arena_printf(&texts, "%s/%s-%" PRId64 ".yaml", folder, name, seed), jobs, n, v, e);
    arena_fini(&texts);
    return ok;
}
