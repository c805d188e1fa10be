/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The completions that lie ahead, soonest first: a few in order, which is all that most workloads ever have,
 * and of those behind a binary heap of at most FLIGHT_MAX. Where more are in flight, the later ones are given
 * up, and those that follow them: they are wanted in a later pass.
 */
#ifndef IOTAPE_PROFILE_FLIGHT_H
#define IOTAPE_PROFILE_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"

/* 4 MiB. More than twice the streams that a tape can have, so that of a full heap, equal entries put
 * together, the sooner half always ends before the later one. */
#define FLIGHT_MAX  262144

#define FLIGHT_NEAR 64

struct flight_io {
    uint64_t end_ns;
    uint32_t stream, count; /* that many at once */
};

/* Zero-initialised is empty and valid, but for horizon_ns, which begins with UINT64_MAX. */
struct flight {
    struct flight_io near[FLIGHT_NEAR]; /* the soonest last; none only where the heap has none */
    size_t near_count;
    struct flight_io *heap; /* none ends before any of those; the soonest at [0]; owned */
    size_t count, room;
    uint64_t horizon_ns; /* nothing that ends here or later is held */
};

/* Whether any ends at `t_ns` or before. */
static inline bool flight_due(const struct flight *f, uint64_t t_ns)
{
    return f->near_count && f->near[f->near_count - 1].end_ns <= t_ns;
}

void flight_release(struct flight *f);
/* Forgets all, and begins with no horizon. */
void flight_reset(struct flight *f);
/* -ENOMEM. It must end after all that were popped. */
int flight_push(struct flight *f, struct flight_io io, struct err *e);
/* Takes away the soonest, of at least one. */
struct flight_io flight_pop(struct flight *f);

#endif
