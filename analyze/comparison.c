/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/adjust.h"
#include "analyze/power.h"
#include "analyze/ranktest.h"
#include "formats/base/cleanup.h"

/* For p computed as k/252 against 1 - 0.95, which is not quite 0.05. */
#define TOLERANCE 1e-12

/* With which probability n_needed repetitions would show the difference. */
#define POWER 0.8

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {"same", "faster", "slower", "unsure", "too few runs", "invalid"};
    return names[v];
}

/* ---- the values of one metric ---- */

/* Those of one side that are there, into values[]; how many lack, and whether one has too few I/Os. */
struct taken {
    size_t count, missing;
    bool few;
};
static struct taken take_values(const double *from, size_t count, double *values)
{
    struct taken t = {0};
    for (size_t i = 0; i < count; i++) {
        t.few |= isinf(from[i]);
        t.missing += isnan(from[i]);
        if (isfinite(from[i]))
            values[t.count++] = from[i];
    }
    return t;
}

static double median_copy(const double *values, size_t count)
{
    CLEANUP_FREE double *copy = malloc(count * sizeof *copy + 1);
    if (!copy)
        return NAN;
    memcpy(copy, values, count * sizeof *copy);
    return median_of(copy, count);
}

static bool all_positive(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0))
            return false;
    return true;
}

/* ---- from a shift to a row ---- */

static void fill_ratio(struct row *row, const struct shift *s)
{
    double lo = metric_overhead_pct(row->metric, exp(s->lo)),
           hi = metric_overhead_pct(row->metric, exp(s->hi));
    row->ratio_hl = exp(s->estimate);
    row->change_pct = 100 * (row->ratio_hl - 1);
    row->overhead_pct = metric_overhead_pct(row->metric, row->ratio_hl);
    row->p = s->p;
    if (s->conf > 0) { /* of 1 against 1 there is no interval */
        row->overhead_lo = fmin(lo, hi);
        row->overhead_hi = fmax(lo, hi);
        row->conf = s->conf;
        row->wider = s->wider;
    }
}

/* Ratios by logarithms; where there is a zero, the difference. The rank test is the same for both. *sd
 * becomes the spread of the logarithms within the sides. */
static int fill_row(
        struct row *row, const double *values, const struct comparison_options *o, double *sd, struct err *e)
{
    size_t count = row->n_base + row->n_cand;
    struct shift s;
    CLEANUP_FREE double *logs = malloc(count * sizeof *logs);
    if (!logs)
        return err_sys(e, ENOMEM, "cannot compare %zu values", count);
    bool positive = all_positive(values, count);
    for (size_t i = 0; i < count; i++)
        logs[i] = positive ? log(values[i]) : values[i];
    int rc = ranktest(logs, row->n_base, logs + row->n_base, row->n_cand, o->confidence, &s, e);
    if (rc < 0)
        return rc;
    if (positive) {
        fill_ratio(row, &s);
        *sd = pooled_sd(logs, row->n_base, logs + row->n_base, row->n_cand);
        return row->wider ? flags_add(&row->flags, e, "spreads_differ") : 0;
    }
    row->p = s.p;
    return flags_add(&row->flags, e, "not_positive:difference=%.6g", s.estimate);
}

/* ---- verdicts ---- */

static double margin_of(const struct metric *m, const struct comparison_options *o)
{
    return o->margin * (m->tail ? 2 : 1);
}

static bool within_margin(const struct row *row, const struct comparison_options *o)
{
    if (isnan(row->ratio_hl))
        return row->median_base == row->median_cand && row->p == 1;
    double margin = log1p(margin_of(row->metric, o));
    /* overhead + 1 is the ratio or its inverse: the same on logarithms. */
    return fabs(log1p(row->overhead_lo / 100)) <= margin + TOLERANCE &&
           fabs(log1p(row->overhead_hi / 100)) <= margin + TOLERANCE;
}

/* The test takes spreads as equal; where they are not, it is the interval that tells. */
static bool could_be_none(const struct row *row)
{
    return row->wider && row->overhead_lo <= 0 && row->overhead_hi >= 0;
}

static bool is_worse(const struct row *row)
{
    if (!isnan(row->overhead_pct))
        return row->overhead_pct > 0;
    return row->metric->more_is_better ? row->median_cand < row->median_base
                                       : row->median_cand > row->median_base;
}

static enum verdict judge(const struct row *row, const struct side *base, const struct side *cand,
        const struct comparison_options *o)
{
    double alpha = 1 - o->confidence + TOLERANCE;
    double p = row->primary ? row->p : row->p_adjusted;
    if (base->left_out > base->count || cand->left_out > cand->count)
        return VERDICT_INVALID;
    if (!base->count || !cand->count || ranktest_p_min(base->count, cand->count) > alpha)
        return VERDICT_TOO_FEW;
    if (isnan(row->p))
        return VERDICT_UNSURE;
    if (ranktest_p_min(row->n_base, row->n_cand) > alpha)
        return VERDICT_TOO_FEW;
    if (within_margin(row, o))
        return VERDICT_SAME;
    if (p > alpha || could_be_none(row))
        return VERDICT_UNSURE;
    return is_worse(row) ? VERDICT_SLOWER : VERDICT_FASTER;
}

/* ---- all metrics ---- */

/* What is known of a row beside the row itself. */
struct aside {
    bool member; /* of the family that p is adjusted for */
    double sd;   /* NAN where not known */
};

static void begin_row(struct row *row, const struct contrast *k, const struct comparison_options *o)
{
    *row = (struct row){.metric = k->metric, .name = k->name, .stream = k->stream, .primary = k->primary};
    row->median_base = row->median_cand = row->ratio_hl = row->change_pct = row->overhead_pct = NAN;
    row->overhead_lo = row->overhead_hi = row->conf = row->p = row->p_adjusted = row->n_needed = NAN;
    row->margin_pct = 100 * margin_of(k->metric, o);
}

static int make_row(struct row *row, const struct contrast *k, const struct side *base,
        const struct side *cand, const struct comparison_options *o, struct aside *aside, struct err *e)
{
    begin_row(row, k, o);
    CLEANUP_FREE double *values = malloc((base->count + cand->count) * sizeof *values + 1);
    if (!values)
        return err_sys(e, ENOMEM, "cannot compare %zu values", base->count + cand->count);
    struct taken b = take_values(k->values, base->count, values);
    struct taken c = take_values(k->values + base->count, cand->count, values + b.count);
    row->n_base = b.few ? 0 : b.count;
    row->n_cand = c.few ? 0 : c.count;
    row->median_base = median_copy(values, row->n_base);
    row->median_cand = median_copy(values + b.count, row->n_cand);
    if (b.few || c.few)
        return flags_add(&row->flags, e, "too_few_ios");
    if (!base->count || !cand->count)
        return 0;
    if (!row->n_base || !row->n_cand)
        return flags_add(&row->flags, e, "not_measured");
    if (b.missing + c.missing) {
        int rc = flags_add(&row->flags, e, "not_measured=%zu", b.missing + c.missing);
        if (rc < 0)
            return rc;
    }
    aside->member = !row->primary;
    return fill_row(row, values, o, &aside->sd, e);
}

/* The family: all rows with numbers but the primary one. *tests becomes how many independent tests it is
 * worth. */
static int adjust_rows(struct comparison *c, const struct contrast *contrasts, const struct aside *asides,
        const struct comparison_options *o, double *tests, struct err *e)
{
    size_t width = c->base.count + c->cand.count, members = 0;
    CLEANUP_FREE double *family = calloc(c->count * width + 1, sizeof *family);
    CLEANUP_FREE double *p = calloc(c->count + 1, sizeof *p);
    *tests = 1;
    if (!family || !p)
        return err_sys(e, ENOMEM, "cannot adjust %zu metrics", c->count);
    for (size_t i = 0; i < c->count; i++)
        if (asides[i].member)
            memcpy(family + width * members++, contrasts[i].values, width * sizeof *family);
    struct adjust_options adjust = {.seed = o->seed, .alpha = 1 - o->confidence};
    int rc = adjust_p(family, members, c->base.count, c->cand.count, &adjust, p, tests, e);
    for (size_t i = 0, k = 0; rc == 0 && i < c->count; i++)
        if (asides[i].member)
            c->rows[i].p_adjusted = p[k++];
    return rc;
}

/* How many repetitions would show the difference that is asked for. */
static double needed(const struct row *row, double sd, double tests, const struct comparison_options *o)
{
    double shift = log1p(o->detect > 0 ? o->detect : row->margin_pct / 100);
    if (row->verdict != VERDICT_UNSURE || !isfinite(sd) || !(shift > 0))
        return NAN;
    return power_repetitions(sd, shift, (1 - o->confidence) / (row->primary ? 1 : tests), POWER);
}

static int make_rows(struct comparison *c, const struct contrast *contrasts, size_t count,
        const struct comparison_options *o, struct err *e)
{
    double tests;
    CLEANUP_FREE struct aside *asides = calloc(count + 1, sizeof *asides);
    c->rows = calloc(count + 1, sizeof *c->rows);
    if (!asides || !c->rows)
        return err_sys(e, ENOMEM, "cannot compare %zu metrics", count);
    for (size_t i = 0; i < count; i++) {
        asides[i].sd = NAN;
        c->count++;
        int rc = make_row(&c->rows[i], &contrasts[i], &c->base, &c->cand, o, &asides[i], e);
        if (rc < 0)
            return rc;
    }
    int rc = adjust_rows(c, contrasts, asides, o, &tests, e);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct row *row = &c->rows[i];
        row->verdict = judge(row, &c->base, &c->cand, o);
        row->n_needed = needed(row, asides[i].sd, tests, o);
    }
    return rc;
}

int comparison_make(struct comparison *c, const char *workload, const struct side *base,
        const struct side *cand, const struct contrast *contrasts, size_t count,
        const struct comparison_options *o, struct err *e)
{
    *c = (struct comparison){.workload = strdup(workload), .base = *base, .cand = *cand};
    int rc = c->workload ? make_rows(c, contrasts, count, o, e) : err_sys(e, ENOMEM, "cannot hold a name");
    if (rc < 0)
        comparison_release(c);
    return rc;
}

void comparison_release(struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        flags_release(&c->rows[i].flags);
    for (size_t i = 0; i < c->difference_count; i++) {
        free(c->differences[i].key);
        free(c->differences[i].base);
        free(c->differences[i].cand);
    }
    free(c->rows);
    free(c->differences);
    free(c->workload);
    flags_release(&c->flags);
    *c = (struct comparison){0};
}
