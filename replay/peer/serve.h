/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The other end of a socket replay: iotape-replay --serve --stdio, started by a client through a remote
 * shell. It plays the responders, listens during repetitions only, connects to nobody, opens no file that a
 * client could name, and ends with its control channel.
 */
#ifndef IOTAPE_PEER_SERVE_H
#define IOTAPE_PEER_SERVE_H

#include <stdint.h>

#include "formats/base/err.h"

struct serve_options {
    const char *listen; /* NULL: where the remote shell was reached, else anywhere */
    uint64_t conversations_max, bytes_max, duration_max_ns, memory_max_bytes;
};

/* Serves the client on standard input and output until it says goodbye. 0, or -errno: the client was told why
 * where that is possible. */
int serve_stdio(const struct serve_options *o, struct err *e);

#endif
