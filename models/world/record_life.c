/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows about what happens to workloads outside of the policy: places, starts, ends, loops. */
#include "models/world/gang_speed.h"
#include "models/world/record_jobs.h"
#include "models/world/record_priv.h"
#include "models/world/world_preempt.h"
#include "models/world/tables.h"

void record_loop(struct world *w)
{
    const struct settle_loop *l = settle_loop(w->settle);
    struct record_text t = {.length = 0};
    for (uint32_t i = 0; l != NULL && i < l->count && i < 4; i++) {
        char victim[RECORD_NAME_SIZE], by[RECORD_NAME_SIZE];
        record_name(w, l->victims[i], victim);
        record_name(w, l->preemptors[i], by);
        record_say(&t, "%s%s evicts %s (%s)", i == 0 ? "" : ", ", by, victim,
                   policy_evict_reason_name(l->rules[i]));
    }
    struct record_value v[] = {rec_int(w->opt.run_id), rec_real(sim_time_seconds(w->now)),
                               rec_text("eviction_loop"), rec_null(),
                               rec_real(l == NULL ? 0 : (double)l->count),
                               rec_text(t.length > 0 ? t.text : NULL)};
    record_row(&w->opt.sink, &table_event_of_note, v);
}

/* ---- placement and life ---- */

void record_unplaced(struct world *w, uint32_t ix)
{
    if (w->record == NULL)
        return;
    const struct workload *wl = &w->wl[ix];
    struct record_text t = record_begin(w, ix);
    record_say(&t, "has quota on %s, but no node holds %s", w->s->fleet.flavors[wl->flavor].name,
               wl->workers > 1 ? "its workers" : "it");
    struct decision *d = record_row_of(w, ix, "unplaced");
    d->reason = "Fragmentation";
    record_detail(w, d, &t);
}

void record_started(struct world *w, uint32_t ix, sim_time starting, sim_time loading)
{
    if (w->record == NULL)
        return;
    const struct workload *wl = &w->wl[ix];
    struct record_text t = {.length = 0};
    record_say(&t, "on %s; ", w->s->fleet.pools[wl->pool].name);
    if (wl->kind <= WL_POD) {
        record_say(&t, "submitted ");
        record_duration(&t, w->now - w->jobs[wl->owner].spec.submit);
        record_say(&t, " ago; ");
    }
    record_say(&t, "starting ");
    record_duration(&t, starting);
    record_say(&t, ", loading ");
    record_duration(&t, loading);
    if (wl->kind <= WL_POD)
        gang_say(&t, w, wl->owner);
    struct decision *d = record_row_of(w, ix, "started");
    bool again = wl->kind <= WL_POD && w->jobs[wl->owner].evictions + w->jobs[wl->owner].failures > 0;
    d->reason = again ? "Again" : "First";
    record_detail(w, d, &t);
}

void record_released(struct world *w, uint32_t ix)
{
    bool evicted = w->wl[ix].kind != WL_REPLICA || w->wl[ix].evicted;
    if (w->record != NULL && evicted && w->arb->eviction_grace > 0)
        record_row_of(w, ix, "released")->reason = w->wl[ix].kind == WL_REPLICA ? "Replaced" : "Requeued";
}

void record_preempted(struct world *w, uint32_t victim, uint32_t by)
{
    if (w->record == NULL)
        return;
    char name[RECORD_NAME_SIZE], other[RECORD_NAME_SIZE];
    record_name(w, victim, name);
    record_name(w, by, other);
    struct record_text t = record_begin(w, by);
    record_say(&t, "finds no node and evicts %s (priority %lld)", name,
               (long long)workload_priority(w, victim));
    struct decision *d = record_row_of(w, by, "preempts");
    d->reason = "Scheduler";
    record_detail(w, d, &t);
    struct record_text u = record_begin(w, victim);
    record_say(&u, "loses its node to %s (priority %lld); %s", other, (long long)workload_priority(w, by),
               w->wl[victim].kind == WL_REPLICA ? "a new replica takes its place" : "it keeps its quota");
    d = record_row_of(w, victim, "preempted");
    d->reason = "Scheduler";
    record_detail(w, d, &u);
}

void record_stopped(struct world *w, uint32_t ix)
{
    if (w->record != NULL)
        record_row_of(w, ix, "stopped")->reason = "ScaledDown";
}

void record_job_end(struct world *w, uint32_t job)
{
    if (w->record == NULL)
        return;
    const struct job *j = &w->jobs[job];
    struct record_text t = {.length = 0};
    record_say(&t, "after ");
    record_duration(&t, w->now - j->spec.submit);
    record_say(&t, ", work ");
    record_duration(&t, j->spec.work);
    record_say(&t, ", %u evictions, rework ", j->evictions);
    record_duration(&t, j->rework);
    bool done = job_reached(w, j) >= j->spec.work;
    struct decision *d = record_row_of(w, j->first_workload, done ? "finished" : "failed");
    d->reason = done ? "Done" : "RetriesUsedUp";
    record_detail(w, d, &t);
    record_jobs_row(w, w->record->jobs, job, NULL);
}

void record_service(struct world *w, uint32_t service, sim_time from)
{
    if (w->record != NULL)
        record_jobs_service(w, w->record->jobs, service, from);
}
