/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The JSON Schema against the shipped scenarios, with a validator of the few keywords it uses
 * (JSON Schema draft 2020-12, validation vocabulary), and the committed reference page.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "scenarios/load/load.h"
#include "scenarios/load/units.h"
#include "scenarios/load/ytree.h"

static bool valid(const cJSON *root, const cJSON *schema, const struct ynode *n);

static bool is_number(const struct ynode *n, bool whole, double *value)
{
    int64_t i;
    if (n->kind != YNODE_SCALAR || n->quoted || units_real(n->text, value) != UNITS_OK)
        return false;
    return !whole || units_int(n->text, &i) == UNITS_OK;
}

static bool has_type(const char *type, const struct ynode *n)
{
    double value;
    bool truth;
    if (strcmp(type, "object") == 0)
        return n->kind == YNODE_MAP;
    if (strcmp(type, "array") == 0)
        return n->kind == YNODE_LIST;
    if (n->kind != YNODE_SCALAR)
        return false;
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return is_number(n, type[0] == 'i', &value);
    bool is_truth = !n->quoted && units_bool(n->text, &truth) == UNITS_OK;
    if (strcmp(type, "boolean") == 0)
        return is_truth;
    return strcmp(type, "string") == 0 && !is_truth && !is_number(n, false,
                                                                  &value) && !ynode_is_nothing(n);
}

static bool any_type(const cJSON *types, const struct ynode *n)
{
    if (types == NULL)
        return true;
    if (cJSON_IsString(types))
        return has_type(types->valuestring, n);
    for (const cJSON *t = types->child; t != NULL; t = t->next)
        if (has_type(t->valuestring, n))
            return true;
    return false;
}

static bool matches(const cJSON *pattern, const struct ynode *n)
{
    regex_t r;
    assert_int_equal(regcomp(&r, pattern->valuestring, REG_EXTENDED | REG_NOSUB), 0);
    bool ok = regexec(&r, n->text, 0, NULL, 0) == 0;
    regfree(&r);
    return ok;
}

static bool scalar_valid(const cJSON *schema, const struct ynode *n)
{
    double v;
    const cJSON *pattern = cJSON_GetObjectItem(schema,
                                               "pattern"), *names = cJSON_GetObjectItem(schema,
                                                                                        "enum");
    const cJSON *minimum = cJSON_GetObjectItem(schema,
                                               "minimum"), *maximum = cJSON_GetObjectItem(schema,
                                                   "maximum");
    if (pattern != NULL && !matches(pattern, n))
        return false;
    if (is_number(n, false, &v) &&
        ((minimum != NULL && v < minimum->valuedouble) ||
         (maximum != NULL && v > maximum->valuedouble)))
        return false;
    if (names == NULL)
        return true;
    for (const cJSON *e = names->child; e != NULL; e = e->next)
        if (strcmp(e->valuestring, n->text) == 0)
            return true;
    return false;
}

static bool required_valid(const cJSON *schema, const struct ynode *n)
{
    const cJSON *required = cJSON_GetObjectItem(schema, "required");
    for (const cJSON *r = required == NULL ? NULL : required->child; r != NULL; r = r->next)
        if (ynode_get(n, r->valuestring) == NULL)
            return false;
    return true;
}

static bool map_valid(const cJSON *root, const cJSON *schema, const struct ynode *n)
{
    const cJSON *properties = cJSON_GetObjectItem(schema,
                                                  "properties"), *rest = cJSON_GetObjectItem(schema,
                                                      "additionalProperties");
    const cJSON *condition = cJSON_GetObjectItem(schema, "if");
    for (int32_t i = 0; i < n->count; i++) {
        const cJSON *p = properties == NULL ? NULL : cJSON_GetObjectItemCaseSensitive(properties,
                                                                                      n->keys[i]);
        if (p == NULL)
            p = rest;
        if (cJSON_IsFalse(p) || (p != NULL && !cJSON_IsBool(p) && !valid(root, p, n->items[i])))
            return false;
    }
    if (condition != NULL)
        return valid(root, condition, n) || required_valid(cJSON_GetObjectItem(schema, "else"),
                                                              n);
    return required_valid(schema, n);
}

static bool list_valid(const cJSON *root, const cJSON *schema, const struct ynode *n)
{
    const cJSON *items = cJSON_GetObjectItem(schema, "items");
    const cJSON *least = cJSON_GetObjectItem(schema,
                                             "minItems"), *most = cJSON_GetObjectItem(schema,
                                                                                      "maxItems");
    if ((least != NULL && n->count < least->valueint) ||
        (most != NULL && n->count > most->valueint))
        return false;
    for (int32_t i = 0; items != NULL && i < n->count; i++)
        if (!valid(root, items, n->items[i]))
            return false;
    return true;
}

static bool valid(const cJSON *root, const cJSON *schema, const struct ynode *n)
{
    const cJSON *any = cJSON_GetObjectItem(schema, "anyOf"), *ref = cJSON_GetObjectItem(schema,
                                                                                        "$ref");
    if (ref != NULL) {
        assert_string_equal(ref->valuestring, "#/$defs/each");
        return valid(root, cJSON_GetObjectItem(cJSON_GetObjectItem(root, "$defs"), "each"), n);
    }
    bool one = any == NULL;
    for (const cJSON *a = any == NULL ? NULL : any->child; a != NULL && !one; a = a->next)
        one = valid(root, a, n);
    if (!one || !any_type(cJSON_GetObjectItem(schema, "type"), n))
        return false;
    if (n->kind == YNODE_SCALAR)
        return scalar_valid(schema, n);
    return n->kind == YNODE_MAP ? map_valid(root, schema, n) : list_valid(root, schema, n);
}

static const char *source_path(char *buffer, size_t size, const char *name)
{
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    snprintf(buffer, size, "%s/%s", root == NULL ? "." : root, name);
    return buffer;
}

static cJSON *the_schema(void)
{
    char *text = scenario_json_schema();
    cJSON *schema = cJSON_Parse(text);
    free(text);
    assert_non_null(schema);
    return schema;
}

static void it_is_a_draft_2020_12_schema_of_an_object(void **state)
{
    (void)state;
    cJSON *schema = the_schema();
    assert_string_equal(cJSON_GetObjectItem(schema, "$schema")->valuestring,
                        "https://json-schema.org/draft/2020-12/schema");
    assert_string_equal(cJSON_GetObjectItem(schema, "type")->valuestring, "object");
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(schema, "additionalProperties")));
    cJSON_Delete(schema);
}

static void shipped_scenarios_are_valid(void **state)
{
    (void)state;
    static const char *const names[] = {"scenarios/quick.yaml", "scenarios/bank-10k.yaml",
                                        "scenarios/bank-10k-training-1.3x.yaml",
                                        "scenarios/gang-pods.yaml", "scenarios/fgd-openb-like.yaml", "scenarios/fgd-openb.yaml", "scenarios/philly.yaml",
                                        "scenarios/philly-mixed.yaml", "tests/load/data/scenario_base.yaml"};
    cJSON *schema = the_schema();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        struct arena a = {0};
        struct diag_list diags = {0};
        struct ysource source;
        assert_true(ysource_read(&source, source_path(path, sizeof path, names[i]), &a, &diags));
        const struct ynode *root = ytree_parse(&source, &a, &diags);
        assert_non_null(root);
        if (!valid(schema, schema, root))
            fail_msg("%s", names[i]);
        arena_fini(&a);
    }
    cJSON_Delete(schema);
}

static void mistakes_are_not(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "base: x.yaml\nhorizont: 1d\n", "base: x.yaml\nhorizon: 300\n", "base: x.yaml\nhorizon: 1day\n", "base: x.yaml\nreplications: 0\n",
        "base: x.yaml\nreplications: 1.5\n", "base: x.yaml\narbiters: [{preset: cohorts}]\n", "base: x.yaml\narbiters: [{name: a}]\n",
        "base: x.yaml\nmodels: [{name: a, weights: 16}]\n", "name: x\n", "base: x.yaml\nset: seed=1\n",
        "base: x.yaml\ndemand: {training: [{name: a, queue: b, arrivals: {weekday: [1, 2]}}]}\n",
        "base: x.yaml\ndemand: {lora: [{name: a, queue: b, share: 1.3}]}\n", "base: x.yaml\nteams: [{name: a, repeat: 0}]\n",
        "base: x.yaml\ndemand: {services: [{name: a, queue: b, traffic: {base: 3}}]}\n"};
    cJSON *schema = the_schema();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena a = {0};
        struct diag_list diags = {0};
        struct ysource source;
        assert_true(ysource_text(&source, "text", texts[i], strlen(texts[i]), &a, &diags));
        const struct ynode *root = ytree_parse(&source, &a, &diags);
        assert_non_null(root);
        if (valid(schema, schema, root))
            fail_msg("valid: %s", texts[i]);
        arena_fini(&a);
    }
    cJSON_Delete(schema);
}

static void the_reference_page_is_not_stale(void **state)
{
    (void)state;
    char path[1024], *page = scenario_reference();
    FILE *f = fopen(source_path(path, sizeof path, "docs/scenario-reference.md"), "rb");
    assert_non_null(f);
    size_t n = strlen(page);
    char *committed = calloc(n + 2, 1);
    size_t got = fread(committed, 1, n + 1, f);
    fclose(f);
    if (got != n || memcmp(committed, page, n) != 0)
        fail_msg("docs/scenario-reference.md differs; run: fleetsim schema --reference > docs/scenario-reference.md");
    free(committed);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_a_draft_2020_12_schema_of_an_object),
        cmocka_unit_test(shipped_scenarios_are_valid),
        cmocka_unit_test(mistakes_are_not),
        cmocka_unit_test(the_reference_page_is_not_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
