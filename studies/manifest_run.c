/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/store/store.h"
#include "models/world/tables.h"
#include "scenarios/load/file_hash.h"
#include "scenarios/load/manifest/durations.h"
#include "sim/fnv.h"
#include "sim/sim_time.h"
#include "studies/manifest_decisions.h"
#include "studies/manifest_figures.h"
#include "studies/manifest_never.h"
#include "studies/manifest_past.h"
#include "studies/manifest_pending.h"

struct watch {
    struct mfigures *figures;
    struct mdecisions *decisions; /* NULL: not recorded */
    struct manifest_agreement *past;
    uint32_t past_count;
    struct mpending *pending;      /* likewise */
};

static void on_output(void *ctx, const struct mplay *p, int64_t now, const struct policy_output *o)
{
    struct watch *w = ctx;
    if (w->decisions != NULL)
        mdecisions_output(w->decisions, p, now, o);
    if (w->pending != NULL)
        mpending_output(w->pending, p, now, o);
}

static void on_submitted(void *ctx, const struct mplay *p, int64_t now, uint32_t id)
{
    struct watch *w = ctx;
    if (w->decisions != NULL)
        mdecisions_submitted(w->decisions, p, now, id);
}

static void on_finished(void *ctx, const struct mplay *p, int64_t now, uint32_t id)
{
    struct watch *w = ctx;
    if (w->decisions != NULL)
        mdecisions_finished(w->decisions, p, now, id);
    if (w->pending != NULL)
        mpending_finished(w->pending, now, id);
}

static void on_instant(void *ctx, const struct mplay *p, int64_t now)
{
    struct watch *w = ctx;
    if (w->pending != NULL)
        mpending_instant(w->pending, p);
    mfigures_instant(w->figures, p, now);
}

/* ---- reading ---- */

static struct manifest *read_files(const struct manifest_run_options *o, bool quiet, struct err *err)
{
    struct diag_list diags = {0};
    struct manifest *m = manifest_read(o->files, o->file_count, &diags);
    if (m == NULL || !quiet)
        diag_print(&diags, stderr);
    diag_fini(&diags);
    if (m == NULL) {
        err->code = ERR_INPUT;
    } else if (!quiet) {
        manifest_describe(m, stderr);
        (void)manifest_never_fit(m, stderr);
    }
    return m;
}

/* Before durations are drawn: the past is replayed with what was recorded. */
static struct manifest *read_manifest(const struct manifest_run_options *o, bool quiet, struct watch *w, struct err *err)
{
    struct manifest *m = read_files(o, quiet, err);
    if (m == NULL)
        return NULL;
    if (manifest_past(m, &w->past, &w->past_count, err) && o->durations != NULL)
        manifest_durations(m, o->durations, o->seed, err);
    const uint32_t lacking = manifest_without_duration(m);
    if (err->code == ERR_NONE && lacking > 0)
        err_set(err, ERR_INPUT, "%" PRIu32 " of %" PRIu32 " workloads have no duration (they have not finished); "
                "give them one with --durations FILE or --durations DISTRIBUTION", lacking, m->workload_count);
    if (err->code == ERR_NONE)
        return m;
    manifest_free(m);
    return NULL;
}

/* What must be equal for two results to be compared: who asks for what, when, for how long. */
static uint64_t demand_hash(const struct manifest *m)
{
    uint64_t h = FNV_START;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        const int64_t v[] = {w->created, w->duration_ns, w->policy.priority, w->startup_ns};
        h = fnv_add(h, w->name_space, strlen(w->name_space) + 1);
        h = fnv_add(h, w->name, strlen(w->name) + 1);
        h = fnv_add(h, w->queue, strlen(w->queue) + 1);
        h = fnv_add(h, v, sizeof v);
        for (uint32_t s = 0; s < w->shape.pod_set_count; s++) {
            const struct policy_pod_set *p = &w->shape.pod_sets[s];
            h = fnv_add(h, &p->count, sizeof p->count);
            for (uint32_t k = 0; k < p->request_count; k++) {
                const char *name = m->config.resources[p->requests[k].resource];
                h = fnv_add(h, name, strlen(name) + 1);
                h = fnv_add(h, &p->requests[k].amount, sizeof p->requests[k].amount);
            }
        }
    }
    return h;
}

/* ---- writing ---- */

static void add_params(struct store *store, const struct manifest *m, const struct manifest_run_options *o)
{
    char text[64];
    store_param(store, 1, "kueue.version", m->version == NULL ? "not known" : m->version);
    store_param(store, 1, "kueue.profile", m->config.profile);
    store_param(store, 1, "kueue.fairSharing", m->config.fair_sharing ? "true" : "false");
    store_param(store, 1, "durations", o->durations == NULL ? MANIFEST_DURATIONS_RECORDED : o->durations);
    snprintf(text, sizeof text, "%" PRId64, o->horizon_ns);
    store_param(store, 1, MANIFEST_HORIZON_PARAM, o->horizon_ns == INT64_MAX ? "" : text);
    store_param(store, 1, "figures.resource",
                m->main_resource == POLICY_NONE ? "none" : m->config.resources[m->main_resource]);
    snprintf(text, sizeof text, "%" PRIu32, m->workload_count);
    store_param(store, 1, "workloads", text);
}

static char *scenario_text(const struct manifest_run_options *o)
{
    size_t length = 64;
    for (int i = 0; i < o->file_count; i++)
        length += strlen(o->files[i]) + 8;
    char *text = mem_zalloc(length, 1);
    strcat(text, "manifests:\n");
    for (int i = 0; i < o->file_count; i++) {
        strcat(text, "  - ");
        strcat(text, o->files[i]);
        strcat(text, "\n");
    }
    return text;
}

/* The files in their order, then that of the durations. */
static size_t list_inputs(const struct manifest_run_options *o, struct store_input inputs[MANIFEST_FILES_MAX + 1])
{
    size_t n = 0;
    for (; n < (size_t)o->file_count; n++)
        inputs[n] = (struct store_input){o->files[n], file_hash_or_none(o->files[n])};
    struct stat st;
    if (o->durations != NULL && stat(o->durations, &st) == 0) {
        inputs[n] = (struct store_input){o->durations, file_hash_or_none(o->durations)};
        n++;
    }
    return n;
}

static void add_run(struct store *store, const struct manifest *m, const struct manifest_run_options *o,
                    const struct mplay *p, double wall_s)
{
    char host[128] = "";
    char *text = o->text != NULL ? mem_strdup(o->text) : scenario_text(o);
    struct store_input inputs[MANIFEST_FILES_MAX + 1];
    const size_t input_count = list_inputs(o, inputs);
    (void)gethostname(host, sizeof host - 1);
    const struct store_run run = {.run = 1,
                                  .arbiter = "cohort",
                                  .preset = "cohort",
                                  .seed = o->seed,
                                  .horizon_s = sim_time_seconds(p->end_ns),
                                  .scenario_name = o->name != NULL ? o->name : "manifests",
                                  .scenario_text = text,
                                  .scenario_hash = fnv_add(m->hash, text, strlen(text)),
                                  .demand_hash = demand_hash(m),
                                  .inputs = inputs,
                                  .input_count = input_count,
                                  .wall_s = wall_s,
                                  .version = FLEETSIM_VERSION,
                                  .host = host};
    store_add_run(store, &run);
    free(text);
}

struct reasons {
    struct mdecisions *decisions;
    const struct mplay *p;
};

static const char *reason_of(void *ctx, uint32_t id)
{
    const struct reasons *r = ctx;
    return mdecisions_reason(r->decisions, r->p, id);
}

static void emit_loop(const struct mplay *p, int64_t run_id, const struct record_sink *sink)
{
    const struct settle_loop *l = settle_loop(p->settle);
    char text[600] = "";
    size_t used = 0;
    for (uint32_t i = 0; l != NULL && i < l->count && i < 4; i++) {
        const int n = snprintf(text + used, sizeof text - used, "%s%s evicts %s (%s)", i == 0 ? "" : ", ",
                               p->m->workloads[l->preemptors[i]].name, p->m->workloads[l->victims[i]].name,
                               policy_evict_reason_name(l->rules[i]));
        used += n < 0 || (size_t)n >= sizeof text - used ? 0 : (size_t)n;
    }
    struct record_value v[] = {rec_int(run_id), rec_real(sim_time_seconds(p->end_ns)), rec_text("eviction_loop"), rec_null(),
                               rec_real(l == NULL ? 0 : (double)l->count), rec_text(text[0] == '\0' ? NULL : text)};
    record_row(sink, &table_event_of_note, v);
}

static void past_metric(const struct record_sink *sink, int64_t run_id, const char *queue, const char *name, double value)
{
    struct record_value v[] = {rec_int(run_id), rec_text("past"), rec_text(queue), rec_text(name), rec_real(value), rec_int(0)};
    record_row(sink, &table_metric, v);
}

/* How the replay meets the dump's own past, by queue; scope '': all. */
static void emit_past(const struct manifest_agreement *list, uint32_t count, int64_t run_id, const struct record_sink *sink)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct manifest_agreement *a = &list[i];
        const uint32_t one_sided = a->only_recorded + a->only_simulated;
        const double all = a->compared + one_sided;
        past_metric(sink, run_id, a->queue, "past.compared", a->compared);
        past_metric(sink, run_id, a->queue, "past.one_sided", one_sided);
        past_metric(sink, run_id, a->queue, "past.within_1s", a->within_1s / all);
        past_metric(sink, run_id, a->queue, "past.within_60s", a->within_60s / all);
        past_metric(sink, run_id, a->queue, "past.error.p50", a->error_p50);
        past_metric(sink, run_id, a->queue, "past.error.p95", a->error_p95);
        past_metric(sink, run_id, a->queue, "past.wait.recorded", a->recorded_wait);
        past_metric(sink, run_id, a->queue, "past.wait.simulated", a->simulated_wait);
    }
}

static void emit_rows(struct watch *w, const struct mplay *p, int64_t run_id, const struct record_sink *sink)
{
    struct reasons r = {w->decisions, p};
    mfigures_emit(w->figures, p, run_id, sink, w->decisions == NULL ? NULL : reason_of, &r);
    if (w->decisions != NULL)
        mdecisions_emit(w->decisions, p, run_id, sink);
    if (w->pending != NULL) {
        mpending_instant(w->pending, p);
        mpending_emit(w->pending, p, run_id, sink);
    }
    if (p->loop)
        emit_loop(p, run_id, sink);
    emit_past(w->past, w->past_count, run_id, sink);
}

static bool write_all(const struct manifest_run_options *o, const struct mplay *p, struct watch *w, double wall_s,
                      struct err *err)
{
    struct store *store = store_create(o->output, world_tables, err);
    if (store == NULL)
        return false;
    add_run(store, p->m, o, p, wall_s);
    add_params(store, p->m, o);
    const struct record_sink sink = store_sink(store);
    emit_rows(w, p, 1, &sink);
    return store_commit(store, err);
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- playing ---- */

struct played {
    struct watch w;
    struct manifest *m;
    struct mplay p;
    double wall_s;
};

/* played_fini in every case. */
static bool play(struct played *x, const struct manifest_run_options *o, bool quiet, struct err *err)
{
    *x = (struct played){.wall_s = 0};
    x->m = read_manifest(o, quiet, &x->w, err);
    if (x->m == NULL)
        return false;
    x->w.figures = mfigures_create(x->m);
    x->w.decisions = o->decisions ? mdecisions_create(x->m) : NULL;
    x->w.pending = o->decisions ? mpending_create(x->m) : NULL;
    const struct mplay_options mo = {.horizon_ns = o->horizon_ns,
                                     .requeue_batch_ns = MPLAY_KUEUE_BATCH,
                                     .reasons = o->decisions,
                                     .watch = {&x->w, on_output, on_submitted, on_finished, on_instant}};
    const double begun = seconds_now();
    if (!mplay_run(&x->p, x->m, &mo, err))
        return false;
    mfigures_instant(x->w.figures, &x->p, x->p.end_ns);
    x->wall_s = seconds_now() - begun;
    return true;
}

static void played_fini(struct played *x)
{
    if (x->m != NULL) {
        mplay_fini(&x->p);
        mfigures_destroy(x->w.figures);
    }
    if (x->w.decisions != NULL)
        mdecisions_destroy(x->w.decisions);
    mpending_destroy(x->w.pending);
    free(x->w.past);
    manifest_free(x->m);
}

bool manifest_run(const struct manifest_run_options *o, struct manifest_run_result *result, struct err *err)
{
    struct played x;
    *result = (struct manifest_run_result){0};
    const bool played = play(&x, o, false, err), ok = played && write_all(o, &x.p, &x.w, x.wall_s, err);
    if (played)
        *result = (struct manifest_run_result){x.m->workload_count, x.p.cycles, x.p.loop};
    if (played && x.p.loop)
        mplay_print_loop(&x.p, stderr);
    played_fini(&x);
    return ok;
}

bool manifest_repeat(const struct manifest_run_options *o, int64_t run_id, const struct record_sink *sink, uint64_t *demand,
                     struct err *err)
{
    struct played x;
    const bool ok = play(&x, o, true, err);
    if (ok) {
        *demand = demand_hash(x.m);
        emit_rows(&x.w, &x.p, run_id, sink);
    }
    played_fini(&x);
    return ok;
}
