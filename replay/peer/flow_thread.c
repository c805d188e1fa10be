/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/units.h"
#include "replay/peer/flow_conv.h"

#define EVENTS_AT_ONCE 256
#define INBOX          UINT64_MAX /* in place of a conversation's number */
#define FOREVER        UINT64_MAX

/* ---- what others say ---- */

static int append(struct notes *n, const struct note *note, struct err *e)
{
    if (n->count == n->room) {
        size_t room = n->room ? n->room * 2 : 256;
        struct note *list = realloc(n->list, room * sizeof *list);
        if (!list)
            return err_sys(e, ENOMEM, "cannot hold events");
        n->list = list;
        n->room = room;
    }
    n->list[n->count++] = *note;
    return 0;
}

int flow_note(struct flow_thread *t, const struct note *n, struct err *e)
{
    pthread_mutex_lock(&t->lock);
    int r = append(&t->inbox, n, e);
    pthread_mutex_unlock(&t->lock);
    return r;
}

void flow_wake(struct flow_thread *t)
{
    eventfd_write(t->inbox_fd, 1);
}

void flow_notify(struct flow *f)
{
    eventfd_write(f->event_fd, 1);
}

void flow_fail(struct flow *f, const struct err *e)
{
    pthread_mutex_lock(&f->lock);
    if (!f->failed) {
        f->failed = e->code ? -e->code : -EIO;
        f->failure = *e;
    }
    pthread_mutex_unlock(&f->lock);
    flow_notify(f);
}

/* ---- notes ---- */

static void advance_all(struct flow_thread *t)
{
    for (size_t i = 0; i < t->buckets; i++) {
        for (struct conv *c = t->bucket[i], *next; c; c = next) {
            next = c->next;
            conv_advance(t, c);
            conv_retire(t, c);
        }
    }
}

static void advance_held(struct flow_thread *t)
{
    size_t count = t->held_count;
    uint32_t *list = t->held;
    t->held = NULL;
    t->held_count = t->held_room = 0;
    for (size_t i = 0; i < count; i++) {
        struct conv *c = conv_find(t, list[i]);
        if (!c)
            continue;
        c->held = false;
        conv_advance(t, c);
        conv_retire(t, c);
    }
    free(list);
}

static void accepted(struct flow_thread *t, struct conv *c, int fd)
{
    if (!c || c->state != CONV_WAITING) {
        close(fd);
        return;
    }
    if (c->protocol == NET_TCP)
        tcp_accepted(t, c, fd);
    else
        udp_accepted(t, c, fd);
}

static void take_note(struct flow_thread *t, const struct note *n)
{
    struct err e = {0};
    if (n->type == NOTE_GO) {
        advance_all(t);
        return;
    }
    if (n->type == NOTE_ALLOW) {
        advance_held(t);
        return;
    }
    if (n->type == NOTE_EVENT && conv_add(t, &n->event, &e) < 0) {
        flow_fail(t->flow, &e);
        return;
    }
    struct conv *c = conv_find(t, n->type == NOTE_EVENT ? n->event.ev.conversation : n->conversation);
    if (n->type == NOTE_ACCEPT)
        accepted(t, c, n->fd);
    if (!c)
        return;
    if (n->type == NOTE_RELEASE)
        c->reached_ns = n->at_ns;
    conv_advance(t, c);
    conv_retire(t, c);
}

static void take_notes(struct flow_thread *t)
{
    uint64_t ignored;
    eventfd_read(t->inbox_fd, &ignored);
    pthread_mutex_lock(&t->lock);
    struct notes held = t->taken;
    t->taken = t->inbox;
    t->inbox = held;
    t->inbox.count = 0;
    pthread_mutex_unlock(&t->lock);
    t->now_ns = pace_now_ns();
    for (t->taken_next = 0; t->taken_next < t->taken.count;) {
        const struct note *n = &t->taken.list[t->taken_next++];
        take_note(t, n);
    }
    t->taken.count = 0;
}

/* ---- waiting ---- */

static int wait_ns(struct flow_thread *t, struct epoll_event *list, uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    if (ns == 0 || ns == FOREVER) /* without a timer: that costs a microsecond for each message */
        return epoll_wait(t->epoll_fd, list, EVENTS_AT_ONCE, ns == 0 ? 0 : -1);
    if (!t->no_pwait2) {
        int n = epoll_pwait2(t->epoll_fd, list, EVENTS_AT_ONCE, &ts, NULL);
        if (n >= 0 || errno != ENOSYS)
            return n;
        t->no_pwait2 = true; /* before Linux 5.11 */
    }
    struct pollfd p = {t->epoll_fd, POLLIN, 0};
    ppoll(&p, 1, &ts, NULL);
    return epoll_wait(t->epoll_fd, list, EVENTS_AT_ONCE, 0);
}

/* Waits for sockets until the next deadline: asleep, and the last of it with a clock in hand. */
static int wait_ready(struct flow_thread *t, struct epoll_event *list)
{
    const struct timer *first = timers_first(&t->timers);
    if (!first)
        return wait_ns(t, list, FOREVER); /* others wake it: flow_tick */
    uint64_t before_ns = pace_now_ns();
    if (first->due_ns <= before_ns)
        return wait_ns(t, list, 0);
    uint64_t sleep_ns = pace_sleep_ns(&t->pace, before_ns, first->due_ns);
    int n = wait_ns(t, list, sleep_ns);
    uint64_t now_ns = pace_now_ns();
    if (sleep_ns == 0)
        t->pace.spun_ns += now_ns - before_ns;
    else if (n == 0)
        pace_learn(&t->pace, before_ns + sleep_ns, now_ns);
    return n;
}

/* ---- the loop ---- */

static void fire_timers(struct flow_thread *t)
{
    struct timer *first = timers_first(&t->timers);
    if (!first)
        return;
    uint64_t until_ns = pace_now_ns(); /* what sets itself again for now has its turn after the sockets */
    while ((first = timers_first(&t->timers)) && first->due_ns <= until_ns) {
        struct conv *c = (struct conv *)first;
        t->now_ns = pace_now_ns();
        conv_advance(t, c);
        conv_retire(t, c);
    }
}

static void handle(struct flow_thread *t, const struct epoll_event *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (list[i].data.u64 == INBOX)
            take_notes(t);
    }
    for (int i = 0; i < n; i++) {
        struct conv *c = list[i].data.u64 == INBOX ? NULL : conv_find(t, (uint32_t)list[i].data.u64);
        if (!c || c->fd < 0)
            continue;
        t->now_ns = pace_now_ns();
        if (c->protocol == NET_TCP)
            tcp_ready(t, c, list[i].events);
        else
            udp_ready(t, c);
        conv_retire(t, c);
    }
}

void *flow_thread_main(void *context)
{
    struct flow_thread *t = context;
    struct epoll_event list[EVENTS_AT_ONCE];
    struct epoll_event inbox = {EPOLLIN, {.u64 = INBOX}};
    if (epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, t->inbox_fd, &inbox) < 0) {
        struct err e = {0};
        err_sys(&e, errno, "cannot wait for sockets");
        flow_fail(t->flow, &e);
        return NULL;
    }
    pace_init(&t->pace);
    while (!atomic_load(&t->flow->stop)) {
        int n = wait_ready(t, list);
        handle(t, list, n);
        fire_timers(t);
        watch(t);
    }
    return NULL;
}
