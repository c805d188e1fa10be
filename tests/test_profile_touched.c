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

static struct touch touch_of(uint64_t *state, uint64_t i, uint64_t *range)
{
    uint64_t r = random_next(state);
    *range = r % RANGES;
    return (struct touch){.key = touched_key((uint32_t)(*range % 3), *range),
            .mask = random_next(state) & (r >> 40 & 1 ? ~UINT64_C(0) : 0xff) ? random_next(state) | 1 : 1,
            .unit_bits = *range % 3 == 1 ? 9 : 12,
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
        r->key = t.key;
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
    uint64_t k = touched_index(r->key);
    assert_true(k < RANGES && touched_stream(r->key) == k % 3);
    assert_true(g->range[k].key == 0); /* each is given once */
    g->range[k] = *r;
}

static struct result *by_table(unsigned max_bits)
{
    struct result *g = calloc(1, sizeof *g);
    struct err e = {0};
    struct touched *t;
    bool again;
    assert_int_equal(touched_open(&t, max_bits, &e), 0);
    do {
        uint64_t state = 1, k;
        for (uint64_t i = 0; i < TOUCHES; i++) {
            struct touch touch = touch_of(&state, i, &k);
            assert_int_equal(touched_add(t, &touch, &e), 0);
        }
        assert_int_equal(touched_next(t, take, g, &g->counts, g->grown, &again, &e), 0);
        g->passes++;
    } while (again);
    touched_close(t);
    return g;
}

static void check(unsigned max_bits, unsigned least, unsigned most)
{
    struct result *w = by_array(), *g = by_table(max_bits);
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
    check(20, 1, 1);
}

/* 50,000 ranges, of which a table of 2^13 holds 6,144 and one of 2^15 holds 24,576. */
static void many_passes(void **state)
{
    (void)state;
    check(13, 9, 30);
    check(15, 3, 8);
}

static void too_many(void **state)
{
    (void)state;
    struct err e = {0};
    struct touched *t;
    int rc;
    assert_int_equal(touched_open(&t, 12, &e), 0);
    /* One group of 1,024 gets about 4,900 of these, more than the 3,072 that fit. */
    rc = 0;
    for (uint64_t i = 0; rc == 0 && i < 5000000; i++)
        rc = touched_add(t, &(struct touch){.key = touched_key(0, i), .mask = 1, .unit_bits = 12}, &e);
    assert_int_equal(rc, -ENOMEM);
    assert_non_null(strstr(e.text, "too many places"));
    touched_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(one_pass), cmocka_unit_test(many_passes), cmocka_unit_test(too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
