/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * When bytes reached this host: the kernel's stamp of the packet (socket(7), SO_TIMESTAMPNS), taken where a
 * capture would see it.
 *
 * A recorded think time begins there, and so holds the wake-up of the program that waited and all its way
 * back to the network. A replay that began to think when it learns of bytes would count its own wake-up on
 * top. With the stamp, that takes place within the think time; only what exceeds it is late.
 */
#ifndef IOTAPE_PEER_ARRIVAL_H
#define IOTAPE_PEER_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Stamps are on CLOCK_REALTIME, which may be set while a replay runs. One thread. */
struct arrival_clock {
    int64_t ahead_ns; /* of pace_now_ns */
    uint64_t looked_ns;
};

/* Looks how far ahead it is, where the last look is a while ago. */
void arrival_look(struct arrival_clock *c, uint64_t now_ns);

/* Asks the kernel for stamps on a socket, and for what is left (tcp(7) lacks it; linux/tcp.h, TCP_INQ). What
 * cannot have stamps is as if it arrived when it is read. */
void arrival_enable(int fd);

struct arrival {
    uint64_t at_ns, now_ns; /* when the last byte of it arrived, and the time now; on pace_now_ns */
    bool drained;           /* nothing more is there, of TCP; false where that is not known */
};

/* As recv(2), not waiting. */
ssize_t arrival_recv(const struct arrival_clock *c, int fd, void *data, size_t len, struct arrival *a);

#endif
