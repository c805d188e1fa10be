/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A page of HTML (https://html.spec.whatwg.org/) that is well-formed XML, too, with nothing to load or to
 * run.
 */
#include <string.h>

#include "analyze/report/markup.h"

static const char *escape(const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const char *at = strchr(special, *text);
    return at ? references[at - special] : NULL;
}

static const struct markup html = {.escape = escape,
        .begin = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>iotape: "
                 "overhead</title>\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                 "<style>body{font-family:sans-serif;margin:1em}table{border-collapse:collapse;margin:1em "
                 "0;display:"
                 "block;overflow-x:auto}th,td{border:1px solid #999;padding:.2em .5em;text-align:left}"
                 "td.n{text-align:right;white-space:nowrap}</style></head>\n<body>\n",
        .end = "</body></html>\n",
        .heading_begin = "<h2>",
        .heading_end = "</h2>\n",
        .text_begin = "<p>",
        .text_end = "</p>\n",
        .table_begin = "<table>\n",
        .head_row = "<tr>",
        .row = "<tr>",
        .row_end = "</tr>\n",
        .table_end = "</table>\n",
        .head = "<th>",
        .head_end = "</th>",
        .cell = "<td>",
        .number = "<td class=\"n\">",
        .cell_end = "</td>",
        .rule = NULL};

static int write_html(const struct report *r, struct out *o, struct err *e)
{
    return markup_write(&html, r, o, e);
}

const struct report_ops report_html = {.name = "html", .help = "a page of its own", .write = write_html};
