/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/quota_flow.h"

#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/sim_time.h"

enum { EVEN_STEPS = 500, STEPS_PER_DOUBLING = 50, ROWS_AIM = 150000, FEWEST_STEPS = 60 };

struct cell {
    uint32_t node, fr, parent; /* parent: cell */
    bool cohort;
    int64_t own, nominal;      /* nominal quota: of the node; with all below it */
    int64_t lend, borrow;      /* limits; POLICY_NIL */
    int64_t subtree, local, potential;
    int64_t use, pending, reserved, admitted;
    int64_t below_borrowed, below_unused; /* sums over the children of a cohort */
    int64_t since;
    double share_s;      /* integral of the part of its pot that is taken, since the start */
    double parent_share_s; /* the parent's, when this one was advanced */
    double sum[QFLOW_COUNT]; /* integrals over the step; FREE: of `over` */
    double last[QFLOW_COUNT];
    size_t first_row, last_row;
};

struct row {
    int64_t t;
    size_t next;
    double value[QFLOW_COUNT];
};

struct fr {
    uint32_t flavor, resource;
};

struct qflow {
    uint32_t queue_count, cohort_count, node_count;
    uint32_t *parent;   /* node -> node */
    struct fr *frs;
    uint32_t fr_count, fr_capacity;
    uint32_t *cell_of;  /* [node][fr] */
    uint32_t *first_fr; /* [queue][resource]: of the first flavor of its group */
    uint32_t resource_count;
    struct cell *cells; /* of a cohort after those below it */
    uint32_t cell_count;
    struct row *rows;
    size_t row_count, row_capacity;
    int64_t step, begun, next; /* next: end of the open step; INT64_MAX: nothing is kept */
    uint32_t steps;
};

/* ---- building ---- */

static int64_t bounded(int64_t v)
{
    return v > QFLOW_UNLIMITED ? QFLOW_UNLIMITED : v;
}

static uint32_t fr_of(struct qflow *f, uint32_t flavor, uint32_t resource, bool add)
{
    for (uint32_t i = 0; i < f->fr_count; i++)
        if (f->frs[i].flavor == flavor && f->frs[i].resource == resource)
            return i;
    if (!add)
        return POLICY_NONE;
    size_t capacity = f->fr_capacity;
    f->frs = mem_grow(f->frs, &capacity, (size_t)f->fr_count + 1, sizeof *f->frs);
    f->fr_capacity = (uint32_t)capacity;
    f->frs[f->fr_count] = (struct fr){flavor, resource};
    return f->fr_count++;
}

struct groups {
    const struct policy_resource_group *v;
    uint32_t count;
};

static struct groups groups_of(const struct qflow *f, const struct policy_config *c, uint32_t node)
{
    if (node < f->queue_count)
        return (struct groups){c->cluster_queues[node].groups, c->cluster_queues[node].group_count};
    return (struct groups){c->cohorts[node - f->queue_count].groups, c->cohorts[node - f->queue_count].group_count};
}

static bool exists(const struct qflow *f, const struct policy_config *c, uint32_t node)
{
    return (node < f->queue_count ? c->cluster_queues[node].name : c->cohorts[node - f->queue_count].name) != NULL;
}

static void link_nodes(struct qflow *f, const struct policy_config *c)
{
    f->parent = mem_alloc((size_t)f->node_count + 1, sizeof *f->parent);
    for (uint32_t n = 0; n < f->node_count; n++) {
        const uint32_t p = n < f->queue_count ? c->cluster_queues[n].cohort : c->cohorts[n - f->queue_count].parent;
        f->parent[n] = p >= f->cohort_count || !exists(f, c, f->queue_count + p) ? POLICY_NONE : f->queue_count + p;
    }
    for (uint32_t n = f->queue_count; n < f->node_count; n++) { /* a circle is cut */
        uint32_t steps = 0;
        for (uint32_t p = n; p != POLICY_NONE && steps <= f->cohort_count; p = f->parent[p])
            steps++;
        if (steps > f->cohort_count)
            f->parent[n] = POLICY_NONE;
    }
}

/* Which cells there are: those that a node mentions, and above each of them up to the root. */
static void mark_cells(struct qflow *f, const struct policy_config *c, uint32_t node)
{
    const struct groups g = groups_of(f, c, node);
    for (uint32_t i = 0; i < g.count; i++)
        for (uint32_t k = 0; k < g.v[i].flavor_count; k++)
            for (uint32_t r = 0; r < g.v[i].resource_count; r++) {
                const uint32_t fr = fr_of(f, g.v[i].flavors[k], g.v[i].resources[r], false);
                for (uint32_t n = node; n != POLICY_NONE; n = f->parent[n])
                    f->cell_of[(size_t)n * f->fr_count + fr] = 0;
                if (node < f->queue_count && k == 0 && g.v[i].resources[r] < f->resource_count)
                    f->first_fr[(size_t)node * f->resource_count + g.v[i].resources[r]] = fr;
            }
}

static void collect_frs(struct qflow *f, const struct policy_config *c, uint32_t node)
{
    const struct groups g = groups_of(f, c, node);
    for (uint32_t i = 0; i < g.count; i++)
        for (uint32_t k = 0; k < g.v[i].flavor_count; k++)
            for (uint32_t r = 0; r < g.v[i].resource_count; r++)
                (void)fr_of(f, g.v[i].flavors[k], g.v[i].resources[r], true);
}

static uint32_t depth_of(const struct qflow *f, uint32_t node)
{
    uint32_t d = 0;
    for (uint32_t p = f->parent[node]; p != POLICY_NONE; p = f->parent[p])
        d++;
    return d;
}

static void make_cells(struct qflow *f, uint32_t node)
{
    for (uint32_t fr = 0; fr < f->fr_count; fr++) {
        uint32_t *at = &f->cell_of[(size_t)node * f->fr_count + fr];
        if (*at == POLICY_NONE)
            continue;
        f->cells[f->cell_count] = (struct cell){.node = node, .fr = fr, .cohort = node >= f->queue_count,
                                                .parent = POLICY_NONE, .lend = POLICY_NIL, .borrow = POLICY_NIL,
                                                .first_row = SIZE_MAX, .last_row = SIZE_MAX};
        *at = f->cell_count++;
    }
}

static void number_cells(struct qflow *f, const struct policy_config *c)
{
    size_t most = 0;
    uint32_t deepest = 0;
    for (size_t i = 0; i < (size_t)f->node_count * f->fr_count; i++)
        most += f->cell_of[i] != POLICY_NONE;
    f->cells = mem_alloc(most + 1, sizeof *f->cells);
    for (uint32_t n = 0; n < f->queue_count; n++)
        if (exists(f, c, n))
            make_cells(f, n);
    for (uint32_t n = f->queue_count; n < f->node_count; n++)
        deepest = depth_of(f, n) > deepest ? depth_of(f, n) : deepest;
    for (uint32_t d = deepest + 1; d-- > 0;)
        for (uint32_t n = f->queue_count; n < f->node_count; n++)
            if (exists(f, c, n) && depth_of(f, n) == d)
                make_cells(f, n);
    for (uint32_t i = 0; i < f->cell_count; i++) {
        const uint32_t p = f->parent[f->cells[i].node];
        if (p != POLICY_NONE)
            f->cells[i].parent = f->cell_of[(size_t)p * f->fr_count + f->cells[i].fr];
    }
}

static void own_quotas(struct qflow *f, const struct policy_config *c, uint32_t node)
{
    const struct groups g = groups_of(f, c, node);
    for (uint32_t i = 0; i < g.count; i++)
        for (uint32_t k = 0; k < g.v[i].flavor_count; k++)
            for (uint32_t r = 0; r < g.v[i].resource_count; r++) {
                const uint32_t fr = fr_of(f, g.v[i].flavors[k], g.v[i].resources[r], false);
                const struct policy_quota *q = &g.v[i].quotas[(size_t)k * g.v[i].resource_count + r];
                struct cell *cell = &f->cells[f->cell_of[(size_t)node * f->fr_count + fr]];
                cell->own = bounded(q->nominal);
                cell->lend = bounded(q->lending_limit);
                cell->borrow = bounded(q->borrowing_limit);
            }
}

static int64_t unused_of(const struct cell *c)
{
    const int64_t held = c->use > c->local ? c->use : c->local;
    return c->subtree > held ? c->subtree - held : 0;
}

static int64_t beyond(const struct cell *c)
{
    return c->use > c->subtree ? c->use - c->subtree : 0;
}

static int64_t spilled(const struct cell *c)
{
    return c->use > c->local ? c->use - c->local : 0;
}

/* 3.1, from below; then 3.3, from above. Cells of cohorts stand behind those below them. */
static void static_values(struct qflow *f)
{
    for (uint32_t i = 0; i < f->cell_count; i++) {
        struct cell *c = &f->cells[i];
        c->subtree = bounded(c->subtree + c->own);
        c->nominal = bounded(c->nominal + c->own);
        c->local = c->lend == POLICY_NIL || c->subtree < c->lend ? 0 : c->subtree - c->lend;
        if (c->parent == POLICY_NONE)
            continue;
        struct cell *p = &f->cells[c->parent];
        p->subtree = bounded(p->subtree + c->subtree - c->local);
        p->nominal = bounded(p->nominal + c->nominal);
        p->below_unused += unused_of(c);
    }
    for (uint32_t i = f->cell_count; i-- > 0;) {
        struct cell *c = &f->cells[i];
        c->potential = c->subtree;
        if (c->parent == POLICY_NONE)
            continue;
        c->potential = bounded(c->local + f->cells[c->parent].potential);
        if (c->borrow != POLICY_NIL && c->potential > c->subtree + c->borrow)
            c->potential = c->subtree + c->borrow;
    }
}

struct qflow *qflow_create(const struct policy_config *c)
{
    struct qflow *f = mem_zalloc(1, sizeof *f);
    f->queue_count = c->cluster_queue_count;
    f->cohort_count = c->cohort_count;
    f->node_count = f->queue_count + f->cohort_count;
    f->resource_count = c->resource_count;
    f->next = INT64_MAX;
    link_nodes(f, c);
    for (uint32_t n = 0; n < f->node_count; n++)
        if (exists(f, c, n))
            collect_frs(f, c, n);
    const size_t size = (size_t)f->node_count * f->fr_count, firsts = (size_t)f->queue_count * f->resource_count;
    f->cell_of = mem_alloc(size + 1, sizeof *f->cell_of);
    memset(f->cell_of, 0xff, (size + 1) * sizeof *f->cell_of);
    f->first_fr = mem_alloc(firsts + 1, sizeof *f->first_fr);
    memset(f->first_fr, 0xff, (firsts + 1) * sizeof *f->first_fr);
    for (uint32_t n = 0; n < f->node_count; n++)
        if (exists(f, c, n))
            mark_cells(f, c, n);
    number_cells(f, c);
    for (uint32_t n = 0; n < f->node_count; n++)
        if (exists(f, c, n))
            own_quotas(f, c, n);
    static_values(f);
    return f;
}

void qflow_destroy(struct qflow *f)
{
    if (f == NULL)
        return;
    free(f->parent);
    free(f->frs);
    free(f->cell_of);
    free(f->first_fr);
    free(f->cells);
    free(f->rows);
    free(f);
}

/* ---- asking ---- */

uint32_t qflow_cell(const struct qflow *f, enum policy_object_kind kind, uint32_t id, uint32_t flavor, uint32_t resource)
{
    const uint32_t node = kind == POLICY_OBJ_CLUSTER_QUEUE ? id : f->queue_count + id;
    for (uint32_t i = 0; i < f->fr_count; i++)
        if (f->frs[i].flavor == flavor && f->frs[i].resource == resource)
            return f->cell_of[(size_t)node * f->fr_count + i];
    return POLICY_NONE;
}

uint32_t qflow_cell_count(const struct qflow *f)
{
    return f->cell_count;
}

uint32_t qflow_waiting_cell(const struct qflow *f, uint32_t queue, uint32_t tried, uint32_t resource)
{
    const uint32_t cell = tried == POLICY_NONE ? POLICY_NONE
                                               : qflow_cell(f, POLICY_OBJ_CLUSTER_QUEUE, queue, tried, resource);
    if (cell != POLICY_NONE || resource >= f->resource_count)
        return cell;
    const uint32_t fr = f->first_fr[(size_t)queue * f->resource_count + resource];
    return fr == POLICY_NONE ? POLICY_NONE : f->cell_of[(size_t)queue * f->fr_count + fr];
}

struct qflow_place qflow_place(const struct qflow *f, uint32_t cell)
{
    const struct cell *c = &f->cells[cell];
    return (struct qflow_place){.kind = c->cohort ? POLICY_OBJ_COHORT : POLICY_OBJ_CLUSTER_QUEUE,
                                .id = c->cohort ? c->node - f->queue_count : c->node,
                                .flavor = f->frs[c->fr].flavor,
                                .resource = f->frs[c->fr].resource,
                                .parent = c->parent};
}

int64_t qflow_potential(const struct qflow *f, uint32_t cell)
{
    const int64_t v = f->cells[cell].potential;
    return v >= QFLOW_UNLIMITED ? POLICY_UNLIMITED : v;
}

int64_t qflow_own(const struct qflow *f, uint32_t cell)
{
    return f->cells[cell].own;
}

int64_t qflow_borrowing_limit(const struct qflow *f, uint32_t cell)
{
    return f->cells[cell].borrow;
}

int64_t qflow_lending_limit(const struct qflow *f, uint32_t cell)
{
    return f->cells[cell].lend;
}

int64_t qflow_nominal(const struct qflow *f, uint32_t cell)
{
    return f->cells[cell].nominal;
}

int64_t qflow_reserved(const struct qflow *f, uint32_t cell)
{
    return f->cells[cell].reserved;
}

/* Part of a cohort's pot that its children took and that went out of it: at most 1. */
static double pot_of(const struct cell *c)
{
    return (double)(c->below_unused + c->own);
}

static double taken_inside(const struct cell *c)
{
    const double pot = pot_of(c), taken = (double)c->below_borrowed;
    return taken < pot ? taken : pot;
}

static double share_of(const struct qflow *f, uint32_t cell)
{
    const struct cell *c = &f->cells[cell];
    if (!(pot_of(c) > 0))
        return 0;
    const double out = c->parent == POLICY_NONE ? 0 : (double)unused_of(c) * share_of(f, c->parent);
    return (taken_inside(c) + out) / pot_of(c);
}

struct qflow_state qflow_state(const struct qflow *f, uint32_t cell)
{
    const struct cell *c = &f->cells[cell];
    const bool root = c->parent == POLICY_NONE;
    struct qflow_state s = {.nominal = c->nominal, .subtree = c->subtree, .pending = c->pending, .reserved = c->reserved,
                            .admitted = c->admitted, .used = c->use, .borrowed = root ? 0 : beyond(c),
                            .over = root ? beyond(c) : 0};
    s.lent = root ? 0 : (double)unused_of(c) * share_of(f, c->parent);
    s.own_lent = c->cohort ? (double)c->own * share_of(f, cell) : 0;
    s.free = (double)(s.nominal - s.reserved + s.borrowed + s.over) - s.lent;
    return s;
}

/* ---- time ---- */

static void advance(struct qflow *f, struct cell *c, int64_t now)
{
    if (c->since == now)
        return;
    double out = 0; /* integral of the parent's share */
    if (c->parent != POLICY_NONE) {
        struct cell *p = &f->cells[c->parent];
        advance(f, p, now);
        out = p->share_s - c->parent_share_s;
        c->parent_share_s = p->share_s;
    }
    const double dt = sim_time_seconds(now - c->since), lent = (double)unused_of(c) * out;
    c->since = now;
    c->sum[QFLOW_PENDING] += (double)c->pending * dt;
    c->sum[QFLOW_RESERVED] += (double)c->reserved * dt;
    c->sum[QFLOW_ADMITTED] += (double)c->admitted * dt;
    c->sum[c->parent == POLICY_NONE ? QFLOW_FREE : QFLOW_BORROWED] += (double)beyond(c) * dt;
    c->sum[QFLOW_LENT] += lent;
    if (c->cohort && pot_of(c) > 0)
        c->share_s += (taken_inside(c) * dt + lent) / pot_of(c);
}

static void add_row(struct qflow *f, struct cell *c, int64_t t, const double value[QFLOW_COUNT])
{
    f->rows = mem_grow(f->rows, &f->row_capacity, f->row_count + 1, sizeof *f->rows);
    struct row *r = &f->rows[f->row_count];
    *r = (struct row){.t = t, .next = SIZE_MAX};
    memcpy(r->value, value, sizeof r->value);
    memcpy(c->last, value, sizeof c->last);
    if (c->last_row == SIZE_MAX)
        c->first_row = f->row_count;
    else
        f->rows[c->last_row].next = f->row_count;
    c->last_row = f->row_count++;
}

static bool same(const double *a, const double *b)
{
    bool equal = true;
    for (int i = 0; i < QFLOW_COUNT; i++)
        equal = equal && a[i] <= b[i] && a[i] >= b[i];
    return equal;
}

static void close_cell(struct qflow *f, struct cell *c, int64_t from, int64_t to)
{
    double v[QFLOW_COUNT];
    const double dt = sim_time_seconds(to - from);
    advance(f, c, to);
    for (int i = 0; i < QFLOW_COUNT; i++) {
        v[i] = c->sum[i] / dt;
        c->sum[i] = 0;
    }
    const double over = v[QFLOW_FREE];
    v[QFLOW_FREE] = (double)c->nominal - v[QFLOW_RESERVED] + v[QFLOW_BORROWED] + over - v[QFLOW_LENT];
    if (v[QFLOW_FREE] < 1e-9 * (double)c->nominal) /* rounding of sums */
        v[QFLOW_FREE] = 0;
    if (c->last_row == SIZE_MAX || !same(v, c->last))
        add_row(f, c, from, v);
}

static void close_step(struct qflow *f, int64_t end)
{
    for (uint32_t i = 0; i < f->cell_count; i++)
        close_cell(f, &f->cells[i], f->begun, end);
    f->steps++;
    if (f->steps >= EVEN_STEPS && (f->steps - EVEN_STEPS) % STEPS_PER_DOUBLING == 0 && f->step < INT64_MAX / 4)
        f->step *= 2;
    f->begun = end;
    f->next = f->steps + 1 >= QFLOW_STEPS_MAX ? INT64_MAX : sim_time_after(end, f->step);
}

static void reach(struct qflow *f, int64_t now)
{
    while (now >= f->next)
        close_step(f, f->next);
}

void qflow_keep(struct qflow *f, int64_t step_ns)
{
    f->step = step_ns;
    f->next = step_ns > 0 ? step_ns : INT64_MAX;
}

int64_t qflow_step(const struct qflow *f, int64_t horizon)
{
    static const int64_t minutes[] = {1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1440};
    int64_t most = ROWS_AIM / ((int64_t)f->cell_count * QFLOW_COUNT + 1);
    most = most < FEWEST_STEPS ? FEWEST_STEPS : most > EVEN_STEPS ? EVEN_STEPS : most;
    for (size_t i = 0; i < sizeof minutes / sizeof minutes[0]; i++)
        if (horizon / (minutes[i] * SIM_MINUTE) < most)
            return minutes[i] * SIM_MINUTE;
    return (horizon / most / SIM_DAY + 1) * SIM_DAY;
}

void qflow_finish(struct qflow *f, int64_t now)
{
    reach(f, now);
    if (f->step > 0 && now > f->begun)
        close_step(f, now);
    f->next = INT64_MAX;
}

void qflow_each(const struct qflow *f, uint32_t cell,
                void (*fn)(void *ctx, int64_t t_ns, const double value[QFLOW_COUNT]), void *ctx)
{
    for (size_t r = f->cells[cell].first_row; r != SIZE_MAX; r = f->rows[r].next)
        fn(ctx, f->rows[r].t, f->rows[r].value);
}

/* ---- changes ---- */

static struct cell *prepare(struct qflow *f, int64_t now, uint32_t cell)
{
    reach(f, now);
    advance(f, &f->cells[cell], now);
    return &f->cells[cell];
}

void qflow_pend(struct qflow *f, int64_t now, uint32_t cell, int64_t delta)
{
    struct cell *c = prepare(f, now, cell);
    for (c->pending += delta; c->parent != POLICY_NONE;) {
        c = &f->cells[c->parent];
        c->pending += delta;
    }
}

void qflow_admit(struct qflow *f, int64_t now, uint32_t cell, int64_t delta)
{
    struct cell *c = prepare(f, now, cell);
    for (c->admitted += delta; c->parent != POLICY_NONE;) {
        c = &f->cells[c->parent];
        c->admitted += delta;
    }
}

void qflow_reserve(struct qflow *f, int64_t now, uint32_t cell, int64_t delta)
{
    struct cell *c = prepare(f, now, cell);
    int64_t up = delta; /* change of usage at this node */
    for (;;) {
        const int64_t b = beyond(c), u = unused_of(c), s = spilled(c);
        c->reserved += delta;
        c->use += up;
        if (c->parent == POLICY_NONE)
            return;
        up = spilled(c) - s;
        struct cell *p = &f->cells[c->parent];
        p->below_borrowed += beyond(c) - b;
        p->below_unused += unused_of(c) - u;
        c = p;
    }
}
