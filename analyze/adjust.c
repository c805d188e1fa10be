/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/adjust.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ranktest.h"
#include "formats/base/cleanup.h"
#include "formats/base/order.h"
#include "formats/base/random.h"

/* Equal splits of metrics with different ties reach equal p by different sums: what lies closer than this is
 * equal. */
#define TOLERANCE 1e-9

struct family {
    size_t metrics, count, take; /* take = n_base */
    uint32_t *scores;            /* metrics rows of count; 0: this repetition lacks the metric */
    struct rank_null *nulls;     /* take + 1 a metric: by how many of its values are the base's */
    double *p;                   /* observed, by place in `order` */
    size_t *order;               /* rows by observed p, smallest first */
    uint64_t *hits;              /* by place in `order` */
    double *least;               /* of each split */
    size_t splits;               /* counted so far */
    size_t *split;               /* which columns are the base's */
};

static void family_release(struct family *f)
{
    for (size_t i = 0; f->nulls && i < f->metrics * (f->take + 1); i++)
        rank_null_release(&f->nulls[i]);
    free(f->nulls);
    free(f->scores);
    free(f->p);
    free(f->order);
    free(f->hits);
    free(f->least);
    free(f->split);
}

uint64_t adjust_splits(size_t n_base, size_t n_cand)
{
    unsigned __int128 ways = 1;
    size_t small = n_base < n_cand ? n_base : n_cand;
    for (size_t i = 0; i < small; i++) {
        ways = ways * (n_base + n_cand - i) / (i + 1);
        if (ways > UINT64_MAX)
            return UINT64_MAX;
    }
    return (uint64_t)ways;
}

static double split_p(const struct family *f, size_t row)
{
    const uint32_t *scores = f->scores + row * f->count;
    uint64_t sum = 0;
    size_t there = 0;
    for (size_t i = 0; i < f->take; i++) {
        sum += scores[f->split[i]];
        there += scores[f->split[i]] != 0;
    }
    const struct rank_null *d = &f->nulls[row * (f->take + 1) + there];
    return d->count ? rank_null_p(d, sum) : 1; /* all values on one side */
}

/* One split: successive minima from the largest observed p down, each compared with its own. */
static void count_split(struct family *f)
{
    double least = 1;
    for (size_t i = f->metrics; i-- > 0;) {
        double p = split_p(f, f->order[i]);
        if (p < least)
            least = p;
        f->hits[i] += least <= f->p[i] * (1 + TOLERANCE);
    }
    f->least[f->splits++] = least;
}

/* The next of the sorted choices of `take` out of `count`; false after the last. */
static bool next_split(struct family *f)
{
    size_t i = f->take;
    while (i > 0 && f->split[i - 1] == f->count - f->take + i - 1)
        i--;
    if (!i)
        return false;
    size_t v = ++f->split[i - 1];
    for (; i < f->take; i++)
        f->split[i] = ++v;
    return true;
}

/* Below n, which is small: the product's high half (D. Lemire, ACM TOMACS 29 (2019) 3); the bias of at
 * most n / 2^64 does not matter here. */
static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(((unsigned __int128)random_next(state) * n) >> 64);
}

static int draw_splits(struct family *f, uint64_t seed, struct err *e)
{
    CLEANUP_FREE size_t *columns = malloc(f->count * sizeof *columns);
    if (!columns)
        return err_sys(e, ENOMEM, "cannot permute %zu repetitions", f->count);
    for (size_t i = 0; i < f->count; i++)
        columns[i] = i;
    for (size_t draw = 0; draw < ADJUST_DRAWS; draw++) {
        for (size_t i = 0; i < f->take; i++) {
            size_t j = i + random_below(&seed, f->count - i), swap = columns[i];
            columns[i] = columns[j];
            columns[j] = swap;
        }
        memcpy(f->split, columns, f->take * sizeof *columns);
        count_split(f);
    }
    return 0;
}

static int family_alloc(struct family *f, size_t splits, struct err *e)
{
    f->scores = calloc(f->metrics * f->count, sizeof *f->scores);
    f->nulls = calloc(f->metrics * (f->take + 1), sizeof *f->nulls);
    f->p = calloc(f->metrics, sizeof *f->p);
    f->order = calloc(f->metrics, sizeof *f->order);
    f->hits = calloc(f->metrics, sizeof *f->hits);
    f->least = calloc(splits, sizeof *f->least);
    f->split = calloc(f->count, sizeof *f->split);
    if (!f->scores || !f->nulls || !f->p || !f->order || !f->hits || !f->least || !f->split)
        return err_sys(e, ENOMEM, "cannot adjust %zu metrics", f->metrics);
    for (size_t i = 0; i < f->take; i++)
        f->split[i] = i;
    return 0;
}

/* Ranks of the values that are there, and their null distribution for each number of them that may come to
 * the base.
 */
static int rank_row(struct family *f, size_t row, const double *values, struct err *e)
{
    CLEANUP_FREE double *there = malloc(f->count * sizeof *there);
    CLEANUP_FREE uint32_t *ranks = malloc(f->count * sizeof *ranks);
    size_t count = 0, others = f->count - f->take;
    if (!there || !ranks)
        return err_sys(e, ENOMEM, "cannot adjust %zu metrics", f->metrics);
    for (size_t i = 0; i < f->count; i++)
        if (!isnan(values[i]))
            there[count++] = values[i];
    int rc = rank_scores(there, count, ranks, e);
    for (size_t i = 0, k = 0; rc == 0 && i < f->count; i++)
        if (!isnan(values[i]))
            f->scores[row * f->count + i] = ranks[k++];
    for (size_t n = count > others ? count - others : 1; rc == 0 && n <= f->take && n < count; n++)
        rc = rank_null_init(&f->nulls[row * (f->take + 1) + n], ranks, count, n, e);
    return rc;
}

static int family_init(struct family *f, const double *values, size_t splits, struct err *e)
{
    int rc = family_alloc(f, splits, e);
    for (size_t row = 0; rc == 0 && row < f->metrics; row++) {
        if ((rc = rank_row(f, row, values + row * f->count, e)) < 0)
            return rc;
        /* Insertion keeps equal ones in the order of the rows. */
        double p = split_p(f, row);
        size_t at = row;
        for (; at > 0 && f->p[at - 1] > p; at--) {
            f->p[at] = f->p[at - 1];
            f->order[at] = f->order[at - 1];
        }
        f->p[at] = p;
        f->order[at] = row;
    }
    return rc;
}

/* What the family is worth: from the distribution of the smallest p of all. */
static double worth(struct family *f, double alpha)
{
    qsort(f->least, f->splits, sizeof *f->least, order_double);
    size_t at = (size_t)(alpha * (double)f->splits), upto = at;
    double t = f->least[at < f->splits ? at : f->splits - 1];
    while (upto < f->splits && f->least[upto] <= t * (1 + TOLERANCE))
        upto++;
    double tests = (double)upto / (double)f->splits / t;
    return tests < 1 ? 1 : tests > (double)f->metrics ? (double)f->metrics : tests;
}

int adjust_p(const double *values, size_t metrics, size_t n_base, size_t n_cand,
        const struct adjust_options *o, double *p_adjusted, double *tests, struct err *e)
{
    *tests = 1;
    if (!metrics)
        return 0;
    if (!n_base || !n_cand)
        return err_set(e, EINVAL, "cannot adjust for samples of %zu and %zu values", n_base, n_cand);
    struct family f CLEANUP(family_release) = {.metrics = metrics, .count = n_base + n_cand, .take = n_base};
    uint64_t splits = adjust_splits(n_base, n_cand);
    bool exact = splits <= ADJUST_EXACT_MAX;
    int rc = family_init(&f, values, exact ? splits : ADJUST_DRAWS, e);
    if (rc == 0 && exact)
        do
            count_split(&f);
        while (next_split(&f));
    else if (rc == 0)
        rc = draw_splits(&f, o->seed, e);
    if (rc < 0)
        return rc;
    double least = 0;
    for (size_t i = 0; i < metrics; i++) {
        double p = exact ? (double)f.hits[i] / (double)splits
                         : (double)(f.hits[i] + 1) / (double)(ADJUST_DRAWS + 1);
        if (p > least)
            least = p;
        p_adjusted[f.order[i]] = least;
    }
    *tests = worth(&f, o->alpha);
    return 0;
}
