/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How plots are laid out: a heading, panels below each other on one x axis, and names that stand at the ends
 * of lines in a column on the right.
 */
#ifndef IOTAPE_PLOT_SHEET_H
#define IOTAPE_PLOT_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/plot.h"
#include "analyze/plot_axis.h"

extern const struct font font_title, font_bold, font_plain, font_small;

#define SHEET_EDGE    16.0 /* around all */
#define SHEET_LEFT    72.0 /* where panels begin: room for the y axis */
#define SHEET_HEADING 30.0 /* above a panel, for its title */
#define SHEET_TICKS   44.0 /* below the last panel, for the x axis */
#define NAME_HEIGHT   15.0 /* of a name in the column */

/* ---- the sheet ---- */

/* Takes the request's form and opens p->canvas, as high as the heading and `body_height` need, and writes the
 * heading. `title` and `subtitle` are wrapped; the title is also the alternative text's. *top is where the
 * body begins. */
int sheet_open(struct plot *p, const struct plot_request *request, const char *title, const char *subtitle,
        double body_height, double *top, struct err *e);

/* A text that fits into `width`: cut in its middle, where names of files differ least. Owned by the caller;
 * NULL where memory is short. */
char *sheet_fit(struct canvas *c, const char *text, struct font font, double width);

/* ---- panels ---- */

struct panel {
    struct box box;
    struct axis x, y;
};

/* Title above, horizontal grid and y ticks; x ticks and `x_title` below unless it is NULL. */
void panel_draw(struct canvas *c, const struct panel *p, const char *title, const char *x_title);
/* Only the ticks and titles, no grid: for what fills its panel. */
void panel_draw_bare(struct canvas *c, const struct panel *p, const char *title, const char *x_title);

/* The x axis alone, with its grid. */
void panel_draw_x(struct canvas *c, const struct panel *p, const char *x_title);

/* ---- names at lines ---- */

struct name {
    const char *text;
    struct point at; /* the line's end; NAN: in the column's order, without a leader */
    struct colour colour;
    size_t dashes;
    char *fitted; /* by names_fit; owned */
};

/* Cuts the names so that they stay apart from each other and fit, and returns the width of their column,
 * leaders included: at most a third of the canvas. */
double names_fit(struct canvas *c, struct name *names, size_t count);
/* Writes them: right behind a line that ends early where there is room, else in the column that begins at
 * `left`, between `top` and `bottom` (at least count * NAME_HEIGHT apart), each as near to its line as the
 * others let it. */
void names_draw(struct canvas *c, struct name *names, size_t count, double left, double top, double bottom);
void names_release(struct name *names, size_t count);
/* Writes one right behind its `at`, where that is left of `left` and clear; else false. */
bool name_draw_behind(struct canvas *c, const struct name *n, double left);

/* Where labels of height `gap` go that want to stand at wanted[], which becomes the answer: in order, `gap`
 * apart, within top .. bottom, with the least sum of squared moves (pool adjacent violators). -ENOMEM */
int spread(double *wanted, size_t count, double gap, double top, double bottom);

#endif
