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

#include "replay/peer/flow_conv.h"

#define FOLLOW (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

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
    exchange_connected(t, c, code);
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
    if (connect(c->fd, (struct sockaddr *)&a, f->o.address_len) < 0 && errno != EINPROGRESS) {
        connect_failed(t, c, errno);
        return;
    }
    int r = tcp_follow(t, c);
    if (r < 0)
        connect_failed(t, c, -r);
}

/* A new socket takes the token at once, whole. */
static void connected(struct flow_thread *t, struct conv *c)
{
    int code = 0;
    socklen_t len = sizeof code;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
        code = errno;
    if (!code && send(c->fd, c->token, sizeof c->token, MSG_NOSIGNAL) != (ssize_t)sizeof c->token)
        code = errno ? errno : EIO;
    if (code) {
        connect_failed(t, c, code);
        return;
    }
    if (!c->early)
        exchange_connected(t, c, 0);
    conv_stands(t, c);
}

void tcp_accepted(struct flow_thread *t, struct conv *c, int fd)
{
    int one = 1;
    c->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    int r = tcp_follow(t, c);
    if (r < 0) {
        conv_fail(t, c, -r, "cannot follow a connection: %s", strerror(-r));
        return;
    }
    conv_stands(t, c);
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
    conv_received(t, c, 1, 0);
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

/* Reads until nothing is there. Edge-triggered: where a read leaves the buffer unfilled nothing is, unless
 * the end was announced with it. */
static void receive(struct flow_thread *t, struct conv *c, bool to_end)
{
    uint64_t moved = 0;
    while (c->state == CONV_OPEN && !c->fin_received) {
        ssize_t n = recv(c->fd, t->sink, FLOW_BUFFER_BYTES, 0);
        t->now_ns = pace_now_ns();
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            lost(t, c, errno);
            return;
        }
        if (n == 0) {
            ended(t, c);
            return;
        }
        conv_received(t, c, (uint64_t)n, (uint64_t)n);
        if (too_much(t, c)) {
            conv_fail(t, c, EPROTO, "more bytes came than its events say");
            return;
        }
        if (n < FLOW_BUFFER_BYTES && !to_end)
            return;
        moved += (uint64_t)n;
        if (moved >= FLOW_TURN_BYTES) { /* others have their turn; this goes on with the next */
            struct epoll_event ev = {FOLLOW, {.u64 = c->number}};
            epoll_ctl(t->epoll_fd, EPOLL_CTL_MOD, c->fd, &ev);
            return;
        }
    }
}

void tcp_ready(struct flow_thread *t, struct conv *c, uint32_t events)
{
    if (c->state == CONV_CONNECTING)
        connected(t, c);
    if (c->state == CONV_OPEN && events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        receive(t, c, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
    if (c->state != CONV_OPEN)
        return;
    acknowledge(c);
    conv_advance(t, c);
}

int tcp_send(struct flow_thread *t, struct conv *c)
{
    uint64_t moved = 0;
    while (c->left_bytes) {
        size_t len = c->left_bytes < FLOW_BUFFER_BYTES ? (size_t)c->left_bytes : FLOW_BUFFER_BYTES;
        const uint8_t *data = t->flow->payload + c->sent_bytes % FLOW_BUFFER_BYTES;
        ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return 0;
        if (n < 0) {
            lost(t, c, errno);
            return -1;
        }
        c->left_bytes -= (uint64_t)n;
        c->sent_bytes += (uint64_t)n;
        t->counts.sent_bytes += (uint64_t)n;
        moved += (uint64_t)n;
        c->moved_ns = pace_now_ns();
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
