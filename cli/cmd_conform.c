/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleetsim conform: recorded decisions of real systems, replayed through our code. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "studies/conform_hami.h"
#include "studies/conform_hpa.h"
#include "studies/conform_keda.h"
#include "studies/conform_kueue.h"
#include "studies/manifest_past.h"

struct kind {
    const char *name;
    int (*files)(int n, char **files, FILE *out);
    const char *help;
};

static const struct kind kinds[] = {
    {"kueue", conform_kueue_files, "admission: every cycle of the Kueue scheduler"},
    {"hami", conform_hami_files, "sharing: fits and placements of HAMi's scheduler"},
    {"hpa", conform_hpa_files, "scaling: syncs of the HorizontalPodAutoscaler"},
    {"keda", conform_keda_files, "activation and metrics of KEDA"},
    {"workloads", conform_workloads_files, "a Kueue dump's own past: times of quota reservation"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void print_help(FILE *out)
{
    fputs("usage: fleetsim conform KIND FILE...\n"
          "\n"
          "Replays recorded decisions of a real system through the code that simulations\n"
          "use, and prints agreement per group and the first difference with both sides.\n"
          "The files hold one JSON object per line and may be compressed with gzip;\n"
          "those of workloads are Kubernetes objects as kubectl prints them.\n"
          "\n",
          out);
    for (int i = 0; i < KINDS; i++)
        fprintf(out, "  %-9s %s\n", kinds[i].name, kinds[i].help);
    fputs("\nexit status: 0 all agree, 1 something differs, 2 a file cannot be read\n"
          "\n"
          "example:\n"
          "  fleetsim conform kueue tests/policies/data/*.jsonl.gz\n",
          out);
}

static int unknown(const char *name)
{
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    return options_unknown("fleetsim conform", "kind", name, names, KINDS);
}

int cmd_conform(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
        return 0;
    }
    if (argc < 3) {
        fputs("fleetsim conform: expected a kind and files\n"
              "fleetsim: see 'fleetsim conform --help'\n",
              stderr);
        return 2;
    }
    for (int i = 0; i < KINDS; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            return kinds[i].files(argc - 2, argv + 2, stdout);
    return unknown(argv[1]);
}
