/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Short texts joined by '|': what is to be said of a row or of all rows of a comparison.
 */
#ifndef IOTAPE_FLAGS_H
#define IOTAPE_FLAGS_H

#include "formats/base/err.h"

/* Zero-initialised is empty. */
struct flags {
    char *text; /* owned; NULL for none */
};
/* -ENOMEM. */
int flags_add(struct flags *f, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void flags_release(struct flags *f);

#endif
