/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "replay/content.h"
#include "replay/crc32c.h"

/* splitmix64 as published (https://prng.di.unimi.it/splitmix64.c), state and all. */
static uint64_t published_next(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static const struct content_recipe plain;
static const struct content_write fill = {.seed = 7};
static const struct content_write write_5 = {.seed = 7, .record = 5, .repetition = 2};

/* The generator's first outputs for 1234567, as Rosetta Code lists them ("Pseudo-random numbers/Splitmix64").
 */
static void published_values(void **state)
{
    (void)state;
    uint64_t x = 1234567;
    assert_true(published_next(&x) == UINT64_C(6457827717110365317));
    assert_true(published_next(&x) == UINT64_C(3203168211198807973));
    assert_true(published_next(&x) == UINT64_C(9817491932198370423));
    assert_true(published_next(&x) == UINT64_C(4593380528125082431));
    assert_true(published_next(&x) == UINT64_C(16408922859458223821));
}

/* Sectors without a header are their key and what splitmix64 makes of it. */
static void sectors_follow_their_key(void **state)
{
    (void)state;
    uint64_t block[512];
    content_make(block, 3 * 4096, 4096, &write_5);
    for (int sector = 1; sector < 8; sector++) {
        const uint64_t *word = block + 64 * sector;
        uint64_t x = word[0];
        for (int j = 1; j < 64; j++)
            assert_true(word[j] == published_next(&x));
    }
}

/* The header as content.h lays it out. */
static void header_says_what_it_is(void **state)
{
    (void)state;
    uint8_t block[4096];
    content_make(block, 3 * 4096, 4096, &write_5);
    assert_memory_equal(block, "\x89iotape\n", 8);
    const uint8_t wanted[] = {1, 0, 0, 0, 0, 0, 0, 0, /* recipe, CRC32C */
            7, 0, 0, 0, 0, 0, 0, 0,                   /* seed */
            0, 0x30, 0, 0, 0, 0, 0, 0,                /* place 12288 */
            5, 0, 0, 0, 0, 0, 0, 0,                   /* record */
            2, 0, 0, 0, 0, 0, 0, 0};                  /* repetition */
    assert_memory_equal(block + 8, wanted, sizeof wanted);
}

static void data_is_a_function_of_seed_place_and_write(void **state)
{
    (void)state;
    uint8_t a[4096], b[4096];
    struct content_write other = write_5;
    content_make(a, 4096, 4096, &write_5);
    content_make(b, 4096, 4096, &write_5);
    assert_memory_equal(a, b, 4096);
    content_make(b, 8192, 4096, &write_5);
    assert_memory_not_equal(a + 64, b + 64, 4032);
    other.seed++;
    content_make(b, 4096, 4096, &other);
    assert_memory_not_equal(a + 64, b + 64, 4032);
    other = write_5;
    other.record++;
    content_make(b, 4096, 4096, &other);
    assert_memory_not_equal(a + 64, b + 64, 4032);
    other = write_5;
    other.repetition++;
    content_make(b, 4096, 4096, &other);
    assert_memory_not_equal(a + 64, b + 64, 4032);
}

/* A write of some sectors makes what the same write of all would have there. */
static void parts_of_a_block(void **state)
{
    (void)state;
    uint8_t whole[8192], part[1536];
    content_make(whole, 4096, 8192, &write_5);
    content_make(part, 4096 + 3584, 1536, &write_5);
    assert_memory_equal(part, whole + 3584, 1536);
}

static void incompressible(void **state)
{
    (void)state;
    static uint8_t data[1 << 20], packed[(1 << 20) + 65536];
    content_make(data, 0, sizeof data, &fill);
    size_t n = ZSTD_compress(packed, sizeof packed, data, sizeof data, 19);
    assert_false(ZSTD_isError(n));
    assert_true(n > sizeof data * 99 / 100 - 64 * 256); /* all but the headers */
}

static void tells_ours(void **state)
{
    (void)state;
    uint8_t block[4096] = {0};
    uint32_t at = 99;
    assert_int_equal(content_classify(block, 4096, 4096, &plain, NULL), CONTENT_ZERO);
    content_make(block, 4096, 4096, &fill);
    assert_int_equal(content_classify(block, 4096, 4096, &plain, NULL), CONTENT_OURS);
    assert_int_equal(content_classify(block, 4096, 1024, &plain, NULL), CONTENT_OURS); /* a target's end */
    assert_int_equal(
            content_classify(block, 8192, 4096, &plain, NULL), CONTENT_PARTLY); /* at another place */
    content_make(block + 1024, 4096 + 1024, 512, &write_5);
    assert_int_equal(
            content_classify(block, 4096, 4096, &plain, NULL), CONTENT_OURS); /* overwritten in part, by us */
    memset(block + 2048, 0, 512);
    assert_int_equal(
            content_classify(block, 4096, 4096, &plain, &at), CONTENT_PARTLY); /* discarded in part */
    assert_int_equal(at, 99);
}

/* Any changed bit, anywhere, makes a block foreign: nobody's data hides behind our mark. */
static void tells_foreign(void **state)
{
    (void)state;
    uint8_t block[4096];
    uint32_t at;
    content_make(block, 4096, 4096, &fill);
    for (unsigned i = 0; i < 4096; i++) {
        block[i] ^= 0x10;
        assert_int_equal(content_classify(block, 4096, 4096, &plain, &at), CONTENT_FOREIGN);
        assert_int_equal(at, i / 512 * 512);
        block[i] ^= 0x10;
    }
    memset(block, 0, sizeof block);
    block[2000] = 1;
    assert_int_equal(content_classify(block, 4096, 4096, &plain, &at), CONTENT_FOREIGN);
    assert_int_equal(at, 1536);
    memset(block, 0xff, sizeof block);
    assert_int_equal(content_classify(block, 4096, 4096, &plain, &at), CONTENT_FOREIGN);
}

/* ---- recipes ---- */

#define MANY (1024 * 4096)

static uint8_t many[MANY], packed_many[MANY + 65536];

/* Bytes that zstd leaves of 100, all together and block by block, as an array would do it. */
static double left(unsigned level, size_t piece)
{
    size_t sum = 0;
    for (size_t at = 0; at < MANY; at += piece) {
        size_t n = ZSTD_compress(packed_many, sizeof packed_many, many + at, piece, (int)level);
        assert_false(ZSTD_isError(n));
        sum += n;
    }
    return 100.0 * (double)sum / MANY;
}

/* 0 % is `incompressible`. At 100 % headers and keys remain. */
static void compressible(void **state)
{
    (void)state;
    static const uint8_t percents[] = {1, 10, 25, 33, 50, 75, 90, 100};
    for (unsigned i = 0; i < sizeof percents; i++) {
        struct content_write w = {
                .seed = 7, .record = 3, .repetition = 1, .recipe = {.compressible = percents[i]}};
        content_make(many, 0, MANY, &w);
        for (unsigned level = 1; level <= 9; level += 4) {
            double all = left(level, MANY), blocks = left(level, 4096), wanted = 100 - percents[i];
            if (all < wanted - 3 || all > wanted + 5 || blocks < wanted - 3 || blocks > wanted + 5)
                fail_msg("%u %%: zstd -%u leaves %.1f %%, block by block %.1f %%", percents[i], level, all,
                        blocks);
        }
    }
}

static void compressible_and_verified(void **state)
{
    (void)state;
    for (uint8_t percent = 10; percent <= 90; percent += 40) {
        struct content_write w = {
                .seed = 7, .record = 3, .repetition = 1, .recipe = {.compressible = percent, .verify = true}};
        content_make(many, 0, MANY, &w);
        double blocks = left(3, 4096);
        if (blocks < 100 - percent - 5 || blocks > 100 - percent + 5)
            fail_msg("%u %%: zstd leaves %.1f %%", percent, blocks);
    }
}

static int by_data(const void *a, const void *b)
{
    return memcmp(a, b, 4096);
}

static unsigned different_blocks(void)
{
    unsigned n = 1;
    qsort(many, MANY / 4096, 4096, by_data);
    for (size_t at = 4096; at < MANY; at += 4096)
        n += memcmp(many + at - 4096, many + at, 4096) != 0;
    return n;
}

/* Of 1024 blocks PCT % are duplicates, of 64 different ones: binomial, so that sigma is at most 16. */
static void duplicates(void **state)
{
    (void)state;
    for (unsigned percent = 0; percent <= 100; percent += 25) {
        struct content_write w = {
                .seed = 7, .record = 3, .repetition = 1, .recipe = {.dedupe = (uint8_t)percent}};
        content_make(many, 1 << 20, MANY, &w);
        int unique = 1024 * (100 - (int)percent) / 100, pool = percent ? 64 : 0;
        int got = (int)different_blocks();
        if (got < unique + pool - 64 || got > unique + pool + 64)
            fail_msg("%u %%: %d of 1024 blocks are different", percent, got);
        if (percent == 0 || percent == 100)
            assert_int_equal(got, unique + pool);
    }
}

/* Which is one follows from place and write, not from how the write is cut. */
static void duplicates_in_parts(void **state)
{
    (void)state;
    struct content_write w = {
            .seed = 7, .record = 3, .repetition = 1, .recipe = {.dedupe = 50, .compressible = 30}};
    uint8_t part[1024];
    content_make(many, 0, 64 * 4096, &w);
    for (unsigned at = 512; at + 1024 <= 64 * 4096; at += 1024) {
        content_make(part, at, 1024, &w);
        assert_memory_equal(part, many + at, 1024);
    }
}

/* All of it is told as ours where it is wanted, as another recipe's where it is not, and no bit may change.
 */
static void tells_recipes(void **state)
{
    (void)state;
    static const struct content_recipe recipes[] = {{0}, {.compressible = 50}, {.compressible = 51},
            {.compressible = 100}, {.dedupe = 40}, {.dedupe = 100}, {.dedupe = 100, .compressible = 100},
            {.verify = true}, {.verify = true, .compressible = 100}};
    const unsigned count = sizeof recipes / sizeof *recipes;
    for (unsigned i = 0; i < count; i++) {
        struct content_write w = {.seed = 7, .record = 3, .repetition = 1, .recipe = recipes[i]};
        content_make(many, 1 << 20, 64 * 4096, &w);
        for (unsigned k = 0; k < count; k++)
            for (unsigned at = 0; at < 64 * 4096; at += 4096)
                assert_int_equal(content_classify(many + at, (1 << 20) + at, 4096, &recipes[k], NULL),
                        i == k ? CONTENT_OURS : CONTENT_OTHER);
        for (unsigned at = 0; at < 4096; at++) {
            many[at] ^= 0x10;
            assert_int_equal(content_classify(many, 1 << 20, 4096, &recipes[i], NULL), CONTENT_FOREIGN);
            many[at] ^= 0x10;
        }
    }
}

/* A sector of another recipe within a block. */
static void tells_mixed_recipes(void **state)
{
    (void)state;
    uint8_t block[4096];
    struct content_write half = write_5;
    half.recipe.compressible = 50;
    content_make(block, 4096, 4096, &fill);
    content_make(block + 1024, 4096 + 1024, 512, &half);
    assert_int_equal(content_classify(block, 4096, 4096, &plain, NULL), CONTENT_OTHER);
    assert_int_equal(content_classify(block, 4096, 4096, &half.recipe, NULL), CONTENT_OTHER);
}

/* Nothing but zeros, or little data and zeros or one repeated word, is taken for compressible data of ours.
 */
static void repeated_data_are_foreign(void **state)
{
    (void)state;
    uint64_t block[512] = {0};
    block[64] = 5;
    assert_int_equal(content_classify(block, 4096, 4096, &plain, NULL), CONTENT_FOREIGN);
    for (unsigned i = 0; i < 512; i++)
        block[i] = 0x2020202020202020;
    assert_int_equal(content_classify(block, 4096, 4096, &plain, NULL), CONTENT_FOREIGN);
}

/* Each sector of a write that is to be verified: place, record and repetition as content.h lays them out; its
 * CRC32C counts itself as 0. */
static void verified_sectors(void **state)
{
    (void)state;
    struct content_write w = write_5;
    struct content_origin o;
    uint8_t data[8192];
    w.recipe.verify = true;
    content_make(data, 12288, sizeof data, &w);
    for (unsigned at = 0; at < sizeof data; at += 512) {
        uint8_t sector[512];
        uint64_t place;
        memcpy(sector, data + at, 512);
        memcpy(&place, sector + 24, 8);
        assert_int_equal(sector[8], 2);
        assert_true(place == 12288 + at);
        assert_int_equal(sector[32], 5);
        assert_int_equal(sector[40], 2);
        uint32_t crc = sector[12] | sector[13] << 8 | sector[14] << 16 | (uint32_t)sector[15] << 24;
        memset(sector + 12, 0, 4);
        assert_int_equal(crc32c_plain(0, sector, 512), crc);
        assert_int_equal(content_inspect(data + at, &o), CONTENT_INTACT);
        assert_true(o.seed == 7 && o.place_bytes == 12288 + at && o.record == 5 && o.repetition == 2);
    }
    data[300] ^= 1;
    assert_int_equal(content_inspect(data, &o), CONTENT_DAMAGED);
    assert_true(o.record == 5 && o.crc != o.crc_wanted);
    content_make(data, 12288, 4096, &write_5);
    assert_int_equal(content_inspect(data, &o), CONTENT_UNKNOWN);
    memset(data, 0, 512);
    assert_int_equal(content_inspect(data, &o), CONTENT_BLANK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values),
            cmocka_unit_test(sectors_follow_their_key), cmocka_unit_test(header_says_what_it_is),
            cmocka_unit_test(data_is_a_function_of_seed_place_and_write), cmocka_unit_test(parts_of_a_block),
            cmocka_unit_test(incompressible), cmocka_unit_test(tells_ours), cmocka_unit_test(tells_foreign),
            cmocka_unit_test(compressible), cmocka_unit_test(compressible_and_verified),
            cmocka_unit_test(duplicates), cmocka_unit_test(duplicates_in_parts),
            cmocka_unit_test(tells_recipes), cmocka_unit_test(tells_mixed_recipes),
            cmocka_unit_test(repeated_data_are_foreign), cmocka_unit_test(verified_sectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
