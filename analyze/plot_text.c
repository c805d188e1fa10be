/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/plot_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/utf8.h"

static bool is_allowed(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0xd800 && point < 0xe000))
        return false;
    if (point == 0x061c || point == 0x200e || point == 0x200f || (point >= 0x2028 && point <= 0x202e) ||
            (point >= 0x2066 && point <= 0x2069) || point == 0xfeff)
        return false;
    return (point & 0xfffe) != 0xfffe && !(point >= 0xfdd0 && point <= 0xfdef) && point <= 0x10ffff;
}

size_t plot_text_char(const char *text)
{
    size_t len = utf8_length(text);
    uint32_t point = (unsigned char)text[0] & (len > 1 ? 0x7fU >> len : 0x7fU);
    for (size_t i = 1; i < len; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3f);
    return is_allowed(point) ? len : 0;
}

/* Bytes that become one U+FFFD: a character that is not allowed, or a byte that is none. */
static size_t length_of_other(const char *text)
{
    size_t len = utf8_length(text);
    return len ? len : 1;
}

char *plot_text_clean(const char *text)
{
    char *clean = malloc(strlen(text) * (sizeof UTF8_REPLACEMENT - 1) + 1), *to = clean;
    if (!clean)
        return NULL;
    while (*text) {
        size_t len = plot_text_char(text);
        if (len) {
            memcpy(to, text, len);
            to += len;
        } else {
            memcpy(to, UTF8_REPLACEMENT, sizeof UTF8_REPLACEMENT - 1);
            to += sizeof UTF8_REPLACEMENT - 1;
        }
        text += len ? len : length_of_other(text);
    }
    *to = 0;
    return clean;
}

void plot_text_escape(struct out *o, const char *text)
{
    while (*text) {
        size_t len = plot_text_char(text);
        const char *entity = *text == '<'    ? "&lt;"
                             : *text == '>'  ? "&gt;"
                             : *text == '&'  ? "&amp;"
                             : *text == '"'  ? "&quot;"
                             : *text == '\'' ? "&#39;"
                             : len           ? NULL
                                             : UTF8_REPLACEMENT;
        if (entity)
            out_text(o, entity);
        else
            out_bytes(o, text, len);
        text += len ? len : length_of_other(text);
    }
}
