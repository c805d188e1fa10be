/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Stable sorting of an almost sorted stream within a window of so many items. What comes in order costs
 * no comparison beyond one with its neighbour; what does not goes through a heap.
 */
#ifndef IOTAPE_SORTER_H
#define IOTAPE_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

struct sorter;

/* The times of one trace span less (292 years), and a latency is shorter: so the end of an I/O, counted from
 * the trace's begin, never exceeds 64 bits. */
#define SORTER_SPAN_NS (UINT64_C(1) << 63)

/* Items are `item_bytes` long; at most `window`, rounded up to a power of two, are held.
 */
int sorter_open(struct sorter **s, size_t item_bytes, size_t window, struct err *e);

/* Times count from the trace's begin, not from an epoch: the span begins with 0, not with the earliest item.
 */
void sorter_from_zero(struct sorter *s);

void sorter_close(struct sorter *s); /* NULL is allowed */

bool sorter_full(const struct sorter *s);

/* Memory for the next item, so that it can be made where it will be kept: NULL where memory is out. There
 * must be room. What sorter_pop gave is no longer valid. */
void *sorter_slot(struct sorter *s);

/* Takes an item in, by copying it if it is not in sorter_slot's memory; there must be room. -EBADMSG, with a
 * text that tells the option, where it belongs before one that has left already, or the span would be
 * SORTER_SPAN_NS or more; -ENOMEM. */
int sorter_push(struct sorter *s, uint64_t t_ns, const void *item, struct err *e);

/* Takes the earliest item out (of equal times, the first that came): the caller's until the next sorter_slot
 * or sorter_push. NULL where none is left. */
void *sorter_pop(struct sorter *s);

/* The time of the one that sorter_pop would take; false where none is left. */
bool sorter_earliest(const struct sorter *s, uint64_t *t_ns);

/* How many items came after one of a later time. */
uint64_t sorter_disorder(const struct sorter *s);

#endif
