/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * p-values of several metrics that were measured in the same repetitions, adjusted for looking at all of
 * them: the step-down minP procedure of P. H. Westfall, S. S. Young, Resampling-Based Multiple Testing
 * (1993), algorithm 2.8, as in Y. Ge, S. Dudoit, T. P. Speed, Test 12 (2003) 1, box 2. Whole repetitions
 * are permuted between the sides, so that what the metrics have in common stays in every split; it is
 * less strict than Bonferroni or Holm where metrics are correlated, and controls the family-wise error.
 * The statistic of a metric is its own two-sided Mann-Whitney p given ties (ranktest.h).
 */
#ifndef IOTAPE_ADJUST_H
#define IOTAPE_ADJUST_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

/* All splits are enumerated up to this many (10 against 10 has 184,756); beyond, this many
 * are drawn at random, and p = (b + 1) / (m + 1), so that it is never 0. */
#define ADJUST_EXACT_MAX 200000
#define ADJUST_DRAWS     50000

/* `values` holds `metrics` rows of n_base + n_cand finite values, the base's first; the same column is
 * the same repetition in every row. p_adjusted[] gets one for each row. The `seed` decides only
 * where splits are drawn. -ENOMEM; p_adjusted is untouched then. */
int adjust_p(const double *values, size_t metrics, size_t n_base, size_t n_cand, uint64_t seed,
        double *p_adjusted, struct err *e);

/* Number of splits, saturating at UINT64_MAX. */
uint64_t adjust_splits(size_t n_base, size_t n_cand);

#endif
