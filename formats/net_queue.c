/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024

void net_queue_release(struct net_queue *q)
{
    free(q->ring);
    free(q->begun);
    *q = (struct net_queue){0};
}

static struct net_queued *slot(const struct net_queue *q, net_place place)
{
    return &q->ring[place & (q->room - 1)];
}

static int grow(struct net_queue *q, struct err *e)
{
    size_t room = q->room ? q->room * 2 : ROOM_FIRST;
    struct net_queued *ring = q->count == q->room ? calloc(room, sizeof *ring) : NULL;
    if (q->count < q->room)
        return 0;
    if (!ring)
        return err_sys(e, ENOMEM, "cannot hold %zu events", room);
    for (net_place p = q->first; p < q->first + q->count; p++)
        ring[p & (room - 1)] = *slot(q, p);
    free(q->ring);
    q->ring = ring;
    q->room = room;
    return 0;
}

/* Conversations wait in a ring of their own: few events are connects. */
static int keep_conversation(struct net_queue *q, const struct net_conversation *c, struct err *e)
{
    if (q->begun_count == q->begun_room) {
        size_t room = q->begun_room ? q->begun_room * 2 : ROOM_FIRST;
        struct net_conversation *begun = calloc(room, sizeof *begun);
        if (!begun)
            return err_sys(e, ENOMEM, "cannot hold %zu conversations", room);
        for (uint32_t i = 0; i < q->begun_count; i++)
            begun[(q->begun_first + i) & (room - 1)] = q->begun[(q->begun_first + i) & (q->begun_room - 1)];
        free(q->begun);
        q->begun = begun;
        q->begun_room = room;
    }
    q->begun[(q->begun_first + q->begun_count++) & (q->begun_room - 1)] = *c;
    return 0;
}

int net_queue_add(struct net_queue *q, const struct net_event *ev, const struct net_conversation *c,
        bool open, net_place *place, struct err *e)
{
    int r = grow(q, e);
    if (!r && c)
        r = keep_conversation(q, c, e);
    if (r < 0)
        return r;
    net_place p = q->first + q->count++;
    *slot(q, p) = (struct net_queued){*ev, open};
    if (place)
        *place = p;
    return 0;
}

struct net_event *net_queue_at(struct net_queue *q, net_place place)
{
    if (place == NET_NO_PLACE || place < q->first || !slot(q, place)->open) /* written, or complete */
        return NULL;
    return &slot(q, place)->event;
}

void net_queue_close(struct net_queue *q, net_place place)
{
    if (place != NET_NO_PLACE && place >= q->first)
        slot(q, place)->open = false;
}

int net_queue_flush(struct net_queue *q, uint64_t until_ns, struct tape_writer *w, struct err *e)
{
    while (q->count) {
        struct net_queued *s = slot(q, q->first);
        if (s->open && s->event.t_ns >= until_ns)
            return 0;
        bool connect = s->event.kind == NET_CONNECT;
        int r = tape_writer_net(
                w, &s->event, connect ? &q->begun[q->begun_first & (q->begun_room - 1)] : NULL, e);
        if (r < 0)
            return r;
        q->first++;
        q->count--;
        q->begun_first += connect;
        q->begun_count -= connect;
    }
    return 0;
}
