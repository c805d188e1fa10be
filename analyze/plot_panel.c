/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "analyze/plot_sheet.h"

#define TICK_GAP    8.0 /* between an axis and its numbers, and between numbers at least */
#define X_SPACING   64.0
#define Y_SPACING   26.0
#define TITLE_ABOVE 10.0

static void hairline(struct canvas *c, struct point from, struct point to)
{
    canvas_line(c, (struct point[]){from, to}, 2, tone(TONE_GRID), 1, 0);
}

static void draw_y_axis(struct canvas *c, const struct panel *p, bool grid)
{
    struct tick ticks[TICKS_MAX];
    size_t count = axis_ticks(&p->y, Y_SPACING, ticks);
    double middle = font_ascent(font_small) - font_height(font_small) / 2;
    for (size_t i = 0; i < count; i++) {
        double y = axis_place(&p->y, ticks[i].value);
        if (grid)
            hairline(c, (struct point){p->box.left, y}, (struct point){p->box.right, y});
        canvas_text_if_free(c, (struct point){p->box.left - TICK_GAP, y + middle}, ANCHOR_END, ticks[i].text,
                font_small, tone(TONE_MUTED), TICK_GAP);
    }
}

/* The tick that must not be missing, first: on an axis of overheads the middle. */
static size_t first_tick(const struct axis *a, const struct tick *ticks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a->unit == UNIT_OVERHEAD && ticks[i].value == 1)
            return i;
    return 0;
}

static void draw_x_axis(struct canvas *c, const struct panel *p, const char *title, bool grid)
{
    struct tick ticks[TICKS_MAX];
    size_t count = axis_ticks(&p->x, X_SPACING, ticks), first = first_tick(&p->x, ticks, count);
    double y = p->box.bottom + TICK_GAP / 2 + font_ascent(font_small);
    for (size_t i = 0; i < count; i++) {
        const struct tick *tick = &ticks[(first + i) % count];
        double x = axis_place(&p->x, tick->value);
        if (grid)
            hairline(c, (struct point){x, p->box.top}, (struct point){x, p->box.bottom});
        if (title)
            canvas_text_if_free(c, (struct point){x, y}, ANCHOR_MIDDLE, tick->text, font_small,
                    tone(TONE_MUTED), TICK_GAP);
    }
    if (title)
        canvas_text(c, (struct point){(p->box.left + p->box.right) / 2, y + font_height(font_small) + 4},
                ANCHOR_MIDDLE, title, font_small, tone(TONE_MUTED));
}

static void draw(struct canvas *c, const struct panel *p, const char *title, const char *x_title, bool grid)
{
    canvas_text(c, (struct point){p->box.left, p->box.top - TITLE_ABOVE}, ANCHOR_START, title, font_bold,
            tone(TONE_INK));
    draw_x_axis(c, p, x_title, grid);
    draw_y_axis(c, p, grid);
}

void panel_draw(struct canvas *c, const struct panel *p, const char *title, const char *x_title)
{
    draw(c, p, title, x_title, true);
}

void panel_draw_bare(struct canvas *c, const struct panel *p, const char *title, const char *x_title)
{
    draw(c, p, title, x_title, false);
}

void panel_draw_x(struct canvas *c, const struct panel *p, const char *x_title)
{
    draw_x_axis(c, p, x_title, true);
}
