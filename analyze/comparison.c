/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/adjust.h"
#include "analyze/ranktest.h"
#include "formats/base/cleanup.h"

/* For p computed as k/252 against 1 - 0.95, which is not quite 0.05. */
#define TOLERANCE 1e-12

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {"same", "faster", "slower", "unsure", "too few runs", "invalid"};
    return names[v];
}

/* ---- the values of one metric ---- */

/* The worst state among a side's repetitions; a metric that only some have is one with too few. */
static enum metric_state side_values(const struct metric *m, const struct side *side, double *values)
{
    size_t absent = 0, few = 0;
    for (size_t i = 0; i < side->count; i++) {
        enum metric_state state = metric_value(m, side->results[i], &values[i]);
        absent += state == METRIC_ABSENT;
        few += state == METRIC_TOO_FEW;
    }
    if (absent == side->count)
        return METRIC_ABSENT;
    return absent || few ? METRIC_TOO_FEW : METRIC_OK;
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

/* What the candidate's work costs more, in percent, for a ratio of the metric. */
static double overhead_of(const struct metric *m, double ratio)
{
    return 100 * ((m->more_is_better ? 1 / ratio : ratio) - 1);
}

static void fill_ratio(struct row *row, const struct shift *s)
{
    double lo = overhead_of(row->metric, exp(s->lo)), hi = overhead_of(row->metric, exp(s->hi));
    row->ratio_hl = exp(s->estimate);
    row->change_pct = 100 * (row->ratio_hl - 1);
    row->overhead_pct = overhead_of(row->metric, row->ratio_hl);
    row->p = s->p;
    if (s->conf > 0) { /* of 1 against 1 there is no interval */
        row->overhead_lo = fmin(lo, hi);
        row->overhead_hi = fmax(lo, hi);
        row->conf = s->conf;
    }
}

/* Ratios by logarithms; where there is a zero, the difference. The rank test is the same for both. */
static int fill_row(struct row *row, const double *values, const struct comparison_options *o, struct err *e)
{
    size_t count = row->n_base + row->n_cand;
    struct shift s;
    CLEANUP_FREE double *logs = malloc(count * sizeof *logs);
    if (!logs)
        return err_sys(e, ENOMEM, "cannot compare %zu values", count);
    row->median_base = median_copy(values, row->n_base);
    row->median_cand = median_copy(values + row->n_base, row->n_cand);
    bool positive = all_positive(values, count);
    for (size_t i = 0; i < count; i++)
        logs[i] = positive ? log(values[i]) : values[i];
    int rc = ranktest(logs, row->n_base, logs + row->n_base, row->n_cand, o->confidence, &s, e);
    if (rc < 0)
        return rc;
    if (positive) {
        fill_ratio(row, &s);
        return 0;
    }
    row->p = s.p;
    return flags_add(&row->flags, e, "not_positive:difference=%.6g", s.estimate);
}

/* ---- verdicts ---- */

static bool within_margin(const struct row *row, const struct comparison_options *o)
{
    if (isnan(row->ratio_hl))
        return row->median_base == row->median_cand && row->p == 1;
    double margin = log1p(o->margin * (row->metric->tail ? 2 : 1));
    /* overhead + 1 is the ratio or its inverse: the same on logarithms. */
    return fabs(log1p(row->overhead_lo / 100)) <= margin + TOLERANCE &&
           fabs(log1p(row->overhead_hi / 100)) <= margin + TOLERANCE;
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
    if (within_margin(row, o))
        return VERDICT_SAME;
    if (p > alpha)
        return VERDICT_UNSURE;
    return is_worse(row) ? VERDICT_SLOWER : VERDICT_FASTER;
}

/* ---- all metrics ---- */

static struct row *add_row(struct comparison *c, const struct metric *m, enum timing timing)
{
    struct row *row = &c->rows[c->count++];
    *row = (struct row){.metric = m, .name = metric_name(m, timing), .primary = m->primary & (1U << timing)};
    row->median_base = row->median_cand = row->ratio_hl = row->change_pct = row->overhead_pct = NAN;
    row->overhead_lo = row->overhead_hi = row->conf = row->p = row->p_adjusted = NAN;
    return row;
}

/* One row of the metric, if both sides have it; values[] of it stays filled in where `*usable`. */
static int make_row(struct comparison *c, const struct metric *m, const struct side *base,
        const struct side *cand, enum timing timing, const struct comparison_options *o, double *values,
        bool *usable, struct err *e)
{
    *usable = false;
    enum metric_state b = side_values(m, base, values), d = side_values(m, cand, values + base->count);
    if (b == METRIC_ABSENT && d == METRIC_ABSENT && (base->count || cand->count) &&
            !(m->primary & (1U << timing)))
        return 0;
    struct row *row = add_row(c, m, timing);
    row->n_base = b == METRIC_OK ? base->count : 0;
    row->n_cand = d == METRIC_OK ? cand->count : 0;
    if (!base->count || !cand->count)
        return 0;
    if (!row->n_base || !row->n_cand) {
        bool few = b == METRIC_TOO_FEW || d == METRIC_TOO_FEW;
        return flags_add(&row->flags, e, few ? "too_few_ios" : "not_measured");
    }
    int rc = fill_row(row, values, o, e);
    *usable = rc == 0;
    return rc;
}

/* The family: all rows with numbers but the primary one. */
static int adjust_rows(struct comparison *c, const double *family, const size_t *members, size_t count,
        const struct side *base, const struct side *cand, const struct comparison_options *o, struct err *e)
{
    double *p = calloc(count + 1, sizeof *p);
    if (!p)
        return err_sys(e, ENOMEM, "cannot adjust %zu metrics", count);
    int rc = adjust_p(family, count, base->count, cand->count, o->seed, p, e);
    for (size_t i = 0; rc == 0 && i < count; i++)
        c->rows[members[i]].p_adjusted = p[i];
    free(p);
    return rc;
}

static int make_rows(struct comparison *c, const struct side *base, const struct side *cand,
        const struct metrics *metrics, enum timing timing, const struct comparison_options *o, struct err *e)
{
    size_t width = base->count + cand->count, members = 0;
    CLEANUP_FREE double *family = calloc(metrics->count * (width + 1), sizeof *family);
    CLEANUP_FREE size_t *member = calloc(metrics->count + 1, sizeof *member);
    c->rows = calloc(metrics->count + 1, sizeof *c->rows);
    if (!family || !member || !c->rows)
        return err_sys(e, ENOMEM, "cannot compare %zu metrics", metrics->count);
    for (size_t i = 0; i < metrics->count; i++) {
        const struct metric *m = &metrics->list[i];
        bool usable;
        if (!(m->timings & (1U << timing)))
            continue;
        int rc = make_row(c, m, base, cand, timing, o, family + members * width, &usable, e);
        if (rc < 0)
            return rc;
        if (usable && !c->rows[c->count - 1].primary)
            member[members++] = c->count - 1;
    }
    return adjust_rows(c, family, member, members, base, cand, o, e);
}

int comparison_make(struct comparison *c, const struct side *base, const struct side *cand,
        const struct metrics *metrics, enum timing timing, const struct comparison_options *o, struct err *e)
{
    *c = (struct comparison){0};
    int rc = make_rows(c, base, cand, metrics, timing, o, e);
    if (rc < 0) {
        comparison_release(c);
        return rc;
    }
    for (size_t i = 0; i < c->count; i++)
        c->rows[i].verdict = judge(&c->rows[i], base, cand, o);
    return 0;
}

void comparison_release(struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        flags_release(&c->rows[i].flags);
    free(c->rows);
    *c = (struct comparison){0};
}
