/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What may be on a target after which I/O, on a disk of 16 blocks in memory.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay/verify.h"

#define DISK 65536
#define SEED 7
#define BASE (UINT64_C(3) << 40) /* where the disk lies on its target */

struct world {
    struct verify *v;
    char disk[DISK];
    uint32_t repetition;
};

static struct content_write by(const struct world *w, uint64_t record)
{
    return (struct content_write){
            .seed = SEED, .record = record, .repetition = w->repetition, .recipe = {.verify = true}};
}

/* Only on the disk. */
static void store(struct world *w, uint64_t record, uint64_t at, uint64_t len)
{
    struct content_write c = by(w, record);
    content_make(w->disk + at, BASE + at, len, &c);
}

/* Only what is expected. */
static void expect(struct world *w, enum block_op op, uint64_t record, uint64_t at, uint64_t len, bool sure)
{
    struct err e = {0};
    struct content_write c = by(w, record);
    assert_int_equal(verify_changed(w->v, op, BASE + at, len, &c, sure, &e), 0);
}

static void do_write(struct world *w, uint64_t record, uint64_t at, uint64_t len)
{
    store(w, record, at, len);
    expect(w, BLOCK_WRITE, record, at, len, true);
}

/* How many blocks are found wrong. */
static unsigned wrong(struct world *w)
{
    uint64_t before = verify_counts(w->v).wrong;
    verify_look(w->v, w->disk, BASE, DISK);
    return (unsigned)(verify_counts(w->v).wrong - before);
}

/* The first thing that is found is this. */
static void first_is(struct world *w, const char *text)
{
    struct err e = {0};
    wrong(w);
    assert_int_equal(verify_outcome(w->v, &e), -EIO);
    if (!strstr(e.text, text))
        fail_msg("'%s' is not in '%s'", text, e.text);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct ranges touched = {0};
    struct err e = {0};
    w->repetition = 1;
    assert_int_equal(ranges_add(&touched, BASE, DISK, &e), 0);
    assert_int_equal(verify_open(&w->v, "disk", &touched, SEED, &e), 0);
    ranges_release(&touched);
    do_write(w, 0, 0, DISK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    verify_close(w->v);
    free(w);
    return 0;
}

static void all_right(void **state)
{
    struct world *w = *state;
    struct err e = {0};
    assert_int_equal(wrong(w), 0);
    do_write(w, 1, 4096, 8192);
    do_write(w, 2, 4608, 512);         /* part of a block */
    do_write(w, 3, 8192 + 3584, 1024); /* parts of two */
    assert_int_equal(wrong(w), 0);
    do_write(w, 4, 4096, 8192); /* and whole again */
    assert_int_equal(wrong(w), 0);
    assert_int_equal(verify_outcome(w->v, &e), 0);
    assert_true(verify_counts(w->v).blocks == 48);
}

static void lost(void **state)
{
    struct world *w = *state;
    expect(w, BLOCK_WRITE, 5, 8192, 4096, true);
    assert_int_equal(wrong(w), 1);
    first_is(w, "byte 3298534891520: expected record 5 of repetition 1, found the fill before repetition 1 "
                "(lost or stale)");
}

static void lost_of_a_later_repetition(void **state)
{
    struct world *w = *state;
    do_write(w, 5, 8192, 4096);
    w->repetition = 2;
    expect(w, BLOCK_WRITE, 5, 8192, 4096, true);
    first_is(w, "expected record 5 of repetition 2, found record 5 of repetition 1 (lost or stale)");
}

static void lost_where_nothing_was(void **state)
{
    struct world *w = *state;
    expect(w, BLOCK_WRITE, 5, 8192, 4096, true);
    memset(w->disk + 8192, 0, 4096);
    first_is(w, "expected record 5 of repetition 1, found zeros (lost)");
}

static void misplaced(void **state)
{
    struct world *w = *state;
    store(w, 5, 8192, 4096);
    expect(w, BLOCK_WRITE, 5, 8192, 4096, true);
    memcpy(w->disk + 4096, w->disk + 8192, 4096); /* also there */
    assert_int_equal(wrong(w), 1);
    first_is(w, "byte 3298534887424: expected the fill before repetition 1, found record 5 of repetition 1, "
                "which belongs at byte "
                "3298534891520 (misplaced)");
}

static void torn_between_sectors(void **state)
{
    struct world *w = *state;
    do_write(w, 5, 8192, 8192);
    w->repetition = 2;
    expect(w, BLOCK_WRITE, 9, 8192, 8192, true);
    store(w, 9, 8192, 4096 + 1536);
    assert_int_equal(wrong(w), 1);
    first_is(w,
            "byte 3298534897152: expected record 9 of repetition 2, found record 5 of repetition 1 (torn)");
}

/* The end of a write is there and its beginning is not. */
static void torn_the_other_way(void **state)
{
    struct world *w = *state;
    expect(w, BLOCK_WRITE, 9, 8192, 4096, true);
    store(w, 9, 8192 + 1024, 3072);
    first_is(w, "byte 3298534891520: expected record 9 of repetition 1, found the fill before repetition 1 "
                "(torn)");
}

static void torn_within_a_sector(void **state)
{
    struct world *w = *state;
    char old[512];
    memcpy(old, w->disk + 8192, 512);
    do_write(w, 5, 8192, 4096);
    memcpy(w->disk + 8192 + 256, old + 256, 256);
    first_is(w, "found the header of record 5 of repetition 1, CRC32C ");
}

/* Any bit that changes is seen. */
static void any_bit(void **state)
{
    struct world *w = *state;
    for (unsigned i = 0; i < 1024; i++) {
        w->disk[8192 + i] ^= (char)(1 << i % 8);
        assert_int_equal(wrong(w), 1);
        w->disk[8192 + i] ^= (char)(1 << i % 8);
    }
    assert_int_equal(wrong(w), 0);
}

static void other_data(void **state)
{
    struct world *w = *state;
    memset(w->disk + 8192, 'x', 512);
    first_is(w, "found data that were not written to be verified, 78 78 78 78 ...");
}

static void another_seed(void **state)
{
    struct world *w = *state;
    struct content_write c = {.seed = SEED + 1, .record = 5, .repetition = 1, .recipe = {.verify = true}};
    expect(w, BLOCK_WRITE, 5, 8192, 4096, true);
    content_make(w->disk + 8192, BASE + 8192, 4096, &c);
    first_is(w, "found record 5 of repetition 1, of seed 8");
}

/* After a failed write old or new is right, sector by sector, and nothing else. */
static void failed_write(void **state)
{
    struct world *w = *state;
    do_write(w, 3, 8192, 4096);
    do_write(w, 5, 8192, 4096);
    expect(w, BLOCK_WRITE, 6, 8192, 4096, false);
    assert_int_equal(wrong(w), 0);
    store(w, 6, 8192, 1024);
    assert_int_equal(wrong(w), 0);
    store(w, 6, 8192, 4096);
    assert_int_equal(wrong(w), 0);
    store(w, 3, 8192, 512); /* older than the old one */
    assert_int_equal(wrong(w), 1);
    first_is(w, "expected record 6 of repetition 1 or older, from record 5 of repetition 1, found record 3");
    do_write(w, 7, 8192, 4096);
    assert_int_equal(wrong(w), 0);
    store(w, 6, 8192, 4096); /* no longer right */
    assert_int_equal(wrong(w), 1);
}

static void failed_write_of_a_part(void **state)
{
    struct world *w = *state;
    expect(w, BLOCK_WRITE, 6, 8192, 1024, false);
    store(w, 6, 8192, 1024);
    assert_int_equal(wrong(w), 0);
    store(w, 6, 8192, 4096);
    assert_int_equal(wrong(w), 1);
}

/* After a discard zeros or what was there before; after write-zeroes zeros. */
static void discarded_and_zeroed(void **state)
{
    struct world *w = *state;
    do_write(w, 5, 8192, 4096);
    expect(w, BLOCK_DISCARD, 6, 8192, 4096, true);
    assert_int_equal(wrong(w), 0);
    memset(w->disk + 8192, 0, 2048);
    assert_int_equal(wrong(w), 0);
    expect(w, BLOCK_WRITE_ZEROES, 7, 8192, 4096, true);
    assert_int_equal(wrong(w), 1); /* the half that is not zero */
    first_is(w, "byte 3298534893568: expected zeros, found record 5 of repetition 1");
    memset(w->disk + 8192, 0, 4096);
    assert_int_equal(wrong(w), 0);
    do_write(w, 8, 8192, 512);
    assert_int_equal(wrong(w), 0);
    memset(w->disk + 8192, 0, 512); /* but not where something was written since */
    assert_int_equal(wrong(w), 1);
}

static void failed_zeroing(void **state)
{
    struct world *w = *state;
    do_write(w, 5, 8192, 4096);
    expect(w, BLOCK_WRITE_ZEROES, 7, 8192, 4096, false);
    assert_int_equal(wrong(w), 0);
    memset(w->disk + 8192, 0, 4096);
    assert_int_equal(wrong(w), 0);
    memset(w->disk + 12288, 0, 4096); /* the next one was not zeroed */
    assert_int_equal(wrong(w), 1);
}

/* What was not touched is not looked at; parts are freed and used again. */
static void beyond_and_reuse(void **state)
{
    struct world *w = *state;
    char other[4096] = "not ours";
    uint64_t looked = verify_counts(w->v).blocks;
    verify_look(w->v, other, BASE + DISK, sizeof other);
    expect(w, BLOCK_WRITE, 5, DISK, 4096, true);
    assert_true(verify_counts(w->v).blocks == looked);
    for (unsigned i = 0; i < 5000; i++) {
        do_write(w, 1 + i, i * 4096 % DISK, 512);
        do_write(w, 1 + i, i * 4096 % DISK, 4096);
    }
    for (unsigned i = 0; i < 1000; i++)
        do_write(w, 10000 + i, i * 1536 % (DISK - 2048), 1536);
    assert_int_equal(wrong(w), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(all_right), TEST(lost), TEST(lost_of_a_later_repetition),
            TEST(lost_where_nothing_was), TEST(misplaced), TEST(torn_between_sectors),
            TEST(torn_the_other_way), TEST(torn_within_a_sector), TEST(any_bit), TEST(other_data),
            TEST(another_seed), TEST(failed_write), TEST(failed_write_of_a_part), TEST(discarded_and_zeroed),
            TEST(failed_zeroing), TEST(beyond_and_reuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
