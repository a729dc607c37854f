/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim import KIND FILES... -o OUT */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "scenarios/load/import/import.h"
#include "scenarios/load/text_input.h"
#include "sim/diag.h"

enum { OPT_HELP = 256, OPT_LIST, OPT_OTHER, KINDS_MAX = 64, EXIT_BAD_INPUT = 2 };

static const char help[] =
    "usage: fleetsim import KIND FILES... -o OUT [options]\n"
    "\n"
    "Turns public traces and exports into a jobs file or a traffic file, and prints\n"
    "an account of the rows read, used and dropped, and why. FILES may be plain, gzip\n"
    "or zstd, or - for standard input. KIND is one of the list below, or auto.\n"
    "\n"
    "example:\n"
    "  fleetsim import philly philly.csv.gz -o jobs.csv --window 28d\n"
    "\n"
    "options:\n"
    "  -o, --output OUT         the file to write; - for standard output\n"
    "      --format F           jobs, requests or rates, where there is a choice\n"
    "      --start T            instant (2017-10-01) or offset (12d) of second 0\n"
    "      --window D           keep this long from the start\n"
    "      --only KEY=A,B       keep jobs whose team, queue, user, ... is among these\n"
    "      --sample P           keep this part of the rows, by a hash of --seed N\n"
    "      --scale-arrivals F   arrivals F times as dense\n"
    "      --scale-durations F  durations F times as long\n"
    "      --step D             step of rates made from requests (60s)\n"
    "      --per-client         rates: one service per client instead of their sum\n"
    "      --tz ZONE            of times without one: UTC, +08:00, Europe/Berlin\n"
    "      --time-unit U        of bare numbers: s, ms, us, ns, min, h\n"
    "      --zero-duration W    drop (default) or lift to 1 s\n"
    "      --zero-gpus W        openb: drop (default) or keep pods without cards\n"
    "      --retries R          attempts of a job: sum (default), last, or span\n"
    "      --map NAME=COLUMN    csv: which column holds a field (or a list of them)\n"
    "      --separator C        csv: , ; | or tab\n"
    "      --skip-bad N         tolerate N bad rows\n"
    "      --strict             refuse every odd row\n"
    "      --list               list the kinds\n"
    "\n"
    "kinds:\n";

static const struct option options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"list", no_argument, NULL, OPT_LIST},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, OPT_OTHER},
    {"start", required_argument, NULL, OPT_OTHER},
    {"window", required_argument, NULL, OPT_OTHER},
    {"only", required_argument, NULL, OPT_OTHER},
    {"sample", required_argument, NULL, OPT_OTHER},
    {"seed", required_argument, NULL, OPT_OTHER},
    {"scale-arrivals", required_argument, NULL, OPT_OTHER},
    {"scale-durations", required_argument, NULL, OPT_OTHER},
    {"step", required_argument, NULL, OPT_OTHER},
    {"per-client", no_argument, NULL, OPT_OTHER},
    {"tz", required_argument, NULL, OPT_OTHER},
    {"time-unit", required_argument, NULL, OPT_OTHER},
    {"zero-duration", required_argument, NULL, OPT_OTHER},
    {"zero-gpus", required_argument, NULL, OPT_OTHER},
    {"retries", required_argument, NULL, OPT_OTHER},
    {"map", required_argument, NULL, OPT_OTHER},
    {"separator", required_argument, NULL, OPT_OTHER},
    {"skip-bad", required_argument, NULL, OPT_OTHER},
    {"strict", no_argument, NULL, OPT_OTHER},
    {NULL, 0, NULL, 0}};

static int usage(const char *problem, const char *what)
{
    fprintf(stderr, "fleetsim import: %s%s\n", problem, what);
    fprintf(stderr, "try 'fleetsim import --help'\n");
    return EXIT_BAD_INPUT;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "error: %s\n", err->text);
    return err_exit_status(err);
}

static int unknown_option(const char *argument)
{
    const char *names[sizeof options / sizeof *options];
    size_t count = 0;
    for (; options[count].name != NULL; count++) {
        names[count] = options[count].name;
    }
    size_t dashes = strspn(argument, "-");
    const char *near = diag_nearest(argument + dashes, names, count);
    char text[160];
    snprintf(text, sizeof text, "%.60s%s%s%s", argument, near != NULL ? ", did you mean --" : "",
             near != NULL ? near : "", near != NULL ? "?" : "");
    return usage("unknown option or missing value: ", text);
}

/* The kind that recognises the first file; NULL with err set when none does. */
static const struct importer *guess(const char *path, struct err *err)
{
    if (strcmp(path, "-") == 0) {
        err_set(err, ERR_INPUT, "auto cannot look at standard input; name the kind");
        return NULL;
    }
    struct text_input *in = text_input_open(path, 0, err);
    const char *head;
    size_t n;
    if (in == NULL || !text_input_peek(in, &head, &n, err)) {
        text_input_close(in);
        return NULL;
    }
    int count;
    const struct importer *table = import_table(&count);
    const struct importer *found = NULL;
    for (int i = 0; i < count && found == NULL; i++) {
        found = table[i].detect(head, n) ? &table[i] : NULL;
    }
    text_input_close(in);
    if (found == NULL) {
        err_set(err, ERR_INPUT, "%s: not of a known kind; use 'csv' with --map", path);
    } else {
        fprintf(stderr, "%s looks like: %s\n", path, found->name);
    }
    return found;
}

static int unknown_kind(const char *kind)
{
    int count;
    const struct importer *table = import_table(&count);
    const char *names[KINDS_MAX];
    for (int i = 0; i < count && i < KINDS_MAX; i++) {
        names[i] = table[i].name;
    }
    const char *near = diag_nearest(kind, names, (size_t)(count < KINDS_MAX ? count : KINDS_MAX));
    char text[160];
    snprintf(text, sizeof text, "%.60s%s%s%s", kind, near != NULL ? ", did you mean " : "",
             near != NULL ? near : " (fleetsim import --list shows them)", near != NULL ? "?" : "");
    return usage("unknown kind: ", text);
}

static int run(const struct import_options *o, const char *kind, char **files, int file_count,
               const char *output)
{
    struct err err = {0};
    const struct importer *which = import_find(kind);
    if (which == NULL && strcmp(kind, "auto") == 0) {
        which = guess(files[0], &err);
        if (which == NULL) {
            return fail(&err);
        }
    }
    if (which == NULL) {
        return unknown_kind(kind);
    }
    FILE *account = strcmp(output, "-") == 0 ? stderr : stdout;
    if (!import_run(which, o, files, file_count, output, account, &err)) {
        return fail(&err);
    }
    if (account == stdout) {
        printf("%-22s %s\n", "written", output);
        if (fflush(stdout) != 0) {
            err_errno(&err, ERR_SYSTEM, "cannot write standard output");
            return fail(&err);
        }
    }
    return 0;
}

int cmd_import(int argc, char **argv)
{
    struct import_options o;
    struct err err = {0};
    const char *output = NULL;
    int index = 0;
    import_options_init(&o);
    optind = 0; /* the program's own options were parsed before */
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "o:h", options, &index)) != -1;) {
        if (c == OPT_HELP || c == 'h') {
            fputs(help, stdout);
            import_list(stdout);
            return 0;
        }
        if (c == OPT_LIST) {
            import_list(stdout);
            return 0;
        }
        if (c == '?') {
            return unknown_option(argv[optind - 1]);
        }
        if (c == 'o') {
            output = optarg;
        } else if (!import_options_set(&o, options[index].name, optarg, &err)) {
            return fail(&err);
        }
    }
    if (argc - optind < 2) {
        return usage("expected KIND and at least one file", "");
    }
    if (output == NULL) {
        return usage("expected -o OUT", "");
    }
    return run(&o, argv[optind], argv + optind + 1, argc - optind - 1, output);
}
