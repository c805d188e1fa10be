/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which signature is on a device or in a file. Wraps libblkid's low-level probing: superblocks (file systems,
 * RAID, LVM, swap, ...) and partition tables.
 */
#ifndef IOTAPE_BLKID_H
#define IOTAPE_BLKID_H

#include <stddef.h>

#include "formats/base/err.h"

/* 1 and what was found ("an ext4 file system", "a gpt partition table", ...), 0 for nothing, -errno. Opens
 * `path` for reading, through the page cache. */
int blkid_signature(const char *path, char *text, size_t text_bytes, struct err *e);

#endif
