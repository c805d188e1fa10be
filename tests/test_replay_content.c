/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "replay/content.h"

/* splitmix64 as published (https://prng.di.unimi.it/splitmix64.c), state and all. */
static uint64_t published_next(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

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
    assert_int_equal(content_classify(block, 4096, 4096, NULL), CONTENT_ZERO);
    content_make(block, 4096, 4096, &fill);
    assert_int_equal(content_classify(block, 4096, 4096, NULL), CONTENT_OURS);
    assert_int_equal(content_classify(block, 4096, 1024, NULL), CONTENT_OURS);   /* a target's end */
    assert_int_equal(content_classify(block, 8192, 4096, NULL), CONTENT_PARTLY); /* at another place */
    content_make(block + 1024, 4096 + 1024, 512, &write_5);
    assert_int_equal(
            content_classify(block, 4096, 4096, NULL), CONTENT_OURS); /* overwritten in part, by us */
    memset(block + 2048, 0, 512);
    assert_int_equal(content_classify(block, 4096, 4096, &at), CONTENT_PARTLY); /* discarded in part */
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
        assert_int_equal(content_classify(block, 4096, 4096, &at), CONTENT_FOREIGN);
        assert_int_equal(at, i / 512 * 512);
        block[i] ^= 0x10;
    }
    memset(block, 0, sizeof block);
    block[2000] = 1;
    assert_int_equal(content_classify(block, 4096, 4096, &at), CONTENT_FOREIGN);
    assert_int_equal(at, 1536);
    memset(block, 0xff, sizeof block);
    assert_int_equal(content_classify(block, 4096, 4096, &at), CONTENT_FOREIGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values),
            cmocka_unit_test(sectors_follow_their_key), cmocka_unit_test(header_says_what_it_is),
            cmocka_unit_test(data_is_a_function_of_seed_place_and_write), cmocka_unit_test(parts_of_a_block),
            cmocka_unit_test(incompressible), cmocka_unit_test(tells_ours), cmocka_unit_test(tells_foreign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
