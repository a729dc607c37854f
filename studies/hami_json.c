/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/hami_json.h"

#include <stdlib.h>
#include <string.h>

#include "studies/jsonl.h"

struct hami_config hami_json_config(const cJSON *config)
{
    return (struct hami_config){
        .node_policy = jsonl_string(config, "node_policy", "binpack"),
        .card_policy = jsonl_string(config, "gpu_policy", "spread"),
        .default_mem = (int32_t)jsonl_int(config, "default_mem", 0),
        .default_cores = (int32_t)jsonl_int(config, "default_cores", 0),
        .default_count = (int32_t)jsonl_int(config, "default_gpu_num", 1),
        .mem_factor = (int32_t)jsonl_int(config, "mem_factor", 1),
        .ascend_hami_core = jsonl_bool(config, "ascend_hami_core", false),
        .metax_topology_aware = jsonl_bool(config, "metax_topology_aware", false),
    };
}

static struct hami_text *texts(const cJSON *object, int32_t *count, struct arena *arena)
{
    int n = cJSON_GetArraySize(object);
    struct hami_text *out = arena_alloc(arena, (size_t)n + 1, sizeof(*out));
    const cJSON *member;
    *count = 0;
    cJSON_ArrayForEach(member, object)
        if (cJSON_IsString(member))
            out[(*count)++] = (struct hami_text){member->string, member->valuestring};
    return out;
}

/* [profile, MiB, cores, compute slices, memory slices, [starts]] */
static bool mig_profiles(const cJSON *rows, struct hami_card *d, struct err *e)
{
    const cJSON *row, *start;
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *name = cJSON_GetArrayItem(row, 0), *starts = cJSON_GetArrayItem(row, 5);
        if (d->mig_count == HAMI_PROFILES || !cJSON_IsString(name) ||
            cJSON_GetArraySize(starts) > HAMI_PROFILES)
            return err_set(e, ERR_INPUT, "card '%s': more than %d MIG profiles or starts, or no name",
                           d->id, HAMI_PROFILES);
        struct hami_mig_profile *p = &d->mig[d->mig_count++];
        *p = (struct hami_mig_profile){.name = name->valuestring,
                                       .mem = (int32_t)jsonl_at(row, 1, 0),
                                       .cores = (int32_t)jsonl_at(row, 2, 0),
                                       .slices = (int32_t)jsonl_at(row, 3, 0),
                                       .size = (int32_t)jsonl_at(row, 4, 0)};
        cJSON_ArrayForEach(start, starts)
            p->starts[p->start_count++] = (int32_t)start->valuedouble;
        for (int32_t i = 0; i < p->start_count; i++)
            if (p->starts[i] < 0 || p->size < 1 || p->starts[i] + p->size > 31)
                return err_set(e, ERR_INPUT, "card '%s': MIG placement out of range", d->id);
    }
    return true;
}

/* "3g.24gb" -> 3, 24 */
static bool drs_profile(const char *name, struct hami_drs_profile *p)
{
    char *end;
    p->size = (int32_t)strtol(name, &end, 10);
    if (end == name || strncmp(end, "g.", 2) != 0)
        return false;
    const char *mem = end + 2;
    p->mem_gb = (int32_t)strtol(mem, &end, 10);
    return end != mem && strcmp(end, "gb") == 0;
}

static bool vendor_info(const cJSON *info, struct hami_card *d, struct err *e)
{
    const cJSON *network = jsonl_get(info, "NetworkID"), *profile;
    d->has_info = info != NULL;
    d->has_network = cJSON_IsNumber(network);
    d->network = (int32_t)jsonl_int(info, "NetworkID", 0);
    d->link_zone = (int32_t)jsonl_int(info, "LinkZone", 0);
    d->qos = jsonl_string(info, "QosPolicy", "");
    d->aic = jsonl_string(info, "AIC", NULL);
    d->die = strcmp(jsonl_string(info, "DeviceStrategy", ""), "die") == 0;
    d->node_type = jsonl_string(info, "AWSNodeType", NULL);
    d->max_slice = (int32_t)jsonl_int(info, "maxSlice", 0);
    cJSON_ArrayForEach(profile, jsonl_get(info, "profiles"))
    {
        if (d->drs_count == HAMI_PROFILES)
            return err_set(e, ERR_INPUT, "card '%s': more than %d profiles", d->id, HAMI_PROFILES);
        if (drs_profile(profile->string, &d->drs[d->drs_count]))
            d->drs_count++;
    }
    return true;
}

static bool read_card(const cJSON *o, struct hami_card *d, struct err *e)
{
    const char *vendor = jsonl_string(o, "vendor", "");
    *d = (struct hami_card){
        .id = jsonl_string(o, "id", ""),
        .type = jsonl_string(o, "type", ""),
        .vendor = hami_vendor_find(vendor),
        .index = (int32_t)jsonl_int(o, "idx", 0),
        .slots = (int32_t)jsonl_int(o, "slots", 0),
        .mem = (int32_t)jsonl_int(o, "mem", 0),
        .cores = (int32_t)jsonl_int(o, "cores", 0),
        .numa = (int32_t)jsonl_int(o, "numa", 0),
        .healthy = jsonl_bool(o, "health", false),
        .mode = jsonl_string(o, "mode", ""),
    };
    if (d->vendor < 0 || d->id[0] == '\0' || d->index < 0)
        return err_set(e, ERR_INPUT, "card '%s': unknown vendor '%s' or bad index", d->id, vendor);
    return mig_profiles(jsonl_get(o, "mig"), d, e) && vendor_info(jsonl_get(o, "info"), d, e);
}

/* {card: {card: score}} as a row per card; a card without a row keeps NULL. */
static void pair_scores(const cJSON *pair, struct hami_card *cards, int32_t count,
                        struct arena *arena)
{
    for (int32_t i = 0; i < count; i++) {
        const cJSON *row = cJSON_GetObjectItemCaseSensitive(pair, cards[i].id);
        if (row == NULL)
            continue;
        int32_t *scores = arena_alloc(arena, (size_t)count, sizeof(*scores));
        for (int32_t k = 0; k < count; k++)
            scores[k] = (int32_t)jsonl_int(row, cards[k].id, 0);
        cards[i].pair = scores;
    }
}

/* Annotation {"1": 41, "2": 116, ...} by number of cards; false when there is none. */
static bool metax_counts(const struct hami_node *n, const char *key, int32_t *out)
{
    for (int32_t i = 0; i < n->annotation_count; i++) {
        if (strcmp(n->annotations[i].key, key) != 0)
            continue;
        cJSON *o = cJSON_Parse(n->annotations[i].value);
        const cJSON *member;
        cJSON_ArrayForEach(member, o)
        {
            long at = member->string != NULL ? strtol(member->string, NULL, 10) : -1;
            if (at >= 0 && at < HAMI_METAX_COUNTS)
                out[at] = (int32_t)member->valuedouble;
        }
        cJSON_Delete(o);
        return true;
    }
    return false;
}

static bool read_node(const cJSON *o, struct hami_node *n, struct arena *arena, struct err *e)
{
    const cJSON *cards = jsonl_get(o, "cards"), *card;
    struct hami_card *out = arena_alloc(arena, (size_t)cJSON_GetArraySize(cards) + 1, sizeof(*out));
    n->name = jsonl_string(o, "name", "");
    n->cards = out;
    n->annotations = texts(jsonl_get(o, "anno"), &n->annotation_count, arena);
    cJSON_ArrayForEach(card, cards)
        if (!read_card(card, &out[n->card_count++], e))
            return false;
    pair_scores(jsonl_get(o, "pair"), out, n->card_count, arena);
    n->has_loss = metax_counts(n, "metax-tech.com/gpu.topology.losses", n->loss);
    n->has_score = metax_counts(n, "metax-tech.com/gpu.topology.scores", n->score);
    return true;
}

struct hami_node *hami_json_nodes(const cJSON *nodes, int32_t *count, struct arena *arena,
                                  struct err *e)
{
    int n = cJSON_GetArraySize(nodes);
    struct hami_node *out = arena_alloc(arena, (size_t)n + 1, sizeof(*out));
    const cJSON *node;
    *count = 0;
    if (n == 0) {
        err_set(e, ERR_INPUT, "case without nodes");
        return NULL;
    }
    cJSON_ArrayForEach(node, nodes)
        if (!read_node(node, &out[(*count)++], arena, e))
            return NULL;
    return out;
}

static const struct {
    const char *suffix;
    int64_t factor;
} suffixes[] = {{"Ki", INT64_C(1) << 10}, {"Mi", INT64_C(1) << 20}, {"Gi", INT64_C(1) << 30},
                {"Ti", INT64_C(1) << 40}, {"k", 1000},              {"M", 1000000},
                {"G", 1000000000},        {"T", INT64_C(1000000000000)}};

bool hami_json_quantity(const cJSON *value, int64_t *number, bool *unit)
{
    *unit = false;
    if (cJSON_IsNumber(value)) {
        if (value->valuedouble < -1e15 || value->valuedouble > 1e15)
            return false;
        *number = (int64_t)value->valuedouble;
        /* the canonical form of a multiple of a thousand is written with k, M, ... */
        *unit = *number != 0 && *number % 1000 == 0;
        return true;
    }
    if (!cJSON_IsString(value))
        return false;
    char *end;
    *number = strtoll(value->valuestring, &end, 10);
    if (end == value->valuestring)
        return false;
    if (*end == '\0') {
        *unit = *number != 0 && *number % 1000 == 0;
        return true;
    }
    *unit = true;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (strcmp(end, suffixes[i].suffix) == 0)
            return !__builtin_mul_overflow(*number, suffixes[i].factor, number);
    return false;
}

static bool read_limits(const cJSON *lim, struct hami_container *ctr, struct arena *arena,
                        struct err *e)
{
    const cJSON *value;
    ctr->limits = arena_alloc(arena, (size_t)cJSON_GetArraySize(lim) + 1, sizeof(*ctr->limits));
    cJSON_ArrayForEach(value, lim)
    {
        struct hami_limit *l = &ctr->limits[ctr->limit_count];
        l->name = value->string;
        if (!hami_json_quantity(value, &l->value, &l->unit))
            return err_set(e, ERR_INPUT, "limit '%s' is not a whole quantity", value->string);
        ctr->limit_count++;
    }
    return true;
}

bool hami_json_pod(const cJSON *event, struct hami_pod *pod, struct arena *arena, struct err *e)
{
    const cJSON *ctr = jsonl_get(event, "ctr"), *o;
    *pod = (struct hami_pod){.ns = jsonl_string(event, "ns", "default")};
    pod->annotations = texts(jsonl_get(event, "anno"), &pod->annotation_count, arena);
    pod->containers =
        arena_alloc(arena, (size_t)cJSON_GetArraySize(ctr) + 1, sizeof(*pod->containers));
    cJSON_ArrayForEach(o, ctr)
    {
        struct hami_container *c = &pod->containers[pod->container_count++];
        c->init = jsonl_bool(o, "init", false);
        if (c->init && pod->init_count + 1 != pod->container_count)
            return err_set(e, ERR_INPUT, "pod '%s': init containers must come first",
                           jsonl_string(event, "pod", ""));
        pod->init_count += c->init;
        if (!read_limits(jsonl_get(o, "lim"), c, arena, e))
            return false;
    }
    return true;
}
