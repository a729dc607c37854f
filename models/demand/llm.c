/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/llm.h"

#include "models/demand/queueing.h"
#include "sim/check.h"
#include "sim/dmath.h"

#define KV_DERATE 0.93      /* sustained share of the KV limit with recompute, 1.7 */
#define RHO_MOST 0.995      /* without any limit the formulas end here: 200 times the lone TPOT */
#define BIND_SD 6.0         /* the slot limit is felt within so many standard deviations */
#define BURST_TTFT 0.28
#define BURST_TPOT 0.015
#define SPREAD_MOST 6.0     /* the cube of nodes.h ends to be a gamma about here */

static double limit_rate(double amount, double per_request, const struct llm_sizes *s, double c0)
{
    if (!(amount > 0.0))
        return DM_INF;
    return amount / (per_request * c0 + amount * s->work_s);
}

static double least(double x, double y)
{
    return x < y ? x : y;
}

static void find_capacity(struct llm_sizes *s, const struct replica_law *law, double kv_tokens)
{
    double slots = limit_rate(law->max_num_seqs, s->decode_tokens, s, law->c0_s);
    double kv = KV_DERATE * limit_rate(law->kv_capacity_tokens, kv_tokens, s, law->c0_s);
    double budget = limit_rate(law->max_num_batched_tokens, s->input_mean + s->decode_tokens, s,
                               law->c0_s);
    s->lambda_max = least(1.0 / s->work_s, least(slots, least(kv, budget)));
    double rest = 1.0 - s->lambda_max * s->work_s;
    s->slots = rest > 1e-9 && s->lone_s > 0.0 ? s->lambda_max * s->lone_s / rest : DM_INF;
    if (s->slots < 1.0) /* a request that fits alone is served alone */
        s->slots = 1.0;
}

void llm_sizes_init(struct llm_sizes *s, const struct replica_law *law, double input_mean,
                    double input_cv, double output_mean, double output_cv)
{
    REQUIRE(input_mean >= 0.0 && output_mean >= 0.0);
    double p = input_mean, d = output_mean > 1.0 ? output_mean - 1.0 : 0.0;
    double p2 = p * p * (1.0 + input_cv * input_cv), d2 = d * d * (1.0 + output_cv * output_cv);
    double kv_tokens = d * p + 0.5 * d2;
    *s = (struct llm_sizes){.input_mean = input_mean, .output_mean = output_mean, .decode_tokens = d};
    s->prefill_s = law->a_s * p + 0.5 * law->aq_s * p2;
    double m2 = 1.0 + input_cv * input_cv; /* lognormal: E[p^n] = E[p]^n m2^(n(n-1)/2) */
    s->prefill2_s2 = s->prefill_s * s->prefill_s * m2;
    s->prefill3_s3 = s->prefill_s * s->prefill2_s2 * m2 * m2;
    s->lone_s = law->c0_s * d;
    s->work_s = s->prefill_s + law->d1_s * d + law->d2_s * kv_tokens;
    REQUIRE(s->work_s > 0.0);
    find_capacity(s, law, kv_tokens);
    /* Time alone is about linear in p and d around their means. */
    double per_d = law->c0_s + law->d1_s + law->d2_s * (p + d);
    double per_p = law->a_s + law->d2_s * d;
    double mean = s->lone_s + s->work_s;
    double variance = per_d * per_d * d * d * output_cv * output_cv
                      + per_p * per_p * p * p * input_cv * input_cv;
    s->work_cs2 = variance / (mean * mean);
}

double llm_rate_for_tpot(const struct llm_sizes *s, const struct replica_law *law, double target_s)
{
    return target_s > law->c0_s ? (1.0 - law->c0_s / target_s) / s->work_s : 0.0;
}

/*
 * Gated iterations (2.3): an arrival waits for the rest of the running iteration, of mean R2/2
 * (R2 = E[X^2]/E[X], X the iteration), then its own iteration reads its prompt and those of all who
 * came during the running one. Given its length x, the part beyond t0 and the own prompt has mean
 * x (1/2 + u) and variance x^2/12 + lambda x E[prefill^2]; x is length-biased. X is t0 plus a
 * compound Poisson over the iteration before, so its cumulants are
 *   k2 = lambda E[X] E2/(1-u^2),  k3 = (lambda E[X] E3 + 3 u lambda E2 k2)/(1-u^3)
 * with E2, E3 the moments of the prefill time. The residual is a gamma with that mean and variance.
 */
static void first_token(const struct llm_sizes *s, double lambda_r, double burst,
                        struct station *out)
{
    double x = out->iteration_s;
    double u = lambda_r * s->prefill_s;
    u = u < 0.999 ? u : 0.999;
    out->base_s = x * (1.0 - u);
    out->prefill_s = s->prefill_s;
    out->residual_c1 = 1.0;
    if (!(x > 0.0))
        return;
    double e2 = lambda_r * s->prefill2_s2, k2 = e2 * x / (1.0 - u * u);
    double k3 = (lambda_r * s->prefill3_s3 * x + 3.0 * u * e2 * k2) / (1.0 - u * u * u);
    double r2 = x + k2 / x;
    double mean = r2 * (0.5 + u);
    double second = x * x + 3.0 * k2 + k3 / x; /* E[X^3]/E[X] */
    double variance = (0.5 + u) * (0.5 + u) * (second - r2 * r2) + second / 12.0 + e2 * r2;
    double spread = least(variance / (mean * mean), SPREAD_MOST); /* 1 / shape */
    out->gate_s = 0.5 * r2;
    double factor = 1.0 + burst * (mean + out->base_s + s->prefill_s) / mean;
    out->residual_s = factor > 0.0 ? mean * factor : 0.0;
    out->residual_c1 = 1.0 - spread / 9.0;
    out->residual_c2 = dm_sqrt(spread) / 3.0;
}

/* Wait for a slot and in_service when the limit is felt; leaves *service_s between the two laws. */
static void near_slots(const struct llm_sizes *s, double lambda, int32_t replicas,
                       double arrival_cv, double *service_s, struct station *out)
{
    double r = (double)replicas;
    struct slot_chain chain;
    queue_slot_chain(lambda, s->lone_s, s->work_s / r, r * s->slots, &chain);
    out->p_wait = chain.p_wait;
    out->wait_scale_s = chain.wait_scale_s * 0.5 * (arrival_cv * arrival_cv + s->work_cs2);
    out->in_service = chain.in_service;
    *service_s += chain.p_wait * (chain.in_service / lambda - *service_s);
}

/* Time in service with every slot taken, A + S w; without a limit that at RHO_MOST. */
static double saturated(const struct llm_sizes *s, const struct replica_law *law, int32_t replicas,
                        struct station *out)
{
    out->busy = 1.0;
    if (s->slots < DM_INF) {
        double service_s = s->lone_s + s->slots * s->work_s;
        out->in_service = (double)replicas * s->slots;
        out->iteration_s = service_s / s->decode_tokens;
        return service_s;
    }
    double rest = 1.0 - least(RHO_MOST, s->lambda_max * s->work_s);
    double service_s = (s->lone_s + s->work_s) / rest;
    out->in_service = (double)replicas * s->lambda_max * service_s;
    out->iteration_s = law->c0_s / rest;
    return service_s;
}

/*
 * Spread of the time per token between requests. 2.3 gives rho/r, the variance of the occupancy a
 * request finds. That holds for the part of w that the others pay token by token; a prefill falls on
 * all who decode at once, and of those a request meets a Poisson number: lambda E[prefill^2]/A in
 * squared CV, times 1 + rho + 2 rho^2 because a longer stay meets more. The last factor is fitted by
 * us to the iteration simulation in tests (within 13 % in CV for rho 0.1 to 0.87).
 */
static void decode_noise(const struct llm_sizes *s, double lambda_r, double rho,
                         struct station *out)
{
    if (!(s->lone_s > 0.0))
        return;
    double shared = 1.0 - s->prefill_s / s->work_s;
    double lumps = lambda_r * s->prefill2_s2 / s->lone_s * (1.0 + rho + 2.0 * rho * rho);
    double spread = least(shared * rho * s->work_s / (s->lone_s + s->work_s) + lumps, SPREAD_MOST);
    out->decode_c1 = 1.0 - spread / 9.0;
    out->decode_c2 = dm_sqrt(spread) / 3.0;
}

static double below_capacity(const struct llm_sizes *s, const struct replica_law *law,
                             double lambda, int32_t replicas, double arrival_cv,
                             struct station *out)
{
    double r = (double)replicas, lambda_r = lambda / r;
    double rho = least(lambda_r * s->work_s, RHO_MOST);
    double order = s->lone_s / s->work_s + 1.0, rest = 1.0 - rho;
    double service_s = (s->lone_s + s->work_s) / rest;
    out->iteration_s = law->c0_s / rest;
    double n = (r * (order - 1.0) + 1.0) * rho / rest, gap = r * s->slots - n;
    out->in_service = r * order * rho / rest;
    if (gap * gap < BIND_SD * BIND_SD * n / rest || gap < 0.0)
        near_slots(s, lambda, replicas, arrival_cv, &service_s, out);
    /* e^-40 is below the rounding of 1 - idle. */
    double busy = order * rho > 40.0 ? 1.0 : -dm_expm1(order * dm_log1p(-rho));
    double least_busy = lambda_r / s->lambda_max;
    out->busy = busy > least_busy ? busy : least_busy;
    decode_noise(s, lambda_r, rho, out);
    return service_s;
}

void llm_station(const struct llm_sizes *s, const struct replica_law *law, double lambda,
                 int32_t replicas, double arrival_cv, struct station *out)
{
    REQUIRE(replicas >= 1 && lambda >= 0.0);
    *out = (struct station){.decode_c1 = 1.0};
    double service_s, lambda_r = lambda / (double)replicas, excess = arrival_cv * arrival_cv - 1.0;
    if (lambda_r < s->lambda_max) {
        service_s = below_capacity(s, law, lambda, replicas, arrival_cv, out);
    } else {
        lambda_r = s->lambda_max;
        service_s = saturated(s, law, replicas, out);
    }
    first_token(s, lambda_r, BURST_TTFT * excess, out);
    /* A counts the iterations after the first token, w also what was paid before it. */
    double before_s = s->prefill_s * (1.0 + 2.0 * lambda_r * out->gate_s), lone_s = s->lone_s;
    double decode_s = (service_s - before_s) * (1.0 + BURST_TPOT * excess);
    out->decode_s = decode_s > lone_s && lone_s > 0.0 ? decode_s : lone_s;
    out->decode_least = out->decode_s > 0.0 ? lone_s / out->decode_s : 0.0;
    out->base_s += law->api_overhead_s;
    out->own_ttft_s = out->base_s + out->prefill_s + out->residual_s;
    out->own_mean_s = out->own_ttft_s + out->decode_s;
}
