/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/demand/iteration_sim.h"

#include <math.h>
#include <stdlib.h>

#include "sim/arena.h"
#include "sim/evq.h"
#include "sim/rng.h"

enum { ARRIVE, BOUNDARY }; /* event kinds; at one instant arrivals come first */

struct running {
    int32_t id, prompt_left, made, kv, piece; /* piece: tokens in this iteration */
};

struct replica {
    struct sim_request *requests;
    int32_t count, arrived, admitted;
    const struct replica_law *law;
    struct running *run;
    int32_t run_count;
    struct evq q;
    bool iterating;
    double iteration_s;
    struct sim_result *out;
};

/* Gives every running request its tokens, then admits from the queue while budget and slots last. */
static bool plan(struct replica *r, double now_s)
{
    int32_t budget = r->law->max_num_batched_tokens;
    double t = r->law->c0_s;
    for (int32_t i = 0; i < r->run_count; i++) {
        struct running *x = &r->run[i];
        int32_t wanted = x->prompt_left > 0 ? x->prompt_left : 1;
        x->piece = wanted < budget ? wanted : budget;
        budget -= x->piece;
    }
    while (budget > 0 && r->run_count < r->law->max_num_seqs && r->admitted < r->arrived) {
        struct sim_request *next = &r->requests[r->admitted];
        int32_t piece = next->prompt < budget ? next->prompt : budget;
        next->scheduled_s = now_s;
        r->run[r->run_count++] = (struct running){r->admitted++, next->prompt, 0, 0, piece};
        budget -= piece;
    }
    for (int32_t i = 0; i < r->run_count; i++) {
        const struct running *x = &r->run[i];
        if (x->prompt_left > 0)
            t += r->law->a_s * x->piece;
        else if (x->piece > 0)
            t += r->law->d1_s + r->law->d2_s * x->kv;
    }
    r->iteration_s = t;
    return r->run_count > 0;
}

static void emit(struct replica *r, struct running *x, double now_s)
{
    struct sim_request *q = &r->requests[x->id];
    if (x->made++ == 0)
        q->first_s = now_s;
    q->last_s = now_s;
}

static void complete(struct replica *r, double now_s)
{
    int32_t kept = 0;
    r->out->iterations++;
    r->out->busy_s += r->iteration_s;
    for (int32_t i = 0; i < r->run_count; i++) {
        struct running x = r->run[i];
        bool prefill = x.prompt_left > 0;
        x.kv += x.piece;
        if (prefill)
            x.prompt_left -= x.piece;
        if (x.prompt_left == 0 && x.piece > 0) {
            emit(r, &x, now_s);
            if (!prefill) {
                r->out->decode_s += r->iteration_s;
                r->out->decode_tokens += 1.0;
            }
        }
        if (x.made < r->requests[x.id].output)
            r->run[kept++] = x;
    }
    r->run_count = kept;
}

static void start(struct replica *r, sim_time now)
{
    r->iterating = plan(r, sim_time_seconds(now));
    if (r->iterating)
        evq_push(&r->q, now + sim_time_from_seconds(r->iteration_s), BOUNDARY, 0, BOUNDARY, 0);
}

static void arrive(struct replica *r, sim_time now)
{
    r->arrived++;
    if (r->arrived < r->count)
        evq_push(&r->q, sim_time_from_seconds(r->requests[r->arrived].arrival_s), ARRIVE, 0, ARRIVE,
                 0);
    else
        r->out->left_at_end = r->run_count + r->arrived - r->admitted;
    /* An idle replica starts once all arrivals of this instant are in. */
    struct ev next;
    bool more = evq_peek(&r->q, &next) && next.time == now && next.kind == ARRIVE;
    if (!r->iterating && !more)
        start(r, now);
}

void iteration_sim(struct sim_request *requests, int32_t count, const struct replica_law *law,
                   struct sim_result *out)
{
    *out = (struct sim_result){0};
    struct replica r = {.requests = requests, .count = count, .law = law, .out = out};
    r.run = mem_zalloc((size_t)law->max_num_seqs, sizeof *r.run);
    evq_init(&r.q, 16);
    evq_push(&r.q, sim_time_from_seconds(requests[0].arrival_s), ARRIVE, 0, ARRIVE, 0);
    struct ev e;
    while (evq_pop(&r.q, &e)) {
        if (e.kind == ARRIVE) {
            arrive(&r, e.time);
        } else {
            complete(&r, sim_time_seconds(e.time));
            start(&r, e.time);
        }
        out->end_s = sim_time_seconds(e.time);
    }
    evq_fini(&r.q);
    free(r.run);
}

static int32_t draw_length(struct rng *r, double mean, double cv)
{
    if (cv == 0.0)
        return (int32_t)mean;
    double sigma = sqrt(log1p(cv * cv));
    double x = rng_lognormal(r, log(mean) - 0.5 * sigma * sigma, sigma);
    return x < 1.5 ? 1 : (int32_t)lround(x);
}

void iteration_sim_draw(struct sim_request *requests, int32_t count, double rate_per_s,
                        double prompt_mean, double prompt_cv, double output_mean, double output_cv,
                        uint64_t seed)
{
    struct rng gaps, prompts, outputs;
    rng_open(&gaps, seed, 0, 1, 0);
    rng_open(&prompts, seed, 0, 2, 0);
    rng_open(&outputs, seed, 0, 3, 0);
    double t = 0.0;
    for (int32_t i = 0; i < count; i++) {
        t += rng_exp(&gaps, 1.0 / rate_per_s);
        /* The fluid's law is that of o - 1. */
        requests[i] = (struct sim_request){
            .arrival_s = t, .prompt = draw_length(&prompts, prompt_mean, prompt_cv),
            .output = 1 + draw_length(&outputs, output_mean - 1.0, output_cv)};
    }
}
