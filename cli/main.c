/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim: finds the command and hands over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_version.h>
#include <sqlite3.h>

#include "cli/commands.h"
#include "cli/options.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct command commands[] = {
    {"run", cmd_run, "same demand under every arbiter: a table, and results.db"},
    {"check", cmd_check, "is the scenario valid, and which known mistakes does it contain?"},
    {"report", cmd_report, "one HTML page with plots from a results database"},
    {"compare", cmd_compare, "what differs, with paired confidence intervals"},
    {"explain", cmd_explain, "why did this job wait, move, or die: every decision about it"},
    {"audit", cmd_audit, "who shared which card with whom, and who should not have"},
    {"regress", cmd_regress, "CI gate: did anything get worse, for whom, and which decision changed?"},
    {"import", cmd_import, "public traces to fleetsim jobs and traffic files"},
    {"conform", cmd_conform, "does our policy decide as the real system did?"},
    {"schema", cmd_schema, "JSON Schema of scenario files, for editors"},
    {"hash", cmd_hash, "content hash of a results database"},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void print_help(FILE *out)
{
    fputs("fleetsim simulates one GPU fleet shared by training, inference and LoRA jobs.\n\n"
          "  fleetsim run scenarios/quick.yaml        a first result within a second\n\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
    fputs("\n'fleetsim COMMAND --help' explains one. The manual page and docs/ tell the rest.\n", out);
}

static int print_version(void)
{
    printf("fleetsim %s\ncompiler %s\nGSL %s\nSQLite %s\n", FLEETSIM_VERSION, __VERSION__, GSL_VERSION,
           sqlite3_libversion());
    return 0;
}

static int unknown(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    return options_unknown("fleetsim", "command", name, names, COMMAND_COUNT);
}

/* What was printed is the answer: half of it is none, whatever the command said. */
static int printed(const char *command, int status)
{
    enum { BAD_INPUT = 2, MACHINE = 3 };
    errno = 0;
    const bool lost = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (!lost || status == BAD_INPUT || status == MACHINE)
        return status;
    fprintf(stderr, "fleetsim %s: cannot write the output%s%s\n", command, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return MACHINE;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return printed(argv[1], 0);
    }
    if (strcmp(argv[1], "--version") == 0)
        return printed(argv[1], print_version());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return printed(commands[i].name, commands[i].run(argc - 1, argv + 1));
    return unknown(argv[1]);
}
