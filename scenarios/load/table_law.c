/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of random quantities, gangs, and the shapes of rates, with the published presets. */
#include <string.h>

#include "scenarios/load/load_priv.h"
#include "scenarios/load/units.h"
#include "sim/dmath.h"

/* ---- laws ---- */

static const struct enum_name law_names[] = {
    {"constant", LAW_CONSTANT}, {"uniform", LAW_UNIFORM}, {"exponential",
                                                           LAW_EXPONENTIAL}, {"lognormal",
                                                                              LAW_LOGNORMAL},
    {"gamma", LAW_GAMMA}, {"weibull", LAW_WEIBULL}, {"pareto", LAW_PARETO}, {NULL, 0}};

struct law_in {
    enum law_kind kind;
    double value, from, to, mean, median, mu, sigma, shape, scale, minimum, least, most; /* seconds; 0 = not given */
};

#define LAW(member) offsetof(struct law_in, member)
enum { LAW_SECONDS_MAX = 315360000 }; /* ten years */
static const struct field law_fields[] = {
    {.name = "law", .kind = FIELD_ENUM, .offset = LAW(kind), .names = law_names,
     .flags = FIELD_REQUIRED, .help = "Family of the distribution."},
    {.name = "value", .kind = FIELD_SECONDS, .offset = LAW(value), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "constant: the value."},
    {.name = "from", .kind = FIELD_SECONDS, .offset = LAW(from), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "uniform: lower end."},
    {.name = "to", .kind = FIELD_SECONDS, .offset = LAW(to), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "uniform: upper end."},
    {.name = "mean", .kind = FIELD_SECONDS, .offset = LAW(mean), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "exponential, gamma; lognormal together with median."},
    {.name = "median", .kind = FIELD_SECONDS, .offset = LAW(median), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "lognormal: exp(mu); with mean or sigma."},
    {.name = "mu", .kind = FIELD_REAL, .offset = LAW(mu), .min = -30, .max = 30,
     .fallback = "none", .help = "lognormal: mean of the logarithm of the seconds."},
    {.name = "sigma", .kind = FIELD_REAL, .offset = LAW(sigma), .max = 10, .fallback = "none",
     .help = "lognormal: standard deviation of that logarithm."},
    {.name = "shape", .kind = FIELD_REAL, .offset = LAW(shape), .max = 1000, .fallback = "none",
     .help = "gamma, weibull, pareto: shape."},
    {.name = "scale", .kind = FIELD_SECONDS, .offset = LAW(scale), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "gamma, weibull: scale."},
    {.name = "minimum", .kind = FIELD_SECONDS, .offset = LAW(minimum), .max = LAW_SECONDS_MAX,
     .fallback = "none", .help = "pareto: smallest value."},
    {.name = "least", .kind = FIELD_SECONDS, .offset = LAW(least), .max = LAW_SECONDS_MAX,
     .help = "Smaller draws become this."},
    {.name = "most", .kind = FIELD_SECONDS, .offset = LAW(most), .max = LAW_SECONDS_MAX,
     .fallback = "no limit", .help = "Larger draws become this."},
    {0}};

const struct schema law_schema = {
    .title = "a law",
    .about = "How a random duration is drawn. A plain duration (`2h`) is a constant.",
    .size = sizeof(struct law_in),
    .fields = law_fields};

/* Which keys each law takes, as "needed|or" alternatives are few enough to write out. */
static bool law_complete(const struct ynode *n, const struct law_in *in, const char **need)
{
    bool mu_sigma = ynode_get(n, "mu") != NULL && ynode_get(n, "sigma") != NULL;
    switch (in->kind) {
    case LAW_CONSTANT: *need = "value"; return in->value > 0;
    case LAW_UNIFORM: *need = "from and to, from below to"; return in->to > in->from;
    case LAW_EXPONENTIAL: *need = "mean"; return in->mean > 0;
    case LAW_LOGNORMAL:
        *need = "mu and sigma, or median and sigma, or median and a larger mean";
        return mu_sigma || (in->median > 0 && (ynode_get(n, "sigma") != NULL ||
                                               in->mean >= in->median));
    case LAW_GAMMA: *need = "shape, and mean or scale"; return in->shape > 0 && (in->mean > 0 ||
                                                                                 in->scale > 0);
    case LAW_WEIBULL: *need = "shape and scale"; return in->shape > 0 && in->scale > 0;
    case LAW_PARETO: *need = "shape and minimum"; return in->shape > 0 && in->minimum > 0;
    }
    return false;
}

static struct law law_from(const struct law_in *in)
{
    struct law out = {.kind = in->kind, .least = in->least, .most = in->most};
    switch (in->kind) {
    case LAW_CONSTANT: out.a = in->value; break;
    case LAW_UNIFORM: out.a = in->from; out.b = in->to; break;
    case LAW_EXPONENTIAL: out.a = in->mean; break;
    case LAW_LOGNORMAL: /* mean = median exp(sigma^2 / 2) */
        out.a = in->median > 0 ? dm_log(in->median) : in->mu;
        out.b = in->median > 0 && in->mean > 0 ? dm_sqrt(2 * dm_log(in->mean / in->median)) : in->sigma;
        break;
    case LAW_GAMMA: out.a = in->shape; out.b = in->mean > 0 ? in->mean / in->shape : in->scale; break;
    case LAW_WEIBULL: out.a = in->shape; out.b = in->scale; break;
    case LAW_PARETO: out.a = in->shape; out.b = in->minimum; break;
    }
    return out;
}

void read_law(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    struct law *out = (struct law *)(void *)((char *)base + f->offset);
    if (n->kind == YNODE_SCALAR) {
        static const struct field plain = {.kind = FIELD_SECONDS, .offset = offsetof(struct law, a),
                                           .max = LAW_SECONDS_MAX};
        *out = (struct law){.kind = LAW_CONSTANT};
        field_read_scalar(ctx, &plain, n, out);
        return;
    }
    struct law_in in;
    const char *need = "";
    size_t errors = ctx->diags->error_count;
    field_read_struct(ctx, &law_schema, n, &in);
    if (ctx->diags->error_count > errors)
        return;
    if (!law_complete(n, &in, &need))
        field_problem(ctx, n, "law %s needs %s", law_names[in.kind].name, need);
    else if (in.most > 0 && in.least > in.most)
        field_problem(ctx, n, "least is larger than most");
    else
        *out = law_from(&in);
}

/* ---- gangs ---- */

/* Philly: gang sizes and run times by gang (workload-models 4.6), in cards; a machine has eight.
 * The 0.03 % of other sizes are left out; runs are clipped to 30 days. */
#define PHILLY(share, w, c, mu, sigma)                                                             \
    {.weight = share, .workers = w, .cards_per_worker = c,                                         \
     .duration_s = {.kind = LAW_LOGNORMAL, .a = mu, .b = sigma, .least = 1, .most = 30 * 86400.0}}
static const struct gang_shape philly_gangs[] = {
    PHILLY(93.17, 1, 1, 6.72, 1.97), PHILLY(2.21, 1, 2, 4.52, 3.27), PHILLY(2.27, 1, 4, 9.11, 2.78),
    PHILLY(2.00, 1, 8, 9.65, 2.79),  PHILLY(0.242, 2, 8, 9.19, 3.33), PHILLY(0.081, 4, 8, 8.64,
                                                                             2.53)};

static const struct {
    const char *name;
    const struct gang_shape *shapes;
    int32_t count;
} gang_presets[] = {{"philly", philly_gangs, 6}};

#define GANG(member) offsetof(struct gang_shape, member)
static const struct field gang_fields[] = {
    {.name = "weight", .kind = FIELD_REAL, .offset = GANG(weight), .max = 1e9,
     .help = "Relative frequency."},
    {.name = "workers", .kind = FIELD_INT, .offset = GANG(workers), .min = 1, .max = 100000,
     .help = "Workers (pods) that start together."},
    {.name = "cardsPerWorker", .kind = FIELD_INT, .offset = GANG(cards_per_worker), .min = 1,
     .max = 1024, .help = "Whole cards of each worker, all on one node."},
    {.name = "duration", .kind = FIELD_CUSTOM, .offset = GANG(duration_s), .read = read_law,
     .sub = &law_schema, .flags = FIELD_REQUIRED,
     .shape = "a duration or a law", .help = "Undisturbed run time."},
    {0}};
static void gang_defaults(void *out)
{
    *(struct gang_shape *)out = (struct gang_shape){.weight = 1, .workers = 1, .cards_per_worker = 1};
}
const struct schema gang_schema = {.title = "a gang",
                                   .about = "One size of job in a synthetic stream. `gangs: philly` stands for the sizes and run times of the Philly trace.",
                                   .size = sizeof(struct gang_shape), .fields = gang_fields,
                                   .defaults = gang_defaults};

static void gangs_from_preset(struct read_ctx *ctx, const struct ynode *n,
                              struct job_stream_config *c)
{
    for (size_t i = 0; i < sizeof gang_presets / sizeof *gang_presets; i++) {
        if (strcmp(n->text, gang_presets[i].name) != 0)
            continue;
        c->shape_count = gang_presets[i].count;
        c->shapes = arena_alloc(ctx->arena, (size_t)c->shape_count, sizeof *c->shapes);
        memcpy(c->shapes, gang_presets[i].shapes, (size_t)c->shape_count * sizeof *c->shapes);
        return;
    }
    field_expected(ctx, n, "a list of gangs or the preset philly");
}

void read_gangs(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    struct job_stream_config *c = &((struct stream_in *)base)->c;
    if (n->kind == YNODE_SCALAR) {
        gangs_from_preset(ctx, n, c);
        return;
    }
    const struct field list = {.kind = FIELD_LIST, .offset = f->offset,
                               .count_offset = f->count_offset, .sub = &gang_schema};
    field_read(ctx, &list, n, base);
    double sum = 0;
    for (int32_t i = 0; i < c->shape_count; i++)
        sum += c->shapes[i].weight;
    if (n->kind == YNODE_LIST && !(sum > 0))
        field_problem(ctx, n, "expected at least one gang with a weight above 0");
}

/* ---- rates ---- */

/* Shapes of workload-models 3.2; `office` is an assumption: a working day of an enterprise tool,
 * a fifth of it at weekends. Applied to the profile before the other keys of the map. */
struct profile_preset {
    const char *name;
    double a1, phase1_h, a2, phase2_h, ou_sigma;
    sim_time ou_tau;
    double weekend, cv;
    bool has_hours;
    double hours[24];
};
static const struct profile_preset profile_presets[] = {
    {.name = "steady", .ou_sigma = 0.1, .ou_tau = SIM_HOUR, .weekend = 1, .cv = 1},
    {.name = "chat", .a1 = 0.23, .phase1_h = 17.3, .a2 = 0.19, .phase2_h = 9.6, .ou_sigma = 0.27,
     .ou_tau = 30 * SIM_MINUTE, .weekend = 1, .cv = 1.2},
    {.name = "apiBursty", .a1 = 0.12, .phase1_h = 18.9, .a2 = 0.035, .phase2_h = 12,
     .ou_sigma = 0.38, .ou_tau = 78 * SIM_MINUTE, .weekend = 1, .cv = 3.5},
    {.name = "reasoning", .a1 = 0.52, .phase1_h = 0.5, .a2 = 0.19, .phase2_h = 0.6,
     .ou_sigma = 0.33, .ou_tau = SIM_HOUR, .weekend = 1, .cv = 2.3},
    {.name = "office", .ou_sigma = 0.27, .ou_tau = 30 * SIM_MINUTE, .weekend = 0.2, .cv = 1.2,
     .has_hours = true,
     .hours = {0.04, 0.04, 0.04, 0.04, 0.04, 0.1, 0.25, 0.8, 2.0, 2.6, 2.7, 2.4, 1.6, 2.0, 2.5, 2.4,
               2.0, 1.2, 0.5, 0.25, 0.2, 0.15, 0.1, 0.05}}};

/* base is the struct whose profile and cv stand at offset and count_offset. */
void read_profile_preset(struct read_ctx *ctx, const struct field *f, const struct ynode *n,
                         void *base)
{
    struct rate_profile *p = (struct rate_profile *)(void *)((char *)base + f->offset);
    double *cv = (double *)(void *)((char *)base + f->count_offset);
    for (size_t i = 0; n->kind == YNODE_SCALAR &&
         i < sizeof profile_presets / sizeof *profile_presets; i++) {
        const struct profile_preset *s = &profile_presets[i];
        if (strcmp(n->text, s->name) != 0)
            continue;
        p->a1 = s->a1; p->phase1_h = s->phase1_h; p->a2 = s->a2; p->phase2_h = s->phase2_h;
        p->ou_sigma = s->ou_sigma; p->ou_tau = s->ou_tau;
        p->has_hours = s->has_hours;
        memcpy(p->hours, s->hours, sizeof p->hours);
        for (int day = 5; day < 7; day++)
            p->weekday[day] = s->weekend;
        *cv = s->cv;
        return;
    }
    field_expected(ctx, n, "steady, chat, apiBursty, reasoning or office");
}

/* window: {from: 9h, to: 11h}: the base rate inside, nothing outside; over midnight when to < from. */
struct window_in {
    double from_h, to_h;
};
static const struct field window_fields[] = {
    {.name = "from", .kind = FIELD_HOURS, .offset = offsetof(struct window_in, from_h), .max = 24,
     .flags = FIELD_REQUIRED, .help = "Start (UTC)."},
    {.name = "to", .kind = FIELD_HOURS, .offset = offsetof(struct window_in, to_h), .max = 24,
     .flags = FIELD_REQUIRED, .help = "End (UTC)."},
    {0}};
const struct schema window_schema = {.title = "a window", .size = sizeof(struct window_in),
                                     .fields = window_fields};

/* Hours of [from, to] that lie in the hour starting at h. */
static double overlap(double from, double to, double h)
{
    double low = from > h ? from : h, high = to < h + 1 ? to : h + 1;
    return high > low ? high - low : 0;
}

void read_window(struct read_ctx *ctx, const struct field *f, const struct ynode *n, void *base)
{
    struct rate_profile *p = (struct rate_profile *)(void *)((char *)base + f->offset);
    struct window_in w;
    size_t errors = ctx->diags->error_count;
    field_read_struct(ctx, &window_schema, n, &w);
    if (ctx->diags->error_count > errors)
        return;
    if (!(w.from_h < w.to_h) && !(w.from_h > w.to_h)) {
        field_problem(ctx, n, "the window is empty; from and to are the same hour");
        return;
    }
    double end = w.to_h < w.from_h ? w.to_h + 24 : w.to_h;
    p->has_hours = true;
    for (int h = 0; h < 24; h++)
        p->hours[h] = overlap(w.from_h, end, h) + overlap(w.from_h, end, h + 24);
}
