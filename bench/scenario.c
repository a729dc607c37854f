/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole scenarios: one replication of every arbiter, rows thrown away. `trace` is the scenario of
 * a jobs file replayed in order on one pool of one-card nodes, where nothing but queueing costs.
 */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "models/world/world.h"
#include "scenarios/load/load.h"

static const char trace_text[] =
    "name: trace\n"
    "horizon: 365d\n"
    "fleet:\n"
    "  nodePools:\n"
    "    - {name: all, card: A100-80, nodes: 1000, cardsPerNode: 1, price: 1usd/h}\n"
    "queues:\n"
    "  - {name: all, cards: {all: 1000}, queueingStrategy: StrictFIFO}\n"
    "demand:\n"
    "  training:\n"
    "    - {name: trace, queue: all, checkpoint: {interval: 0s, stall: 0s}, restart: 0s, file: TRACE}\n"
    "transfer: {processStart: 0s}\n"
    "arbiters:\n"
    "  - {preset: cohort, scaler: none}\n";

static void count_row(void *ctx, const struct record_table *table, const struct record_value *values)
{
    uint64_t *items = ctx;
    if (strcmp(table->name, "metric") != 0 || strcmp(values[1].u.s, "all") != 0)
        return;
    const char *name = values[3].u.s;
    if (strcmp(name, "training.submitted") == 0 || strcmp(name, "lora.submitted") == 0 ||
        strcmp(name, "inference.cold_starts") == 0)
        *items += (uint64_t)values[4].u.r;
}

/* Items: jobs that arrived and replicas that were started. */
static bool run_arbiter(struct bench_report *report, const struct scenario *s, int32_t arbiter,
                        struct err *e)
{
    uint64_t items = 0;
    struct world_options opt = {.arbiter = arbiter,
                                .run_id = 1,
                                .level = RECORD_LEVEL_SUMMARY,
                                .sink = {.ctx = &items, .row = count_row}};
    struct world_outcome outcome;
    double begun = bench_cpu_s();
    if (!world_run(s, &opt, &outcome, e))
        return false;
    char parameter[48];
    (void)snprintf(parameter, sizeof parameter, "%.20s/%.20s", s->name, s->arbiters[arbiter].name);
    bench_add(report, parameter, items, outcome.events, bench_cpu_s() - begun);
    return true;
}

static bool run_scenario(struct bench_report *report, struct scenario *s, struct diag_list *diags,
                         struct err *e)
{
    if (s == NULL)
        diag_print(diags, stderr);
    diag_fini(diags);
    if (s == NULL)
        return err_set(e, ERR_INPUT, "the scenario could not be read");
    bool ok = true;
    for (int32_t i = 0; ok && i < s->arbiter_count; i++)
        ok = run_arbiter(report, s, i, e);
    scenario_free(s);
    return ok;
}

bool bench_scenario(struct bench_report *report, struct err *e)
{
    struct diag_list diags = {0};
    const char *file = report->options->file != NULL ? report->options->file : "scenarios/quick.yaml";
    struct scenario *s = scenario_load(file, NULL, 0, &diags);
    return run_scenario(report, s, &diags, e);
}

bool bench_trace(struct bench_report *report, struct err *e)
{
    if (report->options->file == NULL)
        return err_set(e, ERR_INPUT, "trace: expected --file and a jobs file (see 'fleetsim import')");
    struct diag_list diags = {0};
    char set[4096];
    (void)snprintf(set, sizeof set, "demand.training.trace.file=%s", report->options->file);
    const char *sets[] = {set};
    struct scenario *s = scenario_load_text("trace.yaml", trace_text, sizeof trace_text - 1, sets, 1, &diags);
    return run_scenario(report, s, &diags, e);
}
