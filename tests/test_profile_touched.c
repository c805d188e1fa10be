/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The set of touched blocks, where it does not fit one pass. The witness is an array with a place for each
 * range.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/profile/touched.h"
#include "formats/base/random.h"

#define RANGES  50000
#define TOUCHES 200000

struct result {
    struct touched_counts counts;
    uint64_t grown[PROFILE_SLOTS_MAX];
    struct touched_range range[RANGES];
    unsigned passes;
};

/* One of the first ranges is touched often, so that its units get full of holes and then whole. */
static struct touch touch_of(uint64_t *state, uint64_t i, uint64_t *range)
{
    uint64_t r = random_next(state), first = r >> 16 & 63, last = first + (r >> 24) % (64 - first);
    *range = r >> 60 ? (r & 0xffff) * RANGES >> 16 : r & 7;
    unsigned bits = *range % 3 == 1 ? 9 : 12;
    return (struct touch){.mask = ~UINT64_C(0) >> (63 - (last - first)) << first,
            .bytes = (uint32_t)(last - first + 1) << bits,
            .unit_bits = (uint8_t)bits,
            .write = r >> 50 & 1,
            .slot = (uint16_t)(i * PROFILE_SLOTS_MAX / TOUCHES)};
}

static uint64_t bytes(uint64_t mask, const struct touch *t)
{
    return (uint64_t)__builtin_popcountll(mask) << t->unit_bits;
}

static struct result *by_array(void)
{
    struct result *w = calloc(1, sizeof *w);
    uint64_t state = 1, k;
    for (uint64_t i = 0; i < TOUCHES; i++) {
        struct touch t = touch_of(&state, i, &k);
        struct touched_range *r = &w->range[k];
        w->grown[t.slot] += bytes(t.mask & ~r->read & ~r->written, &t);
        r->stream = (uint32_t)(k % 3);
        r->index = k;
        r->touches++;
        if (t.write) {
            w->counts.written += bytes(t.mask, &t);
            w->counts.overwritten += bytes(t.mask & r->written, &t);
            r->written |= t.mask;
        } else {
            w->counts.read += bytes(t.mask, &t);
            w->counts.read_again += bytes(t.mask & r->read, &t);
            w->counts.read_after_write += bytes(t.mask & r->written, &t);
            r->read |= t.mask;
        }
    }
    return w;
}

static void take(void *to, const struct touched_range *r)
{
    struct result *g = to;
    assert_true(r->index < RANGES && r->stream == r->index % 3);
    assert_true(g->range[r->index].touches == 0); /* each is given once */
    struct touched_range *to_range = &g->range[r->index];
    to_range->stream = r->stream; /* one by one: compared are the bytes, padding too */
    to_range->index = r->index;
    to_range->read = r->read;
    to_range->written = r->written;
    to_range->touches = r->touches;
}

static struct result *by_table(size_t max_bytes, uint64_t expected)
{
    struct result *g = calloc(1, sizeof *g);
    struct err e = {0};
    struct touched *t;
    bool again;
    assert_int_equal(touched_open(&t, max_bytes, expected, &e), 0);
    do {
        uint64_t state = 1, k;
        for (uint64_t i = 0; i < TOUCHES; i++) {
            struct touch touch = touch_of(&state, i, &k);
            struct touched_pass pass = touched_pass(t);
            touch.hash = touched_hash(&pass, (uint32_t)(k % 3), k);
            assert_int_equal(touched_add(t, &touch, 1, &e), 0);
        }
        again = touched_next(t, take, g, &g->counts, g->grown);
        g->passes++;
    } while (again);
    touched_close(t);
    return g;
}

static void check(size_t max_bytes, uint64_t expected, unsigned least, unsigned most)
{
    struct result *w = by_array(), *g = by_table(max_bytes, expected);
    assert_true(g->passes >= least && g->passes <= most);
    assert_memory_equal(&w->counts, &g->counts, sizeof w->counts);
    assert_memory_equal(w->grown, g->grown, sizeof w->grown);
    assert_memory_equal(w->range, g->range, sizeof w->range);
    free(w);
    free(g);
}

static void one_pass(void **state)
{
    (void)state;
    check(4 << 20, 0, 1, 1);
}

/* About 49,000 ranges. Each takes 16 bytes of slots of which 0.81 are used, and most of them, whose touches
 * leave holes, 16 bytes more: 1.6 MB, or, where they are no more than two runs, at least 1 MB. */
static void many_passes(void **state)
{
    (void)state;
    check(256 << 10, 0, 4, 14);
    check(512 << 10, 0, 2, 7);
    /* More are expected than come: one pass for nearly nothing, one or two for the rest. */
    check(4 << 20, UINT64_C(1) << 40, 2, 3);
    check(512 << 10, TOUCHES, 3, 8);
}

/* In batches, as the profile adds them. */
static void too_many(void **state)
{
    (void)state;
    struct err e = {0};
    struct touched *t;
    int rc;
    assert_int_equal(touched_open(&t, 128 << 10, 0, &e), 0);
    /* One group of 1,024 gets about 4,900 of these, more than the 4,369 that 128 KiB hold. */
    rc = 0;
    for (uint64_t i = 0; rc == 0 && i < 5000000;) {
        struct touched_pass pass = touched_pass(t);
        struct touch list[100];
        for (unsigned k = 0; k < 100; k++)
            list[k] = (struct touch){
                    .hash = touched_hash(&pass, 0, i++), .mask = 1, .bytes = 4096, .unit_bits = 12};
        rc = touched_add(t, list, 100, &e);
    }
    assert_int_equal(rc, -ENOMEM);
    assert_non_null(strstr(e.text, "too many places"));
    touched_close(t);
}

static void hashes(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned i = 0; i < 100000; i++) {
        uint64_t z = random_next(&random) >> i % 64;
        assert_true(random_unmix(random_mix(z)) == z && random_mix(random_unmix(z)) == z);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_pass), cmocka_unit_test(many_passes),
            cmocka_unit_test(too_many), cmocka_unit_test(hashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
