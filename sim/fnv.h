/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FNV-1a, 64 bit: content hashes of goldens, scenario texts and inputs. */
#ifndef SIM_FNV_H
#define SIM_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv_add(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it follows one byte of a number only */
        h ^= p[i];
        h *= UINT64_C(0x100000001b3);
    }
    return h;
}

#endif
