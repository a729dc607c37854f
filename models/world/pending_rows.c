/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/pending_rows.h"

#include <stdio.h>

#include "models/world/tables.h"
#include "sim/sim_time.h"

static const char *const names[QFLOW_COUNT] = {"quota.pending",  "quota.reserved", "quota.admitted",
                                               "quota.borrowed", "quota.lent",     "quota.free"};

struct cell_rows {
    const struct pending_rows *r;
    double unit, last;
    char scope[512];
    enum qflow_what what;
    bool begun;
};

static void row(void *ctx, int64_t t, const double value[QFLOW_COUNT])
{
    struct cell_rows *c = ctx;
    const double v = value[c->what] / c->unit;
    if (c->begun && v <= c->last && v >= c->last)
        return;
    struct record_value values[] = {rec_int(c->r->run_id), rec_text(names[c->what]), rec_text(c->scope),
                                    rec_real(sim_time_seconds(t)), rec_real(v)};
    record_row(c->r->sink, &table_series, values);
    c->begun = true;
    c->last = v;
}

static const char *name_of(const struct pending_rows *r, const struct qflow_place *p)
{
    return p->kind == POLICY_OBJ_COHORT ? r->config->cohorts[p->id].name : r->config->cluster_queues[p->id].name;
}

static const char *flavor_of(const struct pending_rows *r, uint32_t id)
{
    return id < r->config->flavor_count && r->config->flavors[id].name != NULL ? r->config->flavors[id].name : "?";
}

static struct record_value limit(int64_t v, double unit)
{
    return v == POLICY_NIL ? rec_null() : rec_real((double)v / unit);
}

static void node_row(const struct pending_rows *r, const struct qflow *f, uint32_t cell, const char *scope, double unit)
{
    const struct qflow_place p = qflow_place(f, cell);
    struct qflow_place root = p, parent = p;
    if (p.parent != POLICY_NONE)
        parent = qflow_place(f, p.parent);
    while (root.parent != POLICY_NONE)
        root = qflow_place(f, root.parent);
    const int64_t most = qflow_potential(f, cell);
    struct record_value v[] = {rec_int(r->run_id),
                               rec_text(scope),
                               rec_text(p.kind == POLICY_OBJ_COHORT ? "cohort" : "queue"),
                               rec_text(name_of(r, &p)),
                               p.parent == POLICY_NONE ? rec_null() : rec_text(name_of(r, &parent)),
                               root.kind == POLICY_OBJ_COHORT ? rec_text(name_of(r, &root)) : rec_null(),
                               rec_text(flavor_of(r, p.flavor)),
                               rec_text(r->config->resources[p.resource]),
                               rec_real((double)qflow_own(f, cell) / unit),
                               rec_real((double)qflow_nominal(f, cell) / unit),
                               most == POLICY_UNLIMITED ? rec_null() : rec_real((double)most / unit),
                               limit(qflow_borrowing_limit(f, cell), unit),
                               limit(qflow_lending_limit(f, cell), unit)};
    record_row(r->sink, &table_quota_node, v);
}

static void alarm_rows(const struct pending_rows *r, const struct pending_view *v)
{
    const struct pending_alarm *a;
    size_t count;
    (void)pending_alarms(v, &a, &count);
    for (size_t i = 0; i < count; i++) {
        struct record_value row_values[] = {rec_int(r->run_id),
                                            rec_real(sim_time_seconds(a[i].from_ns)),
                                            rec_real(sim_time_seconds(a[i].to_ns)),
                                            rec_text(r->config->cluster_queues[a[i].cluster_queue].name),
                                            rec_text(a[i].workload),
                                            rec_text(a[i].reason),
                                            rec_text(a[i].why)};
        record_row(r->sink, &table_alarm, row_values);
    }
}

static void holding_rows(const struct pending_rows *r, struct pending_view *v)
{
    const struct pending_holding *h;
    const size_t count = pending_holdings(v, &h);
    for (size_t i = 0; i < count; i++) {
        const struct qflow_place p = qflow_place(pending_flow(v), h[i].cell);
        struct record_value values[] = {rec_int(r->run_id),
                                        rec_text(h[i].workload),
                                        rec_text(name_of(r, &p)),
                                        rec_text(flavor_of(r, p.flavor)),
                                        rec_text(r->config->resources[p.resource]),
                                        rec_real((double)h[i].amount / r->units[p.resource]),
                                        rec_int(h[i].from_ns),
                                        h[i].to_ns == POLICY_NEVER ? rec_null() : rec_int(h[i].to_ns)};
        record_row(r->sink, &table_holding, values);
    }
}

void pending_rows_emit(const struct pending_rows *r, struct pending_view *v)
{
    const struct qflow *f = pending_flow(v);
    for (uint32_t i = 0; i < qflow_cell_count(f); i++) {
        const struct qflow_place p = qflow_place(f, i);
        struct cell_rows c = {.r = r, .unit = r->units[p.resource]};
        (void)snprintf(c.scope, sizeof c.scope, "%s%.160s/%.160s/%.160s", p.kind == POLICY_OBJ_COHORT ? "cohort:" : "",
                       name_of(r, &p), flavor_of(r, p.flavor), r->config->resources[p.resource]);
        node_row(r, f, i, c.scope, c.unit);
        for (int what = 0; what < QFLOW_COUNT; what++) {
            c.what = (enum qflow_what)what;
            c.begun = false;
            qflow_each(f, i, row, &c);
        }
    }
    alarm_rows(r, v);
    holding_rows(r, v);
}
