/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/touched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analyze/profile/range_table.h"

#define AT_ONCE 32 /* touches */

/* Bytes that were read ([0]) and written ([1]): all, and those that had been read or written before. */
struct group {
    uint64_t bytes[2], again[2][2];
    uint64_t grown[PROFILE_SLOTS_MAX];
};

struct touched {
    struct range_table table;
    size_t max_bytes;
    struct touched_pass pass;
    struct group groups[TOUCHED_GROUPS];
};

/* How many groups get so many ranges, of which `in_all` are expected. */
static uint32_t groups_for(double ranges, double in_all)
{
    double groups = TOUCHED_GROUPS * ranges / in_all;
    return groups >= TOUCHED_GROUPS ? TOUCHED_GROUPS : groups >= 1 ? (uint32_t)groups : 1;
}

int touched_open(struct touched **out, size_t max_bytes, uint64_t touches, struct err *e)
{
    struct touched *t = calloc(1, sizeof *t);
    int rc = t ? range_table_init(&t->table, e) : err_sys(e, ENOMEM, "cannot keep the set of blocks");
    if (rc < 0) {
        free(t);
        return rc;
    }
    if (getrandom(&t->pass.seed, sizeof t->pass.seed, GRND_NONBLOCK) < 0)
        t->pass.seed = (uint64_t)(uintptr_t)t;
    t->pass.seed &= ~(UINT64_C(1) << 51); /* equal to no range, so that no hash is 0 */
    t->max_bytes = max_bytes;
    t->pass.count = groups_for((double)max_bytes / RANGE_TABLE_EACH_BYTES, (double)touches + 1);
    *out = t;
    return 0;
}

void touched_close(struct touched *t)
{
    if (t)
        range_table_release(&t->table);
    free(t);
}

struct touched_pass touched_pass(const struct touched *t)
{
    return t->pass;
}

/* ---- what does not fit ---- */

/* Takes out what is not wanted any more. One after the other, what lies between two free slots is put anew
 * where it belongs, which is at most where it was. */
static void prune(struct range_table *t, const struct touched_pass *pass)
{
    size_t begin = 0;
    while (t->table[begin].hash)
        begin++;
    for (size_t k = 1; k < t->slots; k++) {
        size_t i = (begin + k) % t->slots;
        struct range_slot s = t->table[i];
        if (!s.hash)
            continue;
        t->table[i].hash = 0;
        if (touched_wants(pass, s.hash))
            *range_find(t, s.hash) = s;
        else
            range_drop(t, &s);
    }
}

static int give_up_half(struct touched *t, struct err *e)
{
    if (t->pass.count < 2)
        return err_set(e, ENOMEM,
                "the tape touches too many places: their set does not fit memory in %d passes",
                TOUCHED_GROUPS);
    t->pass.count /= 2;
    prune(&t->table, &t->pass);
    size_t end = t->pass.first + t->pass.count;
    memset(&t->groups[end], 0, (TOUCHED_GROUPS - end) * sizeof *t->groups);
    return 0;
}

/* ---- touching ---- */

/* How many there are (Knuth, The Art of Computer Programming 4A, 7.1.3, (62)): processors have an instruction
 * for it, but not all that this is compiled for. */
static uint64_t bits_of(uint64_t x)
{
    const uint64_t ones = UINT64_MAX / 255;
    x -= x >> 1 & ones * 0x55;
    x = (x & ones * 0x33) + (x >> 2 & ones * 0x33);
    x = (x + (x >> 4)) & ones * 0x0f;
    return x * ones >> 56;
}

/* Of the touch's bytes, those whose unit is in `set`. */
static uint64_t part_of(const struct touch *t, uint64_t set)
{
    return bits_of(set & t->mask) << t->unit_bits;
}

static int count(struct touched *t, struct range_slot *s, const struct touch *touch, struct err *e)
{
    if (s->what >> RANGE_TOUCH_SHIFT == RANGE_TOUCHES_MAX)
        return err_set(e, EOVERFLOW, "one place of the tape is touched too often to be counted");
    struct group *g = &t->groups[touched_group(touch->hash)];
    struct range_units u = range_units_of(&t->table, s);
    uint64_t fresh = touch->mask & ~u.of[touch->write];
    g->bytes[touch->write] += touch->bytes;
    g->again[touch->write][0] += part_of(touch, u.of[0]);
    g->again[touch->write][1] += part_of(touch, u.of[1]);
    g->grown[touch->slot] += touch->bytes - part_of(touch, u.of[0] | u.of[1]);
    s->what += UINT64_C(1) << RANGE_TOUCH_SHIFT;
    u.of[touch->write] |= touch->mask;
    if (fresh)
        range_set_units(&t->table, s, &u);
    return 0;
}

/* The first touch of a range, which is one run. */
static void count_first(struct touched *t, struct range_slot *s, const struct touch *touch)
{
    struct group *g = &t->groups[touched_group(touch->hash)];
    g->bytes[touch->write] += touch->bytes;
    g->grown[touch->slot] += touch->bytes;
    s->hash = touch->hash;
    s->what = UINT64_C(1) << RANGE_TOUCH_SHIFT | range_run_of(touch->mask)
                                                         << (touch->write ? RANGE_RUN_BITS : 0);
    t->table.count++;
}

/* ---- many at once, so that all that they meet is fetched from memory together ---- */

static void fetch_slots(const struct range_table *t, const struct touch *touches, size_t n)
{
    for (size_t i = 0; i < n; i++)
        range_fetch(&t->table[range_home(t, touches[i].hash)].hash);
}

static void find_slots(
        const struct range_table *t, const struct touch *touches, size_t n, struct range_slot **at)
{
    for (size_t i = 0; i < n; i++)
        at[i] = range_find(t, touches[i].hash);
    for (size_t i = 0; i < n; i++)
        range_fetch(t->pool[range_pooled(at[i])].of);
}

static int add_some(struct touched *t, const struct touch *touches, size_t n, struct err *e)
{
    struct range_slot *at[AT_ONCE];
    int rc = 0;
    find_slots(&t->table, touches, n, at);
    for (size_t i = 0; rc == 0 && i < n;) {
        const struct touch *touch = &touches[i];
        struct range_slot *s = at[i];
        if (s->hash && s->hash != touch->hash) /* one before has taken it */
            s = range_find(&t->table, touch->hash);
        if (!touched_wants(&t->pass, touch->hash)) { /* it was given up meanwhile */
            i++;
        } else if (s->hash ? range_pool_full(&t->table) : t->table.count >= t->table.room) {
            rc = t->table.bytes < t->max_bytes ? range_table_grow(&t->table, t->max_bytes, e)
                                               : give_up_half(t, e);
            find_slots(&t->table, touches, n, at);
        } else if (!s->hash) {
            count_first(t, s, touch);
            i++;
        } else {
            rc = count(t, s, touch, e);
            i++;
        }
    }
    return rc;
}

int touched_add(struct touched *t, const struct touch *touches, size_t n, struct err *e)
{
    int rc = 0;
    fetch_slots(&t->table, touches, n < AT_ONCE ? n : AT_ONCE);
    while (rc == 0 && n) {
        size_t now = n < AT_ONCE ? n : AT_ONCE, rest = n - now;
        fetch_slots(&t->table, touches + now, rest < AT_ONCE ? rest : AT_ONCE);
        rc = add_some(t, touches, now, e);
        touches += now;
        n = rest;
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
    for (size_t i = 0; i < t->table.slots; i++) {
        const struct range_slot *s = &t->table.table[i];
        if (!s->hash)
            continue;
        uint64_t key = random_unmix(s->hash) ^ t->pass.seed;
        struct range_units u = range_units_of(&t->table, s);
        each(to, &(struct touched_range){(uint32_t)(key >> 52), key & ((UINT64_C(1) << 51) - 1), u.of[0],
                         u.of[1], s->what >> RANGE_TOUCH_SHIFT});
    }
}

/* Prepares the next pass: divides the memory, and takes as many groups as should fit, by what those took that
 * are done. */
static void plan(struct touched *t)
{
    const struct range_table *table = &t->table;
    double count = (double)table->count, pooled_each = count > 0 ? (double)table->pool_used / count : 0;
    double in_all = (count + 1) / t->pass.count * TOUCHED_GROUPS;
    double each = sizeof *table->table / RANGE_TABLE_FILL + (1.05 * pooled_each + 0.01) * sizeof *table->pool;
    t->pass.first += t->pass.count;
    uint32_t left = TOUCHED_GROUPS - t->pass.first;
    uint32_t groups = groups_for(0.95 * (double)t->max_bytes / each, in_all);
    t->pass.count = groups < left ? groups : left;
    range_table_empty(&t->table, (double)table->bytes / each);
}

bool touched_next(struct touched *t, void (*each)(void *to, const struct touched_range *r), void *to,
        struct touched_counts *counts, uint64_t grown[PROFILE_SLOTS_MAX])
{
    show_all(t, each, to);
    collect(t, counts, grown);
    plan(t);
    return t->pass.count > 0;
}
