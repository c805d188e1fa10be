/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The conversations that a capture is in the middle of, found by their addresses and ports. Memory is
 * bounded: NET_OPEN_MAX of them, of less than 1 KiB each; the caller makes room by ending the one that was
 * idle longest.
 */
#ifndef IOTAPE_NET_FLOWS_H
#define IOTAPE_NET_FLOWS_H

#include <stddef.h>

#include "formats/net.h"
#include "formats/net_packet.h"
#include "formats/net_queue.h"
#include "formats/net_seq.h"

#define NET_BUCKETS_KEPT 4

/* Sums of bytes before and after each send was rounded (--size-bucket), the latest ones. */
struct net_rounding {
    uint64_t raw[NET_BUCKETS_KEPT], rounded[NET_BUCKETS_KEPT];
    unsigned count;
};

/* What is known of one side of a conversation. */
struct net_side_state {
    struct net_seq seq;          /* TCP */
    uint64_t datagrams;          /* UDP: sent */
    uint64_t datagram_ns;        /* the latest */
    net_place send;              /* that it is in the middle of, or NET_NO_PLACE */
    uint64_t send_ns;            /* when that began */
    uint64_t own_ns;             /* when it last did anything: sent, connected, accepted */
    uint64_t waited;             /* watermark of its latest send */
    uint64_t told;               /* the same as it stands in the tape (rounded) */
    uint64_t freed_ns;           /* when an ACK or a window last let it go on; 0: never */
    uint64_t round_trip_ns;      /* from the place of capture to this side and back; 0: not known */
    uint64_t probe_to, probe_ns; /* its acknowledgement of this is awaited, since; 0: of none */
    uint64_t print, print_ns;    /* of its latest packet: to know a copy */
    struct net_rounding rounding;
    bool zero_window;
};

struct net_flow {
    struct net_address address[2]; /* of initiator, of responder, as all that follows */
    uint16_t port[2];
    uint32_t stream, number;
    uint32_t syn[2]; /* sequence numbers of SYN and SYN-ACK */
    uint8_t udp;
    bool syn_seen[2], syn_again;
    bool established, began_before;
    bool ended; /* kept for a while, so that what still comes of it makes no new one */
    bool left;  /* it has ended for its client */
    uint64_t last_ns;
    struct net_side_state sides[NET_SIDES];
    uint32_t chain, older, newer; /* links of the table */
};

struct net_flows {
    struct net_flow *list;
    uint32_t *buckets;
    size_t room, count; /* room: a power of two, also the number of buckets */
    uint32_t free, oldest, newest;
    uint64_t key; /* who sends packets shall not choose their buckets */
};
#define NET_NO_FLOW UINT32_MAX

void net_flows_release(struct net_flows *t);

/* The flow of a packet and the side that sent it; NULL: none. */
struct net_flow *net_flows_find(struct net_flows *t, const struct net_packet *p, enum net_side *side);

/* A new one, which has begun with `p`, of which `side` is the sender's. There must be fewer than
 * NET_OPEN_MAX. Other pointers to flows become invalid. */
int net_flows_add(struct net_flows *t, const struct net_packet *p, enum net_side side, struct net_flow **f,
        struct err *e);

/* Something came: it is the youngest now. */
void net_flows_touch(struct net_flows *t, struct net_flow *f, uint64_t t_ns);

/* The one that was idle longest; NULL: none. */
struct net_flow *net_flows_oldest(struct net_flows *t);

void net_flows_drop(struct net_flows *t, struct net_flow *f);

#endif
