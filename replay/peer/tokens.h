/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tokens: what a data connection must bring to be the one that the control channel announced. 128 random
 * bits, of use once.
 */
#ifndef IOTAPE_PEER_TOKENS_H
#define IOTAPE_PEER_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/peer/events.h"

/* Fills in a new one, of getrandom(2). */
int token_make(uint8_t token[EVENTS_TOKEN_BYTES], struct err *e);

struct tokens; /* any thread may call */

int tokens_open(struct tokens **t, struct err *e);
void tokens_close(struct tokens *t); /* NULL is allowed */

/* Expects a connection of `conversation`. -EPROTO where the token is expected already. */
int tokens_expect(struct tokens *t, const uint8_t token[EVENTS_TOKEN_BYTES], uint32_t conversation,
        uint8_t protocol, struct err *e);

/* Which conversation a connection is for; true at most once for each token that was expected with that
 * protocol. UDP needs its cookie, too, and TCP has none (NULL). */
bool tokens_redeem(struct tokens *t, const uint8_t token[EVENTS_TOKEN_BYTES], uint8_t protocol,
        const uint8_t *cookie, uint32_t *conversation);

/* The cookie of a token that is expected for UDP; false for any other. */
bool tokens_cookie(
        struct tokens *t, const uint8_t token[EVENTS_TOKEN_BYTES], uint8_t cookie[EVENTS_TOKEN_BYTES]);

#endif
