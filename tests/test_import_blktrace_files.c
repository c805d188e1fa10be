/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A blktrace as a whole: byte order, all CPUs' files, order of time, damage, what is missing, who did it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/blktrace_case.h"

static void big_endian(void **state)
{
    (void)state;
    t.swapped = true;
    IMPORT({.t = 5, .a = BT_QUEUE, .c = R, .s = 80, .b = 4096, .d = DEV(8, 1), .pid = 9},
            {.t = 6,
                    .a = BT_REMAP,
                    .c = R,
                    .s = 90,
                    .b = 4096,
                    .from = DEV(8, 1),
                    .to = DEV(8, 0),
                    .from_s = 80},
            {.t = 7, .a = BT_QUEUE, .c = R, .s = 90, .b = 4096},
            {.t = 95, .a = BT_COMPLETE, .c = R, .s = 90, .b = 4096});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 40960, 4096, 90);
}

/* 20 reads, stamps 100 ms, 50 ms, 100 ms ...: a stable sort, ten of them moved. */
static void backwards(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        trace_put(&t,
                (struct ev){.t = i % 2 ? 50000000 : 100000000, .a = BT_QUEUE, .c = R, .s = 8 * i, .b = 4096});
    import_trace();
    assert_int_equal(c.count, 20);
    for (uint64_t i = 0; i < 20; i++) /* odd ones first, at 0; then even ones, 50 ms later */
        case_record(&c, i, i < 10 ? 0 : 50000000, BLOCK_READ, 0, (i < 10 ? 2 * i + 1 : 2 * (i - 10)) * 4096,
                4096, NO);
    assert_string_equal(case_counted(&c, "out_of_order"), "10");
}

/* Two files of one trace: whichever is named, or their base name, both are read; so is one of an idle CPU. */
static void all_cpus(void **state)
{
    static const char *const names[] = {"x.blktrace.0", "x.blktrace.1", "x", "x.blktrace.2"};
    static struct trace cpu[2];

    (void)state;
    memset(cpu, 0, sizeof cpu);
    for (uint64_t i = 0; i < 10; i++)
        trace_put(&cpu[i % 2], (struct ev){.t = 1000 + i,
                                       .a = BT_QUEUE,
                                       .c = R,
                                       .s = i % 2 * 800 + 8 * i,
                                       .b = 4096,
                                       .cpu = i % 2});
    case_file(&c, "x.blktrace.0", cpu[0].bytes, cpu[0].len);
    case_file(&c, "x.blktrace.1", cpu[1].bytes, cpu[1].len);
    case_file(&c, "x.blktrace.2", "", 0);
    case_file(&c, "y.blktrace.0", cpu[0].bytes, cpu[0].len);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        c.count = 0;
        case_import(&c, names[n]);
        assert_int_equal(c.rc, 0);
        assert_int_equal(c.count, 10);
        for (uint64_t i = 0; i < 10; i++)
            case_record(&c, i, i, BLOCK_READ, 0, (i % 2 * 800 + 8 * i) * 512, 4096, NO);
        tape_reader_close(c.reader);
        c.reader = NULL;
        unlink(c.tape);
    }
}

/* 1,700,000,000 s and 5 ns after 1970, and 61 s later, as a note has them. */
#define WALL       "\x00\xf1\x53\x65\x05\0\0\0"
#define WALL_LATER "\x3d\xf1\x53\x65\x05\0\0\0"

static void wall_clock(void **state)
{
    (void)state;
    IMPORT({.t = 7000, .a = BT_QUEUE, .c = R, .b = 512},
            {.t = 7100, .a = BT_NOTE_TIMESTAMP, .c = BT_NOTIFY, .pdu = WALL, .pdu_len = 8},
            {.t = 8000, .a = BT_QUEUE, .c = R, .b = 512});
    /* 100 ns before the note */
    assert_true(tape_reader_info(c.reader)->started_unix_ns == UINT64_C(1700000000000000005) - 100);
}

/* One CPU's file is of a machine that was started 61 s earlier; or of one with the other byte order. */
static void two_machines(void **state)
{
    static struct trace other;
    const struct ev note = {.t = 100, .a = BT_NOTE_TIMESTAMP, .c = BT_NOTIFY, .pdu = WALL, .pdu_len = 8};
    const struct ev later = {
            .t = 100, .a = BT_NOTE_TIMESTAMP, .c = BT_NOTIFY, .pdu = WALL_LATER, .pdu_len = 8};

    (void)state;
    trace_put(&t, note);
    trace_put(&t, (struct ev){.t = 200, .a = BT_QUEUE, .c = R, .b = 512});
    case_file(&c, "x.blktrace.0", t.bytes, t.len);
    trace_put(&other, later);
    case_file(&c, "x.blktrace.1", other.bytes, other.len);
    c.opts.skip_bad = true; /* which must not hide it */
    case_import(&c, "x");
    case_refused(&c,
            "x.blktrace.1', byte 0: by its wall clock (1700000061 s after 1970) this is of another machine");

    other = (struct trace){.swapped = true};
    trace_put(&other, (struct ev){.t = 300, .a = BT_QUEUE, .c = R, .b = 512});
    case_file(&c, "x.blktrace.1", other.bytes, other.len);
    case_import(&c, "x");
    case_refused(&c, "they are not of one machine");
}

/* The last sector that 64 bits of bytes reach. */
static void far_end(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = (UINT64_C(1) << 55) - 1, .b = 512},
            {.t = 9, .a = BT_COMPLETE, .c = R, .s = (UINT64_C(1) << 55) - 1, .b = 512});
    case_record(&c, 0, 0, BLOCK_READ, 0, UINT64_MAX - 511, 512, 9);
}

/* What is wrong with a file: bytes replaced at a place, or cut off. */
static const struct {
    long at, len; /* -1: nothing */
    const char *bytes, *wanted;
} damages[] = {
        {48, -1, "\x08", "byte 48: an event of version 8 in a trace of version 7"},
        {0, -1, "\x06", "byte 0: blktrace version 6 cannot be read, only 7 and 8"},
        {49, -1, "x", "byte 48: no event begins here (magic number 0x65617807)"},
        {-1, 100, NULL, "is cut off at byte 96: an event has 48 bytes, 4 are there"},
        {94, 100, "\x09", "is cut off at byte 48: the event there has 57 bytes, 52 are there"},
        {94, -1, "\x01", "byte 97: no event begins here"},
        {48 + 23, -1, "\xff", "byte 48: sector"},
};

static void damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        memset(&t, 0, sizeof t);
        for (uint64_t k = 0; k < 4; k++)
            trace_put(&t, (struct ev){.t = k, .a = BT_QUEUE, .c = R, .s = 8, .b = 512});
        if (damages[i].at >= 0)
            t.bytes[damages[i].at] = (uint8_t)damages[i].bytes[0];
        if (damages[i].len >= 0)
            t.len = (size_t)damages[i].len;
        case_file(&c, "x.blktrace.0", t.bytes, t.len);
        case_import(&c, "x.blktrace.0");
        case_refused(&c, damages[i].wanted);
        assert_non_null(strstr(c.e.text, "x.blktrace.0'"));
        /* The same with --skip-bad: the sound events are taken, the place is counted. */
        c.opts.skip_bad = true;
        c.count = 0;
        case_import(&c, "x.blktrace.0");
        assert_int_equal(c.rc, 0);
        assert_int_equal(c.count, damages[i].len < 0 ? 3 : damages[i].at < 0 ? 2 : 1);
        assert_string_equal(case_counted(&c, "bad"), "1");
        case_close(&c);
        case_open(&c);
    }
}

static void nothing_in_it(void **state)
{
    (void)state;
    trace_put(&t, (struct ev){.t = 0, .a = BT_NOTE_MESSAGE, .c = BT_NOTIFY});
    import_trace();
    case_refused(&c, "x.blktrace.0': there is no I/O in the trace");
    case_import(&c, "z");
    case_refused(&c, "/z': No such file");
}

/* 17,000 events, then one of the time before them: it would belong before what has left the window. */
static void beyond_the_window(void **state)
{
    static struct trace big;

    (void)state;
    memset(&big, 0, sizeof big);
    for (uint64_t i = 0; i < 17000; i++)
        trace_put(&big, (struct ev){.t = 1000 + i, .a = BT_QUEUE, .c = R, .s = 8, .b = 512});
    trace_put(&big, (struct ev){.t = 999, .a = BT_QUEUE, .c = R, .s = 8, .b = 512});
    case_file(&c, "x.blktrace.0", big.bytes, big.len);
    case_import(&c, "x.blktrace.0");
    case_refused(&c, "x.blktrace.0', byte 816000: the time goes back further");
    assert_non_null(strstr(c.e.text, "--skip-bad"));
    c.opts.skip_bad = true;
    case_import(&c, "x.blktrace.0");
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.count, 17000);
    assert_string_equal(case_counted(&c, "bad"), "1");
}

/* Unknown actions are stepped over by their payload's length; a message and a cgroup's id are no events. */
static void unknown_actions(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = 77, .c = R, .pdu = "twelve bytes", .pdu_len = 12},
            {.t = 1, .a = BT_NOTE_MESSAGE, .c = BT_NOTIFY, .pdu = "hello", .pdu_len = 5},
            {.t = 2, .a = BT_QUEUE | BT_CGROUP, .c = R, .s = 0, .b = 512, .pdu = "12345678", .pdu_len = 8},
            {.t = 9,
                    .a = BT_COMPLETE | BT_CGROUP,
                    .c = R,
                    .s = 0,
                    .b = 512,
                    .pdu = "12345678",
                    .pdu_len = 8});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 2, BLOCK_READ, 0, 0, 512, 7);
    assert_string_equal(case_counted(&c, "unknown_actions"), "1");
}

#define TWO_PROCESSES                                                                                        \
    {.t = 0,                                                                                                 \
            .a = BT_NOTE_PROCESS,                                                                            \
            .c = BT_NOTIFY,                                                                                  \
            .pid = 42,                                                                                       \
            .pdu = "mysqld\0\0\0\0\0\0\0\0\0\0",                                                             \
            .pdu_len = 16},                                                                                  \
            {.t = 1, .a = BT_QUEUE, .c = R, .s = 0, .b = 512, .pid = 42},                                    \
            {.t = 2, .a = BT_QUEUE, .c = R, .s = 0, .b = 512, .pid = 7},                                     \
    {                                                                                                        \
        .t = 3, .a = BT_QUEUE, .c = R, .s = 0, .b = 512, .pid = 42                                           \
    }

static void issuers(void **state)
{
    (void)state;
    IMPORT(TWO_PROCESSES);
    assert_int_equal(tape_reader_issuer_count(c.reader), 2);
    assert_int_equal(c.records[0].issuer, 0);
    assert_int_equal(c.records[1].issuer, 1);
    assert_int_equal(c.records[2].issuer, 0);
    assert_string_equal(tape_reader_issuer(c.reader, 0), "process-1");
    assert_int_equal(c.records[0].t_ns, 1); /* the note is the first event */
}

static void issuers_with_names(void **state)
{
    (void)state;
    c.opts.keep_names = true;
    IMPORT(TWO_PROCESSES);
    assert_string_equal(tape_reader_issuer(c.reader, 0), "mysqld/42");
    assert_string_equal(tape_reader_issuer(c.reader, 1), "process/7");
}

/* Sequence numbers 1, 2, 5: two events are missing. A note has none, and says nothing. */
static void lost(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 0, .b = 512, .seq = 1},
            {.t = 1, .a = BT_QUEUE, .c = R, .s = 0, .b = 512, .seq = 2},
            {.t = 2, .a = BT_NOTE_MESSAGE, .c = BT_NOTIFY, .seq = 900},
            {.t = 3, .a = BT_QUEUE, .c = R, .s = 0, .b = 512, .seq = 5});
    assert_int_equal(tape_reader_totals(c.reader)->lost, 2);
    assert_int_equal(tape_reader_totals(c.reader)->streams[0].lost, 2);
}

/* One file with two devices, numbered together (1 2 3) or each for itself (1, 1, 2, 2): nothing is missing.
 */
static void lost_by_device(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .b = 512, .seq = 1},
            {.t = 1, .a = BT_QUEUE, .c = R, .b = 512, .seq = 2, .d = DEV(8, 16)},
            {.t = 2, .a = BT_QUEUE, .c = R, .b = 512, .seq = 3},
            {.t = 3, .a = BT_QUEUE, .c = R, .b = 512, .seq = 1, .d = DEV(9, 0)},
            {.t = 4, .a = BT_QUEUE, .c = R, .b = 512, .seq = 4},
            {.t = 5, .a = BT_QUEUE, .c = R, .b = 512, .seq = 2, .d = DEV(9, 0)});
    assert_int_equal(tape_reader_totals(c.reader)->lost, 0);
    assert_int_equal(tape_reader_stream_count(c.reader), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(big_endian),
            TEST(backwards),
            TEST(all_cpus),
            TEST(wall_clock),
            TEST(two_machines),
            TEST(far_end),
            TEST(damaged),
            TEST(nothing_in_it),
            TEST(beyond_the_window),
            TEST(unknown_actions),
            TEST(issuers),
            TEST(issuers_with_names),
            TEST(lost),
            TEST(lost_by_device),
    };
    return cmocka_run_group_tests_name("import_blktrace_files", tests, NULL, NULL);
}
