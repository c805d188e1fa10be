/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyze/profile/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void flight_release(struct flight *f)
{
    free(f->heap);
    *f = (struct flight){.horizon_ns = UINT64_MAX};
}

void flight_reset(struct flight *f)
{
    f->near_count = f->count = 0;
    f->horizon_ns = UINT64_MAX;
}

static int by_end(const void *a, const void *b)
{
    const struct flight_io *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

/* Sorts, which leaves a heap, and puts equal entries together. */
static void merge(struct flight *f)
{
    size_t kept = 0;
    qsort(f->heap, f->count, sizeof *f->heap, by_end);
    for (size_t i = 0; i < f->count; i++) {
        if (kept && by_end(&f->heap[kept - 1], &f->heap[i]) == 0)
            f->heap[kept - 1].count += f->heap[i].count;
        else
            f->heap[kept++] = f->heap[i];
    }
    f->count = kept;
}

/* Makes room for at least half as many as fit. */
static void shrink(struct flight *f)
{
    merge(f);
    if (f->count <= FLIGHT_MAX / 2)
        return;
    f->horizon_ns = f->heap[f->count / 2].end_ns;
    f->count /= 2;
    while (f->count && f->heap[f->count - 1].end_ns >= f->horizon_ns)
        f->count--;
}

/* ---- the heap ---- */

static int heap_push(struct flight *f, struct flight_io io, struct err *e)
{
    if (f->count == FLIGHT_MAX)
        shrink(f);
    if (io.end_ns >= f->horizon_ns)
        return 0;
    if (f->count == f->room) {
        size_t room = f->room ? f->room * 2 : 64;
        struct flight_io *more = realloc(f->heap, room * sizeof *more);
        if (!more)
            return err_sys(e, ENOMEM, "cannot follow the I/Os in flight");
        f->heap = more;
        f->room = room;
    }
    size_t i = f->count++;
    for (size_t up; i > 0 && f->heap[up = (i - 1) / 2].end_ns > io.end_ns; i = up)
        f->heap[i] = f->heap[up];
    f->heap[i] = io;
    return 0;
}

/* The hole at the top moves to the bottom, and the last one up from there: which child is the sooner is the
 * only thing to be compared on the way, without a branch. */
static struct flight_io heap_pop(struct flight *f)
{
    struct flight_io soonest = f->heap[0], last = f->heap[--f->count];
    size_t i = 0, down;
    while ((down = 2 * i + 2) < f->count) {
        down -= f->heap[down - 1].end_ns < f->heap[down].end_ns;
        f->heap[i] = f->heap[down];
        i = down;
    }
    if (down - 1 < f->count) {
        f->heap[i] = f->heap[down - 1];
        i = down - 1;
    }
    for (size_t up; i > 0 && f->heap[up = (i - 1) / 2].end_ns > last.end_ns; i = up)
        f->heap[i] = f->heap[up];
    f->heap[i] = last;
    return soonest;
}

/* ---- those in order ---- */

static void near_insert(struct flight *f, struct flight_io io)
{
    size_t i = f->near_count++;
    for (; i > 0 && f->near[i - 1].end_ns < io.end_ns; i--)
        f->near[i] = f->near[i - 1];
    f->near[i] = io;
}

/* The later half goes to the heap. */
static int near_spill(struct flight *f, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < FLIGHT_NEAR / 2; i++)
        rc = heap_push(f, f->near[i], e);
    f->near_count = FLIGHT_NEAR / 2;
    memcpy(f->near, f->near + FLIGHT_NEAR / 2, sizeof f->near / 2);
    return rc;
}

int flight_push(struct flight *f, struct flight_io io, struct err *e)
{
    if (io.end_ns >= f->horizon_ns)
        return 0;
    int rc = f->near_count == FLIGHT_NEAR ? near_spill(f, e) : 0;
    if (rc == 0 && f->count && io.end_ns >= f->heap[0].end_ns)
        return heap_push(f, io, e);
    near_insert(f, io);
    return rc;
}

struct flight_io flight_pop(struct flight *f)
{
    struct flight_io soonest = f->near[--f->near_count];
    if (f->near_count == 0 && f->count) {
        size_t n = f->count < FLIGHT_NEAR / 2 ? f->count : FLIGHT_NEAR / 2;
        f->near_count = n;
        while (n)
            f->near[--n] = heap_pop(f);
    }
    return soonest;
}
