/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tar archives of small regular files (POSIX.1-2008 ustar headers, as libarchive's restricted pax writes
 * them). The only file that names libarchive, but for import/unpack.c.
 *
 * libarchive reads a damaged header with leniency, so a header is verified by encoding it once more: there is
 * exactly one canonical header for a name and a size (mode 0644, owner 0, no user or group names, time 0).
 */
#ifndef IOTAPE_ARCHIVE_H
#define IOTAPE_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define ARCHIVE_BLOCK      512
#define ARCHIVE_TRAILER    (2 * ARCHIVE_BLOCK)
#define ARCHIVE_NAME_BYTES 64 /* with the zero at the end */

/* Bytes that a member of `size` bytes occupies: header, body, padding. */
static inline uint64_t archive_span(uint64_t size)
{
    return ARCHIVE_BLOCK + (size + ARCHIVE_BLOCK - 1) / ARCHIVE_BLOCK * ARCHIVE_BLOCK;
}

struct archive_out;

/* Begins an archive at the start of `fd`, which stays the caller's. */
int archive_out_open(struct archive_out **a, int fd, struct err *e);

/* Writes a member. On failure (-ENOSPC, ...) the file is cut back to the end of the member before, and no
 * further member is accepted. */
int archive_out_add(struct archive_out *a, const char *name, const void *body, size_t size, struct err *e);

/* Bytes of the file so far. */
uint64_t archive_out_bytes(const struct archive_out *a);

/* Writes the trailer: two blocks of zeros. */
int archive_out_finish(struct archive_out *a, struct err *e);

/* Frees the handle and writes nothing. NULL is allowed. */
void archive_out_close(struct archive_out *a);

/* The canonical header. */
int archive_header_encode(const char *name, uint64_t size, uint8_t block[ARCHIVE_BLOCK], struct err *e);

/* Name and size from a header. -EBADMSG with the position of the first byte in the text, where it is not the
 * canonical one of what it says. */
int archive_header_decode(
        const uint8_t block[ARCHIVE_BLOCK], char name[ARCHIVE_NAME_BYTES], uint64_t *size, struct err *e);

#endif
