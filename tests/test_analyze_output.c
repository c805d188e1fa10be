/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What results are written with: the output buffer, CSV cells, JSON texts. Right values: RFC 4180 section 2,
 * RFC 3629 section 4, RFC 8259.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "formats/base/csv_text.h"
#include "formats/base/json.h"
#include "formats/base/out.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static char dir[] = "/tmp/iotape-output.XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}
static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

static char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static char *read_all(const char *path)
{
    static char text[4096];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void test_cells(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cell;
    } rows[] = {{NULL, ""}, {"", ""}, {"plain text", "plain text"}, {"a,b", "\"a,b\""},
            {"say \"x\"", "\"say \"\"x\"\"\""}, {"\"", "\"\"\"\""}, {"two\nlines", "\"two\nlines\""},
            {"cr\r", "\"cr\r\""}, {" lead", "\" lead\""}, {"trail\t", "\"trail\t\""}, {" ", "\" \""},
            {"h\xc3\xa4", "h\xc3\xa4"}};
    struct err e = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *cell = csv_text(rows[i].text, &e);
        assert_string_equal(cell, rows[i].cell);
        free(cell);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 9, 10, 99, 100, 12345678901234567890U, UINT64_MAX, 1000000000};
    for (size_t i = 0; i < COUNT(values); i++) {
        char got[32], wanted[32];
        *out_u64(got, values[i]) = 0;
        snprintf(wanted, sizeof wanted, "%llu", (unsigned long long)values[i]);
        assert_string_equal(got, wanted);
    }
}

/* A file is there when it is whole, or not at all; a longer text than the buffer is whole, too. */
static void test_whole_or_not(void **state)
{
    (void)state;
    struct out o;
    struct err e = {0};
    char *path = path_of("x");
    assert_int_equal(out_open(&o, path, &e), 0);
    out_text(&o, "one ");
    out_printf(&o, "%d", 2);
    assert_true(access(path, F_OK) < 0);
    assert_int_equal(out_close(&o, true, &e), 0);
    assert_string_equal(read_all(path), "one 2");

    assert_int_equal(out_open(&o, path, &e), 0);
    out_text(&o, "never seen");
    assert_int_equal(out_close(&o, false, &e), 0);
    assert_string_equal(read_all(path), "one 2");

    size_t size = 3 * OUT_BUFFER_BYTES + 1;
    char *large = malloc(size);
    assert_non_null(large);
    memset(large, 'a', size);
    assert_int_equal(out_open(&o, path, &e), 0);
    out_text(&o, "b");
    out_bytes(&o, large, size);
    out_bytes(&o, large, OUT_BUFFER_BYTES);
    assert_int_equal(out_close(&o, true, &e), 0);
    free(large);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fgetc(f), 'b');
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_true((size_t)ftell(f) == 1 + size + OUT_BUFFER_BYTES);
    fclose(f);
    unlink(path);
}

static void test_failures(void **state)
{
    (void)state;
    struct out o;
    struct err e = {0};
    assert_int_equal(out_open(&o, path_of("no/such/file"), &e), -ENOENT);
    assert_non_null(strstr(e.text, "no/such/file"));
    if (access("/dev/full", W_OK) < 0)
        return;
    assert_int_equal(out_open(&o, "/dev/full", &e), 0);
    out_text(&o, "x");
    assert_int_equal(out_close(&o, true, &e), -ENOSPC);
}

/* The JSON of one text, without the object around it. */
static const char *json_of(const char *text)
{
    static char line[512];
    struct out o;
    struct err e = {0};
    char *path = path_of("j");
    struct json *j = json_new_object();
    assert_int_equal(json_put_text(j, "k", text), 0);
    assert_int_equal(out_open(&o, path, &e), 0);
    assert_int_equal(json_write(j, &o, &e), 0);
    assert_int_equal(out_close(&o, true, &e), 0);
    json_free(j);
    snprintf(line, sizeof line, "%s", read_all(path));
    unlink(path);
    char *end = strrchr(line, '\n');
    assert_true(end && end > line && end[-1] == '}');
    end[-2] = 0;
    return line + strlen("{\n  \"k\": ");
}

#define BAD "\xef\xbf\xbd"
static void test_json_text(void **state)
{
    (void)state;
    assert_string_equal(json_of("plain"), "\"plain\"");
    assert_string_equal(json_of("a\"\\\n\x1b"), "\"a\\\"\\\\\\n\\u001B\"");
    assert_string_equal(json_of(NULL), "null");
    assert_string_equal(
            json_of("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    /* Overlong, surrogate, too large, cut off, alone: each bad byte for itself. */
    assert_string_equal(json_of("\xc0\x80x"), "\"" BAD BAD "x\"");
    assert_string_equal(json_of("\xe0\x80\x80"), "\"" BAD BAD BAD "\"");
    assert_string_equal(json_of("\xed\xa0\x80"), "\"" BAD BAD BAD "\"");
    assert_string_equal(json_of("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\"");
    assert_string_equal(json_of("\xe2\x82"), "\"" BAD BAD "\"");
    assert_string_equal(json_of("a\xff"), "\"a" BAD "\"");
}

static void test_json_memory(void **state)
{
    (void)state;
    struct json *j = json_new_object(), *a = json_new_array();
    assert_int_equal(json_put_u64(j, "n", UINT64_MAX), 0);
    assert_int_equal(json_put(j, "bad \xff key", json_new_object()), 0);
    assert_true(json_put(j, "k", NULL) < 0); /* what could not be made */
    assert_true(json_put_u64(NULL, "k", 1) < 0);
    assert_null(json_first(a));
    assert_int_equal(json_add(a, j), 0);
    assert_ptr_equal(json_first(a), j);
    assert_true(json_add(a, NULL) < 0);
    json_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells), cmocka_unit_test(test_numbers),
            cmocka_unit_test(test_whole_or_not), cmocka_unit_test(test_failures),
            cmocka_unit_test(test_json_text), cmocka_unit_test(test_json_memory)};
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
