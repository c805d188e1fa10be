/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From packets to conversations: what live capture and imports share. Packets come in order of time; events
 * go to a tape by the rules of net.h. What is no event is counted in the tape:
 *
 *   retransmissions, retransmitted_bytes   segments of bytes that were seen before
 *   late_segments        that fill a hole: reordered, or lost before the place of capture and sent again
 *   keep_alives          and probes of a closed window, which look the same
 *   zero_windows         how often a window closed
 *   duplicate_packets    the same packet again within 1 ms: seen at two places
 *   unseen_bytes         of which only sequence numbers told
 *   stray_packets        of conversations that have ended, or too far from all that was sent
 *   reused_tuples        conversations that took the place of one that had not ended
 *   forgotten            conversations that were cut for being idle, or to make room
 *   left_out             packets of conversations beyond NET_CONVERSATIONS_MAX
 *   and packets that were not followed: not_ip, other_protocols, fragments, truncated_packets,
 * malformed_packets, loopback_copies
 *
 * Memory: net_flows.h and net_queue.h, and the hosts.
 */
#ifndef IOTAPE_NET_ASSEMBLE_H
#define IOTAPE_NET_ASSEMBLE_H

#include "formats/net_packet.h"
#include "formats/tape.h"

/* A UDP conversation is over after this much silence; one of TCP that has ended is forgotten. */
#define NET_IDLE_NS (60 * UINT64_C(1000000000))

struct net_assembler_options {
    uint64_t pause_ns;          /* that ends a send */
    uint64_t size_bucket_bytes; /* sizes are rounded up to multiples of this; 0 or 1: not at all */
    bool keep_names;            /* addresses instead of pseudonyms */
};

struct net_assembler;

/* `w` is borrowed. */
int net_assembler_open(struct net_assembler **a, const struct net_assembler_options *options,
        struct tape_writer *w, struct err *e);
void net_assembler_close(struct net_assembler *a); /* NULL is allowed */

/* A frame that net_packet_parse did not take. */
void net_assembler_skip(struct net_assembler *a, enum net_verdict verdict);

/* The next packet; t_ns not below that of the one before. */
int net_assembler_take(struct net_assembler *a, const struct net_packet *p, struct err *e);

/* No packet before `now_ns` will come any more: writes what is complete by then. */
int net_assembler_advance(struct net_assembler *a, uint64_t now_ns, struct err *e);

/* Ends at `end_ns`, not below the last packet: cuts what is open, writes all events and counts. */
int net_assembler_finish(struct net_assembler *a, uint64_t end_ns, struct err *e);

/* Writes down how it was done, for the tape's options. */
int net_assembler_describe(const struct net_assembler_options *options, struct facts *f, struct err *e);

#endif
