/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/queueing.h"

#include "sim/check.h"
#include "sim/dmath.h"

/*
 * 1/B = sum over k of c!/((c-k)! a^k). Terms rise until k = c - a, then fall; from there on the
 * rest is below the last term times a geometric series, so the sum ends early when c is large.
 */
static double inverse_erlang_b(int32_t servers, double load)
{
    double term = 1.0, sum = 1.0, inv = 1.0 / load;
    for (int32_t k = 0; k < servers; k++) {
        double ratio = (double)(servers - k) * inv;
        term *= ratio;
        sum += term;
        if (sum > 1e280 || (ratio < 1.0 && term < 1e-18 * sum * (1.0 - ratio)))
            break;
    }
    return sum;
}

double queue_erlang_b(int32_t servers, double load)
{
    REQUIRE(servers >= 0 && load >= 0.0);
    if (load == 0.0)
        return servers == 0 ? 1.0 : 0.0;
    return 1.0 / inverse_erlang_b(servers, load);
}

double queue_erlang_c(int32_t servers, double load)
{
    if (load >= (double)servers)
        return 1.0;
    double b = queue_erlang_b(servers, load);
    return b / (1.0 - load / (double)servers * (1.0 - b));
}

double queue_rbm_mean(double drift, double variance, double t)
{
    REQUIRE(variance > 0.0 && t >= 0.0);
    const double inv_sqrt_2pi = 0.39894228040143267794;
    double sigma_t = dm_sqrt(variance * t);
    double y = drift * t / (sigma_t > 0.0 ? sigma_t : 1.0);
    double density = inv_sqrt_2pi * dm_exp(-0.5 * y * y);
    double cdf = dm_norm_cdf(y);
    if (y > -1e-5 && y < 1e-5) /* (2 cdf - 1)/y tends to 2 density; error of order y^2 */
        return sigma_t * (density + density) + drift * t * cdf;
    double mean = variance / (2.0 * drift) * (2.0 * cdf - 1.0) + drift * t * cdf
                  + sigma_t * density;
    return mean > 0.0 ? mean : 0.0;
}

double queue_loss_with_patience(double rho, double tail)
{
    return (1.0 - rho) * tail / (1.0 - rho * tail);
}

void queue_slot_chain(double lambda, double lone_s, double work_s, double slots,
                      struct slot_chain *out)
{
    double top = slots / (lone_s + slots * work_s);
    REQUIRE(lambda > 0.0 && slots >= 1.0 && lambda < top);
    /* Probabilities relative to that of n = slots, downwards; they rise to the mode, then fall. */
    double term = 1.0, below = 0.0, weighted = 0.0;
    /* NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): steps of 1 are exact */
    for (double n = slots; n >= 1.0; n -= 1.0) {
        double ratio = n / ((lone_s + n * work_s) * lambda);
        term *= ratio;
        below += term;
        weighted += term * (n - 1.0);
        if (below > 1e200 || (ratio < 1.0 && term < 1e-12 * below * (1.0 - ratio)))
            break;
    }
    double above = 1.0 / (1.0 - lambda / top); /* n = slots and more */
    double total = below + above;
    out->p_wait = above / total;
    out->wait_scale_s = 1.0 / (top - lambda);
    out->wait_mean_s = out->p_wait * out->wait_scale_s;
    out->in_service = (weighted + slots * above) / total;
}
