/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_rwbs.h"

#include <stddef.h>

#include "formats/import/blktrace_read.h"

/* The direction; returns what follows. */
static const char *direction_parse(const char *p, uint32_t *category)
{
    switch (*p) {
    case 'D':
        *category |= BT_DISCARD | BT_WRITE;
        return p + 1 + (p[1] == 'E'); /* secure erase */
    case 'W':
        *category |= BT_WRITE;
        return p + 1;
    case 'R':
        *category |= BT_READ;
        return p + 1;
    case 'F': /* a flush's own operation */
        *category |= BT_FLUSH;
        return p + 1;
    case 'N':
        return p + 1;
    default:
        return p;
    }
}

bool bt_category_parse(const char *rwbs, uint32_t *category)
{
    static const struct {
        char letter;
        uint32_t category;
    } flags[] = {{'F', BT_FUA}, {'A', BT_AHEAD}, {'S', BT_SYNC}, {'M', BT_META}, {'U', 0}};
    const char *p = rwbs;
    bool known = true;

    *category = 0;
    if (*p == 'F') {
        *category = BT_FLUSH;
        p++;
    }
    for (p = direction_parse(p, category); *p; p++) {
        size_t i = 0;
        while (i < sizeof flags / sizeof *flags && flags[i].letter != *p)
            i++;
        if (i < sizeof flags / sizeof *flags)
            *category |= flags[i].category;
        else
            known = false;
    }
    return known;
}
