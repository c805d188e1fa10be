/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_sheet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"
#include "formats/base/utf8.h"

const struct font font_title = {17, true}, font_bold = {12.5, true}, font_plain = {12, false},
                  font_small = {11, false};

#define LINES_MAX 8

/* ---- wrapping ---- */

static void close_canvas(struct canvas **c)
{
    canvas_close(*c);
}

struct lines {
    char *list[LINES_MAX];
    size_t count;
};

static void lines_release(struct lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->list[i]);
}

/* Where the line that begins at `text` ends: before a blank, or where all is said. */
static size_t line_length(struct canvas *c, const char *text, struct font font, double width)
{
    size_t best = strcspn(text, " ");
    for (size_t end = best;; best = end) {
        if (!text[end])
            return end;
        end += 1 + strcspn(text + end + 1, " ");
        CLEANUP_FREE char *line = strndup(text, end);
        if (!line || canvas_text_width(c, line, font) > width)
            return best;
    }
}

static int wrap(struct lines *l, struct canvas *c, const char *text, struct font font, double width)
{
    while (*text && l->count < LINES_MAX) {
        size_t len = l->count + 1 < LINES_MAX ? line_length(c, text, font, width) : strlen(text);
        CLEANUP_FREE char *line = strndup(text, len);
        char *fitted = line ? sheet_fit(c, line, font, width) : NULL;
        if (!fitted)
            return -ENOMEM;
        l->list[l->count++] = fitted;
        text += len + strspn(text + len, " ");
    }
    return 0;
}

/* The length of `text` up to character `count`. */
static size_t head_bytes(const char *text, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count && text[at]; i++)
        at += utf8_length(text + at);
    return at;
}

static size_t count_chars(const char *text)
{
    size_t count = 0;
    for (size_t at = 0; text[at]; count++)
        at += utf8_length(text + at);
    return count;
}

char *sheet_fit(struct canvas *c, const char *text, struct font font, double width)
{
    char *clean = plot_text_clean(text);
    if (!clean || canvas_text_width(c, clean, font) <= width)
        return clean;
    size_t chars = count_chars(clean), low = 0, high = chars;
    char *best = strdup("\342\200\246");
    while (best && low < high) { /* as many characters as fit, half of them from the end */
        size_t keep = (low + high + 1) / 2, head = head_bytes(clean, (keep + 1) / 2);
        char *cut;
        if (asprintf(&cut, "%.*s\342\200\246%s", (int)head, clean,
                    clean + head_bytes(clean, chars - keep / 2)) < 0)
            cut = NULL;
        bool fits = cut && canvas_text_width(c, cut, font) <= width;
        low = fits ? keep : low;
        high = fits ? high : keep - 1;
        free(fits || !cut ? best : cut);
        best = fits || !cut ? cut : best;
    }
    free(clean);
    return best;
}

/* ---- the sheet ---- */

static double put_lines(
        struct canvas *c, const struct lines *l, double y, struct font font, struct colour colour)
{
    for (size_t i = 0; i < l->count; i++) {
        canvas_text(
                c, (struct point){SHEET_EDGE, y + font_ascent(font)}, ANCHOR_START, l->list[i], font, colour);
        y += ceil(font_height(font)) + 2;
    }
    return y;
}

static double heading_height(const struct lines *title, const struct lines *subtitle)
{
    return (double)title->count * (ceil(font_height(font_title)) + 2) +
           (double)subtitle->count * (ceil(font_height(font_plain)) + 2) + SHEET_EDGE + 4;
}

int sheet_open(struct plot *p, const struct plot_request *request, const char *title, const char *subtitle,
        double body_height, double *top, struct err *e)
{
    struct canvas *ruler CLEANUP(close_canvas) = NULL;
    struct lines head CLEANUP(lines_release) = {0}, sub CLEANUP(lines_release) = {0};
    *p = (struct plot){0};
    int rc = canvas_open(&ruler, CANVAS_PNG, 1, 1, "", e);
    if (rc < 0)
        return rc;
    double width = request->width - 2 * SHEET_EDGE;
    if (wrap(&head, ruler, title, font_title, width) < 0 ||
            wrap(&sub, ruler, subtitle, font_plain, width) < 0 || !(p->title = strdup(title)))
        return err_sys(e, ENOMEM, "cannot draw");
    double height = ceil(heading_height(&head, &sub) + body_height + SHEET_EDGE);
    rc = canvas_open(&p->canvas, request->form, request->width, height, request->id, e);
    if (rc < 0) {
        plot_release(p);
        return rc;
    }
    double y = put_lines(p->canvas, &head, SHEET_EDGE, font_title, tone(TONE_INK));
    put_lines(p->canvas, &sub, y + 2, font_plain, tone(TONE_MUTED));
    *top = heading_height(&head, &sub);
    return 0;
}
