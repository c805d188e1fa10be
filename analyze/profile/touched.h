/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which units of the streams were read and written, in memory that does not depend on how many these are: a
 * hash table of ranges of 64 units. Where the units that were read are one run, and those that were written
 * too, it keeps their ends; else a bit for each unit. The ranges fall into groups by their hash. Where they
 * would take too much memory, the later groups are given up, to be done in a later pass; all that is counted
 * is counted by group, so that what was counted of these can be taken back.
 */
#ifndef IOTAPE_PROFILE_TOUCHED_H
#define IOTAPE_PROFILE_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "formats/base/err.h"
#include "formats/base/random.h"

#define TOUCHED_GROUPS      1024
#define TOUCHED_STREAM_BITS 12

/* What touching has counted, in bytes. */
struct touched_counts {
    uint64_t read, read_after_write, read_again, written, overwritten;
};

struct touched_range {
    uint32_t stream;
    uint64_t index;         /* place / (64 * unit) */
    uint64_t read, written; /* a bit for each unit */
    uint64_t touches;
};

struct touched;

/* Takes at most max_bytes (128 KiB or more), 4 MiB more for a moment while growing, and 2 MiB. `touches` are
 * expected at most (a guess): the first pass takes no more groups than these leave room for, and shows how
 * much there is for the others. -ENOMEM. */
int touched_open(struct touched **t, size_t max_bytes, uint64_t touches, struct err *e);
void touched_close(struct touched *t); /* NULL is allowed */

/* Which hashes are wanted in this pass. It may become less at each touched_add. */
struct touched_pass {
    uint64_t seed;         /* so that no tape can be made whose ranges all fall to one place of the table */
    uint32_t first, count; /* groups */
};
struct touched_pass touched_pass(const struct touched *t);

/* Of a range: never 0, and another one for each. `stream` is below 2^TOUCHED_STREAM_BITS, `index` below 2^51.
 */
static inline uint64_t touched_hash(const struct touched_pass *p, uint32_t stream, uint64_t index)
{
    return random_mix(((uint64_t)stream << 52 | UINT64_C(1) << 51 | index) ^ p->seed);
}

static inline uint32_t touched_group(uint64_t hash)
{
    return (uint32_t)(hash >> 54);
}

static inline bool touched_wants(const struct touched_pass *p, uint64_t hash)
{
    return touched_group(hash) - p->first < p->count;
}

/* An I/O touches units of a range. */
struct touch {
    uint64_t hash;     /* touched_hash of the range */
    uint64_t mask;     /* which units: one run, at least one */
    uint32_t bytes;    /* that these are */
    uint8_t unit_bits; /* a unit has 2^unit_bits bytes, in a stream always as many */
    bool write;
    uint16_t slot; /* of the timeline */
};

/* In each pass all that the pass wants, in the same order; others do no harm. -ENOMEM,
 * -EOVERFLOW. */
int touched_add(struct touched *t, const struct touch *touches, size_t count, struct err *e);

/* Ends a pass: calls `each` for each range of the groups that are done, in no order, then adds to what was
 * counted and to the bytes by which the set grew in each slot. Returns whether there are groups left for
 * another pass. */
bool touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX]);

#endif
