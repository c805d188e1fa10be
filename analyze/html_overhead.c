/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What each metric costs more: a plot, a table, and what is to be said of it.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/html.h"
#include "analyze/html_flags.h"
#include "analyze/html_report.h"
#include "analyze/plot_axis.h"
#include "analyze/plot_text.h"
#include "analyze/report_tables.h"
#include "formats/base/cleanup.h"

static void put_percent(struct out *o, double percent)
{
    char text[TICK_TEXT_BYTES];
    axis_format(UNIT_OVERHEAD, 1 + percent / 100, text);
    html_cell(o, true, text);
}

static void put_interval(struct out *o, const struct row *row)
{
    char text[INTERVAL_TEXT_BYTES];
    axis_format_interval(1 + row->overhead_lo / 100, 1 + row->overhead_hi / 100, text);
    html_cell(o, true, text);
}

static int put_row(struct out *o, const struct row *row, bool notes, struct err *e)
{
    char number[REPORT_NUMBER_BYTES];
    CLEANUP_FREE char *name = NULL, *flags = html_flags_words(row->flags.text);
    if (!flags || asprintf(&name, "%s%s%s", row->stream, *row->stream ? ": " : "", row->name) < 0)
        return err_sys(e, ENOMEM, "cannot write a table");
    out_text(o, row->primary ? "<tr class=\"primary\">" : "<tr>");
    html_head_cell(o, name);
    html_cell(o, false, row->metric->unit);
    html_cell(o, true, report_digits(row->median_base, 4, number));
    html_cell(o, true, report_digits(row->median_cand, 4, number));
    put_percent(o, row->change_pct);
    put_percent(o, row->overhead_pct);
    put_interval(o, row);
    out_printf(o, "<td><span class=\"verdict %s\">%s</span></td>", html_verdict_class(row->verdict),
            verdict_name(row->verdict));
    if (notes)
        html_cell(o, false, flags);
    html_row_end(o);
    return 0;
}

static int put_table(struct out *o, const struct comparison *k, struct err *e)
{
    const struct html_column columns[] = {{"metric", false}, {"unit", false}, {k->base.name, true},
            {k->cand.name, true}, {"change", true}, {"overhead", true}, {"interval", true},
            {"verdict", false}, {"note", false}};
    bool notes = false;
    for (size_t i = 0; i < k->count; i++)
        notes |= k->rows[i].flags.text != NULL;
    CLEANUP_FREE char *caption = NULL;
    if (asprintf(&caption,
                "%s against %s: medians, %zu and %zu repetitions. The metric in bold is the primary one.",
                k->cand.name, k->base.name, k->cand.count, k->base.count) < 0) {
        caption = NULL;
        return err_sys(e, ENOMEM, "cannot write a table");
    }
    html_table(o, caption, columns, sizeof columns / sizeof *columns - !notes);
    int rc = 0;
    for (size_t i = 0; i < k->count && rc == 0; i++)
        rc = put_row(o, &k->rows[i], notes, e);
    html_table_end(o);
    return rc;
}

static int write_overhead(const void *context, struct out *o, struct err *e)
{
    return report_find("csv")->write(context, o, e);
}

static int write_repetitions(const void *context, struct out *o, struct err *e)
{
    return report_write_raw(context, o, e);
}

int html_overhead(struct out *o, const struct html_report *r, struct err *e)
{
    const struct report *report = &r->compare->report;
    if (!report->count)
        return 0;
    html_section(o, "overhead", "What it costs",
            "Change is the metric's own; overhead is how much more one unit of work costs, so that positive "
            "is "
            "worse whatever the metric; \303\22710 is ten times the cost. Both are Hodges-Lehmann ratios, "
            "and the interval is the one that goes "
            "with the Mann-Whitney test. Verdicts on all metrics but the primary one are adjusted for being "
            "many.");
    int rc = html_figure(o, plot_find("overhead"), &(struct plot_input){.report = report}, 0, e);
    for (size_t i = 0; i < report->count && rc == 0; i++) {
        const struct comparison *k = &report->comparisons[i];
        out_text(o, "<h3>");
        plot_text_escape(o, k->cand.name);
        out_text(o, " against ");
        plot_text_escape(o, k->base.name);
        out_text(o, ", ");
        plot_text_escape(o, k->workload);
        out_text(o, "</h3>\n");
        rc = put_table(o, k, e);
        if (rc == 0)
            rc = html_flags_list(o, k->flags.text, e);
    }
    if (rc == 0)
        rc = html_download(
                o, "overhead.csv", "text/csv", "The table as CSV (overhead.csv)", write_overhead, report, e);
    if (rc == 0)
        rc = html_download(o, "repetitions.csv", "text/csv", "Every repetition as CSV (repetitions.csv)",
                write_repetitions, r->compare, e);
    html_section_end(o);
    return rc;
}
