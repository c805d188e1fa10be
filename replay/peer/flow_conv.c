/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/flow_conv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/random.h"

#define SLAB_STEPS 256

/* ---- steps ---- */

static int make_steps(struct flow_thread *t, struct err *e)
{
    struct step **slab = realloc(t->slab, (t->slabs + 1) * sizeof *slab);
    if (slab)
        t->slab = slab;
    struct step *made = slab ? calloc(SLAB_STEPS, sizeof *made) : NULL;
    if (!made)
        return err_sys(e, ENOMEM, "cannot hold events");
    t->slab[t->slabs++] = made;
    for (size_t i = 0; i < SLAB_STEPS; i++) {
        made[i].next = t->spare;
        t->spare = &made[i];
    }
    return 0;
}

static int push(struct flow_thread *t, struct steps *s, const struct step *step, struct err *e)
{
    int r = t->spare ? 0 : make_steps(t, e);
    if (r < 0)
        return r;
    struct step *at = t->spare;
    t->spare = at->next;
    *at = *step;
    at->next = NULL;
    *(s->last ? &s->last->next : &s->first) = at;
    s->last = at;
    return 0;
}

static void count_done(struct flow *f)
{
    /* The other end is told in batches, as it has a window of many events: who tells it takes a CPU from
     * those who talk. */
    if (atomic_fetch_add(&f->done, 1) % EVENTS_BATCH_MAX == EVENTS_BATCH_MAX - 1)
        flow_notify(f);
}

void conv_pop(struct flow_thread *t, struct steps *s)
{
    struct step *at = s->first;
    s->first = at->next;
    if (!s->first)
        s->last = NULL;
    at->next = t->spare;
    t->spare = at;
    count_done(t->flow);
}

/* ---- the table ---- */

static struct conv **slot(struct conv **bucket, size_t buckets, uint32_t number)
{
    return &bucket[random_mix(number) & (buckets - 1)];
}

struct conv *conv_find(const struct flow_thread *t, uint32_t number)
{
    struct conv *c = *slot(t->bucket, t->buckets, number);
    while (c && c->number != number)
        c = c->next;
    return c;
}

static void grow(struct flow_thread *t)
{
    if (t->convs < t->buckets)
        return;
    struct conv **bucket = calloc(t->buckets * 2, sizeof *bucket);
    if (!bucket)
        return; /* slower, and right */
    for (size_t i = 0; i < t->buckets; i++) {
        for (struct conv *c = t->bucket[i], *next; c; c = next) {
            struct conv **to = slot(bucket, t->buckets * 2, c->number);
            next = c->next;
            c->next = *to;
            *to = c;
        }
    }
    free(t->bucket);
    t->bucket = bucket;
    t->buckets *= 2;
}

static struct conv *make(struct flow_thread *t, const struct peer_event *ev, struct err *e)
{
    struct conv *c = calloc(1, sizeof *c);
    if (!c) {
        err_sys(e, ENOMEM, "cannot hold a conversation");
        return NULL;
    }
    *c = (struct conv){.number = ev->ev.conversation,
            .source = ev->source_conversation,
            .client = ev->client,
            .port = ev->port,
            .protocol = ev->protocol,
            .marks = ev->marks,
            .fd = -1,
            .early = ev->early,
            .connect_source = ev->source_event,
            .connect_t_ns = ev->ev.t_ns,
            .previous_t_ns = ev->ev.t_ns,
            .peer_t_ns = ev->ev.t_ns};
    memcpy(c->token, ev->token, sizeof c->token);
    grow(t);
    struct conv **to = slot(t->bucket, t->buckets, c->number);
    c->next = *to;
    *to = c;
    t->convs++;
    return c;
}

static void destroy(struct flow_thread *t, struct conv *c)
{
    while (c->own.first)
        conv_pop(t, &c->own);
    while (c->peer.first)
        conv_pop(t, &c->peer);
    timers_clear(&t->timers, &c->timer);
    if (c->fd >= 0)
        close(c->fd);
    free(c->request);
    free(c);
}

bool conv_retire(struct flow_thread *t, struct conv *c)
{
    if (c->state != CONV_OVER || !c->end_known)
        return false;
    struct conv **p = slot(t->bucket, t->buckets, c->number);
    while (*p != c)
        p = &(*p)->next;
    *p = c->next;
    t->convs--;
    destroy(t, c);
    if (atomic_fetch_sub(&t->flow->convs_open, 1) == 1)
        flow_notify(t->flow);
    return true;
}

void conv_free_all(struct flow_thread *t)
{
    for (size_t i = 0; t->bucket && i < t->buckets; i++) {
        for (struct conv *c = t->bucket[i], *next; c; c = next) {
            next = c->next;
            destroy(t, c);
        }
    }
    free(t->bucket);
    for (size_t i = 0; i < t->slabs; i++)
        free(t->slab[i]);
    free(t->slab);
    timers_release(&t->timers);
}

/* ---- events ---- */

/* How far the side that the event belongs to has come with it. */
static void tell(struct conv *c, const struct net_event *ev)
{
    bool fin = ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE;
    c->told_bytes[ev->side] += ev->bytes;
    if (c->protocol == NET_UDP)
        c->told[ev->side] += ev->kind == NET_DATA;
    else
        c->told[ev->side] += ev->bytes + fin;
    c->end_known = c->end_known || net_kind_ends(ev->kind);
    c->cut = c->cut || ev->kind == NET_CUT;
}

static void look_for(
        const struct notes *n, size_t from, const struct flow *f, const struct conv *c, struct coming *found)
{
    for (size_t i = from; i < n->count; i++) {
        const struct note *note = &n->list[i];
        const struct net_event *ev = &note->event.ev;
        if (note->type != NOTE_EVENT || ev->conversation != c->number || ev->side != peer_side(f))
            continue;
        bool fin = ev->kind == NET_HALF_CLOSE || ev->kind == NET_CLOSE;
        found->bytes += ev->bytes;
        found->units += c->protocol == NET_UDP ? ev->kind == NET_DATA : ev->bytes + fin;
        found->reset = found->reset || ev->kind == NET_RESET;
        found->cut = found->cut || ev->kind == NET_CUT;
    }
}

struct coming conv_coming(struct flow_thread *t, const struct conv *c)
{
    struct coming found = {0};
    look_for(&t->taken, t->taken_next, t->flow, c, &found);
    pthread_mutex_lock(&t->lock);
    look_for(&t->inbox, 0, t->flow, c, &found);
    pthread_mutex_unlock(&t->lock);
    return found;
}

/* A reset and the close of what was cut wait for all that the peer had sent by then: a reset that overtakes
 * data would lose it, which the recording did not. */
static uint64_t watermark_of(const struct conv *c, const struct net_event *ev)
{
    unsigned peer = ev->side == NET_INITIATOR ? NET_RESPONDER : NET_INITIATOR;
    return ev->kind == NET_RESET || ev->kind == NET_CUT ? c->told[peer] : ev->watermark;
}

int conv_add(struct flow_thread *t, const struct peer_event *pe, struct err *e)
{
    const struct net_event *ev = &pe->ev;
    struct conv *c = ev->kind == NET_CONNECT ? make(t, pe, e) : conv_find(t, ev->conversation);
    if (!c)
        return ev->kind == NET_CONNECT ? -ENOMEM : err_set(e, EPROTO, "an event of no conversation");
    tell(c, ev);
    if (c->state == CONV_OVER || ev->kind == NET_ACCEPT) {
        count_done(t->flow);
        conv_retire(t, c);
        return 0;
    }
    struct step step = {.number = pe->number,
            .source = pe->source_event,
            .t_ns = ev->t_ns,
            .bytes = ev->bytes,
            .watermark = watermark_of(c, ev),
            .think_ns = ev->think_ns,
            .end_units = c->told[ev->side],
            .kind = ev->kind};
    bool own = ev->side == t->flow->o.side;
    bool first = own && !c->own.first;
    if (!own && ev->kind == NET_DATA)
        c->peer_data_t_ns = ev->t_ns;
    int r = push(t, own ? &c->own : &c->peer, &step, e);
    if (r < 0)
        return r;
    /* It comes after its watermark was reached, and nobody took the time. */
    if (first && c->state == CONV_OPEN && step.watermark && step.watermark <= c->received)
        c->reached_ns = c->heard_ns;
    if (!own)
        conv_received(t, c, 0, 0, c->heard_ns);
    return 0;
}
