/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/store/fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/store/store.h"
#include "models/world/tables.h"
#include "sim/arena.h"

#define FLEET 10000.0
#define BUCKETS 18
#define TEAMS_MAX 22
#define ROW(...) ((struct record_value[]){__VA_ARGS__})

enum { POOLS, COHORT, HYPERPOD, MANAGED };

static const char *const arbiter_names[] = {"pools", "cohort", "hyperpod", "managed"};
static const char *const team_names[TEAMS_MAX] = {
    "payments", "risk",       "r&d <quant>", "fraud",    "research",  "markets",  "credit", "treasury",
    "aml",      "kyc",        "search",      "chat",     "documents", "voice",    "fx",     "wealth",
    "insurance", "operations", "legal",       "security", "marketing", "platform"};
static const char *const buckets[BUCKETS] = {
    "serving",      "training_useful", "lora_useful",      "training_rework", "sharing_overhead",
    "serving_headroom", "starting",    "loading",          "gang_wait",       "input_wait",
    "checkpoint_stall", "draining",    "idle_reserved",    "idle_fragmented", "idle_quota",
    "idle_blocked", "idle_no_demand",  "offline"};

/* One instant of the crude balance. */
struct balance {
    double rate, wanted, replicas, training, pending, evictions, rework;
    double cards[BUCKETS];
};

struct writer {
    const struct fixture *fixture;
    struct store *store;
    struct record_sink sink;
    int arbiter, replication;
    int64_t run;
    uint64_t state; /* of the noise */
    double sums[BUCKETS];
    double evictions;
};

static double noise(struct writer *w) /* in [-1, 1) */
{
    uint64_t z = w->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) / 4503599627370496.0 - 1;
}

/* Requests per second at hour t: office hours on weekdays, a quiet night. */
static double traffic(double t_h)
{
    double hour = fmod(t_h, 24), day = fmod(floor(t_h / 24), 7);
    double office = 1 / (1 + exp(-(hour - 9) * 3)) - 1 / (1 + exp(-(hour - 18) * 1.2));
    double lunch = 0.18 * exp(-(hour - 12.5) * (hour - 12.5));
    return 900 + (day < 5 ? 5200 : 900) * (office - lunch);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void shared_balance(struct writer *w, struct balance *b, double t_h, double demand)
{
    double before = traffic(t_h - 0.25) * 0.72;
    b->wanted = b->rate * 0.72 * (w->arbiter == HYPERPOD ? 1.3 : 1.18) + 250;
    double grown = b->wanted - before * (w->arbiter == HYPERPOD ? 1.3 : 1.18) - 250;
    b->replicas = b->wanted - (grown > 0 ? 0.35 * grown : 0);
    b->training = least(demand, (FLEET - 420 - b->replicas) * (w->arbiter == HYPERPOD ? 0.9 : 0.985));
    b->evictions = grown > 150 ? floor(grown / 40) : 0;
    b->rework = b->evictions * 11.5;
}

static struct balance balance_at(struct writer *w, double t_h)
{
    struct balance b = {.rate = traffic(t_h) * (1 + 0.03 * noise(w))};
    double demand = 6100 + 900 * sin(t_h / 31) + 600 * sin(t_h / 9.7) + 150 * noise(w);
    if (w->arbiter == POOLS) {
        b.wanted = b.replicas = 5000;
        b.training = least(4000, 2450 + 0.12 * (demand - 6100));
    } else {
        shared_balance(w, &b, t_h, demand);
    }
    b.pending = demand > b.training ? demand - b.training : 0;
    double serving = least(b.rate * 0.62, b.replicas * 0.95), lora = 110, left;
    b.cards[0] = serving;
    b.cards[3] = least(b.rework, 0.05 * b.training);
    b.cards[1] = b.training * 0.95 - b.cards[3];
    b.cards[2] = lora;
    b.cards[4] = 12;
    b.cards[5] = (b.replicas - serving) * 0.93;
    b.cards[6] = (b.replicas - serving) * 0.04;
    b.cards[7] = (b.replicas - serving) * 0.03;
    b.cards[10] = b.training * 0.05;
    b.cards[17] = 60;
    left = FLEET - 12 - 60 - lora - b.replicas - b.training;
    b.cards[13] = left * 0.06;
    b.cards[w->arbiter == POOLS ? 14 : 15] = left * 0.5;
    b.cards[16] = left * 0.44;
    return b;
}

static void metric(struct writer *w, const char *kind, const char *scope, const char *name, double value)
{
    bool censored = strcmp(name, "training.wait.p95") == 0 && w->arbiter == POOLS;
    record_row(&w->sink, &table_metric,
               ROW(rec_int(w->run), rec_text(kind), rec_text(scope), rec_text(name), rec_real(value),
                   rec_int(censored)));
}

static void series(struct writer *w, const char *name, double t_s, double value)
{
    record_row(&w->sink, &table_series,
               ROW(rec_int(w->run), rec_text(name), rec_text(""), rec_real(t_s), rec_real(value)));
}

static void series_at(struct writer *w, const char *prefix, double t_s, const struct balance *b)
{
    const char *names[] = {"traffic.rate", "replicas.cards", "replicas.wanted_cards", "training.cards",
                           "pending.cards", "evictions", "rework.card_h"};
    double values[] = {b->rate, b->replicas, b->wanted, b->training, b->pending, b->evictions, b->rework};
    char name[64];
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        series(w, name, t_s, values[i]);
    }
}

static void ledger_row(struct writer *w, int period, int bucket, double card_s)
{
    const char *team = bucket >= 12 ? NULL : team_names[bucket % 4];
    record_row(&w->sink, &table_ledger,
               ROW(rec_int(w->run), rec_int(period), rec_text("h100-eu"), rec_text("reserved"),
                   rec_text(team), rec_text(team == NULL ? NULL : bucket % 2 ? "training" : "replica"),
                   rec_text(buckets[bucket]), rec_int((int64_t)card_s), rec_int(0)));
}

/* Hours of the run: sums for the metrics and, in replication 0, the series and the ledger. */
static void write_hours(struct writer *w)
{
    bool full = !w->fixture->bare;
    for (int day = 0; day < w->fixture->days; day++) {
        double daily[BUCKETS] = {0};
        for (int hour = 0; hour < 24; hour++) {
            double t_h = day * 24 + hour;
            struct balance b = balance_at(w, t_h + 0.5);
            w->evictions += b.evictions;
            for (int i = 0; i < BUCKETS; i++)
                daily[i] += b.cards[i] * 3600;
            if (!full || w->replication > 0 || w->arbiter == MANAGED)
                continue;
            char name[64];
            for (int i = 0; i < BUCKETS; i++) {
                snprintf(name, sizeof name, "cards.%s", buckets[i]);
                series(w, name, t_h * 3600, b.cards[i]);
            }
            series(w, "cards.capacity", t_h * 3600, FLEET);
            series_at(w, "", t_h * 3600, &b);
        }
        for (int i = 0; i < BUCKETS; i++) {
            w->sums[i] += daily[i];
            if (full && w->arbiter != MANAGED)
                ledger_row(w, day, i, daily[i]);
        }
    }
}

static void write_day(struct writer *w)
{
    if (w->replication > 0 || w->fixture->bare || w->arbiter == MANAGED)
        return;
    double lost = 0;
    for (int step = 0; step < 288; step++) {
        double t_h = 24 + step / 12.0;
        struct balance b = balance_at(w, t_h);
        b.evictions = b.evictions > 0 ? 1 + floor(b.evictions / 12) : 0;
        b.rework /= 12;
        lost += t_h >= 33 - 1e-9 && t_h < 34 - 1e-9 ? b.rework : 0;
        series_at(w, "day.", t_h * 3600, &b);
    }
    if (w->arbiter != POOLS)
        record_row(&w->sink, &table_event_of_note,
                   ROW(rec_int(w->run), rec_real(33.0 * 3600), rec_text("costliest_reclaim"),
                       rec_null(), rec_real(lost),
                       rec_text("card-hours of work lost to evictions within this hour")));
}

/* Median wait of the arbiter's jobs, in seconds. */
static double median_wait(const struct writer *w)
{
    static const double waits[] = {5400, 420, 1500, 240};
    return waits[w->arbiter] * (1 + (w->arbiter > 0 ? w->fixture->shift : 0));
}

static void write_histogram(struct writer *w)
{
    double spread = w->arbiter == POOLS ? 2.6 : 2.1, total = 26000;
    if (w->fixture->bare)
        return;
    record_row(&w->sink, &table_histogram,
               ROW(rec_int(w->run), rec_text("training.wait"), rec_text(""), rec_real(0), rec_real(1),
                   rec_real(total * 0.12)));
    for (int i = 0; i < 60; i++) {
        double lo = pow(10, i / 10.0), hi = pow(10, (i + 1) / 10.0);
        double z0 = log(lo / median_wait(w)) / spread, z1 = log(hi / median_wait(w)) / spread;
        double mass = 0.88 * total * 0.5 * (erf(z1 / sqrt(2)) - erf(z0 / sqrt(2)));
        record_row(&w->sink, &table_histogram,
                   ROW(rec_int(w->run), rec_text("training.wait"), rec_text(""), rec_real(lo), rec_real(hi),
                       rec_real(mass)));
    }
    if (w->arbiter == POOLS)
        record_row(&w->sink, &table_histogram,
                   ROW(rec_int(w->run), rec_text("training.wait"), rec_text(""), rec_real(672 * 3600.0),
                       rec_null(), rec_real(total * 0.03)));
}

static void write_figures(struct writer *w)
{
    double capacity = 0, share[BUCKETS], n = 1 + 0.01 * noise(w);
    bool cards = w->arbiter != MANAGED;
    for (int i = 0; i < BUCKETS; i++)
        capacity += i == 17 ? 0 : w->sums[i];
    for (int i = 0; i < BUCKETS; i++)
        share[i] = cards ? w->sums[i] / capacity : (double)NAN;
    double real = share[0] + share[1] + share[2] + share[3] + share[4];
    double usd = (cards ? 43.1e6 : 61.4e6) * w->fixture->days / 28, hours = capacity / 3600;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"demand.offered", 0.781 * n},
        {"utilization.allocated", cards ? 1 - share[13] - share[14] - share[15] - share[16] : (double)NAN},
        {"utilization.real", real},
        {"utilization.useful", real - share[3] - share[4]},
        {"utilization.work", 0.8 * real},
        {"idle.no_demand", share[16]},
        {"idle.quota", share[14]},
        {"idle.blocked", share[15]},
        {"idle.fragmented", share[13]},
        {"idle.reserved", share[12]},
        {"training.wait.p50", median_wait(w) * n},
        {"training.wait.p95", median_wait(w) * 31 * n},
        {"training.unfinished", (cards ? 120000 - 30000.0 * w->arbiter : 0) * n},
        {"training.rework", w->sums[3] / 3600},
        {"training.lost", w->sums[3] / 3600 * 1.04},
        {"training.preemptions", w->evictions},
        {"inference.latency.p50", (w->arbiter == POOLS ? 0.81 : 0.93) * n},
        {"inference.latency.p99", (w->arbiter == POOLS ? 2.4 : 6.3) * n},
        {"inference.slo_attainment", (w->arbiter == POOLS ? 0.9991 : 0.9962)},
        {"inference.cold_starts", w->arbiter == POOLS ? 0 : cards ? 18211 * n : (double)NAN},
        {"cost.total", usd},
        {"cost.per_million_tokens", (w->arbiter == POOLS ? 1.91 : 1.22) * n},
        {"cost.per_useful_card_hour", cards ? usd / ((real - share[3] - share[4]) * hours) : (double)NAN},
        {"managed.throttled", cards ? (double)NAN : 0.013 * n},
    };
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        metric(w, "all", "", figures[i].name, figures[i].value);
}

static void write_team(struct writer *w, int team)
{
    const char *name = team_names[team];
    double quota = 80 + 37 * ((team * 7) % 22), load = 0.3 + 0.11 * ((team * 5) % 11);
    bool shared = w->arbiter == COHORT || w->arbiter == HYPERPOD;
    double wait = median_wait(w) * (load > 1 ? load * load : load), hurt = shared && load < 0.5 ? 5 : 1;
    double used = shared ? quota * load : least(quota, quota * load), n = 1 + 0.02 * noise(w);
    bool cards = w->arbiter != MANAGED;
    metric(w, "team", name, "quota.nominal", cards ? quota : (double)NAN);
    metric(w, "team", name, "quota.used", cards ? used * n : (double)NAN);
    metric(w, "team", name, "quota.lent", shared && load < 1 ? quota * (1 - load) * 0.6 : 0);
    metric(w, "team", name, "quota.borrowed", shared && load > 1 ? quota * (load - 1) : 0);
    metric(w, "team", name, "training.wait.p50", wait * n);
    metric(w, "team", name, "training.wait.p95", wait * (shared ? 14 * hurt : 12) * n);
    metric(w, "team", name, "training.unfinished", load > 1 && !shared ? 9000 * load : 0);
    metric(w, "team", name, "training.evictions", shared ? floor(40 * load * (1 + noise(w) / 5)) : 0);
    metric(w, "team", name, "training.rework", shared ? 310 * load * n : 0);
    metric(w, "team", name, "cost.total", 5600.0 * used);
    metric(w, "team", name, "inference.slo_attainment", team % 3 ? (double)NAN : 0.998);
}

static void write_places(struct writer *w)
{
    static const char *const pools[] = {"h100-eu", "a100-eu", "l40s-eu", "h200-us"};
    static const char *const services[] = {"chat-70b", "search-embed", "fraud-score", "voice-asr"};
    for (int i = 0; i < 4; i++) {
        double n = 1 + 0.01 * noise(w), up = w->arbiter == POOLS ? 0.37 : 0.62;
        metric(w, "node_pool", pools[i], "utilization.allocated", (up + 0.3) * n);
        metric(w, "node_pool", pools[i], "utilization.real", (up + 0.02 * i) * n);
        metric(w, "node_pool", pools[i], "utilization.useful", (up + 0.02 * i - 0.01) * n);
        metric(w, "node_pool", pools[i], "idle.no_demand", 0.1 * n);
        metric(w, "service", services[i], "inference.latency.p50", (0.2 + 0.3 * i) * n);
        metric(w, "service", services[i], "inference.latency.p99", (w->arbiter ? 3 : 1.2) * (0.9 + i) * n);
        metric(w, "service", services[i], "inference.slo_attainment", w->arbiter ? 0.996 : 0.9993);
        metric(w, "service", services[i], "replicas.mean", (w->arbiter ? 38 : 120) * n);
    }
}

static void write_money(struct writer *w)
{
    static const struct {
        const char *pool, *item;
        double share[2]; /* fleet, managed */
    } items[] = {{"h100-eu", "nodes", {0.71, 0}}, {"a100-eu", "nodes", {0.2, 0}},
                 {NULL, "engineers", {0.09, 0.05}},{NULL, "tokens", {0, 0.58}},        {NULL, "jobs", {0, 0.37}}};
    double usd = (w->arbiter == MANAGED ? 61.4e6 : 43.1e6) * w->fixture->days / 28;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        double share = items[i].share[w->arbiter == MANAGED];
        if (share > 0)
            record_row(&w->sink, &table_cost,
                       ROW(rec_int(w->run), rec_text(items[i].pool),
                           rec_text(items[i].pool == NULL ? NULL : "reserved"), rec_null(),
                           rec_text(items[i].item), rec_int((int64_t)(usd * share * 1e6))));
    }
}

static void write_rest(struct writer *w)
{
    static const char *const reasons[] = {"quota: available 3 of 8; borrowingLimit 4", "admitted"};
    record_row(&w->sink, &table_assumption,
               ROW(rec_int(w->run), rec_text("checkpoint interval"), rec_text("30min"),
                   rec_text("published survey of training jobs"), rec_text("B"), rec_real(0.47)));
    record_row(&w->sink, &table_assumption,
               ROW(rec_int(w->run), rec_text("image pull bandwidth"), rec_text("2 GB/s"),
                   rec_text("our own guess"), rec_text("A"), rec_real(0.06)));
    for (int i = 0; i < 2 && !w->fixture->bare; i++)
        record_row(&w->sink, &table_decision,
                   ROW(rec_int(w->run), rec_int(1000000000 * (int64_t)(i + 1)), rec_int(i),
                       rec_text("job-17"), rec_text("research"), rec_text(i == 0 ? "refuse" : "admit"),
                       rec_text(i == 0 ? "quota" : "fits"), rec_text(reasons[i]), rec_int(40 - 39 * i)));
    for (int i = 0; i < 3 && !w->fixture->bare; i++)
        record_row(&w->sink, &table_workload,
                   ROW(rec_int(w->run), rec_text(i == 0 ? "job-17" : i == 1 ? "job-18" : "job-19"),
                       rec_text("training"), rec_text("research"), rec_text("research"), rec_int(0), rec_int(4),
                       rec_int(32000), rec_real(0), i < 2 ? rec_real(2.0 + i) : rec_null(), rec_null(),
                       rec_real(1e5), rec_real(2e4), rec_int(i), rec_real(120.0 * i), rec_text("quota")));
}

static void write_run(struct writer *w)
{
    static const char text[] = "name: bank-10k\nseed: 42\n";
    static const struct store_input inputs[] = {{"jobs.csv", 0x1234}};
    const struct fixture *f = w->fixture;
    w->run = w->arbiter * f->replications + w->replication;
    w->state = (uint64_t)w->run * 977 + 1;
    w->sink = store_sink(w->store);
    memset(w->sums, 0, sizeof w->sums);
    w->evictions = 0;
    struct store_run run = {w->run, w->arbiter, arbiter_names[w->arbiter], arbiter_names[w->arbiter],
                            w->replication, 42, f->days * 86400.0, "bank-10k", text, 0xabcdef,
                            f->demand_hash, inputs, 1, f->wall_s, "0.1.0-test", "host-a"};
    store_add_run(w->store, &run);
    store_param(w->store, w->run, "fleet.cards", "10000");
    if (f->backwards) {
        write_money(w);
        write_histogram(w);
    }
    write_hours(w);
    write_figures(w);
    for (int team = 0; team < f->teams; team++)
        write_team(w, team);
    write_places(w);
    write_day(w);
    write_rest(w);
    if (!f->backwards) {
        write_money(w);
        write_histogram(w);
    }
}

struct fixture fixture_default(void)
{
    return (struct fixture){.arbiters = 4, .replications = 4, .days = 28, .teams = TEAMS_MAX,
                            .demand_hash = 0xd00d};
}

bool fixture_write(const char *path, const struct fixture *fixture, struct err *err)
{
    struct writer w = {.fixture = fixture, .store = store_create(path, world_tables, err)};
    if (w.store == NULL)
        return false;
    int runs = fixture->arbiters * fixture->replications;
    for (int i = 0; i < runs; i++) {
        int at = fixture->backwards ? runs - 1 - i : i;
        w.arbiter = at / fixture->replications;
        w.replication = at % fixture->replications;
        write_run(&w);
    }
    return store_commit(w.store, err);
}
