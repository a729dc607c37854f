/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/communication.h"

#include "sim/check.h"
#include "sim/dmath.h"

#define LEAST 1e-6 /* one ppm */

/* workload-models 4.3. Batches are those of its last column; ncf's time does not depend on it. Imagenet
 * has the digits that the spec's test values R1 and R2 need. */
static const struct communication rows[COMMUNICATION_MODEL_COUNT] = {
    [COMMUNICATION_LLM_FAST_FABRIC] = {.loss = 0.0075, .base_cards = 8},
    [COMMUNICATION_IMAGENET] = {.alpha_c = 0.0622, .beta_c = 0.004545, .alpha_n = 0.3106, .beta_n = 0.00553,
                                .alpha_r = 0.069, .beta_r = 0.0176, .gamma = 2.81, .batch = 81},
    [COMMUNICATION_BERT] = {.alpha_c = 0.2234, .beta_c = 0.0583, .alpha_n = 1.372, .beta_n = 0.0144,
                            .alpha_r = 0.154, .beta_r = 0.0668, .gamma = 2.13, .batch = 12},
    [COMMUNICATION_CIFAR10] = {.alpha_c = 0.0103, .beta_c = 0.000783, .alpha_n = 0.131, .beta_n = 0.0024,
                               .alpha_r = 0.041, .beta_r = 0.0048, .gamma = 2.83, .batch = 182},
    [COMMUNICATION_DEEPSPEECH2] = {.alpha_c = 0.0148, .beta_c = 0.0333, .alpha_n = 0.784, .beta_n = 0.0268,
                                   .alpha_r = 0.479, .beta_r = 0.0846, .gamma = 3.23, .batch = 28},
    [COMMUNICATION_NCF] = {.alpha_c = 0.0070, .beta_c = 1e-6, .alpha_n = 0.0151, .beta_n = 0.0004,
                           .alpha_r = 0.0029, .beta_r = 0.0012, .gamma = 1.00, .batch = 1},
    [COMMUNICATION_YOLOV3] = {.alpha_c = 0.195, .beta_c = 0.0262, .alpha_n = 0.693, .beta_n = 0.0235,
                              .alpha_r = 0.055, .beta_r = 0.0888, .gamma = 1.18, .batch = 16},
};

enum communication_law communication_law_of(enum communication_model model)
{
    if (model == COMMUNICATION_NONE)
        return COMMUNICATION_LAW_NONE;
    return model == COMMUNICATION_LLM_FAST_FABRIC ? COMMUNICATION_LAW_DOUBLING : COMMUNICATION_LAW_STEP;
}

struct communication communication_defaults(enum communication_model model)
{
    struct communication c = rows[model];
    c.model = model;
    c.two_node_penalty = 1;
    return c;
}

/* What is lost counts as waiting for the network, one after the other with computing. */
static double doubling(const struct communication *c, int32_t cards, int32_t nodes, double oversubscription)
{
    if (nodes < 2 || cards <= c->base_cards)
        return 1;
    double eta = 1 - c->loss * dm_log((double)cards / c->base_cards) / dm_log(2);
    if (eta < LEAST)
        eta = LEAST;
    return oversubscription > 1 ? 1 / (1 + oversubscription * (1 / eta - 1)) : eta;
}

static double step(const struct communication *c, int32_t cards, int32_t nodes, double oversubscription)
{
    if (cards < 2)
        return 1;
    double computing = c->alpha_c + c->beta_c * c->batch;
    double network = nodes < 2 ? c->alpha_r + c->beta_r * (cards - 2)
                               : (c->alpha_n + c->beta_n * (cards - 2)) * oversubscription;
    if (nodes == 2)
        network *= c->two_node_penalty;
    if (!(network > 0))
        return 1;
    if (!(computing > 0))
        return LEAST;
    return dm_pow(1 + dm_pow(network / computing, c->gamma), -1 / c->gamma);
}

double communication_efficiency(const struct communication *c, int32_t cards, int32_t nodes,
                                double oversubscription)
{
    REQUIRE(cards >= 1 && nodes >= 1 && oversubscription >= 1);
    double eta = 1;
    switch (communication_law_of(c->model)) {
    case COMMUNICATION_LAW_NONE:
        break;
    case COMMUNICATION_LAW_DOUBLING:
        eta = doubling(c, cards, nodes, oversubscription);
        break;
    case COMMUNICATION_LAW_STEP:
        eta = step(c, cards, nodes, oversubscription);
        break;
    }
    return eta < LEAST ? LEAST : eta > 1 ? 1 : eta;
}

int32_t communication_ppm(double efficiency)
{
    double ppm = dm_round(efficiency * 1e6);
    return ppm < 1 ? 1 : ppm > 1e6 ? 1000000 : (int32_t)ppm;
}
