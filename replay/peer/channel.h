/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The control channel between the two ends of a socket replay: frames over two file descriptors, which are
 * the standard input and output of a remote shell.
 *
 * A frame is its length (four bytes, most significant first, 1 to CHANNEL_FRAME_MAX) and so many bytes. What
 * they mean is message.h's.
 */
#ifndef IOTAPE_PEER_CHANNEL_H
#define IOTAPE_PEER_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/bytes.h"

#define CHANNEL_FRAME_MAX 131072

/* One thread. */
struct channel {
    int in_fd, out_fd; /* the caller's; made non-blocking */
    struct bytes in;   /* what was read and not yet taken */
    size_t taken;      /* of that, by channel_receive */
    uint64_t heard_ns; /* when something was read last, on pace_now_ns */
};

void channel_init(struct channel *c, int in_fd, int out_fd);
void channel_release(struct channel *c);

/* Sends a frame. Waits until all of it is handed over, at most `timeout_ns`. -ETIMEDOUT; -EPIPE where the
 * other end is gone. */
int channel_send(struct channel *c, const struct bytes *body, uint64_t timeout_ns, struct err *e);

/* The next frame: 1 and *body, which stays valid until the next call; 0 where none is whole by `deadline_ns`
 * (on pace_now_ns; 0: do not wait). -EPIPE at the end of the channel, -EPROTO for a length out of bounds or
 * an end within a frame. Ends early, with 0, on a signal. */
int channel_receive(
        struct channel *c, uint64_t deadline_ns, const uint8_t **body, size_t *len, struct err *e);

#endif
