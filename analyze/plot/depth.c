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
#define SHARE_FROM   1 /* depths below come from slices that an I/O only touched */
#define LEAST_DEPTHS 8 /* that the axis spans */

enum { OVER_TIME, SHARES, PANELS };

static const double *values_of(const struct plot_repetition *r, int panel)
{
    return panel == OVER_TIME ? r->depth : r->depth_at_least;
}

struct view {
    struct series_view sides;
    struct name *column; /* those that have no place at their line */
    double deepest;      /* where the last step ends */
};

static void view_release(struct view *v)
{
    free(v->column);
    series_view_release(&v->sides);
}

static void add_point(struct series *s, double x, const struct series *from, size_t k)
{
    s->x[s->count] = x;
    s->low[s->count] = from->low[k];
    s->high[s->count] = from->high[k];
    s->middle[s->count++] = from->middle[k];
}

/* Numbers in flight are whole: each share stands from its number to the next that has a bin of its own. What
 * nobody reaches has no line along the axis. Returns where the last step ends. */
static double make_steps(struct series *steps, const struct series *shares)
{
    double end = SHARE_FROM;
    steps->count = 0;
    for (size_t k = 0; k + 1 < PLOT_DEPTHS && steps->count + 2 <= SERIES_MAX; k++) {
        double number = ceil(plot_depth_from(k) - 1e-6), next = ceil(plot_depth_from(k + 1) - 1e-6);
        if (number < SHARE_FROM || next <= number || !(shares->high[k] > 0))
            continue;
        add_point(steps, number, shares, k);
        add_point(steps, next, shares, k);
        end = next;
    }
    return end;
}

static int make_side(struct view *v, size_t side)
{
    const struct plot_data *d = v->sides.data;
    struct series *over_time = series_view_at(&v->sides, OVER_TIME, side), shares;
    if (series_make(over_time, &d->sides[side], values_of, OVER_TIME, PLOT_TIMES) < 0 ||
            series_make(&shares, &d->sides[side], values_of, SHARES, PLOT_DEPTHS) < 0)
        return -ENOMEM;
    for (size_t k = 0; k < PLOT_TIMES; k++)
        over_time->x[k] = ((double)k + 0.5) * (double)d->time_ns;
    v->deepest = fmax(v->deepest, make_steps(series_view_at(&v->sides, SHARES, side), &shares));
    return 0;
}

static int view_make(struct view *v)
{
    const struct plot_data *d = v->sides.data;
    int rc = series_view_make(&v->sides, PANELS);
    v->column = calloc(d->count + 1, sizeof *v->column);
    if (rc < 0 || !v->column)
        return -ENOMEM;
    for (size_t i = 0; i < d->count; i++)
        if (make_side(v, i) < 0)
            return -ENOMEM;
    return 0;
}

static void draw_over_time(struct canvas *c, struct view *v, struct box box)
{
    double low, high;
    series_view_range(&v->sides, OVER_TIME, &low, &high);
    struct panel p = {.box = box,
            .x = {SCALE_LINEAR, UNIT_DURATION, 0, (double)v->sides.data->end_ns, box.left, box.right},
            .y = axis_cover(SCALE_LINEAR, UNIT_COUNT, low, high, box.bottom, box.top)};
    panel_draw(c, &p, "On average, over time", "time since the start");
    series_view_draw(c, &p, &v->sides, OVER_TIME);
    names_draw(c, v->sides.names, v->sides.data->count, box.right, box.top, box.bottom);
}

/* The end of the step at point k, and how far the line falls there. */
static double fall(const struct series *s, size_t k)
{
    return s->middle[k] - (k + 1 < s->count ? s->middle[k + 1] : 0);
}

/* Behind the step that falls farthest, of those that leave room: all lines end near zero, where names would
 * tell nothing. */
static bool name_step(struct canvas *c, const struct panel *p, const struct series *s, struct name *n)
{
    const struct point end = n->at;
    bool tried[SERIES_MAX] = {false};
    for (size_t round = 0; round < s->count / 2; round++) {
        size_t best = s->count;
        for (size_t k = 1; k < s->count; k += 2)
            if (!tried[k] && isfinite(fall(s, k)) && (best == s->count || fall(s, k) > fall(s, best)))
                best = k;
        if (best == s->count)
            break;
        tried[best] = true;
        n->at = (struct point){axis_place(&p->x, s->x[best]), axis_place(&p->y, s->middle[best])};
        if (name_draw_behind(c, n, p->box.right))
            return true;
    }
    n->at = end;
    return false;
}

static void draw_shares(struct canvas *c, struct view *v, struct box box)
{
    size_t rest = 0;
    struct panel p = {.box = box,
            .x = {SCALE_LOG, UNIT_COUNT, SHARE_FROM, fmax(v->deepest, LEAST_DEPTHS), box.left, box.right},
            .y = {SCALE_LINEAR, UNIT_PERCENT, 0, 1, box.bottom, box.top}};
    panel_draw(c, &p, "Share of the time",
            v->sides.data->exchanges ? "with at least so many exchanges in flight"
                                     : "with at least so many I/Os in flight");
    series_view_draw(c, &p, &v->sides, SHARES);
    for (size_t i = 0; i < v->sides.data->count; i++)
        if (!name_step(c, &p, series_view_at(&v->sides, SHARES, i), &v->sides.names[i]))
            v->column[rest++] = v->sides.names[i];
    names_draw(c, v->column, rest, box.right, box.top, box.bottom);
}

static char *description(const struct view *v)
{
    char *text = NULL;
    size_t len;
    CLEANUP_FREE char *sides = series_sides(v->sides.data);
    FILE *f = sides ? open_memstream(&text, &len) : NULL;
    if (!f)
        return NULL;
    fprintf(f, "%s in flight over time, and the share of the time with at least so many, of %s. On average:",
            v->sides.data->exchanges ? "Exchanges" : "I/Os", sides);
    for (size_t i = 0; i < v->sides.data->count && i < 8; i++) {
        char mean[TICK_TEXT_BYTES];
        axis_format(UNIT_COUNT, series_mean(series_view_at(&v->sides, OVER_TIME, i)), mean);
        fprintf(f, "%s %s %s", i ? ";" : "", v->sides.data->sides[i].name, mean);
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
    struct view v CLEANUP(view_release) = {.sides.data = in->data};
    double top, height = fmax(PANEL_HEIGHT, (double)in->data->count * NAME_HEIGHT);
    if (view_make(&v) < 0)
        return err_sys(e, ENOMEM, "cannot draw");
    int rc = sheet_open(p, request, in->data->exchanges ? "Exchanges in flight" : "I/Os in flight",
            series_explain(in->data), PANELS * (SHEET_HEADING + height + SHEET_TICKS), &top, e);
    if (rc < 0)
        return rc;
    double right = request->width - names_fit(p->canvas, v.sides.names, in->data->count);
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
        .help = "how many I/Os or exchanges were in flight, over time and as a share of it",
        .draw = draw};
