/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What of the latencies that a replay measures is its own: system calls, wake-ups, the time until it looks.
 *
 * A tape's latencies and think times meet in the block layer: a think time holds all that the recorded
 * program needed from there and back again. A replay that began to think when it learns of a completion would
 * count its own way twice. For block devices the kernel keeps the time that I/Os took there
 * (Documentation/admin-guide/iostats.rst, fields 1, 4, 5 and 8), so that the mean way is what the replay
 * measured less that. A count that differs from the replay's (other programs' I/O, I/Os that were split,
 * statistics switched off) says that this cannot be known.
 */
#ifndef IOTAPE_OWN_H
#define IOTAPE_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/target.h"

struct own;

/* Begins with what the devices of `targets` (one for each stream; may repeat) have counted so far: nothing
 * may be in flight. Measures what a wake-up takes, some milliseconds. */
int own_open(struct own **o, struct target *const *target, size_t targets, struct err *e);
void own_close(struct own *o); /* NULL is allowed */

/* The completions that are told of next were waited for asleep, for slept_ns; 0: awake. */
void own_slept(struct own *o, uint64_t slept_ns);

/* A whole read or write of the stream completed after latency_ns. */
void own_completed(struct own *o, uint32_t stream, uint64_t latency_ns);

/* Looks at the devices' counts where it is time to. */
void own_look(struct own *o, uint64_t now_ns);

/* What of the latency of a completion that is told of now is own, in ns: the mean of the stream's I/O so far
 * where that is known, else the wake-up. */
uint64_t own_time_ns(const struct own *o, uint32_t stream);

/* The part of the measured latencies that is own, 0 to below 1; 0 where it is not known. */
double own_share(const struct own *o);

#endif
