/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

static int too_large(const char *text, const char *what, struct err *e)
{
    return err_set(e, EBADMSG, "%s '%.64s' is too large", what, text);
}

static int no_number(const char *text, const char *what, struct err *e)
{
    return err_set(e, EBADMSG, "%s '%.64s' is not a number", what, text);
}

static bool add_digit(uint64_t *v, char c)
{
    return !__builtin_mul_overflow(*v, 10, v) && !__builtin_add_overflow(*v, (uint64_t)(c - '0'), v);
}

int number_whole(const char *text, const char *what, uint64_t *value, struct err *e)
{
    const char *p = text;
    uint64_t v = 0;

    for (int i = 0; i < 19 && *p >= '0' && *p <= '9'; i++, p++) /* these cannot overflow */
        v = v * 10 + (uint64_t)(*p - '0');
    for (; *p >= '0' && *p <= '9'; p++)
        if (!add_digit(&v, *p))
            return too_large(text, what, e);
    if (p == text || *p)
        return no_number(text, what, e);
    *value = v;
    return 0;
}

int number_scaled(const char *text, const char *what, uint64_t unit, uint64_t *value, struct err *e)
{
    int rc = number_whole(text, what, value, e);

    if (rc == 0 && __builtin_mul_overflow(*value, unit, value))
        return too_large(text, what, e);
    return rc;
}

int number_decimal(const char *text, const char *what, uint64_t unit, uint64_t *value, struct err *e)
{
    const char *p = text;
    uint64_t v = 0;

    for (; *p >= '0' && *p <= '9'; p++)
        if (!add_digit(&v, *p))
            return too_large(text, what, e);
    if (p == text)
        return no_number(text, what, e);
    if (__builtin_mul_overflow(v, unit, &v))
        return too_large(text, what, e);
    if (*p == '.') {
        uint64_t digit = unit / 10;
        for (p++; *p >= '0' && *p <= '9'; p++, digit /= 10) {
            if (*p != '0' && digit == 0)
                return err_set(e, EBADMSG, "%s '%.64s' is finer than can be kept", what, text);
            if (__builtin_add_overflow(v, digit * (uint64_t)(*p - '0'), &v))
                return too_large(text, what, e);
        }
    }
    if (*p)
        return no_number(text, what, e);
    *value = v;
    return 0;
}
