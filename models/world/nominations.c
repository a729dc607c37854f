/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/world/nominations.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/world/tables.h"
#include "sim/text.h"

enum { NAMED_MAX = 6 }; /* workloads, or queues, that a text names */

void nominations_fini(struct nominations *n)
{
    free(n->items);
    free(n->tries);
    free(n->filled_back);
    free(n->shares);
    free(n->kept_shares);
    free(n->spared);
    arena_fini(&n->names);
    *n = (struct nominations){0};
}

static void *copied(void *to, size_t *capacity, const void *from, size_t count, size_t size)
{
    to = mem_grow(to, capacity, count + 1, size);
    if (count > 0)
        memcpy(to, from, count * size);
    return to;
}

void nominations_hold(struct nominations *n, const struct policy_evaluation *e)
{
    n->held = true;
    n->workload = e->workload;
    n->tries = copied(n->tries, &n->try_capacity, e->tries, e->try_count, sizeof *n->tries);
    n->filled_back = copied(n->filled_back, &n->back_capacity, e->filled_back, e->filled_back_count,
                            sizeof *n->filled_back);
    n->shares = copied(n->shares, &n->share_capacity, e->shares, e->share_count, sizeof *n->shares);
    n->try_count = e->try_count;
    n->back_count = e->filled_back_count;
    n->share_count = e->share_count;
}

static const char *known(const char *name)
{
    return name == NULL ? "?" : name;
}

/* Names are kept as they are now: a host may give the number of a workload to another one later. */
static void keep_beside(struct nominations *n, const struct nomination_names *names, size_t row)
{
    n->kept_shares = mem_grow(n->kept_shares, &n->kept_share_capacity, n->kept_share_count + n->share_count,
                              sizeof *n->kept_shares);
    for (size_t i = 0; i < n->share_count; i++)
        n->kept_shares[n->kept_share_count++] =
            (struct nomination_share){row, arena_strdup(&n->names, known(names->queue(names->ctx, n->shares[i].cluster_queue))),
                                      n->shares[i].before, n->shares[i].after};
    n->spared = mem_grow(n->spared, &n->spared_capacity, n->spared_count + n->back_count, sizeof *n->spared);
    for (size_t i = 0; i < n->back_count; i++)
        n->spared[n->spared_count++] =
            (struct nomination_spared){row, arena_strdup(&n->names, known(names->workload(names->ctx, n->filled_back[i])))};
}

bool nominations_take(struct nominations *n, const struct nomination_names *names, uint32_t workload, size_t row)
{
    if (!n->held || n->workload != workload)
        return false;
    n->held = false;
    n->items = mem_grow(n->items, &n->capacity, n->count + n->try_count, sizeof *n->items);
    for (size_t i = 0; i < n->try_count; i++)
        n->items[n->count++] = (struct nomination){row, n->tries[i]};
    keep_beside(n, names, row);
    return true;
}

/* ---- text ---- */

static void share(struct text *t, double value)
{
    if (isinf(value))
        text_say(t, "beyond all (weight 0)");
    else
        text_say(t, "%" PRId64, (int64_t)value);
}

void nominations_text(const struct nominations *n, const struct nomination_names *names, char *text, size_t size)
{
    struct text t = {text, size, 0};
    text[0] = '\0';
    for (size_t i = 0; i < n->back_count && i < NAMED_MAX; i++)
        text_say(&t, "%s %s", i == 0 ? "; fill-back spared" : ",", known(names->workload(names->ctx, n->filled_back[i])));
    if (n->back_count > NAMED_MAX)
        text_say(&t, " and %zu more", n->back_count - NAMED_MAX);
    for (size_t i = 0; i < n->share_count && i < NAMED_MAX; i++) {
        text_say(&t, "%s %s ", i == 0 ? "; share of" : ", of", known(names->queue(names->ctx, n->shares[i].cluster_queue)));
        share(&t, n->shares[i].before);
        text_say(&t, " before, ");
        share(&t, n->shares[i].after);
        text_say(&t, " after");
    }
}

/* ---- rows ---- */

static struct record_value amount(int64_t v, double unit)
{
    return v == POLICY_UNLIMITED || v == POLICY_NIL ? rec_null() : rec_real((double)v / unit);
}

void nominations_emit(const struct nominations *n, const struct nomination_names *names, int64_t run_id,
                      const struct record_sink *sink)
{
    for (size_t i = 0, nth = 0; i < n->count; i++) {
        const struct policy_numbers *v = &n->items[i].tried.numbers;
        const double unit = names->unit(names->ctx, v->resource);
        nth = i > 0 && n->items[i].row == n->items[i - 1].row ? nth + 1 : 0;
        struct record_value row[] = {rec_int(run_id),
                                     rec_int((int64_t)n->items[i].row),
                                     rec_int((int64_t)nth),
                                     rec_text(known(names->flavor(names->ctx, v->flavor))),
                                     rec_text(known(names->resource(names->ctx, v->resource))),
                                     rec_text(policy_grade_name(n->items[i].tried.grade)),
                                     amount(v->requested, unit),
                                     amount(v->available, unit),
                                     amount(v->nominal, unit),
                                     amount(v->used, unit),
                                     amount(v->borrowing_limit, unit),
                                     amount(v->lending_limit, unit),
                                     amount(v->potential, unit),
                                     rec_int(v->level)};
        record_row(sink, &table_nomination, row);
    }
}

static struct record_value finite(double share)
{
    return isinf(share) ? rec_null() : rec_real(share);
}

void nominations_emit_beside(const struct nominations *n, int64_t run_id, const struct record_sink *sink)
{
    for (size_t i = 0, nth = 0; i < n->kept_share_count; i++) {
        const struct nomination_share *s = &n->kept_shares[i];
        nth = i > 0 && s->row == s[-1].row ? nth + 1 : 0;
        struct record_value row[] = {rec_int(run_id),    rec_int((int64_t)s->row), rec_int((int64_t)nth),
                                     rec_text(s->queue), finite(s->before),        finite(s->after)};
        record_row(sink, &table_decision_share, row);
    }
    for (size_t i = 0, nth = 0; i < n->spared_count; i++) {
        const struct nomination_spared *s = &n->spared[i];
        nth = i > 0 && s->row == s[-1].row ? nth + 1 : 0;
        struct record_value row[] = {rec_int(run_id), rec_int((int64_t)s->row), rec_int((int64_t)nth), rec_text(s->workload)};
        record_row(sink, &table_decision_spared, row);
    }
}
