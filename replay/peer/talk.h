/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One end of a conversation of control messages: the channel, whose turn it is, and signs of life.
 */
#ifndef IOTAPE_PEER_TALK_H
#define IOTAPE_PEER_TALK_H

#include <stdint.h>

#include "formats/base/err.h"
#include "formats/pack.h"
#include "replay/peer/channel.h"
#include "replay/peer/message.h"

#define TALK_ALIVE_EVERY_NS 5000000000u

struct talk {
    struct channel channel;
    struct message_order order;
    enum message_end self;
    uint64_t timeout_ns; /* for sending; and so long the other end may be silent, at least */
    uint64_t said_ns;    /* when something was sent last */
    struct bytes out;
    struct unpacked *in; /* of the message that was received last */
};

void talk_init(struct talk *t, enum message_end self, int in_fd, int out_fd, uint64_t timeout_ns);
void talk_release(struct talk *t);

int talk_send(struct talk *t, const struct message *m, struct err *e);
/* A message that is nothing but its type. */
int talk_say(struct talk *t, enum message_type type, struct err *e);
/* One with a text. */
int talk_tell(struct talk *t, enum message_type type, const char *text, struct err *e);

/* The next message but `alive`: 1, 0 where none comes by the deadline (0: do not wait), or -errno. What it
 * points to stays valid until the next call. Ends within 0.1 s of the deadline, whatever comes. */
int talk_receive(struct talk *t, uint64_t deadline_ns, struct message *m, struct err *e);

/* To be called at least once a second: says that this end is alive, and -ETIMEDOUT where the other end has
 * not been for long. */
int talk_tick(struct talk *t, struct err *e);

#endif
