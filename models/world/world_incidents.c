/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/world_incidents.h"

#include "models/fleet/sharing/blast.h"
#include "models/world/tables.h"
#include "models/world/world_sharing.h"
#include "sim/check.h"
#include "sim/dmath.h"

#define MIB 1048576

sim_time incident_backoff(uint32_t crashes)
{
    if (crashes == 0)
        return 0;
    return crashes > 5 ? 300 * SIM_SECOND : (10 * SIM_SECOND) << (crashes - 1);
}

/* ---- the card as blast.h sees it: those that run ---- */

struct scene {
    struct blast_card card;
    struct blast_tenant tenants[SHARE_TENANTS_MAX];
    uint32_t wl[SHARE_TENANTS_MAX];
    struct rng rng;
};

static int64_t whole_mib(int64_t bytes)
{
    return (bytes + MIB - 1) / MIB;
}

static int64_t limit_of(struct world *w, int32_t pool, const struct share_slot *s)
{
    const struct share_pool_use *u = &w->sharing->pools[pool];
    if (u->cards.kind == SHARE_WHOLE)
        return 0;
    if (u->cards.kind == SHARE_MIG)
        return u->cards.mig->profiles[sharing_profile(u, s)].memory_mib;
    return blast_limit_mib(&u->cards, sharing_demand(w, s->tenant, pool));
}

/* Index of the slot (of this card) in the scene. */
static int32_t scene_make(struct world *w, int32_t pool, const struct share_place *at, size_t slot, struct scene *sc)
{
    int32_t index = -1;
    const struct share_pool *cards = &w->sharing->pools[pool].cards;
    sc->card = (struct blast_card){.pool = cards,
                                   .tenants = sc->tenants,
                                   .victim = w->s->sharing_model.any_victim ? BLAST_ANY_TENANT : BLAST_ALLOCATOR,
                                   .rng = &sc->rng};
    for (size_t i = 0; i < at->count && sc->card.count < SHARE_TENANTS_MAX; i++) {
        const struct share_slot *s = &at->slots[i];
        if (w->wl[s->wl].state != WL_RUNNING || w->wl[s->wl].kind == WL_BASE)
            continue;
        if (i == slot)
            index = sc->card.count;
        sc->wl[sc->card.count] = s->wl;
        sc->tenants[sc->card.count++] = (struct blast_tenant){
            .id = s->tenant,
            .resident_mib = s->resident_mib,
            .context_mib = whole_mib(w->s->sharing_model.context_bytes),
            .limit_mib = limit_of(w, pool, s)};
    }
    return index;
}

/* ---- who dies ---- */

struct toll {
    int64_t incident;
    int32_t pool, node, card, culprit;
    const char *cause;
    enum share_isolation isolation;
};

static void emit(struct world *w, const struct toll *t, int32_t victim, i128 lost)
{
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_int(t->incident),
                               rec_real(sim_time_seconds(w->now)),
                               rec_text(t->cause),
                               rec_text(w->s->fleet.pools[t->pool].name),
                               rec_int(t->node),
                               rec_int(t->card),
                               rec_text(share_mechanism_of(w->sharing->pools[t->pool].cards.kind)->name),
                               rec_text(share_isolation_name(t->isolation)),
                               rec_text(sharing_name(w, t->culprit)),
                               rec_text(sharing_name(w, victim)),
                               rec_real(i128_card_hours(lost) * 3600)};
    if (w->opt.level != RECORD_LEVEL_SUMMARY && w->opt.replication == 0)
        record_row(&w->opt.sink, &table_incident, v);
}

static void kill_one(struct world *w, const struct toll *t, uint32_t ix, uint32_t gen)
{
    if (w->wl[ix].gen != gen || w->wl[ix].state != WL_RUNNING)
        return; /* it went with another pod of its gang */
    int32_t victim = sharing_tenant(w, ix);
    i128 lost = w->wl[ix].kind == WL_REPLICA ? replica_crashed(w, ix) : job_crashed(w, ix);
    w->sharing->victims++;
    w->sharing->pools[t->pool].victims++;
    emit(w, t, victim, lost);
}

static void strike(struct world *w, struct toll *t, const struct scene *sc, const struct blast *b)
{
    static const char *const causes[] = {[BLAST_NONE] = "", [BLAST_OVER_LIMIT] = "over-limit",
                                         [BLAST_CARD_FULL] = "card-full", [BLAST_FAULT] = "fault"};
    uint32_t gen[SHARE_TENANTS_MAX] = {0};
    t->incident = ++w->sharing->incidents;
    w->sharing->pools[t->pool].incidents++;
    t->cause = causes[b->cause];
    for (int32_t i = 0; i < b->victim_count; i++)
        gen[i] = w->wl[sc->wl[b->victims[i]]].gen;
    for (int32_t i = 0; i < b->victim_count; i++)
        kill_one(w, t, sc->wl[b->victims[i]], gen[i]);
}

static struct toll toll_at(const struct world *w, const struct lease_part *part, int32_t culprit)
{
    const struct share_pool_use *u = &w->sharing->pools[part->pool];
    return (struct toll){.pool = part->pool,
                         .node = part->node - (int32_t)u->first_node,
                         .card = part->first_card,
                         .culprit = culprit,
                         .isolation = part->first_card < 0 ? ISOLATION_EXCLUSIVE : sharing_between(u->cards.kind)};
}

/* ---- memory ---- */

static int64_t peak_mib(const struct world *w, uint32_t ix, double unit)
{
    const struct tenant_config *c = sharing_config(w, sharing_tenant(w, ix));
    double variation = w->s->sharing_model.memory_variation;
    double bytes = (double)c->memory_bytes * (1 + variation * (2 * unit - 1));
    return whole_mib((int64_t)dm_round(bytes));
}

/* One slot reaches its peak; false: somebody failed. */
static bool fill(struct world *w, const struct lease_part *part, uint32_t ix, int64_t mib, struct rng *rng)
{
    struct scene sc = {.rng = *rng};
    struct share_place *at = &w->sharing->places[sharing_card(w, part)];
    size_t slot = 0;
    while (slot < at->count && (at->slots[slot].wl != ix || at->slots[slot].resident_mib > 0))
        slot++;
    REQUIRE(slot < at->count);
    int32_t index = scene_make(w, part->pool, at, slot, &sc);
    struct blast b;
    if (index < 0 || blast_allocate(&sc.card, index, mib, &b)) {
        at->slots[slot].resident_mib = mib;
        return true;
    }
    struct toll t = toll_at(w, part, sharing_tenant(w, ix));
    strike(w, &t, &sc, &b);
    return false;
}

/* A victim that is not itself leaves room: it tries again. */
static bool fill_all(struct world *w, uint32_t ix, int64_t mib, struct rng *rng)
{
    int32_t parts, tries = 0;
    uint32_t gen = w->wl[ix].gen;
    const struct lease_part *p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    int32_t each = w->wl[ix].workers > 0 && parts > w->wl[ix].workers ? parts / w->wl[ix].workers : 1;
    for (int32_t i = 0; i < parts;) {
        if (p[i].first_card < 0 || fill(w, &p[i], ix, mib / each, rng)) {
            i++;
            continue;
        }
        if (w->wl[ix].gen != gen || w->wl[ix].state != WL_RUNNING || ++tries > SHARE_TENANTS_MAX)
            return false;
        p = fleet_lease_parts(w->fleet, w->wl[ix].lease, &parts);
    }
    return true;
}

/* ---- faults ---- */

static void schedule_fault(struct world *w, uint32_t ix, struct rng *rng)
{
    struct workload *wl = &w->wl[ix];
    int32_t parts;
    const struct lease_part *p = fleet_lease_parts(w->fleet, wl->lease, &parts);
    double cards = 0, hours = rng_exp(rng, 1.0);
    for (int32_t i = 0; i < parts; i++)
        cards += p[i].first_card >= 0 ? 1 : p[i].milli / 1000.0;
    wl->fault_at = SIM_NEVER;
    double rate = w->s->sharing_model.faults_per_card_hour * cards;
    if (!(rate > 0) || hours / rate > 1e6)
        return;
    wl->fault_at = sim_time_after(w->now, (sim_time)dm_round(hours / rate * 3600e9));
    world_event(w, wl->fault_at, EVC_FAULT, ix, EV_FAULT, wl->gen);
}

void incident_fault(struct world *w, uint32_t ix)
{
    const struct workload *wl = &w->wl[ix];
    int32_t parts;
    if (wl->state != WL_RUNNING || wl->fault_at != w->now)
        return;
    const struct lease_part *p = fleet_lease_parts(w->fleet, wl->lease, &parts);
    const struct lease_part *part = &p[rng_hash(wl->uid + wl->runs) % (uint64_t)parts];
    struct toll t = toll_at(w, part, sharing_tenant(w, ix));
    struct scene sc = {.wl = {ix}};
    struct blast b = {.cause = BLAST_FAULT, .victim_count = 1};
    if (part->first_card >= 0) {
        const struct share_place *at = &w->sharing->places[sharing_card(w, part)];
        size_t slot = 0;
        while (slot < at->count && at->slots[slot].wl != ix)
            slot++;
        blast_fault(&sc.card, scene_make(w, part->pool, at, slot, &sc), &b);
    }
    strike(w, &t, &sc, &b);
}

/* ---- */

void incident_running(struct world *w, uint32_t ix)
{
    struct workload *wl = &w->wl[ix];
    const struct sharing_model *m = &w->s->sharing_model;
    if (wl->base != NONE32 || wl->kind == WL_BASE)
        return;
    bool memory = sharing_config(w, sharing_tenant(w, ix))->memory_bytes > 0;
    if (!memory && !(m->faults_per_card_hour > 0))
        return;
    struct rng rng;
    rng_open(&rng, w->s->seed, w->opt.replication, PURPOSE_INCIDENT, rng_hash(wl->uid));
    rng_seek(&rng, wl->runs++);
    double unit = rng_unit(&rng);
    struct rng for_faults = rng;
    (void)rng_unit(&rng);
    if (memory && !fill_all(w, ix, peak_mib(w, ix, unit), &rng))
        return;
    if (w->wl[ix].kind == WL_REPLICA)
        w->services[w->wl[ix].owner].crashes = 0;
    else
        w->jobs[w->wl[ix].owner].crashes = 0;
    schedule_fault(w, ix, &for_faults);
}
