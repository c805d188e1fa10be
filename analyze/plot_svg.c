/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_svg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/plot_text.h"

int svg_text_add(struct svg_text *t, const char *bytes, size_t count)
{
    if (count >= t->room - t->count) {
        size_t room = 2 * t->room + count + 4096;
        char *more = realloc(t->bytes, room);
        if (!more)
            return -ENOMEM;
        t->bytes = more;
        t->room = room;
    }
    memcpy(t->bytes + t->count, bytes, count);
    t->count += count;
    t->bytes[t->count] = 0;
    return 0;
}

void svg_text_release(struct svg_text *t)
{
    free(t->bytes);
    *t = (struct svg_text){0};
}

/* ---- colours and ids ---- */

/* The CSS variable of a colour, or NULL. */
static const char *css_of(struct colour c)
{
    for (size_t i = 0; i < TONES; i++) {
        struct colour t = plot_tones[i].light;
        if (t.red == c.red && t.green == c.green && t.blue == c.blue)
            return plot_tones[i].css;
    }
    return NULL;
}

static void put_colour(struct out *o, struct colour c, bool variables)
{
    const char *css = variables ? css_of(c) : NULL;
    if (css)
        out_printf(o, "var(%s)", css);
    else
        out_printf(o, "#%02x%02x%02x", c.red, c.green, c.blue);
}

/* "rgb(A%,B%,C%)" as cairo writes it; *end is what follows. */
static bool parse_colour(const char *p, struct colour *c, const char **end)
{
    uint8_t *parts[] = {&c->red, &c->green, &c->blue};
    p += strlen("rgb(");
    for (int i = 0; i < 3; i++) {
        char *after;
        double percent = strtod(p, &after); /* programs never call setlocale */
        if (after == p || *after != '%' || after[1] != (i < 2 ? ',' : ')'))
            return false;
        *parts[i] = (uint8_t)lround(fmin(fmax(percent, 0), 100) * 2.55);
        p = after + 2;
    }
    *end = p;
    return true;
}

/* Copies cairo's elements, and on the way makes colours and coordinates short (a hundredth of a pixel is
 * enough) and ids the plot's own. */
static void put_shapes(struct out *o, const char *from, const char *to, const struct svg_page *page)
{
    static const char *const ids[] = {"id=\"", "href=\"#", "url(#"};
    const char *done = from;
    bool in_path = false;
    for (const char *p = from; p < to;) {
        struct colour colour;
        const char *after = NULL;
        if (*p == '"')
            in_path = p > from + 3 && strncmp(p - 3, " d=", 3) == 0;
        size_t digits = in_path && *p == '.' ? strspn(p + 1, "0123456789") : 0;
        if (strncmp(p, "<image ", 7) == 0) { /* cells are cells, which cairo does not say */
            out_bytes(o, done, (size_t)(p + 7 - done));
            out_text(o, "style=\"image-rendering:pixelated\" ");
            p = done = p + 7;
            continue;
        }
        if (digits > 2) {
            out_bytes(o, done, (size_t)(p + 3 - done));
            p = done = p + 1 + digits;
            continue;
        }
        if (strncmp(p, "rgb(", 4) == 0 && parse_colour(p, &colour, &after)) {
            out_bytes(o, done, (size_t)(p - done));
            put_colour(o, colour, page->is_inline);
            p = done = after;
            continue;
        }
        for (size_t i = 0; page->is_inline && i < sizeof ids / sizeof *ids && !after; i++)
            if (strncmp(p, ids[i], strlen(ids[i])) == 0)
                after = p + strlen(ids[i]);
        if (after) {
            out_bytes(o, done, (size_t)(after - done));
            out_printf(o, "%s-", page->id);
            p = done = after;
            continue;
        }
        p++;
    }
    out_bytes(o, done, (size_t)(to - done));
}

/* ---- the page ---- */

static void put_label(struct out *o, const struct label *l, bool variables)
{
    out_printf(o,
            "<text x=\"%.2f\" y=\"%.2f\" textLength=\"%.2f\" lengthAdjust=\"spacingAndGlyphs\" "
            "font-size=\"%g\"",
            l->box.left, l->baseline, l->box.right - l->box.left, l->font.size);
    if (l->font.bold)
        out_text(o, " font-weight=\"bold\"");
    out_text(o, " style=\"fill:");
    put_colour(o, l->colour, variables);
    out_text(o, "\">");
    plot_text_escape(o, l->text);
    out_text(o, "</text>\n");
}

static void put_head(struct out *o, const struct svg_page *page)
{
    if (!page->is_inline)
        out_text(o, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out_text(o, "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" ");
    out_printf(o, "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" role=\"img\" ", page->width, page->height,
            page->width, page->height);
    out_printf(o, "aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">", page->id, page->id,
            page->id);
    plot_text_escape(o, page->title);
    out_printf(o, "</title>\n<desc id=\"%s-desc\">", page->id);
    plot_text_escape(o, page->description);
    out_text(o, "</desc>\n");
}

int svg_text_write(const struct svg_text *t, const struct svg_page *page, struct out *o, struct err *e)
{
    const char *svg = t->bytes ? strstr(t->bytes, "<svg ") : NULL;
    const char *begin = svg ? strchr(svg, '>') : NULL;
    const char *end = begin ? strstr(begin, "</svg>") : NULL;
    if (!end)
        return err_set(e, EIO, "cannot draw: cairo wrote no SVG");
    put_head(o, page);
    put_shapes(o, begin + 2, end, page);
    out_text(o, "<g font-family=\"'DejaVu Sans',Verdana,sans-serif\" xml:space=\"preserve\">\n");
    for (size_t i = 0; i < page->label_count; i++)
        put_label(o, &page->labels[i], page->is_inline);
    out_text(o, "</g>\n</svg>\n");
    return 0;
}
