/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Totals of the public traces, known from their README and from one-line awk sums over the raw
 * files. Skipped where the traces are not there.
 */
#include "tests/load/import_help.h"

#include <math.h>

#include "scenarios/load/jobs_file.h"
#include "scenarios/load/traffic_file.h"

static struct help_import import_trace(const char *kind, const char *first, const char *second)
{
    static char a[512];
    static char b[512];
    char *files[2] = {a, b};
    if (help_trace(a, first) == NULL || (second != NULL && help_trace(b, second) == NULL)) {
        fail_msg("a shared trace is missing");
    }
    struct help_import r = help_import_files(kind, files, second != NULL ? 2 : 1, NULL);
    if (!r.fine) {
        fail_msg("%s", r.err.text);
    }
    return r;
}

static void philly_has_its_published_totals(void **state)
{
    (void)state;
    struct help_import r = import_trace("philly", "philly/philly.csv.gz", NULL);
    assert_account(&r, "rows read", "82,247");
    assert_account(&r, "rows used", "82,247");
    assert_account(&r, "rows dropped", "0");
    assert_account(&r, "first submit", "2017-09-04 10:30:41");
    assert_account(&r, "last submit", "2017-12-22 08:02:11 (108.90 days later)");
    assert_account(&r, "card hours", "978,078.47");
    assert_account(&r, "largest job", "128 cards");
    assert_account(&r, "peak demand", "1,243 cards at 2017-10-21 23:03:38, when nothing waits");
    /* provenance: the checksum stands in the traces' README */
    assert_non_null(strstr(r.out, "sha256 of the file "
                                  "3e7c68fda81aa3456ae29ff7b5b8cd08a81ca915c45e1626baa43530636e5684"));
    help_import_free(&r);
}

/* The written file, read back by the reader that feeds the simulation. */
static void philly_read_back_has_the_same_card_time(void **state)
{
    (void)state;
    struct help_import r = import_trace("philly", "philly/philly.csv.gz", NULL);
    struct job_stream_config cfg = {0};
    struct jobs_file_options o = {0};
    struct job_reader reader;
    struct err err = {0};
    struct job_spec job;
    int64_t gpu_s = 0;
    int jobs = 0;
    assert_true(jobs_file_read(text_input_memory("philly", r.out, strlen(r.out), 0), &cfg, &o, &reader, &err));
    while (reader.next(reader.ctx, &job, &err)) {
        gpu_s += job.work / SIM_SECOND * job.workers * job.cards_per_worker;
        jobs++;
    }
    reader.close(reader.ctx);
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(jobs, 82247);
    assert_int_equal(gpu_s, 3521082502); /* awk: sum of duration x num_gpus; 978,078.4728 h */
    help_import_free(&r);
}

static void azure_conversations_have_their_tokens(void **state)
{
    (void)state;
    struct help_import r = import_trace("azure-llm", "azure-llm/AzureLLMInferenceTrace_conv.csv.gz", NULL);
    assert_account(&r, "rows used", "19,366");
    assert_account(&r, "requests", "19,366");
    assert_account(&r, "first request", "2023-11-16 18:15:46.68059");
    assert_account(&r, "input tokens", "22,361,870");
    assert_account(&r, "output tokens", "4,088,665");
    assert_account(&r, "mean rate", "5.530 requests/s");
    assert_account(&r, "peak rate", "19 in the second 2023-11-16 18:47:00");
    help_import_free(&r);
}

/* Requests and tokens summed over steps of the traffic reader are those of the trace. */
static void azure_requests_are_conserved_by_the_traffic_reader(void **state)
{
    (void)state;
    struct help_import r = import_trace("azure-llm", "azure-llm/AzureLLMInferenceTrace_conv.csv.gz", NULL);
    struct service_config service = {.name = "conv"};
    struct traffic_file_options o = {0};
    struct traffic_reader reader;
    struct err err = {0};
    assert_true(traffic_file_read(text_input_memory("azure", r.out, strlen(r.out), 0), &service, &o,
                                  &reader, &err));
    double requests = 0;
    double input = 0;
    double output = 0;
    for (int i = 0; i < 60; i++) {
        struct traffic_point p;
        assert_true(reader.at(reader.ctx, i * SIM_MINUTE, SIM_MINUTE, &p, &err));
        requests += 60 * p.rate_per_s;
        input += 60 * p.rate_per_s * p.input_tokens_mean;
        output += 60 * p.rate_per_s * p.output_tokens_mean;
    }
    reader.close(reader.ctx);
    assert_true(fabs(requests - 19366) < 1e-6);
    assert_true(fabs(input - 22361870) < 1e-3);
    assert_true(fabs(output - 4088665) < 1e-3);
    help_import_free(&r);
}

static void servegen_m_large_has_its_clients_and_rates(void **state)
{
    (void)state;
    struct help_import r = import_trace("servegen", "servegen/m-large_client_rates.csv.gz",
                                        "servegen/m-large_client_lengths.csv.gz");
    assert_account(&r, "rows read", "334,488"); /* 326,592 rates and 7,896 lengths */
    assert_account(&r, "windows", "2,016 of 600 s");
    assert_account(&r, "mean rate", "195.844 requests/s");
    assert_account(&r, "least rate", "48.352 requests/s");
    assert_account(&r, "peak rate", "582.992 requests/s at 80400 s");
    assert_account(&r, "requests", "236892826"); /* 394821.377 x 600 s */
    assert_account(&r, "note", "162 clients, token lengths known for 147 of them");
    help_import_free(&r);
}

static void servegen_other_models_have_their_mean_rates(void **state)
{
    (void)state;
    struct help_import r = import_trace("servegen", "servegen/m-small_client_rates.csv.gz",
                                        "servegen/m-small_client_lengths.csv.gz");
    assert_account(&r, "mean rate", "1174.404 requests/s");
    assert_account(&r, "note", "43 clients, token lengths known for 38 of them");
    help_import_free(&r);
    r = import_trace("servegen", "servegen/deepseek-r1_client_rates.csv.gz",
                     "servegen/deepseek-r1_client_lengths.csv.gz");
    assert_account(&r, "mean rate", "16.015 requests/s");
    assert_account(&r, "note", "73 clients, token lengths known for 73 of them");
    help_import_free(&r);
}

/* A raw dataset gives the mean that the joined lengths file states for its client. */
static void servegen_raw_lengths_agree_with_the_joined_file(void **state)
{
    (void)state;
    char raw[512];
    char *files[3] = {raw, NULL, NULL};
    if (help_trace(raw, "servegen/m-large_chunk-143-dataset.json.gz") == NULL) {
        fail_msg("a shared trace is missing");
    }
    char rates[256];
    static const char two_windows[] = "0,2,1,,0,0\n600,2,1,,0,0\n";
    help_write(rates, "chunk-143-trace.csv", two_windows, sizeof two_windows - 1);
    files[1] = rates;
    struct help_import r = help_import_files("servegen", files, 2, NULL);
    if (!r.fine) {
        fail_msg("%s", r.err.text);
    }
    /* m-large_client_lengths.csv: 143,0,input_tokens and 143,0,output_tokens */
    double input;
    double output;
    double rate;
    const char *row = strstr(r.out, "\n0,600,");
    assert_non_null(row);
    assert_int_equal(sscanf(row, "\n0,600,%lf,%lf,%lf", &rate, &input, &output), 3);
    assert_true(rate == 2);
    char joined[512];
    help_trace(joined, "servegen/m-large_client_lengths.csv.gz");
    struct err err = {0};
    struct text_input *in = text_input_open(joined, 0, &err);
    assert_non_null(in);
    char *line;
    size_t n;
    int found = 0;
    while (text_input_line(in, &line, &n, &err)) {
        double mean;
        if (sscanf(line, "143,0,input_tokens,%lf", &mean) == 1) {
            assert_true(fabs(mean / input - 1) < 1e-5);
            found++;
        }
        if (sscanf(line, "143,0,output_tokens,%lf", &mean) == 1) {
            assert_true(fabs(mean / output - 1) < 1e-5);
            found++;
        }
    }
    assert_int_equal(found, 2);
    text_input_close(in);
    help_remove(rates);
    help_import_free(&r);
}

static void genai_lora_has_its_states_and_gpu_hours(void **state)
{
    (void)state;
    struct help_import r = import_trace("genai-lora", "alibaba-genai/lora_request_trace_to_20241203.csv.gz",
                                        NULL);
    assert_account(&r, "rows read", "20,492");
    assert_account(&r, "rows used", "20,471");
    assert_account(&r, "card hours", "156.31");
    help_import_free(&r);
    char path[512];
    char *files[1] = {path};
    help_trace(path, "alibaba-genai/lora_request_trace_to_20241203.csv.gz");
    struct import_options o;
    struct err err = {0};
    import_options_init(&o);
    assert_true(import_options_set(&o, "only", "state=completed", &err));
    r = help_import_files("genai-lora", files, 1, &o);
    assert_account(&r, "rows used", "20,148");
    assert_account(&r, "card hours", "155.17"); /* workload-models 5.5: 155.2 GPU hours */
    help_import_free(&r);
}

static void openb_default_has_its_pods_and_shares(void **state)
{
    (void)state;
    struct help_import r = import_trace("openb", "alibaba-openb/openb_pod_list_default.csv.gz", NULL);
    assert_account(&r, "rows read", "8,152");
    assert_account(&r, "rows used", "6,203");
    assert_account(&r, "rows dropped", "1,949"); /* 1,088 CPU pods, 861 GPU pods never scheduled */
    assert_account(&r, "jobs", "6,203 (gangs 0, on a share of a card 2573)");
    assert_account(&r, "cards requested", "5,484.930");
    assert_account(&r, "card hours", "51,470.67");
    help_import_free(&r);
}

static void openb_without_times_is_a_packing_list(void **state)
{
    (void)state;
    struct help_import r = import_trace("openb", "alibaba-openb/openb_pod_list_multigpu50.csv.gz", NULL);
    assert_account(&r, "rows read", "9,061");
    assert_account(&r, "rows used", "7,973");
    assert_account(&r, "jobs", "7,973 (gangs 0, on a share of a card 3078)");
    assert_account(&r, "cards requested", "11,358.800");
    assert_account(&r, "note", "no times in the file: arrivals 1 s apart, no pod leaves for 10 years");
    help_import_free(&r);
}

int main(void)
{
    char path[512];
    if (help_trace(path, "README.md") == NULL) {
        printf("1..0 # SKIP the shared traces are not there (FLEETSIM_SHARED)\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philly_has_its_published_totals),
        cmocka_unit_test(philly_read_back_has_the_same_card_time),
        cmocka_unit_test(azure_conversations_have_their_tokens),
        cmocka_unit_test(azure_requests_are_conserved_by_the_traffic_reader),
        cmocka_unit_test(servegen_m_large_has_its_clients_and_rates),
        cmocka_unit_test(servegen_other_models_have_their_mean_rates),
        cmocka_unit_test(servegen_raw_lengths_agree_with_the_joined_file),
        cmocka_unit_test(genai_lora_has_its_states_and_gpu_hours),
        cmocka_unit_test(openb_default_has_its_pods_and_shares),
        cmocka_unit_test(openb_without_times_is_a_packing_list),
    };
    return cmocka_run_group_tests_name("import_traces", tests, NULL, NULL);
}
