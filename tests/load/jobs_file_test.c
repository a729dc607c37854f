/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/load/import_help.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "scenarios/load/jobs_file.h"

static const char *const queues[] = {"research", "risk", "ads"};
static const int32_t queue_team[] = {4, -1, 6};

static struct job_stream_config config(void)
{
    return (struct job_stream_config){
        .queue = 1, .team = 2, .priority = 7, .checkpoint_interval = SIM_HOUR};
}

/* Reads all jobs of the text into jobs; returns their number. */
static int read_all(const char *text, const struct job_stream_config *cfg,
                    const struct jobs_file_options *o, struct job_spec *jobs, struct err *err)
{
    struct job_reader reader;
    struct text_input *in = text_input_memory("jobs.csv", text, strlen(text), 0);
    if (!jobs_file_read(in, cfg, o, &reader, err)) {
        return -1;
    }
    int n = 0;
    while (n < 10 && reader.next(reader.ctx, &jobs[n], err)) {
        n++;
    }
    reader.close(reader.ctx);
    return n;
}

static void check_refused(const char *text, const char *expected)
{
    struct job_stream_config cfg = config();
    struct jobs_file_options o = {.queues = queues, .queue_count = 3, .queue_team = queue_team};
    struct job_spec jobs[10];
    struct err err = {0};
    read_all(text, &cfg, &o, jobs, &err);
    assert_int_equal(err_exit_status(&err), 2);
    assert_string_equal(err.text, expected);
}

static void what_the_file_leaves_out_comes_from_the_stream(void **state)
{
    (void)state;
    struct job_stream_config cfg = config();
    struct jobs_file_options o = {0};
    struct job_spec j[10];
    struct err err = {0};
    assert_int_equal(read_all("submit_s,duration_s\n0,1\n0.000000001,2.5\n", &cfg, &o, j, &err), 2);
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(j[0].id, 0);
    assert_int_equal(j[1].id, 1);
    assert_int_equal(j[1].submit, 1);
    assert_int_equal(j[1].work, 2500000000);
    assert_int_equal(j[1].workers, 1);
    assert_int_equal(j[1].cards_per_worker, 1);
    assert_int_equal(j[1].share_milli, 0);
    assert_int_equal(j[1].queue, 1);
    assert_int_equal(j[1].team, 2);
    assert_int_equal(j[1].priority, 7);
    assert_int_equal(j[1].checkpoint_interval, SIM_HOUR);
    assert_true(isnan(j[1].trace_wait_s));
}

static void every_column_is_taken(void **state)
{
    (void)state;
    struct job_stream_config cfg = config();
    cfg.file_queue_column = "team";
    struct jobs_file_options o = {.queues = queues, .queue_count = 3, .queue_team = queue_team};
    struct job_spec j[10];
    struct err err = {0};
    const char *text = "# made by hand\n"
                       "team,submit_s,duration_s,workers,cards_per_worker,share,priority,user,id,"
                       "trace_wait_s,state,model,card_type,class,checkpoint_interval_s,x_own\n"
                       "research,5,60,16,8,,-3,ann,\"a,\"\"1\"\"\",12.5,completed,m,A100,gold,900,z\n"
                       "\n# a comment between rows\n"
                       "risk,5,60,2,,0.25,,,,,,,,,,\n"
                       ",6,60,1,2,1,,,,,,,,,,\n";
    assert_int_equal(read_all(text, &cfg, &o, j, &err), 3);
    assert_int_equal(j[0].queue, 0);
    assert_int_equal(j[0].team, 4);
    assert_int_equal(j[0].workers, 16);
    assert_int_equal(j[0].cards_per_worker, 8);
    assert_int_equal(j[0].priority, -3);
    assert_true(j[0].trace_wait_s == 12.5);
    assert_int_equal(j[0].checkpoint_interval, 900 * SIM_SECOND);
    assert_int_equal(j[1].queue, 1);
    assert_int_equal(j[1].team, 2); /* the queue has no team: the stream's */
    assert_int_equal(j[1].workers, 2);
    assert_int_equal(j[1].cards_per_worker, 0);
    assert_int_equal(j[1].share_milli, 250);
    assert_int_equal(j[2].queue, 1); /* empty: the stream's */
    assert_int_equal(j[2].cards_per_worker, 2);
    assert_int_equal(j[2].share_milli, 0);
}

static void a_lora_stream_gives_its_share_to_rows_without_a_size(void **state)
{
    (void)state;
    struct job_stream_config cfg = config();
    cfg.share_milli = 200;
    struct jobs_file_options o = {0};
    struct job_spec j[10];
    struct err err = {0};
    assert_int_equal(read_all("submit_s,duration_s,cards_per_worker\n0,1,\n0,1,2\n", &cfg, &o, j, &err), 2);
    assert_int_equal(j[0].share_milli, 200);
    assert_int_equal(j[0].cards_per_worker, 0);
    assert_int_equal(j[1].share_milli, 0);
    assert_int_equal(j[1].cards_per_worker, 2);
}

static void bad_values_are_named_with_place_and_expectation(void **state)
{
    (void)state;
    static const char seconds[] = "a number of seconds from 0 to 100 years, at most 9 decimals";
    char expected[256];
    snprintf(expected, sizeof expected, "jobs.csv:2:1: submit_s: expected %s, got '-1'", seconds);
    check_refused("submit_s,duration_s\n-1,5\n", expected);
    snprintf(expected, sizeof expected, "jobs.csv:2:1: submit_s: expected %s, got 'NaN'", seconds);
    check_refused("submit_s,duration_s\nNaN,5\n", expected);
    snprintf(expected, sizeof expected, "jobs.csv:2:1: submit_s: expected %s, got '1e30'", seconds);
    check_refused("submit_s,duration_s\n1e30,5\n", expected);
    snprintf(expected, sizeof expected, "jobs.csv:2:1: submit_s: expected %s, got '0.0000000001'", seconds);
    check_refused("submit_s,duration_s\n0.0000000001,5\n", expected);
    check_refused("submit_s,duration_s\n3,0\n",
                  "jobs.csv:2:3: duration_s: expected a number of seconds above 0, up to 100 years, at "
                  "most 9 decimals, got '0'");
    check_refused("submit_s,duration_s\n3,\n",
                  "jobs.csv:2:3: duration_s: expected a number of seconds above 0, got ''");
    check_refused("submit_s,duration_s,workers\n3,1,1.5\n",
                  "jobs.csv:2:5: workers: expected a whole number from 1 to 1000000, got '1.5'");
    check_refused("submit_s,duration_s,cards_per_worker\n3,1,0\n",
                  "jobs.csv:2:5: cards_per_worker: expected 1 to 1024 cards, a share, or cpu or memory, got '0'");
    check_refused("submit_s,duration_s,share\n3,1,1.3\n",
                  "jobs.csv:2:5: share: expected part of a card from 0.001 to 1, at most 3 decimals, got "
                  "'1.3'");
    check_refused("submit_s,duration_s\n3\n", "jobs.csv:2:1: 1 fields, expected 2 as in the header");
    check_refused("submit_s,duration_s\n\"3,1\n",
                  "jobs.csv:2:1: the quote that opens here is not closed on this line");
}

static void unsorted_rows_are_refused_with_the_line(void **state)
{
    (void)state;
    check_refused("submit_s,duration_s\n1,5\n7.25,5\n7,5\n",
                  "jobs.csv:4:1: submit_s: expected at least 7.25, the row before (sort the file by "
                  "submit_s), got '7'");
}

static void headers_are_checked(void **state)
{
    (void)state;
    check_refused("", "jobs.csv: empty file, expected a header line with column names");
    check_refused("# only a comment\n", "jobs.csv: empty file, expected a header line with column names");
    check_refused("submit_s,duration\n",
                  "jobs.csv:1:1: no column 'duration_s'; a jobs file needs submit_s and duration_s "
                  "(fleetsim import makes one from other formats)");
    check_refused("submit_s,duration_s,prioriy\n",
                  "jobs.csv:1:21: unknown column 'prioriy', did you mean 'priority'; own columns begin "
                  "with x_");
    check_refused("submit_s,duration_s,submit_s\n", "jobs.csv:1:21: column 'submit_s' occurs twice");
}

static void unknown_queues_are_named_with_the_nearest(void **state)
{
    (void)state;
    struct job_stream_config cfg = config();
    cfg.file_queue_column = "queue";
    struct jobs_file_options o = {.queues = queues, .queue_count = 3, .queue_team = queue_team};
    struct job_spec j[10];
    struct err err = {0};
    assert_int_equal(read_all("submit_s,duration_s,queue\n0,1,reserch\n", &cfg, &o, j, &err), 0);
    assert_string_equal(err.text, "jobs.csv:2:5: queue: expected a queue of the scenario such as "
                                  "'research', got 'reserch'");
    err = (struct err){0};
    assert_int_equal(read_all("submit_s,duration_s\n0,1\n", &cfg, &o, j, &err), -1);
    assert_string_equal(err.text, "jobs.csv:1:1: no column 'queue', which is to name the queue");
}

static void skip_bad_tolerates_so_many_rows_and_no_more(void **state)
{
    (void)state;
    const char *text = "submit_s,duration_s\n0,1\nx,1\n1,1\n2,-1\n3,1\n";
    struct job_stream_config cfg = config();
    struct job_spec j[10];
    struct err err = {0};
    struct jobs_file_options o = {.skip_bad = 2};
    assert_int_equal(read_all(text, &cfg, &o, j, &err), 3);
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(j[2].submit, 3 * SIM_SECOND);
    o.skip_bad = 1;
    assert_int_equal(read_all(text, &cfg, &o, j, &err), 2);
    assert_string_equal(err.text, "jobs.csv:5:3: duration_s: expected a number of seconds above 0, up to "
                                  "100 years, at most 9 decimals, got '-1' (after 1 bad rows that were "
                                  "left out)");
}

/* ---- ten million rows through a pipe ---- */

enum { ROWS = 10000000, BAD_ROW = 9999990 };

static void *write_rows(void *fd)
{
    FILE *out = fdopen(*(int *)fd, "w");
    fputs("submit_s,duration_s\n", out);
    for (int i = 1; i <= ROWS; i++) {
        if (fprintf(out, i == BAD_ROW ? "%d,oops\n" : "%d,60\n", i) < 0) {
            break;
        }
    }
    fclose(out);
    return NULL;
}

/* Jobs read from ten million rows of which one is bad; *growth is the memory in KiB. */
static uint64_t read_ten_million(uint64_t skip_bad, struct err *err, long *growth)
{
    struct rusage before;
    struct rusage after;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_rows, &ends[1]), 0);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct job_stream_config cfg = config();
    struct jobs_file_options o = {.skip_bad = skip_bad};
    struct job_reader reader;
    assert_true(jobs_file_open(path, &cfg, &o, &reader, err));
    close(ends[0]);
    struct job_spec job;
    getrusage(RUSAGE_SELF, &before);
    while (reader.next(reader.ctx, &job, err)) {
    }
    getrusage(RUSAGE_SELF, &after);
    struct jobs_file_counts counts = jobs_file_counts(&reader);
    assert_int_equal(counts.skipped, skip_bad);
    reader.close(reader.ctx);
    pthread_join(writer, NULL);
    *growth = after.ru_maxrss - before.ru_maxrss;
    return counts.jobs;
}

static void one_bad_row_in_ten_million_is_found_and_can_be_tolerated(void **state)
{
    (void)state;
    struct err err = {0};
    long growth;
    assert_int_equal(read_ten_million(0, &err, &growth), BAD_ROW - 1);
    char expected[256];
    snprintf(expected, sizeof expected, ":%d:9: duration_s: expected a number of seconds above 0, up to "
                                        "100 years, at most 9 decimals, got 'oops'", BAD_ROW + 1);
    assert_non_null(strstr(err.text, expected));
    assert_int_equal(err_exit_status(&err), 2);
    assert_true(growth < 16 * 1024);
    err = (struct err){0};
    assert_int_equal(read_ten_million(1, &err, &growth), ROWS - 1);
    assert_int_equal(err.code, ERR_NONE);
    assert_true(growth < 16 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_file_leaves_out_comes_from_the_stream),
        cmocka_unit_test(every_column_is_taken),
        cmocka_unit_test(a_lora_stream_gives_its_share_to_rows_without_a_size),
        cmocka_unit_test(bad_values_are_named_with_place_and_expectation),
        cmocka_unit_test(unsorted_rows_are_refused_with_the_line),
        cmocka_unit_test(headers_are_checked),
        cmocka_unit_test(unknown_queues_are_named_with_the_nearest),
        cmocka_unit_test(skip_bad_tolerates_so_many_rows_and_no_more),
        cmocka_unit_test(one_bad_row_in_ten_million_is_found_and_can_be_tolerated),
    };
    return cmocka_run_group_tests_name("jobs_file", tests, NULL, NULL);
}
