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

#include "analyze/profile/range_list.h"
#include "analyze/profile/touched.h"
#include "formats/base/random.h"

#define RANGES  50000
#define TOUCHES 200000

struct result {
    uint64_t read_after_write;
    uint64_t grown[PROFILE_SLOTS_MAX];
    struct touched_range range[RANGES];
    unsigned passes;
};

/* Where a range lies: a few near to each other, then far away: one for each `range`. */
static uint64_t index_of(uint64_t range)
{
    return range / 100 << 40 | range % 100 * 13;
}

/* One of the first ranges is touched often, so that its units get full of holes and then whole. */
static struct touch touch_of(uint64_t *state, uint64_t i, uint64_t *range)
{
    uint64_t r = random_next(state), first = r >> 16 & 63, last = first + (r >> 24) % (64 - first);
    *range = r >> 60 ? (r & 0xffff) * RANGES >> 16 : r & 7;
    unsigned bits = *range % 3 == 1 ? 9 : 12;
    return (struct touch){.first = (uint8_t)first,
            .last = (uint8_t)last,
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
        uint64_t mask = ~UINT64_C(0) >> (63 - (t.last - t.first)) << t.first;
        struct touched_range *r = &w->range[k];
        w->grown[t.slot] += bytes(mask & ~r->read & ~r->written, &t);
        r->stream = (uint32_t)(k % 3);
        r->index = index_of(k);
        r->touches++;
        if (t.write) {
            r->written |= mask;
        } else {
            w->read_after_write += bytes(mask & r->written, &t);
            r->read |= mask;
        }
    }
    return w;
}

static void take(void *to, const struct touched_range *r)
{
    struct result *g = to;
    uint64_t k = (r->index >> 40) * 100 + (r->index & UINT32_MAX) / 13;
    assert_true(k < RANGES && r->index == index_of(k) && r->stream == k % 3);
    assert_true(g->range[k].touches == 0); /* each is given once */
    struct touched_range *to_range = &g->range[k];
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
    int again;
    assert_int_equal(touched_open(&t, max_bytes, expected, &e), 0);
    do {
        uint64_t state = 1, k;
        for (uint64_t i = 0; i < TOUCHES; i++) {
            struct touch touch = touch_of(&state, i, &k);
            struct touched_pass pass = touched_pass(t);
            touch.key = touched_key(&pass, (uint32_t)(k % 3), index_of(k));
            assert_int_equal(touched_add(t, &touch, 1, &e), 0);
        }
        again = touched_next(t, take, g, &g->read_after_write, g->grown, &e);
        assert_true(again >= 0);
        g->passes++;
    } while (again);
    touched_close(t);
    return g;
}

static void check(size_t max_bytes, uint64_t expected, unsigned least, unsigned most)
{
    struct result *w = by_array(), *g = by_table(max_bytes, expected);
    assert_true(g->passes >= least && g->passes <= most);
    assert_true(w->read_after_write == g->read_after_write);
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

/* About 49,000 ranges, each touched about four times: a tag, 1 or 8 bytes for its place, 1 for its touches,
 * and 2 or 8 for what was read and for what was written: 0.3 to 1.2 MB. */
static void many_passes(void **state)
{
    (void)state;
    check(256 << 10, 0, 2, 14);
    check(64 << 10, 0, 5, 50);
    /* More are expected than come: one pass for nearly nothing, one or two for the rest. */
    check(4 << 20, UINT64_C(1) << 40, 2, 3);
    check(512 << 10, TOUCHES, 2, 8);
}

/* In batches, as the profile adds them. */
static void too_many(void **state)
{
    (void)state;
    struct err e = {0};
    struct touched *t;
    int rc;
    assert_int_equal(touched_open(&t, 32 << 10, 0, &e), 0);
    /* One group of 1,024 gets about 4,900 of these; the 28 KiB that are filled hold 2,606 of 11 bytes, which
     * each of these takes: a tag, 8 for its place, 2 for the run. */
    rc = 0;
    for (uint64_t i = 0; rc == 0 && i < 5000000;) {
        struct touched_pass pass = touched_pass(t);
        struct touch list[100];
        for (unsigned k = 0; k < 100; k++)
            list[k] = (struct touch){.key = touched_key(&pass, 0, i++ << 23), .unit_bits = 12};
        rc = touched_add(t, list, 100, &e);
    }
    assert_int_equal(rc, -ENOMEM);
    assert_non_null(strstr(e.text, "too many places"));
    touched_close(t);
}

static uint64_t last_bits(uint64_t x)
{
    return x >> (random_mix(x) & 63);
}

/* Each of a list comes back as it was put, in no more bytes than are said. */
static void list_of_ranges(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    static struct range in[COUNT];
    static uint8_t list[COUNT * RANGE_BYTES_MAX + RANGE_SLACK_BYTES];
    uint64_t random = 1, before = UINT64_MAX;
    uint8_t *end = list;
    for (unsigned i = 0; i < COUNT; i++) {
        uint64_t a = random_next(&random), b = random_next(&random);
        uint64_t gap = i % 100 ? last_bits(a) >> 16 & 0xffffffffff : 0;
        uint64_t run = range_run(b & 31, 32 + (b >> 8 & 31)), some = last_bits(random_next(&random));
        in[i] = (struct range){before + 1 + gap, 1 + last_bits(b) / 2, i % 3 ? run : some, i % 5 ? some : 0};
        uint8_t *next = range_write(end, before, &in[i]);
        assert_true(next - end == range_length(*end) && next - end <= RANGE_BYTES_MAX);
        end = next;
        before = in[i].key;
    }
    const uint8_t *p = list;
    before = UINT64_MAX;
    for (unsigned i = 0; i < COUNT; i++) {
        struct range r;
        assert_true(range_key(p, before) == in[i].key);
        p = range_read(p, before, &r);
        assert_memory_equal(&r, &in[i], sizeof r);
        before = r.key;
    }
    assert_true(p == end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_pass), cmocka_unit_test(many_passes),
            cmocka_unit_test(too_many), cmocka_unit_test(list_of_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
