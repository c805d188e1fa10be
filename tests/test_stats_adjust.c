/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Right values: R 4.2.2 with multtest 2.54.0 (K. Pollard, Y. Ge, S. Dudoit), which implements the same
 * procedure: mt.minP(m, sides, test = "wilcoxon", side = "abs", B = 0).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/adjust.h"
#include "analyze/ranktest.h"

static const double m[5][10] = {{10.1, 10.4, 9.8, 10.0, 10.3, 11.2, 11.5, 11.1, 11.9, 10.9},
        {5.2, 5.0, 4.9, 5.5, 5.1, 5.3, 5.9, 5.6, 6.0, 5.4}, {100, 98, 103, 101, 99, 97, 104, 102, 96, 105},
        {1.0, 1.1, 1.2, 1.3, 1.4, 1.25, 1.35, 1.45, 1.5, 1.6},
        {7.1, 7.3, 7.2, 7.0, 7.5, 7.4, 7.9, 7.6, 7.7, 7.05}};

static const struct adjust_options seed1 = {.seed = 1, .alpha = 0.05}, seed2 = {.seed = 2, .alpha = 0.05};
static double worth;

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) < 1e-12))
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void test_five_five(void **state)
{
    (void)state;
    const double wanted[5] = {0.03968253968253968, 0.11904761904761904, 0.84126984126984128,
            0.16666666666666666, 0.28571428571428570};
    double p[5];
    struct err e = {0};
    assert_int_equal(adjust_p(m[0], 5, 5, 5, &seed1, p, &worth, &e), 0);
    for (int i = 0; i < 5; i++)
        near(p[i], wanted[i]);
}

static void test_three_five(void **state)
{
    (void)state;
    const double wanted[5] = {0.125, 0.125, 1, 0.125, 0.4642857142857143};
    double values[5][8], p[5];
    for (int i = 0; i < 5; i++) {
        memcpy(values[i], m[i], 3 * sizeof(double));
        memcpy(values[i] + 3, m[i] + 5, 5 * sizeof(double));
    }
    struct err e = {0};
    assert_int_equal(adjust_p(values[0], 5, 3, 5, &seed1, p, &worth, &e), 0);
    for (int i = 0; i < 5; i++)
        near(p[i], wanted[i]);
}

/* Five copies of one metric are one metric: where all are fully correlated, nothing is to be paid; Bonferroni
 * would multiply by five. */
static void test_correlated(void **state)
{
    (void)state;
    double values[5][10], p[5];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 10; j++)
            values[i][j] = m[0][j] * (i + 1);
    struct err e = {0};
    assert_int_equal(adjust_p(values[0], 5, 5, 5, &seed1, p, &worth, &e), 0);
    for (int i = 0; i < 5; i++)
        near(p[i], 2.0 / 252);
    double one;
    assert_int_equal(adjust_p(m[1], 1, 5, 5, &seed1, &one, &worth, &e), 0);
    near(one, 0.031746031746031744); /* R's rawp of the second row: alone, it is unadjusted */
}

/* Too many splits to enumerate (12 against 12 has 2,704,156): drawn, the same for the same seed, close to the
 * exact p of the one metric, and never 0. */
static void test_drawn(void **state)
{
    (void)state;
    double values[24], p1, p2, p3;
    for (int i = 0; i < 24; i++)
        values[i] = (i * 7) % 24 + (i >= 12 ? 5.5 : 0);
    struct err e = {0};
    assert_true(adjust_splits(12, 12) == 2704156 && adjust_splits(10, 10) == 184756);
    assert_true(adjust_splits(100, 100) == UINT64_MAX);
    assert_int_equal(adjust_p(values, 1, 12, 12, &seed1, &p1, &worth, &e), 0);
    assert_int_equal(adjust_p(values, 1, 12, 12, &seed1, &p2, &worth, &e), 0);
    assert_int_equal(adjust_p(values, 1, 12, 12, &seed2, &p3, &worth, &e), 0);
    struct shift s;
    assert_int_equal(ranktest(values, 12, values + 12, 12, 0.95, &s, &e), 0);
    assert_true(p1 == p2 && p1 != p3);
    assert_true(fabs(p1 - s.p) < 4 * sqrt(s.p * (1 - s.p) / ADJUST_DRAWS));
    for (int i = 0; i < 24; i++)
        values[i] = i;
    assert_int_equal(adjust_p(values, 1, 12, 12, &seed1, &p1, &worth, &e), 0);
    assert_true(p1 > 0 && p1 < 1e-3);
}

/* Repetitions that lack a value: by enumeration in Python, where each split's p of a metric is that of its
 * own values, given how many of them the split puts on either side. P(min p <= t) / t at the t that 5 % of
 * all splits stay below is 2.5. */
static void test_missing(void **state)
{
    (void)state;
    const double values[3][10] = {{10.1, 11.4, 9.8, 10.0, NAN, 11.2, 10.5, 11.1, 11.9, 10.9},
            {5.2, 5.0, 4.9, 5.5, 5.1, 5.3, 5.9, 5.6, 6.0, 5.4}, {1, NAN, 7.5, 2, 5, 7, 8, 6, NAN, 9.5}};
    const double wanted[3] = {0.1984126984126984, 0.079365079365079361, 0.1984126984126984};
    double p[3];
    struct err e = {0};
    assert_int_equal(adjust_p(values[0], 3, 5, 5, &seed1, p, &worth, &e), 0);
    for (int i = 0; i < 3; i++)
        near(p[i], wanted[i]);
    near(worth, 2.5);
    /* All of one side: nothing can be told, and nothing crashes. */
    const double one[10] = {1, 2, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    assert_int_equal(adjust_p(one, 1, 5, 5, &seed1, p, &worth, &e), 0);
    near(p[0], 1);
}

/* Under the null hypothesis the smallest adjusted p is below 0.05 in at most 5 % of trials (and not far
 * below); the smallest unadjusted one is so much more often. */
static void test_family_error(void **state)
{
    (void)state;
    uint64_t seed = 4711;
    int adjusted = 0, raw = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double values[6][10], p[6], least = 1, least_raw = 1;
        for (int j = 0; j < 10; j++)
            for (int i = 0; i < 6; i++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                values[i][j] = (double)(seed >> 33);
            }
        struct err e = {0};
        assert_int_equal(adjust_p(values[0], 6, 5, 5, &seed1, p, &worth, &e), 0);
        for (int i = 0; i < 6; i++) {
            struct shift s;
            assert_int_equal(ranktest(values[i], 5, values[i] + 5, 5, 0.95, &s, &e), 0);
            least = fmin(least, p[i]);
            least_raw = fmin(least_raw, s.p);
        }
        adjusted += least <= 0.05;
        raw += least_raw <= 0.05;
    }
    assert_in_range(adjusted, 15, 70); /* 5 % and three standard errors above; minP is discrete below */
    assert_true(raw > 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_five_five), cmocka_unit_test(test_three_five),
            cmocka_unit_test(test_correlated), cmocka_unit_test(test_drawn), cmocka_unit_test(test_missing),
            cmocka_unit_test(test_family_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
