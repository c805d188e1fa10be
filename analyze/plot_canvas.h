/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What plots are drawn on, by cairo: one set of calls for SVG and PNG. Units are CSS pixels, y grows
 * downwards.
 *
 * Text in SVG is text: it can be selected, searched and read aloud, and needs no glyphs in the file. It is
 * measured with DejaVu Sans; `textLength` holds each label to the width that was measured, so that another
 * font cannot make labels collide. All text is above all shapes.
 *
 * Drawing calls never fail: what went wrong is remembered, and canvas_write reports it.
 */
#ifndef IOTAPE_PLOT_CANVAS_H
#define IOTAPE_PLOT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/plot_colours.h"
#include "formats/base/err.h"
#include "formats/base/out.h"

struct canvas;

enum canvas_form {
    CANVAS_SVG,    /* a document of its own */
    CANVAS_INLINE, /* an <svg> element for an HTML page that defines plot_tones' variables */
    CANVAS_PNG,    /* two pixels for each CSS pixel, fewer where that would be more than 32,000 a side */
};

struct point {
    double x, y;
};
struct box {
    double left, top, right, bottom;
};

/* `id` distinguishes several inline plots of one page: letters and digits. Owned by nobody: a literal or
 * outliving the canvas. -ENOMEM and what cairo refuses. */
int canvas_open(
        struct canvas **c, enum canvas_form form, double width, double height, const char *id, struct err *e);
void canvas_close(struct canvas *c); /* NULL is allowed */
double canvas_width(const struct canvas *c);
double canvas_height(const struct canvas *c);

/* ---- shapes ---- */

/* A line through the points; one with a NAN is a gap. `dashes` 0: solid; else one of three patterns. */
void canvas_line(struct canvas *c, const struct point *points, size_t count, struct colour colour,
        double line_width, size_t dashes);
/* The area between two lines with the same x; NAN in either is a gap. */
void canvas_band(struct canvas *c, const struct point *low, const struct point *high, size_t count,
        struct colour colour, double alpha);
void canvas_rectangle(struct canvas *c, struct box box, struct colour colour, double alpha);
void canvas_dot(struct canvas *c, struct point centre, double radius, struct colour colour, bool filled);
/* Cells of equal size, `columns` x `rows` from the top left: index into `colours`, 0 is left empty. */
void canvas_cells(struct canvas *c, struct box box, const uint8_t *cells, size_t columns, size_t rows,
        const struct colour colours[256]);
/* What is drawn until canvas_unclip is cut at the box; text is not. */
void canvas_clip(struct canvas *c, struct box box);
void canvas_unclip(struct canvas *c);

/* ---- text ---- */

struct font {
    double size;
    bool bold;
};
enum anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END };

struct label {
    struct box box;
    char *text;
    struct font font;
    struct colour colour;
    double baseline;
};

/* Width of a text as it will be drawn, after plot_text_clean. */
double canvas_text_width(struct canvas *c, const char *text, struct font font);
/* A line's height: the box of a label is this high, its baseline `ascent` below its top. */
double font_height(struct font font);
double font_ascent(struct font font);
/* Writes one line with its baseline at `at`. Any bytes will do (plot_text_clean). */
void canvas_text(struct canvas *c, struct point at, enum anchor anchor, const char *text, struct font font,
        struct colour colour);
/* The same, unless its box leaves the canvas or comes within `gap` of another label's: false. */
bool canvas_text_if_free(struct canvas *c, struct point at, enum anchor anchor, const char *text,
        struct font font, struct colour colour, double gap);

/* Whether no label and no line of data (canvas_line, two pixels wide or more) comes into the box. */
bool canvas_is_clear(const struct canvas *c, struct box box);

/* All labels so far, for those who check that none meets another. */
const struct label *canvas_labels(const struct canvas *c, size_t *count);

/* ---- the result ---- */

/* Writes all; `title` and `description` become the alternative text. May be called once. */
int canvas_write(struct canvas *c, const char *title, const char *description, struct out *o, struct err *e);

#endif
