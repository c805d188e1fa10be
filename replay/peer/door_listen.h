/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Sockets that the door listens on.
 */
#ifndef IOTAPE_PEER_DOOR_LISTEN_H
#define IOTAPE_PEER_DOOR_LISTEN_H

#include <stdint.h>
#include <sys/socket.h>

#include "formats/base/err.h"

/* A socket of SOCK_STREAM or SOCK_DGRAM, non-blocking, bound to the address with `port` in place of its own
 * (0: any free one); streams are listening. The fd or -errno. */
int door_listen(
        const struct sockaddr *address, socklen_t address_len, int type, uint16_t port, struct err *e);

/* Where a socket is bound to, in host byte order; 0 where that is not known. */
uint16_t door_port(int fd);

/* A UDP socket that is bound as `fd` is, and connected to `peer`: it gets what comes from there. The fd or
 * -errno. */
int door_branch(int fd, const struct sockaddr *peer, socklen_t peer_len, struct err *e);

#endif
