/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Right values: R 4.2.2, with z <- qnorm(1 - a/2) + qnorm(.8); p <- pnorm(d / (s * sqrt(2))) - .5;
 * ceiling(z^2 / (3 * p^2) / 2).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/power.h"

static void test_repetitions(void **state)
{
    (void)state;
    static const struct {
        double sd, shift, alpha, n;
    } rows[] = {{0.1, 0.04879016417, 0.05, 72}, {0.02, 0.04879016417, 0.05, 7}, {0.05, 0.0953101798, 0.05, 8},
            {0.05, 0.04879016417, 0.0025, 39}, {0.3, 0.1823215568, 0.05, 48}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(power_repetitions(rows[i].sd, rows[i].shift, rows[i].alpha, 0.8) == rows[i].n);
    /* Never fewer than can be significant: 2 / (2n choose n) is 0.0286 for 4, 0.1 for 3; 0.0022 for 6. */
    assert_true(power_repetitions(0, 1, 0.05, 0.01) == 4);
    assert_true(power_repetitions(0, 1, 0.003, 0.01) == 6);
}

static void test_normal(void **state)
{
    (void)state;
    static const double rows[][2] = {{0.025, 1.959964}, {0.2, 0.8416212}, {0.5, 0}, {1e-6, 4.753424}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(fabs(normal_upper(rows[i][0]) - rows[i][1]) < 1e-6);
}

/* 1, 2, 3 and 10, 14: sums of squares 2 and 8, 3 degrees of freedom. */
static void test_pooled(void **state)
{
    (void)state;
    static const double a[] = {1, 2, 3}, b[] = {10, 14};
    assert_true(fabs(pooled_sd(a, 3, b, 2) - sqrt(10.0 / 3)) < 1e-12);
    assert_true(isnan(pooled_sd(a, 1, b, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(test_repetitions), cmocka_unit_test(test_normal), cmocka_unit_test(test_pooled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
