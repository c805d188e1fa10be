/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How far one sample lies from another, without assuming any shape: the Hodges-Lehmann shift, the
 * Mann-Whitney test, and the interval that goes with it. Pure functions of numbers; a caller who wants
 * ratios passes logarithms and exponentiates what comes back.
 *
 * Sources: H. B. Mann, D. R. Whitney, Ann. Math. Stat. 18 (1947) 50; M. Hollander, D. A. Wolfe,
 * Nonparametric Statistical Methods, 2nd ed. (1999), sections 4.1 (test), 4.2 (estimate), 4.3 (interval);
 * for the exact distribution with ties the shift algorithm of B. Streitberg, J. Röhmel, Statistical
 * Software Newsletter 12 (1986) 10.
 */
#ifndef IOTAPE_RANKTEST_H
#define IOTAPE_RANKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

/* Both samples together up to this size: the exact null distribution; beyond: the normal approximation
 * with continuity and tie corrections. */
#define RANKTEST_EXACT_MAX 64
/* n_base * n_cand at most: 32 MiB of pairwise differences. */
#define RANKTEST_PAIRS_MAX (UINT64_C(1) << 22)
/* Both together at most, so that sums of ranks stay exact. */
#define RANKTEST_COUNT_MAX 65536

struct shift {
    double estimate; /* median of all candidate - base */
    double lo, hi;   /* closed interval, from the ordered pairwise differences */
    double conf;     /* the confidence it attains; below what was asked for only where no interval of these
                      * sizes attains it: then it spans all differences. 0 for 1 against 1 */
    double p;        /* two-sided */
    bool wider;      /* spreads differ so much that the interval was made wider, see below */
};

/* Compares finite values; both counts at least 1. `confidence` in (0, 1).
 *
 * p: sum of the probabilities of all splits whose rank sum lies at least as far from its mean as the
 * observed one. Ties get mid-ranks, and the distribution is the permutation distribution given these
 * mid-ranks. Without ties this is the usual exact test.
 * Interval: [D(k), D(mn+1-k)] of the ordered differences with the largest k for which
 * P(U <= k-1) <= (1-confidence)/2 under the null distribution without ties; with ties its confidence is
 * at least what is stated (G. E. Noether, JASA 62 (1967) 184).
 * Where the spreads differ, the number of pairs on one side varies more than under the null distribution, and
 * that interval holds too seldom what it should: down to 0.87 of the time with 7 against 7. Its variance is
 * then that of the placements of the samples, shifted onto each other (M. A. Fligner, G. E. Policello, JASA
 * 76 (1981) 162; Hollander and Wolfe, section 4.4). Where it exceeds the null variance by more than a fifth
 * (but for its term for small samples), the interval is wider by the ratio of the standard deviations; `conf`
 * stays. The test, p, is as it is.
 * -EINVAL for empty or not finite samples, -E2BIG beyond RANKTEST_PAIRS_MAX or RANKTEST_COUNT_MAX, -ENOMEM;
 * *out untouched. */
int ranktest(const double *base, size_t n_base, const double *cand, size_t n_cand, double confidence,
        struct shift *out, struct err *e);

/* Smallest two-sided p that n_base against n_cand can give: 2 / (n_base + n_cand choose n_base), at most 1.
 */
double ranktest_p_min(size_t n_base, size_t n_cand);

/* Median; of an even count the mean of the middle two. Sorts `values`. NAN for none. */
double median_of(double *values, size_t count);

/* ---- the pieces, for adjust.c and the tests ---- */

/* Twice the mid-rank (from 1) of each of `count` values, in scores[]. -ENOMEM. */
int rank_scores(const double *values, size_t count, uint32_t *scores, struct err *e);

/* The null distribution of the sum of `take` out of `count` scores. */
struct rank_null {
    size_t count, take;
    uint64_t total; /* of all scores */
    double sd;      /* of the sum */
    double *cdf;    /* cdf[s] = P(sum <= s) for s <= total; NULL: too many, normal approximation. Owned */
};
int rank_null_init(struct rank_null *d, const uint32_t *scores, size_t count, size_t take, struct err *e);
void rank_null_release(struct rank_null *d);
/* Two-sided p of a sum, as defined above. */
double rank_null_p(const struct rank_null *d, uint64_t sum);

#endif
