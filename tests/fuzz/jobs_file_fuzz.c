/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdint.h>

#include "scenarios/load/jobs_file.h"
#include "sim/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const queues[] = {"a", "b", "space/local", "other/local"};
    static const int32_t ids[] = {0, 1, 0, 1}, teams[] = {-1, 0, 1, 1};
    struct job_stream_config cfg = {.file_queue_column = size % 2 == 0 ? "queue" : NULL};
    const bool locals = size % 3 == 0;
    struct jobs_file_options o = {.queues = queues,
                                  .queue_count = locals ? 4 : 2,
                                  .local_queue_count = locals ? 2 : 0,
                                  .queue_ids = locals ? ids : NULL,
                                  .queue_team = locals ? teams : NULL,
                                  .skip_bad = 5};
    struct job_reader reader;
    struct err err = {0};
    struct text_input *in = text_input_memory("fuzz", data, size, 1000);
    if (!jobs_file_read(in, &cfg, &o, &reader, &err)) {
        REQUIRE(err.code == ERR_INPUT);
        return 0;
    }
    struct job_spec job;
    sim_time last = 0;
    while (reader.next(reader.ctx, &job, &err)) {
        REQUIRE(job.submit >= last && job.work >= 1 && job.workers >= 1);
        const bool cards = job.cards_per_worker > 0, share = job.share_milli > 0;
        REQUIRE(cards != share || (!cards && (job.amounts.cpu_milli > 0 || job.amounts.memory_bytes > 0)));
        REQUIRE(job.queue >= 0 && job.queue < 2);
        last = job.submit;
    }
    reader.close(reader.ctx);
    return 0;
}
