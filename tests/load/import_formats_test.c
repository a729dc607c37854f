/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each format's rules on small texts of our own: mapping, order, repairs, cuts. */
#include "tests/load/import_help.h"

static void check_rows(const char *kind, const char *text, const struct import_options *o,
                       const char *expected)
{
    struct help_import r = help_import_text(kind, text, o);
    if (!r.fine) {
        fail_msg("%s", r.err.text);
    }
    assert_string_equal(help_rows(&r), expected);
    help_import_free(&r);
}

static struct import_options with(const char *name, const char *value)
{
    struct import_options o;
    struct err err = {0};
    import_options_init(&o);
    assert_true(import_options_set(&o, name, value, &err));
    return o;
}

static const char philly[] = "timestamp,duration,num_gpus,gpu_time,cluster\n"
                             "2017-10-01 00:10:00,60.0,1,60.0,b\n"
                             "2017-10-01 00:00:00,30.5,16,488.0,a\n"
                             "2017-10-01 00:10:00,20.0,12,240.0,a\n";

static void rows_are_sorted_and_equal_times_keep_file_order(void **state)
{
    (void)state;
    check_rows("philly", philly, NULL,
               "submit_s,duration_s,workers,cards_per_worker,share,team\n"
               "0,30.5,2,8,,a\n"
               "600,60,1,1,,b\n"
               "600,20,2,6,,a\n");
}

static void peak_demand_counts_ends_before_starts_of_the_same_instant(void **state)
{
    (void)state;
    struct help_import r = help_import_text("csv", "submit,duration,gpus\n0,10,3\n5,20,4\n10,5,3\n15,1,2\n",
                                            NULL);
    assert_account(&r, "peak demand", "7 cards at 5 s, when nothing waits");
    assert_account(&r, "card hours", "0.04"); /* (30 + 80 + 15 + 2) / 3600 */
    help_import_free(&r);
}

static void columns_are_found_by_name_in_any_order(void **state)
{
    (void)state;
    check_rows("philly",
               "cluster,num_gpus,timestamp,duration\r\n\r\nx,1,2017-10-01 00:00:00,1\r\n"
               "\"y,\"\"z\"\"\",2,2017-10-01 00:00:01,2",
               NULL,
               "submit_s,duration_s,workers,cards_per_worker,share,team\n"
               "0,1,1,1,,x\n"
               "1,2,1,2,,\"y,\"\"z\"\"\"\n");
}

static void philly_json_takes_attempts_as_asked(void **state)
{
    (void)state;
    static const char json[] =
        "[{\"status\":\"Pass\",\"vc\":\"v1\",\"jobid\":\"j1\",\"user\":\"u\",\n"
        "  \"submitted_time\":\"2017-10-07 01:00:00\",\n"
        "  \"attempts\":[{\"start_time\":\"2017-10-07 01:00:10\",\"end_time\":\"2017-10-07 01:01:10\",\n"
        "    \"detail\":[{\"ip\":\"m1\",\"gpus\":[\"gpu0\",\"gpu1\"]},{\"ip\":\"m2\",\"gpus\":[\"gpu0\",\"gpu1\"]}]},\n"
        "   {\"start_time\":\"2017-10-07 01:02:00\",\"end_time\":\"2017-10-07 01:02:30\",\"detail\":[]}]},\n"
        " {\"status\":\"Killed\",\"vc\":\"v2\",\"jobid\":\"j}2\",\"user\":\"u\",\n"
        "  \"submitted_time\":\"2017-10-07 00:00:00\",\"attempts\":[]},\n"
        " {\"status\":\"Failed\",\"vc\":\"v2\",\"jobid\":\"j3\",\"user\":\"w\",\n"
        "  \"submitted_time\":\"2017-10-07 01:00:05\",\n"
        "  \"attempts\":[{\"start_time\":\"2017-10-07 01:00:05\",\"end_time\":\"None\",\"detail\":\n"
        "   [{\"ip\":\"m\",\"gpus\":[\"gpu0\"]}]}]}]\n";
    static const char header[] =
        "submit_s,duration_s,workers,cards_per_worker,share,team,user,id,trace_wait_s,state\n";
    char expected[512];
    snprintf(expected, sizeof expected, "%s0,90,2,2,,v1,u,j1,10,completed\n", header);
    check_rows("philly", json, NULL, expected);
    struct import_options o = with("retries", "last");
    snprintf(expected, sizeof expected, "%s0,30,2,2,,v1,u,j1,10,completed\n", header);
    check_rows("philly", json, &o, expected);
    o = with("retries", "span");
    snprintf(expected, sizeof expected, "%s0,140,2,2,,v1,u,j1,10,completed\n", header);
    check_rows("philly", json, &o, expected);
    struct help_import r = help_import_text("philly", json, NULL);
    assert_account(&r, "rows read", "3");
    assert_account(&r, "  never_started", "1 (line 6)");
    assert_account(&r, "  zero_duration", "1 (line 8)"); /* still running, nothing known of its length */
    help_import_free(&r);
}

static void philly_json_cut_short_is_refused(void **state)
{
    (void)state;
    struct help_import r = help_import_text("philly", "[{\"status\":\"Pass\"", NULL);
    assert_string_equal(r.err.text, "memory:1:1: truncated: the array of jobs is not closed");
    help_import_free(&r);
}

static void openb_shares_whole_cards_and_phases_are_told_apart(void **state)
{
    (void)state;
    check_rows("openb",
               "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
               "deletion_time,scheduled_time\n"
               "a,500,1,1,460,,LS,Running,100,200,101\n"
               "b,1,1,1,1000,,BE,Succeeded,100,130,100\n"
               "c,32000,4096,8,1000,G2|G3,Guaranteed,Failed,90,95,92\n"
               "d,1,1,0,0,,BE,Running,100,200,100\n"
               "e,1,1,1,999,,Burstable,Pending,100,200,\n",
               NULL,
               "submit_s,duration_s,workers,cards_per_worker,share,id,trace_wait_s,state,card_type,class,"
               "cpu,memory_mib\n"
               "0,3,1,8,,c,2,failed,G2|G3,Guaranteed,32,4096\n"
               "10,99,1,0,0.46,a,1,running,,LS,0.5,1\n"
               "10,30,1,1,,b,0,completed,,BE,0.001,1\n");
}

static void genai_requests_are_jobs_or_arrivals(void **state)
{
    (void)state;
    static const char text[] =
        "gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,"
        "negative_prompt_length,num_images_per_prompt,num_inference_steps,checkpoint_model_version_id,"
        "num_lora\n"
        "2024-11-15 16:00:00,TXT_2_IMG,SUCCEED,32.0,G0,63.0,26.0,1.0,30.0,M0,1\n"
        "2024-11-15 16:00:01,IMG_2_IMG,PENDING,0.0,G1,93.0,,1.0,40.0,M1,0\n"
        "2024-11-15 16:00:05,IMG_2_IMG,FAILED,4.0,G1,,,,,,0\n";
    check_rows("genai-lora", text, NULL,
               "submit_s,duration_s,workers,cards_per_worker,share,user,state,model,class\n"
               "0,32,1,1,,G0,completed,M0,TXT_2_IMG\n"
               "5,4,1,1,,G1,failed,,IMG_2_IMG\n");
    struct import_options o = with("format", "requests");
    check_rows("genai-lora", text, &o, "t_s\n0\n5\n");
}

static void azure_requests_keep_their_hundred_nanoseconds(void **state)
{
    (void)state;
    static const char text[] = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                               "2023-11-16 18:15:46.6805901,374,44\r\n"
                               "2023-11-16 18:15:46.68+00:00,10,1\r\n"
                               "2023-11-16 18:15:50.9951690,396,109";
    check_rows("azure-llm", text, NULL,
               "t_s,input_tokens,output_tokens\n0,10,1\n0.0005901,374,44\n4.315169,396,109\n");
    struct import_options o = with("format", "rates");
    o.step = 4 * SIM_SECOND;
    check_rows("azure-llm", text, &o,
               "t_s,step_s,rate_per_s,input_tokens,output_tokens\n0,4,0.5,192,22.5\n4,4,0.25,396,109\n");
}

static void servegen_clients_are_summed_or_kept(void **state)
{
    (void)state;
    static const char rates[] = "client_id,timestamp_s,rate_rps,cv,pattern,pattern_shape,pattern_scale\n"
                                "0,0,1.5,1,Gamma,1,1\n0,600,0,0,,0,0\n1,0,0.5,1,Gamma,1,1\n1,600,2,1,,0,0\n";
    check_rows("servegen", rates, NULL,
               "t_s,step_s,rate_per_s,input_tokens,output_tokens\n0,600,2,,\n600,600,2,,\n");
    struct import_options o = with("per-client", "");
    check_rows("servegen", rates, &o,
               "t_s,step_s,service,rate_per_s,input_tokens,output_tokens\n"
               "0,600,client-0,1.5,,\n0,600,client-1,0.5,,\n600,600,client-1,2,,\n");
}

static void servegen_lengths_hold_until_the_next_and_are_weighted_by_rate(void **state)
{
    (void)state;
    char a[256];
    char b[256];
    static const char rates[] = "client_id,timestamp_s,rate_rps\n"
                                "0,0,1\n1,0,3\n2,0,4\n0,21600,1\n1,21600,1\n2,21600,0\n";
    static const char lengths[] = "client_id,window_start_s,field,mean,p50,p95,p99,max\n"
                                  "0,0,input_tokens,100,1,1,1,1\n0,0,output_tokens,10,1,1,1,1\n"
                                  "1,0,input_tokens,200,1,1,1,1\n1,0,output_tokens,20,1,1,1,1\n"
                                  "1,21600,input_tokens,400,1,1,1,1\n1,0,reason_ratio,0.5,1,1,1,1\n";
    help_write(a, "lengths.csv", lengths, sizeof lengths - 1);
    help_write(b, "rates.csv", rates, sizeof rates - 1);
    char *files[] = {a, b};
    struct help_import r = help_import_files("servegen", files, 2, NULL);
    assert_true(r.fine);
    assert_string_equal(help_rows(&r), "t_s,step_s,rate_per_s,input_tokens,output_tokens\n"
                                       "0,600,8,175,17.5\n21600,600,2,250,15\n");
    assert_account(&r, "note", "3 clients, token lengths known for 2 of them");
    help_import_free(&r);
    help_remove(a);
    help_remove(b);
}

static void csv_splits_totals_over_workers(void **state)
{
    (void)state;
    check_rows("csv",
               "Job-ID;Submit Time;Duration_min;num_gpus;nodes;gpu_milli;user\n"
               "a;0;1;16;2;;u\n"    /* divides: 2 x 8 */
               "b;1;1;9;2;;u\n"     /* does not: one worker with all */
               "c;2;1;1;1;250;u\n"  /* a share of one */
               "d;3;0.5;0;1;;u\n",  /* no GPU: dropped */
               NULL,
               "submit_s,duration_s,workers,cards_per_worker,share,user,id\n"
               "0,60,2,8,,u,a\n1,60,1,9,,u,b\n2,60,1,0,0.25,u,c\n");
    check_rows("csv", "t_ms,elapsed,gpus_per_worker,replicas\n500,2,0.5,3\n1500,2,4,3\n", NULL,
               "submit_s,duration_s,workers,cards_per_worker,share\n0,2,3,0,0.5\n1,2,3,4,\n");
}

static void csv_maps_names_of_its_own(void **state)
{
    (void)state;
    struct import_options o = with("map", "submit=When,duration=How long,gpus=Cards,team=Who");
    check_rows("csv", "When\tWho\tCards\tHow long\n10\tred\t2\t5\n", &o,
               "submit_s,duration_s,workers,cards_per_worker,share,team\n0,5,1,2,,red\n");
    struct help_import r = help_import_text("csv", "a,b\n", &o);
    assert_string_equal(r.err.text, "memory:1:1: no column 'When', which --map names");
    help_import_free(&r);
    o = with("map", "submot=When");
    r = help_import_text("csv", "When,b\n", &o);
    assert_string_equal(r.err.text, "--map: unknown name 'submot', did you mean submit");
    help_import_free(&r);
}

static void csv_with_token_columns_is_requests(void **state)
{
    (void)state;
    check_rows("csv", "arrived_at,num_prefill_tokens,num_decode_tokens\n3,7,8\n1.5,5,6\n", NULL,
               "t_s,input_tokens,output_tokens\n0,5,6\n1.5,7,8\n");
}

static void free_texts_may_look_like_missing_values_and_stay_on_their_line(void **state)
{
    (void)state;
    check_rows("csv", "submit,duration,gpus,user\n0,1,1,NA\n1,1,nan\t,x\n", &(struct import_options){
                   .sample_ppm = 1000000, .arrivals_ppm = 1000000, .durations_ppm = 1000000,
                   .unit_ns = SIM_SECOND, .skip_bad = 1},
               "submit_s,duration_s,workers,cards_per_worker,share,user\n0,1,1,1,,NA\n");
    check_rows("philly",
               "[{\"submitted_time\":\"2017-10-07 01:00:00\",\"user\":\"a\\nb\",\"attempts\":["
               "{\"start_time\":\"2017-10-07 01:00:00\",\"end_time\":\"2017-10-07 01:00:09\","
               "\"detail\":[{\"gpus\":[\"gpu0\"]}]}]}]",
               NULL,
               "submit_s,duration_s,workers,cards_per_worker,share,user,trace_wait_s,state\n"
               "0,9,1,1,,a?b,0,unknown\n");
}

static void times_win_over_a_duration_that_disagrees(void **state)
{
    (void)state;
    struct help_import r = help_import_text("csv",
                                            "submit,start,end,duration,gpus\n"
                                            "0,10,100,90,1\n0,10,100,18,1\n5,4,10,6,1\n",
                                            NULL);
    assert_string_equal(help_rows(&r), "submit_s,duration_s,workers,cards_per_worker,share,trace_wait_s\n"
                                       "0,90,1,1,,10\n0,90,1,1,,10\n5,6,1,1,,\n");
    assert_account(&r, "  duration_disagrees", "1 (line 3)");
    assert_account(&r, "  start_before_submit", "1 (line 4)");
    help_import_free(&r);
}

static void cutting_and_scaling_follow_the_stated_order(void **state)
{
    (void)state;
    static const char text[] = "submit,duration,gpus,team\n100,10,1,a\n160,10,1,b\n220,10,1,a\n280,10,1,a\n";
    struct import_options o = with("start", "1m");
    o.window = 150 * SIM_SECOND;
    o.only[0] = "team=a";
    o.only_count = 1;
    o.arrivals_ppm = 2000000;
    o.durations_ppm = 500000;
    struct help_import r = help_import_text("csv", text, &o);
    assert_string_equal(help_rows(&r), "submit_s,duration_s,workers,cards_per_worker,share,team\n"
                                       "30,5,1,1,,a\n60,5,1,1,,a\n");
    assert_non_null(strstr(r.out, "# cut: start 1m; window 2m30s; only team=a; arrivals x 2; durations x 0.5;\n"));
    assert_account(&r, "  before_start", "1 (line 2)");
    assert_account(&r, "  filtered", "1 (line 3)");
    help_import_free(&r);
}

static void a_sample_is_stable_and_of_the_asked_size(void **state)
{
    (void)state;
    size_t n = 0;
    char *text = malloc(200000);
    n += (size_t)sprintf(text, "submit,duration,gpus\n");
    for (int i = 0; i < 10000; i++) {
        n += (size_t)sprintf(text + n, "%d,1,1\n", i);
    }
    struct import_options o = with("sample", "0.2");
    struct help_import a = help_import("csv", text, n, &o);
    struct help_import b = help_import("csv", text, n, &o);
    assert_string_equal(a.out, b.out);
    char used[128];
    help_account(&a, "rows used", used);
    int kept = 0;
    sscanf(used, "%d,", &kept);
    char *comma = strchr(used, ',');
    kept = kept * 1000 + atoi(comma + 1);
    assert_in_range(kept, 1800, 2200); /* 5 standard deviations of a binomial of 10,000 x 0.2 */
    help_import_free(&a);
    help_import_free(&b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_and_equal_times_keep_file_order),
        cmocka_unit_test(peak_demand_counts_ends_before_starts_of_the_same_instant),
        cmocka_unit_test(columns_are_found_by_name_in_any_order),
        cmocka_unit_test(philly_json_takes_attempts_as_asked),
        cmocka_unit_test(philly_json_cut_short_is_refused),
        cmocka_unit_test(openb_shares_whole_cards_and_phases_are_told_apart),
        cmocka_unit_test(genai_requests_are_jobs_or_arrivals),
        cmocka_unit_test(azure_requests_keep_their_hundred_nanoseconds),
        cmocka_unit_test(servegen_clients_are_summed_or_kept),
        cmocka_unit_test(servegen_lengths_hold_until_the_next_and_are_weighted_by_rate),
        cmocka_unit_test(csv_splits_totals_over_workers),
        cmocka_unit_test(csv_maps_names_of_its_own),
        cmocka_unit_test(csv_with_token_columns_is_requests),
        cmocka_unit_test(free_texts_may_look_like_missing_values_and_stay_on_their_line),
        cmocka_unit_test(times_win_over_a_duration_that_disagrees),
        cmocka_unit_test(cutting_and_scaling_follow_the_stated_order),
        cmocka_unit_test(a_sample_is_stable_and_of_the_asked_size),
    };
    return cmocka_run_group_tests_name("import_formats", tests, NULL, NULL);
}
