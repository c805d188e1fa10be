/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/net_feed.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/net_part.h"
#include "replay/peer/tokens.h"

struct net_feed {
    struct net_part *part;
    uint64_t events;
    bool ended;
};

int net_feed_open(
        struct net_feed **out, struct tape_reader *tape, uint64_t from_ns, uint64_t until_ns, struct err *e)
{
    struct net_part_options o = {.from_ns = from_ns, .until_ns = until_ns};
    struct net_feed *f = calloc(1, sizeof *f);
    int r = f ? net_part_open(&f->part, &o, tape, e) : err_sys(e, ENOMEM, "cannot read conversations");
    if (r < 0) {
        net_feed_close(f);
        return r;
    }
    *out = f;
    return 0;
}

void net_feed_close(struct net_feed *f)
{
    if (!f)
        return;
    net_part_close(f->part);
    free(f);
}

static int next_one(struct net_feed *f, struct peer_event *pe, struct err *e)
{
    struct net_part_event p;
    int r = net_part_next(f->part, &p, e);
    if (r <= 0)
        return r;
    *pe = (struct peer_event){.ev = p.ev,
            .number = f->events++,
            .source_event = p.source_event,
            .source_conversation = p.source_conversation};
    if (p.ev.kind != NET_CONNECT)
        return 1;
    pe->protocol = p.of.protocol;
    pe->marks = p.of.marks;
    pe->client = p.of.client;
    pe->port = p.of.server_port;
    r = token_make(pe->token, e);
    return r < 0 ? r : 1;
}

int net_feed_next(struct net_feed *f, struct peer_event *list, uint32_t max, struct err *e)
{
    uint32_t count = 0;
    while (count < max && !f->ended) {
        int r = next_one(f, &list[count], e);
        if (r < 0)
            return r;
        f->ended = r == 0;
        count += (uint32_t)r;
    }
    if (f->ended && !f->events)
        return err_set(e, ENODATA, "nothing to replay: there are no conversations in this part of the tape");
    return (int)count;
}

uint64_t net_feed_events(const struct net_feed *f)
{
    return f->events;
}
