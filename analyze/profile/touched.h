/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which units of the streams were read and written, in memory that does not depend on how many these are.
 * Touches are collected, sorted by place, and merged into a list of ranges of 64 units (range_list.h): memory
 * is met in order, never at random. The ranges fall into groups by a hash of their place. Where they would
 * take too much memory, the later groups are given up, to be done in a later pass; all that is counted is
 * counted by group, so that what was counted of these can be taken back.
 */
#ifndef IOTAPE_PROFILE_TOUCHED_H
#define IOTAPE_PROFILE_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "formats/base/err.h"

#define TOUCHED_GROUP_BITS  10
#define TOUCHED_GROUPS      (1 << TOUCHED_GROUP_BITS)
#define TOUCHED_STREAM_BITS 12
#define TOUCHED_INDEX_BITS  49
/* Of a range's index: neighbours, which are of one group, and those with which they share the hash. */
#define TOUCHED_NEAR_BITS 6
#define TOUCHED_AREA_BITS (TOUCHED_NEAR_BITS + TOUCHED_GROUP_BITS)

struct touched_range {
    uint32_t stream;
    uint64_t index;         /* place / (64 * unit) */
    uint64_t read, written; /* a bit for each unit */
    uint64_t touches;
};

/* How many bits are set (Knuth, The Art of Computer Programming 4A, 7.1.3, (62)): processors have an
 * instruction for it, but not all that this is compiled for, and compilers then call a function. */
static inline uint64_t touched_bits(uint64_t x)
{
    const uint64_t ones = UINT64_MAX / 255;
    x -= x >> 1 & ones * 0x55;
    x = (x & ones * 0x33) + (x >> 2 & ones * 0x33);
    x = (x + (x >> 4)) & ones * 0x0f;
    return x * ones >> 56;
}

struct touched;

/* Takes at most max_bytes (32 KiB or more), and 2 MiB. `touches` are expected at most (a guess): the first
 * pass takes no more groups than these leave room for, and shows how much there is for the others. -ENOMEM.
 */
int touched_open(struct touched **t, size_t max_bytes, uint64_t touches, struct err *e);
void touched_close(struct touched *t); /* NULL is allowed */

/* Which keys are wanted in this pass. It may become less at each touched_add. */
struct touched_pass {
    uint64_t factor; /* of the hash: random, so that no tape can be made whose ranges are all of a group */
    uint32_t first, count; /* groups */
};
struct touched_pass touched_pass(const struct touched *t);

/* A hash of what is the same for all ranges of an area. */
static inline uint32_t touched_area_hash(const struct touched_pass *p, uint32_t stream, uint64_t area)
{
    uint64_t place = (uint64_t)stream << (TOUCHED_INDEX_BITS - TOUCHED_AREA_BITS) | area;
    return (uint32_t)((place + 1) * p->factor >> (64 - TOUCHED_GROUP_BITS));
}

/* Of a range, another one for each; the group on top. `stream` is below 2^TOUCHED_STREAM_BITS, `index` below
 * 2^TOUCHED_INDEX_BITS. */
static inline uint64_t touched_key(const struct touched_pass *p, uint32_t stream, uint64_t index)
{
    uint64_t area = index >> TOUCHED_AREA_BITS, near = index % (1 << TOUCHED_NEAR_BITS);
    uint64_t group = (index >> TOUCHED_NEAR_BITS ^ touched_area_hash(p, stream, area)) % TOUCHED_GROUPS;
    uint64_t place = group << TOUCHED_STREAM_BITS | stream;
    return (place << (TOUCHED_INDEX_BITS - TOUCHED_AREA_BITS) | area) << TOUCHED_NEAR_BITS | near;
}

static inline uint32_t touched_group(uint64_t key)
{
    return (uint32_t)(key >> (TOUCHED_STREAM_BITS + TOUCHED_INDEX_BITS - TOUCHED_GROUP_BITS));
}

static inline bool touched_wants(const struct touched_pass *p, uint64_t key)
{
    return touched_group(key) - p->first < p->count;
}

/* An I/O touches units of a range. */
struct touch {
    uint64_t key;        /* touched_key of the range */
    uint16_t slot;       /* of the timeline */
    uint8_t first, last; /* units */
    uint8_t unit_bits;   /* a unit has 2^unit_bits bytes, in a stream always as many */
    bool write;
};

/* In each pass all that the pass wants, in the same order; others do no harm. -ENOMEM. */
int touched_add(struct touched *t, const struct touch *touches, size_t count, struct err *e);

/* Ends a pass: calls `each` for each range of the groups that are done, in no order, then adds the bytes that
 * were read after they had been written, and those by which the set grew in each slot. 1: there are groups
 * left for another pass; else 0, or -ENOMEM. */
int touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        uint64_t *read_after_write, uint64_t grown[PROFILE_SLOTS_MAX], struct err *e);

#endif
