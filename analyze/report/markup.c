/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/report/markup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/utf8.h"

/* ---- text ---- */

/* Bytes of a control character, C1 and the marks that turn or hide text included (Unicode 15, "Bidi_Control",
 * and U+2028, U+2029, U+FEFF); 0 for anything else. */
static size_t control_length(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    if (*u < 0x20 || *u == 0x7f)
        return 1;
    if (u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0)
        return 2;
    bool bidi = u[0] == 0xe2 &&
                ((u[1] == 0x80 && ((u[2] >= 0xa8 && u[2] <= 0xae) || u[2] == 0x8e || u[2] == 0x8f)) ||
                        (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9));
    bool other = (u[0] == 0xd8 && u[1] == 0x9c) || (u[0] == 0xef && u[1] == 0xbb && u[2] == 0xbf);
    return bidi ? 3 : other ? (u[0] == 0xd8 ? 2 : 3) : 0;
}

static void put(const struct markup *m, struct out *o, const char *text)
{
    while (*text) {
        size_t len = utf8_length(text), control = len ? control_length(text) : 0;
        const char *other = control ? " " : len == 1 ? m->escape(text) : len ? NULL : UTF8_REPLACEMENT;
        if (other)
            out_text(o, other);
        else
            out_bytes(o, text, len);
        text += control ? control : len ? len : 1;
    }
}

static void put_cell(const struct markup *m, struct out *o, bool number, const char *text)
{
    out_text(o, number ? m->number : m->cell);
    put(m, o, text);
    out_text(o, m->cell_end);
}

static void paragraph(const struct markup *m, struct out *o, const char *text)
{
    out_text(o, m->text_begin);
    put(m, o, text);
    out_text(o, m->text_end);
}

/* ---- tables ---- */

struct column {
    const char *title;
    bool number;
};

static void begin_table(const struct markup *m, struct out *o, const struct column *columns, size_t count)
{
    out_text(o, m->table_begin);
    out_text(o, m->head_row);
    for (size_t i = 0; i < count; i++) {
        out_text(o, m->head);
        put(m, o, columns[i].title);
        out_text(o, m->head_end);
    }
    out_text(o, m->row_end);
    if (m->rule)
        out_text(o, m->row);
    for (size_t i = 0; m->rule && i < count; i++)
        out_text(o, columns[i].number ? m->rule_number : m->rule);
    if (m->rule)
        out_text(o, m->rule_end);
}

static void put_row(const struct markup *m, struct out *o, const struct column *columns, size_t count,
        const char *const *cells)
{
    out_text(o, m->row);
    for (size_t i = 0; i < count; i++)
        put_cell(m, o, columns[i].number, cells[i]);
    out_text(o, m->row_end);
}

/* ---- one comparison ---- */

#define PERCENT_BYTES 512
#define RANGE_BYTES   (2 * PERCENT_BYTES + 8)
/* "+18.25", "" for what is not known. */
static const char *signed_percent(double value, char buf[PERCENT_BYTES])
{
    char text[REPORT_NUMBER_BYTES];
    report_percent(value, text);
    snprintf(buf, PERCENT_BYTES, "%s%s", *text && *text != '-' ? "+" : "", text);
    return buf;
}

static const char *range(double lo, double hi, char buf[RANGE_BYTES])
{
    char a[PERCENT_BYTES], b[PERCENT_BYTES];
    buf[0] = 0;
    if (isfinite(lo) && isfinite(hi))
        snprintf(buf, RANGE_BYTES, "%s to %s", signed_percent(lo, a), signed_percent(hi, b));
    return buf;
}

/* The verdict, and where it is unsure what would help. */
static const char *verdict_text(
        const struct row *row, const struct comparison_options *o, char buf[PERCENT_BYTES])
{
    double detect_pct = o->detect > 0 ? 100 * o->detect : row->margin_pct;
    if (isfinite(row->n_needed))
        snprintf(buf, PERCENT_BYTES, "%s (%g %% would show in %.0f runs a side)", verdict_name(row->verdict),
                detect_pct, row->n_needed);
    else
        snprintf(buf, PERCENT_BYTES, "%s", verdict_name(row->verdict));
    return buf;
}

static const struct column columns[] = {{"metric", false}, {"unit", false}, {"n", true}, {"base", true},
        {"candidate", true}, {"change %", true}, {"overhead %", true}, {"interval %", true},
        {"verdict", false}, {"flags", false}};
#define COLUMNS (sizeof columns / sizeof *columns)

static int write_row(
        const struct markup *m, const struct report *r, const struct row *row, struct out *o, struct err *e)
{
    char base[REPORT_NUMBER_BYTES], cand[REPORT_NUMBER_BYTES], change[PERCENT_BYTES], overhead[PERCENT_BYTES];
    char interval[RANGE_BYTES], verdict[PERCENT_BYTES], n[64];
    CLEANUP_FREE char *name = NULL;
    if (asprintf(&name, "%s%s%s%s", row->stream, *row->stream ? ": " : "", row->name,
                row->primary ? " (primary)" : "") < 0)
        return err_sys(e, ENOMEM, "cannot write a row");
    snprintf(n, sizeof n, "%zu, %zu", row->n_base, row->n_cand);
    const char *const cells[COLUMNS] = {name, row->metric->unit, n, report_number(row->median_base, base),
            report_number(row->median_cand, cand), signed_percent(row->change_pct, change),
            signed_percent(row->overhead_pct, overhead), range(row->overhead_lo, row->overhead_hi, interval),
            verdict_text(row, &r->options, verdict), row->flags.text ? row->flags.text : ""};
    put_row(m, o, columns, COLUMNS, cells);
    return 0;
}

static bool is_empty(const struct row *row)
{
    return row->flags.text && strcmp(row->flags.text, "too_few_ios") == 0;
}

/* One line in place of rows without any number. */
static int write_empty(const struct markup *m, const struct comparison *c, struct out *o, struct err *e)
{
    CLEANUP_FREE char *line = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct row *row = &c->rows[i];
        char *more;
        if (!is_empty(row))
            continue;
        if (asprintf(&more, "%s%s%s%s%s", line ? line : "Left out, since too few I/Os are behind them: ",
                    line ? ", " : "", row->stream, *row->stream ? ": " : "", row->name) < 0)
            return err_sys(e, ENOMEM, "cannot write a table");
        free(line);
        line = more;
    }
    if (line)
        paragraph(m, o, line);
    return 0;
}

/* Flags of all rows in one line, without the differences, which have a table. */
static int write_flags(const struct markup *m, const struct comparison *c, struct out *o, struct err *e)
{
    CLEANUP_FREE char *line = strdup("Flags: "), *copy = strdup(c->flags.text ? c->flags.text : "");
    char *rest = NULL;
    size_t said = 0;
    if (!line || !copy)
        return err_sys(e, ENOMEM, "cannot write flags");
    for (char *f = strtok_r(copy, "|", &rest); f; f = strtok_r(NULL, "|", &rest)) {
        char *more;
        if (strncmp(f, "differs:", strlen("differs:")) == 0)
            continue;
        if (asprintf(&more, "%s%s%s", line, said++ ? ", " : "", f) < 0)
            return err_sys(e, ENOMEM, "cannot write flags");
        free(line);
        line = more;
    }
    if (said)
        paragraph(m, o, line);
    return 0;
}

static void write_differences(const struct markup *m, const struct comparison *c, struct out *o)
{
    const struct column what[] = {{"what differs", false}, {c->base.name, false}, {c->cand.name, false}};
    if (!c->difference_count)
        return;
    begin_table(m, o, what, 3);
    for (size_t i = 0; i < c->difference_count; i++) {
        const struct difference *d = &c->differences[i];
        const char *const cells[] = {d->key, d->base, d->cand};
        put_row(m, o, what, 3, cells);
    }
    out_text(o, m->table_end);
}

static int write_comparison(const struct markup *m, const struct report *r, const struct comparison *c,
        struct out *o, struct err *e)
{
    CLEANUP_FREE char *title = NULL;
    if (asprintf(&title, "%s: %s against %s", c->workload, c->cand.name, c->base.name) < 0) {
        title = NULL;
        return err_sys(e, ENOMEM, "cannot write a title");
    }
    out_text(o, m->heading_begin);
    put(m, o, title);
    out_text(o, m->heading_end);
    begin_table(m, o, columns, COLUMNS);
    int rc = 0;
    for (size_t i = 0; i < c->count && rc == 0; i++)
        if (!is_empty(&c->rows[i]))
            rc = write_row(m, r, &c->rows[i], o, e);
    out_text(o, m->table_end);
    if (rc == 0)
        rc = write_empty(m, c, o, e);
    if (rc == 0)
        rc = write_flags(m, c, o, e);
    write_differences(m, c, o);
    return rc;
}

/* ---- the whole ---- */

static void write_means(const struct markup *m, const struct report *r, struct out *o)
{
    static const struct column what[] = {{"metric", false}, {"base", false}, {"candidate", false},
            {"workloads", true}, {"change %", true}, {"overhead %", true}, {"verdict", false}};
    if (!r->mean_count)
        return;
    out_text(o, m->heading_begin);
    put(m, o, "Geometric means of the ratios of all workloads");
    out_text(o, m->heading_end);
    begin_table(m, o, what, sizeof what / sizeof *what);
    for (size_t i = 0; i < r->mean_count; i++) {
        const struct mean *a = &r->means[i];
        char n[64], change[PERCENT_BYTES], overhead[PERCENT_BYTES];
        snprintf(n, sizeof n, "%zu of %zu", a->matched, a->workloads);
        const char *const cells[] = {a->name, a->base, a->cand, n, signed_percent(a->change_pct, change),
                signed_percent(a->overhead_pct, overhead), a->verdict};
        put_row(m, o, what, sizeof what / sizeof *what, cells);
    }
    out_text(o, m->table_end);
}

/* What the columns mean; `conf` of the first interval. */
static void write_explanation(const struct markup *m, const struct report *r, struct out *o)
{
    char text[1024];
    snprintf(text, sizeof text,
            "Base and candidate are medians over n repetitions. Change is the metric's own; overhead is how "
            "much "
            "more one unit of work costs, so that positive is worse. Both are Hodges-Lehmann ratios, with "
            "the exact "
            "Mann-Whitney interval of at least %g %% where n allows it. Same: the whole interval is within "
            "%g %% (%g %% "
            "from p99 on); slower and faster are significant, all metrics but the primary one adjusted for "
            "being many.",
            100 * r->options.confidence, 100 * r->options.margin, 200 * r->options.margin);
    paragraph(m, o, text);
}

int markup_write(const struct markup *m, const struct report *r, struct out *o, struct err *e)
{
    int rc = 0;
    out_text(o, m->begin);
    for (size_t i = 0; i < r->count && rc == 0; i++)
        rc = write_comparison(m, r, &r->comparisons[i], o, e);
    write_means(m, r, o);
    write_explanation(m, r, o);
    out_text(o, m->end);
    return rc;
}
