/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * GitHub Flavored Markdown (its specification, version 0.29, section 4.10 for tables). What could be markup,
 * HTML, a link that is made by itself, a mention or a template of a site generator is written as a character
 * reference.
 */
#include <ctype.h>
#include <string.h>

#include "analyze/report/markup.h"

static const char *escape(const char *text)
{
    static const char special[] = "\\`*_{}[]<>()#|~&@$";
    static const char *const references[] = {"&#92;", "&#96;", "&#42;", "&#95;", "&#123;", "&#125;", "&#91;",
            "&#93;", "&lt;", "&gt;", "&#40;", "&#41;", "&#35;", "&#124;", "&#126;", "&amp;", "&#64;",
            "&#36;"};
    const char *at = strchr(special, *text);
    if (*text == '_' && isalnum((unsigned char)text[1])) /* ends no emphasis, as in read_iops */
        return NULL;
    if (at && (*text == '(' || *text == ')')) /* only after a bracket, which is escaped */
        return NULL;
    if (*text == ':' && text[1] == '/')
        return "&#58;";
    if (strncmp(text, "www.", 4) == 0)
        return "&#119;";
    return at ? references[at - special] : NULL;
}

static const struct markup markdown = {.escape = escape,
        .begin = "",
        .end = "",
        .heading_begin = "### ",
        .heading_end = "\n\n",
        .text_begin = "",
        .text_end = "\n\n",
        .table_begin = "",
        .head_row = "|",
        .row = "|",
        .row_end = "\n",
        .table_end = "\n",
        .head = " ",
        .head_end = " |",
        .cell = " ",
        .number = " ",
        .cell_end = " |",
        .rule = " --- |",
        .rule_number = " ---: |",
        .rule_end = "\n"};

static int write_markdown(const struct report *r, struct out *o, struct err *e)
{
    return markup_write(&markdown, r, o, e);
}

const struct report_ops report_markdown = {
        .name = "markdown", .help = "tables for READMEs and issues", .write = write_markdown};
