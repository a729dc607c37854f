/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gangs and replicas that no quota can ever admit, with every resource that they name: asked of the
 * policy itself, as if nothing else were admitted (flavors that they may use, limits on borrowing and
 * lending up the tree). Cards of gangs are told by lint_jobs.c, which knows the nodes as well.
 */
#include <stdlib.h>
#include <string.h>

#include "models/policies/quota_flow.h"
#include "models/world/quota_view.h"
#include "models/world/shape_view.h"
#include "scenarios/load/lint_priv.h"
#include "sim/arena.h"

struct best { /* of one resource: the flavor that could give most */
    bool asked, allowed;
    struct policy_numbers numbers;
};

struct reach {
    struct lint *l;
    const struct arbiter_config *arbiter;
    const struct policy_ops *ops;
    void *policy;
    const struct qflow *flow;
    struct best best[FLEET_RESOURCES_MAX + 1]; /* by resource of the policy */
};

static void take_cell(void *arg, const struct policy_reach *v)
{
    struct reach *r = arg;
    if (v->numbers.resource > FLEET_RESOURCES_MAX)
        return;
    struct best *b = &r->best[v->numbers.resource];
    if (b->asked && (!v->allowed || (b->allowed && b->numbers.potential >= v->numbers.potential)))
        return;
    *b = (struct best){true, v->allowed, v->numbers};
}

static const char *resource_name(const struct reach *r, uint32_t id)
{
    return id == 0 ? "cards" : id <= (uint32_t)r->l->s->fleet.resource_count ? r->l->s->fleet.resources[id - 1] : "?";
}

static double shown(const struct reach *r, uint32_t resource, int64_t v)
{
    return (double)v / (resource == 0 || strcmp(resource_name(r, resource), "cpu") == 0 ? 1000.0 : 1.0);
}

struct subject { /* who asks */
    int32_t stream, service; /* one of them; -1 */
    int32_t queue;
    const char *name;
    bool cards_told; /* by lint_jobs.c */
};

static void tell(struct reach *r, const struct subject *s, const struct policy_numbers *n)
{
    const struct scenario *all = r->l->s;
    const struct queue_config q = quota_view_queue(all, r->arbiter, s->queue);
    const char *strict = q.strategy == QUEUE_STRICT_FIFO ? "; StrictFIFO then blocks all behind it" : "";
    const char *flavor = n->flavor < (uint32_t)all->fleet.flavor_count ? all->fleet.flavors[n->flavor].name : "?";
    const double asks = shown(r, n->resource, n->requested), most = shown(r, n->resource, n->potential);
    if (s->stream >= 0)
        lint_warn_stream(r->l, s->stream, "gangs",
                         "arbiter '%s': a gang of '%s' asks %.10g %s, queue '%s' may get %.10g of flavor '%s': it can never start%s",
                         r->arbiter->name, s->name, asks, resource_name(r, n->resource), q.name, most, flavor, strict);
    else
        lint_warn(r->l, "services", s->service, NULL,
                  "arbiter '%s': a replica of '%s' asks %.10g %s, queue '%s' may get %.10g of flavor '%s': it can never start%s",
                  r->arbiter->name, s->name, asks, resource_name(r, n->resource), q.name, most, flavor, strict);
}

static void tell_none(struct reach *r, const struct subject *s)
{
    const char *queue = r->l->s->quota.queues[s->queue].name, *arbiter = r->arbiter->name;
    if (s->stream >= 0)
        lint_warn_stream(r->l, s->stream, NULL,
                         "arbiter '%s': '%s' may use none of the flavors that queue '%s' has quota of: it can never start",
                         arbiter, s->name, queue);
    else
        lint_warn(r->l, "services", s->service, NULL,
                  "arbiter '%s': '%s' may use none of the flavors that queue '%s' has quota of: it can never start",
                  arbiter, s->name, queue);
}

static bool never(struct reach *r, int32_t queue, const struct policy_shape *shape, uint32_t *id, struct policy_numbers *nearest)
{
    *id = r->ops->register_shape(r->policy, shape);
    return !r->ops->may_fit(r->policy, (uint32_t)queue, *id, nearest);
}

/* Each resource of which no flavor could give enough; else the flavor that comes nearest. */
static void look(struct reach *r, const struct subject *s, const struct policy_shape *shape)
{
    struct policy_numbers nearest;
    uint32_t id;
    bool told = s->cards_told;
    if (!never(r, s->queue, shape, &id, &nearest))
        return;
    memset(r->best, 0, sizeof r->best);
    r->ops->reach(r->policy, (uint32_t)s->queue, id, take_cell, r);
    for (uint32_t i = 0; i <= FLEET_RESOURCES_MAX; i++) {
        const struct best *b = &r->best[i];
        if (!b->asked || !b->allowed || b->numbers.requested <= b->numbers.potential || (i == 0 && s->cards_told))
            continue;
        tell(r, s, &b->numbers);
        told = true;
    }
    if (told)
        return;
    if (nearest.flavor == POLICY_NONE)
        tell_none(r, s);
    else
        tell(r, s, &nearest);
}

static void look_stream(struct reach *r, int32_t ix)
{
    const struct job_stream_config *c = &r->l->s->demand.streams[ix];
    struct shape_view view;
    int64_t cards = lint_largest_reach(r->l->s, r->flow, c->queue);
    for (int32_t i = 0; i < c->shape_count && c->lora_base < 0 && c->queue >= 0; i++) {
        const struct gang_shape *g = &c->shapes[i];
        const bool pods = r->arbiter->gang == GANG_PODS; /* each pod asks for itself */
        const int64_t milli = c->share_milli > 0 ? c->share_milli : (int64_t)g->cards_per_worker * 1000;
        const struct subject s = {.stream = ix, .service = -1, .queue = c->queue, .name = c->name,
                                  .cards_told = (int64_t)g->workers * g->cards_per_worker * 1000 > cards};
        shape_view_make(r->l->s, ix, pods ? 1 : g->workers, milli, &view);
        look(r, &s, &view.shape);
    }
}

static void look_service(struct reach *r, int32_t ix)
{
    const struct service_config *c = &r->l->s->demand.services[ix];
    const struct subject s = {.stream = -1, .service = ix, .queue = c->queue, .name = c->name};
    const int64_t milli = c->share_milli > 0 ? c->share_milli : (int64_t)c->cards_per_replica * 1000;
    struct shape_view view;
    if (c->lora_base >= 0 || c->queue < 0)
        return;
    shape_view_make(r->l->s, r->l->s->demand.stream_count + ix, 1, milli, &view);
    look(r, &s, &view.shape);
}

/* ---- jobs files ---- */

struct file_shape {
    int32_t queue, workers, cards, share;
};

struct file_jobs { /* of one stream: a shape for each job, equal ones side by side */
    struct file_shape *v;
    size_t count, capacity;
};

static int by_shape(const void *a, const void *b)
{
    const struct file_shape *x = a, *y = b;
    const int32_t p[] = {x->queue, x->workers, x->cards, x->share}, q[] = {y->queue, y->workers, y->cards, y->share};
    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* A bad row ends the reading: the run will refuse it, with its place. */
static void read_jobs(const struct scenario *s, int32_t ix, struct file_jobs *f)
{
    struct err err = {0};
    struct job_spec job;
    struct job_source *source = job_source_open(&s->demand.streams[ix], ix, s->seed, 0, s->start_epoch, s->horizon, s->open_jobs,
                                                s->loader, &err);
    while (source != NULL && job_source_next(source, &job, &err)) {
        f->v = mem_grow(f->v, &f->capacity, f->count + 1, sizeof *f->v);
        f->v[f->count++] = (struct file_shape){job.queue, job.workers, job.cards_per_worker, job.share_milli};
    }
    if (source != NULL)
        job_source_close(source);
    if (f->count > 1)
        qsort(f->v, f->count, sizeof *f->v, by_shape);
}

/* More than nodes or quota could ever give; the numbers say of what. */
static bool shape_never(struct reach *r, int32_t ix, const struct file_shape *f, struct policy_numbers *n)
{
    const bool pods = r->arbiter->gang == GANG_PODS;
    const int64_t milli = f->share > 0 ? f->share : (int64_t)f->cards * 1000;
    const int64_t reach = lint_largest_reach(r->l->s, r->flow, f->queue);
    struct shape_view view;
    uint32_t id;
    shape_view_make(r->l->s, ix, pods ? 1 : f->workers, milli, &view);
    if (never(r, f->queue, &view.shape, &id, n))
        return n->flavor != POLICY_NONE;
    *n = (struct policy_numbers){.flavor = POLICY_NONE, .resource = 0, .requested = milli * f->workers, .potential = reach};
    return n->requested > reach;
}

static void look_file(struct reach *r, int32_t ix, const struct file_jobs *f)
{
    struct policy_numbers n, worst = {.resource = 0};
    int32_t queue = -1;
    size_t failing = 0;
    for (size_t i = 0, next; i < f->count; i = next) {
        for (next = i; next < f->count && by_shape(&f->v[i], &f->v[next]) == 0;)
            next++;
        if (f->v[i].queue < 0 || !shape_never(r, ix, &f->v[i], &n))
            continue;
        failing += next - i;
        if (queue < 0 || (n.resource == worst.resource && n.requested > worst.requested)) {
            queue = f->v[i].queue;
            worst = n;
        }
    }
    if (failing == 0)
        return;
    const struct queue_config q = quota_view_queue(r->l->s, r->arbiter, queue);
    lint_warn_stream(r->l, ix, "file", "arbiter '%s': %zu of %zu jobs of '%s' can never start; one asks %.10g %s, queue '%s' may get %.10g of one flavor%s",
                     r->arbiter->name, failing, f->count, r->l->s->demand.streams[ix].name, shown(r, worst.resource, worst.requested),
                     resource_name(r, worst.resource), q.name, shown(r, worst.resource, worst.potential),
                     q.strategy == QUEUE_STRICT_FIFO ? "; StrictFIFO then blocks all behind it" : "");
}

/* ---- under each arbiter ---- */

static void look_demand(struct reach *r, const struct file_jobs *files)
{
    const struct demand_config *d = &r->l->s->demand;
    for (int32_t i = 0; i < d->stream_count; i++)
        if (files == NULL)
            look_stream(r, i);
        else if (files[i].count > 0)
            look_file(r, i, &files[i]);
    for (int32_t i = 0; i < d->service_count && files == NULL; i++)
        look_service(r, i);
}

/* files: of each stream; NULL: what the scenario itself says of gangs and replicas. */
static void look_arbiter(struct lint *l, const struct arbiter_config *a, const struct file_jobs *files)
{
    char error[256] = "";
    struct arena mem = {0};
    const struct policy_config *cfg = quota_view_config(&mem, l->s, a);
    const struct policy_host host = {.abi = POLICY_ABI, .size = sizeof host};
    struct reach r = {.l = l, .arbiter = a, .ops = policy_kueue()};
    struct qflow *flow = qflow_create(cfg);
    r.flow = flow;
    r.policy = r.ops->create(cfg, &host, error, sizeof error);
    if (r.policy != NULL) {
        look_demand(&r, files);
        r.ops->destroy(r.policy);
    }
    qflow_destroy(flow);
    arena_fini(&mem);
}

static void look_all(struct lint *l, const struct file_jobs *files)
{
    for (int32_t a = 0; a < l->s->arbiter_count; a++)
        if (l->s->arbiters[a].backend == BACKEND_FLEET)
            look_arbiter(l, &l->s->arbiters[a], files);
}

void lint_reach(struct lint *l)
{
    look_all(l, NULL);
}

void lint_files(struct lint *l)
{
    const struct demand_config *d = &l->s->demand;
    struct file_jobs *files = mem_zalloc((size_t)d->stream_count + 1, sizeof *files);
    size_t jobs = 0;
    for (int32_t i = 0; i < d->stream_count; i++) {
        if (d->streams[i].file != NULL && d->streams[i].lora_base < 0)
            read_jobs(l->s, i, &files[i]);
        jobs += files[i].count;
    }
    if (jobs > 0)
        look_all(l, files);
    for (int32_t i = 0; i < d->stream_count; i++)
        free(files[i].v);
    free(files);
}
