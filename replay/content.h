/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What iotape writes: incompressible data that can be told from anybody else's, sector by sector.
 *
 * Data is a function of seed, place and write. It is made in sectors of 512 bytes. Word 0 (64 bits,
 * little-endian) of a sector is its key, a hash of seed, write and place; word j is splitmix64's output
 * function of key + j * gamma. So every sector proves by itself that it is ours. The first sector of each 4
 * KiB of the target begins with a header of 64 bytes instead, and has its key there:
 *
 *     0 magic "\x89iotape\n"   8 u32 recipe (1)     12 u32 CRC32C, 0 in recipe 1 (kept free for verifying)
 *    16 u64 seed              24 u64 place, bytes  32 u64 record (from 1), 0 for a fill
 *    40 u32 repetition        44 u32 zero          48 u64 key         56 u64 hash of words 0 to 6
 *
 * splitmix64 and gamma are those of formats/base/random.h.
 */
#ifndef IOTAPE_CONTENT_H
#define IOTAPE_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#define CONTENT_BLOCK_BYTES  4096
#define CONTENT_SECTOR_BYTES 512
#define CONTENT_HEADER_BYTES 64

/* Which write made it. */
struct content_write {
    uint64_t seed;
    uint64_t record;     /* record's number in the tape from 1; 0: the fill before the replay */
    uint32_t repetition; /* from 1; 0 with a fill */
};

/* Makes the data of a write to `offset_bytes` of the target; both are multiples of 512. */
void content_make(void *data, uint64_t offset_bytes, uint64_t len_bytes, const struct content_write *w);

enum content_kind {
    CONTENT_ZERO,    /* all zeros */
    CONTENT_OURS,    /* iotape's, whole, at its place */
    CONTENT_PARTLY,  /* iotape's, some sectors zero or from another place */
    CONTENT_FOREIGN, /* anything else in it */
};

/* Says whose a block of the target is: `len_bytes` (a multiple of 512, at most 4096; less at the target's
 * end) from `offset_bytes`, a multiple of 4096. Where it is foreign, *foreign (may be NULL) is the offset of
 * the first sector that is, within the block. */
enum content_kind content_classify(
        const void *block, uint64_t offset_bytes, size_t len_bytes, uint32_t *foreign);

#endif
