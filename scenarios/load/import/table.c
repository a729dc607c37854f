/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of importers: one row each. */
#include <string.h>

#include "scenarios/load/import/import_ctx.h"

static const struct importer importers[] = {
    {"philly", "Microsoft Philly 2017: philly.csv, or its original JSON", FORM_JOBS,
     philly_detect, philly_run, NULL},
    {"servegen", "ServeGen: client rates, and client lengths beside them", FORM_RATES, servegen_detect,
     servegen_run, servegen_finish},
    {"azure-llm", "Azure LLM inference traces 2023 and 2024", FORM_REQUESTS, azure_llm_detect,
     azure_llm_run, NULL},
    {"genai-lora", "Alibaba GenAI 2026: Stable Diffusion requests with LoRA", FORM_JOBS,
     genai_lora_detect, genai_lora_run, NULL},
    {"openb", "Alibaba openb 2023: pods on shares of GPUs", FORM_JOBS, openb_detect, openb_run, NULL},
    {"kueue-workloads", "Kueue: kubectl get workloads -A -o json or yaml", FORM_JOBS, kueue_workloads_detect,
     kueue_workloads_run, NULL},
    {"kueue-generator", "Kueue: a file of its performance generator", FORM_JOBS, kueue_generator_detect,
     kueue_workloads_run, NULL},
    {"csv", "any CSV with a header, columns by name or --map", FORM_AUTO, generic_csv_detect,
     generic_csv_run, NULL},
};

const struct importer *import_table(int *count)
{
    *count = (int)(sizeof importers / sizeof *importers);
    return importers;
}

const struct importer *import_find(const char *name)
{
    for (size_t i = 0; i < sizeof importers / sizeof *importers; i++) {
        if (strcmp(importers[i].name, name) == 0) {
            return &importers[i];
        }
    }
    return NULL;
}

void import_list(FILE *out)
{
    static const char *const forms[] = {"auto", "jobs", "requests", "rates"};
    for (size_t i = 0; i < sizeof importers / sizeof *importers; i++) {
        fprintf(out, "%-15s %s -> %s\n", importers[i].name, importers[i].help, forms[importers[i].form]);
    }
}

bool import_head_has(const char *head, uint64_t n, const char *word)
{
    size_t length = strlen(word);
    for (uint64_t i = 0; i + length <= n && head[i] != '\n'; i++) {
        if (memcmp(head + i, word, length) == 0) {
            return true;
        }
    }
    return false;
}
