/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What makes two tapes the same work: sums modulo 2^128 of the XXH3-128 of each record, packed without gaps,
 * little-endian:
 *
 *   work    ordinal u64, t_ns u64, stream u32, op u8, flags u16, offset_bytes u64, len_bytes u64
 *   timed   ordinal u64, latency_ns u64, error u16; a record of unknown latency contributes nothing
 *           conversation: its number u64, stream u32, client u32, server u32, client_port u16, server_port
 *           u16, protocol u8, marks u8
 *           event: its number u64, t_ns u64, conversation u32, side u8, kind u8, flags u16, bytes u64,
 *           watermark u64, think_ns u64
 *
 * Sums do not depend on the order of adding, so a latency that becomes known later is added then.
 */
#ifndef IOTAPE_IDENTITY_H
#define IOTAPE_IDENTITY_H

#include "formats/tape.h"

void identity_add(struct tape_identity *id, uint64_t ordinal, const struct block_record *r);

/* Only the timed part, of a record that was added with unknown latency. */
void identity_add_latency(struct tape_identity *id, uint64_t ordinal, uint64_t latency_ns, uint16_t error);

/* `number` from 0, each kind by itself. */
void identity_add_conversation(struct tape_identity *id, uint64_t number, const struct net_conversation *c);
void identity_add_event(struct tape_identity *id, uint64_t number, const struct net_event *ev);

#endif
