/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "replay/pace.h"

#define THREADS_MAX 32

/* Links I/Os through their own space. */
struct chain {
    struct target_io *first, *last;
};

struct helpers {
    int64_t (*perform)(const struct target_io *io);
    int event_fd;
    unsigned outstanding; /* the caller's thread only */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct chain wanted, done;
    unsigned threads, idle, queued;
    bool stop;
    pthread_t thread[THREADS_MAX];
};

static void chain_put(struct chain *c, struct target_io *io)
{
    io->space[0] = 0;
    if (c->last)
        c->last->space[0] = (uint64_t)(uintptr_t)io;
    else
        c->first = io;
    c->last = io;
}

static struct target_io *chain_take(struct chain *c)
{
    struct target_io *io = c->first;
    if (!io)
        return NULL;
    c->first = (struct target_io *)(uintptr_t)io->space[0];
    if (!c->first)
        c->last = NULL;
    return io;
}

static void finish(struct helpers *h, struct target_io *io)
{
    uint64_t one = 1;
    pthread_mutex_lock(&h->lock);
    chain_put(&h->done, io);
    pthread_mutex_unlock(&h->lock);
    if (write(h->event_fd, &one, sizeof one) < 0)
        return; /* only at 2^64 - 1 unread events, and then it is readable */
}

static void *helper_thread(void *context)
{
    struct helpers *h = context;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        struct target_io *io = chain_take(&h->wanted);
        if (io) {
            h->queued--;
            pthread_mutex_unlock(&h->lock);
            io->result = h->perform(io);
            io->done_ns = pace_now_ns();
            io->two_step = true;
            finish(h, io);
            pthread_mutex_lock(&h->lock);
        } else if (h->stop) {
            break;
        } else {
            h->idle++;
            pthread_cond_wait(&h->changed, &h->lock);
            h->idle--;
        }
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

int helpers_open(struct helpers **out, int64_t (*perform)(const struct target_io *io), struct err *e)
{
    struct helpers *h = calloc(1, sizeof *h);
    if (!h)
        return err_sys(e, ENOMEM, "cannot start helper threads");
    h->perform = perform;
    h->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (h->event_fd < 0) {
        int code = errno;
        free(h);
        return err_sys(e, code, "cannot start helper threads");
    }
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    *out = h;
    return 0;
}

void helpers_close(struct helpers *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; i < h->threads; i++)
        pthread_join(h->thread[i], NULL);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
    close(h->event_fd);
    free(h);
}

int helpers_fd(const struct helpers *h)
{
    return h->event_fd;
}

int helpers_put(struct helpers *h, struct target_io *io, struct err *e)
{
    int failed = 0;
    pthread_mutex_lock(&h->lock);
    if (h->idle <= h->queued && h->threads < THREADS_MAX) {
        failed = pthread_create(&h->thread[h->threads], NULL, helper_thread, h);
        h->threads += failed == 0;
    }
    if (h->threads) {
        failed = 0;
        chain_put(&h->wanted, io);
        h->queued++;
        h->outstanding++;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return failed ? err_sys(e, failed, "cannot start a helper thread") : 0;
}

unsigned helpers_outstanding(const struct helpers *h)
{
    return h->outstanding;
}

unsigned helpers_take(struct helpers *h, struct target_io **done, unsigned max)
{
    unsigned n = 0;
    uint64_t events;
    if (read(h->event_fd, &events, sizeof events) < 0 && errno != EAGAIN)
        return 0;
    pthread_mutex_lock(&h->lock);
    while (n < max && (done[n] = chain_take(&h->done)))
        n++;
    pthread_mutex_unlock(&h->lock);
    h->outstanding -= n;
    return n;
}
