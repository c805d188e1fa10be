/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Columns of integers (TAPE.md, "Columns"). A column of n values becomes n stored numbers p, all arithmetic
 * modulo 2^64:
 *
 *   x = base + (p << shift)
 *
 * where base is the smallest x (as signed numbers) and shift the count of low bits that are zero in all x -
 * base. The p are written as `width` planes of n bytes: first the lowest byte of all, then the next, and so
 * on, with as many planes as the largest p needs; none where all x are equal. What x means is the column's
 * coding.
 */
#ifndef IOTAPE_COLUMNS_H
#define IOTAPE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/bytes.h"
#include "formats/pack.h"

enum column_coding {
    COLUMN_VALUE, /* value = x */
    COLUMN_DELTA, /* value = value before + x; before the first one: `start` */
    COLUMN_END,   /* value = end of what came before in the same stream (its offset + its length) + x; before
                     the first one of a stream: `start` */
    COLUMN_LAG,   /* value = value of the column before this one - x */
    COLUMN_CODINGS
};

/* One column of a kind of chunk. */
struct column_spec {
    const char *name;
    uint8_t elem_bytes;        /* of the array: 1, 2, 4 or 8 */
    enum column_coding coding; /* COLUMN_END: or COLUMN_VALUE where that is smaller */
    bool ascending;            /* values that descend are refused when read */
};

#define COLUMNS_MAX         16
#define COLUMNS_COUNT_MAX   65536
#define COLUMNS_STREAMS_MAX 4096
#define COLUMNS_OF_END      2 /* a table with a COLUMN_END column begins with these two: stream u32, len u64 */

/* Working memory of one encoder or decoder. */
struct columns;

/* One that only unpacks needs little. */
int columns_open(struct columns **c, bool packs, struct err *e);
void columns_close(struct columns *c);

/* Packs a map, name -> [coding, base, shift, start, planes], of `n` columns whose arrays of `count` elements
 * are `data`. count is 1 to COLUMNS_COUNT_MAX, and streams are below COLUMNS_STREAMS_MAX. */
void columns_pack(struct columns *c, const struct column_spec *spec, const void *const *data, size_t n,
        uint32_t count, struct packer *p);

/* Positions in the packed bytes where a plane begins or ends, for compress_frame; those of the last
 * columns_pack. */
size_t columns_cuts(const struct columns *c, const size_t **cuts);

/* The reverse, into arrays of `count` elements. -EBADMSG for a missing or malformed column, or a value that
 * does not fit its array. */
int columns_unpack(struct columns *c, const struct column_spec *spec, void *const *data, size_t n,
        uint32_t count, struct value map, struct err *e);

#endif
