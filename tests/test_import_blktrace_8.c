/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blktrace version 8: struct blk_io_trace2 of 64 bytes (Linux 6.19, include/uapi/linux/blktrace_api.h). Its
 * bytes are laid down one by one here, in both byte orders, and the records worked out by hand: nothing else
 * on this machine reads or writes the version.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/import_case.h"

#define EVENT_BYTES 64
#define BYTES_MAX   1024
#define NO          TAPE_UNKNOWN

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

/* A trace of a little-endian machine. Each row: magic | 8 and sequence; time; sector; bytes and process;
 * action; device 8:1 (8 << 20 | 1) and CPU; error and payload's length, padding, which may hold anything.
 * An action is its kind (1 a queueing, 7 an issue, 8 a completion), its categories from bit 16 on (0 read,
 * 1 write, 8 of a file system), and bit 8 where a cgroup's id comes first in the payload. */
/* clang-format off */
static const uint8_t little[] = {
    /* Q at 1,000 ns: a write of 4,096 bytes at sector 2^32 + 2, by process 7 */
    0x08, 0x74, 0x61, 0x65, 1, 0, 0, 0,    0xe8, 0x03, 0, 0, 0, 0, 0, 0,    2, 0, 0, 0, 1, 0, 0, 0,    0, 0x10, 0, 0, 7, 0, 0, 0,
    0x01, 0, 0x02, 0x01, 0, 0, 0, 0,       1, 0, 0x80, 0, 3, 0, 0, 0,       0, 0, 0, 0,   0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8,
    /* Q at 2,000 ns: zeroes to 1 MiB from sector 8 on. Category 22 is bit 38 of the action, which has 64. The cgroup's id. */
    0x08, 0x74, 0x61, 0x65, 2, 0, 0, 0,    0xd0, 0x07, 0, 0, 0, 0, 0, 0,    8, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0x10, 0, 7, 0, 0, 0,
    0x01, 0x01, 0x02, 0x01, 0x40, 0, 0, 0, 1, 0, 0x80, 0, 3, 0, 0, 0,       0, 0, 8, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0xaa, 0xbb, 0xcc, 0xdd, 1, 0, 0, 0,
    /* Q at 2,500 ns: a reset of a zone (category 17, bit 33), which no tape has */
    0x08, 0x74, 0x61, 0x65, 3, 0, 0, 0,    0xc4, 0x09, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 7, 0, 0, 0,
    0x01, 0, 0x02, 0x01, 0x02, 0, 0, 0,    1, 0, 0x80, 0, 3, 0, 0, 0,       0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /* C at 92,000 ns of the write: 91 us */
    0x08, 0x74, 0x61, 0x65, 4, 0, 0, 0,    0x60, 0x67, 1, 0, 0, 0, 0, 0,    2, 0, 0, 0, 1, 0, 0, 0,    0, 0x10, 0, 0, 0, 0, 0, 0,
    0x08, 0, 0x02, 0x01, 0, 0, 0, 0,       1, 0, 0x80, 0, 3, 0, 0, 0,       0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    /* C at 102,000 ns of the zeroes: 100 us, with EIO: -5 in 16 bits */
    0x08, 0x74, 0x61, 0x65, 5, 0, 0, 0,    0x70, 0x8e, 1, 0, 0, 0, 0, 0,    8, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0x10, 0, 0, 0, 0, 0,
    0x08, 0, 0x02, 0x01, 0x40, 0, 0, 0,    1, 0, 0x80, 0, 3, 0, 0, 0,       0xfb, 0xff, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
};

/* A big-endian machine's: one read of 512 bytes at sector 0x010203 with a remap from 8:2, sector 5; the remap's payload, 16
 * bytes, is big-endian on every machine. */
static const uint8_t big[] = {
    /* Q at 0x0100 ns on 8:2 */
    0x65, 0x61, 0x74, 0x08, 0, 0, 0, 1,    0, 0, 0, 0, 0, 0, 1, 0,    0, 0, 0, 0, 0, 0, 0, 5,    0, 0, 2, 0, 0, 0, 0, 9,
    0, 0, 0, 0, 0x01, 0x01, 0, 0x01,       0, 0x80, 0, 2, 0, 0, 0, 1,    0, 0, 0, 0,   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    /* A (15) at 0x0101 ns on 8:0 */
    0x65, 0x61, 0x74, 0x08, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 1, 1,    0, 0, 0, 0, 0, 1, 2, 3,    0, 0, 2, 0, 0, 0, 0, 9,
    0, 0, 0, 0, 0x01, 0x01, 0, 0x0f,       0, 0x80, 0, 0, 0, 0, 0, 1,    0, 0, 0, 16,   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    0, 0x80, 0, 2, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5,
    /* Q at 0x0102 ns on 8:0: the same read */
    0x65, 0x61, 0x74, 0x08, 0, 0, 0, 3,    0, 0, 0, 0, 0, 0, 1, 2,    0, 0, 0, 0, 0, 1, 2, 3,    0, 0, 2, 0, 0, 0, 0, 9,
    0, 0, 0, 0, 0x01, 0x01, 0, 0x01,       0, 0x80, 0, 0, 0, 0, 0, 1,    0, 0, 0, 0,   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
    /* C at 0x0300 ns on 8:0: 512 ns later */
    0x65, 0x61, 0x74, 0x08, 0, 0, 0, 4,    0, 0, 0, 0, 0, 0, 3, 0,    0, 0, 0, 0, 0, 1, 2, 3,    0, 0, 2, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0x01, 0x01, 0, 0x08,       0, 0x80, 0, 0, 0, 0, 0, 1,    0, 0, 0, 0,   9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
};
/* clang-format on */

static void import_bytes(const uint8_t *bytes, size_t len)
{
    case_file(&c, "x.blktrace.0", bytes, len);
    case_import(&c, "x.blktrace.0");
    if (c.rc)
        print_message("# %s\n", c.e.text);
}

static void little_endian(void **state)
{
    (void)state;
    import_bytes(little, sizeof little);
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, UINT64_C(2199023256576), 4096, 91000); /* (2^32 + 2) * 512 */
    case_record(&c, 1, 1000, BLOCK_WRITE_ZEROES, 0, 4096, 1048576, 100000);
    assert_int_equal(c.records[0].error, 0);
    assert_int_equal(c.records[1].error, EIO);
    assert_int_equal(c.elapsed_ns, 101000);
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "8:1");
    assert_string_equal(case_counted(&c, "other_operations"), "1");
    assert_int_equal(tape_reader_totals(c.reader)->lost, 0);
}

static void big_endian(void **state)
{
    (void)state;
    import_bytes(big, sizeof big);
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 2560, 512, 512); /* where it was queued: 8:2, sector 5 */
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "8:2");
    assert_int_equal(tape_reader_totals(c.reader)->lost, 0);
}

/* Of the five events the fourth is not there: one is lost, and the write has no latency. */
static void one_lost(void **state)
{
    const size_t fourth = 3 * EVENT_BYTES + 8;
    uint8_t bytes[BYTES_MAX];

    (void)state;
    memcpy(bytes, little, fourth);
    memcpy(bytes + fourth, little + fourth + EVENT_BYTES, sizeof little - fourth - EVENT_BYTES);
    import_bytes(bytes, sizeof little - EVENT_BYTES);
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, UINT64_C(2199023256576), 4096, NO);
    assert_int_equal(tape_reader_totals(c.reader)->lost, 1);
}

/* What is wrong with it: a byte replaced at a place, or an end that comes early. */
static const struct {
    size_t at, len;
    uint8_t byte;
    const char *wanted;
} damages[] = {
        {EVENT_BYTES, sizeof little, 0x07, "byte 64: an event of version 7 in a trace of version 8"},
        {0, sizeof little, 0x09, "byte 0: blktrace version 9 cannot be read, only 7 and 8"},
        {50, sizeof little, 8, "byte 72: no event begins here"}, /* a payload that is not there */
        {0, 2 * EVENT_BYTES, 0x08, "is cut off at byte 64: the event there has 72 bytes, 64 are there"},
        {0, 48, 0x08, "is cut off at byte 0: an event has 64 bytes, 48 are there"},
        {23, sizeof little, 0xff, "byte 0: sector"},
        {3 * EVENT_BYTES + 8 + 15, sizeof little, 0xff, "byte 200: with the time"}, /* of 2^63 and more */
};

static void damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        uint8_t bytes[BYTES_MAX];
        memcpy(bytes, little, sizeof little);
        bytes[damages[i].at] = damages[i].byte;
        case_file(&c, "x.blktrace.0", bytes, damages[i].len);
        case_import(&c, "x.blktrace.0");
        case_refused(&c, damages[i].wanted);
        case_close(&c);
        case_open(&c);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
            TEST(little_endian),
            TEST(big_endian),
            TEST(one_lost),
            TEST(damaged),
    };
    return cmocka_run_group_tests_name("import_blktrace_8", tests, NULL, NULL);
}
