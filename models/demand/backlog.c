/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/backlog.h"

#include <stdbool.h>

#include "sim/check.h"
#include "sim/dmath.h"

#define SAME_TIME_S 1e-6 /* far above the rounding of times, far below any step */

static double density(const struct cohort *c)
{
    return c->mass / (c->to_s - c->from_s);
}

static bool same(double x, double y)
{
    double d = x - y, size = x > y ? x : y;
    return d <= 1e-12 * size && d >= -1e-12 * size;
}

static void join(struct cohort *into, const struct cohort *next)
{
    double mass = into->mass + next->mass;
    into->tokens_in += (next->tokens_in - into->tokens_in) * (next->mass / mass);
    into->tokens_out += (next->tokens_out - into->tokens_out) * (next->mass / mass);
    into->mass = mass;
    into->to_s = next->to_s;
}

/* Moves the cohorts to the front; when still full, joins pairs of neighbours. */
static void make_room(struct backlog *b)
{
    for (int32_t i = 0; i < b->count; i++)
        b->items[i] = b->items[b->first + i];
    b->first = 0;
    if (b->count < BACKLOG_COHORTS)
        return;
    int32_t kept = 0;
    for (int32_t i = 0; i + 1 < b->count; i += 2) {
        join(&b->items[i], &b->items[i + 1]);
        b->items[kept++] = b->items[i];
    }
    b->count = kept;
}

void backlog_push(struct backlog *b, const struct cohort *c)
{
    if (!(c->mass > 0.0))
        return;
    if (b->count > 0) {
        struct cohort *last = &b->items[b->first + b->count - 1];
        if (last->to_s == c->from_s && same(density(last), density(c))
            && same(last->tokens_in, c->tokens_in) && same(last->tokens_out, c->tokens_out)) {
            join(last, c);
            return;
        }
    }
    if (b->first + b->count == BACKLOG_COHORTS)
        make_room(b);
    struct cohort *added = &b->items[b->first + b->count++];
    *added = *c;
    if (added->to_s - added->from_s < SAME_TIME_S) /* keeps densities finite */
        added->from_s = added->to_s - SAME_TIME_S;
}

double backlog_mass(const struct backlog *b)
{
    double mass = 0.0;
    for (int32_t i = 0; i < b->count; i++)
        mass += b->items[b->first + i].mass;
    return mass;
}

double backlog_tokens(const struct backlog *b)
{
    double tokens = 0.0;
    for (int32_t i = 0; i < b->count; i++) {
        const struct cohort *c = &b->items[b->first + i];
        tokens += c->mass * (c->tokens_in + c->tokens_out);
    }
    return tokens;
}

/*
 * The head of the queue moves along the axis of arrival times at speed capacity/density; its age
 * t - head is the wait. Age 0 with speed >= 1: nobody waits. Age = patience with speed < 1: the
 * head is carried on at speed 1 and what is not served is lost.
 */
struct stretch {
    double speed, length_s;
    bool losing, exhausts;
};

static struct stretch next_stretch(const struct cohort *h, double t, double to_s, double capacity,
                                   double patience_s)
{
    double age = t - h->from_s;
    struct stretch s = {.speed = capacity / density(h), .length_s = to_s - t};
    s.losing = s.speed < 1.0 && age >= patience_s - SAME_TIME_S;
    if (s.losing)
        s.speed = 1.0;
    double change = DM_INF; /* until age meets 0 or patience */
    if (s.speed > 1.0)
        change = age / (s.speed - 1.0);
    else if (s.speed < 1.0)
        change = (patience_s - age) / (1.0 - s.speed);
    if (change < s.length_s)
        s.length_s = change > 0.0 ? change : 0.0;
    double left_s = h->to_s - h->from_s;
    s.exhausts = left_s - s.speed * s.length_s <= SAME_TIME_S;
    if (s.exhausts && s.speed * s.length_s > left_s)
        s.length_s = left_s / s.speed;
    return s;
}

static void advance(struct backlog *b, const struct stretch *s, double t, double capacity,
                    backlog_book_fn book, void *ctx)
{
    struct cohort *h = &b->items[b->first];
    double full = density(h), age = t - h->from_s;
    double gone = s->exhausts ? h->mass : full * s->speed * s->length_s;
    double served = s->losing ? gone * (capacity / full) : gone;
    double age_to = age + s->length_s * (1.0 - s->speed);
    struct backlog_part part = {.served = served, .lost = gone - served,
                                .wait_from_s = age > 0.0 ? age : 0.0,
                                .wait_to_s = age_to > 0.0 ? age_to : 0.0,
                                .tokens_in = h->tokens_in, .tokens_out = h->tokens_out};
    if (gone > 0.0)
        book(ctx, &part);
    if (s->exhausts) {
        b->first++;
        b->count--;
        return;
    }
    h->mass -= gone;
    h->from_s += s->speed * s->length_s;
}

/* Nobody waits at t: what is left of the arrivals leaves the queue. */
static double release(struct backlog *b, double t, double to_s, double *rest)
{
    *rest = backlog_mass(b);
    b->count = 0;
    b->first = 0;
    return *rest > 0.0 ? t : to_s;
}

double backlog_serve(struct backlog *b, double from_s, double to_s, double capacity,
                     double patience_s, backlog_book_fn book, void *ctx, double *rest)
{
    double t = from_s;
    *rest = 0.0;
    for (int guard = 0; b->count > 0 && t < to_s - SAME_TIME_S; guard++) {
        REQUIRE(guard < 8 * BACKLOG_COHORTS);
        const struct cohort *h = &b->items[b->first];
        if (h->from_s > t) /* served up to a gap: the next arrivals are later */
            t = h->from_s;
        if (t - h->from_s <= SAME_TIME_S && capacity >= density(h) && h->to_s >= to_s - SAME_TIME_S)
            return release(b, t, to_s, rest);
        struct stretch s = next_stretch(h, t, to_s, capacity, patience_s);
        advance(b, &s, t, capacity, book, ctx);
        t += s.length_s;
    }
    if (b->count == 0)
        b->first = 0;
    return t < to_s - SAME_TIME_S ? t : to_s;
}
