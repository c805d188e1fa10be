/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Deadlines of conversations: a binary heap, the earliest on top (Knuth, TAOCP 5.2.3). An element knows its
 * place, so that it can be taken out.
 */
#ifndef IOTAPE_PEER_TIMERS_H
#define IOTAPE_PEER_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

/* To be embedded. Zero-initialised is not in a heap. */
struct timer {
    uint64_t due_ns;
    size_t place; /* from 1; 0: in no heap */
};

struct timers {
    struct timer **heap; /* from 1 */
    size_t count, room;
};

/* Adds it, or moves it to another time. -ENOMEM. */
int timers_set(struct timers *t, struct timer *timer, uint64_t due_ns, struct err *e);
/* Takes it out; nothing happens where it is not in. */
void timers_clear(struct timers *t, struct timer *timer);
/* The earliest, or NULL. */
static inline struct timer *timers_first(const struct timers *t)
{
    return t->count ? t->heap[1] : NULL;
}
void timers_release(struct timers *t);

#endif
