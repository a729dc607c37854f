/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_past.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/manifest.h"
#include "sim/sim_time.h"
#include "studies/manifest_play.h"

struct past { /* of one cluster queue, or of all */
    const char *name;
    uint32_t compared, within_1s, within_60s, only_recorded, only_simulated;
    double *errors; /* |simulated - recorded| in s */
    double recorded_wait_s, simulated_wait_s;
};

struct worst {
    const struct manifest_workload *w;
    int64_t recorded, simulated;
};

/* The recorded runs: of one that has not finished, at least until the dump; then it does not end. */
static void complete(struct manifest *m)
{
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].duration_ns == POLICY_NEVER)
            m->workloads[i].forever = true;
}

static int64_t dumped_at(const struct manifest *m)
{
    int64_t last = m->start_ns;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        const int64_t times[] = {w->created, w->reserved, w->admitted, w->ready, w->ended};
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++)
            if (times[k] != POLICY_NEVER && times[k] > last)
                last = times[k];
    }
    return last - m->start_ns;
}

static void compare(struct past *p, const struct manifest *m, uint32_t id, const struct mplay_run *r, struct worst *worst)
{
    const struct manifest_workload *w = &m->workloads[id];
    const int64_t recorded = w->reserved == POLICY_NEVER ? POLICY_NEVER : w->reserved - m->start_ns;
    if (recorded == POLICY_NEVER && r->last_reserved == POLICY_NEVER)
        return;
    if (recorded == POLICY_NEVER || r->last_reserved == POLICY_NEVER) {
        p->only_recorded += recorded != POLICY_NEVER;
        p->only_simulated += recorded == POLICY_NEVER;
        return;
    }
    const int64_t d = r->last_reserved > recorded ? r->last_reserved - recorded : recorded - r->last_reserved;
    p->errors[p->compared++] = sim_time_seconds(d);
    p->within_1s += d <= SIM_SECOND;
    p->within_60s += d <= SIM_MINUTE;
    p->recorded_wait_s += sim_time_seconds(recorded - w->policy.created_ns);
    p->simulated_wait_s += sim_time_seconds(r->last_reserved - w->policy.created_ns);
    const int64_t most = worst->w == NULL ? -1 : worst->simulated > worst->recorded ? worst->simulated - worst->recorded
                                                                                   : worst->recorded - worst->simulated;
    if (d > most)
        *worst = (struct worst){w, recorded, r->last_reserved};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct manifest_agreement agreement_of(struct past *p)
{
    const uint32_t n = p->compared;
    if (n > 1)
        qsort(p->errors, n, sizeof *p->errors, by_value);
    return (struct manifest_agreement){.queue = p->name,
                                       .compared = n,
                                       .within_1s = p->within_1s,
                                       .within_60s = p->within_60s,
                                       .only_recorded = p->only_recorded,
                                       .only_simulated = p->only_simulated,
                                       .error_p50 = n == 0 ? 0 : p->errors[n / 2],
                                       .error_p95 = n == 0 ? 0 : p->errors[(uint32_t)(0.95 * (n - 1))],
                                       .recorded_wait = n == 0 ? 0 : p->recorded_wait_s / n,
                                       .simulated_wait = n == 0 ? 0 : p->simulated_wait_s / n};
}

static void print_row(struct past *p, FILE *out)
{
    const struct manifest_agreement a = agreement_of(p);
    const uint32_t n = a.compared;
    if (n + a.only_recorded + a.only_simulated == 0)
        return;
    fprintf(out, "%-24s %9" PRIu32 " %8.1f%% %8.1f%% %10.1f %10.1f %10.1f %10.1f %8" PRIu32 " %8" PRIu32 "\n", p->name, n,
            n == 0 ? 0 : 100.0 * a.within_1s / n, n == 0 ? 0 : 100.0 * a.within_60s / n, a.error_p50, a.error_p95,
            a.recorded_wait, a.simulated_wait, a.only_recorded, a.only_simulated);
}

/* By cluster queue, all of them last. *beside: workloads of no queue. */
static struct past *compare_all(const struct manifest *m, const struct mplay *p, struct worst *worst, uint32_t *beside)
{
    const uint32_t queues = m->config.cluster_queue_count;
    struct past *list = mem_zalloc((size_t)queues + 1, sizeof *list);
    for (uint32_t q = 0; q <= queues; q++) {
        list[q].name = q == queues ? "all" : m->config.cluster_queues[q].name;
        list[q].errors = mem_alloc((size_t)m->workload_count + 1, sizeof *list[q].errors);
    }
    for (uint32_t i = 0; i < m->workload_count; i++) {
        if (m->workloads[i].inadmissible != NULL) {
            (*beside)++;
            continue;
        }
        compare(&list[mplay_queue(m, i)], m, i, &p->runs[i], worst);
        compare(&list[queues], m, i, &p->runs[i], worst);
    }
    return list;
}

static void free_all(struct past *list, uint32_t queues)
{
    for (uint32_t q = 0; q <= queues; q++)
        free(list[q].errors);
    free(list);
}

static int report(const struct manifest *m, const struct mplay *p, FILE *out)
{
    const uint32_t queues = m->config.cluster_queue_count;
    struct worst worst = {NULL, 0, 0};
    uint32_t beside = 0;
    struct past *list = compare_all(m, p, &worst, &beside);
    fprintf(out, "quota reservation, simulated against recorded; errors and mean waits in seconds\n"
            "%-24s %9s %9s %9s %10s %10s %10s %10s %8s %8s\n", "cluster queue", "workloads", "within 1s", "60s",
            "err p50", "err p95", "wait rec.", "wait sim.", "only rec", "only sim");
    for (uint32_t q = 0; q <= queues; q++)
        if (list[q].name != NULL)
            print_row(&list[q], out);
    if (beside > 0)
        fprintf(out, "%" PRIu32 " workloads belong to no queue that exists\n", beside);
    if (worst.w != NULL && worst.simulated != worst.recorded)
        fprintf(out, "largest difference: %s/%s, recorded at %.0f s, simulated at %.0f s\n", worst.w->name_space,
                worst.w->name, sim_time_seconds(worst.recorded), sim_time_seconds(worst.simulated));
    const struct past *all = &list[queues];
    const bool agree = all->within_1s == all->compared && all->only_recorded + all->only_simulated == 0;
    free_all(list, queues);
    return agree ? 0 : 1;
}

static bool any_recorded(const struct manifest *m)
{
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].reserved != POLICY_NEVER && m->workloads[i].inadmissible == NULL)
            return true;
    return false;
}

static uint32_t listed(const struct manifest *m, const struct mplay *p, struct manifest_agreement *out)
{
    const uint32_t queues = m->config.cluster_queue_count;
    struct worst worst = {NULL, 0, 0};
    uint32_t beside = 0, n = 0;
    struct past *list = compare_all(m, p, &worst, &beside);
    for (uint32_t q = 0; q <= queues; q++) {
        if (list[q].compared + list[q].only_recorded + list[q].only_simulated == 0)
            continue;
        out[n] = agreement_of(&list[q]);
        out[n++].queue = q == queues ? "" : list[q].name;
    }
    free_all(list, queues);
    return n;
}

bool manifest_past(struct manifest *m, struct manifest_agreement **list, uint32_t *count, struct err *err)
{
    struct mplay p;
    *count = 0;
    *list = NULL;
    if (!any_recorded(m))
        return true;
    bool *forever = mem_alloc((size_t)m->workload_count + 1, sizeof *forever);
    for (uint32_t i = 0; i < m->workload_count; i++)
        forever[i] = m->workloads[i].forever;
    complete(m);
    const struct mplay_options o = {.horizon_ns = dumped_at(m), .requeue_batch_ns = MPLAY_KUEUE_BATCH};
    const bool ok = mplay_run(&p, m, &o, err);
    if (ok) {
        *list = mem_zalloc((size_t)m->config.cluster_queue_count + 1, sizeof **list);
        *count = listed(m, &p, *list);
    }
    mplay_fini(&p);
    for (uint32_t i = 0; i < m->workload_count; i++)
        m->workloads[i].forever = forever[i];
    free(forever);
    return ok;
}

int conform_workloads_files(int n, char **files, FILE *out)
{
    struct diag_list diags = {0};
    struct err e = {0};
    struct mplay p;
    const char **paths = mem_alloc((size_t)n + 1, sizeof *paths);
    for (int i = 0; i < n; i++)
        paths[i] = files[i];
    struct manifest *m = manifest_read(paths, n, &diags);
    free(paths);
    diag_print(&diags, stderr);
    diag_fini(&diags);
    if (m == NULL)
        return 2;
    complete(m);
    const struct mplay_options o = {.horizon_ns = dumped_at(m), .requeue_batch_ns = MPLAY_KUEUE_BATCH};
    int status = 2;
    if (mplay_run(&p, m, &o, &e))
        status = report(m, &p, out);
    else
        fprintf(stderr, "fleetsim conform: %s\n", e.text);
    if (p.loop)
        mplay_print_loop(&p, stderr);
    mplay_fini(&p);
    manifest_free(m);
    return status;
}
