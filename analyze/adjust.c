/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/adjust.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ranktest.h"
#include "formats/base/cleanup.h"
#include "formats/base/random.h"

/* Equal splits of metrics with different ties reach equal p by different sums: what lies closer than this is
 * equal. */
#define TOLERANCE 1e-9

struct family {
    size_t metrics, count, take; /* take = n_base */
    uint32_t *scores;            /* metrics rows of count */
    struct rank_null *nulls;     /* one a metric */
    double *p;                   /* observed, by place in `order` */
    size_t *order;               /* rows by observed p, smallest first */
    uint64_t *hits;              /* by place in `order` */
    size_t *split;               /* which columns are the base's */
};

static void family_release(struct family *f)
{
    for (size_t i = 0; f->nulls && i < f->metrics; i++)
        rank_null_release(&f->nulls[i]);
    free(f->nulls);
    free(f->scores);
    free(f->p);
    free(f->order);
    free(f->hits);
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
    for (size_t i = 0; i < f->take; i++)
        sum += scores[f->split[i]];
    return rank_null_p(&f->nulls[row], sum);
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

static int family_init(
        struct family *f, const double *values, size_t metrics, size_t n_base, size_t n_cand, struct err *e)
{
    f->metrics = metrics;
    f->count = n_base + n_cand;
    f->take = n_base;
    f->scores = calloc(metrics * f->count, sizeof *f->scores);
    f->nulls = calloc(metrics, sizeof *f->nulls);
    f->p = calloc(metrics, sizeof *f->p);
    f->order = calloc(metrics, sizeof *f->order);
    f->hits = calloc(metrics, sizeof *f->hits);
    f->split = calloc(f->count, sizeof *f->split);
    if (!f->scores || !f->nulls || !f->p || !f->order || !f->hits || !f->split)
        return err_sys(e, ENOMEM, "cannot adjust %zu metrics", metrics);
    for (size_t i = 0; i < f->take; i++)
        f->split[i] = i;
    for (size_t row = 0; row < metrics; row++) {
        uint32_t *scores = f->scores + row * f->count;
        int rc = rank_scores(values + row * f->count, f->count, scores, e);
        if (rc == 0)
            rc = rank_null_init(&f->nulls[row], scores, f->count, f->take, e);
        if (rc < 0)
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
    return 0;
}

int adjust_p(const double *values, size_t metrics, size_t n_base, size_t n_cand, uint64_t seed,
        double *p_adjusted, struct err *e)
{
    if (!metrics)
        return 0;
    if (!n_base || !n_cand)
        return err_set(e, EINVAL, "cannot adjust for samples of %zu and %zu values", n_base, n_cand);
    struct family f CLEANUP(family_release) = {0};
    int rc = family_init(&f, values, metrics, n_base, n_cand, e);
    if (rc < 0)
        return rc;
    uint64_t splits = adjust_splits(n_base, n_cand);
    bool exact = splits <= ADJUST_EXACT_MAX;
    if (exact) {
        do
            count_split(&f);
        while (next_split(&f));
    } else {
        rc = draw_splits(&f, seed, e);
        if (rc < 0)
            return rc;
    }
    double least = 0;
    for (size_t i = 0; i < metrics; i++) {
        double p = exact ? (double)f.hits[i] / (double)splits
                         : (double)(f.hits[i] + 1) / (double)(ADJUST_DRAWS + 1);
        if (p > least)
            least = p;
        p_adjusted[f.order[i]] = least;
    }
    return 0;
}
