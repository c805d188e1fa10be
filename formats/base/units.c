/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/units.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *suffix;
    uint64_t factor;
};

static const struct unit size_units[] = {{"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000},
        {"T", UINT64_C(1000000000000)}, {"Ki", 1024}, {"Mi", 1048576}, {"Gi", 1073741824},
        {"Ti", UINT64_C(1099511627776)}, {NULL, 0}};

static const struct unit duration_units[] = {{"", NS_PER_S}, {"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS},
        {"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {NULL, 0}};

static const struct unit no_units[] = {{"", 1}, {NULL, 0}};

/* Decimal digits with an optional fraction, times the unit, in integers: "1.1G" must be 1100000000. */
static int parse_scaled(const char *what, const char *text, const struct unit *units, uint64_t *out, struct err *e)
{
    const char *p = text;
    unsigned __int128 digits = 0;
    unsigned __int128 divisor = 1;
    int count = 0;
    int point = 0;
    for (; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = 1;
            continue;
        }
        if (++count > 20)
            return err_set(e, ERANGE, "%s '%s' is too large", what, text);
        digits = digits * 10 + (unsigned)(*p - '0');
        if (point)
            divisor *= 10;
    }
    if (!count)
        return err_set(e, EINVAL, "%s '%s' does not begin with a number", what, text);
    size_t suffix = strlen(p);
    if (units == size_units && suffix && p[suffix - 1] == 'B')
        suffix--;
    for (const struct unit *u = units; u->suffix; u++) {
        if (strlen(u->suffix) != suffix || strncmp(p, u->suffix, suffix) != 0)
            continue;
        unsigned __int128 scaled = digits * u->factor;
        if (scaled % divisor)
            return err_set(e, EINVAL, "%s '%s' is finer than its smallest unit", what, text);
        scaled /= divisor;
        if (scaled > UINT64_MAX)
            return err_set(e, ERANGE, "%s '%s' is too large", what, text);
        *out = (uint64_t)scaled;
        return 0;
    }
    return err_set(e, EINVAL, "%s '%s' has an unknown unit '%s'", what, text, p);
}

int units_parse_size(const char *text, uint64_t *bytes, struct err *e)
{
    return parse_scaled("size", text, size_units, bytes, e);
}

int units_parse_duration(const char *text, uint64_t *ns, struct err *e)
{
    return parse_scaled("duration", text, duration_units, ns, e);
}

int units_parse_u64(const char *text, uint64_t *value, struct err *e)
{
    if (strchr(text, '.'))
        return err_set(e, EINVAL, "'%s' is not a whole number", text);
    return parse_scaled("number", text, no_units, value, e);
}

int units_parse_double(const char *text, double *value, struct err *e)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        return err_sys(e, ENOMEM, "cannot read '%s'", text);
    char *end = NULL;
    double v = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    if (end == text || *end || !isfinite(v))
        return err_set(e, EINVAL, "'%s' is not a number", text);
    *value = v;
    return 0;
}

const char *units_size(uint64_t bytes, char buf[UNITS_TEXT_BYTES])
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double v = (double)bytes;
    unsigned i = 0;
    while (v >= 1024 && i + 1 < sizeof names / sizeof *names) {
        v /= 1024;
        i++;
    }
    snprintf(buf, UNITS_TEXT_BYTES, i ? "%.2f %s" : "%.0f %s", v, names[i]);
    return buf;
}

const char *units_duration(uint64_t ns, char buf[UNITS_TEXT_BYTES])
{
    if (ns < 10 * NS_PER_US)
        snprintf(buf, UNITS_TEXT_BYTES, "%llu ns", (unsigned long long)ns);
    else if (ns < 10 * NS_PER_MS)
        snprintf(buf, UNITS_TEXT_BYTES, "%.1f us", (double)ns / 1e3);
    else if (ns < NS_PER_S)
        snprintf(buf, UNITS_TEXT_BYTES, "%.1f ms", (double)ns / 1e6);
    else if (ns < 60 * NS_PER_S)
        snprintf(buf, UNITS_TEXT_BYTES, "%.3f s", (double)ns / 1e9);
    else
        snprintf(buf, UNITS_TEXT_BYTES, "%llum%02llus", (unsigned long long)(ns / (60 * NS_PER_S)),
                (unsigned long long)(ns / NS_PER_S % 60));
    return buf;
}
