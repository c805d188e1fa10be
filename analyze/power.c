/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/power.h"

#include <math.h>

#include "analyze/ranktest.h"

static double upper_tail(double z)
{
    return erfc(z / M_SQRT2) / 2;
}

double normal_upper(double tail)
{
    double lo = -40, hi = 40; /* upper_tail falls from 1 to 0 between them */
    for (int i = 0; i < 100; i++) {
        double mid = (lo + hi) / 2;
        if (upper_tail(mid) > tail)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

static double squares(const double *values, size_t count)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

double pooled_sd(const double *a, size_t n_a, const double *b, size_t n_b)
{
    if (n_a + n_b < 3 || !n_a || !n_b)
        return NAN;
    return sqrt((squares(a, n_a) + squares(b, n_b)) / (double)(n_a + n_b - 2));
}

/* The least n of which n against n can be significant at all. */
static double least_repetitions(double alpha)
{
    size_t n = 1;
    while (n < 1000 && ranktest_p_min(n, n) > alpha)
        n++;
    return (double)n;
}

double power_repetitions(double sd, double shift, double alpha, double power)
{
    double z = normal_upper(alpha / 2) + normal_upper(1 - power);
    /* P(X < Y) of two normal values that lie `shift` apart; their difference has sd sqrt(2) sd. */
    double away = 0.5 - upper_tail(shift / (sd * M_SQRT2));
    return fmax(ceil(z * z / (3 * away * away) / 2), least_repetitions(alpha));
}
