/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A link with delay: carries frames between two TAP devices that it makes in two network namespaces.
 *
 *     tool_delay NAMESPACE TAP NAMESPACE TAP DELAY_US
 *
 * Says `ready` on standard output when both are there; ends on a signal. What arrives leaves DELAY_US later,
 * in order, in either direction; frames beyond QUEUE_FRAMES are dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_FRAMES 8192
#define FRAME_BYTES  2048
#define BATCH        64
#define SPIN_NS      200000

struct frame {
    uint64_t due_ns;
    ssize_t len;
    char data[FRAME_BYTES];
};

struct way { /* from one device to the other */
    int from_fd, to_fd;
    struct frame *ring;
    unsigned head, tail;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "tool_delay: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int make_tap(const char *namespace, const char *name)
{
    char path[256];
    struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    snprintf(path, sizeof path, "/run/netns/%s", namespace);
    int ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0 || setns(ns, CLONE_NEWNET) < 0)
        fail(path);
    close(ns);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &r) < 0)
        fail(name);
    return fd;
}

/* Sends what is due; returns when the next one is. */
static uint64_t release_due(struct way *w, uint64_t now)
{
    while (w->head != w->tail) {
        struct frame *f = &w->ring[w->head % QUEUE_FRAMES];
        if (f->due_ns > now)
            return f->due_ns;
        if (write(w->to_fd, f->data, (size_t)f->len) < 0 && errno == EAGAIN)
            return now + 10000;
        w->head++;
    }
    return UINT64_MAX;
}

static void take(struct way *w, uint64_t delay_ns)
{
    struct frame dropped;
    for (int i = 0; i < BATCH; i++) {
        bool room = w->tail - w->head < QUEUE_FRAMES;
        struct frame *f = room ? &w->ring[w->tail % QUEUE_FRAMES] : &dropped;
        f->len = read(w->from_fd, f->data, sizeof f->data);
        if (f->len <= 0)
            return;
        f->due_ns = now_ns() + delay_ns;
        w->tail += room;
    }
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: tool_delay NAMESPACE TAP NAMESPACE TAP DELAY_US\n");
        return 2;
    }
    int a = make_tap(argv[1], argv[2]), b = make_tap(argv[3], argv[4]);
    uint64_t delay_ns = strtoull(argv[5], NULL, 10) * 1000;
    struct way ways[2] = {{.from_fd = a, .to_fd = b}, {.from_fd = b, .to_fd = a}};
    for (int i = 0; i < 2; i++)
        if (!(ways[i].ring = calloc(QUEUE_FRAMES, sizeof *ways[i].ring)))
            fail("memory");
    prctl(PR_SET_TIMERSLACK, 1UL);
    puts("ready");
    fflush(stdout);
    for (;;) {
        uint64_t now = now_ns(), first = release_due(&ways[0], now), second = release_due(&ways[1], now);
        uint64_t next = first < second ? first : second;
        /* The last of it with a clock in hand: a sleep ends late. */
        uint64_t wait = next == UINT64_MAX ? 1000000000u : next > now + SPIN_NS ? next - now - SPIN_NS : 0;
        struct timespec t = {(time_t)(wait / 1000000000u), (long)(wait % 1000000000u)};
        struct pollfd p[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
        if (ppoll(p, 2, &t, NULL) < 0 && errno != EINTR)
            fail("poll");
        take(&ways[0], delay_ns);
        take(&ways[1], delay_ns);
    }
}
