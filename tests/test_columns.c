/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Columns: bytes worked out by hand from TAPE.md, round trips at the edges of blocks and of 64 bits,
 * refusals.
 */
#include "tests/tape_samples.h"

#include <errno.h>

#include "formats/columns.h"
#include "formats/planes.h"

/* 5, 1005, 305: least 5; differences 0, 1000, 300 have 2 zero bits (1000 = 8 * 125, 300 = 4 * 75): 0, 250, 75
 * in one plane. */
static void planes_by_hand(void **state)
{
    (void)state;
    const uint64_t x[] = {5, 1005, 305};
    uint8_t out[8] = {0};
    uint64_t back[3];
    struct planes p = planes_measure(x, 3);
    assert_int_equal(p.base, 5);
    assert_int_equal(p.shift, 2);
    assert_int_equal(p.width, 1);
    planes_write(x, 3, p, out);
    const uint8_t want[8] = {0, 250, 75};
    assert_memory_equal(out, want, sizeof want);
    planes_read(out, 3, p, 0, 3, back);
    assert_memory_equal(back, x, sizeof x);
}

/* -2, 0x10203: least -2 as a signed number; the difference 0x10205 takes three planes, lowest byte first. */
static void planes_of_several_bytes(void **state)
{
    (void)state;
    const uint64_t x[] = {UINT64_MAX - 1, 0x10203};
    uint8_t out[6];
    struct planes p = planes_measure(x, 2);
    assert_int_equal(p.base, UINT64_MAX - 1);
    assert_int_equal(p.shift, 0);
    assert_int_equal(p.width, 3);
    planes_write(x, 2, p, out);
    const uint8_t want[6] = {0, 0x05, 0, 0x02, 0, 0x01};
    assert_memory_equal(out, want, sizeof want);
}

#define KINDS 6
static const struct column_spec spec[KINDS] = {
        {"stream", 4, COLUMN_VALUE, false},
        {"len", 8, COLUMN_VALUE, false},
        {"small", 1, COLUMN_VALUE, false},
        {"time", 8, COLUMN_DELTA, true},
        {"lag", 8, COLUMN_LAG, false},
        {"place", 8, COLUMN_END, false},
};

struct table {
    uint32_t stream[COLUMNS_COUNT_MAX];
    uint64_t len[COLUMNS_COUNT_MAX], time[COLUMNS_COUNT_MAX], lag[COLUMNS_COUNT_MAX],
            place[COLUMNS_COUNT_MAX];
    uint8_t small[COLUMNS_COUNT_MAX];
};
static struct table in, out;

static void arrays(struct table *t, void *list[KINDS])
{
    void *all[KINDS] = {t->stream, t->len, t->small, t->time, t->lag, t->place};
    memcpy(list, all, sizeof all);
}

/* `packed` outlives what refers to it. */
static int round_trip(uint32_t count, struct bytes *packed, struct err *e)
{
    void *from[KINDS], *to[KINDS];
    struct columns *c;
    struct unpacked *u = NULL;
    struct packer p = {.out = packed};
    packed->len = 0;
    arrays(&in, from);
    arrays(&out, to);
    assert_done(columns_open(&c, true, e), *e);
    columns_pack(c, spec, (const void *const *)from, KINDS, count, &p);
    assert_done(packer_end(&p, e), *e);
    assert_done(unpack(&u, packed->data, packed->len, 100, e), *e);
    int r = columns_unpack(c, spec, to, KINDS, count, unpacked_root(u), e);
    unpacked_release(&u);
    columns_close(c);
    return r;
}

static void assert_round_trip(uint32_t count)
{
    struct err e = {0};
    struct bytes packed = {0};
    memset(&out, 0xee, sizeof out);
    assert_done(round_trip(count, &packed, &e), e);
    assert_memory_equal(out.stream, in.stream, count * sizeof *in.stream);
    assert_memory_equal(out.len, in.len, count * sizeof *in.len);
    assert_memory_equal(out.small, in.small, count * sizeof *in.small);
    assert_memory_equal(out.time, in.time, count * sizeof *in.time);
    assert_memory_equal(out.lag, in.lag, count * sizeof *in.lag);
    assert_memory_equal(out.place, in.place, count * sizeof *in.place);
    bytes_release(&packed);
}

static void fill(uint64_t seed, uint64_t mask, uint32_t streams)
{
    uint64_t state = seed, t = 0;
    for (uint32_t i = 0; i < COLUMNS_COUNT_MAX; i++) {
        uint64_t a = random_next(&state);
        in.stream[i] = (uint32_t)(a >> 33) % streams * (streams > 2 ? 17 : 1);
        in.len[i] = random_next(&state) & mask;
        in.small[i] = (uint8_t)(a >> 20 & mask);
        t += (random_next(&state) & mask) / COLUMNS_COUNT_MAX;
        in.time[i] = t;
        in.lag[i] = random_next(&state) & mask;
        in.place[i] = random_next(&state) & mask;
    }
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 2, 3, 383, 384, 2047, 2048, 2049, 4097, 65535, 65536};
    const uint64_t masks[] = {0, 1, 0xff, 0x1ff000, 0xffffffff, UINT64_C(0xfffffffff), UINT64_MAX};
    const uint32_t streams[] = {1, 2, 240};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        fill(m, masks[m], streams[m % 3]);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            assert_round_trip(counts[i]);
    }
}

/* The first time is below the smallest step: `start` lies below zero. */
static void times_begin_anywhere(void **state)
{
    (void)state;
    fill(1, 0xffff, 1);
    for (uint32_t i = 0; i < 100; i++)
        in.time[i] = 5 + i * 1000;
    assert_round_trip(100);
    for (uint32_t i = 0; i < 100; i++)
        in.time[i] = UINT64_MAX - 99 + i;
    assert_round_trip(100);
    in.time[0] = 0; /* one step over the whole range */
    assert_round_trip(100);
}

/* Sequential places cost nothing, whatever the streams interleave; constants neither. */
static void regular_columns_are_empty(void **state)
{
    (void)state;
    struct err e = {0};
    struct bytes packed = {0};
    fill(2, 0, 1);
    for (uint32_t i = 0; i < COLUMNS_COUNT_MAX; i++) {
        in.len[i] = 4096;
        in.time[i] = 10 * i;
        in.lag[i] = 10 * i;
        in.place[i] = 777 + 4096 * (uint64_t)i;
    }
    assert_done(round_trip(COLUMNS_COUNT_MAX, &packed, &e), e);
    assert_true(packed.len < 200);
    for (uint32_t i = 0; i < COLUMNS_COUNT_MAX; i++) {
        in.stream[i] = i % 2;
        in.place[i] = 777 + 4096 * (uint64_t)(i / 2);
    }
    assert_done(round_trip(COLUMNS_COUNT_MAX, &packed, &e), e);
    assert_true(packed.len < 200 + COLUMNS_COUNT_MAX); /* the streams' plane */
    bytes_release(&packed);
}

/* ---- refusals ---- */

static int unpack_one(const struct column_spec *s, const char *coding, uint64_t shift, size_t len,
        uint8_t fill_byte, uint32_t count)
{
    struct err e = {0};
    struct bytes b = {0};
    struct packer p = {.out = &b};
    struct unpacked *u = NULL;
    struct columns *c;
    void *list[] = {out.place};
    pack_map(&p, 1);
    pack_str(&p, s->name);
    pack_array(&p, 5);
    pack_str(&p, coding);
    pack_int(&p, 0);
    pack_uint(&p, shift);
    pack_uint(&p, 0);
    memset(pack_bin_room(&p, len), fill_byte, len);
    assert_done(columns_open(&c, false, &e), e);
    assert_done(unpack(&u, b.data, b.len, 100, &e), e);
    int r = columns_unpack(c, s, list, 1, count, unpacked_root(u), &e);
    unpacked_release(&u);
    columns_close(c);
    bytes_release(&b);
    return r;
}

static void malformed_columns_are_refused(void **state)
{
    (void)state;
    const struct column_spec value = {"x", 8, COLUMN_VALUE, false}, byte = {"x", 1, COLUMN_VALUE, false},
                             time = {"x", 8, COLUMN_DELTA, true}, steps = {"x", 8, COLUMN_DELTA, false};
    assert_int_equal(unpack_one(&value, "value", 0, 20, 1, 10), 0);
    assert_int_equal(unpack_one(&value, "value", 63, 80, 1, 10), 0);
    assert_int_equal(unpack_one(&value, "value", 64, 20, 1, 10), -EBADMSG); /* shift */
    assert_int_equal(unpack_one(&value, "value", 0, 21, 1, 10), -EBADMSG);  /* no whole plane */
    assert_int_equal(unpack_one(&value, "value", 0, 90, 1, 10), -EBADMSG);  /* nine planes */
    assert_int_equal(unpack_one(&value, "delta", 0, 20, 1, 10), -EBADMSG);  /* another coding */
    assert_int_equal(unpack_one(&value, "gzip", 0, 20, 1, 10), -EBADMSG);
    assert_int_equal(unpack_one(&value, "value", 0, 0, 1, 0), -EBADMSG); /* no records */
    assert_int_equal(unpack_one(&value, "value", 0, 65537, 1, 65537), -EBADMSG);
    assert_int_equal(unpack_one(&byte, "value", 0, 10, 255, 10), 0);
    assert_int_equal(unpack_one(&byte, "value", 1, 10, 255, 10), -EBADMSG); /* 510 in a byte */
    assert_int_equal(unpack_one(&time, "delta", 0, 10, 255, 10), 0);
    assert_int_equal(unpack_one(&time, "delta", 0, 80, 255, 10), -EBADMSG); /* steps of -1 */
    assert_int_equal(unpack_one(&steps, "delta", 0, 80, 255, 10), 0);
}

/* What an array or map of 2^32 elements announces is compared with what is there before anything is
 * allocated. */
static void hostile_msgpack_is_refused(void **state)
{
    (void)state;
    struct err e = {0};
    struct unpacked *u = NULL;
    const struct {
        size_t len;
        const char *bytes;
    } bad[] = {{5, "\xdd\xff\xff\xff\xff"}, {5, "\xdf\xff\xff\xff\xff"}, {5, "\xc6\xff\xff\xff\xff"}, {0, ""},
            {2, "\x01\x02"}, {1, "\xc1"}, {9, "\x91\x91\x91\x91\x91\x91\x91\x91\x90"}, {2, "\xd4\x01"},
            {1, "\xcf"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(unpack(&u, bad[i].bytes, bad[i].len, 100, &e), -EBADMSG);
        assert_null(u);
    }
    assert_done(unpack(&u, "\x91\x91\x91\x91\x91\x91\x91\x90", 8, 7, &e), e);
    unpacked_release(&u);
    assert_int_equal(
            unpack(&u, "\x91\x91\x91\x91\x91\x91\x91\x90", 8, 6, &e), -EBADMSG); /* one object too many */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(planes_by_hand),
            cmocka_unit_test(planes_of_several_bytes),
            cmocka_unit_test(what_goes_in_comes_out),
            cmocka_unit_test(times_begin_anywhere),
            cmocka_unit_test(regular_columns_are_empty),
            cmocka_unit_test(malformed_columns_are_refused),
            cmocka_unit_test(hostile_msgpack_is_refused),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
