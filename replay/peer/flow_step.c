/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/units.h"
#include "replay/peer/flow_conv.h"

#define BEHIND_NS   NS_PER_MS
#define OWED_MAX_NS NS_PER_MS

void conv_set_timer(struct flow_thread *t, struct conv *c, uint64_t due_ns)
{
    struct err e = {0};
    if (timers_set(&t->timers, &c->timer, due_ns, &e) < 0)
        flow_fail(t->flow, &e);
}

static uint64_t scaled(const struct flow *f, uint64_t ns)
{
    return f->o.speed == 1 ? ns : (uint64_t)((double)ns / f->o.speed);
}

/* Recorded think times end where a capture saw the packet, which is about half-way through the call that
 * sends it here. */
static uint64_t think_ns(const struct flow_thread *t, const struct step *s)
{
    uint64_t think = t->flow->o.timing == TIMING_ASAP ? 0 : scaled(t->flow, s->think_ns),
             lead = t->send_ns / 2;
    if (s->kind == NET_CONNECT && !s->watermark)
        return think;
    return think > lead ? think - lead : 0;
}

/* ---- the beginning of a step ---- */

/* When a connect is due; false where it waits for other conversations. */
static bool connect_due(struct flow_thread *t, struct conv *c, const struct step *s, uint64_t *due_ns)
{
    struct flow *f = t->flow;
    uint64_t start_ns = atomic_load(&f->start_ns);
    bool waits = s->watermark && !(c->marks & NET_BEGAN_BEFORE) && f->o.timing != TIMING_RECORDED;
    if (f->o.timing == TIMING_RECORDED) {
        *due_ns = start_ns + scaled(f, s->t_ns);
        return true;
    }
    if (waits && !c->waits_client) {
        struct err e = {0};
        int r = clients_wait(f->clients, c->client, s->watermark, c->number, &c->reached_ns, &e);
        c->waits_client = true;
        if (r < 0)
            flow_fail(f, &e);
    }
    if (waits && !c->reached_ns)
        return false;
    *due_ns = (waits ? c->reached_ns : start_ns) + think_ns(t, s);
    return true;
}

/* A moment from which a conversation waits: one that was opened ahead of its time waits from then on. */
static uint64_t not_ahead(const struct flow *f, const struct conv *c, uint64_t at_ns)
{
    uint64_t floor_ns =
            atomic_load(&f->start_ns) + (f->o.timing == TIMING_ASAP ? 0 : scaled(f, c->connect_t_ns));
    return c->marks & NET_BEGAN_BEFORE && at_ns < floor_ns ? floor_ns : at_ns;
}

/* When a step of a standing connection is due; false where it waits for the peer. */
static bool step_due(
        const struct flow_thread *t, const struct conv *c, const struct step *s, uint64_t *due_ns)
{
    const struct flow *f = t->flow;
    bool reached = s->watermark <= c->received;
    uint64_t base_ns = not_ahead(f, c, c->reached_ns > c->done_ns ? c->reached_ns : c->done_ns);
    uint64_t think = think_ns(t, s);
    *due_ns = base_ns + (think > c->owed_ns ? think - c->owed_ns : 0);
    if (f->o.timing == TIMING_RECORDED && is_initiator(f))
        *due_ns = atomic_load(&f->start_ns) + scaled(f, s->t_ns);
    if (c->protocol == NET_TCP || s->kind != NET_DATA)
        return reached || c->protocol == NET_UDP;
    /* Datagrams are lost: their wait ends. */
    uint64_t limit_ns =
            not_ahead(f, c, c->done_ns) + NET_DATAGRAM_TIMEOUT_NS + scaled(f, s->t_ns - c->previous_t_ns);
    if (!reached || *due_ns > limit_ns)
        *due_ns = limit_ns;
    return true;
}

static bool hold(struct flow_thread *t, struct conv *c)
{
    if (c->held)
        return true;
    if (t->held_count == t->held_room) {
        size_t room = t->held_room ? t->held_room * 2 : 64;
        uint32_t *list = realloc(t->held, room * sizeof *list);
        if (!list) {
            struct err e = {0};
            err_sys(&e, ENOMEM, "cannot hold events back");
            flow_fail(t->flow, &e);
            return true;
        }
        t->held = list;
        t->held_room = room;
    }
    c->held = true;
    t->held[t->held_count++] = c->number;
    return true;
}

/* Steps of a conversation follow from each other, so that all that each was late by would add up; but it is
 * the replay's own, and think times make up for it. */
static void note_lateness(struct flow_thread *t, struct conv *c, const struct step *s, uint64_t due_ns)
{
    uint64_t late_ns = t->now_ns > due_ns ? t->now_ns - due_ns : 0, think = think_ns(t, s);
    lateness_add(&t->counts.lateness, late_ns);
    t->counts.behind += late_ns > BEHIND_NS;
    c->owed_ns = late_ns + (c->owed_ns > think ? c->owed_ns - think : 0);
    if (c->owed_ns > OWED_MAX_NS)
        c->owed_ns = OWED_MAX_NS;
}

/* Begins the first own step if its time has come. */
static bool begin(struct flow_thread *t, struct conv *c, const struct step *s)
{
    struct flow *f = t->flow;
    uint64_t due_ns;
    if ((s->number >= atomic_load(&f->allowed) && hold(t, c)) || !atomic_load(&f->start_ns))
        return false;
    bool known = s->kind == NET_CONNECT ? connect_due(t, c, s, &due_ns) : step_due(t, c, s, &due_ns);
    if (!known)
        return false;
    if (due_ns > t->now_ns) {
        conv_set_timer(t, c, due_ns);
        return false;
    }
    c->scheduled_ns = due_ns;
    c->issued_ns = t->now_ns;
    c->stepping = true;
    note_lateness(t, c, s, due_ns);
    if (s->kind == NET_DATA) {
        c->left_bytes = s->bytes;
        exchange_request(t, c, s);
    }
    return true;
}

/* ---- doing it ---- */

/* 1: done, 0: goes on later, -1: the conversation is over. */
static int perform(struct flow_thread *t, struct conv *c, const struct step *s)
{
    bool tcp = c->protocol == NET_TCP;
    int r = 1;
    switch (s->kind) {
    case NET_CONNECT:
        return 1; /* it was opened before the clock started */
    case NET_DATA:
        r = tcp ? tcp_send(t, c) : udp_send(t, c);
        t->counts.messages += r == 1;
        return r;
    case NET_HALF_CLOSE:
    case NET_CLOSE:
        r = tcp_shut(t, c) < 0 ? -1 : 1;
        conv_release_client(t, c);
        return r;
    case NET_CUT:
        return tcp ? (tcp_shut(t, c) < 0 ? -1 : 1) : 1;
    default:
        r = tcp_reset(t, c);
        if (r == 0)
            conv_set_timer(t, c, t->now_ns + 100 * NS_PER_US);
        else
            conv_release_client(t, c);
        return r;
    }
}

static bool step_once(struct flow_thread *t, struct conv *c)
{
    const struct step *s = c->own.first;
    if (!s)
        return false;
    if (c->state == CONV_WAITING && s->kind == NET_CONNECT) {
        if (c->early && s->number < atomic_load(&t->flow->allowed))
            c->scheduled_ns = c->issued_ns = t->now_ns;
        else if (!begin(t, c, s))
            return false;
        c->stepping = false;
        c->connect_scheduled_ns = c->scheduled_ns;
        c->connect_issued_ns = c->issued_ns;
        if (c->protocol == NET_TCP)
            tcp_connect(t, c);
        else
            udp_connect(t, c);
        return false;
    }
    if (c->state != CONV_OPEN || (!c->stepping && !begin(t, c, s)) || perform(t, c, s) <= 0)
        return false;
    t->now_ns = pace_now_ns();
    c->stepping = false;
    c->reached_ns = 0;
    c->done_ns = c->moved_ns = t->now_ns;
    c->previous_t_ns = s->t_ns;
    if (s->kind == NET_RESET) {
        conv_close(t, c);
        return false;
    }
    conv_pop(t, &c->own);
    return true;
}

/* ---- the end ---- */

static void check_bytes(struct flow_thread *t, struct conv *c)
{
    uint64_t told = c->told_bytes[peer_side(t->flow)];
    if (c->received_bytes != told && c->protocol == NET_TCP)
        conv_fail(t, c, EPROTO, "%llu bytes came instead of %llu", (unsigned long long)c->received_bytes,
                (unsigned long long)told);
}

/* When the peer's datagrams that have not come are lost. The last of them was recorded so long after what has
 * come of it, and the peer may have waited in vain itself (step_due). */
static uint64_t lost_at(const struct flow *f, const struct conv *c)
{
    uint64_t gap_ns = c->peer_data_t_ns > c->peer_t_ns ? c->peer_data_t_ns - c->peer_t_ns : 0;
    uint64_t since_ns = not_ahead(f, c, c->heard_ns > c->done_ns ? c->heard_ns : c->done_ns);
    return since_ns + 2 * NET_DATAGRAM_TIMEOUT_NS + scaled(f, gap_ns);
}

static void finish(struct flow_thread *t, struct conv *c)
{
    if (c->state != CONV_OPEN || c->own.first || !c->end_known)
        return;
    if (c->protocol == NET_UDP) {
        bool all = c->received + c->given_up >= c->told[peer_side(t->flow)];
        if (!all && !atomic_load(&t->flow->start_ns))
            return; /* `go` comes back to it */
        uint64_t end_ns = lost_at(t->flow, c);
        if (all || t->now_ns >= end_ns)
            conv_close(t, c);
        else
            conv_set_timer(t, c, end_ns);
        return;
    }
    if (c->cut && c->fin_received && !c->fin_sent && tcp_shut(t, c) < 0)
        return;
    if (c->fin_sent && c->fin_received) {
        check_bytes(t, c);
        conv_close(t, c);
    }
}

void conv_advance(struct flow_thread *t, struct conv *c)
{
    timers_clear(&t->timers, &c->timer);
    if (c->state == CONV_GREETING)
        udp_greet(t, c);
    while (step_once(t, c))
        continue;
    finish(t, c);
}

static void settle(struct flow_thread *t, struct conv *c)
{
    if (c->early && atomic_fetch_sub(&t->flow->unsettled, 1) == 1)
        flow_notify(t->flow);
    c->early = false;
}

void conv_stands(struct flow_thread *t, struct conv *c, uint64_t at_ns)
{
    c->state = CONV_OPEN;
    c->done_ns = at_ns;
    c->moved_ns = t->now_ns;
    if (c->own.first && c->own.first->kind == NET_CONNECT && !c->early)
        conv_pop(t, &c->own);
    settle(t, c);
    c->reached_ns = 0;
    t->open++;
    if (t->open > t->counts.open_max)
        t->counts.open_max = t->open;
}

void conv_received(struct flow_thread *t, struct conv *c, uint64_t units, uint64_t bytes, uint64_t at_ns)
{
    uint64_t before = c->received;
    c->received += units;
    c->received_bytes += bytes;
    if (units) {
        c->heard_ns = at_ns;
        c->moved_ns = t->now_ns;
        t->counts.received_bytes += bytes;
        t->counts.last_byte_ns = at_ns;
        if (!t->counts.first_byte_ns)
            t->counts.first_byte_ns = at_ns;
    }
    const struct step *own = c->own.first;
    if (own && !c->stepping && before < own->watermark && c->received >= own->watermark)
        c->reached_ns = at_ns;
    for (const struct step *s; (s = c->peer.first) && s->end_units <= c->received + c->given_up;
            conv_pop(t, &c->peer)) {
        if (s->kind == NET_RESET || s->kind == NET_CUT)
            break;
        exchange_answer(t, c, s, c->heard_ns);
        c->peer_t_ns = s->t_ns;
    }
}

void conv_release_client(struct flow_thread *t, struct conv *c)
{
    if (c->released || !is_initiator(t->flow))
        return;
    c->released = true;
    clients_ended(t->flow->clients, c->client, pace_now_ns());
}

static void drop_steps(struct flow_thread *t, struct conv *c)
{
    while (c->own.first)
        conv_pop(t, &c->own);
    while (c->peer.first)
        conv_pop(t, &c->peer);
}

void conv_close(struct flow_thread *t, struct conv *c)
{
    if (c->state == CONV_OVER)
        return;
    t->open -= c->state == CONV_OPEN;
    settle(t, c);
    c->state = CONV_OVER;
    t->counts.conversations++;
    exchange_over(t, c);
    drop_steps(t, c);
    timers_clear(&t->timers, &c->timer);
    if (c->fd >= 0 && c->protocol == NET_TCP)
        t->counts.retransmits += tcp_retransmits(c->fd);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    t->counts.elapsed_ns = t->now_ns;
}

/* The other end waits for it. */
static void tell_absent(struct flow *f, uint32_t conversation, int code)
{
    pthread_mutex_lock(&f->lock);
    if (f->absent_count == f->absent_room) {
        size_t room = f->absent_room ? f->absent_room * 2 : 16;
        struct absent *list = realloc(f->absent, room * sizeof *list);
        if (list) {
            f->absent = list;
            f->absent_room = room;
        }
    }
    if (f->absent_count < f->absent_room) /* else its stall timeout tells it */
        f->absent[f->absent_count++] = (struct absent){conversation, code};
    pthread_mutex_unlock(&f->lock);
    flow_notify(f);
}

void conv_fail(struct flow_thread *t, struct conv *c, int code, const char *fmt, ...)
{
    struct flow *f = t->flow;
    char text[256];
    struct err e = {0};
    va_list ap;
    if (c->state == CONV_OVER)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (is_initiator(f) && c->state != CONV_OPEN)
        tell_absent(f, c->number, code);
    t->counts.errors++;
    t->counts.conversations--; /* it has not come to its end */
    c->answering = false;
    conv_release_client(t, c);
    conv_close(t, c);
    err_set(&e, code, "conversation %u (%s, event %llu): %s", c->source + 1, net_protocol_name(c->protocol),
            (unsigned long long)c->connect_source + 1, text);
    if (atomic_fetch_add(&f->errors, 1) >= f->o.errors_max)
        flow_fail(f, &e);
}
