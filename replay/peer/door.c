/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/door.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/units.h"
#include "replay/pace.h"
#include "replay/peer/arrival.h"
#include "replay/peer/datagrams.h"
#include "replay/peer/door_listen.h"

#define EVENTS_AT_ONCE 64
#define SHORT_OF_NS    20000000u
#define DATAGRAM_BYTES 2048 /* longer ones are of strangers */

/* A connection that has not brought its token yet; the oldest is first in the list. */
struct stranger {
    struct stranger *next, *previous;
    int fd;
    size_t have;
    uint8_t token[EVENTS_TOKEN_BYTES];
    uint64_t since_ns;
};

struct door {
    struct tokens *tokens;
    struct flow *flow;
    int tcp_fd[FLOW_PORTS_MAX], udp_fd, stop_fd, epoll_fd;
    unsigned tcp_ports;
    struct stranger *first, *last;
    unsigned strangers;
    uint64_t turned_away;
    pthread_t thread;
    bool running;
    atomic_bool stop;
    struct arrival_clock arrivals;
};

/* ---- strangers ---- */

static void unlink_stranger(struct door *d, struct stranger *s)
{
    *(s->previous ? &s->previous->next : &d->first) = s->next;
    *(s->next ? &s->next->previous : &d->last) = s->previous;
    d->strangers--;
}

static void turn_away(struct door *d, struct stranger *s)
{
    unlink_stranger(d, s);
    close(s->fd);
    free(s);
    d->turned_away++;
}

static void let_in(struct door *d, struct stranger *s, uint32_t conversation, uint64_t at_ns)
{
    struct err e = {0};
    epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
    unlink_stranger(d, s);
    flow_accept(d->flow, conversation, s->fd, at_ns,
            &e); /* out of memory: the conversation stalls, and says so */
    free(s);
}

/* Reads what is missing of the token, and not a byte more. */
static void listen_to(struct door *d, struct stranger *s)
{
    uint32_t conversation;
    struct arrival a;
    ssize_t n = arrival_recv(&d->arrivals, s->fd, s->token + s->have, sizeof s->token - s->have, &a);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        s->have += (size_t)n;
    if (n > 0 && s->have < sizeof s->token)
        return;
    if (n > 0 && tokens_redeem(d->tokens, s->token, NET_TCP, NULL, &conversation))
        let_in(d, s, conversation, a.at_ns);
    else
        turn_away(d, s);
}

static void greet(struct door *d, int fd)
{
    if (d->strangers == DOOR_STRANGERS_MAX)
        turn_away(d, d->first);
    struct stranger *s = calloc(1, sizeof *s);
    struct epoll_event ev = {EPOLLIN, {.ptr = s}};
    if (!s || epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0) {
        free(s);
        close(fd);
        d->turned_away++;
        return;
    }
    *s = (struct stranger){.fd = fd, .previous = d->last, .since_ns = pace_now_ns()};
    *(d->last ? &d->last->next : &d->first) = s;
    d->last = s;
    d->strangers++;
    listen_to(d, s);
}

static void accept_all(struct door *d, int listener)
{
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            greet(d, fd);
        } else if ((errno == EMFILE || errno == ENFILE) && d->first) {
            turn_away(d, d->first);
        } else {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                pace_sleep_until(pace_now_ns() + SHORT_OF_NS); /* of files or memory; else this would spin */
            return;
        }
    }
}

/* ---- datagrams ---- */

static void answer(struct door *d, int fd, const uint8_t *data, size_t len,
        const struct sockaddr_storage *from, socklen_t from_len);

/* What came to the new socket before it was connected belongs to others, perhaps. */
static void sort_out(struct door *d, int fd)
{
    uint8_t data[DATAGRAM_BYTES];
    struct sockaddr_storage from;
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        socklen_t len = sizeof from;
        ssize_t n = recvfrom(fd, data, sizeof data, MSG_TRUNC, (struct sockaddr *)&from, &len);
        if (n < 0)
            return;
        answer(d, d->udp_fd, data, (size_t)n, &from, len);
    }
}

static void answer(struct door *d, int fd, const uint8_t *data, size_t len,
        const struct sockaddr_storage *from, socklen_t from_len)
{
    uint8_t reply[DATAGRAM_REPLY_BYTES] = {'C'};
    const uint8_t *token = data + 1, *cookie = token + EVENTS_TOKEN_BYTES;
    uint32_t conversation;
    if (len != DATAGRAM_ASK_BYTES)
        return;
    if (data[0] == 'H' && tokens_cookie(d->tokens, token, reply + 1))
        sendto(fd, reply, sizeof reply, MSG_NOSIGNAL, (const struct sockaddr *)from, from_len);
    if (data[0] != 'A' || !tokens_redeem(d->tokens, token, NET_UDP, cookie, &conversation))
        return;
    int own_fd = door_branch(d->udp_fd, (const struct sockaddr *)from, from_len, NULL);
    if (own_fd < 0)
        return; /* the other end gives up, and says so */
    sort_out(d, own_fd);
    flow_accept(d->flow, conversation, own_fd, pace_now_ns(), NULL);
}

static void receive_all(struct door *d)
{
    uint8_t data[DATAGRAM_BYTES];
    struct sockaddr_storage from;
    for (int i = 0; i < EVENTS_AT_ONCE; i++) {
        socklen_t len = sizeof from;
        ssize_t n = recvfrom(d->udp_fd, data, sizeof data, MSG_TRUNC, (struct sockaddr *)&from, &len);
        if (n < 0)
            return;
        answer(d, d->udp_fd, data, (size_t)n, &from, len);
    }
}

/* ---- the thread ---- */

static void turn_away_late(struct door *d)
{
    uint64_t now_ns = pace_now_ns();
    while (d->first && now_ns - d->first->since_ns >= DOOR_PATIENCE_NS)
        turn_away(d, d->first);
}

/* Listeners are told from strangers by where their pointers point to. */
static void *door_thread(void *context)
{
    struct door *d = context;
    struct epoll_event list[EVENTS_AT_ONCE];
    while (!atomic_load(&d->stop)) {
        int n = epoll_wait(d->epoll_fd, list, EVENTS_AT_ONCE, 250);
        arrival_look(&d->arrivals, pace_now_ns());
        for (int i = 0; i < n; i++) { /* strangers first: accepting may free one */
            const int *fd = list[i].data.ptr;
            if (fd < d->tcp_fd || fd > &d->stop_fd)
                listen_to(d, list[i].data.ptr);
        }
        for (int i = 0; i < n; i++) {
            const int *fd = list[i].data.ptr;
            if (fd == &d->udp_fd)
                receive_all(d);
            else if (fd >= d->tcp_fd && fd < d->tcp_fd + FLOW_PORTS_MAX)
                accept_all(d, *fd);
        }
        turn_away_late(d);
    }
    return NULL;
}

static int follow(struct door *d, int *fd, struct err *e)
{
    struct epoll_event ev = {EPOLLIN, {.ptr = fd}};
    return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, *fd, &ev) < 0 ? err_sys(e, errno, "cannot wait for sockets")
                                                               : 0;
}

static int open_sockets(struct door *d, const struct sockaddr *address, socklen_t len, struct err *e)
{
    uint16_t port = ntohs(address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                                         : ((const struct sockaddr_in *)address)->sin_port);
    unsigned wanted = port ? 1 : FLOW_PORTS_MAX;
    while (d->tcp_ports < wanted) {
        int fd = door_listen(address, len, SOCK_STREAM, port, e);
        if (fd < 0)
            return fd;
        d->tcp_fd[d->tcp_ports++] = fd;
        int r = follow(d, &d->tcp_fd[d->tcp_ports - 1], e);
        if (r < 0)
            return r;
    }
    d->udp_fd = door_listen(address, len, SOCK_DGRAM, port, e);
    return d->udp_fd < 0 ? d->udp_fd : follow(d, &d->udp_fd, e);
}

int door_open(struct door **out, const struct sockaddr *address, socklen_t address_len, struct tokens *tokens,
        struct flow *flow, struct err *e)
{
    struct door *d = calloc(1, sizeof *d);
    if (!d)
        return err_sys(e, ENOMEM, "cannot listen");
    d->tokens = tokens;
    d->flow = flow;
    d->udp_fd = -1;
    d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int r = d->stop_fd < 0 || d->epoll_fd < 0 ? err_sys(e, errno, "cannot listen")
                                              : follow(d, &d->stop_fd, e);
    if (r == 0)
        r = open_sockets(d, address, address_len, e);
    if (r == 0) {
        int failed = pthread_create(&d->thread, NULL, door_thread, d);
        d->running = failed == 0;
        r = failed ? err_sys(e, failed, "cannot start a thread") : 0;
    }
    if (r < 0) {
        door_close(d);
        return r;
    }
    *out = d;
    return 0;
}

unsigned door_ports(const struct door *d, uint16_t tcp[FLOW_PORTS_MAX], uint16_t *udp)
{
    for (unsigned i = 0; i < d->tcp_ports; i++)
        tcp[i] = door_port(d->tcp_fd[i]);
    *udp = door_port(d->udp_fd);
    return d->tcp_ports;
}

uint64_t door_close(struct door *d)
{
    if (!d)
        return 0;
    atomic_store(&d->stop, true);
    if (d->running) {
        eventfd_write(d->stop_fd, 1);
        pthread_join(d->thread, NULL);
    }
    while (d->first)
        turn_away(d, d->first);
    for (unsigned i = 0; i < d->tcp_ports; i++)
        close(d->tcp_fd[i]);
    if (d->udp_fd >= 0)
        close(d->udp_fd);
    if (d->stop_fd >= 0)
        close(d->stop_fd);
    if (d->epoll_fd >= 0)
        close(d->epoll_fd);
    uint64_t turned_away = d->turned_away;
    free(d);
    return turned_away;
}
