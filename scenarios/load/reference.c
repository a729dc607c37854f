/* SPDX-License-Identifier: GPL-3.0-or-later */
/* docs/scenario-reference.md from the field tables: one section per map, one row per key. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load/load.h"
#include "scenarios/load/load_priv.h"
#include "sim/check.h"

enum { SECTIONS_MAX = 128, CELL_MAX = 512 };

/* Where a table was found first; a table met again is referred to. */
struct section {
    const struct schema *schema;
    char path[128];
    void *defaults;    /* a struct holding the defaults of its rows */
    bool owns_defaults;
};

struct page {
    char *text;
    size_t length, capacity;
    struct section sections[SECTIONS_MAX];
    int count;
};

__attribute__((format(printf, 2, 3))) static void put(struct page *p, const char *fmt, ...)
{
    char line[8192];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    REQUIRE(n >= 0 && (size_t)n < sizeof line);
    p->text = mem_grow(p->text, &p->capacity, p->length + (size_t)n + 1, 1);
    memcpy(p->text + p->length, line, (size_t)n + 1);
    p->length += (size_t)n;
}

static const char head[] =
    "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->\n"
    "<!-- Made by `fleetsim schema --reference` from the field tables in scenarios/load; do not edit. -->\n"
    "# Scenario reference\n"
    "\n"
    "A scenario is a YAML file: a fleet, quota, demand, and a list of arbiters that share the fleet. Names\n"
    "follow their source: Kueue's for quota, KEDA's and HPA's for scaling. Start from `scenarios/quick.yaml`;\n"
    "`fleetsim check FILE` says what is wrong, and `fleetsim schema` prints a JSON Schema for editors\n"
    "(`# yaml-language-server: $schema=fleetsim.schema.json` in the first line).\n"
    "\n"
    "## How values are written\n"
    "\n"
    "A number that has a unit must carry it; `300` is not a duration, `300s` is.\n"
    "\n"
    "| kind | examples | notes |\n"
    "|---|---|---|\n"
    "| duration | `30s` `5m` `1h30m` `28d` `250ms` | `w d h m s ms us ns`, largest first |\n"
    "| size | `80GiB` `15GB` `64Gi` | decimal `kB MB GB TB PB`, binary `KiB MiB GiB TiB PiB` (`Ki` ... too) |\n"
    "| rate | `12/s` `3/min` `500/day` | per `s min h day week` |\n"
    "| transfer rate | `10GB/s` | |\n"
    "| price per time | `6.88usd/h` `200000usd/year` | per `s min h day year` (365 days) |\n"
    "| token price | `0.72usd/Mtok` | |\n"
    "| cards | `2` `0.25` | at most three decimals |\n"
    "| instant | `2026-01-05T00:00:00Z` `2026-01-05` | UTC only |\n"
    "| number | `12` `0.5` `1e6` | no `010`, `1_000`, `.5`, `nan`, `inf` |\n"
    "| true or false | `true` `false` | not `yes`, `on` |\n"
    "| resources | `{cpu: 8, memory: 64GiB}` | Kubernetes' quantities: cpu `500m`, memory with a unit |\n"
    "\n"
    "The YAML is plain: one document; no anchors, aliases or tags; no key twice. At most 8 MiB, 24 levels,\n"
    "4096 keys in a map, a million values after repeats.\n"
    "\n"
    "## Many items: `repeat` and `each`\n"
    "\n"
    "In any list of maps, `repeat: N` makes N copies of the item. In the texts of copy i, `{i}` becomes i\n"
    "(from 1); a value `each: [a, b, c]` becomes a, b, c, a, ... in turn. At most 10000 copies; not nested.\n"
    "\n"
    "```yaml\n"
    "queues:\n"
    "  - name: team-{i}\n"
    "    repeat: 3\n"
    "    cards: {h100: {each: [100, 50, 50]}}\n"
    "```\n"
    "\n"
    "## Changing a scenario: `--set`, `base` and `set`\n"
    "\n"
    "`--set path=value` overrides any field, after repeats: `horizon=7d`,\n"
    "`demand.training[0].arrivals.base=20/h`, `demand.training[*].rateScale=1.3`,\n"
    "`arbiters.cohort.placement=spread`, `demand.services[llama-3.1-70b].maxReplicaCount=4`. An item of a list\n"
    "goes by position from 0, by name, or `[*]` for all; names with dots need brackets. Values are YAML.\n"
    "\n"
    "A file may be a change of another one; it then holds nothing but `base` (a path beside it), `name`,\n"
    "`description` and `set`, a list of such arguments:\n"
    "\n"
    "```yaml\n"
    "base: bank-10k.yaml\n"
    "name: bank-10k-training-1.3x\n"
    "set: [\"demand.training[*].rateScale=1.3\"]\n"
    "```\n"
    "\n"
    "Order: base, `set` from the base up, repeats, `--set`. Results keep the base's text with all changes in\n"
    "one `set` list at its end. Paths of data files belong to the directory of the file they are written in;\n"
    "in `--set`, to the current one.\n";

static const struct section *find_section(const struct page *p, const struct schema *s)
{
    for (int i = 0; i < p->count; i++)
        if (p->sections[i].schema == s)
            return &p->sections[i];
    return NULL;
}

/* Lists sections depth first; embedded maps share their parent's defaults. */
static void collect(struct page *p, const struct schema *s, const char *path, void *defaults)
{
    if (find_section(p, s) != NULL)
        return;
    REQUIRE(p->count < SECTIONS_MAX);
    struct section *own = &p->sections[p->count++];
    own->schema = s;
    snprintf(own->path, sizeof own->path, "%s", path);
    own->owns_defaults = defaults == NULL;
    if (defaults == NULL) {
        defaults = mem_zalloc(1, s->size);
        if (s->defaults != NULL)
            s->defaults(defaults);
    }
    own->defaults = defaults;
    for (const struct field *f = s->fields; f->name != NULL; f++) {
        char sub[128];
        bool list = f->kind == FIELD_LIST || (f->kind == FIELD_CUSTOM && f->sub != NULL &&
                                              strstr(f->shape, "list") != NULL);
        snprintf(sub, sizeof sub, "%s%s%s%s", path, path[0] != '\0' ? "." : "", f->name,
                 list ? "[]" : "");
        if (f->kind == FIELD_STRUCT)
            collect(p, f->sub, sub, (char *)defaults + f->offset);
        else if (f->sub != NULL)
            collect(p, f->sub, sub, NULL);
    }
}

static void anchor(const char *path, char *out, size_t n)
{
    size_t k = 0;
    for (; *path != '\0' && k + 1 < n; path++)
        if (strchr(".[]", *path) == NULL)
            out[k++] = *path == ' ' ? '-' : *path >= 'A' && *path <= 'Z' ? (char)(*path - 'A' + 'a') : *path;
    out[k] = '\0';
}

static void print_expected(const struct page *p, const struct field *f, char *out, size_t n)
{
    char link[128];
    REQUIRE(f->kind != FIELD_LIST || f->sub != NULL);
    const struct section *sub = f->sub == NULL ? NULL : find_section(p, f->sub);
    if (sub != NULL)
        anchor(sub->path, link, sizeof link);
    if (f->kind == FIELD_REF || f->kind == FIELD_NAME)
        snprintf(out, n, "a name");
    else if (f->kind == FIELD_LABELS)
        snprintf(out, n, "map of labels");
    else if (f->kind == FIELD_AMOUNTS)
        snprintf(out, n, "map of resources");
    else if (f->kind == FIELD_REALS)
        snprintf(out, n, "list of %d numbers", (int)f->fixed);
    else if (f->kind == FIELD_LIST)
        snprintf(out, n, "list of [%s](#%s)", f->sub->title, link);
    else if (f->kind == FIELD_STRUCT)
        snprintf(out, n, "[map](#%s)", link);
    else if (f->kind == FIELD_CUSTOM && sub != NULL)
        snprintf(out, n, "[%s](#%s)", f->shape, link);
    else if (f->kind == FIELD_CUSTOM)
        snprintf(out, n, "%s", f->shape);
    else
        field_expectation(f, true, out, n);
}

static void print_default(const struct field *f, const void *defaults, char *out, size_t n)
{
    char value[256];
    if ((f->flags & FIELD_REQUIRED) != 0)
        snprintf(out, n, "**required**");
    else if (f->fallback != NULL)
        snprintf(out, n, "%s", f->fallback);
    else if (field_print(f, defaults, value, sizeof value) && value[0] != '\0')
        snprintf(out, n, "`%s`", value);
    else
        snprintf(out, n, "none");
}

static void print_section(struct page *p, const struct section *s)
{
    char expected[CELL_MAX], standard[CELL_MAX];
    put(p, "\n## %s\n\n", s->path[0] == '\0' ? "Top level" : s->path);
    if (s->schema->about != NULL)
        put(p, "%s\n\n", s->schema->about);
    put(p, "| key | value | default | meaning |\n|---|---|---|---|\n");
    for (const struct field *f = s->schema->fields; f->name != NULL; f++) {
        print_expected(p, f, expected, sizeof expected);
        print_default(f, s->defaults, standard, sizeof standard);
        put(p, "| `%s` | %s | %s | %s |\n", f->name, expected, standard, f->help);
    }
}

/* Defaults of an arbiter depend on its preset: one column each. */
static void print_arbiters(struct page *p, const struct section *s)
{
    char expected[CELL_MAX], cell[CELL_MAX];
    put(p, "\n## %s\n\n%s\n\n| key | value |", s->path, s->schema->about);
    for (int k = 0; k < PRESET_COUNT; k++)
        put(p, " %s |", arbiter_preset_name((enum arbiter_preset)k));
    put(p, " meaning |\n|---|---|---|---|---|---|---|\n");
    for (const struct field *f = s->schema->fields; f->name != NULL; f++) {
        print_expected(p, f, expected, sizeof expected);
        put(p, "| `%s` | %s |", f->name, expected);
        for (int k = 0; k < PRESET_COUNT; k++) {
            struct arbiter_in in = {.c = arbiter_defaults((enum arbiter_preset)k)};
            print_default(f, &in, cell, sizeof cell);
            put(p, " %s |", cell);
        }
        put(p, " %s |\n", f->help);
    }
}

char *scenario_reference(void)
{
    struct page p = {0};
    put(&p, "%s", head);
    collect(&p, &scenario_schema, "", NULL);
    collect(&p, &replay_schema, "A file with manifests", NULL);
    for (int i = 0; i < p.count; i++) {
        if (p.sections[i].schema == &arbiter_schema)
            print_arbiters(&p, &p.sections[i]);
        else
            print_section(&p, &p.sections[i]);
    }
    for (int i = 0; i < p.count; i++)
        if (p.sections[i].owns_defaults)
            free(p.sections[i].defaults);
    return p.text;
}
