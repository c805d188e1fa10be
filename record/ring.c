/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/ring.h"

#define ROOM_EVERY 4096 /* events after which the room they took is given back */
#define AHEAD      8    /* events that are fetched ahead: they come from another CPU's cache */

int ring_drain(struct ring *r, ring_take *take, void *self, struct err *e)
{
    uint64_t at = r->ends->tail, end = __atomic_load_n(&r->ends->head, __ATOMIC_ACQUIRE);
    int status = 1;
    while (at != end && status > 0) {
        const struct block_event *event = &r->events[at & (r->size - 1)];
        __builtin_prefetch(&r->events[(at + AHEAD) & (r->size - 1)]);
        if (__atomic_load_n(&event->turn, __ATOMIC_ACQUIRE) != at + 1) {
            status = 0; /* its program has the place, but has not filled it yet */
            break;
        }
        int taken = take(self, event, e);
        if (taken < 0)
            status = taken;
        if (++at % ROOM_EVERY == 0)
            __atomic_store_n(&r->ends->tail, at, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&r->ends->tail, at, __ATOMIC_RELEASE);
    return status;
}
