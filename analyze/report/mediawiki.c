/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Wikitext (https://www.mediawiki.org/wiki/Help:Tables). All that could be markup, a template, a link, a
 * magic word or a signature is written as a character reference, which the parser takes for text.
 */
#include <string.h>

#include "analyze/report/markup.h"

static const char *escape(const char *text)
{
    static const char special[] = "&<>\"'[]{}|=*#:;~!@";
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#91;", "&#93;",
            "&#123;", "&#125;", "&#124;", "&#61;", "&#42;", "&#35;", "&#58;", "&#59;", "&#126;", "&#33;",
            "&#64;"};
    const char *at = strchr(special, *text);
    if (*text == '_' && text[1] == '_') /* __NOTOC__ */
        return "&#95;";
    return at ? references[at - special] : NULL;
}

static const struct markup mediawiki = {.escape = escape,
        .begin = "",
        .end = "",
        .heading_begin = "=== ",
        .heading_end = " ===\n",
        .text_begin = "\n",
        .text_end = "\n",
        .table_begin = "{| class=\"wikitable\"\n",
        .head_row = "|-\n",
        .row = "|-\n",
        .row_end = "",
        .table_end = "|}\n",
        .head = "! ",
        .head_end = "\n",
        .cell = "| ",
        .number = "| style=\"text-align:right\" | ",
        .cell_end = "\n",
        .rule = NULL};

static int write_mediawiki(const struct report *r, struct out *o, struct err *e)
{
    return markup_write(&mediawiki, r, o, e);
}

const struct report_ops report_mediawiki = {
        .name = "mediawiki", .help = "tables for a wiki", .write = write_mediawiki};
