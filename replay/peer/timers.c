/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/timers.h"

#include <errno.h>
#include <stdlib.h>

static void put(struct timers *t, size_t place, struct timer *timer)
{
    t->heap[place] = timer;
    timer->place = place;
}

static void rise(struct timers *t, struct timer *timer)
{
    size_t at = timer->place;
    for (; at > 1 && t->heap[at / 2]->due_ns > timer->due_ns; at /= 2)
        put(t, at, t->heap[at / 2]);
    put(t, at, timer);
}

static void sink(struct timers *t, struct timer *timer)
{
    size_t at = timer->place;
    for (;;) {
        size_t child = at * 2;
        if (child > t->count)
            break;
        if (child < t->count && t->heap[child + 1]->due_ns < t->heap[child]->due_ns)
            child++;
        if (t->heap[child]->due_ns >= timer->due_ns)
            break;
        put(t, at, t->heap[child]);
        at = child;
    }
    put(t, at, timer);
}

int timers_set(struct timers *t, struct timer *timer, uint64_t due_ns, struct err *e)
{
    if (!timer->place) {
        if (t->count + 1 >= t->room) {
            size_t room = t->room ? t->room * 2 : 64;
            struct timer **heap = realloc(t->heap, room * sizeof(struct timer *));
            if (!heap)
                return err_sys(e, ENOMEM, "cannot hold deadlines");
            t->heap = heap;
            t->room = room;
        }
        put(t, ++t->count, timer);
    }
    timer->due_ns = due_ns;
    rise(t, timer);
    sink(t, timer);
    return 0;
}

void timers_clear(struct timers *t, struct timer *timer)
{
    size_t at = timer->place;
    if (!at)
        return;
    struct timer *last = t->heap[t->count--];
    timer->place = 0;
    if (last == timer)
        return;
    put(t, at, last);
    rise(t, last);
    sink(t, last);
}

void timers_release(struct timers *t)
{
    free(t->heap);
    *t = (struct timers){0};
}
