/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What connects wait for: how many conversations of their client have ended for it (formats/net.h).
 */
#ifndef IOTAPE_PEER_CLIENTS_H
#define IOTAPE_PEER_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"

struct clients; /* any thread may call */

/* `release` is told of each conversation whose watermark was reached, at `at_ns`, by a call of clients_ended.
 */
int clients_open(struct clients **c, void (*release)(void *context, uint32_t conversation, uint64_t at_ns),
        void *context, struct err *e);
void clients_close(struct clients *c); /* NULL is allowed */

/* Waits for a watermark: 1 where it is reached already, at *at_ns or before; 0 where it will be released. */
int clients_wait(struct clients *c, uint32_t client, uint64_t watermark, uint32_t conversation,
        uint64_t *at_ns, struct err *e);

/* One conversation of the client has ended for it. */
void clients_ended(struct clients *c, uint32_t client, uint64_t at_ns);

#endif
