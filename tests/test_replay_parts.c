/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The small parts of iotape-replay: sets of blocks, fitting, percentiles, the order of repetitions, buffers.
 */
#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/block.h"
#include "replay/buffers.h"
#include "replay/fit.h"
#include "replay/lateness.h"
#include "replay/ranges.h"
#include "replay/repeat.h"

/* ---- ranges ---- */

struct seen {
    uint64_t offset[8], len[8];
    unsigned count;
};

static int note_part(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    (void)e;
    struct seen *s = context;
    assert_true(s->count < 8);
    s->offset[s->count] = offset_bytes;
    s->len[s->count++] = len_bytes;
    return 0;
}

static void ranges_are_blocks(void **state)
{
    (void)state;
    struct ranges r = {0};
    struct err e = {0};
    assert_int_equal(ranges_add(&r, 4095, 2, &e), 0);  /* blocks 0 and 1 */
    assert_int_equal(ranges_add(&r, 8192, 1, &e), 0);  /* block 2 */
    assert_int_equal(ranges_add(&r, 40960, 0, &e), 0); /* none */
    assert_true(ranges_bytes(&r) == 3 * 4096);
    assert_true(ranges_has(&r, 0) && ranges_has(&r, 12287));
    assert_false(ranges_has(&r, 12288));
    struct seen s = {0};
    assert_int_equal(ranges_each(&r, 8192, note_part, &s, &e), 0);
    assert_int_equal(s.count, 2);
    assert_true(s.offset[0] == 0 && s.len[0] == 8192 && s.offset[1] == 8192 && s.len[1] == 4096);
    ranges_release(&r);
}

/* Of TiBs, with and without small ones beside, within and across them; two that touch become one. */
static void ranges_are_long(void **state)
{
    (void)state;
    const uint64_t tib = UINT64_C(1) << 40;
    struct ranges r = {0}, other = {0};
    struct err e = {0};
    assert_int_equal(ranges_add(&r, 20 * tib - 4096, 8192, &e), 0); /* half of it within the next one */
    assert_int_equal(ranges_add(&r, 20 * tib, 3 * tib, &e), 0);
    assert_int_equal(ranges_add(&r, 21 * tib, 4096, &e), 0);
    assert_int_equal(ranges_add(&r, 23 * tib - 4096, 12288, &e), 0); /* a third within */
    assert_true(ranges_bytes(&r) == 3 * tib + 3 * 4096);
    assert_int_equal(ranges_add(&other, 0, 4096, &e), 0);
    assert_int_equal(ranges_add(&other, 22 * tib, 4 * tib, &e), 0);
    assert_int_equal(ranges_add(&other, 40 * tib, 2 * tib, &e), 0);
    assert_int_equal(ranges_add(&other, 39 * tib, tib, &e), 0);
    assert_true(ranges_bytes(&other) == 7 * tib + 4096);
    assert_int_equal(ranges_merge(&r, &other, &e), 0);
    struct seen s = {0};
    assert_int_equal(ranges_each(&r, 16 * tib, note_part, &s, &e), 0);
    assert_int_equal(s.count, 3);
    assert_true(s.offset[0] == 0 && s.len[0] == 4096);
    assert_true(s.offset[1] == 20 * tib - 4096 && s.len[1] == 6 * tib + 4096);
    assert_true(s.offset[2] == 39 * tib && s.len[2] == 3 * tib);
    assert_true(ranges_has(&r, 20 * tib - 4096) && ranges_has(&r, 26 * tib - 1));
    assert_false(ranges_has(&r, 20 * tib - 4097) || ranges_has(&r, 26 * tib));
    s = (struct seen){0};
    assert_int_equal(ranges_each(&r, 4 * tib, note_part, &s, &e), 0);
    assert_int_equal(s.count, 4);
    assert_true(s.len[1] == 4 * tib && s.offset[2] == 24 * tib - 4096 && s.len[2] == 2 * tib + 4096);
    assert_int_equal(ranges_add(&r, 64 * tib, 1016 * tib, &e), -ERANGE); /* 9 + 1016 TiB: more than 1 PiB */
    assert_int_equal(ranges_add(&r, 64 * tib, 1015 * tib, &e), 0);
    ranges_release(&r);
    ranges_release(&other);
}

/* Beyond 2^32 blocks (16 TiB), across that border, in any order, merged. */
static void ranges_are_large(void **state)
{
    (void)state;
    const uint64_t border = UINT64_C(1) << 44;
    struct ranges r = {0}, other = {0};
    struct err e = {0};
    assert_int_equal(ranges_add(&other, 3 * border, 4096, &e), 0);
    assert_int_equal(ranges_add(&other, border - 4096, 8192, &e), 0);
    assert_int_equal(ranges_add(&r, 4096, 4096, &e), 0);
    assert_int_equal(ranges_merge(&r, &other, &e), 0);
    ranges_pack(&r);
    struct seen s = {0};
    assert_int_equal(ranges_each(&r, 1 << 20, note_part, &s, &e), 0);
    assert_int_equal(s.count, 3);
    assert_true(s.offset[0] == 4096 && s.offset[1] == border - 4096 && s.len[1] == 8192 &&
                s.offset[2] == 3 * border);
    assert_true(ranges_bytes(&r) == 4 * 4096);
    assert_int_equal(ranges_add(&r, RANGES_END_BYTES - 1, 2, &e), -ERANGE);
    assert_int_equal(ranges_add(&r, UINT64_MAX, UINT64_MAX, &e), -ERANGE);
    ranges_release(&r);
    ranges_release(&other);
}

/* ---- fit ---- */

struct fit_case {
    enum fit_policy policy;
    uint64_t size;
    uint32_t sector;
    unsigned op;
    uint64_t offset, len;
    enum fit_outcome outcome;
    uint64_t new_offset, new_len;
};

static void fits(void **state)
{
    (void)state;
    const uint64_t g2 = UINT64_C(2) << 30;
    static const struct fit_case cases[] = {
            {FIT_REFUSE, 1 << 20, 4096, BLOCK_READ, (1 << 20) - 4096, 4096, FIT_FITS, (1 << 20) - 4096, 4096},
            {FIT_REFUSE, 1 << 20, 4096, BLOCK_READ, 1 << 20, 4096, FIT_REFUSED, 1 << 20, 4096},
            {FIT_REFUSE, 1 << 20, 4096, BLOCK_READ, 3584, 3584, FIT_REFUSED, 3584, 3584},
            {FIT_REFUSE, 1 << 20, 512, BLOCK_READ, 3584, 3584, FIT_FITS, 3584, 3584},
            {FIT_REFUSE, 1 << 20, 512, BLOCK_FLUSH, UINT64_MAX, 0, FIT_FITS, UINT64_MAX, 0},
            {FIT_REFUSE, 1 << 20, 512, BLOCK_READ, UINT64_MAX - 511, 1024, FIT_REFUSED, UINT64_MAX - 511,
                    1024},
            {FIT_SKIP, 1 << 20, 4096, BLOCK_READ, 3584, 3584, FIT_SKIPPED, 3584, 3584},
            /* sectors 7 to 13: 3584 to 7168 -> 0 to 8192 */
            {FIT_WIDEN, 1 << 20, 4096, BLOCK_READ, 3584, 3584, FIT_WIDENED, 0, 8192},
            {FIT_WIDEN, 1 << 20, 4096, BLOCK_READ, 1 << 20, 4096, FIT_REFUSED, 1 << 20, 4096},
            {FIT_WIDEN, (1 << 20) + 512, 4096, BLOCK_READ, 1 << 20, 512, FIT_REFUSED, 1 << 20, 512},
            {FIT_WRAP, 1 << 20, 4096, BLOCK_READ, (3 << 20) + 8192, 4096, FIT_WRAPPED, 8192, 4096},
            {FIT_WRAP, 1 << 20, 4096, BLOCK_READ, (1 << 20) - 4096, 8192, FIT_WRAPPED, (1 << 20) - 8192,
                    8192},
            {FIT_WRAP, 1 << 20, 4096, BLOCK_READ, 3584, 3584, FIT_WRAPPED, 0, 8192},
            {FIT_WRAP, 1 << 20, 4096, BLOCK_WRITE, 0, 2 << 20, FIT_SKIPPED, 0, 2 << 20},
            {FIT_WRAP, 1 << 20, 4096, BLOCK_DISCARD, 4096, 2 << 20, FIT_WRAPPED, 0, 1 << 20},
            {FIT_WRAP, 0, 4096, BLOCK_READ, 4096, 4096, FIT_SKIPPED, 4096, 4096},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct fit_case *c = &cases[i];
        uint64_t offset = c->offset, len = c->len;
        assert_int_equal(fit_apply(c->policy, c->size, c->sector, c->op, &offset, &len), c->outcome);
        assert_true(offset == c->new_offset && len == c->new_len);
    }
    /* 3 TiB modulo 2 GiB is 0. */
    uint64_t offset = UINT64_C(3) << 40, len = 4096;
    assert_int_equal(fit_apply(FIT_WRAP, g2, 512, BLOCK_READ, &offset, &len), FIT_WRAPPED);
    assert_true(offset == 0 && len == 4096);
    offset = UINT64_C(3) << 40;
    assert_int_equal(fit_apply(FIT_REFUSE, UINT64_MAX, 512, BLOCK_READ, &offset, &len), FIT_FITS);
}

/* ---- percentiles ---- */

static void percentiles(void **state)
{
    (void)state;
    static struct lateness l;
    assert_true(lateness_percentile_ns(&l, 0.5) == 0);
    for (uint64_t i = 1; i <= 100; i++)
        lateness_add(&l, i);
    assert_true(lateness_percentile_ns(&l, 0.5) == 50); /* exact below 128 */
    assert_true(lateness_percentile_ns(&l, 0.99) == 99);
    assert_true(l.max_ns == 100);
    for (uint64_t i = 0; i < 1000; i++)
        lateness_add(&l, 1000000);
    uint64_t p = lateness_percentile_ns(&l, 0.5);
    assert_true(p >= 1000000 - 1000000 / 64 && p <= 1000000 + 1000000 / 64);
    lateness_add(&l, UINT64_MAX);
    assert_true(lateness_percentile_ns(&l, 1) == UINT64_MAX);
    assert_true(l.max_ns == UINT64_MAX);
}

/* ---- order ---- */

/* Each round has every side once, and each pair of rounds favours none: the sums of places are equal. */
static void order_favours_none(void **state)
{
    (void)state;
    for (size_t sides = 1; sides <= 5; sides++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            size_t place_sum[5] = {0};
            for (size_t round = 0; round < 6; round++) {
                size_t order[5], times[5] = {0};
                repeat_order(seed, round, sides, order);
                for (size_t i = 0; i < sides; i++) {
                    assert_true(order[i] < sides);
                    times[order[i]]++;
                    place_sum[order[i]] += i;
                }
                for (size_t i = 0; i < sides; i++)
                    assert_int_equal(times[i], 1);
            }
            for (size_t i = 0; i < sides; i++)
                assert_int_equal(place_sum[i], 3 * (sides - 1));
        }
    }
}

static void order_depends_on_the_seed(void **state)
{
    (void)state;
    unsigned first[2] = {0};
    for (uint64_t seed = 0; seed < 64; seed++) {
        size_t order[2], again[2];
        repeat_order(seed, 0, 2, order);
        repeat_order(seed, 0, 2, again);
        assert_memory_equal(order, again, sizeof order);
        first[order[0]]++;
    }
    assert_true(first[0] > 10 && first[1] > 10);
}

/* ---- buffers ---- */

static void buffers_are_bounded(void **state)
{
    (void)state;
    struct buffers *b;
    struct err e = {0};
    void *got[16];
    assert_int_equal(buffers_open(&b, 1 << 20, &e), 0);
    unsigned n = 0;
    while (n < 16 && (got[n] = buffers_get(b, 100000))) /* 128 KiB each */
        n++;
    assert_int_equal(n, 8);
    assert_null(buffers_get(b, 1));
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal((uintptr_t)got[i] % 4096, 0);
        memset(got[i], 1, 100000);
        buffers_put(b, got[i], 100000);
    }
    got[0] = buffers_get(b, 512); /* kept ones of another size make room */
    assert_non_null(got[0]);
    assert_null(buffers_get(b, 4 << 20));
    buffers_put(b, got[0], 512);
    got[0] = buffers_get(b, 4 << 20); /* larger than the bound, but alone */
    assert_non_null(got[0]);
    assert_null(buffers_get(b, 1));
    buffers_put(b, got[0], 4 << 20);
    buffers_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_blocks),
            cmocka_unit_test(ranges_are_large), cmocka_unit_test(ranges_are_long), cmocka_unit_test(fits),
            cmocka_unit_test(percentiles), cmocka_unit_test(order_favours_none),
            cmocka_unit_test(order_depends_on_the_seed), cmocka_unit_test(buffers_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
