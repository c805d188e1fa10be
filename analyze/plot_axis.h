/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Axes: from values to places, and which values deserve a tick. Pure functions of numbers.
 */
#ifndef IOTAPE_PLOT_AXIS_H
#define IOTAPE_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

enum scale {
    SCALE_LINEAR,
    SCALE_LOG,   /* values above 0 */
    SCALE_NINES, /* fractions from 0 to below 1, by their nines: 0.9 lies at 1, 0.99 at 2 */
};

/* How a tick's value is written. */
enum unit {
    UNIT_DURATION, /* of ns: "150 us" with a real mu, "1.5 ms", "2 s" */
    UNIT_COUNT,    /* "1.5k", "2M" */
    UNIT_BYTES,    /* "512 KiB", "1.5 GiB" */
    UNIT_MB_S,     /* the number alone */
    UNIT_PERCENT,  /* of fractions: "99.9%" */
    UNIT_OVERHEAD, /* of ratios, above 0: 1.2 is "+20%", 0.5 "-50%" with a real minus, 12 a times sign and 12
                    */
};

struct axis {
    enum scale scale;
    enum unit unit;
    double low, high; /* values; low < high */
    double from, to;  /* places of low and high */
};

/* An axis that covers the values from `low` to `high` with a little room, and no less than what can be told
 * apart; what is not finite, or not above 0 on a logarithmic axis, counts as not there. A linear one begins
 * at 0. */
struct axis axis_cover(enum scale scale, enum unit unit, double low, double high, double from, double to);

/* NAN for what has no place: NAN, or not positive on a logarithmic axis. Values beyond the ends lie beyond.
 */
double axis_place(const struct axis *a, double value);

#define TICKS_MAX       32
#define TICK_TEXT_BYTES 32
struct tick {
    double value;
    char text[TICK_TEXT_BYTES];
};
/* Ascending, within the axis, about `spacing` apart or more; returns their number. */
size_t axis_ticks(const struct axis *a, double spacing, struct tick ticks[TICKS_MAX]);

/* A value in its unit, short: three or four digits. */
void axis_format(enum unit unit, double value, char text[TICK_TEXT_BYTES]);

/* An interval of ratios, "+12% to +20%"; both ends with times signs where one needs it; "" where an end is
 * not known. */
#define INTERVAL_TEXT_BYTES (2 * TICK_TEXT_BYTES + 8)
void axis_format_interval(double low, double high, char text[INTERVAL_TEXT_BYTES]);

/* The least 1, 2 or 5 times a power of ten that is not below `value` (above 0). */
double nice_above(double value);

#endif
