/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/results/reading.h"

#define NUMBER_BYTES 64 /* no tool prints longer ones */

const char *scan_after(const char *text, const char *key)
{
    const char *found = text ? strstr(text, key) : NULL;
    return found ? found + strlen(key) : NULL;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ')
        p++;
    return p;
}

/* The end of a number in C's decimal form; `p` itself where there is none. */
static const char *number_end(const char *p)
{
    const char *q = p + (*p == '-' || *p == '+');
    size_t digits = 0;
    for (; isdigit((unsigned char)*q); q++)
        digits++;
    if (*q == '.')
        for (q++; isdigit((unsigned char)*q); q++)
            digits++;
    if (!digits)
        return p;
    if (*q == 'e' || *q == 'E') {
        const char *x = q + 1 + (q[1] == '-' || q[1] == '+');
        if (isdigit((unsigned char)*x)) {
            while (isdigit((unsigned char)*x))
                x++;
            return x;
        }
    }
    return q;
}

bool scan_number(const char **p, double *value)
{
    char text[NUMBER_BYTES];
    const char *begin = skip_blanks(*p), *end = number_end(begin);
    size_t len = (size_t)(end - begin);
    if (!len || len >= sizeof text)
        return false;
    *(char *)mempcpy(text, begin, len) = 0;
    if (units_parse_double(text, value, NULL) < 0)
        return false;
    *p = end;
    return true;
}

bool scan_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool scan_text(const char **p, const char *text)
{
    const char *begin = skip_blanks(*p);
    if (!scan_begins(begin, text))
        return false;
    *p = begin + strlen(text);
    return true;
}

bool scan_word(const char **p, char *word, size_t size)
{
    const char *begin = skip_blanks(*p), *end = strchrnul(begin, ' ');
    size_t len = (size_t)(end - begin), kept = len < size ? len : size - 1;
    *p = end;
    *(char *)mempcpy(word, begin, kept) = 0;
    return len;
}

bool scan_keyed(const char *text, const char *key, double *value)
{
    const char *p = scan_after(text, key);
    return p && scan_number(&p, value);
}
