/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What must be on a target: for each sector of 512 bytes that a replay touches, which write it may hold.
 * Tells lost, stale, torn and misplaced writes.
 *
 * A sector may hold writes from an oldest to a newest one, usually the same; or zeros, where it was discarded
 * or zeroed. Writes are ordered by repetition and record, a fill before its repetition's records. So after a
 * failed write, old and new are right, and after a discard, zeros and what was there before.
 *
 * Memory: VERIFY_BYTES for each 4 KiB block that is touched, allocated at once, and VERIFY_PARTS_BYTES more
 * where parts of a block hold different writes.
 */
#ifndef IOTAPE_VERIFY_H
#define IOTAPE_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "replay/content.h"
#include "replay/ranges.h"

#define VERIFY_BYTES       36
#define VERIFY_PARTS_BYTES 144

struct verify;

struct verify_counts {
    uint64_t blocks; /* of 4 KiB that were looked at, also in part, each time */
    uint64_t wrong;  /* of these */
};

/* For one target, `name` in reports (copied). Any data of the seed are right everywhere until they are
 * written. */
int verify_open(
        struct verify **v, const char *name, const struct ranges *touched, uint64_t seed, struct err *e);
void verify_close(struct verify *v); /* NULL is allowed */

/* An I/O that changes data has been done (`sure`), or perhaps been done: it failed, or may not have reached
 * stable storage. Positions are multiples of 512. I/Os on the same sectors must be given in the order in
 * which they were done. Reads and flushes change nothing. What was not touched is not kept. -ENOMEM. */
int verify_changed(struct verify *v, enum block_op op, uint64_t offset_bytes, uint64_t len_bytes,
        const struct content_write *w, bool sure, struct err *e);

/* Compares what was read with what must be there, counts and keeps what is wrong. Blocks that were not
 * touched are not looked at. */
void verify_look(struct verify *v, const void *data, uint64_t offset_bytes, uint64_t len_bytes);

/* Since it was opened. */
struct verify_counts verify_counts(const struct verify *v);

/* 0 where all was right so far; else -EIO, a text with the first wrong place, what was expected there and
 * what was found; the first VERIFY_SHOWN ones that were not yet shown go to standard error. */
#define VERIFY_SHOWN 8
int verify_outcome(struct verify *v, struct err *e);

#endif
