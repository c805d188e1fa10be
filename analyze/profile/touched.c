/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "formats/base/random.h"

#define FIRST_BITS 12
#define JUMP_BITS  17 /* from here it grows at once to its largest */
#define PENDING    64

struct group {
    struct touched_counts counts;
    uint64_t grown[PROFILE_SLOTS_MAX];
};

struct touched {
    struct touched_range *table; /* open addressing, linear probing */
    unsigned bits, max_bits;
    size_t count;
    uint32_t first, end; /* groups of this pass */
    uint64_t seed;       /* so that no tape can be made whose ranges all fall to one place of the table */
    unsigned pending;    /* asked for, and being fetched from memory meanwhile */
    struct touch touch[PENDING];
    struct group groups[TOUCHED_GROUPS];
};

static uint32_t group_of(uint64_t hash)
{
    return (uint32_t)(hash >> 54);
}

static uint64_t hash_of(const struct touched *t, uint64_t key)
{
    return random_mix(key ^ t->seed);
}

static int no_memory(struct err *e)
{
    return err_sys(e, ENOMEM, "cannot keep the set of blocks that are touched");
}

int touched_open(struct touched **out, unsigned max_bits, struct err *e)
{
    struct touched *t = calloc(1, sizeof *t);
    if (!t || !(t->table = calloc((size_t)1 << FIRST_BITS, sizeof *t->table))) {
        free(t);
        return no_memory(e);
    }
    if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) < 0)
        t->seed = (uint64_t)(uintptr_t)t;
    t->bits = FIRST_BITS;
    t->max_bits = max_bits;
    t->end = TOUCHED_GROUPS;
    *out = t;
    return 0;
}

void touched_close(struct touched *t)
{
    if (t)
        free(t->table);
    free(t);
}

/* ---- the table ---- */

static size_t mask_of(const struct touched *t)
{
    return ((size_t)1 << t->bits) - 1;
}

/* Where the key is, or where it would be put. */
static struct touched_range *find(const struct touched *t, uint64_t key, uint64_t hash)
{
    size_t i = hash & mask_of(t);
    while (t->table[i].key && t->table[i].key != key)
        i = (i + 1) & mask_of(t);
    return &t->table[i];
}

static int grow(struct touched *t, struct err *e)
{
    struct touched_range *old = t->table;
    size_t slots = mask_of(t) + 1;
    unsigned bits = t->bits < JUMP_BITS ? t->bits + 1 : t->max_bits;
    struct touched_range *table = calloc((size_t)1 << bits, sizeof *table);
    if (!table)
        return no_memory(e);
    t->table = table;
    t->bits = bits;
    for (size_t i = 0; i < slots; i++)
        if (old[i].key)
            *find(t, old[i].key, hash_of(t, old[i].key)) = old[i];
    free(old);
    return 0;
}

/* Takes out range `hole` and closes the gap (Knuth, The Art of Computer Programming 3, 6.4, algorithm R). */
static void take_out(struct touched *t, size_t hole)
{
    size_t mask = mask_of(t);
    for (size_t i = (hole + 1) & mask; t->table[i].key; i = (i + 1) & mask) {
        size_t home = hash_of(t, t->table[i].key) & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        t->table[hole] = t->table[i];
        hole = i;
    }
    t->table[hole].key = 0;
    t->count--;
}

static int give_up_half(struct touched *t, struct err *e)
{
    if (t->end - t->first < 2)
        return err_set(e, ENOMEM,
                "the tape touches too many places: their set does not fit memory in %d passes",
                TOUCHED_GROUPS);
    t->end = t->first + (t->end - t->first) / 2;
    for (size_t i = 0; i <= mask_of(t);)
        if (t->table[i].key && group_of(hash_of(t, t->table[i].key)) >= t->end)
            take_out(t, i);
        else
            i++;
    memset(&t->groups[t->end], 0, (TOUCHED_GROUPS - t->end) * sizeof *t->groups);
    return 0;
}

/* ---- touching ---- */

static uint64_t bytes_of(uint64_t mask, const struct touch *t)
{
    uint64_t units = mask & (mask - 1) ? (uint64_t)__builtin_popcountll(mask) : mask != 0;
    return units << t->unit_bits;
}

/* Of `all` bytes of the touch, those whose unit is in `set`. */
static uint64_t part_of(uint64_t all, uint64_t set, const struct touch *t)
{
    return (set & t->mask) == t->mask ? all : bytes_of(set & t->mask, t);
}

static void count(struct group *g, struct touched_range *r, const struct touch *t)
{
    uint64_t bytes = bytes_of(t->mask, t), any = r->read | r->written;
    if (t->write) {
        g->counts.written += bytes;
        g->counts.overwritten += part_of(bytes, r->written, t);
        r->written |= t->mask;
    } else {
        g->counts.read += bytes;
        g->counts.read_after_write += part_of(bytes, r->written, t);
        g->counts.read_again += part_of(bytes, r->read, t);
        r->read |= t->mask;
    }
    if (t->mask & ~any)
        g->grown[t->slot] += bytes_of(t->mask & ~any, t);
    r->touches++;
}

static int apply(struct touched *t, const struct touch *touch, struct err *e)
{
    uint64_t hash = hash_of(t, touch->key);
    uint32_t group = group_of(hash);
    if (group >= t->end) /* it was given up meanwhile */
        return 0;
    struct touched_range *r = find(t, touch->key, hash);
    if (!r->key && (t->count + 1) * 4 > (mask_of(t) + 1) * 3) {
        int rc = t->bits < t->max_bits ? grow(t, e) : give_up_half(t, e);
        return rc < 0 ? rc : apply(t, touch, e);
    }
    if (!r->key) {
        *r = (struct touched_range){.key = touch->key};
        t->count++;
    }
    count(&t->groups[group], r, touch);
    return 0;
}

static int apply_pending(struct touched *t, struct err *e)
{
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < t->pending; i++)
        rc = apply(t, &t->touch[i], e);
    t->pending = 0;
    return rc;
}

int touched_add(struct touched *t, const struct touch *touch, struct err *e)
{
    uint64_t hash = hash_of(t, touch->key);
    uint32_t group = group_of(hash);
    /* Without a branch, which would be mispredicted where every second group is done in another pass. */
    t->touch[t->pending] = *touch;
    bool mine = group - t->first < t->end - t->first;
    __builtin_prefetch(&t->table[mine ? hash & mask_of(t) : 0], 1);
    t->pending += mine;
    return t->pending == PENDING ? apply_pending(t, e) : 0;
}

/* ---- the end of a pass ---- */

static void collect(const struct touched *t, struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX])
{
    for (uint32_t i = t->first; i < t->end; i++) {
        const struct group *g = &t->groups[i];
        counts->read += g->counts.read;
        counts->read_after_write += g->counts.read_after_write;
        counts->read_again += g->counts.read_again;
        counts->written += g->counts.written;
        counts->overwritten += g->counts.overwritten;
        for (size_t k = 0; k < PROFILE_SLOTS_MAX; k++)
            grown[k] += g->grown[k];
    }
}

int touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX], bool *again, struct err *e)
{
    int rc = apply_pending(t, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i <= mask_of(t); i++)
        if (t->table[i].key)
            each(to, &t->table[i]);
    collect(t, counts, grown);
    /* As many groups as should fit, by what these took. */
    uint64_t room = (mask_of(t) + 1) * 7 / 10, width = t->end - t->first;
    width = t->count ? width * room / t->count : TOUCHED_GROUPS;
    t->first = t->end;
    t->end = width < TOUCHED_GROUPS - t->first ? t->first + (width ? (uint32_t)width : 1) : TOUCHED_GROUPS;
    *again = t->first < TOUCHED_GROUPS;
    t->count = 0;
    memset(t->table, 0, (mask_of(t) + 1) * sizeof *t->table);
    return 0;
}
