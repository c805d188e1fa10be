/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/ranktest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/order.h"

/* Variance of placements, as a multiple of what it is with equal spreads, from which on intervals are wider.
 * Samples of equal spreads are seldom that far (of 10 against 10 one in a hundred), and those of 1:20 mostly.
 */
#define SPREADS_DIFFER 1.2

double median_of(double *values, size_t count)
{
    if (!count)
        return NAN;
    qsort(values, count, sizeof *values, order_double);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double ranktest_p_min(size_t n_base, size_t n_cand)
{
    double total = (double)(n_base + n_cand), small = (double)(n_base < n_cand ? n_base : n_cand), p = 2;
    for (double i = 0; i < small; i++)
        p *= (i + 1) / (total - i);
    return p < 1 ? p : 1;
}

/* How many of the sorted values are below `value` (or not above it). */
static size_t count_upto(const double *sorted, size_t count, double value, bool or_equal)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (sorted[mid] < value || (or_equal && sorted[mid] == value))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int rank_scores(const double *values, size_t count, uint32_t *scores, struct err *e)
{
    CLEANUP_FREE double *sorted = malloc(count * sizeof *sorted + 1);
    if (!sorted)
        return err_sys(e, ENOMEM, "cannot rank %zu values", count);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, order_double);
    /* Of a run of equal values at ranks first..last, twice the mean rank is first + last. */
    for (size_t i = 0; i < count; i++)
        scores[i] = (uint32_t)(count_upto(sorted, count, values[i], false) + 1 +
                               count_upto(sorted, count, values[i], true));
    return 0;
}

/* ways[k * (total + 1) + s]: in how many ways k of the scores seen so far have the sum s. One score more
 * shifts row k - 1 onto row k. No sum is above `reached`, that of all scores up to this one. */
static void add_score(double *ways, size_t take, uint64_t total, uint64_t reached, uint32_t score)
{
    for (size_t k = take; k > 0; k--) {
        double *row = ways + k * (total + 1);
        const double *less = row - (total + 1);
        for (uint64_t s = reached; s >= score; s--) {
            row[s] += less[s - score];
            if (s == 0)
                break;
        }
    }
}

static int exact_cdf(struct rank_null *d, const uint32_t *scores, struct err *e)
{
    size_t width = d->total + 1;
    CLEANUP_FREE double *ways = calloc((d->take + 1) * width, sizeof *ways);
    double *cdf = malloc(width * sizeof *cdf);
    if (!ways || !cdf) {
        free(cdf);
        return err_sys(e, ENOMEM, "cannot hold the distribution of %zu ranks", d->count);
    }
    ways[0] = 1;
    uint64_t reached = 0;
    for (size_t i = 0; i < d->count; i++)
        add_score(ways, i < d->take ? i + 1 : d->take, d->total, reached += scores[i], scores[i]);
    const double *row = ways + d->take * width;
    double all = 0, below = 0;
    for (size_t s = 0; s < width; s++)
        all += row[s];
    for (size_t s = 0; s < width; s++)
        cdf[s] = (below += row[s]) / all;
    d->cdf = cdf;
    return 0;
}

int rank_null_init(struct rank_null *d, const uint32_t *scores, size_t count, size_t take, struct err *e)
{
    *d = (struct rank_null){.count = count, .take = take};
    if (count > RANKTEST_COUNT_MAX)
        return err_set(e, E2BIG, "cannot rank %zu values: %d are the most", count, RANKTEST_COUNT_MAX);
    for (size_t i = 0; i < count; i++)
        d->total += scores[i];
    /* Variance of the sum of a sample without replacement. */
    double mean = (double)d->total / (double)count, squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += ((double)scores[i] - mean) * ((double)scores[i] - mean);
    double n = (double)count, m = (double)take;
    d->sd = count > 1 ? sqrt(m * (n - m) / (n * (n - 1)) * squares) : 0;
    return count <= RANKTEST_EXACT_MAX ? exact_cdf(d, scores, e) : 0;
}

void rank_null_release(struct rank_null *d)
{
    free(d->cdf);
    *d = (struct rank_null){0};
}

double rank_null_p(const struct rank_null *d, uint64_t sum)
{
    /* In units of 1/count the mean is whole: take * total. */
    int64_t n = (int64_t)d->count, mean = (int64_t)(d->take * d->total);
    int64_t away = llabs((int64_t)sum * n - mean);
    if (!away || d->sd == 0)
        return 1;
    if (!d->cdf) {
        /* Ranks move by 1, doubled ones by 2: half of that is the continuity correction. */
        double z = ((double)away / (double)n - 1) / d->sd;
        return z > 0 ? erfc(z / M_SQRT2) : 1;
    }
    double p = 0;
    int64_t low = mean - away, high = mean + away; /* both tails, ends included */
    if (low >= 0)
        p += d->cdf[low / n];
    int64_t first = (high + n - 1) / n;
    if (first <= (int64_t)d->total)
        p += fmax(0, 1 - d->cdf[first - 1]); /* the sum may end a rounding above 1 */
    return p < 1 ? p : 1;
}

/* P(U <= k - 1) for samples without ties; `d` is the null of the doubled ranks 2, 4, ..., and U = (sum / 2) -
 * take (take + 1) / 2. */
static double u_below(const struct rank_null *d, uint64_t k)
{
    if (!k)
        return 0;
    double m = (double)d->take;
    if (d->cdf) {
        uint64_t s = 2 * (k - 1) + d->take * (d->take + 1);
        return d->cdf[s < d->total ? s : d->total];
    }
    double mean = m * (double)(d->count - d->take) / 2;
    return erfc((mean - ((double)k - 0.5)) / (d->sd / 2) / M_SQRT2) / 2;
}

/* The largest k with u_below(k) <= alpha / 2, but at least 1: by bisection, since u_below grows. */
static uint64_t interval_rank(const struct rank_null *d, uint64_t pairs, double alpha)
{
    uint64_t lo = 1, hi = (pairs + 1) / 2;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo + 1) / 2;
        if (u_below(d, mid) <= alpha / 2)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* Of each value of `a`, how many of `b` are below it (equal ones count half): the sum of squares around their
 * mean, which goes to *mean. */
static double placements(const double *a, size_t n_a, const double *b, size_t n_b, double shift, double *mean)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n_a; i++) {
        double below = 0;
        for (size_t j = 0; j < n_b; j++)
            below += b[j] < a[i] + shift ? 1 : b[j] == a[i] + shift ? 0.5 : 0;
        sum += below;
        squares += below * below;
    }
    *mean = sum / (double)n_a;
    return squares - sum * *mean;
}

/* By how much an interval must be wider than that of equal spreads; 1: not at all. See the header. */
static double widening(const double *base, size_t n_base, const double *cand, size_t n_cand, double shift)
{
    double mean_base, mean_cand, m = (double)n_base, n = (double)n_cand;
    double squares = placements(base, n_base, cand, n_cand, shift, &mean_base) +
                     placements(cand, n_cand, base, n_base, -shift, &mean_cand);
    double null = m * n * (m + n + 1) / 12;
    return squares > SPREADS_DIFFER * null ? sqrt((squares + mean_base * mean_cand) / null) : 1;
}

static void interval(const struct rank_null *untied, const double *sorted, uint64_t pairs, double confidence,
        double wider, struct shift *out)
{
    uint64_t k = interval_rank(untied, pairs, 1 - confidence);
    double outside = 2 * u_below(untied, k), centre = ((double)pairs + 1) / 2;
    out->conf = outside < 1 ? 1 - outside : 0;
    out->wider = wider > 1;
    if (out->wider)
        k = (uint64_t)fmax(1, floor(centre - (centre - (double)k) * wider));
    out->lo = sorted[k - 1];
    out->hi = sorted[pairs - k];
}

/* Test and interval from the ranks of all values, the base's first, and the sorted differences. Without ties
 * both follow from one distribution. */
static int from_ranks(uint32_t *scores, size_t n_base, size_t n_cand, const double *sorted, double confidence,
        double wider, struct shift *out, struct err *e)
{
    struct rank_null d CLEANUP(rank_null_release) = {0}, untied CLEANUP(rank_null_release) = {0};
    size_t count = n_base + n_cand;
    uint64_t sum = 0, squares = 0;
    int rc = rank_null_init(&d, scores, count, n_base, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++) {
        sum += i < n_base ? scores[i] : 0;
        squares += (uint64_t)scores[i] * scores[i];
    }
    out->p = rank_null_p(&d, sum);
    /* Ties leave the sum of the doubled ranks 2, 4, ... as it is and lessen that of their squares. */
    uint64_t n = count;
    if (squares == 2 * n * (n + 1) * (2 * n + 1) / 3) {
        interval(&d, sorted, n_base * n_cand, confidence, wider, out);
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        scores[i] = 2 * (uint32_t)(i + 1);
    rc = rank_null_init(&untied, scores, count, n_base, e);
    if (rc == 0)
        interval(&untied, sorted, n_base * n_cand, confidence, wider, out);
    return rc;
}

static int rank_both(
        const double *base, size_t n_base, const double *cand, size_t n_cand, uint32_t *scores, struct err *e)
{
    size_t count = n_base + n_cand;
    CLEANUP_FREE double *all = malloc(count * sizeof *all);
    if (!all)
        return err_sys(e, ENOMEM, "cannot rank %zu values", count);
    memcpy(all, base, n_base * sizeof *all);
    memcpy(all + n_base, cand, n_cand * sizeof *all);
    return rank_scores(all, count, scores, e);
}

static int check_samples(const double *base, size_t n_base, const double *cand, size_t n_cand,
        double confidence, struct err *e)
{
    if (!n_base || !n_cand)
        return err_set(e, EINVAL, "cannot compare samples of %zu and %zu values", n_base, n_cand);
    if (!(confidence > 0 && confidence < 1))
        return err_set(e, EINVAL, "a confidence of %g is not between 0 and 1", confidence);
    if (n_base > RANKTEST_PAIRS_MAX / n_cand)
        return err_set(
                e, E2BIG, "cannot compare samples of %zu and %zu values: too many pairs", n_base, n_cand);
    for (size_t i = 0; i < n_base; i++)
        if (!isfinite(base[i]))
            return err_set(e, EINVAL, "cannot compare samples with a value that is not finite");
    for (size_t i = 0; i < n_cand; i++)
        if (!isfinite(cand[i]))
            return err_set(e, EINVAL, "cannot compare samples with a value that is not finite");
    return 0;
}

int ranktest(const double *base, size_t n_base, const double *cand, size_t n_cand, double confidence,
        struct shift *out, struct err *e)
{
    struct shift s = {0};
    int rc = check_samples(base, n_base, cand, n_cand, confidence, e);
    if (rc < 0)
        return rc;
    CLEANUP_FREE double *diff = malloc(n_base * n_cand * sizeof *diff);
    CLEANUP_FREE uint32_t *scores = malloc((n_base + n_cand) * sizeof *scores);
    if (!diff || !scores)
        return err_sys(e, ENOMEM, "cannot hold %zu differences", n_base * n_cand);
    for (size_t i = 0; i < n_base; i++)
        for (size_t j = 0; j < n_cand; j++)
            diff[i * n_cand + j] = cand[j] - base[i];
    s.estimate = median_of(diff, n_base * n_cand); /* sorts them */
    rc = rank_both(base, n_base, cand, n_cand, scores, e);
    double wider = widening(base, n_base, cand, n_cand, s.estimate);
    if (rc == 0)
        rc = from_ranks(scores, n_base, n_cand, diff, confidence, wider, &s, e);
    if (rc == 0)
        *out = s;
    return rc;
}
