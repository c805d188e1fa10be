/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Captures of packets, from files (pcap, pcapng) and from interfaces. The only file that names libpcap.
 *
 * Time stamps are nanoseconds since 1970 on the clock of the host that captured (CLOCK_REALTIME). libpcap
 * drops the outgoing one of the two copies that Linux shows of what passes a loopback interface.
 */
#ifndef IOTAPE_NET_PCAP_H
#define IOTAPE_NET_PCAP_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"

struct net_pcap;

struct net_frame {
    uint64_t unix_ns;
    const uint8_t *data; /* the capture's, until the next call */
    uint32_t captured, wire_bytes;
};

/* Headers of every kind that net_packet.h follows fit. */
#define NET_PCAP_SNAP_BYTES 256
/* Of the kernel's ring, for each interface. */
#define NET_PCAP_RING_BYTES (64 << 20)

/* Both say -EINVAL for a link type that net_packet.h does not know. */
int net_pcap_open_file(struct net_pcap **c, const char *path, struct err *e);
/* `filter`: in pcap-filter(7)'s syntax, NULL for all. The kernel begins to capture with this call. */
int net_pcap_open_interface(struct net_pcap **c, const char *interface, const char *filter, struct err *e);
void net_pcap_close(struct net_pcap *c); /* NULL is allowed */

int net_pcap_link(const struct net_pcap *c);

/* The next frame: 1; 0 at the end of a file, or where an interface has none now, as while it is down;
 * -EBADMSG for a damaged file, -ENODEV where the interface is gone, or what the system says. */
int net_pcap_next(struct net_pcap *c, struct net_frame *f, struct err *e);

/* What poll(2) waits for, of an interface. */
int net_pcap_fd(const struct net_pcap *c);

/* Packets that the kernel had no room for, so far. */
uint64_t net_pcap_dropped(struct net_pcap *c);

#endif
