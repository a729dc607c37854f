/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run by the build: catalogue_gen IN.csv OUT.c turns the catalogue into constant C arrays. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/fleet/catalogue_read.h"

/* A C string literal; trigraphs cannot arise since '?' is written as an escape. */
static void put_text(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || c == '?' || c < 32 || c > 126)
            fprintf(out, "\\%03o", c);
        else
            fputc(c, out);
    }
    fputs("\", ", out);
}

static void put_cards(FILE *out, const struct catalogue *c)
{
    fprintf(out, "static const struct card_type cards[] = {\n");
    for (int32_t i = 0; i < c->card_count; i++) {
        const struct card_type *t = &c->cards[i];
        fputs("    {", out);
        put_text(out, t->name);
        put_text(out, t->vendor);
        fprintf(out, "INT64_C(%" PRId64 "), %" PRId32 ", %" PRId32 ", %.17g, %.17g, %.17g, %.17g, ",
                t->memory_bytes, t->cores, t->speed_milli, t->hbm_bytes_per_s, t->flops_bf16,
                t->flops_fp8, t->link_bytes_per_s);
        fprintf(out, "%" PRId32 ", ", t->mig_slices);
        put_text(out, t->as_of);
        put_text(out, t->source);
        put_text(out, t->confidence);
        fputs("},\n", out);
    }
    fputs("};\n", out);
}

static void put_instances(FILE *out, const struct catalogue *c)
{
    fprintf(out, "static const struct instance_type instances[] = {\n");
    for (int32_t i = 0; i < c->instance_count; i++) {
        const struct instance_type *t = &c->instances[i];
        fputs("    {", out);
        put_text(out, t->name);
        fprintf(out, "%" PRId32 ", %" PRId32 ", INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), ",
                t->card, t->card_count, t->cpu_milli, t->memory_bytes);
        fprintf(out, "INT64_C(%" PRId64 "), INT64_C(%" PRId64 "), ", t->price_uusd_per_h,
                t->spot_uusd_per_h);
        put_text(out, t->as_of);
        put_text(out, t->source);
        put_text(out, t->confidence);
        fputs("},\n", out);
    }
    fputs("};\n", out);
}

static void put_facts(FILE *out, const struct catalogue *c)
{
    fprintf(out, "static const struct catalogue_fact facts[] = {\n");
    for (int32_t i = 0; i < c->fact_count; i++) {
        const struct catalogue_fact *f = &c->facts[i];
        fputs("    {", out);
        put_text(out, f->kind);
        put_text(out, f->name);
        put_text(out, f->field);
        put_text(out, f->text);
        fprintf(out, "%.17g, %s, ", f->value, f->is_number ? "true" : "false");
        put_text(out, f->unit);
        put_text(out, f->as_of);
        put_text(out, f->source);
        put_text(out, f->confidence);
        fputs("},\n", out);
    }
    fputs("};\n", out);
}

static void put_catalogue(FILE *out, const struct catalogue *c)
{
    fputs("/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
          "/* Made from scenarios/catalogue.csv by catalogue_gen; do not edit. */\n"
          "#include \"models/fleet/catalogue.h\"\n\n",
          out);
    put_cards(out, c);
    put_instances(out, c);
    put_facts(out, c);
    fprintf(out,
            "static const struct catalogue builtin = {cards, %" PRId32 ", instances, %" PRId32
            ", facts, %" PRId32 "};\n\n",
            c->card_count, c->instance_count, c->fact_count);
    fputs("const struct catalogue *catalogue_builtin(void)\n{\n    return &builtin;\n}\n", out);
}

/* The whole file in the arena, or NULL. */
static char *slurp(const char *path, struct arena *arena, size_t *size)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return NULL;
    char *text = NULL;
    size_t capacity = 0, n;
    *size = 0;
    do {
        text = mem_grow(text, &capacity, *size + 4096, 1);
        n = fread(text + *size, 1, 4096, in);
        *size += n;
    } while (n > 0);
    bool ok = !ferror(in);
    fclose(in);
    char *kept = ok ? arena_strndup(arena, text, *size) : NULL;
    free(text);
    return kept;
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    struct diag_list problems = {0};
    struct catalogue c;
    size_t size;
    if (argc != 3) {
        fprintf(stderr, "usage: catalogue_gen IN.csv OUT.c\n");
        return 2;
    }
    char *text = slurp(argv[1], &arena, &size);
    if (text == NULL) {
        perror(argv[1]);
        return 2;
    }
    int status = 0;
    if (!catalogue_read(&c, &arena, argv[1], text, size, &problems)) {
        diag_print(&problems, stderr);
        status = 2;
    } else {
        FILE *out = fopen(argv[2], "w");
        if (out != NULL)
            put_catalogue(out, &c);
        if (out == NULL || ferror(out) || fclose(out) != 0) {
            perror(argv[2]);
            status = 3;
        }
    }
    diag_fini(&problems);
    arena_fini(&arena);
    return status;
}
