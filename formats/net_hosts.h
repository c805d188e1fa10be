/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From addresses to the hosts of a tape, numbered as they appear, and what a connect needs to know of a
 * client: how many of its conversations have ended, and when the latest did.
 */
#ifndef IOTAPE_NET_HOSTS_H
#define IOTAPE_NET_HOSTS_H

#include <stddef.h>

#include "formats/net_packet.h"
#include "formats/tape.h"

/* A hash table with open addressing. Zero-initialised is empty. */
struct net_hosts {
    struct net_host {
        struct net_address address;
        uint64_t ended, ended_ns;
        uint32_t id;
        bool used;
    } * slots;
    size_t room, count;
    uint64_t key; /* who sends packets shall not choose their slots */
};

/* The host of an address; a new one is added to the tape, as "host-N", or with `keep_names` by its address.
 * Beyond NET_HOSTS_MAX all are the last one. *host is valid until the next call. */
int net_hosts_get(struct net_hosts *h, struct tape_writer *w, const struct net_address *a, bool keep_names,
        struct net_host **host, struct err *e);

void net_hosts_release(struct net_hosts *h);

#endif
