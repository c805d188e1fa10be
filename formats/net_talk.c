/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/net_talk.h"

#include "formats/digest.h"

#define COPY_NS UINT64_C(1000000)
/* The largest datagram that IPv4 can carry, RFC 768 and 791. */
#define DATAGRAM_MAX 65507

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t since(uint64_t now_ns, uint64_t t_ns)
{
    return now_ns > t_ns ? now_ns - t_ns : 0;
}

bool net_talk_is_copy(struct net_assembler *a, struct net_side_state *s, const struct net_packet *p)
{
    const uint64_t seen[] = {p->ip_id, p->seq, p->ack, p->payload_bytes, p->flags, p->window, p->checksum};
    uint64_t print = digest64(seen, sizeof seen);
    bool tells = p->ip_id || (!p->udp && p->payload_bytes);
    bool copy = tells && s->print == print && since(a->now_ns, s->print_ns) <= COPY_NS;
    s->print = print;
    s->print_ns = a->now_ns;
    a->counts.duplicate_packets += copy;
    return copy;
}

/* ---- rounded sizes ---- */

static uint64_t round_up(const struct net_assembler *a, uint64_t bytes)
{
    uint64_t bucket = a->options.size_bucket_bytes;
    return bucket > 1 ? (bytes + bucket - 1) / bucket * bucket : bytes;
}

/* Datagrams are not rounded beyond what can be sent. */
static uint64_t round_datagram(const struct net_assembler *a, uint64_t bytes)
{
    uint64_t rounded = round_up(a, bytes), most = later(bytes, DATAGRAM_MAX);
    return rounded < most ? rounded : most;
}

/* A further send begins. The last entry is that of the send which is going on. */
static void rounding_next(struct net_rounding *r)
{
    if (r->count == NET_BUCKETS_KEPT) {
        for (unsigned i = 0; i + 1 < NET_BUCKETS_KEPT; i++) {
            r->raw[i] = r->raw[i + 1];
            r->rounded[i] = r->rounded[i + 1];
        }
        r->count--;
    }
    r->raw[r->count] = r->count ? r->raw[r->count - 1] : 0;
    r->rounded[r->count] = r->count ? r->rounded[r->count - 1] : 0;
    r->count++;
}

/* The send that is going on has grown: what it has in the tape. */
static uint64_t rounding_grow(const struct net_assembler *a, struct net_rounding *r, uint64_t bytes)
{
    unsigned last = r->count - 1;
    uint64_t raw = last ? r->raw[last - 1] : 0, rounded = last ? r->rounded[last - 1] : 0;
    r->raw[last] += bytes;
    r->rounded[last] = rounded + round_up(a, r->raw[last] - raw);
    return r->rounded[last] - rounded;
}

/* So many bytes of a side, as the tape counts them: no more than it has of them. */
static uint64_t rounding_map(const struct net_rounding *r, uint64_t count)
{
    for (unsigned i = r->count; i-- > 0;) {
        if (count >= r->raw[i]) {
            uint64_t room = i + 1 < r->count ? r->rounded[i + 1] - r->rounded[i] : 0;
            uint64_t more = count - r->raw[i];
            return r->rounded[i] + (more < room ? more : room);
        }
    }
    return 0;
}

/* ---- what a side waited for ---- */

/* Bytes of the peer that a side has acknowledged, its end counted as one more. */
static uint64_t acknowledged(const struct net_flow *f, enum net_side side)
{
    const struct net_seq *peer = &f->sides[1 - side].seq;
    return peer->known ? peer->acknowledged - peer->base : 0;
}

/* The same as the tape has it. */
static uint64_t watermark(const struct net_assembler *a, const struct net_flow *f, enum net_side side)
{
    const struct net_side_state *s = &f->sides[side], *peer = &f->sides[1 - side];
    uint64_t count = acknowledged(f, side), bytes = net_seq_bytes(&peer->seq);
    if (a->options.size_bucket_bytes < 2)
        return count;
    bool end = peer->seq.known && count > bytes;
    return later(s->told, rounding_map(&peer->rounding, end ? bytes : count) + end);
}

/* What passed at the host between what it waited for and now. */
static uint64_t think(const struct net_assembler *a, const struct net_flow *f, enum net_side side)
{
    const struct net_side_state *s = &f->sides[side], *peer = &f->sides[1 - side];
    uint64_t start = s->own_ns, count = acknowledged(f, side);
    if (count > s->waited)
        start = later(start, net_seq_arrival(&peer->seq, count) + net_talk_path_ns(s));
    if (s->freed_ns && since(a->now_ns, s->freed_ns) <= LET_GO_NS + net_talk_path_ns(s))
        start = later(start, s->freed_ns + net_talk_path_ns(s));
    return since(a->now_ns, start);
}

/* ---- events ---- */

static int add(struct net_assembler *a, const struct net_flow *f, struct net_event *ev, bool open,
        net_place *place, struct err *e)
{
    ev->t_ns = a->now_ns;
    ev->conversation = f->number;
    return net_queue_add(&a->queue, ev, NULL, open, place, e);
}

int net_talk_begin(struct net_assembler *a, const struct net_packet *p, enum net_side sender, unsigned marks,
        struct net_flow **out, struct err *e)
{
    struct net_host *host;
    struct net_flow *f;
    int r = net_flows_add(&a->flows, p, sender, &f, e);
    if (r < 0)
        return r;
    f->number = a->conversations;
    struct net_conversation c = {.stream = f->stream,
            .client_port = f->port[NET_INITIATOR],
            .server_port = f->port[NET_RESPONDER],
            .protocol = f->udp ? NET_UDP : NET_TCP,
            .marks = (uint8_t)marks};
    /* In the order of the packet, so that the host that speaks first has the lower number. */
    for (unsigned i = 0; !r && i < NET_SIDES; i++) {
        unsigned side = i ? 1 - sender : sender;
        r = net_hosts_get(&a->hosts, a->w, &f->address[side], a->options.keep_names, &host, e);
        if (!r)
            *(side == NET_INITIATOR ? &c.client : &c.server) = host->id;
    }
    if (!r)
        r = net_hosts_get(&a->hosts, a->w, &f->address[NET_INITIATOR], a->options.keep_names, &host, e);
    if (r < 0)
        return r;
    struct net_event ev = {.t_ns = a->now_ns, .conversation = f->number, .kind = NET_CONNECT};
    f->began_before = marks & NET_BEGAN_BEFORE;
    if (!f->began_before) {
        ev.watermark = host->ended;
        ev.think_ns = since(a->now_ns, host->ended ? host->ended_ns : 0);
        f->sides[NET_INITIATOR].own_ns = f->sides[NET_RESPONDER].own_ns = a->now_ns;
    }
    a->conversations++;
    *out = f;
    return net_queue_add(&a->queue, &ev, &c, false, NULL, e);
}

/* Whether new bytes belong to the send that is going on. */
static bool goes_on(const struct net_assembler *a, const struct net_flow *f, enum net_side side)
{
    const struct net_side_state *s = &f->sides[side];
    return s->send != NET_NO_PLACE && acknowledged(f, side) == s->waited &&
           since(a->now_ns, s->own_ns) <= a->options.pause_ns;
}

int net_talk_data(struct net_assembler *a, struct net_flow *f, enum net_side side, uint64_t bytes,
        unsigned flags, struct err *e)
{
    struct net_side_state *s = &f->sides[side];
    struct net_event *open = net_queue_at(&a->queue, s->send);
    bool same = goes_on(a, f, side);
    int r = 0;
    if (open && same && since(a->now_ns, s->send_ns) < NET_SEND_SPAN_NS) {
        open->bytes = a->options.size_bucket_bytes > 1 ? rounding_grow(a, &s->rounding, bytes)
                                                       : open->bytes + bytes;
        open->flags |= (uint16_t)flags;
    } else {
        struct net_event ev = {.bytes = bytes,
                .watermark = watermark(a, f, side),
                .think_ns = same ? 0 : think(a, f, side),
                .side = (uint8_t)side,
                .kind = NET_DATA,
                .flags = (uint16_t)flags};
        net_queue_close(&a->queue, s->send);
        rounding_next(&s->rounding);
        if (a->options.size_bucket_bytes > 1)
            ev.bytes = rounding_grow(a, &s->rounding, bytes);
        r = add(a, f, &ev, true, &s->send, e);
        s->send_ns = a->now_ns;
        s->waited = acknowledged(f, side);
        s->told = ev.watermark;
    }
    s->own_ns = a->now_ns;
    return r;
}

int net_talk_datagram(
        struct net_assembler *a, struct net_flow *f, enum net_side side, uint64_t bytes, struct err *e)
{
    struct net_side_state *s = &f->sides[side], *peer = &f->sides[1 - side];
    uint64_t start = s->own_ns;
    if (peer->datagrams > s->waited)
        start = later(start, peer->datagram_ns);
    struct net_event ev = {.bytes = round_datagram(a, bytes),
            .watermark = peer->datagrams,
            .think_ns = since(a->now_ns, start),
            .side = (uint8_t)side,
            .kind = NET_DATA};
    s->waited = peer->datagrams;
    s->datagrams++;
    s->own_ns = s->datagram_ns = a->now_ns;
    return add(a, f, &ev, false, NULL, e);
}

/* For its client the conversation is over: with its own FIN, or with a reset. */
static int leave(struct net_assembler *a, struct net_flow *f, struct err *e)
{
    struct net_host *host;
    if (f->left)
        return 0;
    int r = net_hosts_get(&a->hosts, a->w, &f->address[NET_INITIATOR], a->options.keep_names, &host, e);
    if (r < 0)
        return r;
    host->ended++;
    host->ended_ns = a->now_ns;
    f->left = true;
    return 0;
}

int net_talk_event(struct net_assembler *a, struct net_flow *f, enum net_side side, enum net_kind kind,
        unsigned flags, struct err *e)
{
    struct net_side_state *s = &f->sides[side];
    struct net_event ev = {.side = (uint8_t)side, .kind = (uint8_t)kind, .flags = (uint16_t)flags};
    if (kind != NET_ACCEPT && kind != NET_CUT) {
        ev.watermark = watermark(a, f, side);
        ev.think_ns = think(a, f, side);
        s->waited = acknowledged(f, side);
        s->told = ev.watermark;
        s->own_ns = a->now_ns;
    }
    net_queue_close(&a->queue, s->send);
    int r = add(a, f, &ev, false, NULL, e);
    f->ended = f->ended || net_kind_ends(kind);
    a->counts.forgotten += kind == NET_CUT && (flags & NET_FORGOTTEN);
    bool leaves =
            kind == NET_RESET || (side == NET_INITIATOR && (kind == NET_HALF_CLOSE || kind == NET_CLOSE));
    return r < 0 || !leaves ? r : leave(a, f, e);
}
