/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON Schema (draft 2020-12) from the field tables, for editors that complete and check YAML. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/load.h"
#include "scenarios/load/load_priv.h"
#include "scenarios/load/repeat.h"
#include "sim/check.h"

#define NUM "(0|[1-9][0-9]*)(\\.[0-9]+)?"
#define NUM_E "(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?"
#define DURATION "^(" NUM "(w|d|h|ms|m|us|s|ns))+$"
#define BYTES "(B|kB|MB|GB|TB|PB|KiB|MiB|GiB|TiB|PiB|Ki|Mi|Gi|Ti|Pi)"
#define PERIOD "/(s|min|h|hour|d|day|week)$"
#define MONEY "^" NUM "(usd|USD)/(s|min|h|hour|day|year)$"

/* Patterns of kinds that are texts; NULL: not a text with a pattern. */
static const char *pattern_of(enum field_kind kind)
{
    switch (kind) {
    case FIELD_DURATION: case FIELD_SECONDS: case FIELD_HOURS: case FIELD_WINDOW: return DURATION;
    case FIELD_BYTES: case FIELD_BYTES_REAL: return "^" NUM BYTES "$";
    case FIELD_BYTE_RATE: return "^" NUM_E BYTES PERIOD;
    case FIELD_RATE: case FIELD_PER_DAY: case FIELD_PER_MINUTE: return "^" NUM_E PERIOD;
    case FIELD_USD_HOUR: case FIELD_USD_YEAR: case FIELD_USD_SECOND: return MONEY;
    case FIELD_TOKEN_PRICE: return "^" NUM "usd/Mtok$";
    case FIELD_INSTANT: return "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$";
    case FIELD_INT: case FIELD_SEED: case FIELD_REAL: case FIELD_FRACTION: case FIELD_MILLI: case FIELD_BOOL:
    case FIELD_ENUM: case FIELD_STRING: case FIELD_NAME: case FIELD_REF: case FIELD_REALS: case FIELD_LABELS:
    case FIELD_AMOUNTS: case FIELD_STRUCT: case FIELD_LIST: case FIELD_CUSTOM: case FIELD_KIND_COUNT:
        return NULL;
    }
    return NULL;
}

static cJSON *typed(const char *type)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "type", type);
    return o;
}

static cJSON *number_schema(const struct field *f)
{
    bool whole = f->kind == FIELD_INT || f->kind == FIELD_SEED;
    double scale = f->kind == FIELD_MILLI ? 1000 : 1;
    cJSON *o = typed(whole ? "integer" : "number");
    cJSON_AddNumberToObject(o, "minimum", f->min / scale);
    if (f->max > 0)
        cJSON_AddNumberToObject(o, "maximum", f->max / scale);
    return o;
}

static cJSON *enum_schema(const struct field *f)
{
    cJSON *o = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(o, "enum");
    for (const struct enum_name *e = f->names; e->name != NULL; e++)
        cJSON_AddItemToArray(names, cJSON_CreateString(e->name));
    return o;
}

static cJSON *reals_schema(const struct field *f)
{
    cJSON *o = typed("array"), *item = typed("number");
    cJSON_AddNumberToObject(item, "minimum", 0);
    cJSON_AddItemToObject(o, "items", item);
    cJSON_AddNumberToObject(o, "minItems", f->fixed);
    cJSON_AddNumberToObject(o, "maxItems", f->fixed);
    return o;
}

static cJSON *map_schema(const char *value_type, const char *other_type)
{
    cJSON *o = typed("object"), *value = cJSON_CreateObject(), *types = cJSON_AddArrayToObject(value, "type");
    cJSON_AddItemToArray(types, cJSON_CreateString(value_type));
    if (other_type != NULL)
        cJSON_AddItemToArray(types, cJSON_CreateString(other_type));
    cJSON_AddItemToObject(o, "additionalProperties", value);
    return o;
}

static cJSON *struct_schema(const struct schema *s, bool is_item);

static cJSON *list_schema(const struct schema *sub)
{
    cJSON *o = typed("array");
    cJSON_AddItemToObject(o, "items", struct_schema(sub, true));
    return o;
}

/* A list or map of sub, or something shorter: what FIELD_CUSTOM rows take. */
static cJSON *custom_schema(const struct field *f)
{
    cJSON *o = cJSON_CreateObject(), *any = cJSON_AddArrayToObject(o, "anyOf");
    if (f->sub == NULL) { /* a name, or a list of names */
        cJSON_AddItemToArray(any, typed("string"));
        cJSON *list = typed("array");
        cJSON_AddItemToObject(list, "items", typed("string"));
        cJSON_AddItemToArray(any, list);
        return o;
    }
    if (strncmp(f->shape, "map of", 6) == 0) { /* flavor: number or quota */
        cJSON *map = typed("object"), *value = cJSON_CreateObject(), *kinds = cJSON_AddArrayToObject(value, "anyOf");
        cJSON_AddItemToArray(kinds, typed("number"));
        cJSON_AddItemToArray(kinds, struct_schema(f->sub, false));
        cJSON *each = cJSON_CreateObject();
        cJSON_AddStringToObject(each, "$ref", "#/$defs/each");
        cJSON_AddItemToArray(kinds, each);
        cJSON_AddItemToObject(map, "additionalProperties", value);
        cJSON_AddItemToArray(any, map);
        return o;
    }
    bool list = strstr(f->shape, "list") != NULL;
    if (strcmp(f->shape, "map") != 0)
        cJSON_AddItemToArray(any, typed("string"));
    cJSON_AddItemToArray(any, list ? list_schema(f->sub) : struct_schema(f->sub, false));
    return o;
}

/* Quotas are texts until their resource is known, and most are written as numbers. */
static cJSON *text_schema(void)
{
    cJSON *o = cJSON_CreateObject(), *types = cJSON_AddArrayToObject(o, "type");
    cJSON_AddItemToArray(types, cJSON_CreateString("string"));
    cJSON_AddItemToArray(types, cJSON_CreateString("number"));
    return o;
}

static cJSON *window_value_schema(void)
{
    cJSON *o = cJSON_CreateObject(), *any = cJSON_AddArrayToObject(o,
        "anyOf"), *text = typed("string");
    cJSON_AddStringToObject(text, "pattern", DURATION);
    cJSON_AddItemToArray(any, text);
    cJSON_AddItemToArray(any, typed("integer"));
    return o;
}

static cJSON *value_schema(const struct field *f)
{
    switch (f->kind) {
    case FIELD_INT: case FIELD_SEED: case FIELD_REAL: case FIELD_FRACTION: case FIELD_MILLI: return number_schema(f);
    case FIELD_BOOL: return typed("boolean");
    case FIELD_ENUM: return enum_schema(f);
    case FIELD_REALS: return reals_schema(f);
    case FIELD_LABELS: return map_schema("string", NULL);
    case FIELD_AMOUNTS: return map_schema("string", "number");
    case FIELD_STRUCT: return struct_schema(f->sub, false);
    case FIELD_LIST: return list_schema(f->sub);
    case FIELD_CUSTOM: return custom_schema(f);
    case FIELD_STRING: return text_schema();
    case FIELD_WINDOW: return window_value_schema();
    case FIELD_NAME: case FIELD_REF: case FIELD_DURATION: case FIELD_SECONDS: case FIELD_HOURS: case FIELD_BYTES:
    case FIELD_BYTES_REAL: case FIELD_BYTE_RATE: case FIELD_RATE: case FIELD_PER_DAY: case FIELD_PER_MINUTE:
    case FIELD_USD_HOUR: case FIELD_USD_YEAR: case FIELD_USD_SECOND: case FIELD_TOKEN_PRICE: case FIELD_INSTANT:
    case FIELD_KIND_COUNT:
        break;
    }
    const char *pattern = pattern_of(f->kind);
    cJSON *o = typed("string");
    if (pattern != NULL)
        cJSON_AddStringToObject(o, "pattern", pattern);
    return o;
}

/* Any value may be `each: [...]` under a repeat. */
static cJSON *field_schema(const struct field *f)
{
    cJSON *o = cJSON_CreateObject(), *any = cJSON_AddArrayToObject(o,
        "anyOf"), *each = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "description", f->help);
    cJSON_AddItemToArray(any, value_schema(f));
    cJSON_AddStringToObject(each, "$ref", "#/$defs/each");
    cJSON_AddItemToArray(any, each);
    return o;
}

static void add_required(cJSON *o, const struct schema *s)
{
    cJSON *required = cJSON_CreateArray();
    for (const struct field *f = s->fields; f->name != NULL; f++)
        if ((f->flags & FIELD_REQUIRED) != 0)
            cJSON_AddItemToArray(required, cJSON_CreateString(f->name));
    cJSON_AddItemToObject(o, "required", required);
}

static cJSON *struct_schema(const struct schema *s, bool is_item)
{
    cJSON *o = typed("object"), *properties = cJSON_AddObjectToObject(o, "properties");
    for (const struct field *f = s->fields; f->name != NULL; f++)
        cJSON_AddItemToObject(properties, f->name, field_schema(f));
    if (is_item) {
        cJSON *repeat = typed("integer");
        cJSON_AddStringToObject(repeat, "description",
                                "Makes this many copies; {i} is 1, 2, ... in texts.");
        cJSON_AddNumberToObject(repeat, "minimum", 1);
        cJSON_AddNumberToObject(repeat, "maximum", REPEAT_MAX);
        cJSON_AddItemToObject(properties, "repeat", repeat);
    }
    cJSON_AddBoolToObject(o, "additionalProperties", false);
    add_required(o, s);
    return o;
}

static cJSON *each_definition(void)
{
    cJSON *o = typed("object"), *properties = cJSON_AddObjectToObject(o,
        "properties"), *each = typed("array");
    cJSON_AddStringToObject(o, "description", "Under a repeat: one value for each copy, in turn.");
    cJSON_AddNumberToObject(each, "minItems", 1);
    cJSON_AddItemToObject(properties, "each", each);
    cJSON_AddBoolToObject(o, "additionalProperties", false);
    cJSON *required = cJSON_AddArrayToObject(o, "required");
    cJSON_AddItemToArray(required, cJSON_CreateString("each"));
    return o;
}

/* One alternative: a file with the key. */
static void add_with_key(cJSON *alternatives, const char *key)
{
    cJSON *one = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(one, "required");
    cJSON_AddItemToArray(list, cJSON_CreateString(key));
    cJSON_AddItemToArray(alternatives, one);
}

/* Keys of a file that replays manifests and that no other scenario has. */
static void add_replay(cJSON *properties)
{
    for (const struct field *f = replay_schema.fields; f->name != NULL; f++)
        if (cJSON_GetObjectItem(properties, f->name) == NULL)
            cJSON_AddItemToObject(properties, f->name, field_schema(f));
}

/* A file with `base` or `manifests` needs nothing else; every other file is a whole scenario. */
static void add_base(cJSON *root)
{
    cJSON *properties = cJSON_GetObjectItem(root, "properties");
    cJSON *base = typed("string"), *set = typed("array");
    cJSON_AddStringToObject(base, "description", "Scenario that this file changes.");
    cJSON_AddItemToObject(properties, "base", base);
    cJSON_AddStringToObject(set, "description", "Changes, each written like an argument of --set.");
    cJSON_AddItemToObject(set, "items", typed("string"));
    cJSON_AddItemToObject(properties, "set", set);
    add_replay(properties);
    cJSON *needs = cJSON_AddObjectToObject(root, "if"), *any = cJSON_AddArrayToObject(needs, "anyOf");
    add_with_key(any, "base");
    add_with_key(any, "manifests");
    cJSON_AddItemToObject(root, "then", cJSON_CreateObject());
    cJSON *otherwise = cJSON_AddObjectToObject(root, "else");
    cJSON_AddItemToObject(otherwise, "required", cJSON_DetachItemFromObject(root, "required"));
}

char *scenario_json_schema(void)
{
    cJSON *root = cJSON_CreateObject(), *body = struct_schema(&scenario_schema, false);
    cJSON_AddStringToObject(root, "$schema", "https://json-schema.org/draft/2020-12/schema");
    cJSON_AddStringToObject(root, "title", "fleetsim scenario");
    cJSON_AddStringToObject(root, "description", scenario_schema.about);
    while (body->child != NULL) {
        cJSON *item = cJSON_DetachItemViaPointer(body, body->child);
        char *name = mem_strdup(item->string);
        cJSON_AddItemToObject(root, name, item);
        free(name);
    }
    cJSON_Delete(body);
    add_base(root);
    cJSON *definitions = cJSON_AddObjectToObject(root, "$defs");
    cJSON_AddItemToObject(definitions, "each", each_definition());
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    REQUIRE(text != NULL);
    return text;
}
