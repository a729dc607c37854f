/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/lora_parts.h"

#include "sim/check.h"
#include "sim/dmath.h"

double lora_cache_part(const struct world *w, const struct lora_memory *m, const struct service_config *c)
{
    int64_t token = w->s->demand.models[c->lora_base].kv_bytes_per_token;
    if (token == 0 || !(c->law.kv_capacity_tokens > 0))
        return 1;
    double taken = (double)(m->count * m->largest_adapter) / (double)token / c->law.kv_capacity_tokens;
    return taken < 1 ? 1 - taken : 0;
}

void lora_book(struct world *w, struct lora_instance *in)
{
    for (int32_t i = 0; i < in->count; i++)
        book_workload(w, in->tenants[i]);
    lora_book_empty(w, in->workload);
}

void lora_book_empty(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    const struct lora_instance *in = &w->lora->instances[wl->owner];
    if (in->count == 0 && wl->milli > 0)
        book_amount(w,
                    (struct ledger_account){.pool = (uint32_t)wl->pool, .team = LEDGER_NO_TEAM,
                                            .workload_class = LEDGER_CLASS_LORA},
                    LEDGER_DRAINING, ckpt_unit(wl->milli, w->now - wl->since));
    wl->since = w->now;
}

/* ---- who computes how much ---- */

struct split {
    int64_t asked_ppm[LORA_SLOTS_MAX], got_ppm[LORA_SLOTS_MAX];
    int64_t capacity_ppm;
    double speed[LORA_SLOTS_MAX];
};

static bool computes(const struct world *w, const struct lora_instance *in, int32_t i)
{
    return w->wl[in->workload].state == WL_RUNNING && w->wl[in->tenants[i]].state == WL_RUNNING;
}

static void split_tuning(const struct world *w, const struct lora_instance *in, struct split *s)
{
    int32_t busy = 0;
    for (int32_t i = 0; i < in->count; i++) {
        const struct job *j = &w->jobs[w->wl[in->tenants[i]].owner];
        int64_t duty = j->spec.share_milli > 0 ? (int64_t)j->spec.share_milli * 1000 : SPEED_ONE;
        s->asked_ppm[i] = computes(w, in, i) ? duty : 0;
        busy += s->asked_ppm[i] > 0;
    }
    s->capacity_ppm = lora_capacity_ppm(w->arb->lora_mode, w->arb->lora_gain, busy);
    lora_fair(s->asked_ppm, in->count, s->capacity_ppm, s->got_ppm);
    for (int32_t i = 0; i < in->count; i++)
        s->speed[i] = s->asked_ppm[i] > 0 ? (double)s->got_ppm[i] / (double)s->asked_ppm[i] : 1;
}

static void split_serving(const struct world *w, const struct lora_instance *in, struct split *s)
{
    double loads[LORA_SLOTS_MAX];
    int32_t adapters = 0, rank = 0;
    for (int32_t i = 0; i < in->count; i++) {
        const struct service_state *sv = &w->services[w->wl[in->tenants[i]].owner];
        bool on = computes(w, in, i);
        loads[i] = on ? fluid_load_alone(&sv->fluid, &sv->point) / sv->ready : 0;
        adapters += on;
        if (on && sv->cfg->adapter.rank > rank)
            rank = sv->cfg->adapter.rank;
    }
    s->capacity_ppm = SPEED_ONE;
    lora_serving_speeds(loads, in->count, lora_serving_factor(&w->s->lora, adapters, rank), s->speed,
                        s->got_ppm);
}

/* The card in milli: what each computes with, and the rest in equal parts (the first ones have the
 * remainder). Who waits for the instance holds nothing. */
static void divide(struct world *w, const struct lora_instance *in, const struct split *s)
{
    int64_t card = w->wl[in->workload].milli, rest = card, holders = 0;
    for (int32_t i = 0; i < in->count; i++) {
        struct workload *wl = &w->wl[in->tenants[i]];
        wl->busy_milli = s->got_ppm[i] * card / s->capacity_ppm;
        rest -= wl->busy_milli;
        holders += wl->state != WL_PENDING;
    }
    int64_t nth = 0;
    for (int32_t i = 0; i < in->count; i++) {
        struct workload *wl = &w->wl[in->tenants[i]];
        bool holds = card > 0 && wl->state != WL_PENDING;
        wl->milli = holds ? wl->busy_milli + rest / holders + (nth++ < rest % holders) : 0;
    }
}

static void set_speed(struct world *w, const struct lora_memory *m, uint32_t ix, double speed)
{
    struct workload *wl = &w->wl[ix];
    double ppm = dm_round(speed * SPEED_ONE);
    workload_speed_change(w, ix, ppm < 1 ? 1 : (int32_t)ppm);
    if (wl->kind != WL_REPLICA || wl->state != WL_RUNNING)
        return;
    struct service_state *sv = &w->services[wl->owner];
    double part = lora_cache_part(w, m, sv->cfg);
    sv->kv_part = part > 0 ? part : 1e-9;
    service_speed_refresh(w, wl->owner);
}

void lora_parts(struct world *w, struct lora_instance *in)
{
    struct split s = {.capacity_ppm = SPEED_ONE};
    lora_meet(w, in);
    if (in->count == 0)
        return;
    bool serves = w->lora->groups[in->group].serves;
    if (serves)
        split_serving(w, in, &s);
    else
        split_tuning(w, in, &s);
    divide(w, in, &s);
    struct lora_memory m = lora_instance_memory(w, in);
    for (int32_t i = 0; i < in->count; i++)
        if (computes(w, in, i))
            set_speed(w, &m, in->tenants[i], s.speed[i]);
}

/* ---- replicas in the ledger ---- */

/* A card computes while a request of any tenant is in flight; that time belongs to them as they are
 * busy, each taken as independent of the others. */
static double busy_part(const struct world *w, uint32_t ix)
{
    const struct lora_instance *in = &w->lora->instances[w->wl[ix].base];
    double none = 1, sum = 0, own = w->services[w->wl[ix].owner].last.busy;
    for (int32_t i = 0; i < in->count; i++) {
        if (!computes(w, in, i))
            continue;
        double b = w->services[w->wl[in->tenants[i]].owner].last.busy;
        none *= 1 - b;
        sum += b;
    }
    return sum > 0 ? (1 - none) * own / sum : 0;
}

static void book_replica(struct world *w, uint32_t ix, sim_time dt)
{
    const struct workload *wl = &w->wl[ix];
    const struct service_state *sv = &w->services[wl->owner];
    struct ledger_account a = {.pool = (uint32_t)wl->pool, .team = sv->cfg->team,
                               .workload_class = LEDGER_CLASS_INFERENCE};
    i128 card = ckpt_unit(w->wl[w->lora->instances[wl->base].workload].milli, dt);
    i128 held = ckpt_unit(wl->milli, dt), busy = book_part(card, busy_part(w, ix));
    busy = busy < held ? busy : held;
    book_amount(w, a, LEDGER_SERVING, busy);
    book_amount(w, a, LEDGER_SERVING_HEADROOM, held - busy);
    ledger_work(w->ledger, a.pool, book_part(card, sv->last.load * wl->speed_ppm / SPEED_ONE));
    if (sv->cfg->kind == SERVICE_LLM)
        w->llm_held[wl->pool] += held;
}

void lora_book_replicas(struct world *w, uint32_t service, sim_time from)
{
    const struct service_state *sv = &w->services[service];
    for (uint32_t i = sv->head; i != NONE32; i = w->wl[i].next)
        if (w->wl[i].state == WL_RUNNING && w->wl[i].base != NONE32)
            book_replica(w, i, w->now - from);
}
