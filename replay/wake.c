/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/wake.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/order.h"
#include "replay/pace.h"

#define ROUNDS   31
#define PAUSE_NS 100000 /* long enough for the waiting thread to be asleep */

/* The thread that makes the events, and the one that waits for them, in turns. */
struct rounds {
    int event_fd, go_fd, spare_fd; /* for spare_fd nobody waits */
    _Atomic uint64_t made_ns;      /* when the last event was made */
    uint64_t tell_ns[ROUNDS];
};

/* How long making an event takes; 0 where it fails. */
static uint64_t make_event(int fd)
{
    uint64_t count = 1, began_ns = pace_now_ns();
    return write(fd, &count, sizeof count) == sizeof count ? pace_now_ns() - began_ns : 0;
}

static void *make_events(void *arg)
{
    struct rounds *s = arg;
    uint64_t count;
    for (int i = 0; i < ROUNDS; i++) {
        if (read(s->go_fd, &count, sizeof count) != sizeof count)
            return NULL;
        pace_sleep_until(pace_now_ns() + PAUSE_NS);
        make_event(s->spare_fd); /* so that the next is no slower for being the first */
        uint64_t alone_ns = make_event(s->spare_fd);
        atomic_store(&s->made_ns, pace_now_ns());
        uint64_t took_ns = make_event(s->event_fd);
        if (took_ns == 0)
            return NULL;
        s->tell_ns[i] = took_ns > alone_ns ? took_ns - alone_ns : 0;
    }
    return NULL;
}

static uint64_t median(uint64_t value[ROUNDS])
{
    qsort(value, ROUNDS, sizeof *value, order_u64);
    return value[ROUNDS / 2];
}

static int wait_for_events(struct rounds *s, uint64_t *wake_ns, struct err *e)
{
    uint64_t took_ns[ROUNDS], count = 1;
    for (int i = 0; i < ROUNDS; i++) {
        struct pollfd fd = {.fd = s->event_fd, .events = POLLIN};
        if (write(s->go_fd, &count, sizeof count) != sizeof count)
            return err_sys(e, errno, "cannot measure how long a wake-up takes");
        while (ppoll(&fd, 1, NULL, NULL) < 0 && errno == EINTR)
            ;
        took_ns[i] = pace_now_ns() - atomic_load(&s->made_ns);
        if (read(s->event_fd, &count, sizeof count) != sizeof count)
            return err_sys(e, errno, "cannot measure how long a wake-up takes");
        count = 1;
    }
    *wake_ns = median(took_ns);
    return 0;
}

int wake_measure(struct wake *w, struct err *e)
{
    CLEANUP_FD int event_fd = eventfd(0, EFD_CLOEXEC);
    CLEANUP_FD int go_fd = eventfd(0, EFD_CLOEXEC);
    CLEANUP_FD int spare_fd = eventfd(0, EFD_CLOEXEC);
    if (event_fd < 0 || go_fd < 0 || spare_fd < 0)
        return err_sys(e, errno, "cannot measure how long a wake-up takes");
    struct rounds s = {.event_fd = event_fd, .go_fd = go_fd, .spare_fd = spare_fd};
    pthread_t maker;
    int r = pthread_create(&maker, NULL, make_events, &s);
    if (r != 0)
        return err_sys(e, r, "cannot measure how long a wake-up takes");
    r = wait_for_events(&s, &w->wake_ns, e);
    if (r < 0)
        pthread_cancel(maker); /* which may wait in read for a turn that does not come */
    pthread_join(maker, NULL);
    w->tell_ns = median(s.tell_ns);
    return r;
}
