/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The consumer's end of an eBPF ring buffer (Linux: kernel/bpf/ringbuf.c). libbpf has one, too; this one
 * says whether everything that had been sent was read, which the order of a tape depends on, and maps
 * the buffer once, not twice, which halves what it costs in memory.
 */
#ifndef IOTAPE_RING_H
#define IOTAPE_RING_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

struct ring {
    uint64_t *consumer;      /* mapped, one page */
    const uint8_t *producer; /* mapped: one page with the position, then the data */
    size_t size_bytes;       /* of the data, a power of two */
    size_t page_bytes;
};

/* Called for each event. A negative result ends ring_drain. */
typedef int ring_take(void *self, const void *event, size_t len_bytes, struct err *e);

/* `fd` is the map's, `size_bytes` its max_entries; events' lengths plus 8 must divide it. Zeroed is closed.
 */
int ring_open(struct ring *r, int fd, size_t size_bytes, struct err *e);
void ring_close(struct ring *r);

/* Reads what was sent before the call: 1 where that was all of it, 0 where an event is still being written,
 * or what `take` returned below 0. */
int ring_drain(struct ring *r, ring_take *take, void *self, struct err *e);

#endif
