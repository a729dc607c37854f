/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "studies/jsonl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "sim/arena.h"

#define LINE_LIMIT ((size_t)256 << 20)

struct jsonl {
    gzFile file;
    char *path;
    char *line;
    size_t capacity;
    long number;
};

struct jsonl *jsonl_open(const char *path, struct err *e)
{
    errno = 0;
    gzFile file = gzopen(path, "rb");
    if (!file) {
        err_errno(e, ERR_INPUT, "cannot open '%s'", path);
        return NULL;
    }
    gzbuffer(file, 1u << 18);
    struct jsonl *f = mem_zalloc(1, sizeof *f);
    f->file = file;
    f->path = mem_strdup(path);
    f->line = mem_grow(NULL, &f->capacity, 1u << 16, 1);
    return f;
}

void jsonl_close(struct jsonl *f)
{
    if (!f)
        return;
    gzclose(f->file);
    free(f->path);
    free(f->line);
    free(f);
}

/* One line without its newline in f->line; its length, or -1 at the end or on error. */
static long long read_line(struct jsonl *f, struct err *e)
{
    size_t n = 0;
    for (;;) {
        if (n + 2 > f->capacity)
            f->line = mem_grow(f->line, &f->capacity, f->capacity + 1, 1);
        size_t room = f->capacity - n;
        int want = room > INT32_MAX ? INT32_MAX : (int)room;
        if (!gzgets(f->file, f->line + n, want))
            break;
        n += strlen(f->line + n);
        if (n > 0 && f->line[n - 1] == '\n') {
            f->line[n - 1] = '\0';
            return (long long)n - 1;
        }
        if (n > LINE_LIMIT) {
            err_set(e, ERR_INPUT, "%s:%ld: line is longer than 256 MiB", f->path, f->number + 1);
            return -1;
        }
    }
    int code = Z_OK;
    const char *text = gzerror(f->file, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        err_set(e, ERR_INPUT, "%s:%ld: cannot read on: %s", f->path, f->number + 1, text);
        return -1;
    }
    return n > 0 ? (long long)n : -1;
}

cJSON *jsonl_next(struct jsonl *f, struct err *e)
{
    for (;;) {
        long long n = read_line(f, e);
        if (n < 0)
            return NULL;
        f->number++;
        if (strspn(f->line, " \t\r") == (size_t)n)
            continue;
        cJSON *o = cJSON_ParseWithLength(f->line, (size_t)n);
        if (!cJSON_IsObject(o)) {
            err_set(e, ERR_INPUT, "%s:%ld: expected a JSON object, found '%.40s'", f->path,
                    f->number, f->line);
            cJSON_Delete(o);
            return NULL;
        }
        return o;
    }
}

const cJSON *jsonl_get(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    return !v || cJSON_IsNull(v) ? NULL : v;
}

/* Whole numbers beyond 64 bits go to the end of the range: int64's largest is no double. */
static int64_t to_int64(double x)
{
    if (x >= 9223372036854775808.0)
        return INT64_MAX;
    return x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

int64_t jsonl_int(const cJSON *o, const char *name, int64_t otherwise)
{
    const cJSON *v = jsonl_get(o, name);
    return cJSON_IsNumber(v) ? to_int64(v->valuedouble) : otherwise;
}

double jsonl_double(const cJSON *o, const char *name, double otherwise)
{
    const cJSON *v = jsonl_get(o, name);
    return cJSON_IsNumber(v) ? v->valuedouble : otherwise;
}

bool jsonl_bool(const cJSON *o, const char *name, bool otherwise)
{
    const cJSON *v = jsonl_get(o, name);
    return cJSON_IsBool(v) ? (bool)cJSON_IsTrue(v) : otherwise;
}

const char *jsonl_string(const cJSON *o, const char *name, const char *otherwise)
{
    const cJSON *v = jsonl_get(o, name);
    return cJSON_IsString(v) ? v->valuestring : otherwise;
}

int64_t jsonl_at(const cJSON *array, int i, int64_t otherwise)
{
    const cJSON *v = cJSON_GetArrayItem(array, i);
    return cJSON_IsNumber(v) ? to_int64(v->valuedouble) : otherwise;
}
