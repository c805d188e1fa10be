/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Files compressed with gzip, zstd or xz, unpacked by libarchive while they are read. (The writing of tapes
 * uses libarchive in archive.c.)
 */
#ifndef IOTAPE_UNPACK_H
#define IOTAPE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/err.h"

#define UNPACK_HEAD_BYTES 6 /* that tell what a file is */

struct unpack;

/* Whether a file that begins so is compressed in a way that is known. */
bool unpack_known(const uint8_t *head, size_t len);

/* Goes on with a file of which `len` bytes, copied here, have been read. `fd` and `path` stay the caller's.
 */
int unpack_open(struct unpack **u, int fd, const char *path, const uint8_t *head, size_t len, struct err *e);

/* Bytes of the unpacked file, 0 at its end, -errno. A file that is cut off or damaged is -EBADMSG. */
ssize_t unpack_read(struct unpack *u, void *buf, size_t len, struct err *e);

void unpack_close(struct unpack *u); /* NULL is allowed */

#endif
