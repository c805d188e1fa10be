/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * UDP: udp(7). Sockets are connected, so that strangers' datagrams do not reach them.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replay/peer/datagrams.h"
#include "replay/peer/flow_conv.h"

void udp_connect(struct flow_thread *t, struct conv *c)
{
    struct sockaddr_storage a = flow_address(t->flow, t->flow->o.udp_port);
    c->state = CONV_GREETING;
    c->moved_ns = c->greeting_ns = t->now_ns;
    t->counts.connects++;
    c->fd = socket(a.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, t->flow->o.address_len) < 0) {
        conv_fail(t, c, errno, "cannot open a socket: %s", strerror(errno));
        return;
    }
    arrival_enable(c->fd);
    int r = tcp_follow(t, c);
    if (r < 0) {
        conv_fail(t, c, -r, "cannot follow a socket: %s", strerror(-r));
        return;
    }
    udp_greet(t, c);
}

void udp_greet(struct flow_thread *t, struct conv *c)
{
    uint8_t ask[DATAGRAM_ASK_BYTES] = {c->have_cookie ? 'A' : 'H'};
    if (t->now_ns >= c->greeting_ns + DATAGRAM_GIVE_UP_NS) {
        conv_fail(t, c, ETIMEDOUT, "the other end does not answer datagrams");
        return;
    }
    memcpy(ask + 1, c->token, sizeof c->token);
    memcpy(ask + 1 + sizeof c->token, c->cookie, sizeof c->cookie);
    if (send(c->fd, ask, sizeof ask, MSG_NOSIGNAL) < 0 && errno != EAGAIN && errno != ECONNREFUSED &&
            errno != ENOBUFS) {
        conv_fail(t, c, errno, "cannot send: %s", strerror(errno));
        return;
    }
    conv_set_timer(t, c, t->now_ns + DATAGRAM_AGAIN_NS);
}

static void accepted(const struct conv *c)
{
    uint8_t reply[DATAGRAM_REPLY_BYTES] = {'R'};
    memcpy(reply + 1, c->cookie, sizeof c->cookie);
    send(c->fd, reply, sizeof reply, MSG_NOSIGNAL); /* lost ones are asked for again */
}

/* The door has drained what strangers sent before the socket was connected. */
void udp_accepted(struct flow_thread *t, struct conv *c, int fd)
{
    c->fd = fd;
    arrival_enable(fd);
    int r = tcp_follow(t, c);
    if (r < 0) {
        conv_fail(t, c, -r, "cannot follow a socket: %s", strerror(-r));
        return;
    }
    accepted(c);
    conv_stands(t, c, t->now_ns);
    udp_ready(t, c);
}

/* A datagram that is no data. */
static void control(struct flow_thread *t, struct conv *c, const uint8_t *data, size_t len)
{
    if (!is_initiator(t->flow)) {
        if (data[0] == 'A' && len == DATAGRAM_ASK_BYTES)
            accepted(c);
        return;
    }
    if (c->state != CONV_GREETING || len != DATAGRAM_REPLY_BYTES)
        return;
    if (data[0] == 'C' && !c->have_cookie) {
        memcpy(c->cookie, data + 1, sizeof c->cookie);
        c->have_cookie = true;
        udp_greet(t, c);
    } else if (data[0] == 'R') {
        conv_stands(t, c, t->now_ns);
    }
}

static void data_came(struct flow_thread *t, struct conv *c, size_t len, uint64_t at_ns)
{
    if (c->state == CONV_GREETING)
        conv_stands(t, c, at_ns); /* what said so was lost, or overtaken */
    t->counts.datagrams_received++;
    conv_received(t, c, 1, len, at_ns);
}

void udp_ready(struct flow_thread *t, struct conv *c)
{
    while (c->state == CONV_OPEN || c->state == CONV_GREETING) {
        struct arrival a;
        ssize_t n = arrival_recv(&t->arrivals, c->fd, t->sink, FLOW_BUFFER_BYTES, &a);
        t->now_ns = a.now_ns;
        if (n < 0 && (errno == EINTR || errno == ECONNREFUSED))
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            conv_fail(t, c, errno, "cannot receive: %s", strerror(errno));
            return;
        }
        if (n > 0 && t->sink[0])
            control(t, c, t->sink, (size_t)n);
        else
            data_came(t, c, (size_t)n, a.at_ns);
        uint64_t told = c->told[peer_side(t->flow)];
        if (c->received > told && c->received > told + conv_coming(t, c).units) {
            conv_fail(t, c, EPROTO, "more datagrams came than its events say");
            return;
        }
    }
    if (c->state == CONV_OPEN)
        conv_advance(t, c);
}

void udp_give_up(struct flow_thread *t, struct conv *c)
{
    double speed = t->flow->o.timing == TIMING_ASAP ? 0 : 1 / t->flow->o.speed;
    const struct step *s;
    if (c->state != CONV_OPEN)
        return;
    while ((s = c->peer.first) && s->kind == NET_DATA) {
        uint64_t gap_ns = s->t_ns > c->peer_t_ns ? s->t_ns - c->peer_t_ns : 0;
        uint64_t since_ns = c->heard_ns > c->done_ns ? c->heard_ns : c->done_ns;
        uint64_t floor_ns = atomic_load(&t->flow->start_ns) + (uint64_t)((double)c->connect_t_ns * speed);
        since_ns = since_ns > floor_ns ? since_ns : floor_ns;
        if (t->now_ns < since_ns + 2 * NET_DATAGRAM_TIMEOUT_NS + (uint64_t)((double)gap_ns * speed))
            return;
        c->peer_t_ns = s->t_ns;
        c->given_up++;
        conv_pop(t, &c->peer);
    }
}

int udp_send(struct flow_thread *t, struct conv *c)
{
    uint8_t zero = 0;
    struct iovec part[2] = {
            {&zero, c->left_bytes ? 1 : 0}, {t->flow->payload + c->sent_bytes % FLOW_BUFFER_BYTES,
                                                    c->left_bytes ? (size_t)c->left_bytes - 1 : 0}};
    struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
    ssize_t n;
    do
        n = sendmsg(c->fd, &m, MSG_NOSIGNAL);
    while (n < 0 && (errno == EINTR || errno == ECONNREFUSED));
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n < 0 && errno == ENOBUFS)
        n = 0; /* dropped on the way out, as a full queue would */
    if (n < 0) {
        conv_fail(t, c, errno, "cannot send a datagram of %llu bytes: %s", (unsigned long long)c->left_bytes,
                strerror(errno));
        return -1;
    }
    c->sent_bytes += c->left_bytes;
    t->counts.sent_bytes += c->left_bytes;
    c->left_bytes = 0;
    t->counts.datagrams_sent++;
    return 1;
}
