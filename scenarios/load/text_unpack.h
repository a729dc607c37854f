/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streaming gzip and zstd behind one call; the kind is told by magic bytes. */
#ifndef SCENARIOS_LOAD_TEXT_UNPACK_H
#define SCENARIOS_LOAD_TEXT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/err.h"

struct text_unpack;

/* NULL when the first bytes are neither gzip (1f 8b) nor zstd (28 b5 2f fd): plain data. */
struct text_unpack *text_unpack_open(const unsigned char *head, size_t n);

/* Unpacks from in (n bytes, *used consumed) into out (room bytes, *made written). False and err
 * (ERR_INPUT, naming `name`) when the data is damaged. Several members or frames in a row are one
 * stream; zero padding after the last is ignored. */
bool text_unpack_step(struct text_unpack *u, const char *name, const unsigned char *in, size_t n,
                      size_t *used, unsigned char *out, size_t room, size_t *made, struct err *err);

/* True when the data may end here (no member is open). */
bool text_unpack_complete(const struct text_unpack *u);
const char *text_unpack_kind(const struct text_unpack *u); /* "gzip" or "zstd" */
void text_unpack_close(struct text_unpack *u);

#endif
