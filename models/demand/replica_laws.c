/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/demand/replica_laws.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define KV_BYTES 2.0        /* 16-bit KV */
#define UTILISATION 0.9
#define RESERVE_BYTES 3.76e9
#define RESERVE_TP_BYTES 0.41e9
#define API_OVERHEAD_S 0.015
#define LARGE_CARD_BYTES (INT64_C(70) << 30)

/* workload-models 1.3; Llama-3.1-8B and the 70B also stand for their older sisters of one shape. */
static const struct model_shape shapes[] = {
    {"Llama-3.1-8B", 32, 4096, 8, 128, 8.03e9, 8.03e9, 0},
    {"Qwen3-32B", 64, 5120, 8, 128, 32.8e9, 32.8e9, 0},
    {"Llama-3.1-70B", 80, 8192, 8, 128, 70.6e9, 70.6e9, 0},
    {"Llama2-70B", 80, 8192, 8, 128, 69.0e9, 69.0e9, 0},
    {"DeepSeek-V3", 61, 7168, 1, 0, 671e9, 37e9, 576},
    {"DeepSeek-R1", 61, 7168, 1, 0, 671e9, 37e9, 576},
    {"MiniMax-M2.5", 62, 3072, 8, 128, 230e9, 10e9, 0},
    {"Qwen3-235B-A22B", 94, 4096, 4, 128, 235e9, 22e9, 0},
    {"gpt-oss-120b", 36, 2880, 8, 64, 117e9, 5.1e9, 0},
};

struct precision {
    const char *name;
    double bytes; /* per parameter, scales included */
};
static const struct precision precisions[] = {
    {"bf16", 2.0}, {"fp16", 2.0}, {"fp8", 1.0}, {"int8", 1.0}, {"fp4", 0.56}, {"int4", 0.56}};

const char *replica_class_text(enum replica_class c)
{
    static const char *const texts[] = {
        "fitted, mean error 0.4-6.4 %, leave-one-out to 7.8 %",
        "fitted, mean error 0.5-5.9 %, all experts counted as read (high for small batches)",
        "fitted to an engine of 2023-24, decode 1-10 %, prefill 3-14 %",
        "kernel profiles plus host term, 4 % end to end",
        "data-sheet law, about 10 %",
        "data-sheet law outside its training set, about 30 %"};
    return texts[c];
}

const struct model_shape *replica_model_find(const char *name)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcasecmp(shapes[i].name, name) == 0)
            return &shapes[i];
    return NULL;
}

double replica_kv_bytes_per_token(const struct model_shape *m, double bytes)
{
    double numbers = m->latent > 0 ? (double)m->latent : 2.0 * m->kv_heads * m->head_dim;
    return m->layers * numbers * bytes;
}

static double least(double x, double y)
{
    return x < y ? x : y;
}

double replica_kv_capacity(const struct model_shape *m, double memory_bytes, double utilisation,
                           int32_t tp, double weight_bytes, double reserve_bytes,
                           double kv_number_bytes)
{
    if (reserve_bytes < 0.0)
        reserve_bytes = RESERVE_BYTES + (tp > 1 ? RESERVE_TP_BYTES : 0.0);
    double room = memory_bytes * utilisation * tp - weight_bytes - reserve_bytes * tp;
    if (room <= 0.0)
        return 0.0;
    double heads = m->latent > 0 ? 1.0 : least(tp, m->kv_heads);
    return room / replica_kv_bytes_per_token(m, kv_number_bytes) * (heads / tp);
}

/* Constants of one engine in law 1.10: seconds, seconds per layer, efficiencies. */
struct engine_law {
    double host_s, layer_s, read_share, compute_share, d1_s, d1_of_a;
};
static const struct engine_law vllm_law = {0.77e-3, 59.7e-6, 0.97, 0.80, 22e-6, 0.89};
static const struct engine_law trtllm_law = {0.0, 64e-6, 0.64, 0.45, 14.5e-6, 0.63};

static double tensor_flops(const struct card_type *card, double bytes)
{
    if (bytes >= 2.0 || card->flops_fp8 <= 0.0)
        return card->flops_bf16;
    bool fp4 = bytes < 1.0 && card->flops_fp8 >= 4e15; /* Blackwell doubles once more */
    return fp4 ? 2.0 * card->flops_fp8 : card->flops_fp8;
}

bool replica_law_datasheet(const struct model_shape *m, const struct card_type *card, int32_t tp,
                           double weight_bytes_per_parameter, bool trtllm, struct replica_law *out)
{
    double bandwidth = card->hbm_bytes_per_s;
    double flops = tensor_flops(card, weight_bytes_per_parameter);
    bool alone = tp == 1;
    if (m->active < m->parameters || bandwidth <= 0.0 || flops <= 0.0
        || (!alone && card->link_bytes_per_s <= 0.0))
        return false;
    const struct engine_law *e = trtllm ? &trtllm_law : &vllm_law;
    double weights = m->parameters * weight_bytes_per_parameter;
    /* Two all-reduces per layer; a bus of up to 64 GB/s is PCIe. */
    double volume = 2.0 * m->layers * m->width * 2.0 * 2.0 * (tp - 1) / tp;
    double link_share = card->link_bytes_per_s > 64e9 ? 0.45 : 0.25;
    double collective = alone ? 0.0 : volume / (card->link_bytes_per_s * link_share);
    *out = (struct replica_law){0};
    out->c0_s = e->host_s + e->layer_s * m->layers + weights / (tp * bandwidth * e->read_share);
    out->a_s = 2.0 * m->active / (tp * flops * e->compute_share) + collective;
    out->d1_s = e->d1_s + e->d1_of_a * out->a_s;
    out->d2_s = replica_kv_bytes_per_token(m, KV_BYTES) / (least(tp, m->kv_heads) * bandwidth);
    return true;
}

/* A name taken apart: shape (NULL when unknown), bytes per parameter (0 when unknown), engine. */
struct model_name {
    const struct model_shape *shape;
    double bytes;
    bool trtllm, vllm;
};

static bool cut_suffix(char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    if (n <= k + 1 || name[n - k - 1] != '-' || strcasecmp(name + n - k, suffix) != 0)
        return false;
    name[n - k - 1] = '\0';
    return true;
}

static struct model_name parse_name(const char *model)
{
    struct model_name out = {0};
    char name[64];
    if (strlen(model) >= sizeof name)
        return out;
    strcpy(name, model);
    out.trtllm = cut_suffix(name, "trtllm");
    out.vllm = !out.trtllm && !cut_suffix(name, "sglang");
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0] && out.bytes == 0.0; i++)
        if (cut_suffix(name, precisions[i].name))
            out.bytes = precisions[i].bytes;
    out.shape = replica_model_find(name);
    return out;
}

static const struct replica_fit *find_fit(const char *model, const char *card, int32_t tp)
{
    for (int32_t i = 0; i < replica_fit_count; i++) {
        const struct replica_fit *f = &replica_fits[i];
        if (f->tp == tp && strcasecmp(f->model, model) == 0 && strcasecmp(f->card, card) == 0)
            return f;
    }
    return NULL;
}

static void from_fit(const struct replica_fit *f, struct replica_law *out)
{
    *out = (struct replica_law){.c0_s = (f->c0_ms + f->cmoe_ms) * 1e-3, .a_s = f->a_us * 1e-6,
                                .aq_s = f->aq_ns * 1e-9, .d1_s = f->d1_us * 1e-6,
                                .d2_s = f->d2_ns * 1e-9};
}

static const struct card_type *find_card(const char *name)
{
    const struct catalogue *c = catalogue_builtin();
    for (int32_t i = 0; i < c->card_count; i++)
        if (strcasecmp(c->cards[i].name, name) == 0)
            return &c->cards[i];
    return NULL;
}

static enum replica_class datasheet_class(const struct card_type *card)
{
    bool nvlink = card->link_bytes_per_s > 64e9;
    bool nvidia = card->vendor != NULL && strcasecmp(card->vendor, "NVIDIA") == 0;
    return nvlink && nvidia ? REPLICA_DATASHEET : REPLICA_DATASHEET_FAR;
}

static void engine_defaults(const struct card_type *card, const char *card_name,
                            struct replica_law *out)
{
    bool large = card != NULL && card->memory_bytes >= LARGE_CARD_BYTES
                 && strncasecmp(card_name, "A100", 4) != 0;
    out->max_num_seqs = large ? 1024 : 256;
    out->max_num_batched_tokens = large ? 8192 : 2048;
    out->api_overhead_s = API_OVERHEAD_S;
}

bool replica_law_find(const char *model, const char *card, int32_t tp, struct replica_law *out,
                      const char **klass)
{
    struct model_name name = parse_name(model);
    const struct card_type *type = find_card(card);
    const struct replica_fit *fit = find_fit(model, card, tp);
    enum replica_class c;
    if (tp < 1)
        return false;
    if (fit != NULL) {
        from_fit(fit, out);
        c = (enum replica_class)fit->fit_class;
    } else if (name.shape != NULL && name.bytes > 0.0 && type != NULL && (name.vllm || name.trtllm)
               && replica_law_datasheet(name.shape, type, tp, name.bytes, name.trtllm, out)) {
        c = datasheet_class(type);
    } else {
        return false;
    }
    engine_defaults(type, card, out);
    if (name.shape != NULL && out->aq_s == 0.0)
        out->aq_s = out->a_s * 2.0 * name.shape->layers * name.shape->width / name.shape->active;
    if (name.shape != NULL && type != NULL) {
        out->kv_capacity_tokens = replica_kv_capacity(
            name.shape, (double)type->memory_bytes, UTILISATION, tp,
            name.shape->parameters * name.bytes, -1.0, KV_BYTES);
        if (out->kv_capacity_tokens <= 0.0)
            return false;
    }
    if (klass != NULL)
        *klass = replica_class_text(c);
    return true;
}
