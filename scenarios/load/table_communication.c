/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table of what a training gang loses to its network: a named model, and parameters instead of its own. */
#include <string.h>

#include "scenarios/load/load_priv.h"

/* The first name of a value is the one that is printed; the others are the presets of workload-models 4.3. */
static const struct enum_name model_names[] = {{"none", COMMUNICATION_NONE},
                                               {"llm-fast-fabric", COMMUNICATION_LLM_FAST_FABRIC},
                                               {"imagenet", COMMUNICATION_IMAGENET},
                                               {"dl-ethernet", COMMUNICATION_IMAGENET},
                                               {"bert", COMMUNICATION_BERT},
                                               {"comm-bound", COMMUNICATION_BERT},
                                               {"cifar10", COMMUNICATION_CIFAR10},
                                               {"deepspeech2", COMMUNICATION_DEEPSPEECH2},
                                               {"ncf", COMMUNICATION_NCF},
                                               {"yolov3", COMMUNICATION_YOLOV3},
                                               {NULL, 0}};
static const struct enum_name reference_names[] = {
    {"alone", COMMUNICATION_ALONE}, {"packed", COMMUNICATION_PACKED}, {NULL, 0}};

#define COMM(member) offsetof(struct communication, member)
#define OF_MODEL .fallback = "that of the model"
static const struct field communication_fields[] = {
    {.name = "model", .kind = FIELD_ENUM, .offset = COMM(model), .names = model_names, .flags = FIELD_REQUIRED,
     .fallback = "none",
     .help = "Where every other parameter comes from: llm-fast-fabric, or a small model on slow Ethernet (dl-ethernet is "
             "imagenet, comm-bound is bert)."},
    {.name = "durations", .kind = FIELD_ENUM, .offset = COMM(reference), .names = reference_names,
     .help = "alone: the stream's durations are those without any loss. packed: those of the gang on the fewest nodes and "
             "network domains of its pool that hold it, as recorded jobs mostly had; it never runs faster than that."},
    {.name = "lossPerDoubling", .kind = FIELD_FRACTION, .offset = COMM(loss), .max = 0.5, OF_MODEL,
     .help = "llm-fast-fabric: lost with twice baseCards, twice that with four times, on several nodes."},
    {.name = "baseCards", .kind = FIELD_INT, .offset = COMM(base_cards), .min = 1, .max = 65536, OF_MODEL,
     .help = "llm-fast-fabric: up to so many cards nothing is lost."},
    {.name = "batch", .kind = FIELD_REAL, .offset = COMM(batch), .min = 1, .max = 1e9, OF_MODEL,
     .help = "The others: samples of a card's batch; larger ones compute longer between two exchanges."},
    {.name = "alphaC", .kind = FIELD_REAL, .offset = COMM(alpha_c), .min = 1e-6, .max = 1e6, OF_MODEL,
     .help = "Seconds of computing in a step, whatever the batch (adaptdl's alpha_c)."},
    {.name = "betaC", .kind = FIELD_REAL, .offset = COMM(beta_c), .max = 1e6, OF_MODEL, .help = "Seconds per sample."},
    {.name = "alphaR", .kind = FIELD_REAL, .offset = COMM(alpha_r), .max = 1e6, OF_MODEL,
     .help = "Seconds of exchange on one node."},
    {.name = "betaR", .kind = FIELD_REAL, .offset = COMM(beta_r), .max = 1e6, OF_MODEL,
     .help = "And per card beyond the second."},
    {.name = "alphaN", .kind = FIELD_REAL, .offset = COMM(alpha_n), .max = 1e6, OF_MODEL,
     .help = "Seconds of exchange on several nodes."},
    {.name = "betaN", .kind = FIELD_REAL, .offset = COMM(beta_n), .max = 1e6, OF_MODEL,
     .help = "And per card beyond the second."},
    {.name = "gamma", .kind = FIELD_REAL, .offset = COMM(gamma), .min = 1, .max = 10, OF_MODEL,
     .help = "How far exchange and computing overlap: 1 = one after the other."},
    {.name = "twoNodePenalty", .kind = FIELD_REAL, .offset = COMM(two_node_penalty), .min = 1, .max = 100, OF_MODEL,
     .help = "Exchange on exactly two nodes takes so much longer (the public fits have 1.29 to 1.89)."},
    {0}};

static void communication_before(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    const struct ynode *model = ynode_get(map, "model");
    (void)ctx; /* a wrong model is reported by its row */
    *(struct communication *)out = communication_defaults(COMMUNICATION_NONE);
    for (const struct enum_name *e = model_names; model != NULL && e->name != NULL; e++)
        if (model->kind == YNODE_SCALAR && strcmp(model->text, e->name) == 0)
            *(struct communication *)out = communication_defaults((enum communication_model)e->value);
}

/* Parameters of the other law would change nothing. */
static void communication_after(struct read_ctx *ctx, const struct ynode *map, void *out)
{
    static const char *const of_doubling[] = {"lossPerDoubling", "baseCards"};
    const struct ynode *model = ynode_get(map, "model");
    enum communication_law law = communication_law_of(((struct communication *)out)->model);
    if (model == NULL || model->kind != YNODE_SCALAR ||
        (law == COMMUNICATION_LAW_NONE && strcmp(model->text, model_names[0].name) != 0))
        return; /* reported by its row */
    for (const struct field *f = communication_fields + 2; f->name != NULL; f++) {
        const struct ynode *at = ynode_get(map, f->name);
        bool doubling = strcmp(f->name, of_doubling[0]) == 0 || strcmp(f->name, of_doubling[1]) == 0;
        if (at != NULL && law != (doubling ? COMMUNICATION_LAW_DOUBLING : COMMUNICATION_LAW_STEP))
            field_problem(ctx, at, "'%s' is no parameter of model %s; %s", f->name, model->text,
                          law == COMMUNICATION_LAW_NONE       ? "it has none"
                          : law == COMMUNICATION_LAW_DOUBLING ? "it has lossPerDoubling and baseCards"
                                                              : "it has batch, alphaC, betaC, alphaR, betaR, alphaN, betaN, gamma and twoNodePenalty");
    }
}

const struct schema communication_schema = {
    .title = "communication",
    .about = "How much of its speed a gang loses to the network, by its cards, nodes and the levels of the pool's network that "
             "it leaves (docs/sharing.md). Without it a gang is equally fast everywhere.",
    .size = sizeof(struct communication), .fields = communication_fields, .before = communication_before,
    .after = communication_after};
