/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kueue's Configuration, the ConfigMap that holds it, and the Deployment that runs the controller
 * (decision specification 1.6, 7, 10). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/quantity.h"
#include "scenarios/load/manifest/manifest_priv.h"
#include "sim/sim_time.h"

static void set_gate(struct mf *r, const char *name, bool on)
{
    for (size_t i = 0; i < r->gate_count; i++)
        if (strcmp(r->gates[i].name, name) == 0) {
            r->gates[i].on = on;
            return;
        }
    r->gates = mem_grow(r->gates, &r->gate_capacity, r->gate_count + 1, sizeof *r->gates);
    r->gates[r->gate_count++] = (struct policy_gate){mf_keep(r, name), on};
}

static void feature_gates(struct mf *r, const struct mnode *o)
{
    const struct mnode *map = mf_map(r, o, "featureGates");
    const size_t mark = mf_into(r, ".featureGates");
    for (const struct mnode *g = mnode_first(map); g != NULL; g = g->next)
        set_gate(r, g->key, mf_bool(r, map, g->key, false));
    mf_out(r, mark);
}

static void fair_sharing(struct mf *r, const struct mnode *o)
{
    static const char *const names[] = {"LessThanOrEqualToFinalShare", "LessThanInitialShare"};
    struct policy_config *cfg = &r->m->config;
    const struct mnode *fair = mf_map(r, o, "fairSharing"), *list;
    if (fair == NULL || (r->v1beta1 && !mf_bool(r, fair, "enable", false)))
        return;
    const size_t mark = mf_into(r, ".fairSharing.preemptionStrategies");
    cfg->fair_sharing = true;
    list = mnode_get(fair, "preemptionStrategies");
    for (const struct mnode *s = mnode_first(list); s != NULL; s = s->next) {
        const bool second = strcmp(s->text, names[1]) == 0;
        if ((!second && strcmp(s->text, names[0]) != 0) || cfg->strategy_count == 2 ||
            (cfg->strategy_count == 1 && (!second || cfg->strategies[0] == POLICY_LESS_THAN_INITIAL_SHARE))) {
            mf_error(r, s, NULL, "Unsupported value: supported values: [\"LessThanOrEqualToFinalShare\"], "
                     "[\"LessThanInitialShare\"], [\"LessThanOrEqualToFinalShare\", \"LessThanInitialShare\"]");
            break;
        }
        cfg->strategies[cfg->strategy_count++] =
            second ? POLICY_LESS_THAN_INITIAL_SHARE : POLICY_LESS_OR_EQUAL_FINAL_SHARE;
    }
    mf_out(r, mark);
}

static void pods_ready(struct mf *r, const struct mnode *o)
{
    static const char *const stamps[] = {"Eviction", "Creation", NULL};
    struct policy_pods_ready *p = &r->m->config.pods_ready;
    const struct mnode *w = mf_map(r, o, "waitForPodsReady"), *s = mf_map(r, w, "requeuingStrategy");
    const size_t mark = mf_into(r, ".waitForPodsReady");
    r->pods_ready_set = w != NULL || r->v1beta1; /* v1beta1: absent is off, whatever the version */
    p->on = w != NULL && (!r->v1beta1 || mf_bool(r, w, "enable", false));
    p->block_admission = mf_bool(r, w, "blockAdmission", r->v1beta1) && p->on;
    p->timeout_ns = mf_duration(r, w, "timeout", 0);
    if (p->timeout_ns == 0)
        p->timeout_ns = (r->v1beta1 ? 5 : 30) * SIM_MINUTE;
    p->recovery_timeout_ns = mf_duration(r, w, "recoveryTimeout", r->v1beta1 ? 0 : p->timeout_ns);
    mf_into(r, ".requeuingStrategy");
    p->creation_timestamp = mf_choice(r, s, "timestamp", stamps, 0) == 1;
    p->backoff_limit = mf_int(r, s, "backoffLimitCount", 0, INT32_MAX, POLICY_NIL);
    p->backoff_base_ns = SIM_SECOND * mf_int(r, s, "backoffBaseSeconds", 0, INT32_MAX, 60);
    p->backoff_max_ns = SIM_SECOND * mf_int(r, s, "backoffMaxSeconds", 0, INT32_MAX, 3600);
    mf_out(r, mark);
}

static void admission_fair_sharing(struct mf *r, const struct mnode *o)
{
    struct policy_admission_fair_sharing *a = &r->m->config.admission_fair_sharing;
    const struct mnode *afs = mf_map(r, o, "admissionFairSharing");
    const size_t mark = mf_into(r, ".admissionFairSharing");
    a->on = afs != NULL;
    a->half_life_ns = mf_duration(r, afs, "usageHalfLifeTime", 0);
    a->sampling_ns = mf_duration(r, afs, "usageSamplingInterval", 5 * SIM_MINUTE);
    if (a->sampling_ns == 0)
        a->sampling_ns = 5 * SIM_MINUTE;
    r->weights = mf_map(r, afs, "resourceWeights");
    for (const struct mnode *w = mnode_first(r->weights); w != NULL; w = w->next) {
        double v;
        (void)mf_resource(r, w);
        if (!quantity_real(w->text, &v) || v < 0)
            mf_error(r, w, "resourceWeights", "Invalid value: \"%.60s\": must be greater than or equal to 0",
                     w->text);
    }
    mf_out(r, mark);
}

static void transformation(struct mf *r, const struct mnode *t, struct mf_transformation *to)
{
    static const char *const strategies[] = {"Retain", "Replace", NULL};
    const struct mnode *outputs = mf_map(r, t, "outputs");
    to->input = mf_keep(r, mf_string(r, t, "input", ""));
    to->replace = mf_choice(r, t, "strategy", strategies, 0) == 1;
    to->outputs = arena_alloc(&r->m->mem, (size_t)mnode_count(outputs) + 1, sizeof *to->outputs);
    to->factors = arena_alloc(&r->m->mem, (size_t)mnode_count(outputs) + 1, sizeof *to->factors);
    for (const struct mnode *q = mnode_first(outputs); q != NULL; q = q->next) {
        if (q->key[0] == '\0')
            mf_error(r, q, "outputs", "Invalid value: \"\": name part must be non-empty");
        to->outputs[to->output_count] = mf_keep(r, q->key);
        if (!quantity_real(q->text, &to->factors[to->output_count]))
            mf_error(r, q, "outputs", "Invalid value: \"%.60s\": not a quantity", q->text);
        to->output_count++;
    }
    if (mnode_get(t, "multiplyBy") != NULL)
        mf_unsupported(r, "Configuration resources.transformations[].multiplyBy");
}

static void resources(struct mf *r, const struct mnode *o)
{
    static const char *const strategies[] = {"BlockUndeclared", "IgnoreUndeclared", NULL};
    const struct mnode *res = mf_map(r, o, "resources");
    const struct mnode *prefixes = mf_list(r, res, "excludeResourcePrefixes");
    const struct mnode *list = mf_list(r, res, "transformations");
    const size_t mark = mf_into(r, ".resources");
    r->m->config.ignore_undeclared = mf_choice(r, res, "quotaCheckStrategy", strategies, 0) == 1;
    r->excluded = arena_alloc(&r->m->mem, (size_t)mnode_count(prefixes) + 1, sizeof *r->excluded);
    for (const struct mnode *p = mnode_first(prefixes); p != NULL; p = p->next)
        r->excluded[r->excluded_count++] = mf_keep(r, p->text);
    r->transformations = arena_alloc(&r->m->mem, (size_t)mnode_count(list) + 1, sizeof *r->transformations);
    for (const struct mnode *t = mnode_first(list); t != NULL; t = t->next) {
        const size_t inner = mf_into(r, ".transformations[%u]", (unsigned)r->transformation_count);
        transformation(r, t, &r->transformations[r->transformation_count++]);
        mf_out(r, inner);
    }
    if (mnode_count(mnode_get(res, "deviceClassMappings")) > 0)
        mf_unsupported(r, "Configuration resources.deviceClassMappings");
    mf_out(r, mark);
}

void mf_configuration(struct mf *r, const struct mnode *o)
{
    if (r->configured) {
        mf_error(r, o, NULL, "a second Kueue configuration");
        return;
    }
    r->configured = r->m->has_configuration = true;
    feature_gates(r, o);
    fair_sharing(r, o);
    pods_ready(r, o);
    admission_fair_sharing(r, o);
    resources(r, o);
    if (mf_bool(r, o, "manageJobsWithoutQueueName", false))
        mf_unsupported(r, "Configuration manageJobsWithoutQueueName");
}

/* Kueue's ConfigMap holds the configuration as the text of one of its keys. */
void mf_config_map(struct mf *r, const struct mnode *o)
{
    const struct mnode *data = mf_map(r, o, "data");
    for (const struct mnode *d = mnode_first(data); d != NULL; d = d->next) {
        if (d->kind != MNODE_STRING || strstr(d->text, "config.kueue.x-k8s.io") == NULL)
            continue;
        struct mnode_list list = {0};
        char name[160];
        snprintf(name, sizeof name, "%.80s (data of ConfigMap '%.50s')", r->file, r->name);
        const char *outer = r->file;
        r->file = arena_strdup(&r->tree, name); /* lines are those of the text */
        if (mnode_read(&list, name, d->text, strlen(d->text), &r->tree, r->diags))
            for (size_t i = 0; i < list.count; i++)
                if (strcmp(mnode_text(list.v[i], "kind", ""), "Configuration") == 0)
                    mf_object(r, list.v[i]);
        r->file = outer;
        free(list.v);
    }
}

/* ---- the controller ---- */

/* "registry/kueue:v0.18.6@sha256:..." -> "v0.18.6"; NULL when the image is not Kueue's. */
static const char *kueue_version(struct mf *r, const char *image)
{
    const char *slash = strrchr(image, '/'), *name = slash == NULL ? image : slash + 1;
    const size_t length = strcspn(name, ":@");
    if (length < 5 || strncmp(name, "kueue", 5) != 0 || (length > 5 && name[5] != '-' && name[5] != '_'))
        return NULL;
    if (name[length] != ':')
        return "";
    name += length + 1;
    return arena_strndup(&r->m->mem, name, strcspn(name, "@"));
}

static void gate_argument(struct mf *r, const char *arg)
{
    static const char option[] = "--feature-gates=";
    char name[96];
    if (strncmp(arg, option, sizeof option - 1) != 0)
        return;
    for (arg += sizeof option - 1; *arg != '\0';) {
        const size_t length = strcspn(arg, ",");
        const char *equal = memchr(arg, '=', length);
        if (equal != NULL && (size_t)(equal - arg) < sizeof name) {
            memcpy(name, arg, (size_t)(equal - arg));
            name[equal - arg] = '\0';
            set_gate(r, name, strncmp(equal + 1, "true", 4) == 0);
        }
        arg += length + (arg[length] == ',' ? 1 : 0);
    }
}

bool mf_controller(struct mf *r, const struct mnode *o)
{
    const struct mnode *list = mnode_at(o, "spec.template.spec.containers");
    for (const struct mnode *c = mnode_first(list); c != NULL; c = c->next) {
        const char *version = kueue_version(r, mnode_text(c, "image", ""));
        if (version == NULL || strstr(mnode_text(mnode_get(o, "metadata"), "name", ""), "controller") == NULL)
            continue;
        if (r->phase > 0)
            return true;
        r->m->version = version;
        for (const struct mnode *a = mnode_first(mnode_get(c, "args")); a != NULL; a = a->next)
            gate_argument(r, a->text);
        return true;
    }
    return false;
}

static bool gate_on(const struct mf *r, const char *name)
{
    for (size_t i = 0; i < r->gate_count; i++)
        if (strcmp(r->gates[i].name, name) == 0)
            return r->gates[i].on;
    return false;
}

/* Gates that the policy does not know change nothing that it models; they are named. */
static void known_gates(struct mf *r, struct policy_config *cfg)
{
    const struct policy_ops *ops = policy_kueue();
    struct policy_gate *gates = arena_alloc(&r->m->mem, r->gate_count + 1, sizeof *gates);
    cfg->gates = gates;
    for (size_t i = 0; i < r->gate_count; i++) {
        char error[256];
        const struct policy_config one = {.abi = POLICY_ABI, .size = sizeof one, .gates = &r->gates[i], .gate_count = 1};
        void *policy = ops->create(&one, NULL, error, sizeof error);
        if (policy == NULL) {
            mf_warn(r, NULL, "featureGates", "gate '%.80s' is not modelled", r->gates[i].name);
            continue;
        }
        ops->destroy(policy);
        gates[cfg->gate_count++] = r->gates[i];
    }
}

void mf_version_defaults(struct mf *r)
{
    struct policy_config *cfg = &r->m->config;
    const char *v = r->m->version;
    int minor = -1;
    if (v != NULL && strncmp(v, "v0.", 3) == 0)
        minor = (int)strtol(v + 3, NULL, 10);
    else if (v != NULL)
        minor = strcmp(v, "main") == 0 || strncmp(v, "v2", 2) == 0 ? 20 : -1; /* nightly: vYYYYMMDD */
    r->kind = NULL;
    cfg->profile = minor == 18 ? "v0.18" : minor == 19 ? "v0.19" : "HEAD";
    if (v != NULL && (minor < 18 || minor > 20))
        mf_warn(r, NULL, NULL, "Kueue version '%.40s' is not one of the profiles (v0.18, v0.19, HEAD): "
                "decisions are those of HEAD", v);
    if (!r->configured && !r->m->generator)
        mf_warn(r, NULL, NULL, "no Kueue Configuration among the objects: defaults (no fair sharing)");
    if (!r->pods_ready_set && minor != 18) /* from v0.19 on it is filled in */
        cfg->pods_ready = (struct policy_pods_ready){.on = true, .timeout_ns = 30 * SIM_MINUTE,
            .recovery_timeout_ns = 30 * SIM_MINUTE, .backoff_limit = POLICY_NIL,
            .backoff_base_ns = 60 * SIM_SECOND, .backoff_max_ns = 3600 * SIM_SECOND};
    if (gate_on(r, "DisableWaitForPodsReady"))
        cfg->pods_ready.on = false;
    known_gates(r, cfg);
}
