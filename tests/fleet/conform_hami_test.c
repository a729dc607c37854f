/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded decisions of the real HAMi scheduler: a selection that is always here (one case per
 * family), and all of them where the shared folder is. */
#include "studies/conform_hami.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *root(void)
{
    const char *r = getenv("FLEETSIM_SOURCE_ROOT");
    return r != NULL ? r : ".";
}

/* Runs one file; the printed table goes to table (size bytes). */
static int replay(char *path, char *table, size_t size)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    int status = conform_hami_files(1, &path, out);
    rewind(out);
    size_t n = fread(table, 1, size - 1, out);
    table[n] = '\0';
    fclose(out);
    return status;
}

static void one_case_of_every_family_agrees(void **state)
{
    (void)state;
    char path[1024], table[16384];
    snprintf(path, sizeof(path), "%s/tests/fleet/hami_cases.jsonl.gz", root());
    int status = replay(path, table, sizeof(table));
    if (status != 0)
        fputs(table, stderr);
    assert_int_equal(status, 0);
    assert_non_null(strstr(table, "nv_wide"));
    assert_non_null(strstr(table, "vastai_biren"));
}

static void all_recorded_cases_agree(void **state)
{
    (void)state;
    const char *shared = getenv("FLEETSIM_SHARED");
    char folder[512], table[16384];
    snprintf(folder, sizeof(folder), "%s%s/oracle/hami", shared != NULL ? shared : root(),
             shared != NULL ? "" : "/../shared");
    DIR *d = opendir(folder);
    if (d == NULL) {
        print_message("# skipped: no recorded HAMi decisions in %s\n", folder);
        skip();
    }
    int files = 0;
    for (struct dirent *f; (f = readdir(d)) != NULL;) {
        char path[1024];
        if (strstr(f->d_name, ".jsonl") == NULL)
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, f->d_name);
        int status = replay(path, table, sizeof(table));
        if (status != 0)
            fputs(table, stderr);
        assert_int_equal(status, 0);
        files++;
    }
    closedir(d);
    assert_true(files >= 20);
}

/* One node, one card; the recording says 2 slots where one pod takes one. */
static const char differing[] =
    "{\"id\":\"x\",\"family\":\"f\",\"config\":{},\"nodes\":[{\"name\":\"n\",\"cards\":[{\"id\":\"g\","
    "\"vendor\":\"NVIDIA\",\"type\":\"NVIDIA A10\",\"idx\":0,\"slots\":10,\"mem\":1000,\"cores\":100,"
    "\"numa\":0,\"health\":true,\"mode\":\"hami-core\"}]}],\"events\":[{\"e\":\"add\",\"pod\":\"p\","
    "\"ns\":\"d\",\"ctr\":[{\"lim\":{\"nvidia.com/gpu\":1,\"nvidia.com/gpumem\":100}}],"
    "\"req\":[{\"NVIDIA\":[1,100,101,0]}],\"cand\":[{\"n\":\"n\",\"s\":0,\"d\":{\"NVIDIA\":"
    "[[[\"g\",100,0]]]}}],\"node\":\"n\",\"acct\":{\"g\":[%d,100,0]}}],"
    "\"final\":{\"g\":[1,100,0]}}\n";

static void write_case(char *path, int slots)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, differing, slots);
    fclose(f);
}

static void a_difference_is_counted_and_shown(void **state)
{
    (void)state;
    char table[16384], same[] = "/tmp/fleetsim-hami-XXXXXX", other[] = "/tmp/fleetsim-hami-XXXXXX";
    write_case(same, 1);
    write_case(other, 2);
    assert_int_equal(replay(same, table, sizeof(table)), 0);
    assert_int_equal(replay(other, table, sizeof(table)), 1);
    assert_non_null(strstr(table, "usage: ours 'g:1,100,0 ', recorded 'g:2,100,0 '"));
    unlink(same);
    unlink(other);
}

static void bad_files_are_bad_input(void **state)
{
    (void)state;
    char table[1024], missing[] = "/nonexistent/cases.jsonl", bad[] = "/tmp/fleetsim-hami-XXXXXX";
    assert_int_equal(replay(missing, table, sizeof(table)), 2);
    int fd = mkstemp(bad);
    assert_true(fd >= 0);
    static const char unknown[] =
        "{\"id\":\"x\",\"nodes\":[{\"cards\":[{\"id\":\"c\",\"vendor\":\"Abacus\"}]}]}\n";
    assert_int_equal(write(fd, unknown, sizeof(unknown) - 1), sizeof(unknown) - 1);
    close(fd);
    assert_int_equal(replay(bad, table, sizeof(table)), 2);
    unlink(bad);
    assert_int_equal(conform_hami_files(0, NULL, stdout), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_case_of_every_family_agrees),
        cmocka_unit_test(all_recorded_cases_agree),
        cmocka_unit_test(a_difference_is_counted_and_shown),
        cmocka_unit_test(bad_files_are_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
