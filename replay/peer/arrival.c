/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/peer/arrival.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "replay/pace.h"

#define LOOK_NS 100000000u
/* A stamp that is older is of a clock that was set. */
#define AGE_MAX_NS 10000000000u

static uint64_t realtime_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void arrival_look(struct arrival_clock *c, uint64_t now_ns)
{
    if (c->looked_ns && now_ns < c->looked_ns + LOOK_NS)
        return;
    uint64_t before_ns = pace_now_ns(), real_ns = realtime_ns(), after_ns = pace_now_ns();
    c->looked_ns = after_ns;
    c->ahead_ns = (int64_t)(real_ns - (before_ns + (after_ns - before_ns) / 2));
}

void arrival_enable(int fd)
{
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_INQ, &one, sizeof one); /* another protocol's does without */
}

static void take_stamp(const struct arrival_clock *c, const struct cmsghdr *h, struct arrival *a)
{
    struct timespec t;
    memcpy(&t, CMSG_DATA(h), sizeof t);
    uint64_t stamp_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec - (uint64_t)c->ahead_ns;
    if (stamp_ns < a->now_ns && a->now_ns - stamp_ns < AGE_MAX_NS)
        a->at_ns = stamp_ns;
}

ssize_t arrival_recv(const struct arrival_clock *c, int fd, void *data, size_t len, struct arrival *a)
{
    union {
        char room[CMSG_SPACE(sizeof(struct timespec)) + CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {data, len};
    struct msghdr m = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);
    a->at_ns = a->now_ns = pace_now_ns();
    a->drained = false;
    for (struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; h; h = CMSG_NXTHDR(&m, h)) {
        int left;
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPNS)
            take_stamp(c, h, a);
        if (h->cmsg_level != IPPROTO_TCP || h->cmsg_type != TCP_CM_INQ)
            continue;
        memcpy(&left, CMSG_DATA(h), sizeof left);
        a->drained = left == 0;
    }
    return n;
}
