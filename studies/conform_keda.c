/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/conform_keda.h"

#include <stdlib.h>
#include <string.h>

#include "models/elastic/keda.h"
#include "sim/arena.h"
#include "studies/conform_keda_read.h"
#include "studies/conform_report.h"
#include "studies/jsonl.h"

struct replay {
    struct conform_report *r;
    struct keda_config cfg;
    struct keda_state s;
    sim_time latency;
};

static void check_condition(struct conform_report *r, const char *field, const cJSON *rec,
                            char status, const char *reason)
{
    char ours[64];
    snprintf(ours, sizeof ours, "%c:%s", status, reason);
    conform_text(r, field, ours, jsonl_string(rec, field, ""));
}

static void check_conditions(struct conform_report *r, const struct keda_state *s,
                             const cJSON *rec)
{
    static const char ready_status[] = {'U', 'T', 'F', 'U'};
    static const char *const fallback[] = {"", "NoFallbackFound", "FallbackExists"};
    static const char *const paused[] = {"", "ScaledObjectPaused", "ScaledObjectUnpaused"};
    check_condition(r, "act", rec, s->active == KEDA_SCALER_ACTIVE ? 'T' : 'F',
                    keda_active_name(s->active));
    check_condition(r, "rdy", rec, ready_status[s->ready], keda_ready_name(s->ready));
    check_condition(r, "fb", rec, "UFT"[s->store.fallback], fallback[s->store.fallback]);
    check_condition(r, "paused", rec, s->paused == KEDA_PAUSED ? 'T' : 'F', paused[s->paused]);
}

/* Names as recorded: sorted. */
static void check_events(struct conform_report *r, unsigned events, const cJSON *rec)
{
    static const char *const names[] = {"KEDAScaleTargetActivated", "KEDAScaleTargetDeactivated",
                                        "ScaledObjectFallbackActivated",
                                        "ScaledObjectFallbackDeactivated"};
    char ours[160] = "", theirs[160] = "";
    for (int i = 0; i < 4; i++) {
        if (events & (1u << i)) {
            strcat(ours, names[i]);
            strcat(ours, " ");
        }
    }
    const cJSON *o;
    cJSON_ArrayForEach(o, jsonl_get(rec, "ev"))
    {
        size_t n = strlen(theirs);
        snprintf(theirs + n, sizeof theirs - n, "%s ", o->valuestring);
    }
    conform_text(r, "ev", ours, theirs);
}

static void check_activity(struct conform_report *r, const struct keda_config *cfg,
                           const struct keda_decision *d, const cJSON *rec)
{
    const cJSON *ta = jsonl_get(rec, "ta");
    for (uint32_t i = 0; ta && i < cfg->trigger_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%u-prometheus", i);
        if (jsonl_get(ta, name))
            conform_int(r, "ta", d->trigger_active[i], jsonl_bool(ta, name, false));
    }
}

static struct keda_decision poll(struct replay *p, const cJSON *rec, int32_t current)
{
    struct keda_sample samples[KEDA_TRIGGER_LIMIT];
    keda_json_samples(&p->cfg, jsonl_get(rec, "in"), samples);
    struct keda_inputs in = {samples, current, (int32_t)jsonl_int(rec, "ready", 0)};
    sim_time t = jsonl_int(rec, "t", 0) * SIM_MS;
    struct keda_decision d;
    keda_poll(&p->s, &p->cfg, keda_answered(&p->cfg, samples, t, p->latency), &in, &d);
    return d;
}

/* Checks of every record that may hold a poll. writes: of the scale, outside of the poll. */
static void check_poll(struct replay *p, const cJSON *rec, const struct keda_decision *d,
                       int32_t replicas, int writes)
{
    struct conform_report *r = p->r;
    conform_int(r, "new", replicas, jsonl_int(rec, "new", -1));
    conform_int(r, "wr", writes + (d && d->write ? 1 : 0), jsonl_int(rec, "wr", 0));
    conform_int(r, "la", p->s.has_last_active ? p->s.last_active / SIM_MS : -1,
                jsonl_int(rec, "la", -1));
    check_conditions(r, &p->s, rec);
    keda_check_health(r, &p->cfg, &p->s, rec);
    check_events(r, d ? d->events : 0, rec);
    if (d)
        check_activity(r, &p->cfg, d, rec);
}

static void replay_start(struct replay *p, const cJSON *rec)
{
    int32_t current = (int32_t)jsonl_int(rec, "cur", 0);
    keda_start(&p->s, &p->cfg, 0);
    if (p->s.stopped) {
        struct keda_annotated a = keda_annotate(&p->s, &p->cfg, current);
        bool set = a.replicas != KEDA_UNSET;
        check_poll(p, rec, NULL, set ? a.replicas : current, set);
        return;
    }
    struct keda_decision d = poll(p, rec, current);
    check_poll(p, rec, &d, d.replicas, 0);
}

static void replay_annotation(struct replay *p, const cJSON *rec)
{
    int32_t current = (int32_t)jsonl_int(rec, "cur", 0);
    keda_json_annotations(jsonl_get(rec, "annot"), &p->cfg.annotations);
    struct keda_annotated a = keda_annotate(&p->s, &p->cfg, current);
    bool set = a.replicas != KEDA_UNSET;
    const cJSON *hpa = jsonl_get(rec, "hpa");
    bool deleted = cJSON_IsString(hpa);
    conform_int(p->r, "hpa_deleted", a.hpa_deleted, deleted);
    if (hpa && !deleted)
        keda_check_hpa(p->r, &p->cfg, hpa);
    if (a.hpa_created) {
        struct keda_decision d = poll(p, rec, current);
        check_poll(p, rec, &d, d.replicas, set);
    } else {
        check_poll(p, rec, NULL, set ? a.replicas : current, set);
    }
}

static void replay_read(struct replay *p, const cJSON *rec)
{
    struct keda_sample samples[KEDA_TRIGGER_LIMIT];
    keda_json_samples(&p->cfg, jsonl_get(rec, "in"), samples);
    struct keda_inputs in = {samples, (int32_t)jsonl_int(rec, "cur", 0),
                             (int32_t)jsonl_int(rec, "ready", 0)};
    const char *name = jsonl_string(rec, "metric", "");
    int32_t metric = KEDA_COMPOSITE;
    if (strcmp(name, "composite-metric") != 0)
        metric = (int32_t)strtol(name + 1, NULL, 10); /* s<trigger>-prometheus */
    struct keda_read_result x = keda_read(&p->s, &p->cfg, metric, &in);
    conform_int(p->r, "read.err", x.failed && !x.empty, jsonl_bool(rec, "err", false));
    conform_int(p->r, "read.empty", x.empty, jsonl_bool(rec, "empty", false));
    conform_int(p->r, "read.milli", x.failed ? -1 : x.milli, jsonl_int(rec, "milli", -1));
    keda_check_health(p->r, &p->cfg, &p->s, rec);
}

static bool replay_records(struct conform_report *r, const cJSON *c, struct err *e)
{
    struct replay p = {.r = r, .latency = jsonl_int(c, "latency_ms", 0) * SIM_MS};
    if (!keda_json_config(jsonl_get(c, "spec"), jsonl_get(c, "annotations"), &p.cfg, e))
        return false;
    if (jsonl_get(c, "hpa"))
        keda_check_hpa(r, &p.cfg, jsonl_get(c, "hpa"));
    const cJSON *rec;
    cJSON_ArrayForEach(rec, jsonl_get(c, "recs"))
    {
        const char *k = jsonl_string(rec, "k", "");
        conform_at(r, "%s at %lld ms", k, (long long)jsonl_int(rec, "t", 0));
        if (strcmp(k, "start") == 0) {
            replay_start(&p, rec);
        } else if (strcmp(k, "poll") == 0) {
            struct keda_decision d = poll(&p, rec, (int32_t)jsonl_int(rec, "cur", 0));
            check_poll(&p, rec, &d, d.replicas, 0);
        } else if (strcmp(k, "read") == 0) {
            replay_read(&p, rec);
        } else if (strcmp(k, "annot") == 0) {
            replay_annotation(&p, rec);
        } else if (strcmp(k, "hpa") != 0 && strcmp(k, "manual") != 0) {
            return err_set(e, ERR_INPUT, "record kind: found '%s'", k);
        }
    }
    return true;
}

static bool replay_spec(struct conform_report *r, const cJSON *c, struct err *e)
{
    struct keda_config cfg;
    if (!keda_json_config(jsonl_get(c, "spec"), jsonl_get(c, "annotations"), &cfg, e))
        return false;
    enum keda_refusal refusal = keda_check(&cfg);
    conform_text(r, "error", refusal == KEDA_ACCEPTED ? "" : keda_refusal_name(refusal),
                 jsonl_string(c, "error", ""));
    const cJSON *hpa = jsonl_get(c, "hpa");
    if (refusal == KEDA_ACCEPTED && hpa)
        keda_check_hpa(r, &cfg, hpa);
    return true;
}

static bool replay_case(struct conform_report *r, const cJSON *c, struct err *e)
{
    const char *family = jsonl_string(c, "family", "");
    if (strcmp(family, "hpaspec") == 0)
        return replay_spec(r, c, e);
    if (strcmp(family, "scaledjob") == 0)
        return keda_replay_jobs(r, c, e);
    if (strcmp(family, "joint") == 0)
        return keda_replay_joint(r, c, e);
    if (!jsonl_get(c, "recs"))
        return err_set(e, ERR_INPUT, "no KEDA case: it has neither 'recs' nor 'calls'");
    return replay_records(r, c, e);
}

static bool replay_file(struct conform_report *r, const char *path, struct err *e)
{
    struct jsonl *f = jsonl_open(path, e);
    cJSON *c;
    bool ok = f != NULL;
    while (ok && (c = jsonl_next(f, e)) != NULL) {
        struct err inner = {0};
        const char *id = jsonl_string(c, "id", "?");
        conform_begin(r, jsonl_string(c, "family", "?"), id);
        ok = replay_case(r, c, &inner);
        if (!ok)
            err_set(e, inner.code, "%s: case %s: %s", path, id, inner.text);
        conform_end(r);
        cJSON_Delete(c);
    }
    jsonl_close(f);
    return ok && e->code == ERR_NONE;
}

int conform_keda_files(int n, char **files, FILE *out)
{
    struct conform_report *r = mem_zalloc(1, sizeof *r);
    struct err e = {0};
    bool ok = n > 0 || err_set(&e, ERR_INPUT, "no file given");
    for (int i = 0; ok && i < n; i++)
        ok = replay_file(r, files[i], &e);
    if (!ok)
        fprintf(stderr, "error: %s\n", e.text);
    int status = ok ? conform_print(r, "KEDA operator, recorded decisions", out) : 2;
    free(r);
    return status;
}
