/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A comparison as CSV: RFC 4180, save that lines end in LF alone. Text is quoted where it must be, numbers
 * are bare, percentages have two decimals.
 */
#include "analyze/report.h"
#include "formats/base/cleanup.h"
#include "formats/base/csv_text.h"

#define HEADER                                                                                               \
    "workload,stream,metric,unit,better,primary,base,candidate,n_base,n_cand,median_base,median_cand,"       \
    "ratio_hl,change_pct,overhead_pct,overhead_lo,overhead_hi,conf,p,p_adjusted,verdict,n_needed,flags\n"

/* What means stand under. */
#define MEAN_WORKLOAD "(geometric mean)"

static void write_number(struct out *o, double value)
{
    char text[REPORT_NUMBER_BYTES];
    out_printf(o, "%s,", report_number(value, text));
}

static void write_percent(struct out *o, double value)
{
    char text[REPORT_NUMBER_BYTES];
    out_printf(o, "%s,", report_percent(value, text));
}

static const char *better(const struct metric *m)
{
    return m->more_is_better ? "higher" : "lower";
}

static int write_row(const struct comparison *c, const struct row *row, struct out *o, struct err *e)
{
    struct flags all CLEANUP(flags_release) = {0};
    const char *const lead[] = {c->workload, row->stream, row->name, row->metric->unit, better(row->metric),
            row->primary ? "yes" : "no", c->base.name, c->cand.name};
    int rc = csv_texts_write_safe(o, lead, sizeof lead / sizeof *lead, e);
    if (rc == 0)
        rc = report_flags(&all, c, row, e);
    if (rc < 0)
        return rc;
    out_printf(o, "%zu,%zu,", row->n_base, row->n_cand);
    write_number(o, row->median_base);
    write_number(o, row->median_cand);
    write_number(o, row->ratio_hl);
    write_percent(o, row->change_pct);
    write_percent(o, row->overhead_pct);
    write_percent(o, row->overhead_lo);
    write_percent(o, row->overhead_hi);
    write_number(o, row->conf);
    write_number(o, row->p);
    write_number(o, row->p_adjusted);
    out_printf(o, "%s,", verdict_name(row->verdict));
    write_number(o, row->n_needed);
    rc = csv_text_write_safe(o, all.text, e);
    out_text(o, "\n");
    return rc;
}

/* No n, no interval and no test: workloads are not repetitions. */
static int write_mean(const struct mean *m, struct out *o, struct err *e)
{
    const char *const lead[] = {
            MEAN_WORKLOAD, "", m->name, m->metric->unit, better(m->metric), "no", m->base, m->cand};
    int rc = csv_texts_write_safe(o, lead, sizeof lead / sizeof *lead, e);
    out_text(o, ",,,,");
    write_number(o, m->ratio);
    write_percent(o, m->change_pct);
    write_percent(o, m->overhead_pct);
    out_printf(o, ",,,,,%s,,workloads=%zu/%zu\n", m->verdict, m->matched, m->workloads);
    return rc;
}

static int write_csv(const struct report *r, struct out *o, struct err *e)
{
    int rc = 0;
    out_text(o, HEADER);
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->comparisons[i].count && rc == 0; j++)
            rc = write_row(&r->comparisons[i], &r->comparisons[i].rows[j], o, e);
    for (size_t i = 0; i < r->mean_count && rc == 0; i++)
        rc = write_mean(&r->means[i], o, e);
    return rc;
}

const struct report_ops report_csv = {.name = "csv", .help = "one line for each metric", .write = write_csv};
