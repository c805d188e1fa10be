/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * How many conversations the tape holds, and what they carried: its own totals.
 */
#include <inttypes.h>

#include "analyze/profile/aspect.h"
#include "analyze/profile/words.h"

static void sockets_text(const struct profile *p, struct out *o)
{
    char there[UNITS_TEXT_BYTES], back[UNITS_TEXT_BYTES];
    const struct net_totals *n = &p->net;
    if (!n->conversations)
        return;
    words_title(o, "Sockets", "conversations, by who began them");
    out_printf(o,
            "  %" PRIu64 " conversations, %" PRIu64 " events; %s sent by initiators, %s by responders\n"
            "  %" PRIu64 " answers to requests; %" PRIu64 " conversations without an end in the tape\n",
            n->conversations, n->events, units_size(n->sent_bytes[0], there),
            units_size(n->sent_bytes[1], back), n->exchanges, n->open);
}

static struct json *sockets_json(const struct profile *p)
{
    struct json *j = json_new_object();
    int bad = json_put_u64(j, "conversations", p->net.conversations);
    bad |= json_put_u64(j, "events", p->net.events);
    bad |= json_put_u64(j, "initiator_sent_bytes", p->net.sent_bytes[0]);
    bad |= json_put_u64(j, "responder_sent_bytes", p->net.sent_bytes[1]);
    bad |= json_put_u64(j, "exchanges", p->net.exchanges);
    bad |= json_put_u64(j, "open", p->net.open);
    return words_whole(j, bad);
}

const struct profile_aspect profile_sockets = {
        .name = "sockets",
        .text = sockets_text,
        .json = sockets_json,
};
