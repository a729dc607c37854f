/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded decisions of the real controllers: a selection kept here, and all of them when the
 * shared folder is there (FLEETSIM_SHARED, else ../shared beside the source). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

#include "studies/conform_hpa.h"
#include "studies/conform_keda.h"

typedef int conform_files(int n, char **files, FILE *out);

static const char *source_root(void)
{
    const char *root = getenv("FLEETSIM_SOURCE_ROOT");
    return root ? root : ".";
}

static void data_path(const char *name, char path[512])
{
    snprintf(path, 512, "%s/tests/elastic/data/%s", source_root(), name);
}

/* Status of the study over one file; what it printed goes to text. */
static int run(conform_files *study, char *path, char *text, size_t size)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    int status = study(1, &path, out);
    rewind(out);
    size_t n = fread(text, 1, size - 1, out);
    text[n] = '\0';
    fclose(out);
    return status;
}

static void expect_agreement(conform_files *study, char *path)
{
    char text[8192];
    int status = run(study, path, text, sizeof text);
    if (status != 0)
        print_error("%s", text);
    assert_int_equal(status, 0);
}

static void the_kept_hpa_recordings_agree(void **state)
{
    (void)state;
    char path[512];
    data_path("hpa_cases.jsonl", path);
    expect_agreement(conform_hpa_files, path);
}

static void the_kept_keda_recordings_agree(void **state)
{
    (void)state;
    char path[512];
    data_path("keda_cases.jsonl", path);
    expect_agreement(conform_keda_files, path);
}

static void all_of(conform_files *study, const char *folder, const char *const *families, size_t n)
{
    const char *shared = getenv("FLEETSIM_SHARED");
    for (size_t i = 0; i < n; i++) {
        char path[512];
        if (shared)
            snprintf(path, sizeof path, "%s/oracle/%s/%s.jsonl.gz", shared, folder, families[i]);
        else
            snprintf(path, sizeof path, "%s/../shared/oracle/%s/%s.jsonl.gz", source_root(), folder,
                     families[i]);
        if (access(path, R_OK) != 0) {
            print_message("# skipped: the recordings are not there (%s)\n", path);
            skip();
        }
        expect_agreement(study, path);
    }
}

static void every_shared_hpa_recording_agrees(void **state)
{
    (void)state;
    static const char *const families[] = {"legacy", "behavior", "value", "pods",
                                           "multi",  "zero",     "calc",  "norm"};
    all_of(conform_hpa_files, "hpa", families, 8);
}

static void every_shared_keda_recording_agrees(void **state)
{
    (void)state;
    static const char *const families[] = {"poll",    "fallback",  "modifiers", "annot",
                                           "hpaspec", "scaledjob", "joint"};
    all_of(conform_keda_files, "keda", families, 7);
}

/* A file that holds the kept cases with one text replaced by another of the same meaning class. */
static char *altered(const char *name, const char *from, const char *to)
{
    static char path[64];
    char source[512];
    data_path(name, source);
    FILE *in = fopen(source, "rb");
    assert_non_null(in);
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[n] = '\0';
    char *at = strstr(text, from);
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    snprintf(path, sizeof path, "elastic_altered_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
    return path;
}

static void a_difference_is_found_and_shown_with_both_sides(void **state)
{
    (void)state;
    char text[8192];
    char *path = altered("hpa_cases.jsonl", "\"raw\":27", "\"raw\":28");
    assert_int_equal(run(conform_hpa_files, path, text, sizeof text), 1);
    assert_non_null(strstr(text, "raw: ours 27, recorded 28"));
    unlink(path);
    path = altered("keda_cases.jsonl", "\"la\":180000", "\"la\":190000");
    assert_int_equal(run(conform_keda_files, path, text, sizeof text), 1);
    assert_non_null(strstr(text, "la: ours 180000, recorded 190000"));
    unlink(path);
}

static void bad_input_is_status_two(void **state)
{
    (void)state;
    char text[1024];
    char missing[] = "no_such_file.jsonl", source[512];
    assert_int_equal(run(conform_hpa_files, missing, text, sizeof text), 2);
    assert_int_equal(conform_keda_files(0, NULL, stdout), 2);
    snprintf(source, sizeof source, "%s/tests/elastic/elastic_conform_test.c", source_root());
    assert_int_equal(run(conform_keda_files, source, text, sizeof text), 2);
    assert_int_equal(run(conform_hpa_files, source, text, sizeof text), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kept_hpa_recordings_agree),
        cmocka_unit_test(the_kept_keda_recordings_agree),
        cmocka_unit_test(every_shared_hpa_recording_agrees),
        cmocka_unit_test(every_shared_keda_recording_agrees),
        cmocka_unit_test(a_difference_is_found_and_shown_with_both_sides),
        cmocka_unit_test(bad_input_is_status_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
