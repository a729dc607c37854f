/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HAMi cases from arbitrary JSON: read, decide, bind to any node that fits, release. */
#include "models/fleet/sharing/hami.h"
#include "sim/check.h"
#include "studies/hami_json.h"
#include "studies/jsonl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_pod(struct hami_cluster *c, int32_t nodes, const cJSON *event, struct arena *arena)
{
    struct err e = {0};
    struct hami_pod pod;
    if (!hami_json_pod(event, &pod, arena, &e) || hami_admit(c, &pod, arena) != HAMI_ADMITTED ||
        !hami_asks(&pod))
        return;
    struct hami_result *r = hami_decide(c, &pod, arena);
    for (int32_t n = 0; r != NULL && n < nodes; n++) {
        REQUIRE(r[n].fits == (r[n].reason == NULL));
        if (!r[n].fits)
            continue;
        struct hami_bound *b = hami_bind(c, &pod, n, &r[n]);
        hami_init_done(c, b);
        hami_unbind(c, b);
        REQUIRE(hami_card_usage(c, n, 0).slots == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err e = {0};
    int32_t count;
    cJSON *o = cJSON_ParseWithLength((const char *)data, size);
    const cJSON *event;
    struct hami_node *nodes = hami_json_nodes(jsonl_get(o, "nodes"), &count, &arena, &e);
    if (nodes != NULL) {
        struct hami_config cfg = hami_json_config(jsonl_get(o, "config"));
        struct hami_cluster *c = hami_cluster_create(&cfg, nodes, count);
        cJSON_ArrayForEach(event, jsonl_get(o, "events"))
            try_pod(c, count, event, &arena);
        hami_cluster_destroy(c);
    }
    cJSON_Delete(o);
    arena_fini(&arena);
    return 0;
}
