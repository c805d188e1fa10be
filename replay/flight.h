/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The I/Os in flight: slots, their buffers and data, and the queues of all kinds of target that a replay
 * uses.
 */
#ifndef IOTAPE_FLIGHT_H
#define IOTAPE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/content.h"
#include "replay/target.h"
#include "replay/work.h"

#define FLIGHT_BATCH 64 /* I/Os handed to the system at once, at most */

/* One I/O of a block of work. `io` comes first. */
struct flight_io {
    struct target_io io;
    struct work *work;
    uint32_t index;
    uint8_t lane;
    bool touched; /* its issue time is set */
    bool active;  /* put and not yet dropped */
    bool put_off; /* it was due before, and a limit or the target made it wait */
};

struct flight;

/* `depth` I/Os at most. `target` has one entry for each stream; entries may repeat. */
int flight_open(
        struct flight **f, unsigned depth, struct target *const *target, size_t targets, struct err *e);
void flight_close(struct flight *f); /* NULL is allowed; nothing may be in flight */

bool flight_room(const struct flight *f);        /* a slot is free */
unsigned flight_count(const struct flight *f);   /* submitted and not reaped */
unsigned flight_waiting(const struct flight *f); /* put and not yet submitted */

/* Takes a slot for record `i` of `w` and makes its data, if it needs any. NULL where buffers are exhausted.
 * Needs room. */
struct flight_io *flight_prepare(
        struct flight *f, struct work *w, uint32_t i, const struct content_write *by);
/* Gives an unused or a reaped one back. */
void flight_drop(struct flight *f, struct flight_io *fio);

/* Queues it up for the next flight_submit. At most FLIGHT_BATCH may wait. */
void flight_put(struct flight *f, struct flight_io *fio);

/* Whether record `i` of `w` overlaps one that was put and not yet dropped, and one of the two is no read. */
bool flight_overlaps(const struct flight *f, const struct work *w, uint32_t i);

/* Hands over what waits, with issue times of `now` since `start_ns`; what the system does not take yet stays
 * waiting. Returns how many were left waiting, or -errno. */
int flight_submit(struct flight *f, uint64_t now_ns, uint64_t start_ns, bool scheduled_now, struct err *e);

/* Collects completions, waiting for the first until timeout_ns have passed (0: looks). Each must be given
 * back with flight_drop. */
int flight_reap(struct flight *f, struct flight_io **done, unsigned max, uint64_t timeout_ns, struct err *e);

#endif
