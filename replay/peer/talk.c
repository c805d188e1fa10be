/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/talk.h"

#include <errno.h>
#include <stdio.h>

#include "formats/base/units.h"
#include "replay/pace.h"

/* Several signs of life may be missed. */
#define SILENCE_MIN_NS (4 * (uint64_t)TALK_ALIVE_EVERY_NS)
/* Who does nothing but say that it is alive shall not keep us from all else. */
#define ALIVE_NS 100000000u

void talk_init(struct talk *t, enum message_end self, int in_fd, int out_fd, uint64_t timeout_ns)
{
    *t = (struct talk){.self = self, .timeout_ns = timeout_ns, .said_ns = pace_now_ns()};
    channel_init(&t->channel, in_fd, out_fd);
}

void talk_release(struct talk *t)
{
    channel_release(&t->channel);
    bytes_release(&t->out);
    unpacked_release(&t->in);
}

int talk_send(struct talk *t, const struct message *m, struct err *e)
{
    int r = message_in_order(&t->order, t->self, m->type, e);
    if (r == 0)
        r = message_pack(m, &t->out, e);
    if (r == 0)
        r = channel_send(&t->channel, &t->out, t->timeout_ns, e);
    t->said_ns = pace_now_ns();
    return r;
}

int talk_say(struct talk *t, enum message_type type, struct err *e)
{
    struct message m = {.type = type};
    return talk_send(t, &m, e);
}

int talk_tell(struct talk *t, enum message_type type, const char *text, struct err *e)
{
    struct message m = {.type = type};
    snprintf(m.text, sizeof m.text, "%s", text);
    return talk_send(t, &m, e);
}

int talk_receive(struct talk *t, uint64_t deadline_ns, struct message *m, struct err *e)
{
    uint64_t until_ns = pace_now_ns() + ALIVE_NS;
    if (deadline_ns > until_ns)
        until_ns = deadline_ns;
    for (;;) {
        const uint8_t *body;
        size_t len;
        int r = channel_receive(&t->channel, deadline_ns, &body, &len, e);
        if (r <= 0)
            return r;
        r = message_unpack(m, &t->in, body, len, e);
        if (r == 0)
            r = message_in_order(
                    &t->order, t->self == MESSAGE_CLIENT ? MESSAGE_SERVER : MESSAGE_CLIENT, m->type, e);
        if (r < 0)
            return r;
        if (m->type != MESSAGE_ALIVE)
            return 1;
        if (pace_now_ns() >= until_ns)
            return 0;
    }
}

int talk_tick(struct talk *t, struct err *e)
{
    char text[UNITS_TEXT_BYTES];
    uint64_t now_ns = pace_now_ns();
    uint64_t silence_ns = t->timeout_ns > SILENCE_MIN_NS ? t->timeout_ns : SILENCE_MIN_NS;
    if (now_ns > t->channel.heard_ns + silence_ns)
        return err_set(e, ETIMEDOUT, "the other end has been silent for %s",
                units_duration(now_ns - t->channel.heard_ns, text));
    return now_ns >= t->said_ns + TALK_ALIVE_EVERY_NS ? talk_say(t, MESSAGE_ALIVE, e) : 0;
}
