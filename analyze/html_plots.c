/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The plots of each workload, and what they are drawn from as CSV.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/html.h"
#include "analyze/html_report.h"
#include "analyze/plot_tables.h"
#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"

#define WIDE   820.0
#define NARROW 360.0

static int put_plot(struct out *o, const struct plot_ops *ops, const struct plot_input *in, double width,
        size_t number, struct err *e)
{
    struct plot p CLEANUP(plot_release) = {0};
    char id[64];
    snprintf(id, sizeof id, "%s%zu%s", ops->name, number, width < WIDE ? "n" : "w");
    int rc = ops->draw(&p, in, &(struct plot_request){CANVAS_INLINE, width, id}, e);
    if (rc < 0)
        return rc;
    out_printf(o, "<div class=\"%s\">\n", width < WIDE ? "narrow" : "wide");
    rc = plot_write(&p, o, e);
    out_text(o, "</div>\n");
    return rc;
}

int html_figure(
        struct out *o, const struct plot_ops *ops, const struct plot_input *in, size_t number, struct err *e)
{
    struct err why = {0};
    out_text(o, "<figure>\n");
    int rc = put_plot(o, ops, in, WIDE, number, &why);
    if (rc == 0)
        rc = put_plot(o, ops, in, NARROW, number, &why);
    if (rc == -ENODATA) {
        html_paragraph(o, "note", "No %s plot: %s.", ops->name, why.text);
        rc = 0;
    }
    out_text(o, "</figure>\n");
    return rc < 0 ? err_set(e, -rc, "%s", why.text) : 0;
}

static void close_data(struct plot_data *d)
{
    plot_data_release(d);
}

static int write_curves(const void *context, struct out *o, struct err *e)
{
    return plot_write_curves(context, o, e);
}

static int write_times(const void *context, struct out *o, struct err *e)
{
    return plot_write_times(context, o, e);
}

static int put_workload(struct out *o, const struct html_report *r, size_t index, struct err *e)
{
    const struct workload *w = &r->compare->workloads.list[index];
    struct plot_data data CLEANUP(close_data) = {0};
    const struct plot_sources sources = {
            &r->compare->systems, (const struct source *const *)w->sources, w->system, w->count, w->timing};
    if (w->sources[0]->kind == TAPE_KIND_NONE)
        return 0;
    int rc = plot_data_collect(&data, &sources, e);
    if (rc < 0)
        return rc;
    if (r->compare->workloads.count > 1) {
        out_text(o, "<h3>");
        plot_text_escape(o, w->name);
        out_text(o, "</h3>\n");
    }
    for (size_t i = 0; plot_list[i] && rc == 0; i++)
        if (!plot_list[i]->compares)
            rc = html_figure(o, plot_list[i], &(struct plot_input){.data = &data}, index, e);
    if (rc == 0)
        rc = html_download(o, "percentiles.csv", "text/csv", "The percentile curves as CSV (percentiles.csv)",
                write_curves, &data, e);
    if (rc == 0)
        rc = html_download(
                o, "timeline.csv", "text/csv", "The timelines as CSV (timeline.csv)", write_times, &data, e);
    return rc;
}

int html_plots(struct out *o, const struct html_report *r, struct err *e)
{
    bool any = false;
    int rc = 0;
    for (size_t i = 0; i < r->compare->workloads.count; i++)
        any |= r->compare->workloads.list[i].sources[0]->kind != TAPE_KIND_NONE;
    html_section(o, "plots", "How it behaved",
            any ? "Only I/Os that succeeded count. Percentiles are of all I/Os of a repetition, and end "
                  "where too few "
                  "lie behind them."
                : "Results of other tools hold no single I/Os that could be drawn.");
    for (size_t i = 0; i < r->compare->workloads.count && rc == 0; i++)
        rc = put_workload(o, r, i, e);
    html_section_end(o);
    return rc;
}
