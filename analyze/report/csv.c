/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A comparison as CSV: RFC 4180, save that lines end in LF alone. Text is quoted where it must be, numbers
 * are bare, percentages have two decimals.
 */
#include <math.h>

#include "analyze/report.h"
#include "formats/base/cleanup.h"
#include "formats/base/csv_text.h"

#define HEADER                                                                                               \
    "workload,metric,unit,better,primary,base,candidate,n_base,n_cand,median_base,median_cand,ratio_hl,"     \
    "change_pct,overhead_pct,overhead_lo,overhead_hi,conf,p,p_adjusted,verdict,flags\n"

static int write_texts(struct out *o, const char *const *texts, size_t count, struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        int rc = csv_text_write(o, texts[i], e);
        if (rc < 0)
            return rc;
        out_text(o, ",");
    }
    return 0;
}

static void write_number(struct out *o, double value)
{
    char text[REPORT_NUMBER_BYTES];
    out_printf(o, "%s,", report_number(value, text));
}

static void write_percent(struct out *o, double value)
{
    if (isfinite(value))
        out_printf(o, "%.2f", value);
    out_text(o, ",");
}

static int write_row(const struct pairing *p, const struct row *row, struct out *o, struct err *e)
{
    const char *const lead[] = {p->workload, row->name, row->metric->unit,
            row->metric->more_is_better ? "higher" : "lower", row->primary ? "yes" : "no", p->base, p->cand};
    int rc = write_texts(o, lead, sizeof lead / sizeof *lead, e);
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
    const char *const verdict[] = {verdict_name(row->verdict)};
    rc = write_texts(o, verdict, 1, e);
    struct flags all CLEANUP(flags_release) = {0};
    if (rc == 0 && row->flags.text)
        rc = flags_add(&all, e, "%s", row->flags.text);
    if (rc == 0 && p->flags.text)
        rc = flags_add(&all, e, "%s", p->flags.text);
    if (rc == 0)
        rc = csv_text_write(o, all.text, e);
    out_text(o, "\n");
    return rc;
}

static int write_csv(const struct report *r, struct out *o, struct err *e)
{
    out_text(o, HEADER);
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->pairings[i].comparison.count; j++) {
            int rc = write_row(&r->pairings[i], &r->pairings[i].comparison.rows[j], o, e);
            if (rc < 0)
                return rc;
        }
    return 0;
}

const struct report_ops report_csv = {.name = "csv", .help = "one line for each metric", .write = write_csv};
