/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Zstandard (RFC 8878). The only file that names zstd. One frame for each call, with content size and content
 * checksum, and behind it a skippable frame with its XXH3-64, so that it is verified even where no index is.
 */
#ifndef IOTAPE_COMPRESS_H
#define IOTAPE_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/bytes.h"

struct compressor;

/* `level` as zstd's; negative ones are faster. */
int compressor_open(struct compressor **c, int level, struct err *e);
void compressor_close(struct compressor *c);

/* Appends the frame of `in` to `out`. At each of the `cut_count` positions `cuts` (ascending) a block ends,
 * so that parts of different nature get their own entropy tables. */
int compress_frame(struct compressor *c, const struct bytes *in, const size_t *cuts, size_t cut_count,
        struct bytes *out, struct err *e);

struct decompressor;

int decompressor_open(struct decompressor **d, struct err *e);
void decompressor_close(struct decompressor *d);

/* Replaces the content of `out` by that of the one frame that `data` is. -EBADMSG: not one whole frame,
 * damaged, of unknown size, or above `max_bytes`, which is checked before anything is allocated. */
int decompress_frame(struct decompressor *d, const void *data, size_t len, size_t max_bytes,
        struct bytes *out, struct err *e);

#endif
