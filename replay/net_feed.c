/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/net_feed.h"

#include <errno.h>
#include <stdlib.h>

#include "replay/peer/tokens.h"

struct net_feed {
    struct tape_reader *tape;
    struct ledger *ledger;
    const struct net_chunk *chunk; /* NULL: all of the tape was taken */
    uint32_t next;
    uint64_t events, last_t_ns;
};

int net_feed_open(struct net_feed **out, struct tape_reader *tape, struct err *e)
{
    struct ledger_limits limits = {NET_OPEN_MAX, UINT64_MAX};
    struct net_feed *f = calloc(1, sizeof *f);
    int r = f ? ledger_open(&f->ledger, &limits, e) : err_sys(e, ENOMEM, "cannot read conversations");
    if (r == 0) {
        f->tape = tape;
        tape_reader_net_rewind(tape);
        r = tape_reader_net_next(tape, &f->chunk, e);
    }
    if (r == 0 && f)
        r = err_set(e, ENODATA, "nothing to replay: the tape has no conversations");
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
    ledger_close(f->ledger);
    free(f);
}

static int from_tape(struct net_feed *f, struct peer_event *pe, struct err *e)
{
    const struct net_chunk *c = f->chunk;
    *pe = (struct peer_event){.ev = net_chunk_get(c, f->next++), .number = f->events};
    if (pe->ev.kind != NET_CONNECT)
        return 0;
    const struct net_conversation *v = &c->conversations[pe->ev.conversation - c->conversation_first];
    pe->protocol = v->protocol;
    pe->marks = v->marks;
    pe->client = v->client;
    pe->port = v->server_port;
    return token_make(pe->token, e);
}

/* An unfinished tape may lack ends: 1, or 0 where nothing is open. */
static int made_up(struct net_feed *f, struct peer_event *pe)
{
    uint32_t conversation;
    if (!ledger_any(f->ledger, &conversation))
        return 0;
    *pe = (struct peer_event){.number = f->events,
            .ev = {.kind = NET_CUT,
                    .side = NET_INITIATOR,
                    .conversation = conversation,
                    .t_ns = f->last_t_ns}};
    return 1;
}

static int next_one(struct net_feed *f, struct peer_event *pe, struct err *e)
{
    int r = 1;
    if (f->chunk && f->next == f->chunk->count) {
        r = tape_reader_net_next(f->tape, &f->chunk, e);
        f->next = 0;
        if (r == 0)
            f->chunk = NULL;
    }
    if (r < 0)
        return r;
    if (!f->chunk)
        r = made_up(f, pe);
    else
        r = from_tape(f, pe, e) < 0 ? -EIO : 1;
    if (r <= 0)
        return r;
    r = ledger_add(f->ledger, pe, e);
    f->last_t_ns = pe->ev.t_ns;
    f->events++;
    return r < 0 ? r : 1;
}

int net_feed_next(struct net_feed *f, struct peer_event *list, uint32_t max, struct err *e)
{
    uint32_t count = 0;
    while (count < max) {
        int r = next_one(f, &list[count], e);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        count++;
    }
    return (int)count;
}

uint64_t net_feed_events(const struct net_feed *f)
{
    return f->events;
}
