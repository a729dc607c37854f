/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a training gang loses to its network: efficiency by cards, nodes and how far apart the nodes
 * are (workload-models 4.3). Pure functions of named models whose parameters a scenario may change.
 *
 *   doubling  eta = 1 - loss * log2(n / base) on several nodes with n > base cards, else 1. The base is
 *             the 8 cards at which the loss was measured. [FOUNDRY], A100 and H100, 16 to 128 cards:
 *             0.91 to 1.01, worst for the smallest models. Beyond 1,000 cards nothing was measured.
 *   step      eta = (1 + (Tn / Tc)^gamma)^(-1 / gamma), Tc = alphaC + betaC * batch,
 *             Tn = 0 with one card, else alpha + beta * (n - 2): alphaR, betaR on one node, alphaN, betaN
 *             on several (Pollux, OSDI 2021; names as in adaptdl). The rows are fits of the spec to
 *             adaptdl's placements on 4-GPU nodes in a cloud network, mean error 6 to 9 %, 33 to 56 % at
 *             worst: small models on 10 to 50 Gb/s Ethernet.
 *
 * Nodes far apart: whatever a gang on several nodes waits for the network takes `oversubscription`
 * times as long (the product over the levels it leaves, models/fleet/span.h): each of its nodes then has
 * that part of its bandwidth, as if all nodes talked outwards at once. That is the worst case, and an
 * assumption: there is no measurement by level in the specs.
 *
 * Portable: + - * / and sim/dmath alone. Efficiencies are used in whole ppm (communication_ppm).
 */
#ifndef MODELS_DEMAND_COMMUNICATION_H
#define MODELS_DEMAND_COMMUNICATION_H

#include <stdbool.h>
#include <stdint.h>

enum communication_model {
    COMMUNICATION_NONE,
    COMMUNICATION_LLM_FAST_FABRIC,
    COMMUNICATION_IMAGENET, /* the spec's dl_ethernet */
    COMMUNICATION_BERT,     /* the spec's comm_bound */
    COMMUNICATION_CIFAR10,
    COMMUNICATION_DEEPSPEECH2,
    COMMUNICATION_NCF,
    COMMUNICATION_YOLOV3,
    COMMUNICATION_MODEL_COUNT
};

enum communication_law { COMMUNICATION_LAW_NONE, COMMUNICATION_LAW_DOUBLING, COMMUNICATION_LAW_STEP };

/* At which placement the durations of a stream were measured. */
enum communication_reference {
    COMMUNICATION_ALONE, /* on one card, or without any loss */
    COMMUNICATION_PACKED /* the gang on the fewest nodes and domains of its pool that hold it */
};

struct communication {
    enum communication_model model;
    enum communication_reference reference;
    double loss;               /* doubling: of a gang with twice the base */
    int32_t base_cards;
    double alpha_c, beta_c;    /* step, seconds: of computing, and per sample of the local batch */
    double alpha_r, beta_r;    /* on one node: base, and per card beyond the second */
    double alpha_n, beta_n;    /* on several */
    double gamma;              /* overlap: 1 = none, large = complete */
    double batch;              /* local batch, samples */
    double two_node_penalty;   /* Tn of exactly two nodes is so much longer; the fit has 1.29 to 1.89 */
};

/* The named model with its published parameters. */
struct communication communication_defaults(enum communication_model model);
enum communication_law communication_law_of(enum communication_model model);

/* Of `cards` cards (>= 1) on `nodes` nodes (>= 1; only 1, 2 and more are told apart), in (0, 1];
 * oversubscription >= 1. */
double communication_efficiency(const struct communication *c, int32_t cards, int32_t nodes,
                                double oversubscription);
/* The same in whole ppm, rounded half away from zero, 1 .. 10^6. */
int32_t communication_ppm(double efficiency);

#endif
