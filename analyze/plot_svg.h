/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From what cairo writes as SVG to what is published: text that is text, a title and a description for those
 * who cannot see it, and for HTML pages ids that are one plot's own and colours that the page may change.
 */
#ifndef IOTAPE_PLOT_SVG_H
#define IOTAPE_PLOT_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/plot_canvas.h"
#include "formats/base/err.h"
#include "formats/base/out.h"

/* Zero-initialised is empty. Always ends in a zero byte. */
struct svg_text {
    char *bytes; /* owned */
    size_t count, room;
};

/* -ENOMEM */
int svg_text_add(struct svg_text *t, const char *bytes, size_t count);
void svg_text_release(struct svg_text *t);

struct svg_page {
    bool is_inline;
    double width, height;
    const char *id, *title, *description;
    const struct label *labels;
    size_t label_count;
};

/* -EIO where `t` is not what cairo 1.16 writes. */
int svg_text_write(const struct svg_text *t, const struct svg_page *page, struct out *o, struct err *e);

#endif
