/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/plot_sheet.h"

#define LEADER 22.0 /* from the panel to the names */

/* ---- widths ---- */

static bool is_twin(const struct name *names, size_t count, size_t i)
{
    for (size_t j = 0; j < count; j++)
        if (j != i && names[j].fitted && names[i].fitted && strcmp(names[i].fitted, names[j].fitted) == 0)
            return true;
    return false;
}

/* Names that would look the same after cutting get their numbers before them. */
static void number_twins(struct canvas *c, struct name *names, size_t count, double width)
{
    bool *twin = calloc(count + 1, sizeof *twin);
    for (size_t i = 0; twin && i < count; i++)
        twin[i] = is_twin(names, count, i);
    for (size_t i = 0; twin && i < count; i++) {
        char *numbered, number[24];
        if (!twin[i])
            continue;
        snprintf(number, sizeof number, "#%zu ", i + 1);
        char *rest =
                sheet_fit(c, names[i].text, font_plain, width - canvas_text_width(c, number, font_plain));
        if (rest && asprintf(&numbered, "%s%s", number, rest) >= 0) {
            free(names[i].fitted);
            names[i].fitted = numbered;
        }
        free(rest);
    }
    free(twin);
}

double names_fit(struct canvas *c, struct name *names, size_t count)
{
    double most = canvas_width(c) / 3 - LEADER - SHEET_EDGE, widest = 0;
    for (size_t i = 0; i < count; i++)
        names[i].fitted = sheet_fit(c, names[i].text, font_plain, most);
    number_twins(c, names, count, most);
    for (size_t i = 0; i < count; i++)
        if (names[i].fitted)
            widest = fmax(widest, canvas_text_width(c, names[i].fitted, font_plain));
    return ceil(LEADER + widest + SHEET_EDGE);
}

void names_release(struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i].fitted);
    free(names);
}

/* ---- heights ---- */

struct block {
    size_t first, count;
    double sum; /* of where its members want its first one to be */
};

static double block_place(const struct block *b)
{
    return b->sum / (double)b->count;
}

int spread(double *wanted, size_t count, double gap, double top, double bottom)
{
    struct block *blocks = calloc(count + 1, sizeof *blocks);
    size_t used = 0;
    if (!blocks)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        blocks[used++] = (struct block){i, 1, fmin(fmax(wanted[i], top), bottom - gap)};
        while (used > 1) {
            struct block *a = &blocks[used - 2], *b = &blocks[used - 1];
            if (block_place(a) + gap * (double)a->count <= block_place(b) + 1e-9)
                break;
            a->sum += b->sum - gap * (double)a->count * (double)b->count;
            a->count += b->count;
            used--;
        }
    }
    double floor_at = top;
    for (size_t i = 0; i < used; i++) { /* what the pooling pushed out comes back in */
        double rest = 0;
        for (size_t j = i; j < used; j++)
            rest += gap * (double)blocks[j].count;
        double at = fmin(fmax(block_place(&blocks[i]), floor_at), bottom - rest);
        at = fmax(at, floor_at);
        for (size_t j = 0; j < blocks[i].count; j++)
            wanted[blocks[i].first + j] = at + gap * (double)j;
        floor_at = at + gap * (double)blocks[i].count;
    }
    free(blocks);
    return 0;
}

static int by_height(const void *a, const void *b, void *names)
{
    const struct name *x = &((const struct name *)names)[*(const size_t *)a],
                      *y = &((const struct name *)names)[*(const size_t *)b];
    bool x_gap = !isfinite(x->at.y), y_gap = !isfinite(y->at.y);
    if (x_gap || y_gap || x->at.y == y->at.y)
        return x_gap != y_gap ? x_gap - y_gap
                              : (*(const size_t *)a > *(const size_t *)b) -
                                        (*(const size_t *)a < *(const size_t *)b);
    return x->at.y < y->at.y ? -1 : 1;
}

static double baseline_of(double middle)
{
    return middle + font_ascent(font_plain) - font_height(font_plain) / 2;
}

bool name_draw_behind(struct canvas *c, const struct name *n, double left)
{
    double width = n->fitted ? canvas_text_width(c, n->fitted, font_plain) : 0;
    struct box box = {
            n->at.x + 6, n->at.y - NAME_HEIGHT / 2, n->at.x + 10 + width, n->at.y + NAME_HEIGHT / 2};
    if (!n->fitted || !isfinite(n->at.y) || box.right > left || !canvas_is_clear(c, box))
        return false;
    canvas_text(c, (struct point){n->at.x + 8, baseline_of(n->at.y)}, ANCHOR_START, n->fitted, font_plain,
            tone(TONE_INK));
    return true;
}

static void draw_name(struct canvas *c, const struct name *n, double left, double top)
{
    double middle = top + NAME_HEIGHT / 2;
    if (isfinite(n->at.y)) {
        const struct point leader[] = {
                {n->at.x + 3, n->at.y}, {left + LEADER - 12, middle}, {left + LEADER - 4, middle}};
        canvas_line(c, leader, 3, n->colour, 1, n->at.x < left - 8 ? 2 : 0);
    }
    if (n->fitted)
        canvas_text(c, (struct point){left + LEADER, baseline_of(middle)}, ANCHOR_START, n->fitted,
                font_plain, tone(isfinite(n->at.y) ? TONE_INK : TONE_MUTED));
}

static void draw_column(struct canvas *c, struct name *names, size_t *order, double *places, size_t count,
        double left, double top, double bottom)
{
    qsort_r(order, count, sizeof *order, by_height, names);
    for (size_t i = 0; i < count; i++) {
        double y = names[order[i]].at.y;
        places[i] = isfinite(y) ? y - NAME_HEIGHT / 2 : bottom;
    }
    if (spread(places, count, NAME_HEIGHT, top, bottom) == 0)
        for (size_t i = 0; i < count; i++)
            draw_name(c, &names[order[i]], left, places[i]);
}

void names_draw(struct canvas *c, struct name *names, size_t count, double left, double top, double bottom)
{
    size_t *order = calloc(count + 1, sizeof *order), rest = 0;
    double *places = calloc(count + 1, sizeof *places);
    for (size_t i = 0; order && i < count; i++)
        if (!name_draw_behind(c, &names[i], left))
            order[rest++] = i;
    if (order && places)
        draw_column(c, names, order, places, rest, left, top, bottom);
    free(order);
    free(places);
}
