/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inside of net_part.c: the conversations that are open at a place in the tape, by their numbers there.
 */
#ifndef IOTAPE_NET_PART_TALKS_H
#define IOTAPE_NET_PART_TALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/net.h"

/* A conversation of the part that is open. */
struct talk {
    struct talk *next;
    struct net_conversation of;
    uint64_t connect_event;
    uint32_t source, number; /* in the tape, in the part */
    bool carried;            /* it was open at from_ns */
    bool left;               /* it has ended for its client */
    bool fin[NET_SIDES], spoke[NET_SIDES];
    uint64_t before[NET_SIDES]; /* of a carried one: bytes (of UDP: datagrams) until from_ns */
};

struct talks {
    struct talk **bucket;
    size_t buckets, open;
};

/* -ENOMEM. */
int talks_init(struct talks *l, struct err *e);
void talks_release(struct talks *l); /* also of one of zeros */

/* Where the pointer to it is: to NULL where there is none. */
struct talk **talks_find(const struct talks *l, uint32_t source);

/* A new one, owned by the table. -ENOMEM. */
int talks_add(struct talks *l, uint32_t source, const struct net_conversation *of, uint64_t event,
        struct talk **made, struct err *e);

/* Takes the one off that talks_find has found. */
void talks_drop(struct talks *l, struct talk **at);

#endif
