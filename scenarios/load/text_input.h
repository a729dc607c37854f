/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text files line by line: plain, gzip or zstd (told by their first bytes, not by the name), from
 * a file, a pipe, standard input ("-") or memory. A UTF-8 byte order mark is skipped; LF and CRLF
 * end a line, the last line needs no end. Memory does not grow with the file: a line longer than
 * the limit is an error, and so is a NUL byte (a binary file).
 */
#ifndef SCENARIOS_LOAD_TEXT_INPUT_H
#define SCENARIOS_LOAD_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

#define TEXT_LINE_LIMIT ((size_t)4 << 20) /* JSON lines and Philly rows reach hundreds of kB */

struct text_input;

/* Opens path, or standard input for "-". NULL and err (ERR_INPUT) when it is missing, a directory
 * or not readable. line_limit in bytes, 0 = TEXT_LINE_LIMIT. The path is copied. */
struct text_input *text_input_open(const char *path, size_t line_limit, struct err *err);

/* Reads n bytes that the caller keeps alive; name is for messages. */
struct text_input *text_input_memory(const char *name, const void *data, size_t n, size_t line_limit);

/* Keeps a SHA-256 of the bytes as they are stored (packed), from now on; call before reading. */
void text_input_want_sha256(struct text_input *in);

/* The next line without its end, NUL-terminated, valid and writable until the next call. False at
 * the end of the file, or with err set: unreadable, packed data cut short or damaged (ERR_INPUT),
 * line too long, NUL byte. */
bool text_input_line(struct text_input *in, char **line, size_t *length, struct err *err);

/* Up to n unpacked bytes; 0 at the end or on error. Not to be mixed with text_input_line. */
size_t text_input_read(struct text_input *in, char *buffer, size_t n, struct err *err);

/* The first bytes of the unpacked text without consuming them (up to 64 KiB). False on error. */
bool text_input_peek(struct text_input *in, const char **data, size_t *n, struct err *err);

const char *text_input_name(const struct text_input *in); /* the path, "standard input" for "-" */
long text_input_line_number(const struct text_input *in); /* of the line last returned, from 1 */
uint64_t text_input_bytes(const struct text_input *in);   /* unpacked bytes so far */

/* Hex of the SHA-256 of all stored bytes; complete once the end was reached. */
void text_input_sha256(struct text_input *in, char hex[65]);

/* Closes; NULL is allowed. */
void text_input_close(struct text_input *in);

#endif
