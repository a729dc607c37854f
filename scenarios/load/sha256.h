/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (FIPS 180-4), so that the provenance of a file can be checked with sha256sum. */
#ifndef SCENARIOS_LOAD_SHA256_H
#define SCENARIOS_LOAD_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t n);
/* Hex digest with a final NUL; s is not changed, so more may be added. */
void sha256_hex(const struct sha256 *s, char hex[65]);

#endif
