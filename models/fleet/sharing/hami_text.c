/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Annotations, lists and reasons as text. */
#include <stdlib.h>
#include <string.h>

#include "models/fleet/sharing/hami_priv.h"

static const char *const reason_names[HAMI_REASON_COUNT] = {
#define X(name, text) text,
    HAMI_REASONS(X)
#undef X
};

const char *hami_annotation(const struct hami_text *list, int32_t count, const char *key)
{
    for (int32_t i = 0; i < count; i++)
        if (strcmp(list[i].key, key) == 0)
            return list[i].value;
    return NULL;
}

const char *hami_pod_annotation(const struct hami_pod *pod, const char *key)
{
    return hami_annotation(pod->annotations, pod->annotation_count, key);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next part of a comma list without surrounding blanks; false at the end. */
static bool next_part(const char **cursor, const char **part, size_t *length)
{
    if (*cursor == NULL)
        return false;
    const char *start = *cursor, *comma = strchr(start, ',');
    const char *end = comma != NULL ? comma : start + strlen(start);
    *cursor = comma != NULL ? comma + 1 : NULL;
    while (start < end && is_space(*start))
        start++;
    while (end > start && is_space(end[-1]))
        end--;
    *part = start;
    *length = (size_t)(end - start);
    return true;
}

bool hami_list_has(const char *list, const char *word)
{
    const char *part;
    size_t n;
    while (next_part(&list, &part, &n))
        if (n == strlen(word) && memcmp(part, word, n) == 0)
            return true;
    return false;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains_nocase(const char *text, const char *part, size_t n)
{
    for (size_t m = strlen(text), i = 0; i + n <= m; i++) {
        size_t k = 0;
        while (k < n && lower(text[i + k]) == lower(part[k]))
            k++;
        if (k == n)
            return true;
    }
    return false;
}

bool hami_contains_nocase(const char *text, const char *part)
{
    return contains_nocase(text, part, strlen(part));
}

static bool is_blank(const char *text)
{
    while (is_space(*text))
        text++;
    return *text == '\0';
}

/* Does any non-empty part of the list occur in the type? */
static bool list_matches_type(const char *list, const char *type)
{
    const char *part;
    size_t n;
    while (next_part(&list, &part, &n))
        if (n > 0 && contains_nocase(type, part, n))
            return true;
    return false;
}

bool hami_type_allowed(const struct hami_pod *pod, const char *type, const char *use,
                       const char *nouse)
{
    const char *want = use != NULL ? hami_pod_annotation(pod, use) : NULL;
    const char *avoid = nouse != NULL ? hami_pod_annotation(pod, nouse) : NULL;
    if (want != NULL && !is_blank(want) && !list_matches_type(want, type))
        return false;
    return avoid == NULL || is_blank(avoid) || !list_matches_type(avoid, type);
}

bool hami_uuid_allowed(const struct hami_pod *pod, const char *id, const char *use,
                       const char *nouse)
{
    const char *want = use != NULL ? hami_pod_annotation(pod, use) : NULL;
    const char *avoid = nouse != NULL ? hami_pod_annotation(pod, nouse) : NULL;
    if (want != NULL && !is_blank(want) && !hami_list_has(want, id))
        return false;
    return avoid == NULL || is_blank(avoid) || !hami_list_has(avoid, id);
}

bool hami_bool(const char *text, bool *value)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        *value = strcmp(text, yes[i]) == 0;
        if (*value || strcmp(text, no[i]) == 0)
            return true;
    }
    return false;
}

bool hami_true(const char *text)
{
    bool value;
    return text != NULL && hami_bool(text, &value) && value;
}

const char *hami_card_policy(const struct hami_cluster *c, const struct hami_pod *pod)
{
    const char *own = hami_pod_annotation(pod, "hami.io/gpu-scheduler-policy");
    return own != NULL ? own : c->cfg.card_policy;
}

const char *hami_node_policy(const struct hami_cluster *c, const struct hami_pod *pod)
{
    const char *own = hami_pod_annotation(pod, "hami.io/node-scheduler-policy");
    return own != NULL ? own : c->cfg.node_policy;
}

static int compare_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

const char *hami_reason_text(struct arena *arena, const int32_t *count, int32_t divisor)
{
    const char *line[HAMI_REASON_COUNT];
    size_t n = 0;
    for (int r = 0; r < HAMI_REASON_COUNT; r++)
        if (count[r] != 0)
            line[n++] = arena_printf(arena, "%d/%d %s", count[r] > 0 ? count[r] : 0, divisor,
                                     reason_names[r]);
    qsort(line, n, sizeof(line[0]), compare_text);
    const char *text = n > 0 ? line[0] : "";
    for (size_t i = 1; i < n; i++)
        text = arena_printf(arena, "%s, %s", text, line[i]);
    return text;
}

/* One "name=number" part; the number of the weight (0 slot, 1 core, 2 memory), or -1. */
static int parse_weight(const char *part, size_t length, int64_t *value)
{
    static const char *const names[3] = {"slot", "core", "memory"};
    const char *equals = memchr(part, '=', length), *end = part + length;
    if (equals == NULL)
        return -1;
    const char *name_end = equals;
    while (name_end > part && is_space(name_end[-1]))
        name_end--;
    const char *digit = equals + 1;
    while (digit < end && is_space(*digit))
        digit++;
    if (digit < end && *digit == '+')
        digit++;
    if (digit == end || end - digit > 18)
        return -1;
    for (*value = 0; digit < end; digit++) {
        if (*digit < '0' || *digit > '9') /* a minus sign too: negative weights are refused */
            return -1;
        *value = *value * 10 + (*digit - '0');
    }
    for (int i = 0; i < 3; i++)
        if ((size_t)(name_end - part) == strlen(names[i]) &&
            memcmp(part, names[i], strlen(names[i])) == 0)
            return i;
    return -1;
}

bool hami_weights_parse(const struct hami_pod *pod, struct hami_weights *w)
{
    *w = (struct hami_weights){1, 1, 1};
    const char *text = hami_pod_annotation(pod, "hami.io/device-scoring-weights"), *part;
    if (text == NULL)
        return true;
    int64_t value[3] = {-1, -1, -1}, v;
    size_t n;
    while (next_part(&text, &part, &n)) {
        int which = parse_weight(part, n, &v);
        if (which < 0 || value[which] >= 0)
            return false;
        value[which] = v;
    }
    *w = (struct hami_weights){value[0], value[1], value[2]};
    return value[0] >= 0 && value[1] >= 0 && value[2] >= 0 && value[0] + value[1] + value[2] > 0;
}
