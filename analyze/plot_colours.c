/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_colours.h"

/* Contrast against the page, light and dark: ink 15.9 and 14.0, muted 5.6 and 6.9, where 4.5 is asked of
 * text. */
const struct tone plot_tones[TONES] = {
        [TONE_PAGE] = {{255, 255, 255}, {21, 25, 31}, "--page"},
        [TONE_INK] = {{31, 35, 40}, {230, 233, 237}, "--ink"},
        [TONE_MUTED] = {{96, 103, 112}, {154, 163, 174}, "--muted"},
        [TONE_GRID] = {{226, 229, 233}, {47, 54, 63}, "--grid"},
        /* Behind densities, on every page: viridis begins dark. */
        [TONE_NIGHT] = {{24, 20, 36}, {30, 26, 44}, "--night"},
};

static const struct colour sides[COLOUR_SIDES] = {
        {0, 114, 178},   /* blue */
        {213, 94, 0},    /* vermilion */
        {0, 158, 115},   /* bluish green */
        {204, 121, 167}, /* reddish purple */
        {230, 159, 0},   /* orange */
        {86, 180, 233},  /* sky blue */
};

const struct colour colour_better = {0, 114, 178}, colour_worse = {213, 94, 0};

struct colour tone(enum plot_tone t)
{
    return plot_tones[t].light;
}

struct colour side_colour(size_t side)
{
    return sides[side % COLOUR_SIDES];
}

size_t side_dashes(size_t side)
{
    return side / COLOUR_SIDES;
}

struct colour density_colour(double x)
{
    static const double c[7][3] = {{0.2777273272234177, 0.005407344544966578, 0.3340998053353061},
            {0.1050930431085774, 1.404613529898575, 1.384590162594685},
            {-0.3308618287255563, 0.214847559468213, 0.09509516302823659},
            {-4.634230498983486, -5.799100973351585, -19.33244095627987},
            {6.228269936347081, 14.17993336680509, 56.69055260068105},
            {4.776384997670288, -13.74514537774601, -65.35303263337234},
            {-5.435455855934631, 4.645852612178535, 26.3124352495832}};
    uint8_t out[3];
    if (!(x > 0))
        x = 0;
    if (x > 1)
        x = 1;
    for (int i = 0; i < 3; i++) {
        double value = 0;
        for (int power = 6; power >= 0; power--)
            value = value * x + c[power][i];
        out[i] = (uint8_t)(value <= 0 ? 0 : value >= 1 ? 255 : value * 255 + 0.5);
    }
    return (struct colour){out[0], out[1], out[2]};
}
