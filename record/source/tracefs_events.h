/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The kernel's `block` events in a tracing instance of our own, by libtracefs and libtraceevent: raw pages of
 * all CPUs, as events of a block trace.
 */
#ifndef IOTAPE_TRACEFS_EVENTS_H
#define IOTAPE_TRACEFS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/import/blktrace_read.h"

struct block_events;

/* Where events go; `comm` (16 bytes) is set for BT_QUEUE, else NULL. In the order of each CPU. A negative
 * result ends block_events_read. */
typedef int block_event_take(void *self, const struct bt_event *ev, const char *comm, struct err *e);

/* Makes the instance and enables the events, with times of CLOCK_MONOTONIC. */
int block_events_open(struct block_events **b, struct err *e);

/* Takes all that was written before the call. */
int block_events_read(struct block_events *b, block_event_take *take, void *self, struct err *e);

/* From now on no new I/O is told. */
void block_events_stop_queue(struct block_events *b);

/* Events that were overwritten or dropped, so far. */
uint64_t block_events_lost(const struct block_events *b);

/* Removes the instance. NULL is allowed. */
void block_events_close(struct block_events *b);

#endif
