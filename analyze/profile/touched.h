/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which units of the streams were read and written, in memory that does not depend on how many these are: a
 * hash table of ranges of 64 units, with a bit for each unit. The ranges fall into groups by their hash.
 * Where the table would grow too large, the later groups are given up, to be done in a later pass; all that
 * is counted is counted by group, so that what was counted of these can be taken back.
 */
#ifndef IOTAPE_PROFILE_TOUCHED_H
#define IOTAPE_PROFILE_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "formats/base/err.h"

#define TOUCHED_GROUPS 1024

/* What touching has counted, in bytes. */
struct touched_counts {
    uint64_t read, read_after_write, read_again, written, overwritten;
};

struct touched_range {
    uint64_t key;           /* touched_key, 0 for none */
    uint64_t read, written; /* a bit for each unit */
    uint64_t touches;
};

/* Range `index` (place / (64 * unit)) of a stream. */
static inline uint64_t touched_key(uint32_t stream, uint64_t index)
{
    return (uint64_t)stream << 52 | UINT64_C(1) << 51 | index;
}
static inline uint32_t touched_stream(uint64_t key)
{
    return (uint32_t)(key >> 52);
}
static inline uint64_t touched_index(uint64_t key)
{
    return key & ((UINT64_C(1) << 51) - 1);
}

struct touched;

/* Takes at most 2^max_bits * 32 bytes, half of it more for a moment while growing, and 2 MiB. -ENOMEM. */
int touched_open(struct touched **t, unsigned max_bits, struct err *e);
void touched_close(struct touched *t); /* NULL is allowed */

/* An I/O touches units of a range. */
struct touch {
    uint64_t key;
    uint64_t mask;     /* which units */
    uint8_t unit_bits; /* a unit has 2^unit_bits bytes, in a stream always as many */
    bool write;
    uint16_t slot; /* of the timeline */
};

/* In each pass, in the same order. -ENOMEM. */
int touched_add(struct touched *t, const struct touch *touch, struct err *e);

/* Ends a pass: calls `each` for each range of the groups that are done, in no order, then adds to what was
 * counted and to the bytes by which the set grew in each slot. *again: there are groups left for another
 * pass. */
int touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX], bool *again, struct err *e);

#endif
