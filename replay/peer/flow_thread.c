/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <poll.h>
#include <sched.h>
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
#define LOOK_NS        2000u
/* Who sleeps is often woken where the other end runs. */
#define POLLS       4
#define GIVE_WAY_NS 1000000u
#define MET_FEW     3
#define MET_MAX     8

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

static void accepted(struct flow_thread *t, struct conv *c, int fd, uint64_t at_ns)
{
    if (!c || c->state != CONV_WAITING) {
        close(fd);
        return;
    }
    if (c->protocol == NET_TCP)
        tcp_accepted(t, c, fd, at_ns);
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
    if (n->type == NOTE_ABSENT && c && c->state == CONV_WAITING)
        conv_fail(t, c, n->code, "the initiator could not open it: %s", strerror(n->code));
    if (n->type == NOTE_ACCEPT)
        accepted(t, c, n->fd, n->at_ns);
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

/* Who looks for packets on the CPU where they come in keeps them waiting; and where both ends are on one
 * host, that is where the other end wants to run. One end gives way at once, else they would meet again; the
 * other one first leaves the CPU to it, and goes where that did not help. */
static void give_way(struct flow_thread *t, const struct conv *c)
{
    cpu_set_t others = t->cpus;
    int cpu = -1;
    socklen_t len = sizeof cpu;
    if (t->now_ns < t->moved_ns + (GIVE_WAY_NS << (t->met < MET_MAX ? t->met : MET_MAX)))
        return;
    t->moved_ns = t->now_ns;
    if (getsockopt(c->fd, SOL_SOCKET, SO_INCOMING_CPU, &cpu, &len) < 0 || cpu != sched_getcpu()) {
        t->met = 0;
        return;
    }
    CPU_CLR(cpu, &others);
    t->met++;
    if (CPU_COUNT(&others) && (is_initiator(t->flow) || t->met > MET_FEW)) {
        sched_setaffinity(0, sizeof others, &others);
        sched_setaffinity(0, sizeof t->cpus, &t->cpus); /* it may come back */
    }
    pace_shared(&t->pace, t->now_ns);
}

/* Looks at the sockets until the time, or until one of them has something: how many, or -1 where what there
 * was has been done already. The one that was ready last comes first: a call less for each answer. */
static int look(
        struct flow_thread *t, struct epoll_event *list, uint64_t now_ns, uint64_t until_ns, bool near)
{
    uint64_t before_ns = now_ns;
    struct conv *hot = t->open ? conv_find(t, t->hot) : NULL;
    bool found = false;
    int n = 0;
    if (hot && (hot->state != CONV_OPEN || hot->protocol != NET_TCP || hot->stepping))
        hot = NULL;
    for (unsigned i = 1; n == 0 && !found && now_ns < until_ns; i++) {
        uint64_t began_ns = now_ns;
        bool time = !near || until_ns - now_ns > LOOK_NS; /* for more than the clock */
        found = time && hot && tcp_look(t, hot);
        if (time && !found && (!hot || t->open > 1 || i % 16 == 0))
            n = wait_ns(t, list, 0);
        if (time && n == 0 && !found)
            pace_pause(i);
        now_ns = pace_now_ns();
        if (n == 0 && !found)
            t->pace.spun_ns += pace_learn_look(&t->pace, now_ns - began_ns, now_ns);
    }
    if (found) {
        pace_learn_wait(&t->pace, now_ns - before_ns);
        give_way(t, hot);
        conv_retire(t, hot);
    }
    return found ? -1 : n;
}

/* Sleeps until a socket has something, or shortly before the deadline. Others wake it, too: flow_tick. */
static int doze(struct flow_thread *t, struct epoll_event *list, uint64_t due_ns)
{
    uint64_t before_ns = pace_now_ns();
    uint64_t sleep_ns = due_ns == FOREVER ? FOREVER : pace_sleep_ns(&t->pace, before_ns, due_ns);
    int n = wait_ns(t, list, sleep_ns);
    if (n == 0 && sleep_ns > 0 && sleep_ns != FOREVER)
        pace_learn(&t->pace, before_ns + sleep_ns, pace_now_ns());
    return n;
}

/* Waits for sockets until the next deadline: a while with a clock in hand where they are ready soon as a rule
 * (pace.h), then asleep, and the last of it with a clock in hand again. */
static int wait_ready(struct flow_thread *t, struct epoll_event *list)
{
    const struct timer *first = timers_first(&t->timers);
    uint64_t due_ns = first ? first->due_ns : FOREVER, before_ns = pace_now_ns();
    if (due_ns <= before_ns)
        return wait_ns(t, list, 0);
    uint64_t poll_ns = t->open && !t->streaming ? POLLS * pace_poll_ns(&t->pace, before_ns) : 0;
    bool near = first && pace_sleep_ns(&t->pace, before_ns, due_ns) <= poll_ns;
    int n = near || poll_ns ? look(t, list, before_ns, near ? due_ns : before_ns + poll_ns, near) : 0;
    if (n == 0 && !near)
        n = doze(t, list, due_ns);
    if (n > 0)
        pace_learn_wait(&t->pace, pace_now_ns() - before_ns);
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
    pace_init(&t->pace, t->flow->o.threads);
    sched_getaffinity(0, sizeof t->cpus, &t->cpus);
    while (!atomic_load(&t->flow->stop)) {
        int n = wait_ready(t, list);
        arrival_look(&t->arrivals, pace_now_ns());
        handle(t, list, n);
        fire_timers(t);
        watch(t);
    }
    return NULL;
}
