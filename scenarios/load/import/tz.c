/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scenarios/load/import/tz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"

enum { FILE_BYTES_MAX = 1 << 18, HEADER_BYTES = 44, DAY_S = 86400 };

static bool two_digits(const char *p, int *value)
{
    if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9') {
        return false;
    }
    *value = (p[0] - '0') * 10 + (p[1] - '0');
    return true;
}

bool tz_offset(const char *text, int32_t *seconds)
{
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0) {
        *seconds = 0;
        return true;
    }
    int hours;
    int minutes = 0;
    if ((text[0] != '+' && text[0] != '-') || !two_digits(text + 1, &hours)) {
        return false;
    }
    const char *p = text + 3;
    if (*p == ':') {
        p++;
    }
    if (*p != '\0' && (!two_digits(p, &minutes) || p[2] != '\0')) {
        return false;
    }
    if (hours > 15 || minutes > 59 || (*p == '\0' && p[-1] == ':')) {
        return false;
    }
    *seconds = (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

static uint32_t big32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t big64(const unsigned char *p)
{
    return (int64_t)((uint64_t)big32(p) << 32 | big32(p + 4));
}

/* Counts of one TZif header. */
struct counts {
    size_t ut, std, leap, time, type, chars;
};

static bool read_header(const unsigned char *data, size_t n, struct counts *c)
{
    if (n < HEADER_BYTES || memcmp(data, "TZif", 4) != 0) {
        return false;
    }
    *c = (struct counts){big32(data + 20), big32(data + 24), big32(data + 28),
                         big32(data + 32), big32(data + 36), big32(data + 40)};
    return c->ut <= 256 && c->std <= 256 && c->leap <= 1024 && c->time <= 8192 && c->type >= 1 &&
           c->type <= 256 && c->chars <= 1024;
}

static size_t body_bytes(const struct counts *c, size_t time_bytes)
{
    return c->time * (time_bytes + 1) + c->type * 6 + c->chars + c->leap * (time_bytes + 4) + c->std +
           c->ut;
}

bool tz_parse(struct tz *z, const unsigned char *data, size_t n)
{
    struct counts c;
    memset(z, 0, sizeof *z);
    if (!read_header(data, n, &c) || data[4] < '2') {
        return false; /* version 1 files have no 64-bit times */
    }
    size_t skip = HEADER_BYTES + body_bytes(&c, 4);
    if (skip > n || !read_header(data + skip, n - skip, &c)) {
        return false;
    }
    const unsigned char *times = data + skip + HEADER_BYTES;
    if (body_bytes(&c, 8) > n - skip - HEADER_BYTES) {
        return false;
    }
    const unsigned char *indices = times + 8 * c.time;
    const unsigned char *types = indices + c.time;
    z->fixed_s = (int32_t)big32(types);
    z->count = c.time;
    z->at = mem_zalloc(c.time + 1, sizeof *z->at);
    z->offset = mem_zalloc(c.time + 1, sizeof *z->offset);
    bool fine = abs(z->fixed_s) <= DAY_S;
    for (size_t i = 0; i < c.time && fine; i++) {
        fine = indices[i] < c.type && (i == 0 || big64(times + 8 * i) > z->at[i - 1]);
        if (fine) {
            z->at[i] = big64(times + 8 * i);
            z->offset[i] = (int32_t)big32(types + 6 * (size_t)indices[i]);
            fine = z->offset[i] >= -DAY_S && z->offset[i] <= DAY_S;
        }
    }
    if (!fine) {
        tz_fini(z);
    }
    return fine;
}

static bool read_zone(struct tz *z, const char *name)
{
    char path[256];
    int n = snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    if (n < 0 || (size_t)n >= sizeof path || strstr(name, "..") != NULL) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    unsigned char *data = mem_alloc(FILE_BYTES_MAX, 1);
    size_t got = fread(data, 1, FILE_BYTES_MAX, file);
    fclose(file);
    bool fine = tz_parse(z, data, got);
    free(data);
    return fine;
}

bool tz_open(struct tz *z, const char *name, struct err *err)
{
    memset(z, 0, sizeof *z);
    if (name == NULL || strcmp(name, "UTC") == 0 || tz_offset(name, &z->fixed_s)) {
        return true;
    }
    if (name[0] == '\0' || name[0] == '/' || !read_zone(z, name)) {
        return err_set(err, ERR_INPUT,
                       "unknown time zone '%.60s'; expected UTC, an offset like +08:00, or a name like "
                       "America/Los_Angeles (from the package tzdata)",
                       name);
    }
    return true;
}

/* Offset in force at a UTC second. */
static int32_t offset_at(const struct tz *z, int64_t utc_s)
{
    size_t low = 0;
    size_t high = z->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (z->at[middle] <= utc_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? z->fixed_s : z->offset[low - 1];
}

int64_t tz_to_utc(const struct tz *z, int64_t local_s)
{
    if (z->count == 0) {
        return local_s - z->fixed_s;
    }
    /* The offset before any change near by gives the earlier reading of a doubled hour and the old
     * offset in a gap; it is right unless the change lies before that instant. */
    int32_t before = offset_at(z, local_s - DAY_S);
    int32_t after = offset_at(z, local_s + DAY_S);
    int64_t first = local_s - before;
    if (offset_at(z, first) == before) {
        return first;
    }
    int64_t second = local_s - after;
    return offset_at(z, second) == after ? second : first;
}

void tz_fini(struct tz *z)
{
    free(z->at);
    free(z->offset);
    memset(z, 0, sizeof *z);
}
