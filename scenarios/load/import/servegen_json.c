/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "scenarios/load/import/servegen.h"
#include "sim/arena.h"

#define FILE_BYTES_MAX ((size_t)256 << 20)
enum { READ_BYTES = 65536 };

static const char *blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\n') {
        p++;
    }
    return p;
}

/* A number that starts with a digit and is not negative. */
static bool number(const char **p, double *value)
{
    if (!isdigit((unsigned char)**p) && **p != '.') {
        return false;
    }
    char *end;
    *value = strtod(*p, &end);
    bool fine = end != *p && *value >= 0 && *value <= 1e12;
    *p = end;
    return fine;
}

bool servegen_dict_mean(const char *text, double *mean)
{
    const char *p = blanks(text);
    double sum = 0;
    double weight = 0;
    if (*p != '{') {
        return false;
    }
    for (p = blanks(p + 1); *p != '}'; p = blanks(p)) {
        double length;
        double probability;
        if (!number(&p, &length)) {
            return false;
        }
        p = blanks(p);
        if (*p != ':') {
            return false;
        }
        p = blanks(p + 1);
        if (!number(&p, &probability)) {
            return false;
        }
        sum += length * probability;
        weight += probability;
        p = blanks(p);
        if (*p == ',') {
            p++;
        } else if (*p != '}') {
            return false;
        }
    }
    *mean = weight > 0 ? sum / weight : 0;
    return weight > 0;
}

/* The whole file; NULL with err set when it is too large. The caller frees. */
static char *read_all(struct import *x, struct text_input *in, size_t *length, struct err *err)
{
    char *text = NULL;
    size_t capacity = 0;
    struct err inner = {0};
    *length = 0;
    for (;;) {
        text = mem_grow(text, &capacity, *length + READ_BYTES, 1);
        size_t n = text_input_read(in, text + *length, READ_BYTES, &inner);
        *length += n;
        if (n == 0 && inner.code == ERR_NONE) {
            return text;
        }
        if (inner.code == ERR_NONE && *length > FILE_BYTES_MAX) {
            err_set(&inner, ERR_INPUT, "%s: JSON larger than %zu bytes", x->file, FILE_BYTES_MAX);
        }
        if (inner.code != ERR_NONE) {
            err_set(err, inner.code, "%s", inner.text);
            free(text);
            return NULL;
        }
    }
}

static bool take_field(struct import *x, const cJSON *window, int64_t time, const char *field, bool is_output,
                       struct err *err)
{
    const cJSON *dict = cJSON_GetObjectItemCaseSensitive(window, field);
    if (dict == NULL) {
        return true;
    }
    double mean;
    x->account.rows_read++;
    if (!cJSON_IsString(dict) || !servegen_dict_mean(dict->valuestring, &mean)) {
        struct row_error e;
        row_error_set(&e, 1, field, "a text {length: probability, ...}",
                      cJSON_IsString(dict) ? dict->valuestring : "");
        return import_bad_row(x, REASON_BAD_NUMBER, 1, &e, err);
    }
    servegen_add_length(x, servegen_client_of_file(x), time, is_output, mean);
    return true;
}

bool servegen_json_run(struct import *x, struct text_input *in, struct err *err)
{
    size_t length;
    char *text = read_all(x, in, &length, err);
    if (text == NULL) {
        return false;
    }
    cJSON *root = cJSON_ParseWithLength(text, length);
    bool fine = cJSON_IsObject(root) ||
                err_set(err, ERR_INPUT, "%s:1:1: expected a JSON object by window start", x->file);
    const cJSON *window;
    for (window = fine ? root->child : NULL; window != NULL && fine; window = window->next) {
        int64_t time;
        const char *expected = clock_read(&x->clock, window->string, &time);
        if (expected != NULL) {
            struct row_error e;
            row_error_set(&e, 1, "window", expected, window->string);
            x->account.rows_read++;
            fine = import_bad_row(x, REASON_BAD_TIME, 1, &e, err);
            continue;
        }
        fine = take_field(x, window, time, "input_tokens", false, err) &&
               take_field(x, window, time, "output_tokens", true, err);
    }
    cJSON_Delete(root);
    free(text);
    return fine;
}
