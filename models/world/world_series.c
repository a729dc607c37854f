/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values over time, for pictures: sampled at every traffic step (fine), and the mean cards of each
 * ledger bucket per hour. Kept in arrays sized by the horizon; written at the end, because the day
 * worth a close look is known only then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/world/tables.h"
#include "models/world/world_priv.h"

#define SERIES_STEPS_MAX 1000 /* rows of one series in the database (design, section 7) */

enum fine { FINE_RATE, FINE_READY, FINE_WANTED, FINE_TRAINING, FINE_PENDING, FINE_EVICTIONS, FINE_LOST,
            FINE_COUNT };
static const char *const fine_names[FINE_COUNT] = {
    "traffic.rate", "replicas.cards", "replicas.wanted_cards", "training.cards",
    "pending.cards", "evictions", "rework.card_h"};
static const bool fine_is_sum[FINE_COUNT] = {[FINE_EVICTIONS] = true, [FINE_LOST] = true};

struct series {
    sim_time step;
    size_t slots, hours, hour;
    double *fine[FINE_COUNT];
    double *bucket[LEDGER_BUCKET_COUNT]; /* mean cards in each hour */
    i128 before[LEDGER_BUCKET_COUNT];    /* cumulated at the last hour */
    i128 idle_days[LEDGER_BUCKET_COUNT]; /* idle buckets: days that are over */
    int64_t day;
    bool on;
};

struct series *series_create(const struct world *w)
{
    struct series *s = mem_zalloc(1, sizeof *s);
    s->on = w->opt.level != RECORD_LEVEL_SUMMARY && w->opt.replication == 0;
    s->step = w->s->demand.traffic_step > 0 ? w->s->demand.traffic_step : SIM_HOUR;
    s->slots = (size_t)(w->s->horizon / s->step) + 2;
    s->hours = (size_t)(w->s->horizon / SIM_HOUR) + 2;
    for (int i = 0; i < FINE_COUNT; i++)
        s->fine[i] = mem_zalloc(s->slots, sizeof(double));
    for (int b = 0; s->on && b < LEDGER_BUCKET_COUNT; b++)
        s->bucket[b] = mem_zalloc(s->hours, sizeof(double));
    return s;
}

void series_destroy(struct series *s)
{
    if (s == NULL)
        return;
    for (int i = 0; i < FINE_COUNT; i++)
        free(s->fine[i]);
    for (int b = 0; b < LEDGER_BUCKET_COUNT; b++)
        free(s->bucket[b]);
    free(s);
}

static size_t slot_of(const struct world *w)
{
    size_t k = (size_t)(w->now / w->series->step);
    return k < w->series->slots ? k : w->series->slots - 1;
}

void series_step(struct world *w)
{
    struct series *s = w->series;
    size_t k = slot_of(w);
    double rate = 0, wanted = 0;
    for (int32_t i = 0; i < w->s->demand.service_count; i++) {
        const struct service_config *c = w->services[i].cfg;
        rate += w->services[i].point.rate_per_s;
        wanted += w->services[i].wanted * (c->share_milli > 0 && c->share_milli < 1000
                                               ? c->share_milli / 1000.0
                                               : c->cards_per_replica);
    }
    s->fine[FINE_RATE][k] = rate;
    s->fine[FINE_WANTED][k] = wanted;
    s->fine[FINE_READY][k] = (double)w->held_milli[WL_REPLICA] / 1000.0;
    s->fine[FINE_TRAINING][k] = (double)(w->held_milli[WL_JOB] + w->held_milli[WL_POD]) / 1000.0;
    s->fine[FINE_PENDING][k] = (double)w->pending_milli / 1000.0;
}

void series_eviction(struct world *w, double lost_card_h)
{
    w->series->fine[FINE_EVICTIONS][slot_of(w)] += 1;
    w->series->fine[FINE_LOST][slot_of(w)] += lost_card_h;
}

static bool is_rate_bucket(int b)
{
    return b < LEDGER_FIRST_BOOKED;
}

static i128 cumulated(struct world *w, int b, int64_t day)
{
    if (!is_rate_bucket(b))
        return w->total[b];
    struct ledger_query q = {.pool = LEDGER_ANY,
                             .team = LEDGER_NO_TEAM,
                             .workload_class = LEDGER_CLASS_NONE,
                             .bucket = b,
                             .period = day};
    return w->series->idle_days[b] + ledger_sum(w->ledger, q);
}

/* Closes the hour that ends now; all segments are settled. */
void series_hour(struct world *w)
{
    struct series *s = w->series;
    if (!s->on || s->hour >= s->hours || w->now == 0)
        return;
    for (int32_t p = 0; p < w->s->fleet.pool_count; p++)
        ledger_alloc_change(w->ledger, w->now, (uint32_t)p, 0);
    int64_t day = (w->now - 1) / SIM_DAY;
    sim_time begun = (sim_time)s->hour * SIM_HOUR;
    for (int b = 0; b < LEDGER_BUCKET_COUNT; b++) {
        i128 c = cumulated(w, b, day);
        s->bucket[b][s->hour] = (double)(c - s->before[b]) / 1000.0 / (double)(w->now - begun);
        s->before[b] = c;
        if (is_rate_bucket(b) && w->now % SIM_DAY == 0)
            s->idle_days[b] = c;
    }
    s->hour++;
}

/* ---- writing ---- */

static void emit(struct world *w, const char *name, double t_s, double value)
{
    struct record_value v[] = {rec_int(w->opt.run_id), rec_text(name), rec_text(""), rec_real(t_s),
                               rec_real(value)};
    record_row(&w->opt.sink, &table_series, v);
}

/* values[from..to) in at most `most` rows of equal length; means, or sums when is_sum. */
static void emit_range(struct world *w, const char *name, const double *values, size_t from,
                       size_t to, double step_s, size_t most, bool is_sum)
{
    size_t group = (to - from + most - 1) / most;
    for (size_t i = from; group > 0 && i < to; i += group) {
        double sum = 0;
        size_t n = 0;
        for (; n < group && i + n < to; n++)
            sum += values[i + n];
        emit(w, name, (double)i * step_s, is_sum ? sum : sum / (double)n);
    }
}

static void emit_month(struct world *w)
{
    struct series *s = w->series;
    char name[64];
    for (int b = 0; b < LEDGER_BUCKET_COUNT; b++) {
        (void)snprintf(name, sizeof name, "cards.%s", ledger_bucket_name((enum ledger_bucket)b));
        emit_range(w, name, s->bucket[b], 0, s->hour, 3600.0, SERIES_STEPS_MAX, false);
    }
    size_t slots = (size_t)((w->s->horizon + s->step - 1) / s->step);
    for (int i = 0; i < FINE_COUNT; i++)
        emit_range(w, fine_names[i], s->fine[i], 0, slots, sim_time_seconds(s->step),
                   SERIES_STEPS_MAX, fine_is_sum[i]);
}

/* First slot of the hour that lost most work, or of the busiest hour when nothing was lost. */
static size_t hour_of_note(const struct series *s, double *lost)
{
    size_t per_hour = (size_t)(SIM_HOUR / s->step), best = 0;
    if (per_hour == 0)
        per_hour = 1;
    double top = 0, busiest = -1;
    *lost = 0;
    for (size_t i = 0; i + per_hour <= s->slots; i += per_hour) {
        double l = 0, r = 0;
        for (size_t k = 0; k < per_hour; k++) {
            l += s->fine[FINE_LOST][i + k];
            r += s->fine[FINE_RATE][i + k];
        }
        if (l > top || (top <= 0 && r > busiest)) {
            best = i;
            top = l > top ? l : top;
            busiest = r;
        }
    }
    *lost = top;
    return best;
}

static void emit_day(struct world *w)
{
    struct series *s = w->series;
    double lost;
    size_t at = hour_of_note(s, &lost);
    size_t per_day = (size_t)(SIM_DAY / s->step);
    if (per_day == 0)
        return;
    size_t from = at / per_day * per_day, slots = (size_t)((w->s->horizon + s->step - 1) / s->step);
    size_t to = from + per_day < slots ? from + per_day : slots;
    char name[64];
    for (int i = 0; i < FINE_COUNT; i++) {
        (void)snprintf(name, sizeof name, "day.%s", fine_names[i]);
        emit_range(w, name, s->fine[i], from, to, sim_time_seconds(s->step), SERIES_STEPS_MAX,
                   fine_is_sum[i]);
    }
    if (lost <= 0)
        return;
    struct record_value v[] = {rec_int(w->opt.run_id),
                               rec_real((double)at * sim_time_seconds(s->step)),
                               rec_text("costliest_reclaim"),
                               rec_null(),
                               rec_real(lost),
                               rec_text("card-hours of work lost to evictions within this hour")};
    record_row(&w->opt.sink, &table_event_of_note, v);
}

void series_emit(struct world *w)
{
    if (!w->series->on)
        return;
    emit_month(w);
    emit_day(w);
}
