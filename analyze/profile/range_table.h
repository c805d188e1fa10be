/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The table behind touched.h: what was touched of very many ranges of 64 units, found by their hashes, in one
 * piece of memory. A slot has 16 bytes, which is enough where the units that were read are one run, and those
 * that were written too; else there is a bit for each unit in a pool behind the table.
 *
 * It stands in the way of every I/O of a tape in every pass: so it is all inline.
 */
#ifndef IOTAPE_PROFILE_RANGE_TABLE_H
#define IOTAPE_PROFILE_RANGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

#define RANGE_TABLE_FIRST_BYTES ((size_t)128 << 10)
#define RANGE_TABLE_FILL        0.81 /* of the slots: with more, finding a free one takes too long */
#define RANGE_TABLE_EACH_BYTES  30.0 /* for a range before more is known: a slot, and 0.64 of the pool */
#define RANGE_LINE_SLOTS        4    /* in a line of the cache */

/* Of a range: the run of units that were read, and that of those that were written; or, where these are no
 * runs, RANGE_POOLED and which of the pool has them. Above, how often it was touched. */
struct range_slot {
    uint64_t hash; /* 0: the slot is free */
    uint64_t what;
};
#define RANGE_RUN_ANY     (UINT64_C(1) << 12) /* above the last unit, above the first */
#define RANGE_RUN_BITS    13
#define RANGE_POOLED      (UINT64_C(1) << 2 * RANGE_RUN_BITS)
#define RANGE_TOUCH_SHIFT (2 * RANGE_RUN_BITS + 1)
#define RANGE_TOUCHES_MAX (UINT64_MAX >> RANGE_TOUCH_SHIFT)

/* Units that were read ([0]), that were written ([1]). */
struct range_units {
    uint64_t of[2];
};

struct range_table {
    void *memory; /* holds both, the table first; owned */
    size_t bytes;
    struct range_slot *table;  /* open addressing, linear probing */
    size_t slots, room, count; /* `room` ranges may be in it */
    struct range_units *pool;
    size_t pool_room, pool_used;
    size_t pool_free; /* the first that was given back, + 1; it knows the next one */
};

/* All zero: needs no release. Memory for RANGE_TABLE_FIRST_BYTES. -ENOMEM. */
int range_table_init(struct range_table *t, struct err *e);
void range_table_release(struct range_table *t);
/* Twice the bytes, but at once max_bytes where it is large, and never more: it must be less now. -ENOMEM. */
int range_table_grow(struct range_table *t, size_t max_bytes, struct err *e);
/* Forgets all, and gives the table room for so many ranges and the pool the rest. */
void range_table_empty(struct range_table *t, double ranges);

/* ---- the table ---- */

/* The first slot of a line of the cache: most searches end in this line. */
static inline size_t range_home(const struct range_table *t, uint64_t hash)
{
    return (size_t)((hash & UINT32_MAX) * (t->slots / RANGE_LINE_SLOTS) >> 32) * RANGE_LINE_SLOTS;
}

/* Where the range is, or where it would be put. Of a line all is compared, without a branch. */
static inline struct range_slot *range_find(const struct range_table *t, uint64_t hash)
{
    for (size_t i = range_home(t, hash);; i = i + RANGE_LINE_SLOTS < t->slots ? i + RANGE_LINE_SLOTS : 0) {
        struct range_slot *line = &t->table[i];
        unsigned ends = 0;
        for (unsigned k = 0; k < RANGE_LINE_SLOTS; k++)
            ends |= (unsigned)((line[k].hash == hash) | !line[k].hash) << k;
        if (ends)
            return &line[__builtin_ctz(ends)];
    }
}

/* ---- the pool ---- */

static inline bool range_pool_full(const struct range_table *t)
{
    return !t->pool_free && t->pool_used == t->pool_room;
}

static inline size_t range_pool_take(struct range_table *t)
{
    if (!t->pool_free)
        return t->pool_used++;
    size_t i = t->pool_free - 1;
    t->pool_free = t->pool[i].of[0];
    return i;
}

/* Which one of the pool a range has, 0 where it has none. */
static inline size_t range_pooled(const struct range_slot *s)
{
    return s->what & (RANGE_POOLED - 1) & -(s->what / RANGE_POOLED & 1);
}

/* Gives back what a slot that is taken out has of the pool. */
static inline void range_drop(struct range_table *t, const struct range_slot *s)
{
    if (s->what & RANGE_POOLED) {
        t->pool[range_pooled(s)].of[0] = t->pool_free;
        t->pool_free = range_pooled(s) + 1;
    }
    t->count--;
}

/* ---- units of a range ---- */

/* Of what is no run, anything. */
static inline uint64_t range_run_units(uint64_t run)
{
    unsigned first = run & 63, last = run >> 6 & 63;
    uint64_t all = -(run >> (RANGE_RUN_BITS - 1) & 1); /* no branch: it would be mispredicted */
    return all & (~UINT64_C(0) >> ((63 - (last - first)) & 63)) << first;
}

/* The run that begins and ends with the units. */
static inline uint64_t range_run_of(uint64_t units)
{
    return !units ? 0
                  : RANGE_RUN_ANY | (63U - (unsigned)__builtin_clzll(units)) << 6 |
                            (unsigned)__builtin_ctzll(units);
}

/* Without a branch, as all that is done for each touch: what a range is like cannot be predicted. */
static inline struct range_units range_units_of(const struct range_table *t, const struct range_slot *s)
{
    uint64_t in_pool = -(s->what / RANGE_POOLED & 1);
    struct range_units u = t->pool[range_pooled(s)];
    u.of[0] = (u.of[0] & in_pool) | (range_run_units(s->what) & ~in_pool);
    u.of[1] = (u.of[1] & in_pool) | (range_run_units(s->what >> RANGE_RUN_BITS) & ~in_pool);
    return u;
}

/* The pool is not full. */
static inline void range_set_units(struct range_table *t, struct range_slot *s, const struct range_units *u)
{
    uint64_t read = range_run_of(u->of[0]), written = range_run_of(u->of[1]),
             touches = s->what >> RANGE_TOUCH_SHIFT;
    if (!(s->what & RANGE_POOLED) && range_run_units(read) == u->of[0] &&
            range_run_units(written) == u->of[1]) {
        s->what = touches << RANGE_TOUCH_SHIFT | written << RANGE_RUN_BITS | read;
        return;
    }
    if (!(s->what & RANGE_POOLED))
        s->what = touches << RANGE_TOUCH_SHIFT | RANGE_POOLED | range_pool_take(t);
    t->pool[range_pooled(s)] = *u;
}

/* ---- memory ---- */

/* Has a line of the cache loaded. A load, for what is not wanted yet is overtaken while it waits; prefetch
 * instructions do nothing on some processors where the page is not known to the TLB. */
static inline void range_fetch(const uint64_t *p)
{
    (void)*(const volatile uint64_t *)p;
}

#endif
