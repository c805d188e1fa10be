/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Formats of one record a line or of a fixed size. Each test names the publication that defines the format;
 * values in the tape are worked out from it in comments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/import_case.h"

#define NO TAPE_UNKNOWN

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
    case_file(&c, "x", text, strlen(text));
    case_import(&c, "x");
    if (c.rc)
        print_message("# %s\n", c.e.text);
}

static const char *stream_name(size_t record)
{
    return tape_reader_stream(c.reader, c.records[record].stream)->name;
}

/* github.com/alibaba/block-traces: bytes, microseconds. */
static void alibaba(void **state)
{
    (void)state;
    import_text("419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n"
                "419,W,18446744073709551104,0,1577808144361767\n");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 8792731648, 16384, NO);
    case_record(&c, 1, 46000, BLOCK_READ, 0, 59110326272, 360448, NO);    /* 813 - 767 us */
    case_record(&c, 2, 1000000, BLOCK_WRITE, 0, UINT64_MAX - 511, 0, NO); /* 2^64 - 512, no length */
    assert_string_equal(stream_name(0), "419");
    assert_string_equal(stream_name(1), "725");
    assert_int_equal(c.records[2].stream, c.records[0].stream);
    assert_true(tape_reader_info(c.reader)->started_unix_ns == UINT64_C(1577808144360767000));
}

/* SNIA IOTTA 27917: seconds, sectors of 512 bytes, 0 a read. */
static void tencent(void **state)
{
    (void)state;
    import_text("1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n1538323202,1,1,1,1063\n");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_READ, 0, UINT64_C(12910952) * 512, 65536, NO);
    case_record(&c, 1, 0, BLOCK_WRITE, 0, UINT64_C(6338688) * 512, 4096, NO);
    case_record(&c, 2, 2000000000, BLOCK_WRITE, 0, 512, 512, NO);
    assert_string_equal(stream_name(1), "1627");
    assert_non_null(strstr(c.note, "whole seconds"));
}

/* SNIA IOTTA 388: filetime in 100 ns since 1601, response time in the same unit. 1970 is 116444736000000000.
 */
static void msr(void **state)
{
    (void)state;
    import_text("128166372003061629,usr,0,Read,7014609920,24576,41286\n"
                "128166372016382155,usr,0,Write,1317441536,8192,1963\n"
                "128166372016382156,usr,1,Write,0,512,0\n");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_READ, 0, 7014609920, 24576, 4128600);
    case_record(&c, 1, 1332052600, BLOCK_WRITE, 0, 1317441536, 8192, 196300); /* 13,320,526 * 100 ns */
    case_record(&c, 2, 1332052700, BLOCK_WRITE, 0, 0, 512, 0);
    assert_string_equal(stream_name(0), "disk-1"); /* hosts are personal */
    assert_string_equal(stream_name(2), "disk-2");
    /* (128166372003061629 - 116444736000000000) * 100 */
    assert_true(tape_reader_info(c.reader)->started_unix_ns == UINT64_C(1172163600306162900));
}

static void msr_with_names(void **state)
{
    (void)state;
    c.opts.keep_names = true;
    import_text("128166372003061629,usr,0,Read,0,512,1\n");
    assert_string_equal(stream_name(0), "usr.0");
}

/* Several files on one clock are merged by time. */
static void msr_merged(void **state)
{
    static const char *const names[] = {"a", "b"};
    static const char a[] = "128166372003061629,a,0,Read,1,1,1\n128166372003061631,a,0,Read,3,1,1\n";
    static const char b[] = "128166372003061628,b,0,Read,0,1,1\n128166372003061630,b,0,Read,2,1,1\n";

    (void)state;
    case_file(&c, "a", a, strlen(a));
    case_file(&c, "b", b, strlen(b));
    case_import_files(&c, names, 2, NULL);
    assert_int_equal(c.count, 4);
    for (uint64_t i = 0; i < 4; i++)
        case_record(&c, i, i * 100, BLOCK_READ, 0, i, 1, 100);
    assert_string_equal(case_counted(&c, "out_of_order"), "");
}

/* SPC Trace File Format Specification 1.0.1: LBA in blocks, size in bytes, seconds. */
static void spc(void **state)
{
    (void)state;
    import_text("0,20941264,8192,W,0.551706\n1,3072,4096,r,0.554041,extra,9\n0,1,512,R,2\n");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 551706000, BLOCK_WRITE, 0, UINT64_C(20941264) * 512, 8192, NO);
    case_record(&c, 1, 554041000, BLOCK_READ, 0, 3072 * 512, 4096, NO);
    case_record(&c, 2, 2000000000, BLOCK_READ, 0, 512, 512, NO);
    assert_string_equal(stream_name(1), "1");
}

static void spc_unit(void **state)
{
    (void)state;
    c.opts.lba_bytes = 4096;
    import_text("0,3,8192,W,0.000000001\n");
    case_record(&c, 0, 1, BLOCK_WRITE, 0, 3 * 4096, 8192, NO);
}

/* `vscsiStats -e`: bytes, sectors of 512, microseconds; a command that is none of the two is counted. */
static void vscsistats(void **state)
{
    (void)state;
    import_text("#Vscsi Cmd Trace. (Trace Format Version 1)\n#Serial Number,IO Data Length,Num SG "
                "Entries,Command "
                "Type,LBN,Time Stamp (microseconds)\n2147483692,4096,1,write,24048792,2756778716647\n"
                "2147483769,512,1,read,2,2756778716650\n2147483770,0,0,inquiry,0,2756778716651\n");
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, UINT64_C(24048792) * 512, 4096, NO);
    case_record(&c, 1, 3000, BLOCK_READ, 0, 1024, 512, NO);
    assert_string_equal(case_counted(&c, "other_operations"), "1");
}

/* Waldspurger et al., FAST 2015, as the issue lays them out; little-endian. */
static void vscsi_1(void **state)
{
    static const uint8_t bytes[] = {7, 0, 0, 0, 0, 0x10, 0, 0, 1, 0, 0, 0, 0x28, 0, 0,
            1, /* serial 7, 4,096 bytes, READ (10), version 1 */
            8, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0,  /* block 8, 100 us */
            8, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0x8a, 0, 0, 1, /* 512 bytes, WRITE (16) */
            0, 0, 0, 0, 1, 0, 0, 0, 103, 0, 0, 0, 0, 0, 0, 0,  /* block 2^32, 103 us */
            9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x35, 0, 0, 1, /* SYNCHRONIZE CACHE (10) */
            0, 0, 0, 0, 0, 0, 0, 0, 104, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0,
            1, /* INQUIRY */
            0, 0, 0, 0, 0, 0, 0, 0, 105, 0, 0, 0, 0, 0, 0, 0};

    (void)state;
    case_file(&c, "x", bytes, sizeof bytes);
    case_import(&c, "x");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_READ, 0, 4096, 4096, NO);
    case_record(&c, 1, 3000, BLOCK_WRITE, 0, UINT64_C(2199023255552), 512, NO); /* 2^32 * 512 */
    case_record(&c, 2, 4000, BLOCK_FLUSH, 0, 0, 0, NO);
    assert_string_equal(case_counted(&c, "other_operations"), "1");
}

static void vscsi_2(void **state)
{
    static const uint8_t bytes[] = {0x2a, 0, 0, 2, 7, 0, 0, 0, 0, 0x10, 0, 0, 1, 0, 0,
            0, /* WRITE (10), version 2, serial 7, 4,096 bytes */
            8, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, /* block 8, 100 us */
            77, 0, 0, 0, 0, 0, 0, 0,                          /* response time 77 us */
            0x88, 0, 0, 2, 8, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0,
            0, 5, 1, 0, 0, 0, 0, 0, 0};

    (void)state;
    case_file(&c, "x", bytes, sizeof bytes);
    case_import(&c, "x");
    assert_int_equal(c.count, 2);
    case_record(&c, 0, 0, BLOCK_WRITE, 0, 4096, 4096, 77000);
    case_record(&c, 1, 1000, BLOCK_READ, 0, 512, 512, 261000); /* 5 + 256 us */
    case_close(&c);
    case_open(&c);
    case_file(&c, "x", bytes, sizeof bytes - 1);
    case_import(&c, "x");
    case_refused(&c, "is cut off at byte 40: a record has 40 bytes, 39 are there");
}

/* formats/export/csv.c. */
static void export_csv(void **state)
{
    (void)state;
    import_text("t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error\n"
                "7,\"v,da\",p-1,write,fua|sync,512,18446744073709551103,9,5\n8,vdb,p-2,flush,,0,0,,\n"
                "8,vdb,\"two\nlines\",discard,,0,18446744073709551615,0,0\n");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 7, BLOCK_WRITE, BLOCK_FUA | BLOCK_SYNC, 512, UINT64_MAX - 512, 9);
    assert_int_equal(c.records[0].error, 5);
    case_record(&c, 1, 8, BLOCK_FLUSH, 0, 0, 0, NO);
    case_record(&c, 2, 8, BLOCK_DISCARD, 0, 0, UINT64_MAX, 0);
    assert_string_equal(stream_name(0), "v,da");
    assert_string_equal(tape_reader_issuer(c.reader, c.records[2].issuer), "two\nlines");
}

/* blkparse(1). Sector 223490 is byte 114426880; the completion comes 3 us after the queueing. */
static void blkparse(void **state)
{
    (void)state;
    c.opts.keep_names = true;
    import_text("Input file sda.blktrace.0 added\n"
                "  8,0    3        1     1.000000000   697  Q   R 223490 + 8 [kjournald]\n"
                "  8,0    3        2     1.000000829   697  G   R 223490 + 8 [kjournald]\n"
                "  8,0    3        3     1.000001000   697  D   R 223490 + 8 [kjournald]\n"
                "  8,0    3        4     1.000003000     0  C   R 223490 + 8 [0]\n"
                "  8,0    3        5     1.000004000   698  Q FWFSM 8 + 16 [two words]\n"
                "  8,0    3        6     1.000005000   698  Q FWS [two words]\n"
                "  8,0    3        7     1.000006000   698  Q DS 16 + 2048 [x]\n"
                "  8,0    3        8     1.000007000     0  C DS 16 + 2048 [-5]\n"
                "  8,0    3        9     1.000008000     0  m   N cfq message\n"
                "CPU3 (sda):\n Reads Queued:           1,        4KiB\n");
    assert_int_equal(c.count, 4);
    case_record(&c, 0, 0, BLOCK_READ, 0, 114426880, 4096, 3000);
    case_record(
            &c, 1, 4000, BLOCK_WRITE, BLOCK_PREFLUSH | BLOCK_FUA | BLOCK_SYNC | BLOCK_META, 4096, 8192, NO);
    case_record(&c, 2, 5000, BLOCK_FLUSH, BLOCK_SYNC, 0, 0, NO);
    case_record(&c, 3, 6000, BLOCK_DISCARD, BLOCK_SYNC, 8192, 1048576, 1000);
    assert_int_equal(c.records[3].error, 5);
    assert_string_equal(stream_name(0), "8:0");
    assert_string_equal(tape_reader_issuer(c.reader, c.records[1].issuer), "two words/698");
}

/* fio's HOWTO, "Trace file format v2": a wait is in microseconds and relative to the one before. */
static void fio_2(void **state)
{
    (void)state;
    import_text(
            "fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n/dev/sdb read 0 4096\n/dev/sdb wait 250 0\n"
            "/dev/sdb write 4096 8192\n/dev/sdb wait 50 0\n/dev/sdb sync 0 0\n/dev/sdb close\n");
    assert_int_equal(c.count, 3);
    case_record(&c, 0, 0, BLOCK_READ, 0, 0, 4096, NO);
    case_record(&c, 1, 250000, BLOCK_WRITE, 0, 4096, 8192, NO);
    case_record(&c, 2, 300000, BLOCK_FLUSH, 0, 0, 0, NO);
    assert_string_equal(stream_name(0), "sdb");
}

/* fio's HOWTO, "Log File Formats": ms, ns, direction, length, offset. In the order of completion. */
static void fio_latencies(void **state)
{
    static const char *const names[] = {"x", "lat"};
    static const char log[] =
            "fio version 3 iolog\n0 d read 0 4096\n1 d write 4096 512\n2 d read 0 4096\n3 d sync 0 0\n"
            "4 d read 9 1\n";
    static const char lat[] = "0, 2000, 1, 512, 4096, 0\n0, 5000, 0, 4096, 0, 0\n0, 3000, 0, 4096, 0, 0\n";

    (void)state;
    case_file(&c, "x", log, strlen(log));
    case_file(&c, "lat", lat, strlen(lat));
    case_import_files(&c, names, 2, NULL);
    assert_int_equal(c.count, 5);
    case_record(&c, 0, 0, BLOCK_READ, 0, 0, 4096, 5000);
    case_record(&c, 1, 1000, BLOCK_WRITE, 0, 4096, 512, 2000);
    case_record(&c, 2, 2000, BLOCK_READ, 0, 0, 4096, 3000);
    case_record(&c, 3, 3000, BLOCK_FLUSH, 0, 0, 0, NO);
    case_record(&c, 4, 4000, BLOCK_READ, 0, 9, 1, NO);
    assert_string_equal(case_counted(&c, "without_latency"), "1");
}

/* Two reads of a fast disk, 20 us apart, logged in ns: read as us they last 20 ms, a thousand times 2 * (10
 * us + 1 ns). */
static void fio_unit(void **state)
{
    static const char log[] = "fio version 3 iolog\n0 d read 0 1\n30000 d read 1 1\n";

    (void)state;
    import_text(log);
    case_record(&c, 1, 30000000, BLOCK_READ, 0, 1, 1, NO);
    assert_non_null(strstr(c.note, "--time-unit ns"));
    case_close(&c);
    case_open(&c);
    c.opts.time_unit_ns = 1;
    import_text(log);
    case_record(&c, 1, 30000, BLOCK_READ, 0, 1, 1, NO);
    assert_string_equal(c.note, "");
}

/* --only and --from, --for: what the tape then holds. */
static void part(void **state)
{
    static const char *const only[] = {"2"};

    (void)state;
    c.opts.part = (struct import_part){only, 1, 1500, 2000};
    import_text("1,R,0,1,10\n2,R,1,1,11\n2,R,2,1,12\n1,R,3,1,12\n2,R,4,1,13\n2,R,5,1,14\n");
    assert_int_equal(c.count, 2);
    case_record(
            &c, 0, 500, BLOCK_READ, 0, 2, 1, NO); /* 2 us after the trace's begin, of which 1.5 are cut off */
    case_record(&c, 1, 1500, BLOCK_READ, 0, 4, 1, NO);
    assert_int_equal(c.elapsed_ns, 2000);
    assert_int_equal(tape_reader_stream_count(c.reader), 1);
}

#define CSV "t_ns,stream,issuer,op,flags,offset_bytes,len_bytes,latency_ns,error\n"

static const struct {
    const char *text, *wanted;
} refused[] = {
        {"1,R,0,1,10\n1,R,0,1\n", "x':2: 4 cells instead of 5"},
        {"1,R,0,1,10\n1,X,0,1,11\n", "x':2: opcode 'X'"},
        {"1,R,0,1,10\n1,R,-1,1,11\n", "x':2: offset '-1' is not a number"},
        {"1,R,0,1,10\n1,R,18446744073709551615,2,11\n",
                "x':2: offset 18446744073709551615 and length 2 exceed"},
        {"1,R,0,1,10\n1,R,18446744073709551616,1,11\n", "x':2: offset '18446744073709551616' is too large"},
        {"1,R,0,1,18446744073709552\n", "x':1: time stamp '18446744073709552' is too large"},
        {"1,R,0,1,10\n1,R,0,1,1", "x':2: the last line is cut off at byte 20"},
        {"1,R,0,1,10\n\n1,R,0,1,11\n", "x':2: the line is empty"},
        {"1,R,0,1,10\n1,R,\"0,1,11\n", "quoted cell does not end"},
        {"1,R,0,1,10\n1,R,0\"0,1,11\n", "x':2: quotes within a cell"},
        {"1,R,0,1,10\n\"1,R,0,1,11\n", "quoted cell does not end"},
        {"1,R,0,1,10\n1,R,0,1,11\r1,R,0,1,12\n", "x':2: a carriage return ends a row within the line"},
        {"0,1,512,R,0.0000000001\n", "x':1: time stamp '0.0000000001' is finer than can be kept"},
        {"1538323200,1,1,2,1\n", "x':1: IOType '2'"},
        {"128166372003061629,u,0,Trim,0,1,1\n", "x':1: type 'Trim'"},
        {"1,512,1,read,8,9\n", "may be spc or vscsistats: say which with --format"},
        {"  8,0 3 1 0.000000001 697 Q R 1 + 8 [x]\n  8,0 3 1 zz 697 Q R 1 + 8 [x]\n", "x':2: time 'zz'"},
        {"  8,0 3 1 0.000000001 697 Q R 1 + 8 [x]\n  8,0 3\n", "x':2: 2 fields"},
        /* Times of 2^63 ns and more, from the begin or, where they count from an epoch, apart. */
        {CSV "5,a,p,read,,0,1,,\n18446744073709551615,a,p,read,,0,1,,\n",
                "x':3: with the time 18446744073709551615 ns the trace would last 2^63 ns"},
        {CSV "9223372036854775808,a,p,read,,0,1,,\n", "x':2: with the time 9223372036854775808 ns"},
        {CSV "5,a,p,read,,0,1,9223372036854775808,\n", "x':2: latency 9223372036854775808 ns is 2^63 ns"},
        {CSV "5,a,p,read,,0,1,18446744073709551615,\n", "x':2: latency 18446744073709551615 ns is 2^63 ns"},
        {"1,R,0,1,18446744073709551\n1,R,0,1,10\n", "x':2: with the time 10000 ns the trace would last"},
        {"128166372003061629,u,0,Read,0,1,92233720368547759\n", "x':1: latency 9223372036854775900 ns"},
        {"fio version 3 iolog\n0 d read 0 1\n9223372036854776 d write 0 1\n",
                "x':3: the time 9223372036854776000 ns is 2^63 ns"},
        {"  8,0 3 1 0.5 697 Q R 1 + 8 [x]\n  8,0 3 2 9223372037.5 697 Q R 1 + 8 [x]\n",
                "x':2: with the time 9223372037500000000 ns"},
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        case_close(&c);
        case_open(&c);
        case_file(&c, "x", refused[i].text, strlen(refused[i].text));
        case_import(&c, "x");
        case_refused(&c, refused[i].wanted);
    }
}

static void skip_bad(void **state)
{
    (void)state;
    c.opts.skip_bad = true;
    import_text("1,R,0,1,10\nrubbish\n1,R,7,1,11\n\n1,R,\"8\"x,1,12\n1,R,9,1,13\n1,R,9,1,1");
    assert_int_equal(c.count, 3);
    case_record(&c, 2, 3000, BLOCK_READ, 0, 9, 1, NO);
    assert_string_equal(case_counted(&c, "bad"), "4");
}

/* The largest times that are kept, and what --skip-bad does with larger ones: none goes silently. */
static void latest_times(void **state)
{
    (void)state;
    c.opts.skip_bad = true;
    import_text(CSV "0,a,p,read,,0,1,,\n9223372036854775807,a,p,read,,1,1,9223372036854775807,\n"
                    "9223372036854775808,a,p,read,,2,1,,\n18446744073709551615,a,p,read,,3,1,,\n"
                    "9223372036854775807,a,p,write,,4,1,9223372036854775808,\n");
    assert_int_equal(c.count, 2);
    case_record(&c, 1, INT64_MAX, BLOCK_READ, 0, 1, 1, INT64_MAX);
    assert_int_equal(c.elapsed_ns, INT64_MAX);
    assert_string_equal(case_counted(&c, "bad"), "3");
}

/* Equal times keep their order; earlier ones move to their place, and are counted. */
static void out_of_order(void **state)
{
    static const uint64_t offsets[] = {2, 4, 1, 3};

    (void)state;
    import_text("1,R,1,1,9\n1,R,2,1,5\n1,R,3,1,9\n1,R,4,1,5\n");
    for (int i = 0; i < 4; i++)
        assert_int_equal(c.records[i].offset_bytes, offsets[i]);
    assert_string_equal(case_counted(&c, "out_of_order"), "2");
    case_close(&c);
    case_open(&c);
    c.opts.window = 2;
    case_file(&c, "x", "1,R,1,1,7\n1,R,2,1,8\n1,R,3,1,9\n1,R,4,1,5\n", 40);
    case_import(&c, "x");
    case_refused(&c, "x':4: the time goes back further than can be sorted (2 records; --sort-window");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
            TEST(alibaba),
            TEST(tencent),
            TEST(msr),
            TEST(msr_with_names),
            TEST(msr_merged),
            TEST(spc),
            TEST(spc_unit),
            TEST(vscsistats),
            TEST(vscsi_1),
            TEST(vscsi_2),
            TEST(export_csv),
            TEST(blkparse),
            TEST(fio_2),
            TEST(fio_latencies),
            TEST(fio_unit),
            TEST(part),
            TEST(refusals),
            TEST(skip_bad),
            TEST(latest_times),
            TEST(out_of_order),
    };
    return cmocka_run_group_tests_name("import_formats", tests, NULL, NULL);
}
