/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/fleet/catalogue_read.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 8

static const char header[] = "kind,name,field,value,unit,as_of,source,confidence";

static const char *const kinds[] = {
    "alias", "burndown", "capacity_block", "card", "checkpoint", "cloud", "cloud_spot", "cmi",
    "coldstart", "commitment", "engineer", "failure", "idle_share", "instance", "ml", "ml_uplift",
    "model_unit", "node_split", "quota", "sagemaker", "spot", "stage", "template", "tier", "token",
};

struct unit {
    const char *name;
    double scale; /* to bytes, seconds, FLOP/s, bytes/s */
};

static const struct unit units[] = {
    {"GiB", 1073741824.0}, {"MiB", 1048576.0}, {"TFLOPS", 1e12},
    {"TB/s", 1e12},        {"GB/s", 1e9},      {"MB/s", 1e6},
};

enum store { STORE_TEXT, STORE_CARD, STORE_I32, STORE_I64, STORE_MILLI32, STORE_MILLI64,
             STORE_UUSD, STORE_DOUBLE, STORE_NOT };

/* Where a fact of a card or an instance goes. */
struct field_rule {
    const char *kind, *field;
    enum store store;
    size_t offset;
    const char *unit;   /* legal units, space-separated; "" = none */
};

#define CARD(field, store, member, unit) {"card", field, store, offsetof(struct card_type, member), unit}
#define INST(field, store, member, unit) \
    {"instance", field, store, offsetof(struct instance_type, member), unit}

static const struct field_rule rules[] = {
    CARD("vendor", STORE_TEXT, vendor, ""),
    CARD("memory", STORE_I64, memory_bytes, "GiB MiB"),
    CARD("cores", STORE_I32, cores, "SM AI cores"),
    CARD("speed", STORE_MILLI32, speed_milli, "A100-80"),
    CARD("hbm", STORE_DOUBLE, hbm_bytes_per_s, "TB/s GB/s"),
    CARD("flops_bf16", STORE_DOUBLE, flops_bf16, "TFLOPS"),
    CARD("flops_fp8", STORE_DOUBLE, flops_fp8, "TFLOPS"),
    CARD("link", STORE_DOUBLE, link_bytes_per_s, "GB/s"),
    CARD("mig_slices", STORE_I32, mig_slices, "slices"),
    INST("card", STORE_CARD, card, ""),
    INST("cards", STORE_I32, card_count, "cards"),
    INST("vcpu", STORE_MILLI64, cpu_milli, "vCPU"),
    INST("memory", STORE_I64, memory_bytes, "GiB MiB"),
    INST("price", STORE_UUSD, price_uusd_per_h, "usd/h"),
    INST("spot", STORE_UUSD, spot_uusd_per_h, "usd/h"),
    {"instance", "network", STORE_NOT, 0, "Gbps"},
    {"instance", "efa", STORE_NOT, 0, "interfaces"},
};

struct reader {
    struct arena *arena;
    struct diag_list *problems;
    const char *file;
    long line;
    const char *excerpt;      /* the line itself */
    struct catalogue_fact *facts;
    size_t fact_count, fact_capacity;
    struct card_type *cards;
    size_t card_count, card_capacity;
    struct instance_type *instances;
    size_t instance_count, instance_capacity;
};

#define COMPLAIN(r, ...) \
    diag_add((r)->problems, DIAG_ERROR, (r)->file, (r)->line, 0, (r)->excerpt, __VA_ARGS__)

/* Cuts the next cell off *cursor; NULL at the end of the line or on a bad quote. */
static char *next_cell(struct reader *r, const char **cursor)
{
    const char *p = *cursor;
    if (p == NULL)
        return NULL;
    char *cell = arena_alloc(r->arena, strlen(p) + 1, 1), *out = cell;
    if (*p == '"') {
        for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
            if (*p == '"')
                p++;
            *out++ = *p;
        }
        if (*p != '"' || (p[1] != ',' && p[1] != '\0')) {
            COMPLAIN(r, "unfinished quoted cell");
            return NULL;
        }
        p++;
    } else {
        while (*p != '\0' && *p != ',')
            *out++ = *p++;
    }
    *cursor = *p == ',' ? p + 1 : NULL;
    return cell;
}

static bool is_date(const char *s)
{
    static const char form[] = "dddd-dd-dd";
    size_t n = strlen(s);
    if (n != 4 && n != 7 && n != 10)
        return false;
    for (size_t i = 0; i < n; i++)
        if (form[i] == 'd' ? (s[i] < '0' || s[i] > '9') : s[i] != '-')
            return false;
    return true;
}

static const char *nearest_kind(const char *word)
{
    return diag_nearest(word, kinds, sizeof(kinds) / sizeof(kinds[0]));
}

static bool known_kind(const char *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i], kind) == 0)
            return true;
    return false;
}

static double unit_scale(const char *unit)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, unit) == 0)
            return units[i].scale;
    return 1;
}

/* A plain decimal number (no hex, no infinity), at least 0. */
static bool parse_number(const char *text, double *value)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0')
        return false;
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value < 1e18;
}

static bool unit_allowed(const char *allowed, const char *unit)
{
    if (unit[0] == '\0' || allowed[0] == '\0')
        return unit[0] == '\0' && allowed[0] == '\0';
    const char *hit = strstr(allowed, unit);
    size_t n = strlen(unit);
    return hit != NULL && (hit == allowed || hit[-1] == ' ') && (hit[n] == '\0' || hit[n] == ' ');
}

static int32_t find_card(const struct reader *r, const char *name)
{
    for (size_t i = 0; i < r->card_count; i++)
        if (strcmp(r->cards[i].name, name) == 0)
            return (int32_t)i;
    return -1;
}

static void store_value(struct reader *r, const struct field_rule *rule,
                        const struct catalogue_fact *f, char *object)
{
    void *at = object + rule->offset;
    bool word = rule->store == STORE_TEXT || rule->store == STORE_CARD;
    bool narrow = rule->store == STORE_I32 || rule->store == STORE_MILLI32;
    if (!word && (!f->is_number || f->value > (narrow ? 1e6 : 1e18))) {
        COMPLAIN(r, "%s of %s '%s': expected a number, got '%s'", f->field, f->kind, f->name,
                 f->text);
        return;
    }
    switch (rule->store) {
    case STORE_TEXT:
        *(const char **)at = f->text;
        break;
    case STORE_CARD:
        *(int32_t *)at = find_card(r, f->text);
        if (*(int32_t *)at < 0)
            COMPLAIN(r, "instance '%s': no card '%s' above this line", f->name, f->text);
        break;
    case STORE_I32:
        *(int32_t *)at = (int32_t)f->value;
        break;
    case STORE_I64:
        *(int64_t *)at = (int64_t)(f->value + 0.5);
        break;
    case STORE_MILLI32:
        *(int32_t *)at = (int32_t)(f->value * 1000 + 0.5);
        break;
    case STORE_MILLI64:
        *(int64_t *)at = (int64_t)(f->value * 1000 + 0.5);
        break;
    case STORE_UUSD:
        *(int64_t *)at = (int64_t)(f->value * 1e6 + 0.5);
        break;
    case STORE_DOUBLE:
        *(double *)at = f->value;
        break;
    case STORE_NOT:
        break;
    }
}

/* The card or instance the fact belongs to, made at its first line; NULL for other kinds. */
static void *object_of(struct reader *r, const struct catalogue_fact *f)
{
    if (strcmp(f->kind, "card") == 0) {
        int32_t i = find_card(r, f->name);
        if (i >= 0)
            return &r->cards[i];
        r->cards = mem_grow(r->cards, &r->card_capacity, r->card_count + 1, sizeof(*r->cards));
        r->cards[r->card_count] = (struct card_type){.name = f->name, .as_of = f->as_of,
                                                     .source = f->source,
                                                     .confidence = f->confidence};
        return &r->cards[r->card_count++];
    }
    if (strcmp(f->kind, "instance") != 0)
        return NULL;
    for (size_t i = 0; i < r->instance_count; i++)
        if (strcmp(r->instances[i].name, f->name) == 0)
            return &r->instances[i];
    r->instances = mem_grow(r->instances, &r->instance_capacity, r->instance_count + 1,
                            sizeof(*r->instances));
    r->instances[r->instance_count] =
        (struct instance_type){.name = f->name, .card = -1, .as_of = f->as_of,
                               .source = f->source, .confidence = f->confidence};
    return &r->instances[r->instance_count++];
}

static void store_fact(struct reader *r, const struct catalogue_fact *f)
{
    char *object = object_of(r, f);
    if (object == NULL)
        return;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct field_rule *rule = &rules[i];
        if (strcmp(rule->kind, f->kind) != 0 || strcmp(rule->field, f->field) != 0)
            continue;
        if (unit_allowed(rule->unit, f->unit))
            store_value(r, rule, f, object);
        else
            COMPLAIN(r, "%s of %s '%s': expected unit %s, got '%s'", f->field, f->kind, f->name,
                     rule->unit[0] ? rule->unit : "(none)", f->unit);
        return;
    }
    COMPLAIN(r, "%s '%s' has no field '%s'", f->kind, f->name, f->field);
}

static bool check_fact(struct reader *r, const struct catalogue_fact *f)
{
    size_t before = r->problems->error_count;
    if (!known_kind(f->kind)) {
        const char *near = nearest_kind(f->kind);
        COMPLAIN(r, "unknown kind '%s'%s%s%s", f->kind, near ? " (did you mean '" : "",
                 near ? near : "", near ? "'?)" : "");
    }
    if (f->name[0] == '\0' || f->field[0] == '\0' || f->text[0] == '\0')
        COMPLAIN(r, "name, field and value must not be empty");
    if (!is_date(f->as_of))
        COMPLAIN(r, "as_of: expected YYYY, YYYY-MM or YYYY-MM-DD, got '%s'", f->as_of);
    if (f->source[0] == '\0')
        COMPLAIN(r, "source must not be empty");
    if (strlen(f->confidence) != 1 || strchr("VDBA", f->confidence[0]) == NULL)
        COMPLAIN(r, "confidence: expected V, D, B or A, got '%s'", f->confidence);
    for (size_t i = 0; i < r->fact_count; i++)
        if (strcmp(r->facts[i].kind, f->kind) == 0 && strcmp(r->facts[i].name, f->name) == 0 &&
            strcmp(r->facts[i].field, f->field) == 0)
            COMPLAIN(r, "%s '%s' has field '%s' twice", f->kind, f->name, f->field);
    return r->problems->error_count == before;
}

static void read_line(struct reader *r)
{
    const char *cursor = r->excerpt;
    const char *cell[COLUMNS] = {0};
    for (int i = 0; i < COLUMNS; i++) {
        cell[i] = next_cell(r, &cursor);
        if (cell[i] == NULL) {
            COMPLAIN(r, "expected %d columns, got %d", COLUMNS, i);
            return;
        }
    }
    if (cursor != NULL) {
        COMPLAIN(r, "more than %d columns", COLUMNS);
        return;
    }
    struct catalogue_fact f = {.kind = cell[0], .name = cell[1], .field = cell[2],
                               .text = cell[3], .unit = cell[4], .as_of = cell[5],
                               .source = cell[6], .confidence = cell[7]};
    f.is_number = parse_number(f.text, &f.value);
    f.value = f.is_number ? f.value * unit_scale(f.unit) : 0;
    if (!check_fact(r, &f))
        return;
    store_fact(r, &f);
    r->facts = mem_grow(r->facts, &r->fact_capacity, r->fact_count + 1, sizeof(*r->facts));
    r->facts[r->fact_count++] = f;
}

static void check_whole(struct reader *r)
{
    r->line = 0;
    r->excerpt = NULL;
    for (size_t i = 0; i < r->card_count; i++)
        if (r->cards[i].vendor == NULL || r->cards[i].memory_bytes <= 0)
            COMPLAIN(r, "card '%s' needs vendor and memory", r->cards[i].name);
    for (size_t i = 0; i < r->instance_count; i++)
        if (r->instances[i].card < 0 || r->instances[i].card_count <= 0 ||
            r->instances[i].cpu_milli <= 0 || r->instances[i].memory_bytes <= 0)
            COMPLAIN(r, "instance '%s' needs card, cards, vcpu and memory", r->instances[i].name);
    for (size_t i = 0; i < r->fact_count; i++)
        if (strcmp(r->facts[i].kind, "alias") == 0 && find_card(r, r->facts[i].text) < 0)
            COMPLAIN(r, "alias '%s': no card '%s'", r->facts[i].name, r->facts[i].text);
}

static void *keep(struct arena *arena, void *items, size_t count, size_t size)
{
    void *copy = arena_alloc(arena, count > 0 ? count : 1, size);
    if (count > 0)
        memcpy(copy, items, count * size);
    free(items);
    return copy;
}

static void read_lines(struct reader *r, const char *text, size_t size)
{
    bool seen_header = false;
    for (size_t at = 0; at < size;) {
        const char *start = text + at, *nl = memchr(start, '\n', size - at);
        size_t n = nl != NULL ? (size_t)(nl - start) : size - at;
        at += n + 1;
        r->line++;
        if (n > 0 && start[n - 1] == '\r')
            n--;
        if (n == 0 || start[0] == '#')
            continue;
        r->excerpt = arena_strndup(r->arena, start, n);
        if (seen_header)
            read_line(r);
        else if (strcmp(r->excerpt, header) != 0)
            COMPLAIN(r, "expected the header '%s'", header);
        seen_header = true;
    }
    if (!seen_header)
        COMPLAIN(r, "no header: expected '%s'", header);
}

bool catalogue_read(struct catalogue *out, struct arena *arena, const char *file, const char *text,
                    size_t size, struct diag_list *problems)
{
    struct reader r = {.arena = arena, .problems = problems, .file = file};
    size_t before = problems->error_count;
    read_lines(&r, text, size);
    check_whole(&r);
    *out = (struct catalogue){
        .cards = keep(arena, r.cards, r.card_count, sizeof(*r.cards)),
        .card_count = (int32_t)r.card_count,
        .instances = keep(arena, r.instances, r.instance_count, sizeof(*r.instances)),
        .instance_count = (int32_t)r.instance_count,
        .facts = keep(arena, r.facts, r.fact_count, sizeof(*r.facts)),
        .fact_count = (int32_t)r.fact_count,
    };
    return problems->error_count == before;
}
