/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/policies/kueue/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dmath.h"

enum { NANO = 1000000000, NANO_PER_MILLI = 1000000, LIMBS = 8, LIMB = 1000000000 };

/* Amounts here are exact decimals with nine places, as the real quantities are: nano-cores,
 * nano-bytes, nano-pieces. */
struct kq_lq_usage {
    int64_t last_ns;
    bool sampled;
    uint32_t resource_count;
    __extension__ __int128 *consumed, *penalty, *admitted;
};

__extension__ typedef __int128 wide;

struct kq_lq_usage *kq_usage_create(const struct kq *k, const struct policy_local_queue *q)
{
    const size_t n = k->resource_count;
    struct kq_lq_usage *u = mem_zalloc(1, sizeof *u + 15 + 3 * n * sizeof(wide));
    uintptr_t at = ((uintptr_t)(u + 1) + 15) & ~(uintptr_t)15;
    u->resource_count = k->resource_count;
    u->consumed = (wide *)at;
    u->penalty = u->consumed + n;
    u->admitted = u->penalty + n;
    for (uint32_t i = 0; i < q->consumed_count; i++)
        u->consumed[q->consumed[i].resource] = (wide)(q->consumed[i].consumed * 1e9 + 0.5);
    return u;
}

/* ---- factor times amount: exact, then cut after nine decimals ---- */

struct factor { /* digits * 10^-places */
    uint64_t digits;
    int places;
};

/* The shortest decimal that reads back as the same double. */
static struct factor shortest(double x)
{
    char text[40];
    struct factor f = {0, 0};
    if (!(x > 0.0))
        return f;
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, x);
        if (strtod(text, NULL) == x)
            break;
    }
    int digits = 0;
    const char *c = text;
    for (; *c != 'e'; c++)
        if (*c != '.') {
            f.digits = f.digits * 10 + (uint64_t)(*c - '0');
            digits++;
        }
    f.places = digits - 1 - (int)strtol(c + 1, NULL, 10);
    return f;
}

static int to_limbs(wide v, uint32_t *limbs)
{
    int n = 0;
    for (; v > 0; v /= LIMB)
        limbs[n++] = (uint32_t)(v % LIMB);
    return n;
}

static uint32_t power10(int n)
{
    uint32_t p = 1;
    while (n-- > 0)
        p *= 10;
    return p;
}

static wide times(wide amount, struct factor f)
{
    uint32_t a[LIMBS] = {0}, b[LIMBS] = {0}, p[2 * LIMBS + 1] = {0};
    const int na = to_limbs(amount, a), nb = to_limbs((wide)f.digits, b);
    for (int i = 0; i < na; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < nb || carry > 0; j++) {
            const uint64_t v = p[i + j] + (uint64_t)a[i] * (j < nb ? b[j] : 0) + carry;
            p[i + j] = (uint32_t)(v % LIMB);
            carry = v / LIMB;
        }
    }
    int skip = f.places / 9;
    const uint32_t rest = power10(f.places > 0 ? f.places % 9 : 0);
    wide result = 0;
    for (int i = 2 * LIMBS; i >= (skip < 0 ? 0 : skip) && skip <= 2 * LIMBS; i--)
        result = result * LIMB + p[i];
    return result / rest;
}

/* ---- decay ---- */

static double alpha(const struct kq *k, int64_t t_ns)
{
    const int64_t half = k->cfg.admission_fair_sharing.half_life_ns;
    if (half <= 0)
        return 0.0;
    return 1.0 - dm_pow(0.5, ((double)t_ns / 1e9) / ((double)half / 1e9));
}

static void decay(struct kq *k, struct kq_lq_usage *u, int64_t now)
{
    /* What a queue begins with does not decay before its first sample, as after a restart. */
    const double a = alpha(k, u->sampled ? now - u->last_ns : 0);
    const struct factor keep = shortest(1.0 - a), take = shortest(a);
    const bool off = k->cfg.admission_fair_sharing.half_life_ns <= 0;
    for (uint32_t r = 0; r < u->resource_count; r++) {
        if (u->consumed[r] == 0 && u->admitted[r] == 0)
            continue;
        u->consumed[r] =
            off ? 0 : times(u->consumed[r], keep) + times(u->admitted[r], take);
    }
    u->last_ns = now;
}

/* ---- usage of a workload ---- */

static wide in_nano(const struct kq *k, uint32_t resource, int64_t amount)
{
    return (wide)amount * (resource == k->cpu_resource ? NANO_PER_MILLI : NANO);
}

static void add_penalty(struct kq *k, const struct kq_wl *w, wide *to, int sign)
{
    const struct factor f = shortest(alpha(k, k->cfg.admission_fair_sharing.sampling_ns));
    for (size_t i = 0; i < w->use_count; i++) {
        wide total = in_nano(k, w->use[i].resource, w->use[i].amount);
        bool first = true;
        for (size_t j = 0; j < w->use_count; j++) {
            if (j == i || w->use[j].resource != w->use[i].resource)
                continue;
            first &= j > i;
            total += in_nano(k, w->use[j].resource, w->use[j].amount);
        }
        if (first) /* the resource on all its flavors, once */
            to[w->use[i].resource] += sign * times(total, f);
    }
}

void kq_usage_live(struct kq *k, const struct kq_wl *w, int sign)
{
    struct kq_lq_usage *u = k->lqs[w->lq].usage;
    for (size_t i = 0; i < w->use_count; i++)
        u->admitted[w->use[i].resource] +=
            sign * in_nano(k, w->use[i].resource, w->use[i].amount);
}

void kq_usage_reserved(struct kq *k, struct kq_wl *w)
{
    kq_usage_live(k, w, 1);
    if (!k->cqs[w->cq]->usage_order || w->penalty)
        return;
    w->penalty = true;
    add_penalty(k, w, k->lqs[w->lq].usage->penalty, 1);
}

void kq_usage_drop(struct kq *k, struct kq_wl *w)
{
    if (!w->penalty)
        return;
    w->penalty = false;
    add_penalty(k, w, k->lqs[w->lq].usage->penalty, -1);
}

void kq_usage_settle(struct kq *k, int64_t now, struct kq_wl *w)
{
    struct kq_lq_usage *u = k->lqs[w->lq].usage;
    if (!w->penalty)
        return;
    decay(k, u, now);
    add_penalty(k, w, u->consumed, 1);
    kq_usage_drop(k, w);
}

double kq_usage_of(const struct kq *k, uint32_t lq)
{
    const struct kq_lq_usage *u = k->lqs[lq].usage;
    const double *weights = k->resource_weights;
    double sum = 0.0;
    for (uint32_t r = 0; r < u->resource_count; r++) {
        const wide v = u->consumed[r] + u->penalty[r];
        if (v != 0)
            sum += weights[r] * ((double)v / 1e9);
    }
    const double weight = k->lqs[lq].spec.weight;
    return weight <= 0.0 ? 1.0 / 0.0 : sum / weight;
}

/* ---- samples ---- */

static int64_t due_at(const struct kq *k, const struct kq_lq_usage *u)
{
    return u->sampled ? u->last_ns + k->cfg.admission_fair_sharing.sampling_ns : u->last_ns;
}

static void say_usage(struct kq *k, uint32_t lq, int64_t now, struct policy_outputs *out)
{
    const struct kq_lq_usage *u = k->lqs[lq].usage;
    struct policy_usage_amount *amounts = kq_bump_alloc(&k->bump, u->resource_count, sizeof *amounts);
    struct policy_output *o = kq_say(out, POLICY_SAY_USAGE, POLICY_NONE, now);
    o->u.usage.local_queue = lq;
    o->u.usage.amounts = amounts;
    for (uint32_t r = 0; r < u->resource_count; r++)
        if (u->consumed[r] != 0)
            amounts[o->u.usage.count++] =
                (struct policy_usage_amount){r, (double)u->consumed[r] / 1e9};
}

bool kq_usage_sample(struct kq *k, int64_t now, struct policy_outputs *out)
{
    bool any = false;
    for (size_t i = 0; k->afs && i < k->lq_order.count; i++) {
        struct kq_lq_usage *u = k->lqs[k->lq_order.v[i]].usage;
        if (!k->lqs[k->lq_order.v[i]].exists || due_at(k, u) > now)
            continue;
        any = true;
        decay(k, u, now);
        u->sampled = true;
        say_usage(k, k->lq_order.v[i], now, out);
    }
    return any;
}

int64_t kq_usage_next(const struct kq *k)
{
    int64_t next = POLICY_NEVER;
    for (size_t i = 0; k->afs && i < k->lq_order.count; i++) {
        const struct kq_lq *q = &k->lqs[k->lq_order.v[i]];
        if (q->exists && due_at(k, q->usage) < next)
            next = due_at(k, q->usage);
    }
    return next;
}
