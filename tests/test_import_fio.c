/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * fio's iolog, version 3. Right values are worked out from fio's HOWTO ("Trace file format v3") and the
 * unit in its iolog.c: microseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/import_case.h"

static struct import_case c;

static int setup(void **state)
{
    (void)state;
    case_open(&c);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    case_close(&c);
    return 0;
}

static void import_text(const char *text)
{
    case_file(&c, "a.iolog", text, strlen(text));
    case_import(&c, "a.iolog");
    if (c.rc)
        print_message("# %s\n", c.e.text);
}

static void every_action(void **state)
{
    (void)state;
    import_text("fio version 3 iolog\n0 disk add\n0 disk open\n10 disk write 0 4096\n"
                "20 disk sync_file_range 0 4096\n30 disk datasync 0 0\n40 disk trim 8192 4096\n"
                "45 disk wait 7 0\n46 disk read 512 1\n47 disk sync 0 0\n50 disk close\n");
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.count, 6);
    case_record(&c, 0, 10000, BLOCK_WRITE, 0, 0, 4096, TAPE_UNKNOWN);
    case_record(&c, 1, 20000, BLOCK_FLUSH, 0, 0, 0, TAPE_UNKNOWN);
    case_record(&c, 2, 30000, BLOCK_FLUSH, 0, 0, 0, TAPE_UNKNOWN);
    case_record(&c, 3, 40000, BLOCK_DISCARD, 0, 8192, 4096, TAPE_UNKNOWN);
    case_record(&c, 4, 46000, BLOCK_READ, 0, 512, 1, TAPE_UNKNOWN);
    case_record(&c, 5, 47000, BLOCK_FLUSH, 0, 0, 0, TAPE_UNKNOWN);
    assert_int_equal(c.elapsed_ns, 50000);
    assert_string_equal(case_counted(&c, "waits"), "1");
    assert_string_equal(case_counted(&c, "flush_ranges"), "1");
}

/* Names may be missing in the log's head: an action names its file all the same. */
static void without_add(void **state)
{
    (void)state;
    import_text("fio version 3 iolog\n0 disk read 0 4096\n1000 disk write 4096 4096\n");
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_READ, 0, 0, 4096, TAPE_UNKNOWN);
    case_record(&c, 1, 1000000, BLOCK_WRITE, 0, 4096, 4096, TAPE_UNKNOWN);
}

/* One file, one stream; a device keeps its name, another path does not unless asked. */
static void streams(void **state)
{
    (void)state;
    import_text("fio version 3 iolog\n0 /dev/sdb read 0 512\n1 /home/joe/x read 0 512\n2 /dev/sdb read 512 "
                "512\n");
    assert_int_equal(tape_reader_stream_count(c.reader), 2);
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "sdb");
    assert_string_equal(tape_reader_stream(c.reader, 1)->name, "file-2");
    assert_int_equal(c.records[1].stream, 1);
    assert_int_equal(c.records[2].stream, 0);
}

static void streams_with_names(void **state)
{
    (void)state;
    c.opts.keep_names = true;
    import_text("fio version 3 iolog\n0 /home/joe/x read 0 512\n");
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "/home/joe/x");
}

/* 2^64 - 512 is the last sector; one byte more has no place. */
static void extreme_offsets(void **state)
{
    (void)state;
    import_text("fio version 3 iolog\n5 d read 18446744073709551104 511\n6 d trim 0 18446744073709551615\n");
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 5000, BLOCK_READ, 0, UINT64_MAX - 511, 511, TAPE_UNKNOWN);
    case_record(&c, 1, 6000, BLOCK_DISCARD, 0, 0, UINT64_MAX, TAPE_UNKNOWN);
}

/* Equal times keep their order, earlier ones move to their place and are counted. */
static void out_of_order(void **state)
{
    static const uint64_t offsets[] = {2, 4, 1, 3};

    (void)state;
    import_text("fio version 3 iolog\n9 d read 1 1\n5 d read 2 1\n9 d read 3 1\n5 d read 4 1\n");
    assert_int_equal(c.count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(c.records[i].offset_bytes, offsets[i]);
    assert_string_equal(case_counted(&c, "out_of_order"), "2");
}

static const struct {
    const char *text, *wanted;
} refused[] = {
        {"fio version 4 iolog\nd add\nd open\nd write 4096 4096\n", "is of no known format"},
        {"fio version 3 iolog extra\n0 d read 0 1\n", "a.iolog':1: "},
        {"fio version 3 iolog\n", "a.iolog': there is no I/O"},
        {"fio version 3 iolog\n0 d add\n", "no I/O"},
        {"fio version 3 iolog\n0 d read 0 4096\n1 d write 31064fio version 3 iolog\n",
                "a.iolog':3: 6 or more fields"},
        {"fio version 3 iolog\n0 d read 0\n", "a.iolog':2: 4 fields"},
        {"fio version 3 iolog\n0 d read\n", "a.iolog':2: 3 fields do not go with action 'read'"},
        {"fio version 3 iolog\n0 d open 0 0\n", "a.iolog':2: 5 fields do not go"},
        {"fio version 3 iolog\n0 d frobnicate 0 0\n", "a.iolog':2: unknown action 'frobnicate'"},
        {"fio version 3 iolog\n-1 d read 0 1\n", "a.iolog':2: time stamp '-1' is not a number"},
        {"fio version 3 iolog\n0 d read 1.5 1\n", "a.iolog':2: offset '1.5'"},
        {"fio version 3 iolog\n0 d read 0 18446744073709551616\n", "a.iolog':2: length"},
        {"fio version 3 iolog\n0 d read 18446744073709551615 2\n", "exceed 64 bits"},
        {"fio version 3 iolog\n18446744073709552 d read 0 1\n", "a.iolog':2: time stamp"},
        {"fio version 3 iolog\n0 d read 0 4096\n1 d read 0 40",
                "a.iolog':3: the last line is cut off at byte 49"},
        {"nonsense\n", "is of no known format"},
        {"", "is empty"},
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (i) {
            case_close(&c);
            case_open(&c);
        }
        case_file(&c, "a.iolog", refused[i].text, strlen(refused[i].text));
        case_import(&c, "a.iolog");
        case_refused(&c, refused[i].wanted);
    }
}

/* --skip-bad: the same lines are counted, the others taken. */
static void skip_bad(void **state)
{
    (void)state;
    c.opts.skip_bad = true;
    import_text("fio version 3 iolog\n0 d read 0 1\n1 d read x 1\n2 d read 0 1\n3 d fly 0 1\n\n4 d read 0 4");
    assert_int_equal(c.count, 2);
    assert_string_equal(case_counted(&c, "bad"), "4");
}

static void zero_byte(void **state)
{
    static const char text[] = "fio version 3 iolog\n0 d read 0 1\n1 d re\0ad 0 1\n";

    (void)state;
    case_file(&c, "a.iolog", text, sizeof text - 1);
    case_import(&c, "a.iolog");
    case_refused(&c, "a.iolog':3: byte 7 of the line is 0");
}

/* A line of 70,000 bytes, and 20,000 lines after a time that goes back beyond the window of 16,384. */
static void bounds(void **state)
{
    char *text = malloc(1000000);
    size_t len;

    (void)state;
    assert_non_null(text);
    len = (size_t)sprintf(text, "fio version 3 iolog\n0 ");
    memset(text + len, 'x', 70000);
    strcpy(text + len + 70000, " read 0 1\n");
    case_file(&c, "a.iolog", text, strlen(text));
    case_import(&c, "a.iolog");
    case_refused(&c, "a.iolog':2: the line is longer than 65536 bytes");

    len = (size_t)sprintf(text, "fio version 3 iolog\n");
    for (int i = 0; i < 20000; i++)
        len += (size_t)sprintf(text + len, "%d d read 0 1\n", 1000 + i);
    sprintf(text + len, "999 d read 0 1\n");
    case_file(&c, "b.iolog", text, strlen(text));
    case_import(&c, "b.iolog");
    case_refused(&c, "b.iolog':20002: the time goes back");
    assert_non_null(strstr(c.e.text, "--skip-bad"));
    free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
            TEST(every_action),
            TEST(without_add),
            TEST(streams),
            TEST(streams_with_names),
            TEST(extreme_offsets),
            TEST(out_of_order),
            TEST(refusals),
            TEST(skip_bad),
            TEST(zero_byte),
            TEST(bounds),
    };
    return cmocka_run_group_tests_name("import_fio", tests, NULL, NULL);
}
