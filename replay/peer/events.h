/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Events on the control channel, and the ledger that checks them: what both ends know of the conversations
 * that are open.
 *
 * A record is EVENTS_RECORD_BYTES long, numbers least significant byte first: kind u8, side u8, protocol u8,
 * marks u8 (the last two of a connect, else 0), conversation u32, t_ns u64, bytes u64, watermark u64,
 * think_ns u64. For each connect of a batch there is a token, in order.
 */
#ifndef IOTAPE_PEER_EVENTS_H
#define IOTAPE_PEER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/bytes.h"
#include "formats/net.h"

#define EVENTS_RECORD_BYTES 40
#define EVENTS_TOKEN_BYTES  16
#define EVENTS_BATCH_MAX    1024

struct peer_event {
    struct net_event ev;
    uint64_t number; /* in what is replayed, from 0 */
    /* The same in the tape, which differs where a part is replayed; known to the client end only. */
    uint64_t source_event;
    uint32_t source_conversation;
    uint32_t client;         /* of a connect; known to the client end only */
    uint16_t port;           /* of a connect: the recorded responder's; the same */
    uint8_t protocol, marks; /* of a connect */
    bool early;              /* of a connect: it is made before the clock starts (flow.h sets it) */
    uint8_t token[EVENTS_TOKEN_BYTES];
};

/* Appends an event to the two bins of a message. */
int events_pack(const struct peer_event *ev, struct bytes *records, struct bytes *tokens, struct err *e);

/* Unpacks `count` events of two bins into `list`, which has room. -EPROTO where lengths do not fit. */
int events_unpack(struct peer_event *list, uint64_t first, uint32_t count, const uint8_t *records,
        size_t records_len, const uint8_t *tokens, size_t tokens_len, struct err *e);

/* ---- the ledger ---- */

struct ledger_limits {
    uint64_t open_max;  /* conversations at once */
    uint64_t bytes_max; /* of all sends */
};

struct ledger;

int ledger_open(struct ledger **l, const struct ledger_limits *limits, struct err *e);
void ledger_close(struct ledger *l); /* NULL is allowed */

/* Takes the next event. -EPROTO for what net.h forbids, -EDQUOT with a text for what exceeds the limits. A
 * connect's watermark is not checked here: who ended for whom only the client end knows. */
int ledger_add(struct ledger *l, const struct peer_event *ev, struct err *e);

uint64_t ledger_bytes(const struct ledger *l);
uint32_t ledger_conversations(const struct ledger *l);

#endif
