/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef IOTAPE_UTF8_H
#define IOTAPE_UTF8_H

#include <stddef.h>

/* Bytes of the character that `text` (which ends in a zero byte) begins with, 1 to 4; 0 where it is none that
 * RFC 3629 allows: not in the shortest form, a surrogate, beyond U+10FFFF. */
size_t utf8_length(const char *text);

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

#endif
