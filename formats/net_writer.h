/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The part of a tape writer that gathers events of conversations into chunks.
 */
#ifndef IOTAPE_NET_WRITER_H
#define IOTAPE_NET_WRITER_H

#include "formats/chunk.h"
#include "formats/container.h"
#include "formats/net_check.h"
#include "formats/tape.h"

struct net_writer;

int net_writer_open(struct net_writer **n, struct err *e);
void net_writer_close(struct net_writer *n); /* NULL is allowed */

/* True where a chunk is full, or complete by its length in time, before an event at `t_ns`. */
bool net_writer_is_due(const struct net_writer *n, uint64_t t_ns);

/* Checks an event and takes it in; there must be room. */
int net_writer_add(struct net_writer *n, const struct net_event *ev, const struct net_conversation *c,
        size_t host_count, struct tape_totals *t, struct err *e);

/* Writes what was taken in, if anything. */
int net_writer_flush(
        struct net_writer *n, struct chunk_encoder *encoder, struct container_writer *w, struct err *e);

#endif
