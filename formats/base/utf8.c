/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The zero at the end equals no continuation byte. */
size_t utf8_length(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : (p[0] & 0xf0) == 0xe0       ? 3
               : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
            (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

char *utf8_clean(const char *text)
{
    char *clean = malloc(strlen(text) * 3 + 1);
    if (!clean)
        return NULL;
    char *to = clean;
    while (*text) {
        size_t n = utf8_length(text);
        to = mempcpy(to, n ? text : UTF8_REPLACEMENT, n ? n : 3);
        text += n ? n : 1;
    }
    *to = 0;
    return clean;
}
