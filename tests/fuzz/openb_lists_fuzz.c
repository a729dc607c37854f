/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Node and pod lists of the FGD experiment: the input is a node list, a byte 1, and a pod list. */
#include <stdlib.h>
#include <string.h>

#include "bench/fgd/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *mark = size > 0 ? memchr(data, 1, size) : NULL;
    size_t first = mark != NULL ? (size_t)(mark - data) : size;
    struct openb_nodes nodes;
    struct openb_pods pods;
    struct err e = {0};
    struct text_input *in = text_input_memory("nodes", data, first, 0);
    bool ok = openb_read_nodes(&nodes, in, &e);
    text_input_close(in);
    if (ok && mark != NULL) {
        in = text_input_memory("pods", mark + 1, size - first - 1, 0);
        if (openb_read_pods(&pods, &nodes, in, &e)) {
            struct frag_mix mix;
            fgd_mix_make(&mix, &pods);
            if (mix.count < 1 || mix.count > pods.kind_count)
                abort();
            frag_mix_fini(&mix);
        }
        openb_pods_fini(&pods);
        text_input_close(in);
    }
    openb_nodes_fini(&nodes);
    return 0;
}
