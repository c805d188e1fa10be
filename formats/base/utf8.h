/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Text that may be anything, since it comes from strangers' files, for outputs that must be UTF-8 (RFC 3629).
 */
#ifndef IOTAPE_UTF8_H
#define IOTAPE_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Length in bytes of the sequence at `text`, which ends in a zero: 1 to 4, or 0 where it is none. */
size_t utf8_length(const char *text);

/* A copy in which each byte that belongs to no sequence is U+FFFD. Owned by the caller; NULL: no memory. */
char *utf8_clean(const char *text);

#endif
