/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/text_unpack.h"

#include <limits.h>

#include <zlib.h>
#include <zstd.h>

#include "sim/arena.h"
#include "sim/check.h"

#include <stdlib.h>

struct text_unpack {
    z_stream gzip;
    ZSTD_DStream *zstd; /* NULL for gzip */
    bool open;          /* inside a member or frame */
};

struct text_unpack *text_unpack_open(const unsigned char *head, size_t n)
{
    bool gzip = n >= 2 && head[0] == 0x1f && head[1] == 0x8b;
    bool zstd = n >= 4 && head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd;
    if (!gzip && !zstd) {
        return NULL;
    }
    struct text_unpack *u = mem_zalloc(1, sizeof *u);
    u->open = true;
    if (zstd) {
        u->zstd = ZSTD_createDStream();
        REQUIRE(u->zstd != NULL);
    } else {
        REQUIRE(inflateInit2(&u->gzip, 15 + 16) == Z_OK);
    }
    return u;
}

static bool step_zstd(struct text_unpack *u, const char *name, ZSTD_inBuffer *in, ZSTD_outBuffer *out,
                      struct err *err)
{
    if (!u->open && in->size == 0) {
        return true; /* a call without input would open the next frame */
    }
    size_t left = ZSTD_decompressStream(u->zstd, out, in);
    if (ZSTD_isError(left)) {
        return err_set(err, ERR_INPUT, "%s: damaged zstd data: %s", name, ZSTD_getErrorName(left));
    }
    u->open = left != 0;
    return true;
}

/* Between members: zero padding is skipped, a new member starts, anything else is damage. */
static bool next_member(struct text_unpack *u, const char *name, const unsigned char *in, size_t n,
                        size_t *used, struct err *err)
{
    while (*used < n && in[*used] == 0) {
        ++*used;
    }
    if (*used == n) {
        return true;
    }
    if (in[*used] != 0x1f) {
        return err_set(err, ERR_INPUT, "%s: bytes that are not gzip follow the gzip data", name);
    }
    REQUIRE(inflateReset(&u->gzip) == Z_OK);
    u->open = true;
    return true;
}

static unsigned clamp(size_t n)
{
    return n > UINT_MAX ? UINT_MAX : (unsigned)n;
}

static bool step_gzip(struct text_unpack *u, const char *name, const unsigned char *in, size_t n,
                      size_t *used, unsigned char *out, size_t room, size_t *made, struct err *err)
{
    if (!u->open && !next_member(u, name, in, n, used, err)) {
        return false;
    }
    if (!u->open) {
        return true;
    }
    z_stream *z = &u->gzip;
    union {
        const unsigned char *constant;
        unsigned char *plain;
    } input = {.constant = in + *used}; /* zlib's next_in lacks const */
    z->next_in = input.plain;
    z->avail_in = clamp(n - *used);
    z->next_out = out;
    z->avail_out = clamp(room);
    unsigned in_before = z->avail_in;
    unsigned out_before = z->avail_out;
    int status = inflate(z, Z_NO_FLUSH);
    *used += in_before - z->avail_in;
    *made = out_before - z->avail_out;
    if (status == Z_STREAM_END) {
        u->open = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return err_set(err, ERR_INPUT, "%s: damaged gzip data: %s", name,
                       z->msg != NULL ? z->msg : zError(status));
    }
    return true;
}

bool text_unpack_step(struct text_unpack *u, const char *name, const unsigned char *in, size_t n,
                      size_t *used, unsigned char *out, size_t room, size_t *made, struct err *err)
{
    *used = 0;
    *made = 0;
    if (u->zstd == NULL) {
        return step_gzip(u, name, in, n, used, out, room, made, err);
    }
    ZSTD_inBuffer source = {in, n, 0};
    ZSTD_outBuffer target = {out, room, 0};
    bool fine = step_zstd(u, name, &source, &target, err);
    *used = source.pos;
    *made = target.pos;
    return fine;
}

bool text_unpack_complete(const struct text_unpack *u)
{
    return !u->open;
}

const char *text_unpack_kind(const struct text_unpack *u)
{
    return u->zstd != NULL ? "zstd" : "gzip";
}

void text_unpack_close(struct text_unpack *u)
{
    if (u == NULL) {
        return;
    }
    if (u->zstd != NULL) {
        ZSTD_freeDStream(u->zstd);
    } else {
        inflateEnd(&u->gzip);
    }
    free(u);
}
