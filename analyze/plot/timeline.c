/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * I/Os a second, MB a second and mean latency over time, by time of completion.
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

struct view {
    const struct plot_data *data;
    struct series *series; /* [panel][side] */
    struct name *names;
};

static void view_release(struct view *v)
{
    free(v->series);
    names_release(v->names, v->data->count);
}

static int view_make(struct view *v)
{
    const struct plot_data *d = v->data;
    v->series = calloc(PANELS * (d->count + 1), sizeof *v->series);
    v->names = calloc(d->count + 1, sizeof *v->names);
    if (!v->series || !v->names)
        return -ENOMEM;
    for (int panel = 0; panel < PANELS; panel++)
        for (size_t i = 0; i < d->count; i++) {
            struct series *s = &v->series[(size_t)panel * d->count + i];
            if (series_make(s, &d->sides[i], values_of, panel, PLOT_TIMES) < 0)
                return -ENOMEM;
            for (size_t k = 0; k < PLOT_TIMES; k++)
                s->x[k] = ((double)k + 0.5) * (double)d->time_ns;
        }
    for (size_t i = 0; i < d->count; i++)
        v->names[i] =
                (struct name){.text = d->sides[i].name, .colour = side_colour(i), .dashes = side_dashes(i)};
    return 0;
}

/* Latencies that differ by much are told apart only on logarithms. */
static struct axis y_axis(int panel, double low, double high, struct box box)
{
    static const enum unit units[PANELS] = {UNIT_COUNT, UNIT_COUNT, UNIT_DURATION};
    bool wide = panel == 2 && low > 0 && high / low > 20;
    return axis_cover(wide ? SCALE_LOG : SCALE_LINEAR, units[panel], low, high, box.bottom, box.top);
}

static void draw_panel(struct canvas *c, struct view *v, int panel, struct box box)
{
    const struct series *series = &v->series[(size_t)panel * v->data->count];
    double low = NAN, high = NAN;
    for (size_t i = 0; i < v->data->count; i++)
        series_widen(&series[i], &low, &high);
    const char *const titles[PANELS] = {"I/Os a second", "MB a second",
            v->data->timing == TIMING_RECORDED ? "Mean response time" : "Mean latency"};
    struct panel p = {.box = box,
            .x = {SCALE_LINEAR, UNIT_DURATION, 0, (double)v->data->end_ns, box.left, box.right},
            .y = y_axis(panel, low, high, box)};
    panel_draw(c, &p, titles[panel], panel + 1 == PANELS ? "time since the start" : NULL);
    for (size_t i = 0; i < v->data->count; i++)
        v->names[i].at = series_draw(c, &p, &series[i], i);
    names_draw(c, v->names, v->data->count, box.right, box.top, box.bottom);
}

static double mean(const double *values)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < PLOT_TIMES; i++)
        if (isfinite(values[i])) {
            sum += values[i];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

static char *description(const struct view *v)
{
    char *text = NULL;
    size_t len;
    CLEANUP_FREE char *sides = series_sides(v->data);
    FILE *f = sides ? open_memstream(&text, &len) : NULL;
    if (!f)
        return NULL;
    fprintf(f, "I/Os a second, MB a second and mean latency over time, of %s. On average over time:", sides);
    for (size_t i = 0; i < v->data->count && i < 8; i++) {
        char iops[TICK_TEXT_BYTES], mb[TICK_TEXT_BYTES];
        axis_format(UNIT_COUNT, mean(v->series[i].middle), iops);
        axis_format(UNIT_COUNT, mean(v->series[v->data->count + i].middle), mb);
        fprintf(f, "%s %s %s I/Os and %s MB a second", i ? ";" : "", v->data->sides[i].name, iops, mb);
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
    struct view v CLEANUP(view_release) = {.data = in->data};
    char subtitle[256], width[TICK_TEXT_BYTES];
    double top;
    if (view_make(&v) < 0)
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

const struct plot_ops plot_timeline = {
        .name = "timeline", .help = "I/Os a second, MB a second and mean latency over time", .draw = draw};
