/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_density.h"

#include <math.h>
#include <stdlib.h>

static void ramp_colours(struct colour colours[256])
{
    for (int i = 0; i < 256; i++)
        colours[i] = density_colour((double)(i - 1) / 254);
}

/* 1 for a count of 1 to 255 for `most`; 0 for none. */
static uint8_t level(uint32_t count, uint32_t most)
{
    if (!count)
        return 0;
    double part = most > 1 ? log((double)count) / log((double)most) : 1;
    return (uint8_t)(1 + 254 * fmin(part, 1) + 0.5);
}

uint32_t density_most(uint32_t (*heat)[PLOT_HEAT_TIMES], size_t rows)
{
    uint32_t most = 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t time = 0; time < PLOT_HEAT_TIMES; time++)
            most = heat[row][time] > most ? heat[row][time] : most;
    return most;
}

void density_draw(struct canvas *c, const struct panel *p, uint32_t (*heat)[PLOT_HEAT_TIMES],
        size_t first_row, size_t rows, uint64_t time_ns, uint32_t most)
{
    struct colour colours[256];
    double end_ns = p->x.high;
    size_t columns = (size_t)ceil(end_ns / (double)time_ns - 1e-9);
    columns = columns < 1 ? 1 : columns > PLOT_HEAT_TIMES ? PLOT_HEAT_TIMES : columns;
    uint8_t *cells = calloc(rows * columns + 1, 1);
    canvas_rectangle(c, p->box, tone(TONE_NIGHT), 1);
    if (!cells)
        return;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            cells[(rows - 1 - row) * columns + column] = level(heat[first_row + row][column], most);
    ramp_colours(colours);
    struct box box = p->box;
    box.right = axis_place(&p->x, (double)columns * (double)time_ns);
    canvas_clip(c, p->box); /* the last column may be cut */
    canvas_cells(c, box, cells, columns, rows, colours);
    canvas_unclip(c);
    free(cells);
}

void density_ramp(struct canvas *c, struct box box, uint32_t most, const char *title)
{
    struct colour colours[256];
    uint8_t cells[255];
    double width = fmin(180, (box.right - box.left) / 2), y = box.top + 10 + font_ascent(font_small);
    double text = canvas_text_width(c, title, font_small);
    struct box bar = {box.left + text + 10, box.top + 9, box.left + text + 10 + width, box.top + 21};
    struct axis a = {SCALE_LOG, UNIT_COUNT, 1, most > 1 ? most : 2, bar.left, bar.right};
    struct tick ticks[TICKS_MAX];
    char last[TICK_TEXT_BYTES];
    ramp_colours(colours);
    for (int i = 0; i < 255; i++)
        cells[i] = (uint8_t)(i + 1);
    canvas_text(c, (struct point){box.left, y}, ANCHOR_START, title, font_small, tone(TONE_MUTED));
    canvas_cells(c, bar, cells, most > 1 ? 255 : 1, 1, colours);
    double below = bar.bottom + 3 + font_ascent(font_small);
    axis_format(UNIT_COUNT, most, last);
    canvas_text(c, (struct point){bar.right, below}, ANCHOR_MIDDLE, last, font_small, tone(TONE_MUTED));
    size_t count = most > 1 ? axis_ticks(&a, 40, ticks) : 0;
    for (size_t i = 0; i < count; i++)
        canvas_text_if_free(c, (struct point){axis_place(&a, ticks[i].value), below}, ANCHOR_MIDDLE,
                ticks[i].text, font_small, tone(TONE_MUTED), 8);
}
