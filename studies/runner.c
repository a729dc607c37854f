/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/runner.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/store/store.h"
#include "models/world/tables.h"
#include "models/world/world.h"
#include "sim/check.h"
#include "sim/record.h"
#include "studies/progress.h"

enum slot_state { SLOT_WAITING, SLOT_DONE, SLOT_FAILED };

struct slot { /* one run; written by one worker, read after its state changed */
    struct record_log *log;
    struct world_outcome outcome;
    struct err err;
    double wall_s;
    _Atomic int64_t progress_ns;
    enum slot_state state;
};

struct runner {
    const struct scenario *s;
    const struct runner_options *opt;
    struct slot *slots;
    int run_count, next; /* next is taken under the lock */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

/* Runs are numbered by (arbiter, replication); they start replication by replication. */
static int arbiter_of(const struct runner *r, int order)
{
    return order % r->s->arbiter_count;
}

static int replication_of(const struct runner *r, int order)
{
    return order / r->s->arbiter_count;
}

static int64_t run_id_of(const struct runner *r, int order)
{
    return (int64_t)arbiter_of(r, order) * r->s->replications + replication_of(r, order) + 1;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run_one(struct runner *r, int order)
{
    struct slot *slot = &r->slots[order];
    int replication = replication_of(r, order);
    enum record_level level = r->opt->level;
    if (replication > 0 && level == RECORD_LEVEL_SERIES)
        level = RECORD_LEVEL_SUMMARY;
    slot->log = record_log_create();
    struct world_options wo = {.arbiter = arbiter_of(r, order),
                               .replication = (uint32_t)replication,
                               .run_id = run_id_of(r, order),
                               .level = level,
                               .sink = record_log_sink(slot->log),
                               .progress_ns = &slot->progress_ns,
                               .stop = &r->stop};
    double begun = seconds_now();
    bool ok = world_run(r->s, &wo, &slot->outcome, &slot->err);
    slot->wall_s = seconds_now() - begun;
    pthread_mutex_lock(&r->lock);
    slot->state = ok ? SLOT_DONE : SLOT_FAILED;
    if (!ok)
        atomic_store(&r->stop, true);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static void *worker(void *arg)
{
    struct runner *r = arg;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        int order = atomic_load(&r->stop) || r->next >= r->run_count ? -1 : r->next++;
        pthread_mutex_unlock(&r->lock);
        if (order < 0)
            return NULL;
        run_one(r, order);
    }
}

/* ---- writing ---- */

static void add_run(struct store *store, const struct runner *r, int order)
{
    const struct slot *slot = &r->slots[order];
    const struct arbiter_config *arb = &r->s->arbiters[arbiter_of(r, order)];
    struct store_input *inputs = mem_zalloc((size_t)r->s->input_count + 1, sizeof *inputs);
    for (int32_t i = 0; i < r->s->input_count; i++)
        inputs[i] = (struct store_input){r->s->input_files[i], r->s->input_hashes[i]};
    char host[128] = "";
    (void)gethostname(host, sizeof host - 1);
    struct store_run run = {.run = run_id_of(r, order),
                            .arbiter_ix = arbiter_of(r, order),
                            .arbiter = arb->name,
                            .preset = arbiter_preset_name(arb->preset),
                            .replication = replication_of(r, order),
                            .seed = r->s->seed,
                            .horizon_s = sim_time_seconds(r->s->horizon),
                            .scenario_name = r->s->name,
                            .scenario_text = r->s->text,
                            .scenario_hash = r->s->text_hash,
                            .demand_hash = slot->outcome.demand_hash,
                            .inputs = inputs,
                            .input_count = (size_t)r->s->input_count,
                            .wall_s = slot->wall_s,
                            .version = FLEETSIM_VERSION,
                            .host = host};
    store_add_run(store, &run);
    free(inputs);
}

/* Order in which rows go into the database: by run id. */
static int order_of_run(const struct runner *r, int run)
{
    int arbiter = run / r->s->replications, replication = run % r->s->replications;
    return replication * r->s->arbiter_count + arbiter;
}

static bool outside_stop(const struct runner *r)
{
    return r->opt->stop != NULL && atomic_load(r->opt->stop);
}

/* Waits until run `order` is over; false when it failed or will never run. */
static bool wait_for(struct runner *r, int order, struct progress *bar)
{
    struct slot *slot = &r->slots[order];
    bool done = false, over = false;
    while (!over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 250000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&r->lock);
        if (slot->state == SLOT_WAITING && !(atomic_load(&r->stop) && order >= r->next))
            (void)pthread_cond_timedwait(&r->changed, &r->lock, &until);
        done = slot->state == SLOT_DONE;
        over = slot->state != SLOT_WAITING || (atomic_load(&r->stop) && order >= r->next);
        pthread_mutex_unlock(&r->lock);
        if (outside_stop(r))
            atomic_store(&r->stop, true);
        int64_t sum = 0;
        for (int i = 0; i < r->run_count; i++)
            sum += atomic_load_explicit(&r->slots[i].progress_ns, memory_order_relaxed) / r->run_count;
        progress_show(bar, (double)sum / (double)r->s->horizon);
    }
    return done;
}

static bool write_run(struct runner *r, struct store *store, int order, struct runner_result *result)
{
    struct slot *slot = &r->slots[order];
    add_run(store, r, order);
    struct record_sink sink = store_sink(store);
    record_log_replay(slot->log, &sink);
    record_log_destroy(slot->log);
    slot->log = NULL;
    result->runs++;
    result->events += slot->outcome.events;
    result->loops |= slot->outcome.loops;
    return !store_failed(store, NULL);
}

/* Writes finished runs in order; returns how many. */
static int collect(struct runner *r, struct store *store, struct runner_result *result)
{
    struct progress bar;
    progress_begin(&bar, r->opt->progress, r->run_count);
    int written = 0;
    for (; written < r->run_count; written++) {
        int order = order_of_run(r, written);
        if (!wait_for(r, order, &bar) || !write_run(r, store, order, result)) {
            atomic_store(&r->stop, true);
            break;
        }
    }
    progress_end(&bar);
    return written;
}

static void first_error(const struct runner *r, struct err *err)
{
    for (int i = 0; i < r->run_count; i++)
        if (r->slots[i].err.code != ERR_NONE && r->slots[i].err.code != ERR_STOPPED)
            err_set(err, r->slots[i].err.code, "%s", r->slots[i].err.text);
    if (err->code == ERR_NONE)
        err_set(err, ERR_STOPPED, "interrupted");
}

/* After a stop: what finished is kept, also runs that come after one that did not. */
static void keep_finished(struct runner *r, struct store *store, int written,
                          struct runner_result *result)
{
    for (int run = written; run < r->run_count; run++) {
        int order = order_of_run(r, run);
        if (r->slots[order].state == SLOT_DONE && r->slots[order].log != NULL)
            (void)write_run(r, store, order, result);
    }
}

static int thread_count(const struct runner *r)
{
    long n = r->opt->jobs > 0 ? r->opt->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    n = n < 1 ? 1 : n;
    return n < r->run_count ? (int)n : r->run_count;
}

static bool run_all(struct runner *r, struct store *store, struct runner_result *result,
                    struct err *err)
{
    int threads = thread_count(r);
    pthread_t *ids = mem_zalloc((size_t)threads, sizeof *ids);
    int started = 0;
    while (started < threads && pthread_create(&ids[started], NULL, worker, r) == 0)
        started++;
    int written = 0;
    if (started > 0)
        written = collect(r, store, result);
    else
        err_set(err, ERR_SYSTEM, "cannot start a thread");
    for (int i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    free(ids);
    if (written == r->run_count && !store_failed(store, NULL))
        return store_commit(store, err);
    if (store_failed(store, err)) {
        (void)store_abort(store, false, NULL, 0);
        return false;
    }
    first_error(r, err);
    keep_finished(r, store, written, result);
    (void)store_abort(store, err->code == ERR_STOPPED, result->partial, sizeof result->partial);
    return false;
}

bool runner_run(const struct scenario *s, const struct runner_options *options,
                struct runner_result *result, struct err *err)
{
    *result = (struct runner_result){0};
    struct runner r = {.s = s, .opt = options, .run_count = s->arbiter_count * s->replications};
    if (!world_check_demand(s, err))
        return false;
    struct store *store = store_create(options->output, world_tables, err);
    if (store == NULL)
        return false;
    r.slots = mem_zalloc((size_t)r.run_count, sizeof *r.slots);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    bool ok = run_all(&r, store, result, err);
    for (int i = 0; i < r.run_count; i++)
        if (r.slots[i].log != NULL)
            record_log_destroy(r.slots[i].log);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    free(r.slots);
    return ok;
}
