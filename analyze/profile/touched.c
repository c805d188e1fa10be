/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#define FIRST_BYTES ((size_t)128 << 10)
#define JUMP_BYTES  ((size_t)4 << 20) /* from here it grows at once to its largest */
#define HUGE_BYTES  ((size_t)2 << 20)
#define FILL        0.81 /* of the slots: with more, finding a free one takes too long */
#define AHEAD       24   /* touches whose slots are fetched from memory meanwhile */

/* Of a range: the run of units that were read, and that of those that were written; or, where these are no
 * runs, POOLED and which of the pool has them. Above, how often it was touched. */
struct slot {
    uint64_t hash; /* 0: the slot is free */
    uint64_t what;
};
#define RUN_ANY     (UINT64_C(1) << 12) /* above the last unit, above the first */
#define RUN_BITS    13
#define POOLED      (UINT64_C(1) << 2 * RUN_BITS)
#define TOUCH_SHIFT (2 * RUN_BITS + 1)
#define TOUCHES_MAX (UINT64_MAX >> TOUCH_SHIFT)

/* Units that were read ([0]), that were written ([1]). */
struct units {
    uint64_t of[2];
};

/* Bytes that were read ([0]) and written ([1]): all, and those that had been read or written before. */
struct group {
    uint64_t bytes[2], again[2][2];
    uint64_t grown[PROFILE_SLOTS_MAX];
};

struct touched {
    void *memory; /* holds both, the table first */
    size_t bytes, max_bytes;
    struct slot *table; /* open addressing, linear probing */
    size_t slots, count;
    struct units *pool;
    size_t pool_room, pool_used;
    size_t pool_free; /* the first that was given back, + 1; it knows the next one */
    struct touched_pass pass;
    struct group groups[TOUCHED_GROUPS];
};

static int no_memory(struct err *e)
{
    return err_sys(e, ENOMEM, "cannot keep the set of blocks that are touched");
}

/* ---- memory ---- */

/* Large tables are met everywhere at random: pages of the usual size would cost more than they do. */
static void *large(size_t bytes)
{
    if (bytes < HUGE_BYTES)
        return malloc(bytes);
    bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    void *memory = aligned_alloc(HUGE_BYTES, bytes);
    if (memory)
        madvise(memory, bytes, MADV_HUGEPAGE); /* a wish: without it, it is slower */
    return memory;
}

/* Empties both, and gives the table so many slots of 16 bytes. */
static void split(struct touched *t, size_t slots)
{
    t->table = t->memory;
    t->slots = slots;
    t->pool = (struct units *)(void *)(t->table + slots);
    t->pool_room = (t->bytes - slots * sizeof *t->table) / sizeof *t->pool;
    t->count = t->pool_used = t->pool_free = 0;
    memset(t->table, 0, slots * sizeof *t->table);
}

static int allocate(struct touched *t, size_t bytes, struct err *e)
{
    void *memory = large(bytes);
    if (!memory)
        return no_memory(e);
    t->memory = memory;
    t->bytes = bytes;
    split(t, bytes / sizeof *t->table / 3 * 2);
    return 0;
}

int touched_open(struct touched **out, size_t max_bytes, struct err *e)
{
    struct touched *t = calloc(1, sizeof *t);
    int rc = t ? allocate(t, FIRST_BYTES, e) : no_memory(e);
    if (rc < 0) {
        free(t);
        return rc;
    }
    if (getrandom(&t->pass.seed, sizeof t->pass.seed, GRND_NONBLOCK) < 0)
        t->pass.seed = (uint64_t)(uintptr_t)t;
    t->pass.seed &= ~(UINT64_C(1) << 51); /* equal to no range, so that no hash is 0 */
    t->pass.count = TOUCHED_GROUPS;
    t->max_bytes = max_bytes;
    *out = t;
    return 0;
}

void touched_close(struct touched *t)
{
    if (t)
        free(t->memory);
    free(t);
}

struct touched_pass touched_pass(const struct touched *t)
{
    return t->pass;
}

/* ---- the table ---- */

static size_t home_of(const struct touched *t, uint64_t hash)
{
    return (size_t)((hash & UINT32_MAX) * t->slots >> 32);
}

/* So many ranges it takes. */
static size_t room_of(const struct touched *t)
{
    return (size_t)((double)t->slots * FILL);
}

static size_t after(const struct touched *t, size_t i)
{
    return i + 1 < t->slots ? i + 1 : 0;
}

/* Where the range is, or where it would be put. */
static struct slot *find(const struct touched *t, uint64_t hash)
{
    size_t i = home_of(t, hash);
    while (t->table[i].hash && t->table[i].hash != hash)
        i = after(t, i);
    return &t->table[i];
}

static int grow(struct touched *t, struct err *e)
{
    struct touched old = {.memory = t->memory, .table = t->table, .slots = t->slots, .count = t->count};
    old.pool = t->pool;
    old.pool_used = t->pool_used;
    old.pool_free = t->pool_free;
    size_t bytes = t->bytes * 2 < t->max_bytes && t->bytes < JUMP_BYTES ? t->bytes * 2 : t->max_bytes;
    int rc = allocate(t, bytes, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < old.slots; i++)
        if (old.table[i].hash)
            *find(t, old.table[i].hash) = old.table[i];
    memcpy(t->pool, old.pool, old.pool_used * sizeof *t->pool);
    t->count = old.count;
    t->pool_used = old.pool_used;
    t->pool_free = old.pool_free;
    free(old.memory);
    return 0;
}

/* ---- the pool ---- */

static bool pool_full(const struct touched *t)
{
    return !t->pool_free && t->pool_used == t->pool_room;
}

static size_t pool_take(struct touched *t)
{
    if (!t->pool_free)
        return t->pool_used++;
    size_t i = t->pool_free - 1;
    t->pool_free = t->pool[i].of[0];
    return i;
}

static void pool_give(struct touched *t, size_t i)
{
    t->pool[i].of[0] = t->pool_free;
    t->pool_free = i + 1;
}

static struct units *pooled(const struct touched *t, const struct slot *s)
{
    return &t->pool[s->what & (POOLED - 1)];
}

/* ---- units of a range ---- */

static uint64_t run_units(uint64_t run)
{
    unsigned first = run & 63, last = run >> 6 & 63;
    uint64_t all = -(run >> (RUN_BITS - 1) & 1); /* no branch, which would be mispredicted */
    return all & (~UINT64_C(0) >> (63 - (last - first))) << first;
}

/* The run that begins and ends with the units. */
static uint64_t run_of(uint64_t units)
{
    return !units ? 0
                  : RUN_ANY | (63U - (unsigned)__builtin_clzll(units)) << 6 |
                            (unsigned)__builtin_ctzll(units);
}

static struct units slot_units(const struct touched *t, const struct slot *s)
{
    if (s->what & POOLED)
        return *pooled(t, s);
    return (struct units){{run_units(s->what), run_units(s->what >> RUN_BITS)}};
}

/* The pool is not full. */
static void slot_set(struct touched *t, struct slot *s, const struct units *u)
{
    uint64_t read = run_of(u->of[0]), written = run_of(u->of[1]), touches = s->what >> TOUCH_SHIFT;
    if (!(s->what & POOLED) && run_units(read) == u->of[0] && run_units(written) == u->of[1]) {
        s->what = touches << TOUCH_SHIFT | written << RUN_BITS | read;
        return;
    }
    if (!(s->what & POOLED))
        s->what = touches << TOUCH_SHIFT | POOLED | pool_take(t);
    *pooled(t, s) = *u;
}

/* ---- what does not fit ---- */

static void drop(struct touched *t, const struct slot *s)
{
    if (s->what & POOLED)
        pool_give(t, s->what & (POOLED - 1));
    t->count--;
}

/* Takes out what is not wanted any more. One after the other, what lies between two free slots is put anew
 * where it belongs, which is at most where it was. */
static void prune(struct touched *t)
{
    size_t begin = 0;
    while (t->table[begin].hash)
        begin++;
    for (size_t i = after(t, begin); i != begin; i = after(t, i)) {
        struct slot s = t->table[i];
        if (!s.hash)
            continue;
        t->table[i].hash = 0;
        if (touched_wants(&t->pass, s.hash))
            *find(t, s.hash) = s;
        else
            drop(t, &s);
    }
}

static int give_up_half(struct touched *t, struct err *e)
{
    if (t->pass.count < 2)
        return err_set(e, ENOMEM,
                "the tape touches too many places: their set does not fit memory in %d passes",
                TOUCHED_GROUPS);
    t->pass.count /= 2;
    prune(t);
    size_t end = t->pass.first + t->pass.count;
    memset(&t->groups[end], 0, (TOUCHED_GROUPS - end) * sizeof *t->groups);
    return 0;
}

/* ---- touching ---- */

/* Of the touch's bytes, those whose unit is in `set`. */
static uint64_t part_of(const struct touch *t, uint64_t set)
{
    set &= t->mask;
    if (!set)
        return 0;
    return set == t->mask ? t->bytes : (uint64_t)__builtin_popcountll(set) << t->unit_bits;
}

static void count(struct touched *t, struct slot *s, const struct touch *touch)
{
    struct group *g = &t->groups[touched_group(touch->hash)];
    struct units u = slot_units(t, s);
    uint64_t fresh = touch->mask & ~u.of[touch->write];
    g->bytes[touch->write] += touch->bytes;
    g->again[touch->write][0] += part_of(touch, u.of[0]);
    g->again[touch->write][1] += part_of(touch, u.of[1]);
    g->grown[touch->slot] += touch->bytes - part_of(touch, u.of[0] | u.of[1]);
    s->what += UINT64_C(1) << TOUCH_SHIFT;
    u.of[touch->write] |= touch->mask;
    if (fresh)
        slot_set(t, s, &u);
}

static int make_room(struct touched *t, struct err *e)
{
    return t->bytes < t->max_bytes ? grow(t, e) : give_up_half(t, e);
}

/* The first touch of a range, which is one run. */
static void count_first(struct touched *t, struct slot *s, const struct touch *touch)
{
    struct group *g = &t->groups[touched_group(touch->hash)];
    g->bytes[touch->write] += touch->bytes;
    g->grown[touch->slot] += touch->bytes;
    s->hash = touch->hash;
    s->what = UINT64_C(1) << TOUCH_SHIFT | run_of(touch->mask) << (touch->write ? RUN_BITS : 0);
    t->count++;
}

static int add(struct touched *t, const struct touch *touch, struct err *e)
{
    if (!touched_wants(&t->pass, touch->hash)) /* it was given up meanwhile */
        return 0;
    struct slot *s = find(t, touch->hash);
    if (s->hash ? pool_full(t) : t->count >= room_of(t)) {
        int rc = make_room(t, e);
        return rc < 0 ? rc : add(t, touch, e);
    }
    if (!s->hash)
        count_first(t, s, touch);
    else if (s->what >> TOUCH_SHIFT < TOUCHES_MAX)
        count(t, s, touch);
    else
        return err_set(e, EOVERFLOW, "one place of the tape is touched too often to be counted");
    return 0;
}

/* What a touch will meet: first its slot, later, when that has come, what this has in the pool. */
static void fetch_slot(const struct touched *t, const struct touch *touch)
{
    __builtin_prefetch(&t->table[home_of(t, touch->hash)], 1);
}

static void fetch_pooled(const struct touched *t, const struct touch *touch)
{
    const struct slot *s = &t->table[home_of(t, touch->hash)];
    __builtin_prefetch(s->what & POOLED ? (void *)pooled(t, s) : (void *)t, 1);
}

int touched_add(struct touched *t, const struct touch *touches, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && i < AHEAD; i++)
        fetch_slot(t, &touches[i]);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (i + AHEAD < n)
            fetch_slot(t, &touches[i + AHEAD]);
        if (i + AHEAD / 2 < n)
            fetch_pooled(t, &touches[i + AHEAD / 2]);
        rc = add(t, &touches[i], e);
    }
    return rc;
}

/* ---- the end of a pass ---- */

static void collect(const struct touched *t, struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX])
{
    for (uint32_t i = 0; i < t->pass.count; i++) {
        const struct group *g = &t->groups[t->pass.first + i];
        counts->read += g->bytes[0];
        counts->read_again += g->again[0][0];
        counts->read_after_write += g->again[0][1];
        counts->written += g->bytes[1];
        counts->overwritten += g->again[1][1];
        for (size_t k = 0; k < PROFILE_SLOTS_MAX; k++)
            grown[k] += g->grown[k];
    }
}

static void show_all(const struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to)
{
    for (size_t i = 0; i < t->slots; i++) {
        const struct slot *s = &t->table[i];
        if (!s->hash)
            continue;
        uint64_t key = random_unmix(s->hash) ^ t->pass.seed;
        struct units u = slot_units(t, s);
        each(to, &(struct touched_range){(uint32_t)(key >> 52), key & ((UINT64_C(1) << 51) - 1), u.of[0],
                         u.of[1], s->what >> TOUCH_SHIFT});
    }
}

/* Prepares the next pass: divides the memory, and takes as many groups as should fit, by what those took that
 * are done. */
static void plan(struct touched *t)
{
    const double each = sizeof *t->table / FILL, item = sizeof *t->pool;
    double pooled_each = t->count ? 1.05 * (double)t->pool_used / (double)t->count + 0.01 : 0.5;
    double ranges = (double)t->bytes / (each + pooled_each * item);
    double groups = t->count ? (double)t->pass.count * ranges * 0.95 / (double)t->count : TOUCHED_GROUPS;
    t->pass.first += t->pass.count;
    uint32_t left = TOUCHED_GROUPS - t->pass.first;
    t->pass.count = groups >= left ? left : groups >= 1 ? (uint32_t)groups : 1;
    split(t, (size_t)(ranges / FILL));
}

bool touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX])
{
    show_all(t, each, to);
    collect(t, counts, grown);
    plan(t);
    return t->pass.count > 0;
}
