/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The colours of plots. Data: M. Okabe, K. Ito, Color Universal Design (2008),
 * https://jfly.uni-koeln.de/color/, less black and yellow; the first four have at least 3:1 against white and
 * against the dark page alike (WCAG 2.1, 1.4.11), and whoever cannot tell two colours apart has the name that
 * stands at each line. Density: viridis, by N. Smith and S. van der Walt (CC0), as the polynomial of M.
 * Zucker (CC0, https://www.shadertoy.com/view/WlfXRN).
 */
#ifndef IOTAPE_PLOT_COLOURS_H
#define IOTAPE_PLOT_COLOURS_H

#include <stddef.h>
#include <stdint.h>

struct colour {
    uint8_t red, green, blue;
};

/* What is no data. A plot has a page of its own, so that it can be read wherever it is put; where it is part
 * of an HTML page these are CSS variables (`css`), so that the page can make them dark. */
enum plot_tone { TONE_PAGE, TONE_INK, TONE_MUTED, TONE_GRID, TONE_NIGHT, TONES };
struct tone {
    struct colour light, dark;
    const char *css;
};
extern const struct tone plot_tones[TONES];

struct colour tone(enum plot_tone t);

/* Of the side with this number, from 0; the list begins anew after COLOUR_SIDES, with dashes (plot_dashes).
 */
#define COLOUR_SIDES 6
struct colour side_colour(size_t side);
/* 0: a solid line. */
size_t side_dashes(size_t side);

extern const struct colour colour_better, colour_worse;

/* 0 (least) to 1 (most); outside and NAN are taken as the nearest. */
struct colour density_colour(double fraction);

#endif
