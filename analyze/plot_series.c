/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/ranktest.h"
#include "formats/base/cleanup.h"

int series_make(
        struct series *s, const struct plot_side *side, series_values *values, int which, size_t count)
{
    CLEANUP_FREE double *column = calloc(side->count + 1, sizeof *column);
    if (!column)
        return -ENOMEM;
    s->count = count;
    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        s->low[i] = s->high[i] = s->middle[i] = NAN;
        for (size_t j = 0; j < side->count; j++) {
            double v = values(side->repetitions[j], which)[i];
            if (!isfinite(v))
                continue;
            column[known++] = v;
            s->low[i] = fmin(s->low[i], v);
            s->high[i] = fmax(s->high[i], v);
        }
        if (known && 2 * known >= side->count)
            s->middle[i] = median_of(column, known);
        else
            s->low[i] = s->high[i] = NAN;
    }
    return 0;
}

void series_widen(const struct series *s, double *low, double *high)
{
    for (size_t i = 0; i < s->count; i++) { /* fmin and fmax prefer what is not NAN */
        *low = fmin(*low, s->low[i]);
        *high = fmax(*high, s->high[i]);
    }
}

/* Places of the points. Nothing leaves its panel, whatever the scale. */
static void places(struct point *out, const struct panel *p, const struct series *s, const double *y)
{
    for (size_t i = 0; i < s->count; i++) {
        double at = axis_place(&p->y, y[i]);
        if (isfinite(at))
            at = fmin(fmax(at, p->box.top), p->box.bottom);
        out[i] = (struct point){axis_place(&p->x, s->x[i]), at};
    }
}

struct point series_draw(struct canvas *c, const struct panel *p, const struct series *s, size_t side)
{
    struct point low[SERIES_MAX], high[SERIES_MAX], line[SERIES_MAX];
    size_t n = s->count;
    places(line, p, s, s->middle);
    places(low, p, s, s->low);
    places(high, p, s, s->high);
    canvas_clip(c, (struct box){p->box.left - 2, p->box.top - 2, p->box.right + 2, p->box.bottom + 2});
    canvas_band(c, low, high, n, side_colour(side), 0.22);
    canvas_line(c, line, n, side_colour(side), 2, side_dashes(side));
    canvas_unclip(c);
    while (n && !(isfinite(line[n - 1].x) && isfinite(line[n - 1].y) && line[n - 1].x <= p->box.right + 1))
        n--;
    return n ? line[n - 1] : (struct point){NAN, NAN};
}

double series_mean(const struct series *s)
{
    double sum = 0, known = 0;
    for (size_t k = 0; k < s->count; k++)
        if (isfinite(s->middle[k])) {
            sum += s->middle[k];
            known++;
        }
    return known > 0 ? sum / known : NAN;
}

int series_view_make(struct series_view *v, size_t panels)
{
    const struct plot_data *d = v->data;
    v->series = calloc(panels * (d->count + 1), sizeof *v->series);
    v->names = calloc(d->count + 1, sizeof *v->names);
    if (!v->series || !v->names)
        return -ENOMEM;
    for (size_t i = 0; i < d->count; i++)
        v->names[i] =
                (struct name){.text = d->sides[i].name, .colour = side_colour(i), .dashes = side_dashes(i)};
    return 0;
}

void series_view_release(struct series_view *v)
{
    free(v->series);
    names_release(v->names, v->data->count);
}

struct series *series_view_at(const struct series_view *v, size_t panel, size_t side)
{
    return &v->series[panel * v->data->count + side];
}

void series_view_range(const struct series_view *v, size_t panel, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t i = 0; i < v->data->count; i++)
        series_widen(series_view_at(v, panel, i), low, high);
}

void series_view_draw(struct canvas *c, const struct panel *p, const struct series_view *v, size_t panel)
{
    for (size_t i = 0; i < v->data->count; i++)
        v->names[i].at = series_draw(c, p, series_view_at(v, panel, i), i);
}

char *series_sides(const struct plot_data *d)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    for (size_t i = 0; i < d->count && i < 8; i++) {
        const struct plot_side *s = &d->sides[i];
        fprintf(f, "%s%s (", i ? ", " : "", s->name);
        if (s->is_tape)
            fprintf(f, "the recording)");
        else
            fprintf(f, "%zu repetition%s)", s->count, s->count == 1 ? "" : "s");
    }
    if (d->count > 8)
        fprintf(f, " and %zu more", d->count - 8);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

const char *series_explain(const struct plot_data *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->sides[i].count > 1)
            return "Line: median of the repetitions; band: all of them.";
    return "";
}
