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

/* "a (5 runs), b and 2 more": for alternative texts; owned by the caller; NULL where memory is short. */
char *series_sides(const struct plot_data *d);
/* "line: median of the repetitions, band: all of them", or "" where no side has several. */
const char *series_explain(const struct plot_data *d);

#endif
