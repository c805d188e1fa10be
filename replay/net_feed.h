/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Events of conversations as a part of a tape has them, with what a replay adds: tokens.
 */
#ifndef IOTAPE_NET_FEED_H
#define IOTAPE_NET_FEED_H

#include "formats/base/err.h"
#include "formats/tape.h"
#include "replay/peer/events.h"

struct net_feed;

/* The part of the tape from `from_ns` until before `until_ns` (net_part.h). The tape is used until
 * net_feed_close. */
int net_feed_open(
        struct net_feed **f, struct tape_reader *tape, uint64_t from_ns, uint64_t until_ns, struct err *e);
void net_feed_close(struct net_feed *f); /* NULL is allowed */

/* The next events, at most `max`, in *list, which has room. How many; 0 at the end; -errno, -ENODATA where
 * there are none at all. */
int net_feed_next(struct net_feed *f, struct peer_event *list, uint32_t max, struct err *e);

uint64_t net_feed_events(const struct net_feed *f); /* so far */

#endif
