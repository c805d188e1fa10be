/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blktrace version 7. Traces are built here byte by byte from struct blk_io_trace (Linux,
 * include/uapi/linux/blktrace_api.h), with the events that the kernel's block layer emits
 * (kernel/trace/blktrace.c); the right records are worked out by hand beside each. tests/cli_import.t has
 * blkparse for a witness.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/blktrace_case.h"

/* The whole life of a read: queued at 1 ms, completed 90 us later. The tape begins with the first event. */
static void one_read(void **state)
{
    (void)state;
    IMPORT({.t = 1000000, .a = BT_QUEUE, .c = R, .s = 80, .b = 4096},
            {.t = 1001000, .a = BT_GETRQ, .c = R, .s = 80, .b = 4096},
            {.t = 1002000, .a = BT_INSERT, .c = R, .s = 80, .b = 4096},
            {.t = 1003000, .a = BT_ISSUE, .c = R, .s = 80, .b = 4096},
            {.t = 1090000, .a = BT_COMPLETE, .c = R, .s = 80, .b = 4096});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 40960, 4096, 90000);
    assert_int_equal(c.elapsed_ns, 90000);
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "8:0");
    assert_string_equal(case_counted(&c, "from_issue"), "");
}

/* The kinds of write (blkparse: WS, FWFSM, FWS, WFS, DS), and a read ahead. */
static void kinds(void **state)
{
    (void)state;
    IMPORT({.t = 1, .a = BT_QUEUE, .c = W | BT_SYNC, .s = 0, .b = 4096},
            {.t = 2, .a = BT_QUEUE, .c = W | BT_FLUSH | BT_FUA | BT_SYNC | BT_META, .s = 8, .b = 4096},
            {.t = 3, .a = BT_QUEUE, .c = W | BT_FLUSH | BT_SYNC, .s = 0, .b = 0},
            {.t = 4, .a = BT_QUEUE, .c = W | BT_FUA | BT_SYNC, .s = 16, .b = 4096},
            {.t = 5, .a = BT_QUEUE, .c = W | BT_DISCARD | BT_SYNC, .s = 24, .b = 4294966784},
            {.t = 6, .a = BT_QUEUE, .c = R | BT_AHEAD, .s = 7, .b = 3584});
    assert_int_equal(c.count, 6);
    case_record(&c, 0, 0, BLOCK_WRITE, BLOCK_SYNC, 0, 4096, NO);
    case_record(&c, 1, 1, BLOCK_WRITE, BLOCK_PREFLUSH | BLOCK_FUA | BLOCK_SYNC | BLOCK_META, 4096, 4096, NO);
    case_record(&c, 2, 2, BLOCK_FLUSH, BLOCK_SYNC, 0, 0, NO);
    case_record(&c, 3, 3, BLOCK_WRITE, BLOCK_FUA | BLOCK_SYNC, 8192, 4096, NO);
    case_record(&c, 4, 4, BLOCK_DISCARD, BLOCK_SYNC, 12288, 4294966784, NO);
    case_record(&c, 5, 5, BLOCK_READ, BLOCK_READAHEAD, 3584, 3584, NO);
}

/* Back merge and front merge: one request of three bios, one completion. */
static void merges(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W, .s = 8, .b = 4096},
            {.t = 10, .a = BT_QUEUE, .c = W, .s = 16, .b = 4096},
            {.t = 11, .a = BT_BACKMERGE, .c = W, .s = 16, .b = 4096},
            {.t = 20, .a = BT_QUEUE, .c = W, .s = 0, .b = 4096},
            {.t = 21, .a = BT_FRONTMERGE, .c = W, .s = 0, .b = 4096},
            {.t = 30, .a = BT_ISSUE, .c = W, .s = 0, .b = 12288},
            {.t = 130, .a = BT_COMPLETE, .c = W, .s = 0, .b = 12288});
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 4096, 4096, 130);
    case_record(&c, 1, 10, BLOCK_WRITE, 0, 8192, 4096, 120);
    case_record(&c, 2, 20, BLOCK_WRITE, 0, 0, 4096, 110);
}

/* A request completes in two steps; the second is the end. */
static void partial_completion(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 0, .b = 8192},
            {.t = 1, .a = BT_ISSUE, .c = R, .s = 0, .b = 8192},
            {.t = 50, .a = BT_COMPLETE, .c = R, .s = 0, .b = 4096},
            {.t = 70, .a = BT_COMPLETE, .c = R, .s = 8, .b = 4096});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 0, 8192, 70);
}

/* 1 MiB in three parts, the last first; new kernels queue the rest no second time. */
static void split(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 0, .b = 1048576},
            {.t = 1, .a = BT_SPLIT, .c = R, .s = 0, .b = 524288, .split = 1024},
            {.t = 2, .a = BT_GETRQ, .c = R, .s = 0, .b = 524288},
            {.t = 3, .a = BT_SPLIT, .c = R, .s = 1024, .b = 262144, .split = 1536},
            {.t = 4, .a = BT_GETRQ, .c = R, .s = 1024, .b = 262144},
            {.t = 5, .a = BT_GETRQ, .c = R, .s = 1536, .b = 262144},
            {.t = 6, .a = BT_ISSUE, .c = R, .s = 0, .b = 524288},
            {.t = 7, .a = BT_ISSUE, .c = R, .s = 1024, .b = 262144},
            {.t = 8, .a = BT_ISSUE, .c = R, .s = 1536, .b = 262144},
            {.t = 20, .a = BT_COMPLETE, .c = R, .s = 1536, .b = 262144},
            {.t = 30, .a = BT_COMPLETE, .c = R, .s = 0, .b = 524288},
            {.t = 40, .a = BT_COMPLETE, .c = R, .s = 1024, .b = 262144});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 0, 1048576, 40);
    assert_string_equal(case_counted(&c, "unmatched_completions"), "");
}

/* Older kernels queue the rest again: no second I/O. A later I/O to the same place is one. */
static void split_queued_again(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 0, .b = 8192},
            {.t = 1, .a = BT_SPLIT, .c = R, .s = 0, .b = 8192, .split = 8},
            {.t = 2, .a = BT_QUEUE, .c = R, .s = 8, .b = 4096},
            {.t = 3, .a = BT_QUEUE, .c = R, .s = 8, .b = 4096},
            {.t = 30, .a = BT_COMPLETE, .c = R, .s = 0, .b = 4096},
            {.t = 40, .a = BT_COMPLETE, .c = R, .s = 8, .b = 4096},
            {.t = 50, .a = BT_COMPLETE, .c = R, .s = 8, .b = 4096});
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_READ, 0, 0, 8192, 40);
    case_record(&c, 1, 3, BLOCK_READ, 0, 4096, 4096, 47);
    assert_string_equal(case_counted(&c, "queued_again"), "1");
}

/* Issued, taken back, issued again: still one. */
static void requeue(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W, .s = 0, .b = 512},
            {.t = 10, .a = BT_ISSUE, .c = W, .s = 0, .b = 512},
            {.t = 20, .a = BT_REQUEUE, .c = W, .s = 0, .b = 512},
            {.t = 30, .a = BT_ISSUE, .c = W, .s = 0, .b = 512},
            {.t = 90, .a = BT_COMPLETE, .c = W, .s = 0, .b = 512});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 0, 512, 90);
}

/* Without Q the I/O begins with D, and a requeue begins none. Two at one place end in their order. */
static void issue_without_queue(void **state)
{
    (void)state;
    IMPORT({.t = 10, .a = BT_ISSUE, .c = W, .s = 0, .b = 512},
            {.t = 20, .a = BT_REQUEUE, .c = W, .s = 0, .b = 512},
            {.t = 30, .a = BT_ISSUE, .c = W, .s = 0, .b = 512},
            {.t = 35, .a = BT_ISSUE, .c = W, .s = 0, .b = 512},
            {.t = 40, .a = BT_ISSUE, .c = BT_READ | BT_FLUSH | FS, .s = 0, .b = 0},
            {.t = 90, .a = BT_COMPLETE, .c = W, .s = 0, .b = 512},
            {.t = 95, .a = BT_COMPLETE, .c = W, .s = 0, .b = 512},
            {.t = 99, .a = BT_COMPLETE, .c = BT_READ | BT_FLUSH | FS, .s = 0, .b = 0});
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 0, 512, 80);
    case_record(&c, 1, 25, BLOCK_WRITE, 0, 0, 512, 60);
    case_record(&c, 2, 30, BLOCK_FLUSH, 0, 0, 0, 59);
    assert_string_equal(case_counted(&c, "from_issue"), "3");
}

/* FUA through the flush machinery: the data end at 92 us, the flush of the disk's cache ends at 740, and
 * the write itself, without bytes, at 750. Linux before 6.6 has the sector advanced by then. */
static void fua_ends_twice(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W | BT_FUA, .s = 80, .b = 4096},
            {.t = 1, .a = BT_QUEUE, .c = W | BT_FUA, .s = 800, .b = 4096},
            {.t = 5000, .a = BT_ISSUE, .c = W, .s = 80, .b = 4096},
            {.t = 5001, .a = BT_ISSUE, .c = W, .s = 800, .b = 4096},
            {.t = 92000, .a = BT_COMPLETE, .c = W, .s = 80, .b = 4096},
            {.t = 92001, .a = BT_COMPLETE, .c = W, .s = 800, .b = 4096},
            {.t = 93000, .a = BT_ISSUE, .c = BT_READ | BT_FLUSH | FS, .s = 0, .b = 0},
            {.t = 740000, .a = BT_COMPLETE, .c = BT_READ | BT_FLUSH | FS, .s = 0, .b = 0},
            {.t = 750000, .a = BT_COMPLETE, .c = W, .s = 80, .b = 0},
            {.t = 750001, .a = BT_COMPLETE, .c = W, .s = 808, .b = 0});
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_WRITE, BLOCK_FUA, 40960, 4096, 750000);
    case_record(&c, 1, 1, BLOCK_WRITE, BLOCK_FUA, 409600, 4096, 750000);
    assert_string_equal(case_counted(&c, "unmatched_completions"), "");
}

/* A disk that knows FUA completes once: that end holds, also where the trace goes on for long. */
static void fua_ends_once(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W | BT_FUA, .s = 80, .b = 4096},
            {.t = 1, .a = BT_ISSUE, .c = W | BT_FUA, .s = 80, .b = 4096},
            {.t = 100, .a = BT_COMPLETE, .c = W | BT_FUA, .s = 80, .b = 4096},
            {.t = 5000000000, .a = BT_QUEUE, .c = R, .s = 0, .b = 512},
            {.t = 5000000001, .a = BT_QUEUE, .c = R, .s = 0, .b = 512});
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_WRITE, BLOCK_FUA, 40960, 4096, 100);
}

/* An empty flush: the machinery's own request (issued, flag kept) is not its end. */
static void empty_flush(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W | BT_FLUSH, .s = 0, .b = 0},
            {.t = 1, .a = BT_ISSUE, .c = BT_READ | BT_FLUSH | FS, .s = 0, .b = 0},
            {.t = 700, .a = BT_COMPLETE, .c = BT_READ | BT_FLUSH | FS, .s = 0, .b = 0},
            {.t = 720, .a = BT_COMPLETE, .c = W, .s = 0, .b = 0});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_FLUSH, 0, 0, 0, 720);
}

/* Q on 8:1, remapped to 8:0, Q on 8:0: one read, of the device that was asked; it ends with 8:0's end. */
static void remap_of_partition(void **state)
{
    (void)state;
    IMPORT({.t = 1000000, .a = BT_QUEUE, .c = R, .s = 2048, .b = 4096, .d = DEV(8, 1)},
            {.t = 1000010,
                    .a = BT_REMAP,
                    .c = R,
                    .s = 4096,
                    .b = 4096,
                    .from = DEV(8, 1),
                    .to = DEV(8, 0),
                    .from_s = 2048},
            {.t = 1000020, .a = BT_QUEUE, .c = R, .s = 4096, .b = 4096},
            {.t = 1000500, .a = BT_COMPLETE, .c = R, .s = 4096, .b = 4096});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 1048576, 4096, 500);
    assert_int_equal(tape_reader_stream_count(c.reader), 1);
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "8:1");
    assert_string_equal(case_counted(&c, "queued_again"), "1");
}

/* Only the disk is traced: the remap of its partition precedes the one Q. */
static void remap_without_upper(void **state)
{
    (void)state;
    IMPORT({.t = 10,
                   .a = BT_REMAP,
                   .c = R,
                   .s = 4096,
                   .b = 4096,
                   .from = DEV(8, 1),
                   .to = DEV(8, 0),
                   .from_s = 2048},
            {.t = 20, .a = BT_QUEUE, .c = R, .s = 4096, .b = 4096},
            {.t = 120, .a = BT_COMPLETE, .c = R, .s = 4096, .b = 4096});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 10, BLOCK_READ, 0, 4096 * 512, 4096, 100);
}

/* The partition is traced: its events carry its number and the disk's sectors; records are the partition's.
 */
static void traced_partition(void **state)
{
    (void)state;
    IMPORT({.t = 10,
                   .a = BT_REMAP,
                   .c = R,
                   .s = 4096,
                   .b = 4096,
                   .d = DEV(8, 1),
                   .from = DEV(8, 1),
                   .to = DEV(8, 0),
                   .from_s = 2048},
            {.t = 20, .a = BT_QUEUE, .c = R, .s = 4096, .b = 4096, .d = DEV(8, 1)},
            {.t = 120, .a = BT_COMPLETE, .c = R, .s = 4096, .b = 4096, .d = DEV(8, 1)});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 10, BLOCK_READ, 0, 1048576, 4096, 100);
}

/* A logical volume on a partition, volume and disk traced: two remaps, then Q on the disk. The volume's own
 * completion, 20 ns after the disk's, is the end. */
static void remap_chain(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W, .s = 100, .b = 4096, .d = DEV(253, 0)},
            {.t = 1,
                    .a = BT_REMAP,
                    .c = W,
                    .s = 484,
                    .b = 4096,
                    .from = DEV(253, 0),
                    .to = DEV(8, 2),
                    .from_s = 100},
            {.t = 2,
                    .a = BT_REMAP,
                    .c = W,
                    .s = 9484,
                    .b = 4096,
                    .from = DEV(8, 2),
                    .to = DEV(8, 0),
                    .from_s = 484},
            {.t = 3, .a = BT_QUEUE, .c = W, .s = 9484, .b = 4096},
            {.t = 4, .a = BT_ISSUE, .c = W, .s = 9484, .b = 4096},
            {.t = 300, .a = BT_COMPLETE, .c = W, .s = 9484, .b = 4096},
            {.t = 320, .a = BT_COMPLETE, .c = W, .s = 100, .b = 4096, .d = DEV(253, 0)});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 51200, 4096, 320);
    assert_string_equal(tape_reader_stream(c.reader, 0)->name, "253:0");
    assert_string_equal(case_counted(&c, "unmatched_completions"), "");
}

/* A mirror writes to two disks, and ends with its own completion, or with the later disk where it has none.
 */
static void remap_to_mirror(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = W, .s = 0, .b = 4096, .d = DEV(9, 0)},
            {.t = 1,
                    .a = BT_REMAP,
                    .c = W,
                    .s = 0,
                    .b = 4096,
                    .d = DEV(8, 0),
                    .from = DEV(9, 0),
                    .to = DEV(8, 0)},
            {.t = 2, .a = BT_QUEUE, .c = W, .s = 0, .b = 4096, .d = DEV(8, 0)},
            {.t = 3,
                    .a = BT_REMAP,
                    .c = W,
                    .s = 0,
                    .b = 4096,
                    .d = DEV(8, 16),
                    .from = DEV(9, 0),
                    .to = DEV(8, 16)},
            {.t = 4, .a = BT_QUEUE, .c = W, .s = 0, .b = 4096, .d = DEV(8, 16)},
            {.t = 50, .a = BT_COMPLETE, .c = W, .s = 0, .b = 4096, .d = DEV(8, 16)},
            {.t = 80, .a = BT_COMPLETE, .c = W, .s = 0, .b = 4096, .d = DEV(8, 0)});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 0, 4096, 80);
}

/* A stripe set sends the second half elsewhere: that remap begins within the I/O. */
static void remap_of_stripe(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 1000, .b = 8192, .d = DEV(253, 0)},
            {.t = 1,
                    .a = BT_REMAP,
                    .c = R,
                    .s = 500,
                    .b = 4096,
                    .d = DEV(8, 0),
                    .from = DEV(253, 0),
                    .to = DEV(8, 0),
                    .from_s = 1000},
            {.t = 2, .a = BT_QUEUE, .c = R, .s = 500, .b = 4096, .d = DEV(8, 0)},
            {.t = 3,
                    .a = BT_REMAP,
                    .c = R,
                    .s = 600,
                    .b = 4096,
                    .d = DEV(8, 16),
                    .from = DEV(253, 0),
                    .to = DEV(8, 16),
                    .from_s = 1008},
            {.t = 4, .a = BT_QUEUE, .c = R, .s = 600, .b = 4096, .d = DEV(8, 16)},
            {.t = 50, .a = BT_COMPLETE, .c = R, .s = 600, .b = 4096, .d = DEV(8, 16)},
            {.t = 80, .a = BT_COMPLETE, .c = R, .s = 500, .b = 4096, .d = DEV(8, 0)},
            {.t = 90, .a = BT_COMPLETE, .c = R, .s = 1000, .b = 8192, .d = DEV(253, 0)});
    assert_int_equal(c.count, 1);
    case_record(&c, 0, 0, BLOCK_READ, 0, 512000, 8192, 90);
}

/* The kernel stores -EIO as 0xfffb. */
static void error_of_completion(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 0, .b = 512},
            {.t = 9, .a = BT_COMPLETE, .c = R, .s = 0, .b = 512, .error = 0xfffb});
    assert_int_equal(c.records[0].error, EIO);
    assert_int_equal(c.records[0].latency_ns, 9);
}

/* Reads, writes and discards of one place are apart; of two alike the first ends first. */
static void same_place(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 8, .b = 512},
            {.t = 1, .a = BT_QUEUE, .c = W, .s = 8, .b = 512},
            {.t = 2, .a = BT_QUEUE, .c = R, .s = 8, .b = 512},
            {.t = 10, .a = BT_COMPLETE, .c = W, .s = 8, .b = 512},
            {.t = 20, .a = BT_COMPLETE, .c = R, .s = 8, .b = 512},
            {.t = 30, .a = BT_COMPLETE, .c = R, .s = 8, .b = 512},
            {.t = 40, .a = BT_COMPLETE, .c = R, .s = 8, .b = 512});
    case_record(&c, 0, 0, BLOCK_READ, 0, 4096, 512, 20);
    case_record(&c, 1, 1, BLOCK_WRITE, 0, 4096, 512, 9);
    case_record(&c, 2, 2, BLOCK_READ, 0, 4096, 512, 28);
    assert_string_equal(case_counted(&c, "unmatched_completions"), "1");
}

/* A read that stalls for 5 s ends after 50 others have left for the tape. */
static void stalled(void **state)
{
    (void)state;
    trace_put(&t, (struct ev){.t = 0, .a = BT_QUEUE, .c = R, .s = 8, .b = 512});
    for (uint64_t i = 0; i < 50; i++) {
        trace_put(&t, (struct ev){.t = i * 100000000 + 1, .a = BT_QUEUE, .c = R, .s = 80, .b = 512});
        trace_put(&t, (struct ev){.t = i * 100000000 + 5, .a = BT_COMPLETE, .c = R, .s = 80, .b = 512});
    }
    trace_put(&t, (struct ev){.t = 5000000000, .a = BT_COMPLETE, .c = R, .s = 8, .b = 512});
    import_trace();
    assert_int_equal(c.rc, 0);
    assert_int_equal(c.count, 51);
    case_record(&c, 0, 0, BLOCK_READ, 0, 4096, 512, 5000000000);
    for (size_t i = 1; i < 51; i++)
        assert_int_equal(c.records[i].latency_ns, 4);
}

/* A completion is missing. Seconds later the same place is read again: that end is the later read's. */
static void lost_completion(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_QUEUE, .c = R, .s = 8, .b = 512},
            {.t = 1, .a = BT_ISSUE, .c = R, .s = 8, .b = 512},
            {.t = 3000000000, .a = BT_QUEUE, .c = R, .s = 80, .b = 512},
            {.t = 5000000000, .a = BT_QUEUE, .c = R, .s = 8, .b = 512},
            {.t = 5000000001, .a = BT_ISSUE, .c = R, .s = 8, .b = 512},
            {.t = 5000000100, .a = BT_COMPLETE, .c = R, .s = 8, .b = 512});
    assert_int_equal(c.count, 3);
    assert_int_equal(c.records[0].latency_ns, NO);
    assert_int_equal(c.records[2].latency_ns, 100);
}

static void passthrough(void **state)
{
    (void)state;
    IMPORT({.t = 0, .a = BT_INSERT, .c = BT_PASSTHROUGH, .b = 36},
            {.t = 1, .a = BT_ISSUE, .c = BT_PASSTHROUGH, .b = 36},
            {.t = 2, .a = BT_COMPLETE, .c = BT_PASSTHROUGH, .b = 36},
            {.t = 3, .a = BT_QUEUE, .c = R, .s = 0, .b = 512});
    assert_int_equal(c.count, 1);
    assert_string_equal(case_counted(&c, "passthrough"), "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(one_read),
            TEST(kinds),
            TEST(merges),
            TEST(partial_completion),
            TEST(split),
            TEST(split_queued_again),
            TEST(requeue),
            TEST(issue_without_queue),
            TEST(fua_ends_twice),
            TEST(fua_ends_once),
            TEST(empty_flush),
            TEST(remap_of_partition),
            TEST(remap_without_upper),
            TEST(traced_partition),
            TEST(remap_chain),
            TEST(remap_to_mirror),
            TEST(remap_of_stripe),
            TEST(error_of_completion),
            TEST(same_place),
            TEST(stalled),
            TEST(lost_completion),
            TEST(passthrough),
    };
    return cmocka_run_group_tests_name("import_blktrace", tests, NULL, NULL);
}
