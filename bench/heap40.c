/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The yardstick: about 40 lines of plain 4-ary heap of 24-byte records, without classes, ties or
 * checks, in a hold loop. Rates of other benchmarks are read as ratios to `heap40 pending=2`, so
 * that the speed of the machine drops out.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "sim/arena.h"
#include "sim/rng.h"

struct entry {
    int64_t time;
    uint64_t key;
    uint64_t payload;
};

struct heap {
    struct entry *at;
    size_t count;
};

static inline bool earlier(struct entry a, struct entry b)
{
    return a.time < b.time || (a.time == b.time && a.key < b.key);
}

static void heap_push(struct heap *h, struct entry e)
{
    size_t i = h->count++;
    while (i > 0 && earlier(e, h->at[(i - 1) / 4])) {
        h->at[i] = h->at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->at[i] = e;
}

static struct entry heap_pop(struct heap *h)
{
    struct entry top = h->at[0], last = h->at[--h->count];
    size_t i = 0;
    for (size_t child = 1; child < h->count; child = 4 * i + 1) {
        size_t end = child + 4 < h->count ? child + 4 : h->count, least = child;
        for (size_t c = child + 1; c < end; c++)
            least = earlier(h->at[c], h->at[least]) ? c : least;
        if (!earlier(h->at[least], last))
            break;
        h->at[i] = h->at[least];
        i = least;
    }
    h->at[i] = last;
    return top;
}

/* Exponential with mean 1 s, as anybody would write it: libm's log of a hashed counter. */
static inline int64_t increment(uint64_t i)
{
    return (int64_t)(-1e9 * log(((double)(int64_t)(rng_hash(i) >> 11) + 0.5) * 0x1p-53));
}

static void hold_heap40(struct bench_report *report, uint64_t pending)
{
    uint64_t count = report->options->count > 0 ? report->options->count : 20000000;
    struct heap h = {.at = mem_alloc(pending + 1, sizeof *h.at)};
    char parameter[32];
    for (uint64_t i = 0; i < pending; i++)
        heap_push(&h, (struct entry){.time = increment(i), .key = i});
    double start = bench_cpu_s();
    for (uint64_t i = 0; i < count; i++) {
        struct entry e = heap_pop(&h);
        e.time += increment(pending + i);
        heap_push(&h, e);
    }
    double cpu_s = bench_cpu_s() - start;
    snprintf(parameter, sizeof parameter, "pending=%llu", (unsigned long long)pending);
    bench_add(report, parameter, count, count, cpu_s);
    free(h.at);
}

bool bench_heap40(struct bench_report *report, struct err *e)
{
    (void)e;
    if (report->options->pending > 0) {
        hold_heap40(report, report->options->pending);
        return true;
    }
    hold_heap40(report, 2);
    hold_heap40(report, 30000);
    return true;
}
