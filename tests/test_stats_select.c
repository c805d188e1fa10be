/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The witness is qsort and the definition: rank ceil(q n) of the sorted values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analyze/select.h"

#define N 20000
static const double q[] = {0.5, 0.95, 0.99, 0.999, 1};
static const uint64_t per_mille[] = {500, 950, 990, 999, 1000};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int check(uint64_t *values, size_t n)
{
    struct select *s;
    struct err e = {0};
    int passes = 0;
    assert_int_equal(select_open(&s, q, 5, &e), 0);
    for (int again = 0; again < 2; again++) { /* the second time after a reset */
        select_reset(s);
        passes = 0;
        do {
            passes++;
            for (size_t i = 0; i < n; i++)
                select_add(s, values[i]);
        } while (select_next(s));
        assert_true(select_count(s) == n);
    }
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < 5; i++) {
        size_t rank = (n * per_mille[i] + 999) / 1000;
        assert_true(select_value(s, i) == values[rank - 1]);
    }
    select_close(s);
    return passes;
}

static void test_against_sort(void **state)
{
    (void)state;
    uint64_t *values = malloc(N * sizeof *values), seed = 1;
    assert_non_null(values);
    for (unsigned bits = 1; bits <= 64; bits++)
        for (size_t n = bits % 3 ? 997 : N; n; n = n > 20 ? 20 : n > 1 ? 1 : 0) {
            for (size_t i = 0; i < n; i++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                uint64_t v = seed ^ (seed >> 29);
                values[i] = v >> (64 - bits);
            }
            assert_in_range(check(values, n), 1, 5);
        }
    free(values);
}

static void test_edges(void **state)
{
    (void)state;
    uint64_t constant[1000],
            edges[] = {0, UINT64_MAX, 1023, 1024, 2047, 2048, UINT64_MAX - 1, 1, UINT64_C(1) << 63};
    for (size_t i = 0; i < 1000; i++)
        constant[i] = 123456789;
    check(constant, 1000);
    check(edges, sizeof edges / sizeof *edges);
    struct select *s;
    struct err e = {0};
    assert_int_equal(select_open(&s, q, 5, &e), 0);
    assert_false(select_next(s));
    assert_true(select_count(s) == 0 && select_value(s, 0) == 0);
    select_close(s);
    double bad = 1.5;
    assert_true(select_open(&s, &bad, 1, &e) < 0);
}

/* 1 - 0.5^5 = 0.969 and 1 - 0.5^4 = 0.9375; 1 - 0.95^59 = 0.9515, 1 - 0.95^58 = 0.949; Wilks's 299 for 99 %.
 */
static void test_least(void **state)
{
    (void)state;
    assert_true(select_least(0.5) == 5 && select_least(0.95) == 59);
    assert_true(select_least(0.99) == 299 && select_least(0.999) == 2995);
    assert_true(select_least(1) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_against_sort), cmocka_unit_test(test_edges), cmocka_unit_test(test_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
