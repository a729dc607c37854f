/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/load/import_help.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <zlib.h>
#include <zstd.h>

#include "scenarios/load/sha256.h"
#include "scenarios/load/text_input.h"

/* All lines of data joined by '|', and the error. */
static void lines_of(const void *data, size_t n, char *joined, struct err *err)
{
    struct text_input *in = text_input_memory("file", data, n, 1000);
    char *line;
    size_t length;
    joined[0] = '\0';
    while (text_input_line(in, &line, &length, err)) {
        assert_int_equal(strlen(line), length);
        strcat(joined, line);
        strcat(joined, "|");
    }
    text_input_close(in);
}

static void check_lines(const char *data, size_t n, const char *expected)
{
    char joined[256];
    struct err err = {0};
    lines_of(data, n, joined, &err);
    assert_int_equal(err.code, ERR_NONE);
    assert_string_equal(joined, expected);
}

static void check_error(const void *data, size_t n, const char *expected)
{
    char joined[256];
    struct err err = {0};
    lines_of(data, n, joined, &err);
    assert_int_equal(err.code, ERR_INPUT);
    assert_string_equal(err.text, expected);
}

static void line_ends_and_byte_order_mark_do_not_matter(void **state)
{
    (void)state;
    check_lines("a\nb\n", 4, "a|b|");
    check_lines("a\r\nb\r\n", 6, "a|b|");
    check_lines("a\nb", 3, "a|b|");
    check_lines("a\r\nb\r", 5, "a|b|");
    check_lines("\xef\xbb\xbf" "a\n", 5, "a|");
    check_lines("\xef\xbb\xbf", 3, "");
    check_lines("a\n\nb", 4, "a||b|");
    check_lines("", 0, "");
    check_lines("\n", 1, "|");
}

static void a_nul_byte_is_a_binary_file(void **state)
{
    (void)state;
    check_error("ab\nc\0d\n", 7, "file:2:2: a NUL byte: this is a binary file, expected text");
}

static size_t gzip(const char *text, unsigned char *out, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    unsigned char copy[256];
    size_t n = strlen(text);
    memcpy(copy, text, n);
    z.next_in = copy;
    z.avail_in = (unsigned)n;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void gzip_and_zstd_are_told_by_their_first_bytes(void **state)
{
    (void)state;
    unsigned char packed[512];
    size_t n = gzip("one\ntwo\n", packed, sizeof packed);
    check_lines((const char *)packed, n, "one|two|");
    size_t m = gzip("three\n", packed + n, sizeof packed - n);
    check_lines((const char *)packed, n + m, "one|two|three|"); /* two members are one text */
    memset(packed + n, 0, 100);
    check_lines((const char *)packed, n + 100, "one|two|"); /* tape padding */
    size_t z = ZSTD_compress(packed, sizeof packed, "four\nfive", 9, 3);
    check_lines((const char *)packed, z, "four|five|");
    size_t z2 = ZSTD_compress(packed + z, sizeof packed - z, "\nsix", 4, 3);
    check_lines((const char *)packed, z + z2, "four|five|six|");
}

static void packed_data_cut_short_is_named(void **state)
{
    (void)state;
    unsigned char packed[512];
    size_t n = gzip("one\ntwo\n", packed, sizeof packed);
    for (size_t cut = 4; cut < n; cut++) {
        check_error(packed, cut, "file: truncated: the gzip data ends before its end mark");
    }
    size_t z = ZSTD_compress(packed, sizeof packed, "four\nfive", 9, 3);
    for (size_t cut = 5; cut < z; cut++) {
        check_error(packed, cut, "file: truncated: the zstd data ends before its end mark");
    }
}

static void damaged_gzip_is_named(void **state)
{
    (void)state;
    unsigned char packed[512];
    size_t n = gzip("one\ntwo\n", packed, sizeof packed);
    packed[n - 6] ^= 1; /* checksum */
    check_error(packed, n, "file: damaged gzip data: incorrect data check");
    n = gzip("one\ntwo\n", packed, sizeof packed);
    packed[n] = 'x';
    check_error(packed, n + 1, "file: bytes that are not gzip follow the gzip data");
}

static void missing_files_and_directories_are_bad_input(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(text_input_open("no-such-file.csv", 0, &err));
    assert_int_equal(err_exit_status(&err), 2);
    assert_string_equal(err.text, "cannot open 'no-such-file.csv': No such file or directory");
    err = (struct err){0};
    assert_null(text_input_open(".", 0, &err));
    assert_int_equal(err_exit_status(&err), 2);
    assert_string_equal(err.text, "'.' is a directory, expected a file");
}

/* Writes up to 1 GiB of 'a' without a line end until the reader goes away. */
static void *write_long_line(void *fd)
{
    static char block[65536];
    memset(block, 'a', sizeof block);
    int out = *(int *)fd;
    for (size_t written = 0; written < ((size_t)1 << 30); written += sizeof block) {
        if (write(out, block, sizeof block) < 0) {
            break;
        }
    }
    close(out);
    return NULL;
}

static void a_line_of_one_gibibyte_stops_at_the_limit_with_little_memory(void **state)
{
    (void)state;
    struct rusage before;
    struct rusage after;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    getrusage(RUSAGE_SELF, &before);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, write_long_line, &ends[1]), 0);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct err err = {0};
    struct text_input *in = text_input_open(path, 0, &err);
    assert_non_null(in);
    close(ends[0]);
    char *line;
    size_t n;
    assert_false(text_input_line(in, &line, &n, &err));
    text_input_close(in);
    pthread_join(writer, NULL);
    getrusage(RUSAGE_SELF, &after);
    char expected[160];
    snprintf(expected, sizeof expected, "%s:1:1: line longer than 4194304 bytes; expected lines of text",
             path);
    assert_string_equal(err.text, expected);
    assert_int_equal(err_exit_status(&err), 2);
    assert_true(after.ru_maxrss - before.ru_maxrss < 64 * 1024);
}

/* FIPS 180-4 examples (NIST's published vectors). */
static void sha256_agrees_with_the_published_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct sha256 s;
        char hex[65];
        sha256_start(&s);
        for (const char *p = vectors[i].text; *p != '\0'; p++) {
            sha256_add(&s, p, 1);
        }
        sha256_hex(&s, hex);
        assert_string_equal(hex, vectors[i].hex);
    }
    struct sha256 s;
    char hex[65];
    char million[1000];
    memset(million, 'a', sizeof million);
    sha256_start(&s);
    for (int i = 0; i < 1000; i++) {
        sha256_add(&s, million, sizeof million);
    }
    sha256_hex(&s, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_ends_and_byte_order_mark_do_not_matter),
        cmocka_unit_test(a_nul_byte_is_a_binary_file),
        cmocka_unit_test(gzip_and_zstd_are_told_by_their_first_bytes),
        cmocka_unit_test(packed_data_cut_short_is_named),
        cmocka_unit_test(damaged_gzip_is_named),
        cmocka_unit_test(missing_files_and_directories_are_bad_input),
        cmocka_unit_test(a_line_of_one_gibibyte_stops_at_the_limit_with_little_memory),
        cmocka_unit_test(sha256_agrees_with_the_published_vectors),
    };
    return cmocka_run_group_tests_name("text_input", tests, NULL, NULL);
}
