/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/text_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/load/sha256.h"
#include "scenarios/load/text_unpack.h"
#include "sim/arena.h"

enum { RAW_BYTES = 65536, PEEK_BYTES = 65536 };

struct text_input {
    char *name;
    int fd;                       /* -1: memory */
    const unsigned char *memory;
    size_t memory_left;
    bool raw_end;                 /* nothing more to read */
    bool started;                 /* kind and byte order mark are settled */
    bool failed;
    struct text_unpack *unpack;   /* NULL: plain */
    bool hashing;
    struct sha256 hash;
    size_t line_limit;
    long line_number;
    uint64_t bytes;
    char *text;                   /* unpacked text; [at, end) is not yet handed out */
    size_t at, end, capacity;
    size_t searched;              /* no newline in [at, searched) */
    size_t raw_at, raw_end_at;
    unsigned char raw[RAW_BYTES];
};

static struct text_input *create(const char *name, size_t line_limit)
{
    struct text_input *in = mem_zalloc(1, sizeof *in);
    in->name = mem_strdup(name);
    in->fd = -1;
    in->line_limit = line_limit != 0 ? line_limit : TEXT_LINE_LIMIT;
    return in;
}

struct text_input *text_input_open(const char *path, size_t line_limit, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        struct text_input *in = create("standard input", line_limit);
        in->fd = STDIN_FILENO;
        return in;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        err_errno(err, ERR_INPUT, "cannot open '%s'", path);
        return NULL;
    }
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        close(fd);
        err_set(err, ERR_INPUT, "'%s' is a directory, expected a file", path);
        return NULL;
    }
    struct text_input *in = create(path, line_limit);
    in->fd = fd;
    return in;
}

struct text_input *text_input_memory(const char *name, const void *data, size_t n, size_t line_limit)
{
    struct text_input *in = create(name, line_limit);
    in->memory = data;
    in->memory_left = n;
    return in;
}

void text_input_want_sha256(struct text_input *in)
{
    in->hashing = true;
    sha256_start(&in->hash);
}

/* Reads more raw bytes; false on error. */
static bool fill_raw(struct text_input *in, struct err *err)
{
    if (in->raw_at == in->raw_end_at) {
        in->raw_at = in->raw_end_at = 0;
    }
    size_t room = RAW_BYTES - in->raw_end_at;
    unsigned char *target = in->raw + in->raw_end_at;
    size_t got = 0;
    if (in->fd < 0) {
        got = in->memory_left < room ? in->memory_left : room;
        if (got > 0) {
            memcpy(target, in->memory, got);
        }
        in->memory += got;
        in->memory_left -= got;
    } else {
        ssize_t n;
        do {
            n = read(in->fd, target, room);
        } while (n < 0 && errno == EINTR);
        if (n < 0) {
            return err_errno(err, errno == EISDIR ? ERR_INPUT : ERR_SYSTEM, "cannot read '%s'", in->name);
        }
        got = (size_t)n;
    }
    in->raw_end = got == 0;
    in->raw_end_at += got;
    if (in->hashing) {
        sha256_add(&in->hash, target, got);
    }
    return true;
}

static bool make_room(struct text_input *in)
{
    if (in->at > 0) {
        memmove(in->text, in->text + in->at, in->end - in->at);
        in->searched -= in->searched > in->at ? in->at : in->searched;
        in->end -= in->at;
        in->at = 0;
    }
    if (in->end + RAW_BYTES + 1 > in->capacity) {
        in->text = mem_grow(in->text, &in->capacity, in->end + RAW_BYTES + 1, 1);
    }
    return true;
}

/* Appends unpacked text; *more is false at the end of the data. */
static bool fill_text(struct text_input *in, bool *more, struct err *err)
{
    *more = true;
    make_room(in);
    if (in->raw_at == in->raw_end_at && !in->raw_end && !fill_raw(in, err)) {
        return false;
    }
    size_t ready = in->raw_end_at - in->raw_at;
    size_t used = ready;
    size_t made = ready;
    unsigned char *target = (unsigned char *)in->text + in->end;
    if (in->unpack == NULL) {
        memcpy(target, in->raw + in->raw_at, ready);
    } else if (!text_unpack_step(in->unpack, in->name, in->raw + in->raw_at, ready, &used, target,
                                 RAW_BYTES, &made, err)) {
        return false;
    }
    in->raw_at += used;
    in->end += made;
    in->bytes += made;
    if (in->raw_end && made == 0 && used == 0) {
        *more = false;
        if (in->unpack != NULL && !text_unpack_complete(in->unpack)) {
            return err_set(err, ERR_INPUT, "%s: truncated: the %s data ends before its end mark",
                           in->name, text_unpack_kind(in->unpack));
        }
    }
    return true;
}

/* Settles kind and byte order mark. */
static bool start(struct text_input *in, struct err *err)
{
    in->started = true;
    while (in->raw_end_at < 4 && !in->raw_end) {
        if (!fill_raw(in, err)) {
            return false;
        }
    }
    in->unpack = text_unpack_open(in->raw, in->raw_end_at);
    bool more = true;
    while (more && in->end - in->at < 3) {
        if (!fill_text(in, &more, err)) {
            return false;
        }
    }
    if (in->end - in->at >= 3 && memcmp(in->text + in->at, "\xef\xbb\xbf", 3) == 0) {
        in->at += 3;
    }
    in->searched = in->at;
    return true;
}

static bool ensure_started(struct text_input *in, struct err *err)
{
    if (in->failed) {
        return err_set(err, ERR_INPUT, "%s: reading failed before", in->name);
    }
    if (!in->started && !start(in, err)) {
        in->failed = true;
        return false;
    }
    return true;
}

static bool too_long(struct text_input *in, struct err *err)
{
    in->failed = true;
    return err_set(err, ERR_INPUT, "%s:%ld:1: line longer than %zu bytes; expected lines of text",
                   in->name, in->line_number + 1, in->line_limit);
}

/* Hands out [at, stop), which ends before a newline or at the end of the file. */
static bool hand_out(struct text_input *in, size_t stop, size_t next, char **line, size_t *length,
                     struct err *err)
{
    size_t n = stop - in->at;
    if (n > in->line_limit) {
        return too_long(in, err);
    }
    char *begin = in->text + in->at;
    in->line_number++;
    const char *zero = memchr(begin, 0, n);
    if (zero != NULL) {
        in->failed = true;
        return err_set(err, ERR_INPUT, "%s:%ld:%zu: a NUL byte: this is a binary file, expected text",
                       in->name, in->line_number, (size_t)(zero - begin) + 1);
    }
    if (n > 0 && begin[n - 1] == '\r') {
        n--;
    }
    begin[n] = '\0';
    in->at = in->searched = next;
    *line = begin;
    *length = n;
    return true;
}

bool text_input_line(struct text_input *in, char **line, size_t *length, struct err *err)
{
    if (!ensure_started(in, err)) {
        return false;
    }
    for (;;) {
        char *newline = memchr(in->text + in->searched, '\n', in->end - in->searched);
        if (newline != NULL) {
            size_t stop = (size_t)(newline - in->text);
            return hand_out(in, stop, stop + 1, line, length, err);
        }
        in->searched = in->end;
        if (in->end - in->at > in->line_limit) {
            return too_long(in, err);
        }
        bool more;
        if (!fill_text(in, &more, err)) {
            in->failed = true;
            return false;
        }
        if (!more) {
            return in->at < in->end && hand_out(in, in->end, in->end, line, length, err);
        }
    }
}

size_t text_input_read(struct text_input *in, char *buffer, size_t n, struct err *err)
{
    if (!ensure_started(in, err)) {
        return 0;
    }
    bool more = true;
    while (in->at == in->end && more) {
        if (!fill_text(in, &more, err)) {
            in->failed = true;
            return 0;
        }
    }
    size_t take = in->end - in->at < n ? in->end - in->at : n;
    memcpy(buffer, in->text + in->at, take);
    in->at += take;
    in->searched = in->at;
    return take;
}

bool text_input_peek(struct text_input *in, const char **data, size_t *n, struct err *err)
{
    if (!ensure_started(in, err)) {
        return false;
    }
    bool more = true;
    while (more && in->end - in->at < PEEK_BYTES) {
        if (!fill_text(in, &more, err)) {
            in->failed = true;
            return false;
        }
    }
    *data = in->text + in->at;
    *n = in->end - in->at < PEEK_BYTES ? in->end - in->at : PEEK_BYTES;
    return true;
}

const char *text_input_name(const struct text_input *in)
{
    return in->name;
}

long text_input_line_number(const struct text_input *in)
{
    return in->line_number;
}

uint64_t text_input_bytes(const struct text_input *in)
{
    return in->bytes;
}

void text_input_sha256(struct text_input *in, char hex[65])
{
    sha256_hex(&in->hash, hex);
}

void text_input_close(struct text_input *in)
{
    if (in == NULL) {
        return;
    }
    if (in->fd > STDIN_FILENO) {
        close(in->fd);
    }
    text_unpack_close(in->unpack);
    free(in->text);
    free(in->name);
    free(in);
}
