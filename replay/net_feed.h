/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Events of conversations as a tape has them, with all that a replay adds: tokens, and an end for each
 * conversation whose end the tape lacks.
 */
#ifndef IOTAPE_NET_FEED_H
#define IOTAPE_NET_FEED_H

#include "formats/base/err.h"
#include "formats/tape.h"
#include "replay/peer/events.h"

struct net_feed;

/* From the tape's first event on. The tape is used until net_feed_close. */
int net_feed_open(struct net_feed **f, struct tape_reader *tape, struct err *e);
void net_feed_close(struct net_feed *f); /* NULL is allowed */

/* The next events, at most `max`, in *list, which has room. How many; 0 at the end; -errno. */
int net_feed_next(struct net_feed *f, struct peer_event *list, uint32_t max, struct err *e);

uint64_t net_feed_events(const struct net_feed *f); /* so far */

#endif
