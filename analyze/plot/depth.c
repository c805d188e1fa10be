/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How many I/Os were in flight: over time, and for which share of the time at least so many.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/plot_series.h"
#include "formats/base/cleanup.h"

#define PANEL_HEIGHT 150.0
#define PANELS       2
#define SHARE_FROM   1 /* depths below come from slices that an I/O only touched */

static const double *values_of(const struct plot_repetition *r, int panel)
{
    return panel == 0 ? r->depth : r->depth_at_least;
}

struct view {
    const struct plot_data *data;
    struct series *series; /* [panel][side] */
    struct name *names;
    size_t last_bin; /* that any side reaches */
};

static void view_release(struct view *v)
{
    free(v->series);
    names_release(v->names, v->data->count);
}

static int make_side(struct view *v, size_t side)
{
    const struct plot_data *d = v->data;
    struct series *over_time = &v->series[side], *share = &v->series[d->count + side];
    if (series_make(over_time, &d->sides[side], values_of, 0, PLOT_TIMES) < 0 ||
            series_make(share, &d->sides[side], values_of, 1, PLOT_DEPTHS) < 0)
        return -ENOMEM;
    for (size_t k = 0; k < PLOT_TIMES; k++)
        over_time->x[k] = ((double)k + 0.5) * (double)d->time_ns;
    for (size_t k = 0; k < PLOT_DEPTHS; k++) {
        share->x[k] = plot_depth_from(k);
        if (share->high[k] > 0 && k > v->last_bin)
            v->last_bin = k;
        if (!(share->high[k] > 0)) /* no line along the axis */
            share->low[k] = share->high[k] = share->middle[k] = NAN;
    }
    return 0;
}

static int view_make(struct view *v)
{
    const struct plot_data *d = v->data;
    v->series = calloc(PANELS * (d->count + 1), sizeof *v->series);
    v->names = calloc(d->count + 1, sizeof *v->names);
    if (!v->series || !v->names)
        return -ENOMEM;
    for (size_t i = 0; i < d->count; i++) {
        v->names[i] =
                (struct name){.text = d->sides[i].name, .colour = side_colour(i), .dashes = side_dashes(i)};
        if (make_side(v, i) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void draw_sides(struct canvas *c, struct view *v, int panel, const struct panel *p)
{
    const struct series *series = &v->series[(size_t)panel * v->data->count];
    for (size_t i = 0; i < v->data->count; i++)
        v->names[i].at = series_draw(c, p, &series[i], i);
    names_draw(c, v->names, v->data->count, p->box.right, p->box.top, p->box.bottom);
}

static void draw_over_time(struct canvas *c, struct view *v, struct box box)
{
    double low = NAN, high = NAN;
    for (size_t i = 0; i < v->data->count; i++)
        series_widen(&v->series[i], &low, &high);
    struct panel p = {.box = box,
            .x = {SCALE_LINEAR, UNIT_DURATION, 0, (double)v->data->end_ns, box.left, box.right},
            .y = axis_cover(SCALE_LINEAR, UNIT_COUNT, low, high, box.bottom, box.top)};
    panel_draw(c, &p, "On average, over time", "time since the start");
    draw_sides(c, v, 0, &p);
}

static void draw_shares(struct canvas *c, struct view *v, struct box box)
{
    struct panel p = {.box = box,
            .x = {SCALE_LOG, UNIT_COUNT, SHARE_FROM, fmax(plot_depth_from(v->last_bin + 1), 4), box.left,
                    box.right},
            .y = {SCALE_LINEAR, UNIT_PERCENT, 0, 1, box.bottom, box.top}};
    panel_draw(c, &p, "Share of the time", "with at least so many I/Os in flight");
    draw_sides(c, v, 1, &p);
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0, known = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            sum += values[i];
            known++;
        }
    return known > 0 ? sum / known : NAN;
}

static char *description(const struct view *v)
{
    char *text = NULL;
    size_t len;
    CLEANUP_FREE char *sides = series_sides(v->data);
    FILE *f = sides ? open_memstream(&text, &len) : NULL;
    if (!f)
        return NULL;
    fprintf(f,
            "I/Os in flight over time, and the share of the time with at least so many, of %s. On average:",
            sides);
    for (size_t i = 0; i < v->data->count && i < 8; i++) {
        char mean[TICK_TEXT_BYTES];
        axis_format(UNIT_COUNT, mean_of(v->series[i].middle, PLOT_TIMES), mean);
        fprintf(f, "%s %s %s", i ? ";" : "", v->data->sides[i].name, mean);
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
    double top, height = fmax(PANEL_HEIGHT, (double)in->data->count * NAME_HEIGHT);
    if (view_make(&v) < 0)
        return err_sys(e, ENOMEM, "cannot draw");
    int rc = sheet_open(p, request, "I/Os in flight", series_explain(in->data),
            PANELS * (SHEET_HEADING + height + SHEET_TICKS), &top, e);
    if (rc < 0)
        return rc;
    double right = request->width - names_fit(p->canvas, v.names, in->data->count);
    top += SHEET_HEADING;
    draw_over_time(p->canvas, &v, (struct box){SHEET_LEFT, top, right, top + height});
    top += height + SHEET_TICKS + SHEET_HEADING;
    draw_shares(p->canvas, &v, (struct box){SHEET_LEFT, top, right, top + height});
    if (!(p->description = description(&v))) {
        plot_release(p);
        return err_sys(e, ENOMEM, "cannot draw");
    }
    return 0;
}

const struct plot_ops plot_depth = {.name = "depth",
        .help = "how many I/Os were in flight, over time and as a share of it",
        .draw = draw};
