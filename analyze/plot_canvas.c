/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The one file that names cairo (1.16). Its quirks:
 * - Its SVG writes text as glyphs, each text with symbols of its own. Text is therefore kept, and written as
 * <text> after cairo's shapes; cairo only measures it. What cairo writes is known and contains no text of
 * others.
 * - It writes a width in points unless told otherwise, numbers its ids by document, and embeds images as PNG.
 * - Text that is not UTF-8 puts a context into an error state for good.
 * - fontconfig below it keeps its patterns until the process ends, which the leak sanitizer is told.
 */
#include "analyze/plot_canvas.h"

#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/plot_svg.h"
#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED
#endif
#ifdef SANITIZED
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\n";
}
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

#define PNG_SCALE   2
#define PNG_MOST    32000 /* pixels a side: 32,767 are cairo's limit */
#define LABELS_MAX  4096
#define FONT_FAMILY "DejaVu Sans"
/* Of DejaVu Sans 2.37: hhea ascender 1901 and descender 483 of 2048 units. */
#define FONT_ASCENT  (1901.0 / 2048)
#define FONT_DESCENT (483.0 / 2048)

struct canvas {
    enum canvas_form form;
    double width, height;
    const char *id;
    cairo_t *cairo;
    struct svg_text svg; /* what cairo wrote */
    struct label *labels;
    size_t label_count;
    struct point *traces; /* of lines of data, gaps between them */
    size_t trace_count, trace_room;
    int failed; /* positive errno */
};

static cairo_status_t collect(void *closure, const unsigned char *bytes, unsigned length)
{
    struct canvas *c = closure;
    if (svg_text_add(&c->svg, (const char *)bytes, length) == 0)
        return CAIRO_STATUS_SUCCESS;
    c->failed = ENOMEM;
    return CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *make_surface(struct canvas *c)
{
    if (c->form == CANVAS_PNG) {
        double scale = fmin(PNG_SCALE, PNG_MOST / fmax(c->width, c->height));
        int width = (int)ceil(c->width * scale), height = (int)ceil(c->height * scale);
        cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
        cairo_surface_set_device_scale(s, scale, scale);
        return s;
    }
    cairo_surface_t *s = cairo_svg_surface_create_for_stream(collect, c, c->width, c->height);
    cairo_svg_surface_restrict_to_version(s, CAIRO_SVG_VERSION_1_1);
    return s;
}

/* Widths that do not depend on the size's place in a pixel grid. */
static void set_font_options(cairo_t *cairo)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
}

static int cairo_failed(cairo_status_t status, struct err *e)
{
    if (status == CAIRO_STATUS_NO_MEMORY)
        return err_sys(e, ENOMEM, "cannot draw");
    return err_set(e, EIO, "cannot draw: %s", cairo_status_to_string(status));
}

int canvas_open(struct canvas **out, enum canvas_form form, double width, double height, const char *id,
        struct err *e)
{
    struct canvas *c = calloc(1, sizeof *c);
    if (!c || !(c->labels = calloc(LABELS_MAX, sizeof *c->labels))) {
        free(c);
        return err_sys(e, ENOMEM, "cannot draw");
    }
    c->form = form;
    c->width = width;
    c->height = height;
    c->id = id;
    cairo_surface_t *surface = make_surface(c);
    c->cairo = cairo_create(surface);
    cairo_surface_destroy(surface); /* the context holds it */
    cairo_status_t status = cairo_status(c->cairo);
    if (status != CAIRO_STATUS_SUCCESS) {
        canvas_close(c);
        return cairo_failed(status, e);
    }
    set_font_options(c->cairo);
    canvas_rectangle(c, (struct box){0, 0, width, height}, tone(TONE_PAGE), 1);
    *out = c;
    return 0;
}

void canvas_close(struct canvas *c)
{
    if (!c)
        return;
    cairo_destroy(c->cairo);
    for (size_t i = 0; i < c->label_count; i++)
        free(c->labels[i].text);
    free(c->labels);
    free(c->traces);
    svg_text_release(&c->svg);
    free(c);
}

double canvas_width(const struct canvas *c)
{
    return c->width;
}

double canvas_height(const struct canvas *c)
{
    return c->height;
}

/* ---- shapes ---- */

static void set_colour(struct canvas *c, struct colour colour, double alpha)
{
    cairo_set_source_rgba(c->cairo, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0, alpha);
}

static bool is_gap(struct point p)
{
    return !isfinite(p.x) || !isfinite(p.y);
}

/* Remembers where a line of data runs. */
static void add_trace(struct canvas *c, const struct point *points, size_t count)
{
    if (c->trace_room - c->trace_count < count + 1) {
        size_t room = 2 * (c->trace_room + count) + 64;
        struct point *more = realloc(c->traces, room * sizeof *more);
        if (!more) {
            c->failed = ENOMEM;
            return;
        }
        c->traces = more;
        c->trace_room = room;
    }
    memcpy(c->traces + c->trace_count, points, count * sizeof *points);
    c->trace_count += count;
    c->traces[c->trace_count++] = (struct point){NAN, NAN};
}

void canvas_line(struct canvas *c, const struct point *points, size_t count, struct colour colour,
        double line_width, size_t dashes)
{
    if (line_width >= 2)
        add_trace(c, points, count);
    static const double patterns[3][4] = {{6, 3, 6, 3}, {2, 2, 2, 2}, {8, 2, 2, 2}};
    bool drawing = false;
    for (size_t i = 0; i < count; i++) {
        if (is_gap(points[i])) {
            drawing = false;
        } else if (drawing) {
            cairo_line_to(c->cairo, points[i].x, points[i].y);
        } else {
            cairo_move_to(c->cairo, points[i].x, points[i].y);
            /* One point by itself: with round caps a line of no length is a dot. */
            if (i + 1 == count || is_gap(points[i + 1]))
                cairo_line_to(c->cairo, points[i].x, points[i].y);
            drawing = true;
        }
    }
    set_colour(c, colour, 1);
    cairo_set_line_width(c->cairo, line_width);
    cairo_set_line_join(c->cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(c->cairo, dashes ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    cairo_set_dash(c->cairo, dashes ? patterns[(dashes - 1) % 3] : NULL, dashes ? 4 : 0, 0);
    cairo_stroke(c->cairo);
}

void canvas_band(struct canvas *c, const struct point *low, const struct point *high, size_t count,
        struct colour colour, double alpha)
{
    for (size_t begin = 0; begin < count;) {
        size_t end = begin;
        while (end < count && !is_gap(low[end]) && !is_gap(high[end]))
            end++;
        for (size_t i = begin; i < end; i++)
            cairo_line_to(c->cairo, low[i].x, low[i].y);
        for (size_t i = end; i > begin; i--)
            cairo_line_to(c->cairo, high[i - 1].x, high[i - 1].y);
        if (end > begin)
            cairo_close_path(c->cairo);
        begin = end + 1;
    }
    set_colour(c, colour, alpha);
    cairo_fill(c->cairo);
}

void canvas_rectangle(struct canvas *c, struct box b, struct colour colour, double alpha)
{
    cairo_rectangle(c->cairo, b.left, b.top, b.right - b.left, b.bottom - b.top);
    set_colour(c, colour, alpha);
    cairo_fill(c->cairo);
}

void canvas_dot(struct canvas *c, struct point centre, double radius, struct colour colour, bool filled)
{
    if (is_gap(centre))
        return;
    cairo_new_sub_path(c->cairo);
    cairo_arc(c->cairo, centre.x, centre.y, radius, 0, 2 * M_PI);
    set_colour(c, filled ? colour : tone(TONE_PAGE), 1);
    cairo_fill_preserve(c->cairo);
    set_colour(c, colour, 1);
    cairo_set_line_width(c->cairo, 1.5);
    cairo_set_dash(c->cairo, NULL, 0, 0);
    cairo_stroke(c->cairo);
}

/* One pixel for each cell, in cairo's native-endian ARGB. */
static void fill_cells(cairo_surface_t *s, const uint8_t *cells, size_t columns, size_t rows,
        const struct colour colours[256])
{
    unsigned char *data = cairo_image_surface_get_data(s);
    size_t stride = (size_t)cairo_image_surface_get_stride(s);
    cairo_surface_flush(s);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            uint8_t cell = cells[row * columns + column];
            struct colour k = colours[cell];
            uint32_t pixel =
                    cell ? UINT32_C(0xff000000) | (uint32_t)k.red << 16 | (uint32_t)k.green << 8 | k.blue : 0;
            memcpy(data + row * stride + column * 4, &pixel, sizeof pixel);
        }
    cairo_surface_mark_dirty(s);
}

void canvas_cells(struct canvas *c, struct box b, const uint8_t *cells, size_t columns, size_t rows,
        const struct colour colours[256])
{
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)columns, (int)rows);
    if (cairo_surface_status(s) == CAIRO_STATUS_SUCCESS) {
        fill_cells(s, cells, columns, rows, colours);
        cairo_save(c->cairo);
        cairo_translate(c->cairo, b.left, b.top);
        cairo_scale(c->cairo, (b.right - b.left) / (double)columns, (b.bottom - b.top) / (double)rows);
        cairo_set_source_surface(c->cairo, s, 0, 0);
        cairo_pattern_set_filter(cairo_get_source(c->cairo), CAIRO_FILTER_NEAREST);
        cairo_paint(c->cairo);
        cairo_restore(c->cairo);
    } else {
        c->failed = ENOMEM;
    }
    cairo_surface_destroy(s);
}

void canvas_clip(struct canvas *c, struct box b)
{
    cairo_save(c->cairo);
    cairo_rectangle(c->cairo, b.left, b.top, b.right - b.left, b.bottom - b.top);
    cairo_clip(c->cairo);
}

void canvas_unclip(struct canvas *c)
{
    cairo_restore(c->cairo);
}

/* ---- text ---- */

double font_height(struct font font)
{
    return font.size * (FONT_ASCENT + FONT_DESCENT);
}

double font_ascent(struct font font)
{
    return font.size * FONT_ASCENT;
}

static void set_font(struct canvas *c, struct font font)
{
    cairo_select_font_face(c->cairo, FONT_FAMILY, CAIRO_FONT_SLANT_NORMAL,
            font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c->cairo, font.size);
}

static double clean_width(struct canvas *c, const char *clean, struct font font)
{
    cairo_text_extents_t extents;
    set_font(c, font);
    cairo_text_extents(c->cairo, clean, &extents);
    return extents.x_advance;
}

double canvas_text_width(struct canvas *c, const char *text, struct font font)
{
    CLEANUP_FREE char *clean = plot_text_clean(text);
    return clean ? clean_width(c, clean, font) : 0;
}

static struct box text_box(struct point at, enum anchor anchor, double width, struct font font)
{
    double left = at.x - (anchor == ANCHOR_MIDDLE ? width / 2 : anchor == ANCHOR_END ? width : 0);
    double top = at.y - font_ascent(font);
    return (struct box){left, top, left + width, top + font_height(font)};
}

static void add_label(struct canvas *c, struct label label)
{
    if (c->label_count == LABELS_MAX || !label.text) {
        c->failed = label.text ? E2BIG : ENOMEM;
        free(label.text);
        return;
    }
    c->labels[c->label_count++] = label;
}

void canvas_text(struct canvas *c, struct point at, enum anchor anchor, const char *text, struct font font,
        struct colour colour)
{
    struct label label = {.text = plot_text_clean(text), .font = font, .colour = colour, .baseline = at.y};
    if (label.text && !*label.text) { /* nothing to draw */
        free(label.text);
        return;
    }
    label.box = text_box(at, anchor, label.text ? clean_width(c, label.text, font) : 0, font);
    add_label(c, label);
}

static bool meets_label(const struct canvas *c, struct box b, double gap)
{
    for (size_t i = 0; i < c->label_count; i++) {
        struct box other = c->labels[i].box;
        if (b.left < other.right + gap && other.left < b.right + gap && b.top < other.bottom &&
                other.top < b.bottom)
            return true;
    }
    return false;
}

bool canvas_is_clear(const struct canvas *c, struct box b)
{
    for (size_t i = 0; i + 1 < c->trace_count; i++) {
        struct point p = c->traces[i], q = c->traces[i + 1];
        /* By the boxes of line and text: what comes near counts as met. Comparisons with NAN are false. */
        if (fmin(p.x, q.x) < b.right && fmax(p.x, q.x) > b.left && fmin(p.y, q.y) < b.bottom &&
                fmax(p.y, q.y) > b.top && !is_gap(p) && !is_gap(q))
            return false;
    }
    return !meets_label(c, b, 0);
}

bool canvas_text_if_free(struct canvas *c, struct point at, enum anchor anchor, const char *text,
        struct font font, struct colour colour, double gap)
{
    struct box b = text_box(at, anchor, canvas_text_width(c, text, font), font);
    if (b.left < 0 || b.top < 0 || b.right > c->width || b.bottom > c->height)
        return false;
    if (meets_label(c, b, gap))
        return false;
    canvas_text(c, at, anchor, text, font, colour);
    return true;
}

const struct label *canvas_labels(const struct canvas *c, size_t *count)
{
    *count = c->label_count;
    return c->labels;
}

/* ---- the result ---- */

static cairo_status_t write_png(void *closure, const unsigned char *bytes, unsigned length)
{
    out_bytes(closure, (const char *)bytes, length);
    return CAIRO_STATUS_SUCCESS;
}

static void draw_labels(struct canvas *c)
{
    for (size_t i = 0; i < c->label_count; i++) {
        const struct label *l = &c->labels[i];
        set_font(c, l->font);
        set_colour(c, l->colour, 1);
        cairo_move_to(c->cairo, l->box.left, l->baseline);
        cairo_show_text(c->cairo, l->text);
    }
}

int canvas_write(struct canvas *c, const char *title, const char *description, struct out *o, struct err *e)
{
    cairo_surface_t *surface = cairo_get_target(c->cairo);
    if (c->form == CANVAS_PNG)
        draw_labels(c);
    cairo_status_t status = cairo_status(c->cairo);
    if (status == CAIRO_STATUS_SUCCESS && c->form == CANVAS_PNG)
        status = cairo_surface_write_to_png_stream(surface, write_png, o);
    if (status == CAIRO_STATUS_SUCCESS && c->form != CANVAS_PNG) {
        cairo_surface_finish(surface); /* writes to `collect` */
        status = cairo_surface_status(surface);
    }
    if (c->failed)
        return err_sys(e, c->failed, "cannot draw");
    if (status != CAIRO_STATUS_SUCCESS)
        return cairo_failed(status, e);
    if (c->form == CANVAS_PNG)
        return 0;
    const struct svg_page page = {c->form == CANVAS_INLINE, c->width, c->height, c->id, title, description,
            c->labels, c->label_count};
    return svg_text_write(&c->svg, &page, o, e);
}
