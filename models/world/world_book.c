/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settling what allocated cards did into the ledger: segments by state, runs by closed form. */
#include "models/world/gang_speed.h"
#include "models/world/world_lora.h"
#include "models/world/world_priv.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"
#include "sim/dmath.h"

enum ledger_class book_class(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    if (wl->kind == WL_REPLICA)
        return LEDGER_CLASS_INFERENCE;
    return job_class(w, wl->owner) == CLASS_LORA ? LEDGER_CLASS_LORA : LEDGER_CLASS_TRAINING;
}

int32_t book_team(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    return wl->kind == WL_REPLICA ? w->services[wl->owner].cfg->team : w->jobs[wl->owner].spec.team;
}

static struct ledger_account account_of(const struct world *w, uint32_t ix)
{
    return (struct ledger_account){.pool = (uint32_t)w->wl[ix].pool,
                                   .team = book_team(w, ix),
                                   .workload_class = book_class(w, ix)};
}

i128 ckpt_unit(int64_t milli, sim_time ns)
{
    return i128_mcns(milli, ns);
}

void book_amount(struct world *w, struct ledger_account a, enum ledger_bucket b, i128 mcns)
{
    if (mcns == 0)
        return;
    /* The amount ends now; an instant before it lies in the period that it belongs to. */
    ledger_book_amount(w->ledger, a, b, w->now > 0 ? w->now - 1 : 0, mcns);
    w->total[b] += mcns;
}

void book_segment(struct world *w, uint32_t ix, enum ledger_bucket bucket)
{
    struct workload *wl = &w->wl[ix];
    i128 held = ckpt_unit(wl->milli, w->now - wl->since);
    if (held > 0)
        book_amount(w, account_of(w, ix), bucket, held);
    if (wl->kind == WL_REPLICA && w->services[wl->owner].cfg->kind == SERVICE_LLM && held > 0)
        w->llm_held[wl->pool] += held;
    wl->since = w->now;
}

/* Per card: wall time of the segment between two instants, split into what it was. */
struct run_split {
    sim_time useful, rework, stall;
};

static struct run_split split_run(const struct world *w, const struct job *j, sim_time from,
                                  sim_time to)
{
    struct checkpoint_plan plan = job_checkpoints(w, j);
    sim_time before = checkpoint_progress(&plan, j->run_offset).computed;
    struct checkpoint_progress a = checkpoint_progress(&plan, j->run_offset + from);
    struct checkpoint_progress b = checkpoint_progress(&plan, j->run_offset + to);
    /* Rework ends when the run has computed its way back up to the high-water mark. */
    sim_time back = j->high_water > j->run_work ? j->high_water - j->run_work : 0;
    sim_time rework_end = before + job_time_at(j, back);
    sim_time rework_a = a.computed < rework_end ? a.computed : rework_end;
    sim_time rework_b = b.computed < rework_end ? b.computed : rework_end;
    sim_time rework = rework_b - rework_a;
    return (struct run_split){.useful = (b.computed - a.computed) - rework,
                              .rework = rework,
                              .stall = b.stalled - a.stalled};
}

i128 book_part(i128 mcns, double part)
{
    i128 thousands = mcns / 1000;
    i128 some = (i128)dm_round((double)thousands * part) * 1000;
    return part >= 1.0 || some > mcns ? mcns : some;
}

/* A job on whole cards keeps them busy for its duty, if that is said, or a LoRA job for the share that it asked for. */
int64_t book_busy_milli(const struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    if (wl->base != NONE32)
        return wl->busy_milli;
    if (wl->sliced)
        return wl->got_milli;
    if (w->shapes[wl->shape].share_milli > 0)
        return wl->milli;
    int64_t duty = (int64_t)dm_round(sharing_config(w, sharing_tenant(w, ix))->duty * SHARE_CARD_MILLI);
    int32_t asked = w->jobs[wl->owner].spec.share_milli;
    if (duty > 0)
        return wl->milli * duty / SHARE_CARD_MILLI;
    return asked > 0 ? (int64_t)wl->workers * asked : wl->milli;
}

static void book_run_part(struct world *w, uint32_t ix, struct run_split r)
{
    struct workload *wl = &w->wl[ix];
    struct ledger_account a = account_of(w, ix);
    int64_t busy = book_busy_milli(w, ix);
    enum ledger_bucket b = a.workload_class == LEDGER_CLASS_LORA ? LEDGER_LORA_USEFUL
                                                                 : LEDGER_TRAINING_USEFUL;
    int32_t gang = w->jobs[wl->owner].gang_ppm;
    i128 useful = gang_part(ckpt_unit(busy, r.useful), gang), rework = gang_part(ckpt_unit(busy, r.rework), gang);
    i128 network = ckpt_unit(busy, r.useful + r.rework) - useful - rework;
    book_amount(w, a, b, useful);
    book_amount(w, a, LEDGER_TRAINING_REWORK, rework);
    book_amount(w, a, LEDGER_SHARING_OVERHEAD, network + ckpt_unit(wl->lost_milli, r.useful + r.rework));
    book_amount(w, a, wl->base != NONE32 ? LEDGER_SERVING_HEADROOM : LEDGER_INPUT_WAIT,
                ckpt_unit(wl->milli - wl->lost_milli - busy, r.useful + r.rework));
    book_amount(w, a, LEDGER_CHECKPOINT_STALL, ckpt_unit(wl->milli, r.stall));
    ledger_work(w->ledger, a.pool, useful + rework);
    gang_note(w, ix, useful + rework, network);
    enum workload_class cls = job_class(w, wl->owner);
    w->rework_of[cls] += rework;
    if (cls == CLASS_TRAINING && a.team >= 0)
        w->team_rework[a.team] += rework;
    wl->since = w->now;
}

void book_run(struct world *w, uint32_t job)
{
    struct job *j = &w->jobs[job];
    sim_time elapsed = w->now - j->run_since;
    if (elapsed == j->booked)
        return;
    struct run_split r = split_run(w, j, j->booked, elapsed);
    REQUIRE(r.useful + r.rework + r.stall == elapsed - j->booked);
    j->rework += r.rework;
    for (uint32_t ix = j->first_workload; ix != NONE32; ix = w->wl[ix].next)
        book_run_part(w, ix, r);
    j->booked = elapsed;
}

static void book_open(struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    if (wl->kind == WL_BASE) {
        if (wl->state != WL_FREE)
            lora_book_empty(w, ix);
        return;
    }
    switch ((enum workload_state)wl->state) {
    case WL_FREE:
    case WL_PENDING:
    case WL_UNPLACED:
        break;
    case WL_GANG_WAIT:
        book_segment(w, ix, LEDGER_GANG_WAIT);
        break;
    case WL_STARTING:
        book_segment(w, ix, LEDGER_STARTING);
        break;
    case WL_LOADING:
        book_segment(w, ix, LEDGER_LOADING);
        break;
    case WL_DRAINING:
        book_segment(w, ix, LEDGER_DRAINING);
        break;
    case WL_RUNNING: /* replicas by their service, gangs once by their first workload */
        if (wl->kind != WL_REPLICA && w->jobs[wl->owner].run_since != SIM_NEVER)
            book_run(w, wl->owner);
        break;
    }
}

void book_workload(struct world *w, uint32_t ix)
{
    if (w->wl[ix].kind == WL_REPLICA && w->wl[ix].state == WL_RUNNING)
        service_advance(w, w->wl[ix].owner);
    else
        book_open(w, ix);
}

void book_everything(struct world *w)
{
    for (int32_t k = 0; k < w->s->demand.service_count; k++)
        service_advance(w, (uint32_t)k);
    for (uint32_t ix = 0; ix < w->wl_count; ix++)
        book_open(w, ix);
}
