/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers in units ---- */

struct prefix {
    double size;
    const char *name;
};
static const struct prefix durations[] = {{1, " ns"}, {1e3, " \302\265s"}, {1e6, " ms"}, {1e9, " s"}};
static const struct prefix counts[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}};
static const struct prefix bytes[] = {{1, " B"}, {1024, " KiB"}, {1048576, " MiB"}, {1073741824, " GiB"},
        {1099511627776, " TiB"}, {1125899906842624, " PiB"}};
static const struct prefix plain[] = {{1, ""}};

static const struct prefix *prefix_of(enum unit unit, double largest)
{
    static const struct {
        const struct prefix *list;
        size_t count;
    } lists[] = {[UNIT_DURATION] = {durations, 4},
            [UNIT_COUNT] = {counts, 4},
            [UNIT_BYTES] = {bytes, 6},
            [UNIT_MB_S] = {plain, 1},
            [UNIT_PERCENT] = {plain, 1},
            [UNIT_OVERHEAD] = {plain, 1}};
    const struct prefix *p = lists[unit].list;
    for (size_t i = 1; i < lists[unit].count && largest >= lists[unit].list[i].size * (1 - 1e-9); i++)
        p = &lists[unit].list[i];
    return p;
}

/* As many digits as the number has, up to four. */
static void format_number(double value, char *text, size_t size)
{
    double size_of = fabs(value);
    if (size_of > 0 && size_of < 1e-9) {
        snprintf(text, size, "%.4g", value);
        return;
    }
    int decimals = size_of >= 1000 || size_of == 0 ? 0 : 3 - (int)floor(log10(size_of));
    snprintf(text, size, "%.*f", decimals > 12 ? 12 : decimals, value);
    if (!strchr(text, '.'))
        return;
    char *end = text + strlen(text);
    while (end[-1] == '0')
        *--end = 0;
    if (end[-1] == '.')
        end[-1] = 0;
}

static void format_with(const struct prefix *p, double value, char text[TICK_TEXT_BYTES])
{
    if (value == 0) {
        strcpy(text, "0");
        return;
    }
    format_number(value / p->size, text, TICK_TEXT_BYTES - 8);
    strcat(text, p->name);
}

#define TIMES_FROM 9.995

/* Three digits, with a times sign. */
static void format_times(double ratio, char text[TICK_TEXT_BYTES])
{
    char number[TICK_TEXT_BYTES];
    if (ratio >= 99999.5)
        snprintf(number, sizeof number, "%.1e", ratio);
    else
        format_number(ratio < 99.95 ? round(ratio * 10) / 10 : round(ratio), number, sizeof number);
    snprintf(text, TICK_TEXT_BYTES, "\303\227%.20s", number);
}

/* The same of a percentage. */
static void format_overhead(double ratio, char text[TICK_TEXT_BYTES])
{
    double percent = 100 * (ratio - 1), size = fabs(percent), step = size < 9.95 ? 100 : size < 99.5 ? 10 : 1;
    char number[TICK_TEXT_BYTES];
    if (ratio >= TIMES_FROM) {
        format_times(ratio, text);
        return;
    }
    if (ratio < 0.01) /* where nines count */
        snprintf(number, sizeof number, "%.8g", size);
    else
        format_number(round(size * step) / step, number, sizeof number);
    const char *sign = strcmp(number, "0") == 0 ? "" : percent < 0 ? "\342\210\222" : "+";
    snprintf(text, TICK_TEXT_BYTES, "%s%.20s%%", sign, number);
}

void axis_format_interval(double low, double high, char text[INTERVAL_TEXT_BYTES])
{
    char a[TICK_TEXT_BYTES], b[TICK_TEXT_BYTES];
    text[0] = 0;
    if (!isfinite(low) || !isfinite(high))
        return;
    (high >= TIMES_FROM ? format_times : format_overhead)(low, a);
    format_overhead(high, b);
    snprintf(text, INTERVAL_TEXT_BYTES, "%s to %s", a, b);
}

void axis_format(enum unit unit, double value, char text[TICK_TEXT_BYTES])
{
    if (!isfinite(value)) {
        text[0] = 0;
        return;
    }
    if (fabs(value) > 1e18)
        snprintf(text, TICK_TEXT_BYTES, "%.3g", value);
    else if (unit == UNIT_OVERHEAD)
        format_overhead(value, text);
    else if (unit == UNIT_PERCENT)
        snprintf(text, TICK_TEXT_BYTES, "%.6g%%", 100 * value);
    else
        format_with(prefix_of(unit, fabs(value)), value, text);
}

/* ---- scales ---- */

/* Where a value lies on the scale, before it becomes a place. */
static double warp(enum scale scale, double value)
{
    switch (scale) {
    case SCALE_LOG:
        return value > 0 ? log10(value) : NAN;
    case SCALE_NINES:
        return value < 1 ? -log10(1 - value) : NAN;
    default:
        return value;
    }
}

double axis_place(const struct axis *a, double value)
{
    double low = warp(a->scale, a->low), high = warp(a->scale, a->high), v = warp(a->scale, value);
    if (!isfinite(v))
        return NAN;
    return a->from + (a->to - a->from) * (v - low) / (high - low);
}

double nice_above(double value)
{
    double power = pow(10, floor(log10(value)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (steps[i] * power >= value * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

struct axis axis_cover(enum scale scale, enum unit unit, double low, double high, double from, double to)
{
    struct axis a = {scale, unit, low, high, from, to};
    if (scale == SCALE_NINES)
        return a;
    if (scale == SCALE_LOG) {
        if (!(high > 0) || !isfinite(high))
            high = 1;
        if (!(low > 0) || !isfinite(low) || low > high)
            low = high;
        /* What no figure reaches, so that a double holds the ratio of the ends. */
        low = fmin(fmax(low, 1e-130), 1e130);
        high = fmin(fmax(high, 1e-130), 1e130);
        /* A tenth on each side, and no less than a factor of two in all. */
        double room = fmax(0.04 * log10(high / low), 0.02);
        if (high / low < 1.6)
            room = 0.5 * log10(2);
        a.low = low * pow(10, -room);
        a.high = high * pow(10, room);
        return a;
    }
    a.low = isfinite(low) && low > 0 ? 0 : isfinite(low) ? low : 0;
    a.high = isfinite(high) && high > a.low ? a.low + (high - a.low) * 1.06 : a.low + 1;
    return a;
}

/* ---- ticks ---- */

struct tick_list {
    struct tick *ticks;
    size_t count;
};

static void add_tick(struct tick_list *l, const struct axis *a, double value)
{
    double slack = 1e-9 * (a->scale == SCALE_LINEAR ? fabs(a->low) + fabs(a->high) : fabs(value));
    if (l->count == TICKS_MAX || value < a->low - slack || value > a->high + slack)
        return;
    l->ticks[l->count++].value = value;
}

static void linear_ticks(const struct axis *a, double spacing, struct tick_list *l)
{
    double wanted = fabs(a->to - a->from) / spacing;
    double range = a->high - a->low;
    const struct prefix *p = prefix_of(a->unit, fmax(fabs(a->low), fabs(a->high)));
    double step = nice_above(range / fmax(wanted, 1) / p->size) * p->size;
    if (a->unit == UNIT_BYTES && step < 1)
        step = 1;
    for (double i = ceil(a->low / step - 1e-9); i * step <= a->high * (1 + 1e-12) && l->count < TICKS_MAX;
            i++)
        add_tick(l, a, i * step);
    for (size_t i = 0; i < l->count; i++)
        if (a->unit == UNIT_PERCENT)
            axis_format(a->unit, l->ticks[i].value, l->ticks[i].text);
        else
            format_with(p, l->ticks[i].value, l->ticks[i].text);
}

static void log_ticks(const struct axis *a, double spacing, struct tick_list *l)
{
    static const double sets[3][10] = {{1, 0}, {1, 2, 5, 0}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 0}};
    double decades = log10(a->high / a->low), pixels = fabs(a->to - a->from);
    int first = (int)floor(log10(a->low)), last = (int)ceil(log10(a->high));
    int each = (int)ceil(decades * spacing / pixels - 1e-9);
    int set = pixels / decades >= 3 * spacing ? pixels / decades >= 11 * spacing ? 2 : 1 : 0;
    for (int decade = first; decade <= last; decade++)
        for (size_t i = 0; sets[set][i] != 0; i++)
            if (each <= 1 || decade % each == 0)
                add_tick(l, a, sets[set][i] * pow(10, decade));
    if (l->count < 2) {
        l->count = 0;
        linear_ticks(a, spacing, l);
        return;
    }
    for (size_t i = 0; i < l->count; i++)
        axis_format(a->unit, l->ticks[i].value, l->ticks[i].text);
}

static void nines_ticks(const struct axis *a, struct tick_list *l)
{
    static const double list[] = {0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i] >= a->low && list[i] <= a->high)
            add_tick(l, a, list[i]);
    for (size_t i = 0; i < l->count; i++)
        axis_format(UNIT_PERCENT, l->ticks[i].value, l->ticks[i].text);
}

/* Round percentages where little differs, else round ratios. */
static void overhead_ticks(const struct axis *a, double spacing, struct tick_list *l)
{
    static const double ratios[] = {
            1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 100, 1e3, 1e4, 1e5, 1e6};
    static const double finer[] = {0.2, 0.3, 0.5, 0.7, 0.8, 1, 1.2, 1.5, 2, 3, 4, 5};
    double range = a->high / a->low, pixels = fabs(a->to - a->from);
    if (range < 1.6) {
        double step = nice_above((a->high - a->low) * spacing / pixels);
        for (double i = ceil((a->low - 1) / step); 1 + i * step <= a->high && l->count < TICKS_MAX; i++)
            add_tick(l, a, 1 + i * step);
    } else if (range < 6) {
        for (size_t i = 0; i < sizeof finer / sizeof *finer; i++)
            add_tick(l, a, finer[i]);
    } else {
        for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
            add_tick(l, a, ratios[i]);
    }
    for (size_t i = 0; i < l->count; i++)
        axis_format(UNIT_OVERHEAD, l->ticks[i].value, l->ticks[i].text);
}

size_t axis_ticks(const struct axis *a, double spacing, struct tick ticks[TICKS_MAX])
{
    struct tick_list l = {ticks, 0};
    if (a->scale == SCALE_NINES)
        nines_ticks(a, &l);
    else if (a->unit == UNIT_OVERHEAD)
        overhead_ticks(a, spacing, &l);
    else if (a->scale == SCALE_LOG)
        log_ticks(a, spacing, &l);
    else
        linear_ticks(a, spacing, &l);
    return l.count;
}
