/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The comparison: for each metric a dot where the estimate of the overhead is, and its interval, on an axis
 * of ratios, where twice and half are equally far from the middle. What counts as the same is shaded.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/plot_sheet.h"
#include "formats/base/cleanup.h"

#define ROW_HEIGHT 21.0
#define DOT        4.2

static double ratio_of(double percent)
{
    return 1 + percent / 100;
}

/* Above 0, so that it has a place. */
static bool has_place(double percent)
{
    return isfinite(percent) && percent > -100;
}

static bool is_shown(const struct row *r)
{
    return has_place(r->overhead_pct);
}

static struct colour verdict_colour(enum verdict v)
{
    return v == VERDICT_SLOWER ? colour_worse : v == VERDICT_FASTER ? colour_better : tone(TONE_MUTED);
}

struct view {
    const struct report *report;
    double low, high; /* ratios of all intervals */
    size_t rows, shown;
    bool workloads;      /* several */
    double names, words; /* widths of the columns left and right */
};

static void widen(struct view *v, double percent)
{
    if (!has_place(percent))
        return;
    v->low = fmin(v->low, ratio_of(percent));
    v->high = fmax(v->high, ratio_of(percent));
}

static void view_make(struct view *v)
{
    const struct report *r = v->report;
    v->low = v->high = 1;
    for (size_t i = 0; i < r->count; i++) {
        v->workloads |= strcmp(r->comparisons[i].workload, r->comparisons[0].workload) != 0;
        for (size_t j = 0; j < r->comparisons[i].count; j++) {
            const struct row *row = &r->comparisons[i].rows[j];
            v->rows++;
            v->shown += is_shown(row);
            if (!is_shown(row))
                continue;
            widen(v, row->overhead_pct);
            widen(v, row->overhead_lo);
            widen(v, row->overhead_hi);
        }
    }
}

static char *row_name(const struct row *r)
{
    char *text;
    int n = *r->stream ? asprintf(&text, "%s, %s", r->name, r->stream) : asprintf(&text, "%s", r->name);
    return n < 0 ? NULL : text;
}

/* "+18.3% slower", "not measured". */
static void row_words(const struct row *r, char text[64])
{
    char overhead[TICK_TEXT_BYTES] = "";
    if (is_shown(r))
        axis_format(UNIT_OVERHEAD, ratio_of(r->overhead_pct), overhead);
    if (is_shown(r))
        snprintf(text, 64, "%s %s", overhead, verdict_name(r->verdict));
    else
        snprintf(text, 64, "%s",
                r->flags.text && strstr(r->flags.text, "too_few_ios") ? "too few I/Os"
                : r->n_base && r->n_cand                              ? "no ratio"
                                                                      : "not measured");
}

static void measure_columns(struct view *v, struct canvas *c)
{
    const struct report *r = v->report;
    for (size_t i = 0; i < r->count; i++)
        for (size_t j = 0; j < r->comparisons[i].count; j++) {
            const struct row *row = &r->comparisons[i].rows[j];
            CLEANUP_FREE char *name = row_name(row);
            char words[64];
            row_words(row, words);
            v->names = fmax(
                    v->names, name ? canvas_text_width(c, name, row->primary ? font_bold : font_plain) : 0);
            v->words = fmax(v->words, canvas_text_width(c, words, font_plain));
        }
    v->names = fmin(v->names, canvas_width(c) * 0.34);
    v->words = fmin(v->words, canvas_width(c) * 0.36);
}

static void draw_interval(struct canvas *c, const struct panel *p, const struct row *row, double y)
{
    struct colour colour = verdict_colour(row->verdict);
    double margin = 1 + row->margin_pct / 100;
    struct box same = {
            axis_place(&p->x, 1 / margin), y - ROW_HEIGHT / 2, axis_place(&p->x, margin), y + ROW_HEIGHT / 2};
    canvas_clip(c, p->box);
    if (row->margin_pct > 0)
        canvas_rectangle(c, same, tone(TONE_GRID), 0.55);
    canvas_unclip(c);
    if (!is_shown(row))
        return;
    if (isfinite(row->overhead_lo) && isfinite(row->overhead_hi)) {
        double lo = has_place(row->overhead_lo) ? axis_place(&p->x, ratio_of(row->overhead_lo)) : p->box.left;
        double hi = axis_place(&p->x, ratio_of(row->overhead_hi));
        canvas_line(c, (struct point[]){{lo, y}, {hi, y}}, 2, colour, 2, 0);
        canvas_line(c, (struct point[]){{lo, y - 4}, {lo, y + 4}}, 2, colour, 1.5, 0);
        canvas_line(c, (struct point[]){{hi, y - 4}, {hi, y + 4}}, 2, colour, 1.5, 0);
    }
    bool sure =
            row->verdict == VERDICT_SLOWER || row->verdict == VERDICT_FASTER || row->verdict == VERDICT_SAME;
    canvas_dot(c, (struct point){axis_place(&p->x, ratio_of(row->overhead_pct)), y}, DOT, colour, sure);
}

static void draw_row(
        struct canvas *c, const struct view *v, const struct panel *p, const struct row *row, double y)
{
    CLEANUP_FREE char *name = row_name(row);
    struct font font = row->primary ? font_bold : font_plain;
    CLEANUP_FREE char *fitted = name ? sheet_fit(c, name, font, v->names) : NULL;
    double baseline = y + font_ascent(font) - font_height(font) / 2;
    char words[64];
    draw_interval(c, p, row, y);
    row_words(row, words);
    CLEANUP_FREE char *fitted_words = sheet_fit(c, words, font_plain, v->words);
    if (fitted)
        canvas_text(c, (struct point){SHEET_EDGE, baseline}, ANCHOR_START, fitted, font,
                tone(is_shown(row) ? TONE_INK : TONE_MUTED));
    if (fitted_words)
        canvas_text(c, (struct point){canvas_width(c) - SHEET_EDGE - v->words, baseline}, ANCHOR_START,
                fitted_words, font_plain,
                tone(is_shown(row) && row->verdict != VERDICT_UNSURE ? TONE_INK : TONE_MUTED));
}

static void draw_comparison(struct canvas *c, const struct view *v, const struct comparison *k, double top)
{
    double left = SHEET_EDGE + v->names + 14, right = canvas_width(c) - SHEET_EDGE - v->words - 16;
    struct box box = {left, top, right, top + (double)k->count * ROW_HEIGHT};
    CLEANUP_FREE char *title = NULL;
    if (asprintf(&title, "%s against %s%s%s", k->cand.name, k->base.name, v->workloads ? ": " : "",
                v->workloads ? k->workload : "") < 0)
        title = NULL;
    CLEANUP_FREE char *fitted =
            title ? sheet_fit(c, title, font_bold, canvas_width(c) - 2 * SHEET_EDGE) : NULL;
    struct panel p = {.box = box,
            .x = axis_cover(SCALE_LOG, UNIT_OVERHEAD, v->low, v->high, left, right),
            .y = {SCALE_LINEAR, UNIT_COUNT, 0, 1, box.bottom, box.top}};
    if (fitted)
        canvas_text(c, (struct point){SHEET_EDGE, top - 10}, ANCHOR_START, fitted, font_bold, tone(TONE_INK));
    panel_draw_x(c, &p, "what a unit of work costs more");
    double zero = axis_place(&p.x, 1);
    canvas_line(c, (struct point[]){{zero, box.top}, {zero, box.bottom}}, 2, tone(TONE_MUTED), 1, 0);
    for (size_t i = 0; i < k->count; i++)
        draw_row(c, v, &p, &k->rows[i], top + ((double)i + 0.5) * ROW_HEIGHT);
}

static char *description(const struct view *v)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    fprintf(f, "What each metric costs more, with its interval.");
    for (size_t i = 0; i < v->report->count && i < 8; i++) {
        const struct comparison *k = &v->report->comparisons[i];
        fprintf(f, " %s against %s:", k->cand.name, k->base.name);
        for (size_t j = 0; j < k->count; j++) {
            char words[64];
            row_words(&k->rows[j], words);
            fprintf(f, "%s %s %s", j ? ";" : "", k->rows[j].name, words);
        }
        fprintf(f, ".");
    }
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

static int draw(
        struct plot *p, const struct plot_input *in, const struct plot_request *request, struct err *e)
{
    struct view v = {.report = in->report};
    char subtitle[256];
    double top;
    view_make(&v);
    if (!v.shown)
        return err_set(e, ENODATA, "no metric has a ratio that could be drawn");
    snprintf(subtitle, sizeof subtitle,
            "Dot: estimate; line: %g%% interval. Right of the middle is worse, \303\22710 is ten times the "
            "cost. Shaded: what "
            "counts as the same.",
            100 * v.report->options.confidence);
    int rc = sheet_open(p, request, "Overhead", subtitle,
            (double)v.report->count * (SHEET_HEADING + SHEET_TICKS + 6) + (double)v.rows * ROW_HEIGHT, &top,
            e);
    if (rc < 0)
        return rc;
    measure_columns(&v, p->canvas);
    for (size_t i = 0; i < v.report->count; i++) {
        top += SHEET_HEADING;
        draw_comparison(p->canvas, &v, &v.report->comparisons[i], top);
        top += (double)v.report->comparisons[i].count * ROW_HEIGHT + SHEET_TICKS + 6;
    }
    if (!(p->description = description(&v))) {
        plot_release(p);
        return err_sys(e, ENOMEM, "cannot draw");
    }
    return 0;
}

const struct plot_ops plot_overhead = {.name = "overhead",
        .help = "the comparison: for each metric what it costs more, with its interval",
        .compares = true,
        .draw = draw};
