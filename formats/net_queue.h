/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Events on their way to a tape. They are queued in the order of their times; a send is queued when its first
 * byte is seen and stays open while it grows, and what is behind it waits. No send stays open for longer
 * than NET_SEND_SPAN_NS and a pause, so what waits is what came in that time: 72 bytes for each event.
 */
#ifndef IOTAPE_NET_QUEUE_H
#define IOTAPE_NET_QUEUE_H

#include <stddef.h>

#include "formats/tape.h"

/* Number of an event in the queue, never used again. */
typedef uint64_t net_place;
#define NET_NO_PLACE UINT64_MAX

struct net_queue {
    struct net_queued {
        struct net_event event;
        bool open;
    } * ring;
    size_t room, count;
    net_place first;                /* number of the oldest */
    struct net_conversation *begun; /* those of connects in the queue: a ring as well */
    size_t begun_room, begun_count;
    uint32_t begun_first;
};

void net_queue_release(struct net_queue *q);

/* Appends an event (of a connect: with its conversation); its place in *place (may be NULL). */
int net_queue_add(struct net_queue *q, const struct net_event *ev, const struct net_conversation *c,
        bool open, net_place *place, struct err *e);

/* An event that is still open; NULL where it is not. */
struct net_event *net_queue_at(struct net_queue *q, net_place place);

/* Nothing will be added to it any more. */
void net_queue_close(struct net_queue *q, net_place place);

/* Closes sends that began before `until_ns`, and writes what no open one holds back. */
int net_queue_flush(struct net_queue *q, uint64_t until_ns, struct tape_writer *w, struct err *e);

#endif
