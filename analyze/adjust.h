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

struct adjust_options {
    uint64_t seed; /* decides only where splits are drawn */
    double alpha;  /* of the family, for *tests: 0.05 */
};

/* `values` holds `metrics` rows of n_base + n_cand values, the base's first; the same column is the same
 * repetition in every row. NAN is a value that this repetition lacks: it goes with its repetition into either
 * side, and p is that of the values that are there; a row needs one on each side. p_adjusted[] gets one for
 * each row. *tests becomes how many independent tests the family is worth, from 1 to `metrics`: P(min p <= t)
 * / t where t is the p that the smallest of all stays below with probability alpha. -ENOMEM; outputs are
 * untouched then. */
int adjust_p(const double *values, size_t metrics, size_t n_base, size_t n_cand,
        const struct adjust_options *o, double *p_adjusted, double *tests, struct err *e);

/* Number of splits, saturating at UINT64_MAX. */
uint64_t adjust_splits(size_t n_base, size_t n_cand);

#endif
