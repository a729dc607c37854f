/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/plots/plots.h"
#include "analysis/report/svg.h"
#include "sim/arena.h"
#include "sim/check.h"

#define FILES_MAX 8

struct plot {
    char directory[512];
    const char *files[FILES_MAX]; /* names to remove at the end */
    int file_count;
    FILE *vars, *data;
    bool write_failed;
    struct arena arena;
    struct svg_labels labels;
};

static char *path_of(struct plot *plot, const char *name)
{
    return arena_printf(&plot->arena, "%s/%s", plot->directory, name);
}

static void remember(struct plot *plot, const char *name)
{
    REQUIRE(plot->file_count < FILES_MAX);
    plot->files[plot->file_count++] = arena_strdup(&plot->arena, name);
}

static FILE *create(struct plot *plot, const char *name)
{
    remember(plot, name);
    return fopen(path_of(plot, name), "w");
}

static bool close_file(FILE **f)
{
    bool ok = *f == NULL || (ferror(*f) == 0 && fclose(*f) == 0);
    *f = NULL;
    return ok;
}

static void plot_free(struct plot *plot)
{
    close_file(&plot->vars);
    close_file(&plot->data);
    for (int i = 0; i < plot->file_count; i++)
        unlink(path_of(plot, plot->files[i]));
    rmdir(plot->directory);
    free(plot->labels.items);
    arena_fini(&plot->arena);
    free(plot);
}

static const char *const *lines_of(const char *name)
{
    for (const struct plot_template *t = plot_templates; t->name != NULL; t++)
        if (strcmp(t->name, name) == 0)
            return t->lines;
    check_failed(__FILE__, __LINE__, "a template of this name");
}

static bool write_script(struct plot *plot, const char *name)
{
    FILE *f = create(plot, "plot.gp");
    if (f == NULL)
        return false;
    for (const char *const *line = lines_of("style"); *line != NULL; line++)
        fputs(*line, f);
    for (const char *const *line = lines_of(name); *line != NULL; line++)
        fputs(*line, f);
    return close_file(&f);
}

struct plot *plot_begin(const char *template_name, struct err *err)
{
    struct plot *plot = mem_zalloc(1, sizeof *plot);
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] == '\0')
        tmp = "/tmp";
    if ((size_t)snprintf(plot->directory, sizeof plot->directory, "%s/fleetsim-XXXXXX", tmp) >=
            sizeof plot->directory ||
        mkdtemp(plot->directory) == NULL) {
        err_errno(err, ERR_SYSTEM, "cannot make a directory in '%s' for the plots", tmp);
        free(plot);
        return NULL;
    }
    if (!write_script(plot, template_name) || (plot->vars = create(plot, "vars.gp")) == NULL) {
        err_errno(err, ERR_SYSTEM, "cannot write into '%s'", plot->directory);
        plot_free(plot);
        return NULL;
    }
    return plot;
}

void plot_number(struct plot *plot, const char *name, double value)
{
    fprintf(plot->vars, "%s = %.10g\n", name, value);
}

FILE *plot_file(struct plot *plot, const char *name)
{
    plot->write_failed |= !close_file(&plot->data);
    plot->data = create(plot, name);
    if (plot->data == NULL) {
        plot->write_failed = true;
        plot->data = fopen("/dev/null", "w");
        REQUIRE(plot->data != NULL);
    }
    return plot->data;
}

void plot_column(FILE *data, double value)
{
    if (isfinite(value))
        fprintf(data, "\t%.8g", value);
    else
        fputs("\tNaN", data);
}

const char *plot_label(struct plot *plot, const char *text)
{
    struct svg_labels *l = &plot->labels;
    l->items = mem_grow(l->items, &l->capacity, l->count + 1, sizeof *l->items);
    l->items[l->count] = arena_strdup(&plot->arena, text);
    return arena_printf(&plot->arena, SVG_LABEL_FORMAT, l->count++);
}

/* In the child: never returns. */
static _Noreturn void exec_gnuplot(const struct plot *plot)
{
    int out = open("/dev/null", O_RDWR);
    if (chdir(plot->directory) != 0)
        _exit(126);
    int log = open("log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || log < 0 || dup2(out, 0) < 0 || dup2(out, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    setenv("LC_ALL", "C", 1);
    char program[] = "gnuplot", defaults[] = "-d", script[] = "plot.gp";
    char *argv[] = {program, defaults, script, NULL};
    execvp(program, argv);
    _exit(errno == ENOENT || errno == EACCES ? 127 : 126);
}

static bool failed(struct plot *plot, int status, struct err *err)
{
    char said[300] = "";
    FILE *log = fopen(path_of(plot, "log"), "r");
    if (log != NULL) {
        said[fread(said, 1, sizeof said - 1, log)] = '\0';
        fclose(log);
    }
    for (char *p = said; *p != '\0'; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    if (WIFSIGNALED(status))
        return err_set(err, ERR_SYSTEM, "gnuplot was ended by signal %d", WTERMSIG(status));
    return err_set(err, ERR_SYSTEM, "gnuplot failed with status %d: %s", WEXITSTATUS(status), said);
}

static bool run_gnuplot(struct plot *plot, struct err *err)
{
    int status = 0;
    remember(plot, "log");
    remember(plot, "out.svg");
    pid_t child = fork();
    if (child < 0)
        return err_errno(err, ERR_SYSTEM, "cannot start gnuplot");
    if (child == 0)
        exec_gnuplot(plot);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return err_errno(err, ERR_SYSTEM, "cannot wait for gnuplot");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, ERR_SYSTEM,
                       "gnuplot is not installed and the page needs it: apt install gnuplot-nox");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? true : failed(plot, status, err);
}

/* Whole file as a string; NULL when it cannot be read. */
static char *read_file(const char *path)
{
    size_t size = 0, capacity = 0;
    char *text = NULL;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return NULL;
    for (size_t n = 1; n > 0; size += n) {
        text = mem_grow(text, &capacity, size + 65536, 1);
        n = fread(text + size, 1, 65535, f);
        text[size + n] = '\0';
    }
    fclose(f);
    return text;
}

bool plot_end(struct plot *plot, FILE *out, const char *alt, int number, struct err *err)
{
    bool ok = out != NULL && err->code == ERR_NONE;
    bool vars = close_file(&plot->vars), data = close_file(&plot->data);
    bool written = vars && data && !plot->write_failed;
    if (ok && !written)
        ok = err_errno(err, ERR_SYSTEM, "cannot write the data of a plot into '%s'", plot->directory);
    if (ok && run_gnuplot(plot, err)) {
        char *svg = read_file(path_of(plot, "out.svg"));
        ok = svg != NULL && svg_write(out, svg, alt, number, &plot->labels);
        if (!ok)
            err_set(err, ERR_SYSTEM, "gnuplot drew nothing that can be used");
        free(svg);
    }
    plot_free(plot);
    return err->code == ERR_NONE;
}
