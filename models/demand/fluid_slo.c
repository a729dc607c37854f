/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many replicas an SLO needs. LLM replicas do not help each other but for their shared queue, so
 * there is one rate per replica that still meets the SLO, found once. Servers of a simple service
 * pool: the rate per replica grows with their number, about as 1 - beta/sqrt(R) (Halfin and Whitt
 * 1981); it is found once for a grid of numbers and interpolated linearly in 1/sqrt(R), so that
 * asking costs a search, not a formula (world asks at every step).
 */
#include "models/demand/fluid_priv.h"

#include "sim/dmath.h"

#define PLAIN_LOAD 0.8   /* without an SLO */
#define LOAD_MOST 0.98   /* no formula is trusted above */
#define SURE_ROUNDS 4    /* of the quadrature, at init */
#define QUICK_ROUNDS 2   /* for points with other token means than configured */
#define SIZE_PHASES 5    /* of the service times, for simple services */

/* Numbers of replicas of the grid: 1 2 3 4 6 8 12 16 ... */
static int32_t grid_replicas(int k)
{
    return k % 2 == 1 || k == 0 ? 1 << ((k + 1) / 2) : 3 << (k / 2 - 1);
}

static bool has_slo(const struct service_config *cfg)
{
    bool ttft = cfg->slo_ttft_s > 0.0 && cfg->kind == SERVICE_LLM;
    return cfg->slo_target > 0.0 && (cfg->slo_latency_s > 0.0 || ttft);
}

/* P(service + wait <= t) of a simple service: over the wait in closed form, over service times by
 * points. */
static double simple_share_within(const struct nodes *n, const struct station *st, double t)
{
    double within = 0.0;
    for (int j = 0; j < SIZE_PHASES; j++) {
        const double *size = n->size[j * NODES_PHASES / SIZE_PHASES + NODES_PHASES / 10];
        for (int i = 0; i < NODES_COUNT; i++) {
            double left = t - st->decode_s * size[i];
            if (left < 0.0)
                continue;
            double late = st->p_wait > 0.0 ? st->p_wait * dm_exp(-left / st->wait_scale_s) : 0.0;
            within += nodes_mass[i] * (1.0 - late);
        }
    }
    return within / SIZE_PHASES;
}

/* What a search asks: does this many replicas of this capacity meet the SLO at this rate? */
struct search {
    const struct fluid *f;
    const struct llm_sizes *sizes;
    double one_max;       /* capacity of one */
    int rounds;
};

static bool meets_slo(const struct search *q, double rate, int32_t replicas)
{
    const struct service_config *cfg = q->f->cfg;
    struct station st;
    fluid_station_at(q->f, q->sizes, rate, replicas, &st);
    double share = cfg->kind == SERVICE_SIMPLE
                       ? simple_share_within(&q->f->nodes, &st, cfg->slo_latency_s)
                       : nodes_share_within(&q->f->nodes, q->rounds, &st, cfg->slo_latency_s,
                                            cfg->slo_ttft_s);
    return share >= cfg->slo_target;
}

/* Largest rate per replica that meets the SLO, between low (which does) and LOAD_MOST. */
static double largest_rate(const struct search *q, int32_t replicas, double low)
{
    double high = LOAD_MOST * q->one_max;
    if (meets_slo(q, high * replicas, replicas))
        return high;
    for (int i = 0; i < 16 && high - low > 1e-4 * q->one_max; i++) {
        double rate = 0.5 * (low + high);
        if (meets_slo(q, rate * replicas, replicas))
            low = rate;
        else
            high = rate;
    }
    return low;
}

/* Of one replica alone; at PLAIN_LOAD when there is no SLO or a lone request misses it. */
static double lone_rate(const struct search *q)
{
    const double hardly = 1e-3 * q->one_max;
    if (!has_slo(q->f->cfg) || !meets_slo(q, hardly, 1))
        return PLAIN_LOAD * q->one_max;
    return largest_rate(q, 1, hardly);
}

/* A lone server may miss what two meet: then its entry is the small rate it was tried with. */
static void fill_grid(struct fluid *f, const struct search *q)
{
    double rate = 1e-3 * q->one_max;
    f->pooled = has_slo(f->cfg) && meets_slo(q, rate, 1);
    for (int k = 0; k < FLUID_SLO_GRID && f->pooled; k++) {
        rate = largest_rate(q, grid_replicas(k), rate);
        f->slo_rates[k] = rate;
    }
    f->lambda_slo = f->pooled ? f->slo_rates[0] : PLAIN_LOAD * q->one_max;
}

/* Rate per replica of a pooled service that meets the SLO with R replicas. */
static double pooled_rate(const struct fluid *f, int32_t replicas)
{
    int k = 0;
    while (k + 1 < FLUID_SLO_GRID && grid_replicas(k + 1) <= replicas)
        k++;
    if (k + 1 == FLUID_SLO_GRID)
        return f->slo_rates[k];
    double left = 1.0 / dm_sqrt(grid_replicas(k)), right = 1.0 / dm_sqrt(grid_replicas(k + 1));
    double x = (left - 1.0 / dm_sqrt(replicas)) / (left - right);
    return f->slo_rates[k] + x * (f->slo_rates[k + 1] - f->slo_rates[k]);
}

void fluid_find_targets(struct fluid *f)
{
    struct search q = {f, &f->sizes, f->lambda_max, SURE_ROUNDS};
    int32_t replicas = 1;
    double rate;
    if (f->cfg->kind == SERVICE_SIMPLE) {
        fill_grid(f, &q);
        /* Pooling makes one target for all sizes a compromise: that of half the largest. */
        if (f->cfg->max_replicas > 1)
            replicas = (f->cfg->max_replicas + 1) / 2;
        rate = f->pooled ? pooled_rate(f, replicas) : f->lambda_slo;
    } else {
        rate = f->lambda_slo = lone_rate(&q);
    }
    struct station st;
    fluid_station_at(f, &f->sizes, rate * replicas, replicas, &st);
    f->target_in_flight = rate * (st.own_mean_s + st.p_wait * st.wait_scale_s);
}

static int32_t to_count(double x)
{
    double up = dm_ceil(x * (1.0 - 1e-12));
    return up < 1.0 ? 1 : up > 1e9 ? 1000000000 : (int32_t)up;
}

/* Smallest R with R pooled_rate(R) >= rate; R pooled_rate(R) grows with R. */
static int32_t pooled_replicas(const struct fluid *f, double rate)
{
    int32_t low = to_count(rate / f->slo_rates[FLUID_SLO_GRID - 1]) - 1;
    int32_t high = to_count(rate / f->slo_rates[0]);
    while (high - low > 1) {
        int32_t r = low + (high - low) / 2;
        if (pooled_rate(f, r) * r >= rate)
            high = r;
        else
            low = r;
    }
    return high;
}

int32_t fluid_replicas_for(const struct fluid *f, const struct traffic_point *point)
{
    const struct traffic_config *t = &f->cfg->traffic;
    double rate = point->rate_per_s;
    if (f->cfg->kind == SERVICE_SIMPLE && f->pooled)
        return pooled_replicas(f, rate);
    bool as_configured = f->cfg->kind == SERVICE_SIMPLE
                         || (point->input_tokens_mean == t->input_tokens_mean
                             && point->output_tokens_mean == t->output_tokens_mean);
    if (as_configured)
        return to_count(rate / f->lambda_slo);
    struct llm_sizes sizes;
    fluid_sizes_for(f, point, &sizes);
    struct search q = {f, &sizes, sizes.lambda_max, QUICK_ROUNDS};
    return to_count(rate / lone_rate(&q));
}
