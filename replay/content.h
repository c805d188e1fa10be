/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What iotape writes: data that can be told from anybody else's, sector by sector. Incompressible, unless
 * its recipe says otherwise.
 *
 * Data is a function of seed, place, write and recipe. It is made in sectors of 512 bytes. Word 0 (64 bits,
 * little-endian) of a sector is its key, a hash of seed, write and place; word j is splitmix64's output
 * function of key + j * gamma; where the data are compressible, this goes on to some word (at least word 1),
 * and that word is repeated to the sector's end. So every sector proves by itself that it is ours. The first
 * sector of each 4 KiB of the target, and with kind 2 every sector, begins with a header of 64 bytes instead,
 * and has its key there:
 *
 *     0 magic "\x89iotape\n"   8 u8 kind: 1, or 2 to be verified   9 u8 compressible, per cent
 *    10 u8 dedupe, per cent   11 u8 zero                          12 u32 CRC32C; 0 in kind 1
 *    16 u64 seed              24 u64 place, bytes                 32 u64 record (from 1), 0 for a fill
 *    40 u32 repetition        44 u32 zero                         48 u64 key
 *    56 u64 hash of words 0 to 6, the CRC32C taken as 0
 *
 * The CRC32C (crc32c.h) is that of the sector, itself taken as 0.
 *
 * A share of the 4 KiB blocks, chosen by seed, place and write, are duplicates: one of 64 blocks that are a
 * function of the seed alone. Their header has a place of all ones, their number (0 to 63) as record, and
 * repetition 0.
 *
 * splitmix64 and gamma are those of formats/base/random.h.
 */
#ifndef IOTAPE_CONTENT_H
#define IOTAPE_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_BLOCK_BYTES  4096
#define CONTENT_SECTOR_BYTES 512
#define CONTENT_HEADER_BYTES 64
#define CONTENT_DUPLICATES   64 /* different blocks that have duplicates */

/* What kind of data. Zero-initialised is the default. */
struct content_recipe {
    uint8_t compressible; /* per cent of each 4 KiB block that a good compressor removes */
    uint8_t dedupe;       /* per cent of 4 KiB blocks that are duplicates of others; 0 with `verify` */
    bool verify;          /* each sector says where it belongs and who wrote it, and carries a CRC32C */
};

/* Which write made it. */
struct content_write {
    uint64_t seed;
    uint64_t record;     /* record's number in the tape from 1; 0: a fill */
    uint32_t repetition; /* from 1; 0 with a fill, except with `verify`: the repetition that it precedes */
    struct content_recipe recipe;
};

/* Makes the data of a write to `offset_bytes` of the target; both are multiples of 512. */
void content_make(void *data, uint64_t offset_bytes, uint64_t len_bytes, const struct content_write *w);

enum content_kind {
    CONTENT_ZERO,    /* all zeros */
    CONTENT_OURS,    /* iotape's, whole, at its place, of the recipe that is wanted */
    CONTENT_OTHER,   /* the same of another recipe */
    CONTENT_PARTLY,  /* iotape's, some sectors zero or from another place */
    CONTENT_FOREIGN, /* anything else in it */
};

/* Says whose a block of the target is: `len_bytes` (a multiple of 512, at most 4096; less at the target's
 * end) from `offset_bytes`, a multiple of 4096. Where it is foreign, *foreign (may be NULL) is the offset of
 * the first sector that is, within the block. */
enum content_kind content_classify(const void *block, uint64_t offset_bytes, size_t len_bytes,
        const struct content_recipe *wanted, uint32_t *foreign);

enum content_state {
    CONTENT_BLANK,   /* zeros */
    CONTENT_INTACT,  /* its CRC32C holds */
    CONTENT_DAMAGED, /* has a header of ours, and other data than was written with it */
    CONTENT_UNKNOWN, /* nothing that was written to be verified */
};

/* What one sector says of itself. */
struct content_origin {
    uint64_t seed, place_bytes, record;
    uint32_t repetition;
    uint32_t crc, crc_wanted; /* of what is there, and the one in the header */
};

/* Looks at a sector of 512 bytes that was written with `verify`; fills in *origin where it is intact or
 * damaged. */
enum content_state content_inspect(const void *sector, struct content_origin *origin);

#endif
