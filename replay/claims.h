/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether somebody else uses the bytes of a device or file: by mount, as swap, through device-mapper or md,
 * by an exclusive open; on the device itself, a partition of it, the disk that it is a partition of, or a
 * loop device over the same file. What is free is held, so that it stays free.
 */
#ifndef IOTAPE_CLAIMS_H
#define IOTAPE_CLAIMS_H

#include <stddef.h>

#include "formats/base/err.h"

/* Other devices with the same bytes, open O_EXCL. Zero-initialised is empty and valid. */
struct claims {
    int *fd; /* owned */
    size_t count;
};

/* Looks at everything that shares bytes with `path` (a block device or a regular file), and holds it, all but
 * `path` itself. -EBUSY with a text that says who uses what. Needs the right to open block devices. */
int claims_take(struct claims *c, const char *path, struct err *e);
void claims_release(struct claims *c);

/* Who holds the device that could not be opened exclusively: -EBUSY with a text. */
int claims_explain(const char *path, struct err *e);

#endif
