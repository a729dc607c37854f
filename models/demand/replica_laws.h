/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Iteration laws of known deployments, and a law for unknown ones (workload-models 1.3, 1.8, 1.10).
 *
 * Models are named <model>-<precision>[-<engine>]: "Llama-3.1-70B-fp8", "Qwen3-32B-fp8-trtllm";
 * no engine means vLLM. Cards carry the names of the accelerator catalogue. Case is ignored.
 */
#ifndef MODELS_DEMAND_REPLICA_LAWS_H
#define MODELS_DEMAND_REPLICA_LAWS_H

#include <stdbool.h>
#include <stdint.h>

#include "models/demand/demand_config.h"
#include "models/fleet/catalogue.h"

/* One fitted row; units as printed in workload-models 1.8. */
struct replica_fit {
    const char *model, *card;
    int32_t tp;
    double c0_ms, cmoe_ms; /* cmoe: reading all routed experts */
    double a_us, aq_ns, d1_us, d2_ns;
    int32_t fit_class;     /* enum replica_class */
};
extern const struct replica_fit replica_fits[];
extern const int32_t replica_fit_count;

enum replica_class {
    REPLICA_FITTED,      /* dense: mean error 0.4-6.4 %, leave-one-out to 7.8 % */
    REPLICA_FITTED_MOE,  /* all experts counted as read: right for large batches, high for small */
    REPLICA_FITTED_OLD,  /* engines of 2023-24: decode 1-10 %, prefill 3-14 % */
    REPLICA_PROFILED,    /* kernel profiles plus host term, 4 % end to end */
    REPLICA_DATASHEET,   /* law 1.10 on a datacentre NVIDIA card: about 10 % */
    REPLICA_DATASHEET_FAR /* law 1.10 elsewhere: about 30 % */
};
/* One line for results: the class and its error. */
const char *replica_class_text(enum replica_class c);

/* Geometry of a model (workload-models 1.3). */
struct model_shape {
    const char *name;
    int32_t layers, width, kv_heads, head_dim;
    double parameters, active;   /* active per token; fewer than parameters for experts */
    int32_t latent;              /* MLA: numbers per token and layer; 0 otherwise */
};
/* By name without precision; NULL when unknown. */
const struct model_shape *replica_model_find(const char *name);

/* Bytes of KV per token at bytes per number: 2 L kv_heads head_dim b, or L latent b. */
double replica_kv_bytes_per_token(const struct model_shape *m, double bytes);

/*
 * Tokens of KV that fit: (memory util tp - weights - reserve tp) / bytes per token, times
 * min(tp, kv_heads)/tp where heads are replicated (MLA: 1/tp). reserve_bytes per card; negative =
 * the default of 3.76 GB, 4.17 GB when tp > 1. 0 when the weights do not fit.
 */
double replica_kv_capacity(const struct model_shape *m, double memory_bytes, double utilisation,
                           int32_t tp, double weight_bytes, double reserve_bytes,
                           double kv_number_bytes);

/* Law 1.10 (dense models): c0, a, d1, d2 from the data sheet. weight_bytes_per_parameter 2, 1 or
 * 0.56. false when the card's figures are not known or the model has experts. */
bool replica_law_datasheet(const struct model_shape *m, const struct card_type *card, int32_t tp,
                           double weight_bytes_per_parameter, bool trtllm, struct replica_law *out);

/*
 * Law of a deployment: the fitted row when there is one, else law 1.10. Fills aq (from FLOP
 * counts), the engine's defaults for max_num_seqs and max_num_batched_tokens (1024 and 8192 on
 * cards of 70 GiB or more that are no A100, else 256 and 2048), KV capacity at utilisation 0.9
 * with 16-bit KV (0 = no limit when the model's shape is not known), API overhead 15 ms. *klass
 * (may be NULL) is set to a static text. false when neither is known or the weights do not fit.
 */
bool replica_law_find(const char *model, const char *card, int32_t tp, struct replica_law *out,
                      const char **klass);

#endif
