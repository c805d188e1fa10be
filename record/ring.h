/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The reading end of a ring that the programs of source/block.bpf.c write (block_event.h).
 */
#ifndef IOTAPE_RING_H
#define IOTAPE_RING_H

#include <linux/types.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "record/source/block_event.h"

struct ring {
    const struct block_event *events; /* shared with the kernel, read only */
    struct block_ends *ends;          /* likewise; `tail` is ours */
    uint64_t size;                    /* events, a power of two */
};

/* Called for each event. A negative result ends ring_drain. */
typedef int ring_take(void *self, const struct block_event *event, struct err *e);

/* Reads what was sent before the call: 1 where that was all of it, 0 where an event is still being written,
 * or what `take` returned below 0. */
int ring_drain(struct ring *r, ring_take *take, void *self, struct err *e);

#endif
