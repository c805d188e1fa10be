/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/net_part_talks.h"

/* A client: what has ended for it, in the part and otherwise. */
struct client {
    uint64_t kept, dropped;
    uint64_t kept_ns;  /* when the last one that is kept ended, since from_ns */
    bool last_dropped; /* the last one of all was none of the part's */
};

struct net_part {
    struct net_part_options o;
    struct tape_reader *tape;
    const struct net_chunk *chunk; /* NULL: the tape has no more */
    uint32_t at;                   /* in the chunk */
    struct talks talks;
    struct client *clients;
    size_t client_count;
    struct talk **listed; /* in order of numbers: what is opened first, or cut last */
    size_t listed_count, listed_at;
    uint32_t conversations; /* of the part so far */
    uint64_t last_ns;
    unsigned fins_of; /* sides of listed[listed_at - 1] whose end is still to be said again */
    bool carrying, ending;
};

/* NULL where memory is out. */
static struct client *client_of(struct net_part *p, uint32_t host, struct err *e)
{
    if (host >= p->client_count) {
        size_t count = tape_reader_host_count(p->tape);
        struct client *list = count > host ? reallocarray(p->clients, count, sizeof *list) : NULL;
        if (!list) {
            err_sys(e, ENOMEM, "cannot follow clients");
            return NULL;
        }
        memset(list + p->client_count, 0, (count - p->client_count) * sizeof *list);
        p->clients = list;
        p->client_count = count;
    }
    return &p->clients[host];
}

/* ---- what every event changes ---- */

static bool leaves(const struct net_event *ev)
{
    return ev->kind == NET_RESET ||
           (ev->side == NET_INITIATOR && (ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE));
}

static bool takes(const struct net_part *p, const struct talk *t)
{
    return !p->o.streams || p->o.streams[t->of.stream];
}

/* It has ended for its client, at t_ns of the part; `kept`: within the part. */
static int leave(struct net_part *p, struct talk *t, bool kept, uint64_t t_ns, struct err *e)
{
    if (t->left)
        return 0;
    struct client *c = client_of(p, t->of.client, e);
    if (!c)
        return -ENOMEM;
    t->left = true;
    c->kept += kept;
    c->dropped += !kept;
    c->last_dropped = !kept;
    if (kept)
        c->kept_ns = t_ns;
    return 0;
}

/* The next event of the tape: 1, 0, -errno. `of` is its conversation, of a connect. */
static int from_tape(struct net_part *p, struct net_event *ev, const struct net_conversation **of,
        uint64_t *number, struct err *e)
{
    while (p->chunk && p->at == p->chunk->count) {
        int r = tape_reader_net_next(p->tape, &p->chunk, e);
        p->at = 0;
        if (r < 0)
            return r;
        if (r == 0)
            p->chunk = NULL;
    }
    if (!p->chunk)
        return 0;
    const struct net_chunk *c = p->chunk;
    *ev = net_chunk_get(c, p->at);
    *number = c->first + p->at++;
    *of = ev->kind == NET_CONNECT ? &c->conversations[ev->conversation - c->conversation_first] : NULL;
    return 1;
}

/* ---- until the part begins ---- */

static int pass_by(struct net_part *p, const struct net_event *ev, const struct net_conversation *of,
        uint64_t number, struct err *e)
{
    struct talk *t;
    if (ev->kind == NET_CONNECT) {
        int r = talks_add(&p->talks, ev->conversation, of, number, &t, e);
        if (r == 0)
            t->carried = true;
        return r;
    }
    struct talk **at = talks_find(&p->talks, ev->conversation);
    t = *at;
    if (!t)
        return err_set(e, EBADMSG, "an event of no conversation");
    if (ev->kind == NET_DATA)
        t->before[ev->side] += t->of.protocol == NET_UDP ? 1 : ev->bytes;
    if (ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE)
        t->fin[ev->side] = true;
    int r = leaves(ev) ? leave(p, t, false, 0, e) : 0;
    if (net_kind_ends(ev->kind))
        talks_drop(&p->talks, at);
    return r;
}

static int by_source(const void *a, const void *b)
{
    const struct talk *x = *(struct talk *const *)a, *y = *(struct talk *const *)b;
    return (x->source > y->source) - (x->source < y->source);
}

/* All that are open and are taken, in order. */
static int list_open(struct net_part *p, struct err *e)
{
    free(p->listed);
    p->listed_at = p->listed_count = 0;
    p->listed = calloc(p->talks.open + 1, sizeof(struct talk *));
    if (!p->listed)
        return err_sys(e, ENOMEM, "cannot follow conversations");
    for (size_t i = 0; i < p->talks.buckets; i++)
        for (struct talk *t = p->talks.bucket[i]; t; t = t->next)
            if (takes(p, t))
                p->listed[p->listed_count++] = t;
    qsort(p->listed, p->listed_count, sizeof *p->listed, by_source);
    return 0;
}

static int skip(struct net_part *p, struct err *e)
{
    struct net_event ev;
    const struct net_conversation *of;
    uint64_t number;
    int r = 1;
    while (p->o.from_ns && r == 1 && (r = from_tape(p, &ev, &of, &number, e)) == 1) {
        if (ev.t_ns >= p->o.from_ns) {
            p->at--;
            break;
        }
        if ((r = pass_by(p, &ev, of, number, e)) == 0)
            r = 1;
    }
    p->carrying = true;
    return r < 0 ? r : list_open(p, e);
}

int net_part_open(
        struct net_part **out, const struct net_part_options *o, struct tape_reader *tape, struct err *e)
{
    struct net_part *p = calloc(1, sizeof *p);
    int r = p ? talks_init(&p->talks, e) : err_sys(e, ENOMEM, "cannot read conversations");
    if (r < 0) {
        free(p);
        return r;
    }
    p->o = *o;
    p->tape = tape;
    tape_reader_net_rewind(tape);
    r = tape_reader_net_next(tape, &p->chunk, e);
    if (r == 0)
        p->chunk = NULL;
    if (r >= 0)
        r = skip(p, e);
    if (r < 0) {
        net_part_close(p);
        return r;
    }
    *out = p;
    return 0;
}

void net_part_close(struct net_part *p)
{
    if (!p)
        return;
    talks_release(&p->talks);
    free(p->clients);
    free(p->listed);
    free(p);
}

/* ---- the part ---- */

static void describe(const struct talk *t, const struct net_event *ev, struct net_part_event *out)
{
    *out = (struct net_part_event){
            .ev = *ev, .of = t->of, .source_event = t->connect_event, .source_conversation = t->source};
    out->ev.conversation = t->number;
}

/* Those that were open at from_ns: 1, 0 where all were said. */
static int carry(struct net_part *p, struct net_part_event *out, struct err *e)
{
    for (unsigned side = 0; side < NET_SIDES && p->listed_at; side++) {
        struct talk *t = p->listed[p->listed_at - 1];
        if (!(p->fins_of & 1u << side))
            continue;
        struct net_event fin = {.kind = NET_HALF_CLOSE, .side = (uint8_t)side};
        p->fins_of &= ~(1u << side);
        describe(t, &fin, out);
        struct client *c = side == NET_INITIATOR ? client_of(p, t->of.client, e) : NULL;
        if (side == NET_INITIATOR && !c)
            return -ENOMEM;
        if (c) { /* this end of it is the part's now */
            c->dropped--;
            c->kept++;
        }
        return 1;
    }
    if (p->listed_at == p->listed_count)
        return 0;
    struct talk *t = p->listed[p->listed_at++];
    struct net_event connect = {.kind = NET_CONNECT};
    t->number = p->conversations++;
    t->of.marks |= NET_BEGAN_BEFORE;
    p->fins_of = (t->fin[NET_INITIATOR] ? 1u : 0) | (t->fin[NET_RESPONDER] ? 2u : 0);
    describe(t, &connect, out);
    return 1;
}

/* A connect waits for conversations of the part only. */
static int mend_connect(struct net_part *p, const struct talk *t, struct net_event *ev, struct err *e)
{
    struct client *c = client_of(p, t->of.client, e);
    if (!c)
        return -ENOMEM;
    uint64_t wanted = ev->watermark;
    ev->watermark -= c->dropped < wanted ? c->dropped : wanted;
    if (!ev->watermark && (wanted || p->o.from_ns) && !(t->of.marks & NET_BEGAN_BEFORE))
        ev->think_ns = ev->t_ns;
    else if (wanted && c->last_dropped)
        ev->think_ns = ev->t_ns - c->kept_ns;
    return 0;
}

/* Other events of what was carried over wait for what comes within the part. */
static void mend(struct talk *t, struct net_event *ev)
{
    unsigned peer = ev->side == NET_INITIATOR ? NET_RESPONDER : NET_INITIATOR;
    if (t->carried) {
        uint64_t before = t->before[peer];
        ev->watermark -= before < ev->watermark ? before : ev->watermark;
        if (!ev->watermark && !t->spoke[ev->side] && ev->kind != NET_ACCEPT && ev->kind != NET_CUT)
            ev->think_ns = ev->t_ns;
    }
    t->spoke[ev->side] = t->spoke[ev->side] || ev->kind != NET_ACCEPT;
}

/* An event of the tape within the part: 1, or 0 where it is of what is left out. */
static int take(struct net_part *p, struct net_event *ev, const struct net_conversation *of, uint64_t number,
        struct net_part_event *out, struct err *e)
{
    struct talk *t;
    ev->t_ns -= p->o.from_ns;
    int r = ev->kind == NET_CONNECT ? talks_add(&p->talks, ev->conversation, of, number, &t, e) : 0;
    if (r < 0)
        return r;
    struct talk **at = talks_find(&p->talks, ev->conversation);
    t = *at;
    if (!t)
        return err_set(e, EBADMSG, "an event of no conversation");
    bool taken = takes(p, t);
    if (taken && ev->kind == NET_CONNECT) {
        t->number = p->conversations++;
        r = mend_connect(p, t, ev, e);
    } else if (taken) {
        mend(t, ev);
    }
    if (ev->think_ns > ev->t_ns)
        ev->think_ns = ev->t_ns;
    describe(t, ev, out);
    out->source_event = number;
    p->last_ns = ev->t_ns;
    if (r == 0 && leaves(ev))
        r = leave(p, t, taken, ev->t_ns, e);
    if (net_kind_ends(ev->kind))
        talks_drop(&p->talks, at);
    return r < 0 ? r : taken;
}

/* Cuts what is open at the end. */
static int cut(struct net_part *p, struct net_part_event *out, struct err *e)
{
    if (!p->ending) {
        p->ending = true;
        int r = list_open(p, e);
        if (r < 0)
            return r;
    }
    if (p->listed_at == p->listed_count)
        return 0;
    struct net_event ev = {.kind = NET_CUT, .t_ns = p->last_ns};
    describe(p->listed[p->listed_at++], &ev, out);
    return 1;
}

int net_part_next(struct net_part *p, struct net_part_event *out, struct err *e)
{
    struct net_event ev;
    const struct net_conversation *of;
    uint64_t number;
    int r = 0;
    if (p->carrying && (r = carry(p, out, e)) != 0)
        return r;
    p->carrying = false;
    while (!p->ending) {
        r = from_tape(p, &ev, &of, &number, e);
        if (r <= 0)
            break;
        if (ev.t_ns >= p->o.until_ns) {
            p->last_ns = p->o.until_ns - p->o.from_ns;
            break;
        }
        r = take(p, &ev, of, number, out, e);
        if (r != 0)
            return r;
    }
    return r < 0 ? r : cut(p, out, e);
}
