/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A set of 4 KiB blocks of a target: what a replay touches. Wraps CRoaring 0.2 (its bitmaps are of 32 bits:
 * one for each 2^32 blocks, 16 TiB), and keeps what is added in pieces of 1 TiB or more beside them.
 */
#ifndef IOTAPE_RANGES_H
#define IOTAPE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define RANGES_BLOCK_BYTES 4096
/* Places up to 8 EiB - 1, as loff_t has them. */
#define RANGES_END_BYTES (UINT64_C(1) << 63)

struct ranges_part {
    uint32_t high; /* block number / 2^32 */
    void *bitmap;  /* roaring_bitmap_t */
};

/* A long run of blocks, `end` excluded: a bitmap takes time and memory in proportion to its length. */
struct ranges_span {
    uint64_t first, end;
};

/* Zero-initialised is empty and valid. */
struct ranges {
    struct ranges_part *part; /* in order of `high`; owned */
    size_t parts;
    struct ranges_span *span; /* in order, with gaps between them; no bitmap has a block of one; owned */
    size_t spans;
    uint64_t last_first, last_end; /* blocks of the last ranges_add: repeated ones are skipped */
};

void ranges_release(struct ranges *r);

/* Adds every block that [offset, offset + len) touches. -ERANGE beyond RANGES_END_BYTES and
 * where long ones amount to more than 1 PiB, -ENOMEM. */
int ranges_add(struct ranges *r, uint64_t offset_bytes, uint64_t len_bytes, struct err *e);
/* Adds all of `from`. */
int ranges_merge(struct ranges *r, const struct ranges *from, struct err *e);

bool ranges_has(const struct ranges *r, uint64_t offset_bytes);
/* Bytes of all blocks in it. */
uint64_t ranges_bytes(const struct ranges *r);
/* Runs of neighbouring blocks are stored as such from here on; saves memory. */
void ranges_pack(struct ranges *r);

/* Calls `each` for the blocks in order, neighbours together, at most `max_bytes` (a multiple of 4096) at a
 * time. Stops and returns what `each` returned where that is not 0. */
int ranges_each(const struct ranges *r, uint64_t max_bytes,
        int (*each)(void *context, uint64_t offset_bytes, uint64_t len_bytes, struct err *e), void *context,
        struct err *e);

#endif
