/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Percentile curves on an axis of nines (after G. Tene's HdrHistogram plots): each further nine takes as much
 * room as all before it, so that the tail can be seen. One panel for each operation.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/plot_series.h"
#include "formats/base/cleanup.h"

#define PANEL_HEIGHT 210.0
#define HALF         5 /* the first point beyond the median: 10^(-5/16) is below a half */

static const double *curve(const struct plot_repetition *r, int op)
{
    return r->curve_ns[op];
}

static const char *const ops[PLOT_OPS] = {"Reads", "Writes", "Flushes", "Connects", "Exchanges"};

struct view {
    struct series_view sides; /* a panel for each operation */
    bool shown[PLOT_OPS];
    size_t panels;
    double last; /* fraction that the longest curve reaches */
};

static void view_release(struct view *v)
{
    series_view_release(&v->sides);
}

static int view_make(struct view *v)
{
    const struct plot_data *d = v->sides.data;
    if (series_view_make(&v->sides, PLOT_OPS) < 0)
        return -ENOMEM;
    for (int op = 0; op < PLOT_OPS; op++) {
        for (size_t i = 0; i < d->count; i++) {
            struct series *s = series_view_at(&v->sides, (size_t)op, i);
            if (series_make(s, &d->sides[i], curve, op, PLOT_CURVE_POINTS) < 0)
                return -ENOMEM;
            for (size_t k = 0; k < PLOT_CURVE_POINTS; k++) {
                s->x[k] = plot_curve_fraction(k);
                if (isfinite(s->middle[k])) {
                    v->shown[op] |= k >= HALF; /* less is no curve */
                    v->last = fmax(v->last, s->x[k]);
                }
            }
        }
        v->panels += v->shown[op];
    }
    return 0;
}

static double panel_height(const struct view *v)
{
    return fmax(PANEL_HEIGHT, (double)v->sides.data->count * NAME_HEIGHT);
}

/* "Reads: latency", "Writes: response time". */
static void title_of(const struct view *v, int op, char title[64])
{
    snprintf(title, 64, "%s: %s", ops[op],
            v->sides.data->timing == TIMING_RECORDED ? "response time" : "latency");
}

static void draw_panel(struct canvas *c, struct view *v, int op, struct box box, bool last)
{
    double low, high;
    char title[64], share[64];
    series_view_range(&v->sides, (size_t)op, &low, &high);
    struct panel p = {.box = box,
            .x = axis_cover(SCALE_NINES, UNIT_PERCENT, 0, v->last, box.left, box.right),
            .y = axis_cover(SCALE_LOG, UNIT_DURATION, low, high, box.bottom, box.top)};
    title_of(v, op, title);
    snprintf(share, sizeof share, "share of %s that took no longer", plot_things(v->sides.data));
    panel_draw(c, &p, title, last ? share : NULL);
    series_view_draw(c, &p, &v->sides, (size_t)op);
    names_draw(c, v->sides.names, v->sides.data->count, box.right, box.top, box.bottom);
}

/* Medians of p50 and p99, in words. */
static void describe(FILE *f, const struct view *v)
{
    for (int op = 0; op < PLOT_OPS; op++) {
        if (!v->shown[op])
            continue;
        fprintf(f, " %s:", ops[op]);
        for (size_t i = 0; i < v->sides.data->count && i < 8; i++) {
            const struct series *s = series_view_at(&v->sides, (size_t)op, i);
            char half[TICK_TEXT_BYTES], tail[TICK_TEXT_BYTES];
            axis_format(UNIT_DURATION, s->middle[HALF], half);
            axis_format(UNIT_DURATION, s->middle[2 * PLOT_CURVE_STEPS], tail);
            fprintf(f, "%s %s%s%s%s%s", i ? ";" : "", v->sides.data->sides[i].name,
                    *half ? " median " : " unknown", half, *tail ? ", 99% within " : "", tail);
        }
        fprintf(f, ".");
    }
}

static char *description(const struct view *v)
{
    char *text = NULL;
    size_t len;
    CLEANUP_FREE char *sides = series_sides(v->sides.data);
    FILE *f = sides ? open_memstream(&text, &len) : NULL;
    if (!f)
        return NULL;
    fprintf(f, "Percentile curves of %s.", sides);
    describe(f, v);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static int draw(
        struct plot *p, const struct plot_input *in, const struct plot_request *request, struct err *e)
{
    struct view v CLEANUP(view_release) = {.sides.data = in->data};
    char subtitle[256];
    double top;
    if (view_make(&v) < 0)
        return err_sys(e, ENOMEM, "cannot draw");
    if (!v.panels)
        return err_set(e, ENODATA, "there are too few %s with a known latency for a percentile curve",
                plot_things(in->data));
    snprintf(subtitle, sizeof subtitle, "Each step to the right is one more nine. %s",
            series_explain(in->data));
    double height = panel_height(&v);
    int rc = sheet_open(p, request,
            in->data->timing == TIMING_RECORDED ? "Response time by percentile" : "Latency by percentile",
            subtitle, (double)v.panels * (SHEET_HEADING + height) + SHEET_TICKS, &top, e);
    if (rc < 0)
        return rc;
    double right = request->width - names_fit(p->canvas, v.sides.names, in->data->count);
    size_t drawn = 0;
    for (int op = 0; op < PLOT_OPS; op++) {
        if (!v.shown[op])
            continue;
        top += SHEET_HEADING;
        drawn++;
        draw_panel(p->canvas, &v, op, (struct box){SHEET_LEFT, top, right, top + height}, drawn == v.panels);
        top += height;
    }
    if (!(p->description = description(&v))) {
        plot_release(p);
        return err_sys(e, ENOMEM, "cannot draw");
    }
    return 0;
}

const struct plot_ops plot_latency = {.name = "latency",
        .help = "how long I/Os or exchanges took, by percentile, with the tail in view",
        .draw = draw};
