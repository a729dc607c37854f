/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/law.h"

#include "sim/check.h"

static double law_raw(const struct law *law, struct rng *rng)
{
    REQUIRE(law->kind <= LAW_PARETO);
    switch (law->kind) {
    case LAW_CONSTANT:
        return law->a;
    case LAW_UNIFORM:
        return law->a + (law->b - law->a) * rng_unit(rng);
    case LAW_EXPONENTIAL:
        return rng_exp(rng, law->a);
    case LAW_LOGNORMAL:
        return rng_lognormal(rng, law->a, law->b);
    case LAW_GAMMA:
        return rng_gamma(rng, law->a, law->b);
    case LAW_WEIBULL:
        return rng_weibull(rng, law->a, law->b);
    case LAW_PARETO:
        return rng_pareto(rng, law->a, law->b);
    }
    return 0.0;
}

double law_draw(const struct law *law, struct rng *rng)
{
    double x = law_raw(law, rng);
    if (x < law->least)
        x = law->least;
    if (law->most > 0.0 && x > law->most)
        x = law->most;
    return x;
}
