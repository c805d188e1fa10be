/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Inside of reassembly: the state that its parts share, and how events of a flow are made: with their
 * watermarks (what a side had seen of its peer) and think times.
 *
 * Path delay. A capture sits somewhere on the path, with a round trip of R(side) between it and each side.
 * What the peer sent passes the capture at t, reaches the side R/2 later, and what the side then sends passes
 * the capture another R/2 later: so the host's own time is what passes at the capture less R(side). R is the
 * least of: for the initiator SYN-ACK to ACK, for the responder SYN to SYN-ACK, and for both, data to a bare
 * ACK of two full segments or more (which no delayed ACK holds back, RFC 9293 3.8.6.3). Once one was seen,
 * any answer that comes sooner lowers it. Where none was seen (the conversation began before) R is 0, and the
 * path is charged to the host; so it is for UDP. A round trip below NET_STACK_NS is 0, too: it is what the
 * host's own kernel needs for an answer, which is no path's.
 *
 * Retransmission time-outs. The moment at which a side got what it waited for is that of the last time those
 * bytes passed before they were acknowledged; so a time-out of the peer is not in the think time. Where an
 * ACK or an opened window let a side go on (it follows within LET_GO_NS), its think time counts from there:
 * the waiting was the transport's. A loss between a side and the capture is not visible, and counts as its
 * time.
 */
#ifndef IOTAPE_NET_TALK_H
#define IOTAPE_NET_TALK_H

#include "formats/net_assemble.h"
#include "formats/net_flows.h"
#include "formats/net_hosts.h"

#define LET_GO_NS    UINT64_C(1000000)
#define NET_STACK_NS UINT64_C(50000)

#define NET_COUNTS(X)                                                                                        \
    X(retransmissions)                                                                                       \
    X(retransmitted_bytes)                                                                                   \
    X(late_segments)                                                                                         \
    X(keep_alives)                                                                                           \
    X(zero_windows)                                                                                          \
    X(duplicate_packets)                                                                                     \
    X(unseen_bytes)                                                                                          \
    X(stray_packets)                                                                                         \
    X(reused_tuples)                                                                                         \
    X(left_out)                                                                                              \
    X(forgotten)

/* Stamps that are taken on several CPUs can be in another order than the packets were: an answer is before
 * what it answers, and nothing would be left of the request but that it was acknowledged. So a packet that
 * acknowledges what was not seen yet waits this long for it, in few flows at once. */
#define NET_EARLY_NS UINT64_C(20000)
#define NET_EARLY    32

struct net_assembler {
    struct net_assembler_options options;
    struct tape_writer *w;
    struct net_flows flows;
    struct net_hosts hosts;
    struct net_queue queue;
    uint32_t conversations;
    uint64_t now_ns, swept_ns, packets;
    struct net_early { /* in the order they came in; of each flow at most one */
        struct net_packet packet;
        uint32_t conversation;
        enum net_side side;
    } early[NET_EARLY];
    unsigned early_count;
    uint64_t skipped[NET_VERDICTS];
    struct {
#define COUNT_FIELD(name) uint64_t name;
        NET_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
    } counts;
};

/* A new flow begins with `p`: its connect. `marks` of enum net_mark. */
int net_talk_begin(struct net_assembler *a, const struct net_packet *p, enum net_side sender, unsigned marks,
        struct net_flow **f, struct err *e);

/* R(side). */
static inline uint64_t net_talk_path_ns(const struct net_side_state *s)
{
    return s->round_trip_ns < NET_STACK_NS ? 0 : s->round_trip_ns;
}

/* `bytes` (1 or more) of TCP by a side, at this time: part of its send, or a new one. `flags` of enum
 * net_flag. */
int net_talk_data(struct net_assembler *a, struct net_flow *f, enum net_side side, uint64_t bytes,
        unsigned flags, struct err *e);

/* One datagram. */
int net_talk_datagram(
        struct net_assembler *a, struct net_flow *f, enum net_side side, uint64_t bytes, struct err *e);

/* accept, half_close, close, reset, cut. */
int net_talk_event(struct net_assembler *a, struct net_flow *f, enum net_side side, enum net_kind kind,
        unsigned flags, struct err *e);

/* True for a packet of TCP by a side of `f` that acknowledges bytes which were not seen. */
bool net_tcp_is_early(const struct net_flow *f, enum net_side side, const struct net_packet *p);

/* The packets of a kind. */
int net_tcp_take(struct net_assembler *a, const struct net_packet *p, struct err *e);
int net_udp_take(struct net_assembler *a, const struct net_packet *p, struct err *e);

/* True for a copy of the side's latest packet. */
bool net_talk_is_copy(struct net_assembler *a, struct net_side_state *s, const struct net_packet *p);

#endif
