/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Addresses as people write them.
 */
#ifndef IOTAPE_PEER_ADDRESS_H
#define IOTAPE_PEER_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "formats/base/err.h"

struct address {
    struct sockaddr_storage at;
    socklen_t len;
};

/* "10.0.0.2", "10.0.0.2:5201", "fd00::2", "[fd00::2]:5201" or "fd00::2,5201", "fe80::1%eth0"; numbers only.
 * -EINVAL. */
int address_parse(struct address *a, const char *text, struct err *e);

/* The address of [user@]host, by getaddrinfo(3). -EINVAL with a text that tells of --listen. */
int address_resolve(struct address *a, const char *host, struct err *e);

/* Any address of this host: IPv6 with IPv4 where there is IPv6, else IPv4. */
void address_any(struct address *a);

/* 0.0.0.0 or ::. */
bool address_is_any(const struct address *a);

#endif
