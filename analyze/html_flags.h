/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Flags of comparisons (flags.h) in words.
 */
#ifndef IOTAPE_HTML_FLAGS_H
#define IOTAPE_HTML_FLAGS_H

#include "formats/base/err.h"
#include "formats/base/out.h"

/* All of them joined by "; ", "" for none. An unknown flag stands as it is. Owned by the caller; NULL where
 * memory is short. */
char *html_flags_words(const char *flags);

/* A list of them, without "differs:", which has a table. */
int html_flags_list(struct out *o, const char *flags, struct err *e);

#endif
