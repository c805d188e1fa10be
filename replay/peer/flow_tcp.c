/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * TCP: tcp(7), socket(7). Sockets are edge-triggered, so that a conversation costs no call of epoll_ctl but
 * one.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "formats/base/units.h"
#include "replay/peer/flow_conv.h"

#define SEND_MAX_NS 20000
#define FOLLOW      (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

int tcp_follow(struct flow_thread *t, const struct conv *c)
{
    struct epoll_event ev = {FOLLOW, {.u64 = c->number}};
    return epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, c->fd, &ev) < 0 ? -errno : 0;
}

uint64_t tcp_retransmits(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 ? info.tcpi_total_retrans : 0;
}

/* ---- connecting ---- */

struct sockaddr_storage flow_address(const struct flow *f, uint16_t port)
{
    struct sockaddr_storage a = f->o.address;
    if (a.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&a)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&a)->sin_port = htons(port);
    return a;
}

static void connect_failed(struct flow_thread *t, struct conv *c, int code)
{
    const char *hint = code == EADDRNOTAVAIL ? " (too many connections in TIME_WAIT?)" : "";
    exchange_connected(t, c, code, t->now_ns);
    conv_fail(t, c, code, "cannot connect: %s%s", strerror(code), hint);
}

void tcp_connect(struct flow_thread *t, struct conv *c)
{
    const struct flow *f = t->flow;
    struct sockaddr_storage a = flow_address(f, f->o.tcp_port[c->number % f->o.tcp_ports]);
    int one = 1;
    c->state = CONV_CONNECTING;
    c->moved_ns = t->now_ns;
    t->counts.connects++;
    c->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0) {
        connect_failed(t, c, errno);
        return;
    }
    arrival_enable(c->fd);
    c->connect_issued_ns = pace_now_ns();
    if (connect(c->fd, (struct sockaddr *)&a, f->o.address_len) < 0 && errno != EINPROGRESS) {
        connect_failed(t, c, errno);
        return;
    }
    int r = tcp_follow(t, c);
    if (r < 0)
        connect_failed(t, c, -r);
}

/* When the connection stood: the kernel knows how long the answer to the SYN took, of which this thread
 * learns after a wake-up only. */
static uint64_t stood_ns(const struct flow_thread *t, const struct conv *c)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    bool known = getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_rtt &&
                 !info.tcpi_total_retrans;
    uint64_t at_ns = known ? c->connect_issued_ns + info.tcpi_rtt * NS_PER_US : t->now_ns;
    return at_ns < t->now_ns ? at_ns : t->now_ns;
}

/* A new socket takes the token at once, whole. */
static void connected(struct flow_thread *t, struct conv *c)
{
    int code = 0;
    socklen_t len = sizeof code;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
        code = errno;
    uint64_t at_ns = stood_ns(t, c);
    if (!code && send(c->fd, c->token, sizeof c->token, MSG_NOSIGNAL) != (ssize_t)sizeof c->token)
        code = errno ? errno : EIO;
    if (code) {
        connect_failed(t, c, code);
        return;
    }
    if (!c->early)
        exchange_connected(t, c, 0, at_ns);
    conv_stands(t, c, at_ns);
}

void tcp_accepted(struct flow_thread *t, struct conv *c, int fd, uint64_t at_ns)
{
    int one = 1;
    c->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    int r = tcp_follow(t, c);
    if (r < 0) {
        conv_fail(t, c, -r, "cannot follow a connection: %s", strerror(-r));
        return;
    }
    conv_stands(t, c, at_ns);
    tcp_ready(t, c, EPOLLIN);
}

/* ---- data ---- */

/* The recording has such a reset, and nothing is left to do. */
static bool reset_expected(const struct conv *c)
{
    return c->end_known && !c->own.first && c->peer.first && c->peer.first->kind == NET_RESET;
}

/* True where more has come than even events tell that stand in the inbox. */
static bool too_much(struct flow_thread *t, const struct conv *c)
{
    uint64_t told = c->told[peer_side(t->flow)];
    return c->received > told && c->received > told + conv_coming(t, c).units;
}

static void lost(struct flow_thread *t, struct conv *c, int code)
{
    struct coming coming = {0};
    if (code == ECONNRESET && !c->end_known && !c->own.first)
        coming = conv_coming(t, c);
    if (code == ECONNRESET && (reset_expected(c) || coming.reset) &&
            c->received_bytes == c->told_bytes[peer_side(t->flow)] + coming.bytes) {
        conv_release_client(t, c);
        conv_close(t, c);
        return;
    }
    conv_fail(t, c, code, "the connection broke: %s", strerror(code));
}

static void ended(struct flow_thread *t, struct conv *c)
{
    if (c->fin_received)
        return;
    c->fin_received = true;
    conv_received(t, c, 1, 0, t->now_ns);
    if (!c->cut && too_much(t, c) && !conv_coming(t, c).cut)
        conv_fail(t, c, EPIPE, "the other end closed it at byte %llu, before its time",
                (unsigned long long)c->received_bytes);
}

/* A reset waits until what was sent before it is acknowledged, which the kernel might delay. */
static void acknowledge(const struct conv *c)
{
    int one = 1;
    if (c->peer.first && c->peer.first->kind == NET_RESET)
        setsockopt(c->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one);
}

/* What to read at once: up to what the next step waits for, so that its time of arrival is known. */
static size_t next_bytes(const struct conv *c)
{
    const struct step *own = c->own.first;
    uint64_t left = own && own->watermark > c->received ? own->watermark - c->received : UINT64_MAX;
    return left < FLOW_BUFFER_BYTES ? (size_t)left : FLOW_BUFFER_BYTES;
}

/* Reads until nothing is there, or the next step may begin: then true. Edge-triggered: where a read leaves
 * the buffer unfilled nothing is there, unless the end was announced with it. */
static bool receive(struct flow_thread *t, struct conv *c, bool to_end)
{
    uint64_t moved = 0;
    while (c->state == CONV_OPEN && !c->fin_received) {
        size_t wanted = next_bytes(c);
        struct arrival a;
        ssize_t n = arrival_recv(&t->arrivals, c->fd, t->sink, wanted, &a);
        t->now_ns = a.now_ns;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n < 0) {
            lost(t, c, errno);
            return false;
        }
        if (n == 0) {
            ended(t, c);
            return false;
        }
        t->streaming = n > FLOW_SMALL_BYTES;
        conv_received(t, c, (uint64_t)n, (uint64_t)n, a.at_ns);
        if (too_much(t, c)) {
            conv_fail(t, c, EPROTO, "more bytes came than its events say");
            return false;
        }
        if (((size_t)n < wanted || a.drained) && !to_end)
            return false;
        if ((size_t)n == wanted && wanted < FLOW_BUFFER_BYTES)
            return true;
        moved += (uint64_t)n;
        if (moved >= FLOW_TURN_BYTES) { /* others have their turn; this goes on with the next */
            struct epoll_event ev = {FOLLOW, {.u64 = c->number}};
            epoll_ctl(t->epoll_fd, EPOLL_CTL_MOD, c->fd, &ev);
            return false;
        }
    }
    return false;
}

void tcp_ready(struct flow_thread *t, struct conv *c, uint32_t events)
{
    bool to_end = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR), readable = to_end || events & EPOLLIN;
    bool more = true;
    if (c->state == CONV_CONNECTING)
        connected(t, c);
    while (more && c->state == CONV_OPEN) {
        more = readable && receive(t, c, to_end);
        if (c->state != CONV_OPEN)
            return;
        acknowledge(c);
        conv_advance(t, c);
    }
    t->hot = c->number;
}

bool tcp_look(struct flow_thread *t, struct conv *c)
{
    uint64_t before = c->received;
    bool more = receive(t, c, false);
    if (c->received == before && c->state == CONV_OPEN)
        return false;
    if (c->state == CONV_OPEN) {
        acknowledge(c);
        conv_advance(t, c);
    }
    if (more && c->state == CONV_OPEN)
        tcp_ready(t, c, EPOLLIN);
    return true;
}

/* One that was interrupted tells little. */
static void learn_send(struct flow_thread *t, uint64_t took_ns)
{
    if (took_ns > SEND_MAX_NS)
        took_ns = SEND_MAX_NS;
    t->send_ns = t->send_ns ? (7 * t->send_ns + took_ns) / 8 : took_ns;
}

int tcp_send(struct flow_thread *t, struct conv *c)
{
    uint64_t moved = 0;
    while (c->left_bytes) {
        size_t len = c->left_bytes < FLOW_BUFFER_BYTES ? (size_t)c->left_bytes : FLOW_BUFFER_BYTES;
        const uint8_t *data = t->flow->payload + c->sent_bytes % FLOW_BUFFER_BYTES;
        uint64_t before_ns = pace_now_ns();
        ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            t->streaming = true;
            return 0;
        }
        if (n < 0) {
            lost(t, c, errno);
            return -1;
        }
        c->left_bytes -= (uint64_t)n;
        c->sent_bytes += (uint64_t)n;
        t->counts.sent_bytes += (uint64_t)n;
        moved += (uint64_t)n;
        c->moved_ns = pace_now_ns();
        if (n <= FLOW_SMALL_BYTES)
            learn_send(t, c->moved_ns - before_ns);
        if (moved >= FLOW_TURN_BYTES && c->left_bytes) {
            conv_set_timer(t, c, t->now_ns);
            return 0;
        }
    }
    return 1;
}

int tcp_shut(struct flow_thread *t, struct conv *c)
{
    if (c->fin_sent)
        return 0;
    if (shutdown(c->fd, SHUT_WR) < 0) {
        lost(t, c, errno);
        return -1;
    }
    c->fin_sent = true;
    return 0;
}

int tcp_reset(struct flow_thread *t, struct conv *c)
{
    struct linger now = {1, 0};
    int waiting = 0;
    if (ioctl(c->fd, SIOCOUTQ, &waiting) == 0 && waiting > 0)
        return 0;
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    (void)t;
    return 1;
}
