/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/hottest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW 65536

int hottest_init(struct hottest *h, struct err *e)
{
    *h = (struct hottest){.few = calloc(FEW, sizeof *h->few)};
    return h->few ? 0 : err_sys(e, ENOMEM, "cannot profile the tape");
}

void hottest_release(struct hottest *h)
{
    free(h->few);
    free(h->many);
    *h = (struct hottest){0};
}

static int by_place(const void *a, const void *b)
{
    const struct profile_hot *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

/* The most touched first; of equally touched ones the first by place. */
static int by_heat(const void *a, const void *b)
{
    const struct profile_hot *x = a, *y = b;
    if (x->touches != y->touches)
        return x->touches > y->touches ? -1 : 1;
    return by_place(a, b);
}

static void find_coolest(struct hottest *h)
{
    h->coolest = 0;
    for (size_t i = 1; i < h->count; i++)
        if (by_heat(&h->list[i], &h->list[h->coolest]) > 0)
            h->coolest = i;
}

static int add_many(struct hottest *h, uint64_t touches)
{
    if (h->many_count == h->many_room) {
        size_t room = h->many_room ? h->many_room * 2 : 64;
        uint64_t *more = realloc(h->many, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        h->many = more;
        h->many_room = room;
    }
    h->many[h->many_count++] = touches;
    return 0;
}

int hottest_add(struct hottest *h, const struct profile_hot *range)
{
    if (h->count < HOTTEST_RANGES) {
        h->list[h->count++] = *range;
        if (h->count == HOTTEST_RANGES)
            find_coolest(h);
    } else if (by_heat(range, &h->list[h->coolest]) < 0) {
        h->list[h->coolest] = *range;
        find_coolest(h);
    }
    if (range->touches >= FEW)
        return add_many(h, range->touches);
    h->few[range->touches]++;
    return 0;
}

/* ---- at the end ---- */

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Touches of the `ranges` most touched ones. */
static uint64_t touches_of(const struct hottest *h, uint64_t ranges)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < h->many_count && ranges; i++, ranges--)
        sum += h->many[i];
    for (uint64_t k = FEW - 1; k && ranges; k--) {
        uint64_t n = h->few[k] < ranges ? h->few[k] : ranges;
        sum += n * k;
        ranges -= n;
    }
    return sum;
}

static void shares(struct hottest *h, struct profile_working_set *w)
{
    size_t i = 0;
    if (h->many_count)
        qsort(h->many, h->many_count, sizeof *h->many, descending);
    w->ranges = h->many_count;
    for (uint64_t k = 1; k < FEW; k++)
        w->ranges += h->few[k];
    w->touches = touches_of(h, w->ranges);
#define SHARE(percent)                                                                                       \
    w->share_touches[i++] = touches_of(h, w->ranges / 100 * percent + (w->ranges % 100 * percent + 99) / 100);
    PROFILE_SHARES(SHARE)
#undef SHARE
}

/* Joins neighbours; the list is in order of place. */
static void join(struct hottest *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++) {
        struct profile_hot *last = kept ? &h->list[kept - 1] : NULL, *next = &h->list[i];
        if (last && last->stream == next->stream &&
                next->offset_bytes - last->offset_bytes == last->len_bytes) {
            last->len_bytes += next->len_bytes;
            last->touches += next->touches;
        } else {
            h->list[kept++] = *next;
        }
    }
    h->count = kept;
}

void hottest_finish(struct hottest *h, struct profile_working_set *w)
{
    shares(h, w);
    qsort(h->list, h->count, sizeof *h->list, by_place);
    join(h);
    qsort(h->list, h->count, sizeof *h->list, by_heat);
    w->hot_count = h->count < PROFILE_HOT ? h->count : PROFILE_HOT;
    memcpy(w->hot, h->list, w->hot_count * sizeof *w->hot);
}
