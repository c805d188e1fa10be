/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The pieces of HTML pages: one file that loads nothing, runs nothing, and is well-formed XML, too
 * (https://html.spec.whatwg.org/, "Writing XHTML documents"). All text is escaped here.
 */
#ifndef IOTAPE_HTML_H
#define IOTAPE_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/base/err.h"
#include "formats/base/out.h"

/* Everything up to the first section, style included; and the end. */
void html_begin(struct out *o, const char *title);
void html_end(struct out *o);

/* A section with a heading; `id` is a literal. `intro` (may be NULL) is a paragraph. */
void html_section(struct out *o, const char *id, const char *title, const char *intro);
void html_section_end(struct out *o);

/* A paragraph, formatted and then escaped. `class_name` is a literal, or NULL. */
void html_paragraph(struct out *o, const char *class_name, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* Tables that scroll where the page is narrow. Cells are escaped; a number's cell is aligned right. */
struct html_column {
    const char *title;
    bool number;
};
void html_table(struct out *o, const char *caption, const struct html_column *columns, size_t count);
void html_row(struct out *o);
void html_cell(struct out *o, bool number, const char *text);
void html_head_cell(struct out *o, const char *text); /* of a row */
void html_row_end(struct out *o);
void html_table_end(struct out *o);

/* A table of two columns without a heading: what, and its value. */
void html_facts(struct out *o);
void html_fact(struct out *o, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void html_facts_end(struct out *o);

/* A link that holds the whole of what `write` writes, for download as `name` (a literal). `type` is its media
 * type. The table is kept out of memory; it goes through a file without a name. */
int html_download(struct out *o, const char *name, const char *type, const char *text,
        int (*write)(const void *context, struct out *o, struct err *e), const void *context, struct err *e);

#endif
