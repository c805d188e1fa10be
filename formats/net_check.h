/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The rules of net.h, kept by whoever writes a tape and checked by whoever reads one, event by event. Memory
 * is bounded by NET_OPEN_MAX conversations that are open at once (48 bytes each, twice) and 8 bytes a host.
 */
#ifndef IOTAPE_NET_CHECK_H
#define IOTAPE_NET_CHECK_H

#include "formats/tape.h"

struct net_check;

int net_check_open(struct net_check **k, struct err *e);
void net_check_close(struct net_check *k); /* NULL is allowed */

/* Checks the next event (`c`: the conversation of a connect, else NULL) and counts it in `t`: in its `net`,
 * in its identity, in its streams, of which stream_count are known. t->net.conversations is the number that a
 * connect must bear. That a stream is an interface is the caller's business. -EINVAL with a text that says
 * which rule it breaks, -ENOMEM; then nothing has changed. */
int net_check_event(struct net_check *k, const struct net_event *ev, const struct net_conversation *c,
        size_t host_count, struct tape_totals *t, struct err *e);

/* Conversations that have not ended. */
size_t net_check_open_count(const struct net_check *k);

#endif
