/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The bytes that one side of a TCP connection has sent, told by sequence numbers alone (RFC 9293, 3.4): 32
 * bits on the wire, unwrapped to 64 here. A stack sends in order, so whatever lies below the highest byte
 * seen has been sent: a hole is a packet that was reordered, or lost before the place of capture, or missed
 * by the capture. Its bytes count at once, and when they come after all, they are no new ones.
 *
 * No byte is kept: only NET_HOLES ranges, and NET_ARRIVALS moments when bytes passed.
 */
#ifndef IOTAPE_NET_SEQ_H
#define IOTAPE_NET_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#define NET_HOLES    4
#define NET_ARRIVALS 8

struct net_seq {
    uint64_t base;         /* number of the first byte that counts */
    uint64_t top;          /* behind the last one */
    uint64_t acknowledged; /* by the peer, highest; base where none */
    struct {
        uint64_t from, to;
    } holes[NET_HOLES];
    unsigned hole_count;
    /* When the bytes up to `to` passed the place of capture, oldest first. */
    struct {
        uint64_t to, t_ns;
    } arrivals[NET_ARRIVALS];
    unsigned arrival_count;
    uint64_t missed_bytes; /* in holes that were given up */
    bool known, fin;
    uint64_t fin_ns;
};

enum net_segment {
    NET_SEGMENT_NEW,        /* the rest of the struct says how much */
    NET_SEGMENT_LATE,       /* fills a hole: reordered, or sent again for the first that was seen */
    NET_SEGMENT_AGAIN,      /* nothing new: a retransmission */
    NET_SEGMENT_KEEP_ALIVE, /* RFC 1122, 4.2.3.6: the byte before the next one, or none at its place */
    NET_SEGMENT_OUTSIDE,    /* too far from everything to belong to it */
    NET_SEGMENT_EMPTY,      /* no bytes, where none are expected */
};

struct net_advance {
    enum net_segment kind;
    uint64_t new_bytes;   /* holes included */
    uint64_t again_bytes; /* seen before */
    bool hole;            /* bytes before it were not seen */
};

/* Begins with the first byte at `seq`. */
void net_seq_begin(struct net_seq *s, uint32_t seq);

/* The 64-bit number of `seq`, the one nearest to the top. */
uint64_t net_seq_unwrap(const struct net_seq *s, uint32_t seq);

/* Takes a segment of `len` bytes. */
struct net_advance net_seq_take(struct net_seq *s, uint32_t seq, uint32_t len, uint64_t t_ns);

/* The peer acknowledges bytes below `ack`: the number of bytes that this tells of and that no segment had (0
 * in a whole capture). *advanced: more than ever before. */
uint64_t net_seq_acknowledge(struct net_seq *s, uint32_t ack, uint64_t t_ns, bool *advanced);

/* When byte number `count` - 1 (from 0) passed; for one that is long ago, the oldest moment that is known. */
uint64_t net_seq_arrival(const struct net_seq *s, uint64_t count);

/* Bytes that count, so far; and how many of them were never seen. */
static inline uint64_t net_seq_bytes(const struct net_seq *s)
{
    return s->top - s->base;
}
uint64_t net_seq_missed(const struct net_seq *s);

#endif
