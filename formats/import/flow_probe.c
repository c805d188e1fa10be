/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <string.h>

#include "formats/import/flow.h"

/* The cell at `p` without blanks around it; *next is behind its comma, NULL where the row ends. */
static size_t cell_of(const char **p, const char *end, const char **next)
{
    const char *comma = memchr(*p, ',', (size_t)(end - *p));
    const char *stop = comma ? comma : end;

    *next = comma ? comma + 1 : NULL;
    while (*p < stop && (**p == ' ' || **p == '\t'))
        ++*p;
    while (stop > *p && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
        stop--;
    return (size_t)(stop - *p);
}

static bool is_kind(const char *cell, size_t len, char kind)
{
    size_t dots = 0;

    if (kind == 'x')
        return true;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)cell[i];
        dots += c == '.';
        if (kind == 'w' ? !isalpha(c) : !isdigit(c) && !(c == '.' && kind == 'd'))
            return false;
    }
    return len > 0 && dots <= 1 && (kind == 'w' || isdigit((unsigned char)cell[0]));
}

static bool is_row(const char *line, const char *end, const char *kinds, bool more)
{
    const char *p = line, *next = line;

    for (; *kinds; kinds++, p = next) {
        if (!p)
            return false;
        size_t len = cell_of(&p, end, &next);
        if (!is_kind(p, len, *kinds))
            return false;
    }
    return more || !p;
}

bool flow_probe(const uint8_t *head, size_t len, const char *kinds, bool more)
{
    const char *p = (const char *)head, *stop = p + len;

    for (int line = 0; line < 2 && p < stop; line++) {
        const char *end = memchr(p, '\n', (size_t)(stop - p));
        if (is_row(p, end ? end : stop, kinds, more))
            return true;
        if (!end)
            return false;
        p = end + 1;
    }
    return false;
}
