/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/manifest_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/wrap.h"
#include "sim/arena.h"
#include "sim/text.h"
#include "studies/manifest_never.h"
#include "studies/manifest_play.h"

enum { SHOWN = 20, WIDTH = 80 };

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- summary ---- */

static void kinds(const struct manifest *m, bool known, const char *head, FILE *out)
{
    char line[256 * 80] = "";
    struct text t = TEXT(line);
    for (uint32_t i = 0; i < m->kind_count; i++)
        if (m->kinds[i].known == known)
            text_say(&t, "%s%s %" PRIu32, t.length > 0 ? ", " : head, m->kinds[i].name, m->kinds[i].count);
    if (t.length == 0)
        return;
    fputs("  ", out);
    wrap_print(out, line, WIDTH, 2, 4);
}

static void settings(const struct manifest *m, FILE *out)
{
    const struct policy_config *c = &m->config;
    fprintf(out, "  Kueue: version %s, profile %s\n", m->version == NULL ? "not known" : m->version,
            c->profile == NULL ? "HEAD" : c->profile);
    fputs("  gates:", out);
    for (uint32_t i = 0; i < c->gate_count; i++)
        fprintf(out, "%s %s=%s", i == 0 ? "" : ",", c->gates[i].name, c->gates[i].on ? "true" : "false");
    fprintf(out, "%s\n", c->gate_count == 0 ? " as the profile has them" : "; others as the profile has them");
    fprintf(out, "  fair sharing: %s; admission fair sharing: %s; waitForPodsReady: %s%s\n", c->fair_sharing ? "on" : "off",
            c->admission_fair_sharing.on ? "on" : "off", c->pods_ready.on ? "on" : "off",
            c->pods_ready.on && c->pods_ready.block_admission ? ", one after another" : "");
    if (!m->has_configuration)
        fputs("  no Configuration among the objects: its defaults\n", out);
}

static void workloads(const struct manifest *m, FILE *out)
{
    uint32_t finished = 0, holds = 0, waits = 0, refused = 0;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        if (w->finished)
            finished++;
        else if (w->cluster_queue != POLICY_NONE && w->reserved != POLICY_NEVER)
            holds++;
        else if (w->inadmissible != NULL)
            refused++;
        else
            waits++;
    }
    fprintf(out, "  workloads: %" PRIu32 "; %" PRIu32 " finished, %" PRIu32 " hold quota, %" PRIu32 " wait, %" PRIu32
                 " that no queue takes\n", m->workload_count, finished, holds, waits, refused);
}

/* ---- what stands still ---- */

static void inactive_queues(const struct manifest *m, FILE *out)
{
    uint32_t *waiting = mem_zalloc((size_t)m->config.cluster_queue_count + 1, sizeof *waiting), count = 0;
    for (uint32_t i = 0; i < m->workload_count; i++)
        if (m->workloads[i].inadmissible == NULL && !m->workloads[i].finished && m->workloads[i].reserved == POLICY_NEVER)
            waiting[mplay_queue(m, i)]++;
    for (uint32_t q = 0; q < m->config.cluster_queue_count; q++)
        count += m->config.cluster_queues[q].name != NULL && m->queues[q].inactive != NULL;
    if (count > 0)
        fprintf(out, "inactive queues: %" PRIu32 "\n", count);
    for (uint32_t q = 0; q < m->config.cluster_queue_count; q++)
        if (m->config.cluster_queues[q].name != NULL && m->queues[q].inactive != NULL)
            fprintf(out, "  %s: %s %" PRIu32 " workload%s %s there\n", m->config.cluster_queues[q].name, m->queues[q].inactive,
                    waiting[q], plural(waiting[q]), waiting[q] == 1 ? "waits" : "wait");
    free(waiting);
}

static void refused_workloads(const struct manifest *m, FILE *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->workload_count; i++) {
        const struct manifest_workload *w = &m->workloads[i];
        if (w->inadmissible == NULL || w->finished)
            continue;
        if (count == 0)
            fputs("no queue takes:\n", out);
        if (count++ < SHOWN)
            fprintf(out, "  %s/%s: %s\n", w->name_space, w->name, w->inadmissible);
    }
    if (count > SHOWN)
        fprintf(out, "  and %" PRIu32 " more\n", count - SHOWN);
}

static void position(const struct manifest *m, const struct mnever *n, FILE *out)
{
    fprintf(out, "  %s/%s", m->workloads[n->workload].name_space, m->workloads[n->workload].name);
    if (n->count > 1)
        fprintf(out, " (and %" PRIu32 " more like it)", n->count - 1);
    fprintf(out, " in queue '%s' (%s): ", m->config.cluster_queues[n->queue].name, n->strict ? "StrictFIFO" : "BestEffortFIFO");
    if (n->holds)
        fputs("holds quota now; once evicted it does not come back\n", out);
    else if (n->first && n->strict)
        fprintf(out, "first in its queue, blocks the %" PRIu32 " behind it\n", n->behind);
    else if (n->strict)
        fputs("blocks all behind it once it is first\n", out);
    else
        fputs("waits for ever\n", out);
}

static void never_fit(const struct manifest *m, struct diag_list *diags, FILE *out)
{
    struct mnever_list l;
    mnever_find(m, MNEVER_NOW, &l);
    if (l.count > 0)
        fprintf(out, "can never be admitted: %" PRIu32 "\n", l.count);
    for (uint32_t i = 0; i < l.count; i++) {
        const struct manifest_workload *w = &m->workloads[l.items[i].workload];
        char line[800] = "";
        struct text t = TEXT(line);
        mnever_sentence(m, &l.items[i], &t);
        diag_add(diags, DIAG_WARNING, w->file, w->line, w->column, NULL, "%s", line);
        if (i >= SHOWN)
            continue;
        position(m, &l.items[i], out);
        mnever_arithmetic(m, &l, &l.items[i], out);
    }
    if (l.count > SHOWN)
        fprintf(out, "  and %" PRIu32 " more\n", l.count - SHOWN);
    mnever_fini(&l);
}

int manifest_check(const struct manifest_check_options *o, FILE *out)
{
    struct diag_list diags = {0};
    struct manifest *m = manifest_read(o->files, o->file_count, &diags);
    int status = 2;
    if (m != NULL) {
        fprintf(out, "%d file%s of manifests: valid\n", o->file_count, o->file_count == 1 ? "" : "s");
        kinds(m, true, "objects: ", out);
        kinds(m, false, "not read: ", out);
        settings(m, out);
        workloads(m, out);
        inactive_queues(m, out);
        refused_workloads(m, out);
        never_fit(m, &diags, out);
        status = o->strict && diags.warning_count > 0 ? 1 : 0;
    }
    diag_print(&diags, stderr);
    diag_fini(&diags);
    manifest_free(m);
    return status;
}
