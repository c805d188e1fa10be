/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "analyze/profile/range_list.h"
#include "analyze/profile/touch_sort.h"

#define HUGE_BYTES        ((size_t)2 << 20)
#define BATCH_LEAST       32768      /* touches, where there is room: they stay in a near cache */
#define RANGE_GUESS_BYTES 6.0        /* before more is known */
#define NO_KEY            UINT64_MAX /* before the first */

_Static_assert(sizeof(struct touch) >= RANGE_GROWTH_MAX, "a list outgrows the spare room");

/* Bytes that were read after they had been written, and those that were touched for the first time. */
struct group {
    uint64_t read_after_write;
    uint64_t grown[PROFILE_SLOTS_MAX];
};

/* The memory: the list of ranges; spare room for as many touches as the batch; the batch. */
struct touched {
    uint8_t *memory; /* owned */
    size_t bytes;
    size_t used;   /* by the list */
    size_t ranges; /* in it */
    struct touch *batch;
    size_t count, room; /* in touches */
    struct touched_pass pass;
    struct group groups[TOUCHED_GROUPS];
};

/* How many groups get so many bytes, of which `in_all` are expected. */
static uint32_t groups_for(double bytes, double in_all)
{
    double groups = TOUCHED_GROUPS * bytes / in_all;
    return groups >= TOUCHED_GROUPS ? TOUCHED_GROUPS : groups >= 1 ? (uint32_t)groups : 1;
}

/* The batch may have as many touches as there are ranges in the list, for the whole list is read to merge
 * them. Between them, there is room for sorting, which is more than the list can grow by. */
static void place_batch(struct touched *t)
{
    size_t free_bytes = t->bytes - t->used - 2 * RANGE_SLACK_BYTES;
    size_t wanted = t->ranges > BATCH_LEAST ? t->ranges : BATCH_LEAST,
           fits = free_bytes / 2 / sizeof *t->batch;
    t->room = wanted < fits ? wanted : fits;
    size_t spare = (t->used + RANGE_SLACK_BYTES + sizeof *t->batch - 1) / sizeof *t->batch;
    t->batch = (struct touch *)(void *)t->memory + spare + t->room;
    t->count = 0;
}

int touched_open(struct touched **out, size_t max_bytes, uint64_t touches, struct err *e)
{
    struct touched *t = calloc(1, sizeof *t);
    size_t bytes = (max_bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    if (t)
        t->memory = aligned_alloc(HUGE_BYTES, bytes);
    if (!t || !t->memory) {
        free(t);
        return err_sys(e, ENOMEM, "cannot keep the set of blocks");
    }
    madvise(t->memory, bytes, MADV_HUGEPAGE); /* a wish: it saves half of the time that new pages take */
    if (getrandom(&t->pass.factor, sizeof t->pass.factor, GRND_NONBLOCK) < 0)
        t->pass.factor = (uint64_t)(uintptr_t)t * UINT64_C(0x9e3779b97f4a7c15);
    t->pass.factor |= 1;
    t->bytes = max_bytes;
    t->pass.count = groups_for((double)max_bytes, RANGE_GUESS_BYTES * (double)touches + 1);
    place_batch(t);
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

/* ---- counting ---- */

static void count(struct group *g, struct range *r, const struct touch *touch)
{
    uint64_t units = range_run(touch->first, touch->last), write = -(uint64_t)touch->write;
    g->grown[touch->slot] += touched_bits(units & ~(r->read | r->written)) << touch->unit_bits;
    g->read_after_write += touched_bits(units & r->written & ~write) << touch->unit_bits;
    r->read |= units & ~write;
    r->written |= units & write;
    r->touches++;
}

/* ---- merging ---- */

/* A list that is read, and one that is written, in the same memory: the first lies behind the second. */
struct merge {
    const uint8_t *in, *end;
    uint64_t in_key; /* of the range before `in` */
    uint8_t *out;
    uint64_t out_key;
};

static void merge_write(struct merge *m, const struct range *r)
{
    m->out = range_write(m->out, m->out_key, r);
    m->out_key = r->key;
}

/* Copies what comes before `key`; returns whether a range with that key is next. */
static bool merge_until(struct merge *m, uint64_t key)
{
    struct range first;
    if (m->in == m->end)
        return false;
    uint64_t next = range_key(m->in, m->in_key);
    if (next >= key)
        return next == key;
    m->in = range_read(m->in, m->in_key, &first); /* it may follow another one than before */
    merge_write(m, &first);
    m->in_key = first.key;
    while (m->in < m->end && (next = range_key(m->in, m->in_key)) < key) {
        unsigned length = range_length(*m->in);
        memcpy(m->out, m->in, RANGE_BYTES_MAX); /* mostly more than it has */
        m->in += length;
        m->out += length;
        m->in_key = next;
    }
    m->out_key = m->in_key;
    return m->in < m->end && next == key;
}

static void merge_rest(struct merge *m)
{
    struct range first;
    if (m->in == m->end)
        return;
    m->in = range_read(m->in, m->in_key, &first);
    merge_write(m, &first);
    memmove(m->out, m->in, (size_t)(m->end - m->in));
    m->out += m->end - m->in;
}

static void merge_all(struct touched *t, struct merge *m, const struct touch *touch, const struct touch *end)
{
    while (touch < end) {
        struct group *g = &t->groups[touched_group(touch->key)];
        struct range r = {.key = touch->key};
        if (merge_until(m, r.key)) {
            m->in = range_read(m->in, m->in_key, &r);
            m->in_key = r.key;
        } else {
            t->ranges++;
        }
        do
            count(g, &r, touch++);
        while (touch < end && touch->key == r.key);
        merge_write(m, &r);
    }
    merge_rest(m);
}

static int give_up_half(struct touched *t, struct err *e)
{
    if (t->pass.count < 2)
        return err_set(e, ENOMEM,
                "the tape touches too many places: their set does not fit memory in %d passes",
                TOUCHED_GROUPS);
    t->pass.count /= 2;
    const uint32_t end = t->pass.first + t->pass.count;
    memset(&t->groups[end], 0, (TOUCHED_GROUPS - end) * sizeof *t->groups);
    const uint8_t *p = t->memory, *p_end = p + t->used;
    uint64_t key = NO_KEY;
    for (t->ranges = 0; p < p_end; t->ranges++) {
        key = range_key(p, key);
        if (touched_group(key) >= end)
            break;
        p += range_length(*p);
    }
    t->used = (size_t)(p - t->memory);
    return 0;
}

static int merge(struct touched *t, struct err *e)
{
    const struct touch *first = t->batch, *end = first + t->count;
    touch_sort(t->batch, t->batch - t->room, t->count);
    while (first < end && !touched_wants(&t->pass, first->key))
        first++;
    while (first < end && !touched_wants(&t->pass, end[-1].key))
        end--;
    uint8_t *list = (uint8_t *)(void *)t->batch - t->used;
    memmove(list, t->memory, t->used);
    struct merge m = {list, list + t->used, NO_KEY, t->memory, NO_KEY};
    merge_all(t, &m, first, end);
    t->used = (size_t)(m.out - t->memory);
    int rc = 0;
    while (rc == 0 && t->used > t->bytes / 8 * 7)
        rc = give_up_half(t, e);
    place_batch(t);
    return rc;
}

int touched_add(struct touched *t, const struct touch *touches, size_t n, struct err *e)
{
    int rc = 0;
    while (rc == 0 && n) {
        size_t fits = t->room - t->count, now = n < fits ? n : fits;
        memcpy(&t->batch[t->count], touches, now * sizeof *touches);
        t->count += now;
        touches += now;
        n -= now;
        if (t->count == t->room)
            rc = merge(t, e);
    }
    return rc;
}

/* ---- the end of a pass ---- */

/* What touched_key made the key from. */
static void unmake_key(const struct touched_pass *p, uint64_t key, struct touched_range *r)
{
    uint64_t near = key % (1 << TOUCHED_NEAR_BITS), above = key >> TOUCHED_NEAR_BITS;
    uint64_t area = above % (UINT64_C(1) << (TOUCHED_INDEX_BITS - TOUCHED_AREA_BITS));
    r->stream = (uint32_t)(above >> (TOUCHED_INDEX_BITS - TOUCHED_AREA_BITS)) % (1 << TOUCHED_STREAM_BITS);
    uint32_t middle = (touched_group(key) ^ touched_area_hash(p, r->stream, area)) % TOUCHED_GROUPS;
    r->index = (area << TOUCHED_GROUP_BITS | middle) << TOUCHED_NEAR_BITS | near;
}

static void show_all(const struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to)
{
    struct range r = {.key = NO_KEY};
    struct touched_range shown;
    for (const uint8_t *p = t->memory, *end = p + t->used; p < end;) {
        p = range_read(p, r.key, &r);
        unmake_key(&t->pass, r.key, &shown);
        shown.read = r.read;
        shown.written = r.written;
        shown.touches = r.touches;
        each(to, &shown);
    }
}

static void collect(const struct touched *t, uint64_t *read_after_write, uint64_t grown[PROFILE_SLOTS_MAX])
{
    for (uint32_t i = 0; i < t->pass.count; i++) {
        const struct group *g = &t->groups[t->pass.first + i];
        *read_after_write += g->read_after_write;
        for (size_t k = 0; k < PROFILE_SLOTS_MAX; k++)
            grown[k] += g->grown[k];
    }
}

/* The next pass takes as many groups as should leave some room, by what those took that are done. */
static void plan(struct touched *t)
{
    double in_all = ((double)t->used + 1) / t->pass.count * TOUCHED_GROUPS;
    t->pass.first += t->pass.count;
    uint32_t left = TOUCHED_GROUPS - t->pass.first, groups = groups_for(0.75 * (double)t->bytes, in_all);
    t->pass.count = groups < left ? groups : left;
    t->used = t->ranges = 0;
    place_batch(t);
}

int touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        uint64_t *read_after_write, uint64_t grown[PROFILE_SLOTS_MAX], struct err *e)
{
    int rc = merge(t, e);
    if (rc < 0)
        return rc;
    show_all(t, each, to);
    collect(t, read_after_write, grown);
    plan(t);
    return t->pass.count > 0;
}
