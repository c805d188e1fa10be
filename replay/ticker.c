/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/ticker.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/units.h"
#include "replay/pace.h"
#include "replay/status.h"

#define TICK_NS 500000000

struct ticker {
    const char *what;
    const uint64_t *done;
    uint64_t total, start_ns;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stop;
};

static void show(const struct ticker *t, struct status *status)
{
    char elapsed[UNITS_TEXT_BYTES];
    uint64_t done = __atomic_load_n(t->done, __ATOMIC_RELAXED);
    status_show(status, "%s: %s, %llu of %llu I/Os", t->what,
            units_duration(pace_now_ns() - t->start_ns, elapsed), (unsigned long long)done,
            (unsigned long long)t->total);
}

static void *ticker_thread(void *context)
{
    struct ticker *t = context;
    struct status status = {0};
    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NS;
        until.tv_sec += until.tv_nsec / (long)NS_PER_S;
        until.tv_nsec %= (long)NS_PER_S;
        if (pthread_cond_timedwait(&t->changed, &t->lock, &until) == ETIMEDOUT)
            show(t, &status);
    }
    pthread_mutex_unlock(&t->lock);
    status_clear(&status);
    return NULL;
}

int ticker_open(struct ticker **out, const char *what, const uint64_t *done, uint64_t total, struct err *e)
{
    *out = NULL;
    if (!isatty(STDERR_FILENO))
        return 0;
    struct ticker *t = calloc(1, sizeof *t);
    if (!t)
        return err_sys(e, ENOMEM, "cannot show progress");
    *t = (struct ticker){.what = what, .done = done, .total = total, .start_ns = pace_now_ns()};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    int failed = pthread_create(&t->thread, NULL, ticker_thread, t);
    if (failed) {
        free(t);
        return err_sys(e, failed, "cannot show progress");
    }
    *out = t;
    return 0;
}

void ticker_close(struct ticker *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}
