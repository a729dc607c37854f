/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/policies/kueue/live.h"
#include "models/policies/kueue/objects.h"
#include "models/policies/kueue/queue.h"
#include "models/policies/kueue/topology.h"
#include "tests/policies/named.h"

/* ---- facts, as sorted lines of text ---- */

struct facts {
    struct arena *mem;
    char *v[4 * NAMED_MAX];
    size_t count;
};

static void add_fact(struct facts *f, char *text)
{
    if (f->count < sizeof f->v / sizeof f->v[0])
        f->v[f->count++] = text;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *compare(struct facts *ours, struct facts *wanted)
{
    qsort(ours->v, ours->count, sizeof *ours->v, by_text);
    qsort(wanted->v, wanted->count, sizeof *wanted->v, by_text);
    bool equal = ours->count == wanted->count;
    for (size_t i = 0; equal && i < ours->count; i++)
        equal = strcmp(ours->v[i], wanted->v[i]) == 0;
    if (equal)
        return NULL;
    char *text = arena_strdup(ours->mem, "");
    for (size_t i = 0; i < wanted->count; i++)
        text = arena_printf(ours->mem, "%s\n  kueue: %s", text, wanted->v[i]);
    for (size_t i = 0; i < ours->count; i++)
        text = arena_printf(ours->mem, "%s\n  ours:  %s", text, ours->v[i]);
    return text;
}

/* ---- the cluster ---- */

static int64_t foreign_usage(void *ctx, uint32_t node, uint32_t resource)
{
    const struct named *n = ctx;
    for (uint32_t i = 0; i < n->foreign_count[node]; i++)
        if (n->foreign[node][i].resource == resource)
            return n->foreign[node][i].amount;
    return 0;
}

uint32_t named_fr(const struct named *n, uint32_t queue, const char *flavor, uint32_t resource)
{
    for (uint32_t f = 0; f < n->flavors.count; f++)
        if (strcmp(n->flavors.v[f], flavor) == 0)
            return kq_fr_find(n->k->cqs[queue]->node.tree, f, resource);
    return POLICY_NONE;
}

static uint32_t shape_of(struct named *n, const struct named_workload *w)
{
    struct policy_pod_set sets[NAMED_SETS];
    memcpy(sets, w->sets, sizeof sets);
    const struct policy_shape shape = {sets, w->set_count};
    return n->ops->register_shape(n->k, &shape);
}

static void submit(struct named *n, struct named_workload *w)
{
    w->w.shape = shape_of(n, w);
    const struct policy_input in = {.kind = POLICY_IN_SUBMIT, .workload = w->w.id, .submit = &w->w};
    n->ops->input(n->k, 1000 * NAMED_S, &in, &n->out);
}

static uint32_t leaf_of(const struct kq_topo *t, const char *values)
{
    char text[512];
    for (uint32_t leaf = 0; leaf < kq_topo_leaves(t); leaf++) {
        const struct kq_dom *d = &t->doms[t->level_count - 1][leaf];
        size_t at = 0;
        text[0] = '\0';
        for (uint32_t i = t->host ? t->level_count - 1 : 0; i < t->level_count; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at > 0 ? "/" : "", d->values[i]);
        if (strcmp(text, values) == 0)
            return leaf;
    }
    return POLICY_NONE;
}

/* "values=pods" behind "on": domains of the pod set. */
static void hold_domains(struct named *n, const struct named_held *h, uint32_t flavor, struct kq_places *p)
{
    bool on = false;
    for (int i = 3; i < h->line->count; i++) {
        const char *word = h->line->word[i], *eq = strrchr(word, '=');
        if (!on) {
            on = strcmp(word, "on") == 0;
            continue;
        }
        const char *values = arena_strndup(&n->mem, word, (size_t)(eq - word));
        const uint32_t leaf = leaf_of(n->k->flavors[flavor].topo, values);
        if (leaf == POLICY_NONE)
            continue; /* the node is gone */
        p->domains[p->domain_count++] = (struct kq_domain){leaf, strtoll(eq + 1, NULL, 10)};
        p->sets[h->set].flavor = flavor;
        p->sets[h->set].count++;
        p->valid = true;
    }
}

/* "resource=flavor:total" of the pod set. */
static void hold_set(struct named *n, const struct named_workload *w, const struct named_held *h, struct kq_assign *a)
{
    uint32_t placed = POLICY_NONE;
    for (int i = 3; i < h->line->count && strcmp(h->line->word[i], "on") != 0; i++) {
        const char *rest;
        const uint32_t r = named_resource(n, h->line->word[i], &rest);
        const char *colon = strrchr(rest, ':');
        const char *flavor = arena_strndup(&n->mem, rest, (size_t)(colon - rest));
        const uint32_t fr = named_fr(n, w->queue, flavor, r), f = named_id(&n->flavors, flavor);
        if (n->flavor[f].name != NULL && n->flavor[f].topology != POLICY_NONE)
            placed = f;
        if (fr == POLICY_NONE)
            continue;
        uint32_t at = 0;
        while (at < a->use_count && a->use[at].fr != fr)
            at++;
        if (at == a->use_count)
            a->use[a->use_count++] = (struct kq_use){0, fr, f, r};
        a->use[at].amount += named_amount(n, r, colon + 1);
    }
    a->places.sets[h->set].first = (uint32_t)a->places.domain_count;
    if (placed != POLICY_NONE)
        hold_domains(n, h, placed, &a->places);
}

static void hold(struct named *n, struct named_workload *w)
{
    struct kq_use use[NAMED_MAX];
    struct kq_placement sets[NAMED_SETS];
    struct kq_domain domains[NAMED_MAX];
    struct kq_assign a = {.use = use, .places = {.sets = sets, .domains = domains}};
    for (int i = 0; i < NAMED_SETS; i++)
        sets[i] = (struct kq_placement){POLICY_NONE, 0, 0};
    for (uint32_t i = 0; i < w->held_count; i++)
        hold_set(n, w, &w->held[i], &a);
    submit(n, w);
    struct kq_wl *kw = kq_wl(n->k, w->w.id);
    kq_dequeue(n->k, kw);
    kq_reserve(n->k, w->reserved_s * NAMED_S, kw, &a);
    kq_run_deferred(n->k, w->reserved_s * NAMED_S, &n->out);
    if (w->evicted)
        kq_mark_evicted(n->k, kw, 1000 * NAMED_S, POLICY_EVICT_IN_CLUSTER_QUEUE);
}

void named_start(struct named *n)
{
    char error[256];
    const struct policy_host host = {.abi = POLICY_ABI, .size = sizeof host, .ctx = n, .foreign_usage = foreign_usage};
    n->ops = policy_kueue();
    n->k = n->ops->create(&n->cfg, &host, error, sizeof error);
    if (n->k == NULL) {
        fprintf(stderr, "%s: %s\n", n->c->name, error);
        exit(99);
    }
    for (uint32_t i = 0; i < n->workloads.count; i++)
        if (n->workload[i].reserved_s >= 0)
            hold(n, &n->workload[i]);
    for (uint32_t i = 0; i < n->workloads.count; i++)
        if (n->workload[i].reserved_s < 0)
            submit(n, &n->workload[i]);
    n->out.count = 0;
}

void named_stop(struct named *n)
{
    n->ops->release_outputs(n->k);
    n->ops->destroy(n->k);
    free(n->out.items);
}

/* ---- what happened ---- */

static char *domains_text(struct named *n, const struct policy_assigned_set *s)
{
    struct facts list = {.mem = &n->mem};
    for (uint32_t d = 0; d < s->domain_count; d++) {
        char *text = arena_strdup(&n->mem, "");
        for (uint32_t i = 0; i < s->level_count; i++)
            text = arena_printf(&n->mem, "%s%s%s", text, i > 0 ? "/" : "", s->domains[d].values[i]);
        add_fact(&list, arena_printf(&n->mem, "%s=%lld", text, (long long)s->domains[d].count));
    }
    qsort(list.v, list.count, sizeof *list.v, by_text);
    char *all = arena_strdup(&n->mem, s->placed ? " on" : "");
    for (size_t i = 0; i < list.count; i++)
        all = arena_printf(&n->mem, "%s %s", all, list.v[i]);
    return all;
}

static char *choices_text(struct named *n, const struct policy_assigned_set *s)
{
    struct facts list = {.mem = &n->mem};
    for (uint32_t c = 0; c < s->choice_count; c++)
        add_fact(&list, arena_printf(&n->mem, "%s=%s", n->k->resources[s->choices[c].resource],
                                     n->flavors.v[s->choices[c].flavor]));
    qsort(list.v, list.count, sizeof *list.v, by_text);
    char *all = arena_strdup(&n->mem, "");
    for (size_t i = 0; i < list.count; i++)
        all = arena_printf(&n->mem, "%s %s", all, list.v[i]);
    return all;
}

static void note_outputs(struct named *n, struct facts *f)
{
    for (size_t i = 0; i < n->out.count; i++) {
        const struct policy_output *o = &n->out.items[i];
        const char *name = o->workload < n->workloads.count ? n->workloads.v[o->workload] : "";
        if (o->kind == POLICY_DO_EVICT)
            add_fact(f, arena_printf(&n->mem, "victim %s %s", name, policy_evict_reason_name(o->u.evict.reason)));
        if (o->kind != POLICY_DO_ADMIT)
            continue;
        for (uint32_t s = 0; s < o->u.entry->set_count; s++) {
            const struct policy_assigned_set *set = &o->u.entry->sets[s];
            add_fact(f, arena_printf(&n->mem, "admits %s %s %lld%s%s", name, set->name, (long long)set->count,
                                     choices_text(n, set), domains_text(n, set)));
        }
    }
    n->out.count = 0;
    n->ops->release_outputs(n->k);
}

static void note_places(struct named *n, struct facts *f)
{
    for (uint32_t i = 0; i < n->workloads.count; i++) {
        const enum policy_place p = n->ops->place(n->k, i);
        if (p == POLICY_PLACE_QUEUE || p == POLICY_PLACE_PARKED)
            add_fact(f, arena_printf(&n->mem, "%s %s", p == POLICY_PLACE_QUEUE ? "queued" : "parked",
                                     n->workloads.v[i]));
    }
}

/* ---- what is expected ---- */

/* "admits W SET COUNT resource=flavor:total... [on values=pods...]", without the totals. */
static char *admits_text(struct named *n, const struct named_line *l)
{
    struct facts list = {.mem = &n->mem};
    char *text = arena_printf(&n->mem, "admits %s %s %s", l->word[1], l->word[2], l->word[3]);
    int i = 4;
    for (; i < l->count && strcmp(l->word[i], "on") != 0; i++) {
        const char *colon = strrchr(l->word[i], ':');
        add_fact(&list, arena_strndup(&n->mem, l->word[i], (size_t)(colon - l->word[i])));
    }
    qsort(list.v, list.count, sizeof *list.v, by_text);
    for (size_t k = 0; k < list.count; k++)
        text = arena_printf(&n->mem, "%s %s", text, list.v[k]);
    if (i == l->count)
        return text;
    list.count = 0;
    for (i++; i < l->count; i++)
        add_fact(&list, l->word[i]);
    qsort(list.v, list.count, sizeof *list.v, by_text);
    text = arena_printf(&n->mem, "%s on", text);
    for (size_t k = 0; k < list.count; k++)
        text = arena_printf(&n->mem, "%s %s", text, list.v[k]);
    return text;
}

static void wanted_facts(struct named *n, struct facts *f, bool places)
{
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        const char *key = l->word[0];
        if (strcmp(key, "admits") == 0)
            add_fact(f, admits_text(n, l));
        else if (strcmp(key, "victim") == 0)
            add_fact(f, arena_printf(&n->mem, "victim %s %s", l->word[1], l->word[2]));
        else if (places && (strcmp(key, "queued") == 0 || strcmp(key, "parked") == 0))
            add_fact(f, arena_printf(&n->mem, "%s %s", key, l->word[1]));
    }
}

static bool has_line(const struct named *n, const char *key)
{
    for (size_t i = 0; i < n->c->count; i++)
        if (strcmp(n->c->lines[i].word[0], key) == 0)
            return true;
    return false;
}

/* Workloads that end after the first cycle, and the wake that follows; then two more cycles. */
static void delete_and_go_on(struct named *n)
{
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        if (strcmp(l->word[0], "delete") != 0)
            continue;
        const struct policy_input in = {.kind = POLICY_IN_WITHDRAW, .workload = named_id(&n->workloads, l->word[1])};
        n->ops->input(n->k, 1001 * NAMED_S, &in, &n->out);
    }
    n->ops->due(n->k, 1001 * NAMED_S, POLICY_DUE_WAKES, &n->out);
    n->ops->cycle(n->k, 1001 * NAMED_S, &n->out);
}

static int64_t total_count(const struct named *n)
{
    int64_t total = 0;
    for (size_t i = 0; i < n->out.count; i++)
        for (uint32_t s = 0; n->out.items[i].kind == POLICY_DO_ADMIT && s < n->out.items[i].u.entry->set_count; s++)
            total += n->out.items[i].u.entry->sets[s].count;
    return total;
}

/* "total W COUNT": pods admitted, of all pod sets. */
static const char *check_total(struct named *n)
{
    for (size_t i = 0; i < n->c->count; i++) {
        const struct named_line *l = &n->c->lines[i];
        if (strcmp(l->word[0], "total") == 0 && total_count(n) != strtoll(l->word[2], NULL, 10))
            return arena_printf(&n->mem, "\n  kueue: %s pods\n  ours:  %lld", l->word[2], (long long)total_count(n));
    }
    return NULL;
}

const char *named_play(struct named *n)
{
    struct facts ours = {.mem = &n->mem}, wanted = {.mem = &n->mem};
    const bool two = strcmp(n->c->test, "TestLastSchedulingContext") == 0;
    named_start(n);
    if (named_is_unit(n))
        return named_unit(n);
    const bool drain = strcmp(n->c->test, "TestScheduleForAFS") == 0; /* a cycle for each workload */
    for (uint32_t i = 0; i < (drain ? n->workloads.count : 1); i++)
        n->ops->cycle(n->k, 1000 * NAMED_S, &n->out);
    if (has_line(n, "total"))
        return check_total(n);
    note_outputs(n, &ours);
    if (two) {
        delete_and_go_on(n);
        note_outputs(n, &ours);
    }
    const bool places = !two && !drain && strcmp(n->c->test, "TestFindTopologyAssignments") != 0 && !has_line(n, "waits");
    if (places)
        note_places(n, &ours);
    wanted_facts(n, &wanted, places);
    return compare(&ours, &wanted);
}
