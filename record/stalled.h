/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The I/Os that have been open for long. An open I/O holds back all that arrived after it; one that is
 * open for too long goes into the tape without its latency, and gets it when it ends.
 *
 * An I/O is first noted, by one look at the open I/Os, and counts as stalled only where a later look still
 * finds it: the one look may have come between its completion's event and its leaving the map.
 */
#ifndef IOTAPE_STALLED_H
#define IOTAPE_STALLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "record/outlet.h"
#include "record/source.h"

enum stall_state {
    STALL_NOTED,
    STALL_WAITING /* put to be written */,
    STALL_WRITTEN,
    STALL_EARLIER /* written to a tape that is finished */
};

struct stall {
    struct captured io;
    struct written written; /* in the tape, where STALL_WRITTEN; owned */
    uint32_t look;          /* the last look that found it */
    uint8_t state;          /* enum stall_state */
    bool used;
};

/* A hash table with open addressing. Zero-initialised is empty. */
struct stalled {
    struct stall *slots;
    size_t room, count;
};

/* The entry of this I/O, or NULL. Valid until the next stalled_note or stalled_drop. */
struct stall *stalled_find(const struct stalled *t, const struct captured *c);

/* Adds an I/O that is not there. NULL: no memory. */
struct stall *stalled_note(struct stalled *t, const struct captured *c);

/* Removes an entry. */
void stalled_drop(struct stalled *t, struct stall *s);

void stalled_release(struct stalled *t);

#endif
