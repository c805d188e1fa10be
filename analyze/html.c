/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/html_style.h"
#include "analyze/plot_colours.h"
#include "analyze/plot_text.h"
#include "formats/base/cleanup.h"

/* ---- the page ---- */

static void put_tones(struct out *o, bool dark)
{
    for (size_t i = 0; i < TONES; i++) {
        struct colour c = dark ? plot_tones[i].dark : plot_tones[i].light;
        out_printf(o, "%s:#%02x%02x%02x;", plot_tones[i].css, c.red, c.green, c.blue);
    }
}

void html_begin(struct out *o, const char *title)
{
    out_text(o, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\"/>\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>");
    plot_text_escape(o, title);
    out_text(o, "</title>\n<style>\n:root{");
    put_tones(o, false);
    out_text(o, HTML_LIGHT "}\n@media screen and (prefers-color-scheme:dark){:root{");
    put_tones(o, true);
    out_text(o, HTML_DARK "}}\n");
    out_text(o, html_style);
    out_text(o, "</style>\n</head>\n<body>\n<main>\n");
}

void html_end(struct out *o)
{
    out_text(o, "</main>\n</body>\n</html>\n");
}

void html_section(struct out *o, const char *id, const char *title, const char *intro)
{
    out_printf(o, "<section id=\"%s\">\n<h2>", id);
    plot_text_escape(o, title);
    out_text(o, "</h2>\n");
    if (intro)
        html_paragraph(o, NULL, "%s", intro);
}

void html_section_end(struct out *o)
{
    out_text(o, "</section>\n");
}

/* ---- text ---- */

static void put_formatted(struct out *o, const char *fmt, va_list ap)
{
    CLEANUP_FREE char *text = NULL;
    if (vasprintf(&text, fmt, ap) < 0) {
        text = NULL;
        o->failed = o->failed ? o->failed : ENOMEM;
        return;
    }
    plot_text_escape(o, text);
}

void html_paragraph(struct out *o, const char *class_name, const char *fmt, ...)
{
    va_list ap;
    if (class_name)
        out_printf(o, "<p class=\"%s\">", class_name);
    else
        out_text(o, "<p>");
    va_start(ap, fmt);
    put_formatted(o, fmt, ap);
    va_end(ap);
    out_text(o, "</p>\n");
}

/* ---- tables ---- */

void html_table(struct out *o, const char *caption, const struct html_column *columns, size_t count)
{
    out_text(o, "<div class=\"scroll\" tabindex=\"0\">\n<table>\n<caption>");
    plot_text_escape(o, caption);
    out_text(o, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        out_text(o, columns[i].number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        plot_text_escape(o, columns[i].title);
        out_text(o, "</th>");
    }
    out_text(o, "</tr></thead>\n<tbody>\n");
}

void html_row(struct out *o)
{
    out_text(o, "<tr>");
}

void html_cell(struct out *o, bool number, const char *text)
{
    out_text(o, number ? "<td class=\"n\">" : "<td>");
    plot_text_escape(o, text);
    out_text(o, "</td>");
}

void html_head_cell(struct out *o, const char *text)
{
    out_text(o, "<th scope=\"row\">");
    plot_text_escape(o, text);
    out_text(o, "</th>");
}

void html_row_end(struct out *o)
{
    out_text(o, "</tr>\n");
}

void html_table_end(struct out *o)
{
    out_text(o, "</tbody>\n</table>\n</div>\n");
}

void html_facts(struct out *o)
{
    out_text(o, "<dl class=\"facts\">\n");
}

void html_fact(struct out *o, const char *key, const char *fmt, ...)
{
    va_list ap;
    out_text(o, "<div><dt>");
    plot_text_escape(o, key);
    out_text(o, "</dt><dd>");
    va_start(ap, fmt);
    put_formatted(o, fmt, ap);
    va_end(ap);
    out_text(o, "</dd></div>\n");
}

void html_facts_end(struct out *o)
{
    out_text(o, "</dl>\n");
}

/* ---- downloads ---- */

/* RFC 4648, section 4. `count` is a multiple of 3, but at the end. */
static void put_base64(struct out *o, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        unsigned value = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        char *p = out_room(o, 4);
        *p++ = digits[value >> 18];
        *p++ = digits[value >> 12 & 63];
        *p++ = left > 1 ? digits[value >> 6 & 63] : '=';
        *p++ = left > 2 ? digits[value & 63] : '=';
        out_advance(o, p);
    }
}

static int put_file(struct out *o, int fd, struct err *e)
{
    unsigned char block[3 * 8192];
    size_t used = 0;
    ssize_t n;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return err_sys(e, errno, "cannot read back a table");
    while ((n = read(fd, block + used, sizeof block - used)) > 0) {
        used += (size_t)n;
        if (used == sizeof block) {
            put_base64(o, block, used);
            used = 0;
        }
    }
    put_base64(o, block, used);
    return n < 0 ? err_sys(e, errno, "cannot read back a table") : 0;
}

int html_download(struct out *o, const char *name, const char *type, const char *text,
        int (*write)(const void *context, struct out *o, struct err *e), const void *context, struct err *e)
{
    struct out table;
    CLEANUP_FD int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "cannot hold '%s'", name);
    int rc = out_open_fd(&table, fd, name, e);
    if (rc < 0)
        return rc;
    rc = write(context, &table, e);
    int closed = out_close(&table, rc == 0, rc == 0 ? e : NULL);
    if (rc < 0 || closed < 0)
        return rc < 0 ? rc : closed;
    out_printf(o, "<p class=\"download\"><a download=\"%s\" href=\"data:%s;base64,", name, type);
    rc = put_file(o, fd, e);
    out_text(o, "\">");
    plot_text_escape(o, text);
    out_text(o, "</a></p>\n");
    return rc;
}
