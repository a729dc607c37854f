/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded decisions of the real Kueue scheduler: a selection of every group kept here, and all of
 * them when the shared folder is there (FLEETSIM_SHARED, else ../shared beside the source). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glob.h>
#include <unistd.h>

#include <cmocka.h>

#include "studies/conform_kueue.h"

static const char *source_root(void)
{
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    return root != NULL ? root : ".";
}

static void all_agree(const char *pattern, uint64_t least_cases)
{
    struct conform_kueue_counts counts;
    glob_t files;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    FILE *out = tmpfile();
    assert_non_null(out);
    const int status = conform_kueue_main((int)files.gl_pathc, files.gl_pathv, out, &counts);
    if (status != 0) {
        char line[4096];
        rewind(out);
        while (fgets(line, sizeof line, out) != NULL)
            fputs(line, stderr);
    }
    fclose(out);
    globfree(&files);
    assert_int_equal(status, 0);
    assert_true(counts.cases >= least_cases);
    assert_int_equal(counts.agreed, counts.cases);
}

static void the_selection_of_every_group_agrees_in_every_cycle(void **state)
{
    (void)state;
    char pattern[512];
    snprintf(pattern, sizeof pattern, "%s/tests/policies/data/*.jsonl.gz", source_root());
    all_agree(pattern, 90);
}

static void all_shared_cases_agree_in_every_cycle(void **state)
{
    (void)state;
    char pattern[512];
    const char *shared = getenv("FLEETSIM_SHARED");
    if (shared != NULL)
        snprintf(pattern, sizeof pattern, "%s/oracle/kueue", shared);
    else
        snprintf(pattern, sizeof pattern, "%s/../shared/oracle/kueue", source_root());
    if (access(pattern, R_OK) != 0) {
        print_message("# skipped: no recorded cases at %s (set FLEETSIM_SHARED)\n", pattern);
        skip();
    }
    strncat(pattern, "/*.jsonl.gz", sizeof pattern - strlen(pattern) - 1);
    all_agree(pattern, 622);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int replay(const char *text)
{
    char path[] = "conform_kueue_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, text);
    char *files[] = {path};
    FILE *out = tmpfile();
    const int status = conform_kueue_main(1, files, out, NULL);
    fclose(out);
    unlink(path);
    return status;
}

static void a_different_decision_is_exit_1(void **state)
{
    (void)state;
    /* One job that fits; the recording says it was never looked at. */
    assert_int_equal(
        replay("{\"case\":\"x\",\"group\":\"x\",\"config\":{\"evictionSeconds\":0,\"requeueBatchSeconds\":0},"
               "\"objects\":[{\"kind\":\"ResourceFlavor\",\"apiVersion\":\"kueue.x-k8s.io/v1beta2\","
               "\"metadata\":{\"name\":\"f\"},\"spec\":{}},"
               "{\"kind\":\"ClusterQueue\",\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"metadata\":{\"name\":\"q\"},"
               "\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":"
               "[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}]}},"
               "{\"kind\":\"LocalQueue\",\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"metadata\":{\"name\":\"l\","
               "\"namespace\":\"team\"},\"spec\":{\"clusterQueue\":\"q\"}}],"
               "\"jobs\":[{\"at\":1,\"runtime\":5,\"object\":{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\","
               "\"kind\":\"Workload\",\"metadata\":{\"name\":\"w\",\"namespace\":\"team\",\"uid\":\"1\","
               "\"creationTimestamp\":\"2026-01-01T00:00:01Z\"},\"spec\":{\"queueName\":\"l\",\"podSets\":[{\"name\":"
               "\"main\",\"count\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{"
               "\"requests\":{\"cpu\":\"1\"}}}]}}}]}}}],"
               "\"cycles\":[],\"end\":{\"queue\":{},\"parked\":{}},\"history\":{}}\n"),
        1);
}

static void truncated_or_foreign_files_are_exit_2(void **state)
{
    (void)state;
    assert_int_equal(replay("{\"case\":\"x\",\"config\":{\n"), 2);
    assert_int_equal(replay("{\"hello\":1}\n"), 2);
    char *absent[] = {(char[]){"no/such/file.jsonl.gz"}};
    assert_int_equal(conform_kueue_main(1, absent, stdout, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_selection_of_every_group_agrees_in_every_cycle),
        cmocka_unit_test(all_shared_cases_agree_in_every_cycle),
        cmocka_unit_test(a_different_decision_is_exit_1),
        cmocka_unit_test(truncated_or_foreign_files_are_exit_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
