/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TCP (RFC 9293) as a bystander sees it.
 */
#include "formats/net_talk.h"

#define BARE_ACK_BYTES 2000 /* two full segments: acknowledged at once */

/* A packet and what it belongs to. */
struct tcp {
    struct net_assembler *a;
    struct net_flow *f;
    const struct net_packet *p;
    enum net_side side;
    struct net_side_state *s, *peer;
};

static bool far(const struct net_seq *s, uint32_t seq)
{
    int32_t distance = (int32_t)(seq - (uint32_t)s->top);
    return s->known && (distance > 1 << 30 || distance < -(1 << 30));
}

static void again(struct tcp *t, uint64_t bytes)
{
    t->a->counts.retransmissions++;
    t->a->counts.retransmitted_bytes += bytes;
    t->peer->probe_to = 0; /* Karn: it is not known which of the two will be acknowledged */
}

/* ---- SYN ---- */

/* 1: the packet holds nothing else. */
static int take_syn(struct tcp *t, struct err *e)
{
    struct net_flow *f = t->f;
    bool answer = t->side == NET_RESPONDER;
    if (f->syn_seen[t->side]) {
        again(t, 0);
        f->syn_again = true; /* the handshake's times tell nothing now */
        return 1;
    }
    if (t->s->seq.known && (net_seq_bytes(&t->s->seq) || t->s->seq.fin || f->established)) {
        t->a->counts.stray_packets++; /* a begin in the midst of it */
        return 1;
    }
    f->syn_seen[t->side] = true;
    f->syn[t->side] = t->p->seq;
    net_seq_begin(&t->s->seq, t->p->seq + 1);
    t->s->own_ns = t->a->now_ns;
    if (!answer)
        return 0;
    if (f->syn_seen[NET_INITIATOR] && !f->syn_again)
        t->s->round_trip_ns = t->a->now_ns - t->peer->own_ns;
    return net_talk_event(t->a, f, NET_RESPONDER, NET_ACCEPT, 0, e);
}

/* The first packet of the initiator after the SYN-ACK. */
static void establish(struct tcp *t)
{
    struct net_flow *f = t->f;
    if (f->established || t->side != NET_INITIATOR || !f->syn_seen[NET_RESPONDER])
        return;
    f->established = true;
    struct net_side_state *i = &f->sides[NET_INITIATOR], *r = &f->sides[NET_RESPONDER];
    if (!f->syn_again)
        i->round_trip_ns = t->a->now_ns - r->own_ns;
    i->own_ns = r->own_ns + net_talk_path_ns(i);
    r->own_ns = t->a->now_ns + net_talk_path_ns(r);
}

/* ---- ACK ---- */

static void probe_path(struct tcp *t, uint64_t before)
{
    const struct net_seq *peer = &t->peer->seq;
    if (!t->s->probe_to || peer->acknowledged < t->s->probe_to)
        return;
    uint64_t took_ns = t->a->now_ns - t->s->probe_ns;
    bool bare = !t->p->payload_bytes && !(t->p->flags & (NET_SYN | NET_FIN));
    t->s->probe_to = 0;
    bool first = bare && peer->acknowledged - before >= BARE_ACK_BYTES && !t->s->round_trip_ns;
    if (first || took_ns < t->s->round_trip_ns)
        t->s->round_trip_ns = took_ns;
}

static int take_ack(struct tcp *t, struct err *e)
{
    struct net_seq *peer = &t->peer->seq;
    bool advanced;
    if (!peer->known) {
        net_seq_begin(peer, t->p->ack);
        return 0;
    }
    if (far(peer, t->p->ack)) {
        t->a->counts.stray_packets++;
        return 0;
    }
    /* What was on its way when the recording began is no part of it. */
    if (t->f->began_before && !net_seq_bytes(peer) && !peer->fin && !t->f->syn_seen[1 - t->side] &&
            net_seq_unwrap(peer, t->p->ack) > peer->top) {
        net_seq_begin(peer, t->p->ack);
        return 0;
    }
    uint64_t before = peer->acknowledged;
    uint64_t unseen = net_seq_acknowledge(peer, t->p->ack, t->a->now_ns, &advanced);
    int r = unseen ? net_talk_data(t->a, t->f, 1 - t->side, unseen, NET_UNSEEN, e) : 0;
    if (advanced) {
        t->peer->freed_ns = t->a->now_ns;
        probe_path(t, before);
    }
    return r;
}

static void take_window(struct tcp *t)
{
    bool zero = !t->p->window;
    if (zero && !t->s->zero_window)
        t->a->counts.zero_windows++;
    if (!zero && t->s->zero_window)
        t->peer->freed_ns = t->a->now_ns;
    t->s->zero_window = zero;
}

/* ---- data and FIN ---- */

static int take_data(struct tcp *t, struct err *e)
{
    uint32_t seq = t->p->seq + !!(t->p->flags & NET_SYN);
    struct net_advance v = net_seq_take(&t->s->seq, seq, t->p->payload_bytes, t->a->now_ns);
    switch (v.kind) {
    case NET_SEGMENT_NEW:
        if (v.again_bytes)
            again(t, v.again_bytes);
        else if (!t->peer->probe_to) {
            t->peer->probe_to = t->s->seq.top;
            t->peer->probe_ns = t->a->now_ns;
        }
        return net_talk_data(t->a, t->f, t->side, v.new_bytes, v.hole ? NET_UNSEEN : 0, e);
    case NET_SEGMENT_LATE:
        t->a->counts.late_segments++;
        t->a->counts.retransmitted_bytes += v.again_bytes;
        t->peer->probe_to = 0;
        return 0;
    case NET_SEGMENT_AGAIN:
        again(t, v.again_bytes);
        return 0;
    case NET_SEGMENT_KEEP_ALIVE:
        t->a->counts.keep_alives++;
        return 0;
    case NET_SEGMENT_OUTSIDE:
        t->a->counts.stray_packets++;
        return 0;
    case NET_SEGMENT_EMPTY:
        break;
    }
    return 0;
}

static int take_fin(struct tcp *t, struct err *e)
{
    struct net_seq *s = &t->s->seq;
    uint64_t at = net_seq_unwrap(s, t->p->seq + t->p->payload_bytes);
    if (s->fin) {
        if (!t->p->payload_bytes)
            again(t, 0);
        return 0;
    }
    if (at < s->top || far(s, t->p->seq))
        return 0;
    if (at > s->top) { /* bytes before it were missed */
        struct net_advance v = net_seq_take(s, (uint32_t)s->top, (uint32_t)(at - s->top), t->a->now_ns);
        s->missed_bytes += v.new_bytes;
        int r = net_talk_data(t->a, t->f, t->side, v.new_bytes, NET_UNSEEN, e);
        if (r < 0)
            return r;
    }
    s->fin = true;
    s->fin_ns = t->a->now_ns;
    return net_talk_event(t->a, t->f, t->side, t->peer->seq.fin ? NET_CLOSE : NET_HALF_CLOSE, 0, e);
}

/* ---- one packet ---- */

/* Who began a conversation of which no SYN was seen: most servers have the lower port. */
static enum net_side guess(const struct net_packet *p)
{
    return p->source_port < p->destination_port ? NET_RESPONDER : NET_INITIATOR;
}

static int begin(struct tcp *t, struct err *e)
{
    const struct net_packet *p = t->p;
    unsigned marks = NET_BEGAN_BEFORE;
    if (p->flags & NET_SYN) {
        t->side = p->flags & NET_ACK ? NET_RESPONDER : NET_INITIATOR;
        marks = p->flags & NET_ACK ? NET_BEGAN_BEFORE : 0;
    } else {
        t->side = guess(p);
        marks |= NET_INITIATOR_GUESSED;
    }
    return net_talk_begin(t->a, p, t->side, marks, &t->f, e);
}

/* A SYN where there is a conversation of the same tuple: true where it begins another one. */
static bool replaces(const struct tcp *t)
{
    const struct net_flow *f = t->f;
    if ((t->p->flags & (NET_SYN | NET_ACK)) != NET_SYN)
        return false;
    if (f->syn_seen[t->side])
        return f->syn[t->side] != t->p->seq;
    return f->ended || f->began_before || f->syn_seen[NET_RESPONDER]; /* else both open at once */
}

static int replace(struct tcp *t, struct err *e)
{
    int r = 0;
    if (!t->f->ended) {
        t->a->counts.reused_tuples++;
        r = net_talk_event(t->a, t->f, NET_INITIATOR, NET_CUT, 0, e);
    }
    t->a->counts.unseen_bytes += net_seq_missed(&t->f->sides[0].seq) + net_seq_missed(&t->f->sides[1].seq);
    net_flows_drop(&t->a->flows, t->f);
    t->f = NULL;
    return r;
}

static int take(struct tcp *t, struct err *e)
{
    const struct net_packet *p = t->p;
    int r = 0;
    if (p->flags & NET_RST) {
        if (far(&t->s->seq, p->seq)) {
            t->a->counts.stray_packets++;
            return 0;
        }
        r = p->flags & NET_ACK ? take_ack(t, e) : 0;
        return r < 0 ? r : net_talk_event(t->a, t->f, t->side, NET_RESET, 0, e);
    }
    if (p->flags & NET_SYN)
        r = take_syn(t, e);
    else if (!t->s->seq.known)
        net_seq_begin(&t->s->seq, p->seq);
    if (r > 0)
        return 0;
    if (!(p->flags & NET_SYN))
        establish(t);
    if (!r && (p->flags & NET_ACK))
        r = take_ack(t, e);
    if (!(p->flags & NET_SYN))
        take_window(t);
    if (!r)
        r = take_data(t, e);
    if (!r && (p->flags & NET_FIN))
        r = take_fin(t, e);
    return r;
}

bool net_tcp_is_early(const struct net_flow *f, enum net_side side, const struct net_packet *p)
{
    if (f->ended || !(p->flags & NET_ACK) || p->flags & (NET_SYN | NET_RST))
        return false;
    const struct net_seq *peer = &f->sides[1 - side].seq;
    return peer->known && !far(peer, p->ack) && net_seq_unwrap(peer, p->ack) > peer->top + peer->fin;
}

int net_tcp_take(struct net_assembler *a, const struct net_packet *p, struct err *e)
{
    struct tcp t = {.a = a, .p = p};
    int r = 0;
    t.f = net_flows_find(&a->flows, p, &t.side);
    if (t.f && replaces(&t))
        r = replace(&t, e);
    if (!r && !t.f) {
        if (p->flags & NET_RST) {
            a->counts.stray_packets++;
            return 0;
        }
        if (a->conversations == NET_CONVERSATIONS_MAX) {
            a->counts.left_out++;
            return 0;
        }
        r = begin(&t, e);
    }
    if (r < 0)
        return r;
    t.s = &t.f->sides[t.side];
    t.peer = &t.f->sides[1 - t.side];
    bool copy = net_talk_is_copy(a, t.s, p);
    if (t.f->ended) { /* its last ACK, or what was sent again */
        bool bare = !p->payload_bytes && !(p->flags & (NET_SYN | NET_FIN | NET_RST));
        a->counts.stray_packets += !bare && !copy;
        return 0;
    }
    net_flows_touch(&a->flows, t.f, a->now_ns);
    return copy ? 0 : take(&t, e);
}

int net_udp_take(struct net_assembler *a, const struct net_packet *p, struct err *e)
{
    enum net_side side;
    struct net_flow *f = net_flows_find(&a->flows, p, &side);
    int r = 0;
    if (!f && a->conversations == NET_CONVERSATIONS_MAX) {
        a->counts.left_out++;
        return 0;
    }
    if (!f) {
        /* From a well-known port to another: an answer to what was asked before the recording. */
        bool answer = p->source_port < 1024 && p->destination_port >= 1024;
        side = answer ? NET_RESPONDER : NET_INITIATOR;
        r = net_talk_begin(a, p, side, answer ? NET_BEGAN_BEFORE | NET_INITIATOR_GUESSED : 0, &f, e);
    }
    if (r < 0)
        return r;
    net_flows_touch(&a->flows, f, a->now_ns);
    return net_talk_is_copy(a, &f->sides[side], p) ? 0 : net_talk_datagram(a, f, side, p->payload_bytes, e);
}
