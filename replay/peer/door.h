/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where data connections come in at the responders' end: a thread that listens, lets in who brings an
 * expected token, and closes everybody else.
 *
 * Who is not let in yet is a stranger. There is room for DOOR_STRANGERS_MAX of them, apart from the room that
 * conversations have; a further one takes the place of the one that has waited longest. Each has
 * DOOR_PATIENCE_NS; no more than a token is read from it, and nothing is sent to it.
 */
#ifndef IOTAPE_PEER_DOOR_H
#define IOTAPE_PEER_DOOR_H

#include <stdint.h>
#include <sys/socket.h>

#include "formats/base/err.h"
#include "replay/peer/flow.h"
#include "replay/peer/tokens.h"

#define DOOR_STRANGERS_MAX 1024
#define DOOR_PATIENCE_NS   5000000000u

struct door;

/* Listens on `address`: with port 0 on FLOW_PORTS_MAX free ones for TCP, and one for UDP; else on that one.
 * Those who bring a token of `tokens` are handed to `flow`; both must outlive the door. */
int door_open(struct door **d, const struct sockaddr *address, socklen_t address_len, struct tokens *tokens,
        struct flow *flow, struct err *e);

/* The ports, in host byte order. Returns how many TCP ones. */
unsigned door_ports(const struct door *d, uint16_t tcp[FLOW_PORTS_MAX], uint16_t *udp);

/* Stops listening, closes strangers. Returns how many were turned away in all. NULL is allowed. */
uint64_t door_close(struct door *d);

#endif
