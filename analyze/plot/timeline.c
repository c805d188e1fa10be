/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * I/Os or exchanges a second, MB a second and mean latency over time, by time of completion.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/plot_series.h"
#include "formats/base/cleanup.h"

#define PANEL_HEIGHT 112.0
#define PANELS       3

static const double *values_of(const struct plot_repetition *r, int panel)
{
    return panel == 0 ? r->iops : panel == 1 ? r->mb_s : r->latency_ns;
}

static int fill(const struct series_view *v)
{
    const struct plot_data *d = v->data;
    for (int panel = 0; panel < PANELS; panel++)
        for (size_t i = 0; i < d->count; i++) {
            struct series *s = series_view_at(v, (size_t)panel, i);
            if (series_make(s, &d->sides[i], values_of, panel, PLOT_TIMES) < 0)
                return -ENOMEM;
            for (size_t k = 0; k < PLOT_TIMES; k++)
                s->x[k] = ((double)k + 0.5) * (double)d->time_ns;
        }
    return 0;
}

/* Latencies that differ by much are told apart only on logarithms. */
static struct axis y_axis(int panel, double low, double high, struct box box)
{
    static const enum unit units[PANELS] = {UNIT_COUNT, UNIT_COUNT, UNIT_DURATION};
    bool wide = panel == 2 && low > 0 && high / low > 20;
    return axis_cover(wide ? SCALE_LOG : SCALE_LINEAR, units[panel], low, high, box.bottom, box.top);
}

static void draw_panel(struct canvas *c, const struct series_view *v, int panel, struct box box)
{
    double low, high;
    series_view_range(v, (size_t)panel, &low, &high);
    const char *const titles[PANELS] = {v->data->exchanges ? "Exchanges a second" : "I/Os a second",
            "MB a second", v->data->timing == TIMING_RECORDED ? "Mean response time" : "Mean latency"};
    struct panel p = {.box = box,
            .x = {SCALE_LINEAR, UNIT_DURATION, 0, (double)v->data->end_ns, box.left, box.right},
            .y = y_axis(panel, low, high, box)};
    panel_draw(c, &p, titles[panel], panel + 1 == PANELS ? "time since the start" : NULL);
    series_view_draw(c, &p, v, (size_t)panel);
    names_draw(c, v->names, v->data->count, box.right, box.top, box.bottom);
}

static char *description(const struct series_view *v)
{
    char *text = NULL;
    size_t len;
    CLEANUP_FREE char *sides = series_sides(v->data);
    FILE *f = sides ? open_memstream(&text, &len) : NULL;
    if (!f)
        return NULL;
    fprintf(f, "%s a second, MB a second and mean latency over time, of %s. On average over time:",
            v->data->exchanges ? "Exchanges" : "I/Os", sides);
    for (size_t i = 0; i < v->data->count && i < 8; i++) {
        char iops[TICK_TEXT_BYTES], mb[TICK_TEXT_BYTES];
        axis_format(UNIT_COUNT, series_mean(series_view_at(v, 0, i)), iops);
        axis_format(UNIT_COUNT, series_mean(series_view_at(v, 1, i)), mb);
        fprintf(f, "%s %s %s %s and %s MB a second", i ? ";" : "", v->data->sides[i].name, iops,
                plot_things(v->data), mb);
    }
    fprintf(f, ".");
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static int draw(
        struct plot *p, const struct plot_input *in, const struct plot_request *request, struct err *e)
{
    struct series_view v CLEANUP(series_view_release) = {.data = in->data};
    char subtitle[256], width[TICK_TEXT_BYTES];
    double top;
    if (series_view_make(&v, PANELS) < 0 || fill(&v) < 0)
        return err_sys(e, ENOMEM, "cannot draw");
    double height = fmax(PANEL_HEIGHT, (double)in->data->count * NAME_HEIGHT);
    axis_format(UNIT_DURATION, (double)in->data->time_ns, width);
    snprintf(subtitle, sizeof subtitle, "In steps of %s. %s", width, series_explain(in->data));
    int rc = sheet_open(
            p, request, "Over time", subtitle, PANELS * (SHEET_HEADING + height) + SHEET_TICKS, &top, e);
    if (rc < 0)
        return rc;
    double right = request->width - names_fit(p->canvas, v.names, in->data->count);
    for (int panel = 0; panel < PANELS; panel++) {
        top += SHEET_HEADING;
        draw_panel(p->canvas, &v, panel, (struct box){SHEET_LEFT, top, right, top + height});
        top += height;
    }
    if (!(p->description = description(&v))) {
        plot_release(p);
        return err_sys(e, ENOMEM, "cannot draw");
    }
    return 0;
}

const struct plot_ops plot_timeline = {.name = "timeline",
        .help = "I/Os or exchanges a second, MB a second and mean latency over time",
        .draw = draw};
