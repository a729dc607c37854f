/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KEDA and the HPA controller on one target: through their own modules, for every recorded field,
 * and once more through scaler.h, which is what a world runs. */
#include "models/elastic/scaler.h"
#include "studies/conform_keda_read.h"
#include "studies/jsonl.h"

struct joint {
    struct scaler_config cfg;
    struct hpa_config hpa_cfg;
    int32_t of_metric[KEDA_TRIGGER_LIMIT];
    struct keda_state keda;
    struct hpa_state hpa;
    struct scaler *scaler;
};

static void check_reads(struct conform_report *r, const struct joint *j,
                        const struct hpa_reading *readings, const cJSON *rec)
{
    const cJSON *m = jsonl_get(rec, "m");
    for (uint32_t i = 0; m && i < j->hpa_cfg.metric_count; i++)
        conform_int(r, "m", readings[i].failed ? -1 : readings[i].value_milli,
                    jsonl_at(m, (int)i, -1));
}

static void check_condition(struct conform_report *r, const char *field, const cJSON *rec,
                            const char *reason, bool is_true)
{
    char ours[64] = "";
    if (reason[0] != '\0')
        snprintf(ours, sizeof ours, "%c:%s", is_true ? 'T' : 'F', reason);
    conform_text(r, field, ours, jsonl_string(rec, field, ""));
}

static void check_sync(struct conform_report *r, const struct hpa_decision *d, const cJSON *rec)
{
    conform_int(r, "new", d->replicas, jsonl_int(rec, "new", -1));
    conform_int(r, "raw", d->computed ? d->raw : -1, jsonl_int(rec, "raw", -1));
    conform_int(r, "stab", d->computed ? d->stabilised : -1, jsonl_int(rec, "stab", -1));
    conform_text(r, "why", hpa_why_name(d->why), jsonl_string(rec, "why", ""));
    conform_int(r, "err", d->error, jsonl_bool(rec, "err", false));
    const struct hpa_conditions *c = &d->conditions;
    check_condition(r, "able", rec, hpa_able_name(c->able), true);
    check_condition(r, "scaling", rec, hpa_active_name(c->active),
                    c->active == HPA_VALID_METRIC_FOUND);
    check_condition(r, "lim", rec, c->limited_set ? hpa_limit_name(c->limited) : "",
                    c->limited != HPA_WITHIN_RANGE);
}

static void replay_sync(struct conform_report *r, struct joint *j, const cJSON *rec,
                        const struct scaler_inputs *in, sim_time t)
{
    struct keda_inputs k = {in->samples, in->target.current, in->target.ready_count};
    struct hpa_reading readings[HPA_METRIC_LIMIT];
    bool asks = jsonl_get(rec, "m") != NULL;
    for (uint32_t i = 0; i < j->hpa_cfg.metric_count; i++) {
        struct keda_read_result x = {.failed = true};
        if (asks)
            x = keda_read(&j->keda, &j->cfg.keda, j->of_metric[i], &k);
        readings[i] = (struct hpa_reading){.failed = x.failed, .value_milli = x.milli};
    }
    struct hpa_decision d;
    hpa_sync(&j->hpa, &j->hpa_cfg, t, &in->target, readings, NULL, &d);
    check_reads(r, j, readings, rec);
    check_sync(r, &d, rec);
    keda_check_health(r, &j->cfg.keda, &j->keda, rec);
    struct scaler_decision s;
    scaler_sync(j->scaler, t, in, &s);
    conform_int(r, "scaler", s.replicas, jsonl_int(rec, "new", -1));
}

static void replay_poll(struct conform_report *r, struct joint *j, const cJSON *rec,
                        const struct scaler_inputs *in, sim_time t)
{
    struct keda_inputs k = {in->samples, in->target.current, in->target.ready_count};
    struct keda_decision d;
    keda_poll(&j->keda, &j->cfg.keda, t, &k, &d);
    conform_int(r, "new", d.replicas, jsonl_int(rec, "new", -1));
    check_condition(r, "act", rec, keda_active_name(j->keda.active),
                    j->keda.active == KEDA_SCALER_ACTIVE);
    conform_int(r, "la", j->keda.has_last_active ? j->keda.last_active / SIM_MS : -1,
                jsonl_int(rec, "la", -1));
    keda_check_health(r, &j->cfg.keda, &j->keda, rec);
    struct scaler_decision s;
    scaler_poll(j->scaler, t, in, &s);
    conform_int(r, "scaler", s.replicas, jsonl_int(rec, "new", -1));
}

bool keda_replay_joint(struct conform_report *r, const cJSON *c, struct err *e)
{
    struct joint j = {.cfg = scaler_config_defaults()};
    if (!keda_json_config(jsonl_get(c, "spec"), jsonl_get(c, "annotations"), &j.cfg.keda, e) ||
        !scaler_config_check(&j.cfg, e))
        return false;
    j.cfg.hpa.scale_to_zero_gate = false; /* v1.35.4 */
    j.hpa_cfg = keda_hpa_config(&j.cfg.keda, &j.cfg.hpa, j.of_metric);
    keda_start(&j.keda, &j.cfg.keda, 0);
    j.scaler = scaler_create(&j.cfg);
    keda_check_hpa(r, &j.cfg.keda, jsonl_get(c, "hpa"));
    const cJSON *rec;
    cJSON_ArrayForEach(rec, jsonl_get(c, "recs"))
    {
        struct keda_sample samples[KEDA_TRIGGER_LIMIT];
        sim_time t = jsonl_int(rec, "t", 0) * SIM_MS;
        bool poll = jsonl_string(rec, "k", "")[0] == 'p';
        conform_at(r, "%s at %lld ms", poll ? "poll" : "sync", (long long)(t / SIM_MS));
        keda_json_samples(&j.cfg.keda, jsonl_get(rec, "in"), samples);
        int32_t pods = (int32_t)jsonl_int(rec, "st", 0);
        struct scaler_inputs in = {
            .samples = samples,
            .target = {.current = (int32_t)jsonl_int(rec, "cur", 0),
                       .status_replicas = pods,
                       .pod_count = pods,
                       .ready_count = (int32_t)jsonl_int(rec, "ready", 0)}};
        if (poll)
            replay_poll(r, &j, rec, &in, t);
        else
            replay_sync(r, &j, rec, &in, t);
    }
    scaler_destroy(j.scaler);
    hpa_state_fini(&j.hpa);
    return true;
}
