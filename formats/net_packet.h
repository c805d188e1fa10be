/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One captured frame, reduced to what reassembly needs. Addresses of IPv4 are mapped into IPv6
 * (::ffff:a.b.c.d, RFC 4291). Nothing here allocates or keeps state.
 *
 * Sizes. TSO, GRO and BIG TCP hand frames to a capture whose IP length is 0 (BIG TCP: IPv6 payload length
 * 0, or IPv4 total length 0) or that of one segment, so the payload is the frame's length on the wire less
 * its headers. The IP length is believed only where the frame may be padded: where no more than
 * 46 bytes stand behind the link header (IEEE 802.3, 3.2.7), or a trailer of at most 8 bytes behind the
 * packet.
 */
#ifndef IOTAPE_NET_PACKET_H
#define IOTAPE_NET_PACKET_H

#include <stdint.h>

/* Link types as pcap files number them (https://www.tcpdump.org/linktypes.html). */
enum net_link {
    NET_LINK_NULL = 0,     /* 4 bytes: address family in the byte order of the capturing host */
    NET_LINK_ETHERNET = 1, /* with any number of VLAN tags up to 4 */
    NET_LINK_RAW = 101,    /* IPv4 or IPv6 */
    NET_LINK_LOOP = 108,   /* 4 bytes: address family, big-endian */
    NET_LINK_COOKED = 113, /* Linux "cooked" v1 */
    NET_LINK_IPV4 = 228,
    NET_LINK_IPV6 = 229,
    NET_LINK_COOKED_2 = 276, /* Linux "cooked" v2 */
};

enum net_tcp_flag { NET_FIN = 1, NET_SYN = 2, NET_RST = 4, NET_PSH = 8, NET_ACK = 16 };

struct net_address {
    uint8_t bytes[16];
};

struct net_packet {
    uint64_t t_ns;
    struct net_address source, destination;
    uint16_t source_port, destination_port;
    uint32_t stream;        /* the caller's: the interface */
    uint32_t payload_bytes; /* on the wire, behind the TCP or UDP header */
    uint32_t seq, ack;      /* TCP only, as the next four */
    uint16_t window;        /* as sent, not scaled */
    uint8_t flags;          /* of enum net_tcp_flag */
    uint8_t udp;            /* 1: UDP, 0: TCP */
    uint16_t ip_id;         /* 0 where there is none (IPv6) */
    uint16_t checksum;      /* of the TCP or UDP header; 0 where it was not captured */
};

enum net_verdict {
    NET_PACKET_TAKEN,
    NET_PACKET_NOT_IP,    /* ARP, LLDP, ... */
    NET_PACKET_OTHER,     /* neither TCP nor UDP: ICMP, ESP, ... */
    NET_PACKET_FRAGMENT,  /* not the first fragment: has no ports */
    NET_PACKET_TRUNCATED, /* too little was captured to see its headers */
    NET_PACKET_MALFORMED, /* headers that contradict themselves */
    NET_PACKET_LOOP_COPY, /* the outgoing one of the two copies that a loopback interface shows */
    NET_VERDICTS
};

/* True for the link types above. */
int net_link_known(int link);

/* Takes a frame apart, of which `captured` bytes are in `data` and `wire_bytes` were on the wire. Sets all of
 * *p but t_ns and stream where the verdict is NET_PACKET_TAKEN. Any bytes are allowed. */
enum net_verdict net_packet_parse(
        int link, const uint8_t *data, uint32_t captured, uint32_t wire_bytes, struct net_packet *p);

#endif
