/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How many repetitions would show a difference: what to do about an `unsure`. Pure functions of numbers.
 */
#ifndef IOTAPE_POWER_H
#define IOTAPE_POWER_H

#include <stddef.h>

/* Repetitions a side with which the two-sided Mann-Whitney test at `alpha` finds a shift of `shift` with
 * probability `power`, for normal values of standard deviation `sd` on both sides: G. E. Noether, JASA 82
 * (1987) 645, equation 10 with equal sizes, N = (z(alpha/2) + z(1-power))^2 / (3 (P(X < Y) - 1/2)^2), rounded
 * up; and never below the least n whose smallest p reaches alpha. `sd` >= 0, `shift` > 0, alpha and power in
 * (0, 1). */
double power_repetitions(double sd, double shift, double alpha, double power);

/* The value that a standard normal one exceeds with probability `tail`, in (0, 1). */
double normal_upper(double tail);

/* Pooled standard deviation within two samples; NAN where there is no degree of freedom. */
double pooled_sd(const double *a, size_t n_a, const double *b, size_t n_b);

#endif
