/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Latencies over time, of each side, and places over time, of the first one (all sides touch the same):
 * coloured by how many I/Os are in a cell.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/plot_density.h"
#include "analyze/plot_series.h"
#include "formats/base/cleanup.h"

#define LATENCY_HEIGHT 130.0
#define PLACE_HEIGHT   110.0

struct view {
    const struct plot_data *data;
    size_t first_row, rows; /* of latencies: those with anything in them, on any side */
    uint32_t most;          /* in any cell of any panel */
};

static bool has_any(const struct plot_data *d, size_t row)
{
    for (size_t i = 0; i < d->count; i++)
        for (size_t time = 0; time < PLOT_HEAT_TIMES; time++)
            if (d->sides[i].heat[row][time])
                return true;
    return false;
}

static void view_make(struct view *v)
{
    const struct plot_data *d = v->data;
    size_t end = 0;
    v->first_row = PLOT_HEAT_LATENCIES;
    for (size_t row = 0; row < PLOT_HEAT_LATENCIES; row++)
        if (has_any(d, row)) {
            v->first_row = v->first_row < row ? v->first_row : row;
            end = row + 1;
        }
    v->rows = end > v->first_row ? end - v->first_row : 0;
    while (v->rows && v->rows < PLOT_HEAT_DECADE) { /* a decade at least */
        v->first_row -= v->first_row > 0;
        v->rows += v->first_row + v->rows + 1 < PLOT_HEAT_LATENCIES ? 2 : 1;
    }
    for (size_t i = 0; i < d->count; i++) {
        uint32_t most = density_most(d->sides[i].heat, PLOT_HEAT_LATENCIES);
        v->most = most > v->most ? most : v->most;
    }
    for (size_t i = 0; i < d->stream_count; i++) {
        uint32_t most = density_most(d->streams[i].heat, PLOT_PLACES);
        v->most = most > v->most ? most : v->most;
    }
}

static double row_ns(size_t row)
{
    return PLOT_HEAT_LOWEST_NS * pow(10, (double)row / PLOT_HEAT_DECADE);
}

static struct axis time_axis(const struct view *v, struct box box)
{
    return (struct axis){SCALE_LINEAR, UNIT_DURATION, 0, (double)v->data->end_ns, box.left, box.right};
}

static void draw_title(struct canvas *c, const struct panel *p, const char *text, const char *x_title)
{
    CLEANUP_FREE char *fitted = sheet_fit(c, text, font_bold, p->box.right - p->box.left);
    panel_draw_bare(c, p, fitted ? fitted : "", x_title);
}

static void draw_latencies(struct canvas *c, const struct view *v, size_t side, struct box box, bool last)
{
    CLEANUP_FREE char *title = NULL;
    struct panel p = {.box = box,
            .x = time_axis(v, box),
            .y = {SCALE_LOG, UNIT_DURATION, row_ns(v->first_row), row_ns(v->first_row + v->rows), box.bottom,
                    box.top}};
    if (asprintf(&title, "%s: %s", v->data->sides[side].name,
                v->data->timing == TIMING_RECORDED ? "response time" : "latency") < 0)
        title = NULL;
    density_draw(c, &p, v->data->sides[side].heat, v->first_row, v->rows, v->data->heat_time_ns, v->most);
    draw_title(c, &p, title ? title : "", last ? "time since the start" : NULL);
}

static void draw_places(struct canvas *c, const struct view *v, size_t stream, struct box box, bool last)
{
    const struct plot_stream *s = &v->data->streams[stream];
    CLEANUP_FREE char *title = NULL;
    struct panel p = {.box = box,
            .x = time_axis(v, box),
            .y = {SCALE_LINEAR, UNIT_BYTES, (double)s->low_bytes, (double)s->high_bytes, box.bottom,
                    box.top}};
    const struct plot_side *first = &v->data->sides[0];
    if (asprintf(&title, "Places on %s: offset, %s of %s", s->name,
                first->is_tape ? "as recorded," : "first repetition", first->name) < 0)
        title = NULL;
    density_draw(c, &p, s->heat, 0, PLOT_PLACES, v->data->heat_time_ns, v->most);
    draw_title(c, &p, title ? title : "", last ? "time since the start" : NULL);
}

static char *description(const struct view *v)
{
    char *text, low[TICK_TEXT_BYTES], high[TICK_TEXT_BYTES];
    CLEANUP_FREE char *sides = series_sides(v->data);
    axis_format(UNIT_DURATION, row_ns(v->first_row), low);
    axis_format(UNIT_DURATION, row_ns(v->first_row + v->rows), high);
    int n = sides ? asprintf(&text,
                            "Density of latencies over time, of %s: between %s and %s.%s Up to %u %s in a "
                            "cell.",
                            sides, low, high,
                            v->data->exchanges ? "" : " Density of places over time, of the first.", v->most,
                            plot_things(v->data))
                  : -1;
    return n < 0 ? NULL : text;
}

static double body_height(const struct plot_data *d)
{
    return (double)d->count * (SHEET_HEADING + LATENCY_HEIGHT) +
           (double)d->stream_count * (SHEET_HEADING + PLACE_HEIGHT) + SHEET_TICKS + DENSITY_RAMP_HEIGHT;
}

static void draw_panels(struct canvas *c, const struct view *v, double top)
{
    const struct plot_data *d = v->data;
    double right = canvas_width(c) - SHEET_EDGE - 8;
    size_t left = d->count + d->stream_count;
    for (size_t i = 0; i < d->count; i++) {
        top += SHEET_HEADING;
        draw_latencies(c, v, i, (struct box){SHEET_LEFT, top, right, top + LATENCY_HEIGHT}, --left == 0);
        top += LATENCY_HEIGHT;
    }
    for (size_t i = 0; i < d->stream_count; i++) {
        top += SHEET_HEADING;
        draw_places(c, v, i, (struct box){SHEET_LEFT, top, right, top + PLACE_HEIGHT}, --left == 0);
        top += PLACE_HEIGHT;
    }
    top += SHEET_TICKS;
    density_ramp(c, (struct box){SHEET_LEFT, top, right, top + DENSITY_RAMP_HEIGHT}, v->most,
            d->exchanges ? "exchanges in a cell" : "I/Os in a cell");
}

static const char *title_of(const struct plot_data *d)
{
    if (d->timing == TIMING_RECORDED)
        return d->exchanges ? "Response times over time" : "Response times and places over time";
    return d->exchanges ? "Latencies over time" : "Latencies and places over time";
}

static int draw(
        struct plot *p, const struct plot_input *in, const struct plot_request *request, struct err *e)
{
    struct view v = {.data = in->data};
    char subtitle[256], width[TICK_TEXT_BYTES];
    double top;
    view_make(&v);
    if (!v.rows)
        return err_set(e, ENODATA, "there are no %s with a known latency", plot_things(in->data));
    axis_format(UNIT_DURATION, (double)in->data->heat_time_ns, width);
    snprintf(subtitle, sizeof subtitle, "A cell is %s wide; all repetitions of a side together.%s", width,
            in->data->stream_total > in->data->stream_count ? " Places: of the busiest disks." : "");
    int rc = sheet_open(p, request, title_of(v.data), subtitle, body_height(in->data), &top, e);
    if (rc < 0)
        return rc;
    draw_panels(p->canvas, &v, top);
    if (!(p->description = description(&v))) {
        plot_release(p);
        return err_sys(e, ENOMEM, "cannot draw");
    }
    return 0;
}

const struct plot_ops plot_heatmap = {.name = "heatmap",
        .help = "latencies over time and places over time, coloured by count",
        .draw = draw};
