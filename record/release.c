/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/release.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"

#define DIGIT_BITS 11
#define DIGITS     (1 << DIGIT_BITS)
#define FIRST_ROOM 262144 /* more than a busy second; what is not used takes no memory */

struct key {
    uint64_t t_ns;
    uint64_t place; /* in `waiting` */
};

struct release {
    struct captured *waiting;
    struct key *keys, *spare; /* as many as `room` */
    size_t count, room, max;
    uint64_t watermark_ns;
};

int release_open(struct release **r, struct err *e)
{
    *r = calloc(1, sizeof **r);
    if (!*r)
        return err_sys(e, ENOMEM, "cannot begin to record");
    (*r)->max = SIZE_MAX;
    return 0;
}

void release_limit(struct release *r, size_t max)
{
    r->max = max;
}

void release_close(struct release *r)
{
    if (!r)
        return;
    free(r->waiting);
    free(r->keys);
    free(r->spare);
    free(r);
}

static int grow(void **array, size_t count, size_t size)
{
    void *larger = reallocarray(*array, count, size);
    if (!larger)
        return -ENOMEM;
    *array = larger;
    return 0;
}

static int make_room(struct release *r, struct err *e)
{
    if (r->count < r->room)
        return 0;
    size_t room = r->room ? r->room + r->room / 2 : FIRST_ROOM;
    room = room < r->max ? room : r->max;
    if (grow((void **)&r->waiting, room, sizeof *r->waiting) ||
            grow((void **)&r->keys, room, sizeof *r->keys) ||
            grow((void **)&r->spare, room, sizeof *r->spare))
        return err_sys(e, ENOMEM, "cannot hold %zu I/Os", room);
    r->room = room;
    return 0;
}

int release_put(struct release *r, const struct captured *c, struct err *e)
{
    if (c->r.t_ns < r->watermark_ns || r->count >= r->max)
        return 0;
    int status = make_room(r, e);
    if (status < 0)
        return status;
    r->waiting[r->count++] = *c;
    return 1;
}

/* One pass of a stable radix sort; true where it moved anything. */
static bool sort_digit(struct key *to, const struct key *from, size_t n, uint64_t base, unsigned shift)
{
    size_t starts[DIGITS] = {0};
    for (size_t i = 0; i < n; i++)
        starts[(from[i].t_ns - base) >> shift & (DIGITS - 1)]++;
    if (starts[(from[0].t_ns - base) >> shift & (DIGITS - 1)] == n)
        return false;
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[starts[(from[i].t_ns - base) >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/* Sorts r->keys by time. They span seconds, not years, so that few digits differ. */
static void sort_keys(struct release *r, size_t n, uint64_t first_ns, uint64_t last_ns)
{
    for (unsigned shift = 0; shift < 64 && (last_ns - first_ns) >> shift; shift += DIGIT_BITS)
        if (sort_digit(r->spare, r->keys, n, first_ns, shift)) {
            struct key *sorted = r->spare;
            r->spare = r->keys;
            r->keys = sorted;
        }
}

int release_until(struct release *r, uint64_t watermark_ns, const struct source_sink *out, struct err *e)
{
    if (watermark_ns <= r->watermark_ns)
        return 0;
    r->watermark_ns = watermark_ns;
    size_t n = 0;
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    for (size_t i = 0; i < r->count; i++) {
        uint64_t t_ns = r->waiting[i].r.t_ns;
        if (t_ns >= watermark_ns)
            continue;
        r->keys[n++] = (struct key){t_ns, i};
        first_ns = t_ns < first_ns ? t_ns : first_ns;
        last_ns = t_ns > last_ns ? t_ns : last_ns;
    }
    if (n == 0)
        return 0;
    sort_keys(r, n, first_ns, last_ns);
    for (size_t i = 0; i < n; i++) {
        int status = out->take(out->self, &r->waiting[r->keys[i].place], e);
        if (status < 0)
            return status;
    }
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->waiting[i].r.t_ns >= watermark_ns)
            r->waiting[kept++] = r->waiting[i];
    r->count = kept;
    return 0;
}

size_t release_waiting(const struct release *r)
{
    return r->count;
}
