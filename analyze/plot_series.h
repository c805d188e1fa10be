/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the repetitions of a side say together: at each point their median as a line, and all of them as a
 * band.
 */
#ifndef IOTAPE_PLOT_SERIES_H
#define IOTAPE_PLOT_SERIES_H

#include "analyze/plot_data.h"
#include "analyze/plot_sheet.h"

#define SERIES_MAX 256 /* points */

struct series {
    size_t count;
    double x[SERIES_MAX]; /* values of the x axis */
    /* NAN where less than half of the repetitions say anything. */
    double middle[SERIES_MAX], low[SERIES_MAX], high[SERIES_MAX];
};

/* The wanted numbers of one repetition; `which` is the caller's. */
typedef const double *series_values(const struct plot_repetition *r, int which);

/* Fills in all but x, for `count` points. -ENOMEM */
int series_make(
        struct series *s, const struct plot_side *side, series_values *values, int which, size_t count);

/* Widens *low and *high (NAN at first) to hold all of it. */
void series_widen(const struct series *s, double *low, double *high);

/* Draws band and line; returns where the line ends, NAN where there is none. */
struct point series_draw(struct canvas *c, const struct panel *p, const struct series *s, size_t side);

/* Mean of the middle over all points where there is one; NAN for none. */
double series_mean(const struct series *s);

/* What a plot of several panels with a line for each side draws with. All zero: needs no release. */
struct series_view {
    const struct plot_data *data;
    struct series *series; /* [panel][side] */
    struct name *names;    /* of the sides */
};
/* Series to be filled in, and the names; `data` is set before. -ENOMEM; release it all the same. */
int series_view_make(struct series_view *v, size_t panels);
void series_view_release(struct series_view *v);
struct series *series_view_at(const struct series_view *v, size_t panel, size_t side);
/* The least and the greatest of a panel; NAN where it has nothing. */
void series_view_range(const struct series_view *v, size_t panel, double *low, double *high);
/* Draws the lines of a panel; the names' places become the lines' ends. */
void series_view_draw(struct canvas *c, const struct panel *p, const struct series_view *v, size_t panel);

/* "a (5 runs), b and 2 more": for alternative texts; owned by the caller; NULL where memory is short. */
char *series_sides(const struct plot_data *d);
/* "line: median of the repetitions, band: all of them", or "" where no side has several. */
const char *series_explain(const struct plot_data *d);

#endif
