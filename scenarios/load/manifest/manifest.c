/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/manifest/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "scenarios/load/manifest/manifest_priv.h"
#include "scenarios/load/text_input.h"
#include "sim/fnv.h"

struct kind {
    const char *name, *group; /* of apiVersion, without the version; "" = core */
    int phase;                /* 0: objects; 1: workloads, which need all of them */
    bool namespaced;
    void (*read)(struct mf *r, const struct mnode *o);
};

static const struct kind kinds[] = {
    {"ResourceFlavor", "kueue.x-k8s.io", 0, false, mf_flavor},
    {"Topology", "kueue.x-k8s.io", 0, false, mf_topology},
    {"ClusterQueue", "kueue.x-k8s.io", 0, false, mf_cluster_queue},
    {"Cohort", "kueue.x-k8s.io", 0, false, mf_cohort},
    {"LocalQueue", "kueue.x-k8s.io", 0, true, mf_local_queue},
    {"WorkloadPriorityClass", "kueue.x-k8s.io", 0, false, mf_priority_class},
    {"PriorityClass", "scheduling.k8s.io", 0, false, mf_priority_class},
    {"AdmissionCheck", "kueue.x-k8s.io", 0, false, mf_admission_check},
    {"Node", "", 0, false, mf_node},
    {"Namespace", "", 0, false, mf_namespace},
    {"LimitRange", "", 0, true, mf_limit_range},
    {"Configuration", "config.kueue.x-k8s.io", 0, false, mf_configuration},
    {"ConfigMap", "", 0, true, mf_config_map},
    {"Workload", "kueue.x-k8s.io", 1, true, mf_workload},
    {"Job", "batch", 1, true, mf_job},
    {"JobSet", "jobset.x-k8s.io", 1, true, mf_jobset},
    {"PyTorchJob", "kubeflow.org", 1, true, mf_pytorch},
    {"Deployment", "apps", 0, true, NULL},
    {"Deployment", "apps", 1, true, mf_deployment},
};

static struct manifest_kind *counted(struct mf *r, const char *name)
{
    struct manifest *m = r->m;
    char printed[sizeof m->kinds[0].name] = ""; /* without control characters: it goes to a terminal */
    for (size_t i = 0; i + 1 < sizeof printed && name[i] != '\0'; i++)
        printed[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
    for (uint32_t i = 0; i < m->kind_count; i++)
        if (strcmp(m->kinds[i].name, printed) == 0)
            return &m->kinds[i];
    if (m->kind_count == 256) { /* a fuzzer's file */
        return &m->kinds[255];
    }
    m->kinds = mem_grow(m->kinds, &r->kind_capacity, (size_t)m->kind_count + 1, sizeof *m->kinds);
    struct manifest_kind *k = &m->kinds[m->kind_count++];
    *k = (struct manifest_kind){.known = false};
    memcpy(k->name, printed, sizeof printed);
    return k;
}

static size_t group_length(const char *api_version)
{
    const char *slash = strchr(api_version, '/');
    return slash == NULL ? 0 : (size_t)(slash - api_version);
}

static bool matches(const struct kind *k, const char *name, const char *api_version)
{
    const size_t length = group_length(api_version);
    return strcmp(k->name, name) == 0 && strlen(k->group) == length &&
           strncmp(k->group, api_version, length) == 0;
}

static bool is_list(const char *kind, const struct mnode *o)
{
    const size_t n = strlen(kind);
    return n >= 4 && strcmp(kind + n - 4, "List") == 0 && mnode_get(o, "items") != NULL;
}

static void open_list(struct mf *r, const struct mnode *o)
{
    if (r->phase > 0 && mnode_get(o, "items")->kind != MNODE_LIST)
        return; /* said in the first */
    for (const struct mnode *i = mnode_first(mf_list(r, o, "items")); i != NULL; i = i->next)
        mf_object(r, i);
}

static void read_known(struct mf *r, const struct kind *k, const struct mnode *o)
{
    const struct mnode *meta = mf_map(r, o, "metadata");
    r->kind = k->name;
    r->name = mf_string(r, meta, "name", "");
    r->name_space = k->namespaced ? mf_string(r, meta, "namespace", "default") : NULL;
    if (r->phase == k->phase && k->read != NULL)
        mf_object_name(r, meta);
    r->v1beta1 = strstr(mnode_text(o, "apiVersion", ""), "/v1beta1") != NULL ||
                 strstr(mnode_text(o, "apiVersion", ""), "/v1alpha1") != NULL;
    if (r->keep && r->phase == 0)
        mf_keep_object(r, o);
    if (r->phase == k->phase && k->read != NULL)
        k->read(r, o);
    else if (r->phase == 0 && strcmp(k->name, "Deployment") == 0)
        mf_controller(r, o);
}

void mf_object(struct mf *r, const struct mnode *o)
{
    const char *kind = mnode_text(o, "kind", ""), *api_version = mnode_text(o, "apiVersion", "");
    r->kind = r->name = r->name_space = NULL;
    mf_out(r, 0);
    if (mf_is_generator(o)) {
        if (r->phase == 0) {
            struct manifest_kind *k = counted(r, "performance generator");
            k->count++;
            k->known = true;
        }
        mf_generator(r, o);
        return;
    }
    if (o->kind != MNODE_MAP || kind[0] == '\0') {
        if (r->phase == 0 && o->kind == MNODE_LIST) {
            mf_error(r, o, NULL, "expected an object with kind and apiVersion, found a list");
        } else if (r->phase == 0) {
            mf_error(r, o, "kind", "Required value: expected an object with kind and apiVersion");
        }
        return;
    }
    if (is_list(kind, o)) {
        open_list(r, o);
        return;
    }
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (matches(&kinds[i], kind, api_version)) {
            known = true;
            if (kinds[i].phase == r->phase)
                read_known(r, &kinds[i], o);
        }
    if (r->phase == 0) {
        struct manifest_kind *k = counted(r, kind);
        k->count++;
        k->known |= known;
    }
}

/* ---- files ---- */

static char *read_all(const char *path, size_t *length, uint64_t *hash, struct err *e)
{
    struct text_input *in = text_input_open(path, 0, e);
    size_t capacity = 0, n;
    char *text = NULL;
    *length = 0;
    if (in == NULL)
        return NULL;
    do {
        text = mem_grow(text, &capacity, *length + 65536 + 1, 1);
        n = text_input_read(in, text + *length, 65536, e);
        *length += n;
    } while (n > 0);
    text[*length] = '\0';
    *hash = fnv_add(*hash, text, *length);
    text_input_close(in);
    if (e->code == ERR_NONE)
        return text;
    free(text);
    return NULL;
}

struct source {
    const char *name;
    struct mnode_list documents;
};

static struct mf *begin(void)
{
    struct mf *r = mem_zalloc(1, sizeof *r);
    r->m = mem_zalloc(1, sizeof *r->m);
    r->m->config.abi = POLICY_ABI;
    r->m->config.size = sizeof r->m->config;
    r->m->config.pods_ready.backoff_limit = POLICY_NIL;
    r->m->hash = FNV_START;
    r->minor = -1;
    return r;
}

static void fini(struct mf *r)
{
    struct mf_ids *ids[] = {&r->resources, &r->flavors, &r->cohorts, &r->queues,  &r->locals,        &r->topologies,
                            &r->nodes,     &r->namespaces, &r->checks, &r->classes, &r->workload_names};
    void *arrays[] = {r->flavor, r->cohort, r->queue, r->local, r->topology, r->node, r->name_space_of, r->limits,
                      r->check_inactive, r->class_value, r->workloads, r->gates, r->notes, r->objects};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        names_fini(&ids[i]->names);
        free(ids[i]->slots);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    arena_fini(&r->tree);
    free(r);
}

static void tell_notes(struct mf *r)
{
    r->kind = NULL;
    r->file = NULL;
    r->slot = NULL;
    mf_out(r, 0);
    for (size_t i = 0; i < r->note_count; i++)
        mf_warn(r, NULL, NULL, "not modelled: %s (%u objects)", r->notes[i].text, (unsigned)r->notes[i].count);
}

/* Specs that replace others later: their names must be known before the objects are linked. */
static void read_replacements(struct mf *r, const struct manifest_parts *parts)
{
    for (size_t i = 0; i < parts->replacement_count; i++) {
        const struct mnode *o = mnode_from_cjson(parts->replacements[i], &r->tree);
        if (o == NULL)
            continue;
        r->kind = "ClusterQueue";
        r->name = mnode_text(mnode_get(o, "metadata"), "name", "");
        r->name_space = NULL;
        mf_out(r, 0);
        parts->replaced_ids[i] = mf_id_find(&r->queues, r->name);
        parts->replaced[i] = (struct policy_cluster_queue){.name = mf_keep(r, r->name)};
        mf_cluster_queue_spec(r, mnode_get(o, "spec"), &parts->replaced[i]);
    }
}

static struct manifest *finish(struct mf *r, struct source *sources, size_t count, bool ok,
                               const struct manifest_parts *parts)
{
    struct manifest *m = r->m;
    const size_t errors = r->diags->error_count;
    for (r->phase = 0; r->phase < 2 && ok; r->phase++)
        for (size_t s = 0; s < count; s++)
            for (size_t i = 0; i < sources[s].documents.count; i++) {
                r->file = sources[s].name;
                mf_object(r, sources[s].documents.v[i]);
            }
    if (ok && parts != NULL)
        read_replacements(r, parts);
    if (ok && r->diags->error_count == errors) {
        mf_out(r, 0);
        r->kind = NULL;
        r->file = NULL;
        mf_version_defaults(r);
        mf_link(r);
        tell_notes(r);
    }
    if (r->keep)
        mf_hand_over_objects(r);
    ok = ok && r->diags->error_count == errors;
    for (size_t s = 0; s < count; s++)
        free(sources[s].documents.v);
    fini(r);
    if (ok)
        return m;
    manifest_free(m);
    return NULL;
}

static struct manifest *read_files(const char *const *paths, int count, bool keep, struct diag_list *diags)
{
    struct mf *r = begin();
    struct source *sources = mem_zalloc((size_t)count + 1, sizeof *sources);
    bool ok = true;
    r->keep = keep;
    r->diags = diags;
    for (int i = 0; i < count && ok; i++) {
        struct err e = {0};
        size_t length;
        char *text = read_all(paths[i], &length, &r->m->hash, &e);
        sources[i].name = paths[i];
        if (text == NULL)
            diag_add(diags, DIAG_ERROR, NULL, 0, 0, NULL, "%s", e.text);
        ok = text != NULL && mnode_read(&sources[i].documents, paths[i], text, length, &r->tree, diags);
        if (ok && sources[i].documents.count == 0) {
            diag_add(diags, DIAG_ERROR, paths[i], 0, 0, NULL, "holds no objects");
            ok = false;
        }
        free(text);
    }
    struct manifest *m = finish(r, sources, (size_t)count, ok, NULL);
    free(sources);
    return m;
}

struct manifest *manifest_read(const char *const *paths, int count, struct diag_list *diags)
{
    return read_files(paths, count, false, diags);
}

struct manifest *manifest_read_objects(const char *const *paths, int count, struct diag_list *diags)
{
    return read_files(paths, count, true, diags);
}

struct manifest *manifest_read_text(const char *name, const char *text, size_t length,
                                    struct diag_list *diags)
{
    struct mf *r = begin();
    struct source source = {.name = name};
    r->diags = diags;
    r->m->hash = fnv_add(r->m->hash, text, length);
    const bool ok = mnode_read(&source.documents, name, text, length, &r->tree, diags);
    return finish(r, &source, 1, ok, NULL);
}

struct manifest *manifest_read_parts(const char *name, const struct manifest_parts *parts,
                                     struct diag_list *diags)
{
    struct mf *r = begin();
    struct source source = {.name = name};
    struct mnode_list *l = &source.documents;
    bool ok = true;
    r->diags = diags;
    for (size_t i = 0; i < parts->object_count && ok; i++) {
        struct mnode *n = mnode_from_cjson(parts->objects[i], &r->tree);
        ok = n != NULL;
        if (!ok) {
            diag_add(diags, DIAG_ERROR, name, 0, 0, NULL, "nested deeper than 128 levels");
            break;
        }
        l->v = mem_grow(l->v, &l->capacity, l->count + 1, sizeof(struct mnode *));
        l->v[l->count++] = n;
    }
    return finish(r, &source, 1, ok, parts);
}

void manifest_free(struct manifest *m)
{
    if (m == NULL)
        return;
    arena_fini(&m->mem);
    arena_fini(&m->tree);
    free(m->kinds);
    free(m->objects);
    free(m);
}

void manifest_describe(const struct manifest *m, FILE *out)
{
    fprintf(out, "read:");
    for (uint32_t i = 0; i < m->kind_count; i++)
        if (m->kinds[i].known)
            fprintf(out, " %s %u", m->kinds[i].name, (unsigned)m->kinds[i].count);
    fprintf(out, "\n");
    bool any = false;
    for (uint32_t i = 0; i < m->kind_count; i++)
        if (!m->kinds[i].known) {
            fprintf(out, "%s %s %u", any ? "," : "not read:", m->kinds[i].name, (unsigned)m->kinds[i].count);
            any = true;
        }
    if (any)
        fprintf(out, "\n");
}

int64_t manifest_request(const struct manifest_workload *w, uint32_t resource)
{
    int64_t sum = 0;
    for (uint32_t s = 0; s < w->shape.pod_set_count; s++) {
        const struct policy_pod_set *p = &w->shape.pod_sets[s];
        for (uint32_t i = 0; i < p->request_count; i++) {
            int64_t one;
            if (p->requests[i].resource != resource)
                continue;
            if (p->requests[i].amount == POLICY_UNLIMITED || __builtin_mul_overflow(p->requests[i].amount, p->count, &one) ||
                __builtin_add_overflow(sum, one, &sum))
                return POLICY_UNLIMITED;
        }
    }
    return sum;
}
