/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A part of a tape's conversations, as a tape of its own would have it: what --from, --for and --only leave.
 *
 *   - A conversation that is open at `from_ns` is one that began before (NET_BEGAN_BEFORE), with a connect at
 * 0; a side of it that had ended already ends at 0 again. One that has ended by then is left out.
 *   - What comes at `until_ns` or later is left out, and what is open then is cut there.
 *   - Watermarks count from the part's begin on, and no conversations that are left out. A wait for what came
 *     before is a think time that begins with the part.
 *
 * Every conversation ends, also those of an unfinished tape: they are cut at its last event.
 */
#ifndef IOTAPE_NET_PART_H
#define IOTAPE_NET_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/tape.h"

struct net_part_options {
    uint64_t from_ns, until_ns; /* UINT64_MAX: to the end */
    const bool *streams;        /* which interfaces are taken, by number; NULL: all. Must outlive the part */
};

struct net_part_event {
    struct net_event ev;          /* with the part's times, numbers and watermarks */
    struct net_conversation of;   /* of a connect */
    uint64_t source_event;        /* its number in the tape; of a cut that was made up, the connect's */
    uint32_t source_conversation; /* the same */
};

struct net_part;

/* Reads the tape from its first event on up to `from_ns`; it is used until net_part_close. */
int net_part_open(
        struct net_part **p, const struct net_part_options *o, struct tape_reader *tape, struct err *e);
void net_part_close(struct net_part *p); /* NULL is allowed */

/* The next event: 1, 0 at the end, -errno. */
int net_part_next(struct net_part *p, struct net_part_event *out, struct err *e);

#endif
