/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Texts of plots and pages: names come from strangers' files, and must break neither UTF-8 nor XML.
 */
#ifndef IOTAPE_PLOT_TEXT_H
#define IOTAPE_PLOT_TEXT_H

#include <stddef.h>

#include "formats/base/out.h"

/* A copy that is UTF-8 and may stand in XML 1.0 (section 2.2) and in HTML: what is neither, control
 * characters (line breaks too) and marks that turn the direction of writing (Unicode's bidi controls) become
 * U+FFFD. Owned by the caller; NULL where memory is short. */
char *plot_text_clean(const char *text);

/* Bytes of the character that `text` begins with, 1 to 4; 0 where it begins with none that is allowed. */
size_t plot_text_char(const char *text);

/* Writes `text`, cleaned, as XML or HTML text or as an attribute's value within double quotes. */
void plot_text_escape(struct out *o, const char *text);

#endif
