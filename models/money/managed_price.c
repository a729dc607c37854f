/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/money/managed_price.h"

#include <string.h>

#include "models/money/money.h"
#include "sim/check.h"

static int64_t to_uusd(double usd)
{
    return (int64_t)(usd * 1e6 + 0.5);
}

bool token_price_find(const struct catalogue *c, const char *model, struct token_price *out)
{
    const struct catalogue_fact *in = catalogue_fact(c, "token", model, "in");
    const struct catalogue_fact *answer = catalogue_fact(c, "token", model, "out");
    if (in == NULL || answer == NULL)
        return false;
    *out = (struct token_price){.in = to_uusd(in->value), .out = to_uusd(answer->value)};
    return true;
}

int64_t token_tier_milli(const struct catalogue *c, const char *tier)
{
    const struct catalogue_fact *f = catalogue_fact(c, "tier", tier, "multiplier");
    return f != NULL ? (int64_t)(f->value * 1000 + 0.5) : -1;
}

int64_t token_cost_uusd(const struct token_price *price, const struct token_usage *used,
                        int64_t tier_milli)
{
    REQUIRE(tier_milli >= 0);
    i128 sum = (i128)used->in * price->in + (i128)used->cache_read * price->cache_read +
               (i128)used->cache_write * price->cache_write + (i128)used->out * price->out;
    i128 uusd = (sum * tier_milli + 500000000) / 1000000000;
    REQUIRE(uusd >= 0 && uusd <= INT64_MAX);
    return (int64_t)uusd;
}

int64_t token_quota(const struct token_usage *used, int64_t burndown)
{
    return used->in + used->cache_write + used->out * burndown;
}

void token_bucket_init(struct token_bucket *b, int64_t per_minute)
{
    REQUIRE(per_minute > 0);
    *b = (struct token_bucket){.per_minute = per_minute, .left = per_minute};
}

/* A new minute starts full, minus what was overdrawn before. */
static void refill(struct token_bucket *b, sim_time now)
{
    REQUIRE(now >= b->minute);
    int64_t minutes = (now - b->minute) / SIM_MINUTE;
    b->minute += minutes * SIM_MINUTE;
    for (; minutes > 0 && b->left < b->per_minute; minutes--)
        b->left = b->left < 0 ? b->left + b->per_minute : b->per_minute;
}

bool token_bucket_admit(struct token_bucket *b, sim_time now, int64_t need)
{
    refill(b, now);
    if (need > b->left)
        return false;
    b->left -= need;
    return true;
}

void token_bucket_finish(struct token_bucket *b, sim_time now, int64_t need, int64_t used)
{
    refill(b, now);
    b->left += need - used;
    if (b->left > b->per_minute)
        b->left = b->per_minute;
}

double model_unit_break_even(double unit_usd_per_h, double blended_usd_per_million)
{
    REQUIRE(blended_usd_per_million > 0);
    return unit_usd_per_h / blended_usd_per_million * 1e6;
}

static sim_time cmi_window(void)
{
    return sim_time_from_seconds(catalogue_value(catalogue_builtin(), "cmi", "default", "window"));
}

bool cmi_call(struct cmi_copy *copy, sim_time now)
{
    sim_time window = cmi_window();
    REQUIRE(!copy->active || now >= copy->last_call);
    bool gone = !copy->active || now - copy->last_call >= window;
    if (gone) {
        copy->active = true;
        copy->window = now;
        copy->windows++;
    } else if (now - copy->window >= window) {
        copy->window += (now - copy->window) / window * window;
        copy->windows++;
    }
    copy->last_call = now;
    return gone;
}

int64_t cmi_cost_uusd(int64_t windows, int64_t units_per_copy, int64_t uusd_per_unit_minute)
{
    i128 uusd = (i128)windows * units_per_copy * uusd_per_unit_minute * (cmi_window() / SIM_MINUTE);
    REQUIRE(uusd >= 0 && uusd <= INT64_MAX);
    return (int64_t)uusd;
}

int64_t training_cost_uusd(sim_time billable, sim_time retained, int64_t instance_count,
                           int64_t ml_uusd_per_h)
{
    return money_time_uusd(ml_uusd_per_h, instance_count, sim_time_after(billable, retained));
}

double training_spot_saving(sim_time billable, sim_time training)
{
    REQUIRE(training > 0);
    return 1 - (double)billable / (double)training;
}

static const char *uplift_family(const char *instance)
{
    static const char small[] = ".xlarge";
    size_t n = strlen(instance), s = sizeof(small) - 1;
    if (instance[0] == 'p')
        return "P";
    if (instance[0] != 'g')
        return "other";
    return n > s && strcmp(instance + n - s, small) == 0 ? "G.xlarge" : "G";
}

double ml_uplift(const struct catalogue *c, const char *instance)
{
    return catalogue_value(c, "ml_uplift", uplift_family(instance), "ratio");
}

int64_t ml_price_uusd(const struct catalogue *c, const char *instance)
{
    const struct catalogue_fact *own = catalogue_fact(c, "ml", instance, "price");
    if (own != NULL)
        return to_uusd(own->value);
    int32_t i = catalogue_find_instance(c, instance);
    if (i < 0)
        return 0;
    return to_uusd((double)c->instances[i].price_uusd_per_h / 1e6 * ml_uplift(c, instance));
}
