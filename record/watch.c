/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/base/units.h"

#define LOOK_S     1
#define PATIENCE_S 2 /* for the thread to end */

struct domain {
    const char *name;
    char *known; /* its description, without what changes all the time; the thread's */
    struct guest news;
    bool is_gone; /* which is news once */
    bool is_told;
    uint64_t at_ns;
};

struct watch {
    struct virt *virt;
    struct domain *domains;
    size_t count;
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, and of the news */
    pthread_cond_t ending;
    bool ends;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* The thread's: asks without the lock. */
static void look(struct watch *w, struct domain *d)
{
    char *xml = NULL;
    int status = virt_describe(w->virt, d->name, &xml, NULL);
    bool gone = status == -ENOENT || status == -ESRCH;
    if (status < 0 && !gone)
        return; /* not known: libvirtd may be restarting */
    bool same = xml && d->known && strcmp(xml, d->known) == 0;
    struct guest guest = {0};
    if (same || (gone && d->is_gone) || (xml && virt_guest(w->virt, xml, &guest, NULL) < 0)) {
        guest_release(&guest); /* the next description may be better */
        free(xml);
        return;
    }
    bool first = !d->known && !d->is_gone; /* what is back after it was gone is news */
    free(d->known);
    d->known = xml;
    pthread_mutex_lock(&w->lock);
    guest_release(&d->news);
    d->news = guest;
    d->is_gone = gone;
    d->at_ns = now_ns();
    d->is_told = first && !gone;
    pthread_mutex_unlock(&w->lock);
}

static void *run(void *self)
{
    struct watch *w = self;
    pthread_mutex_lock(&w->lock);
    while (!w->ends) {
        pthread_mutex_unlock(&w->lock);
        for (size_t i = 0; i < w->count; i++)
            look(w, &w->domains[i]);
        pthread_mutex_lock(&w->lock);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += LOOK_S;
        if (!w->ends)
            pthread_cond_timedwait(&w->ending, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void release(struct watch *w)
{
    for (size_t i = 0; w->domains && i < w->count; i++) {
        free(w->domains[i].known);
        guest_release(&w->domains[i].news);
    }
    pthread_cond_destroy(&w->ending);
    pthread_mutex_destroy(&w->lock);
    free(w->domains);
    free(w);
}

/* Signals are the main thread's. */
static int start(struct watch *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&w->thread, NULL, run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

int watch_open(struct watch **out, struct virt *virt, const char *const *domains, size_t count, struct err *e)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return err_sys(e, ENOMEM, "cannot watch domains");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ending, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&w->lock, NULL);
    w->virt = virt;
    w->count = count;
    w->domains = calloc(count, sizeof *w->domains);
    for (size_t i = 0; w->domains && i < count; i++)
        w->domains[i] = (struct domain){.name = domains[i], .is_told = true};
    int code = w->domains ? start(w) : ENOMEM;
    if (code) {
        release(w);
        return err_sys(e, code, "cannot watch domains");
    }
    *out = w;
    return 0;
}

bool watch_take(struct watch *w, struct watch_event *event)
{
    bool any = false;
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; !any && i < w->count; i++) {
        struct domain *d = &w->domains[i];
        any = !d->is_told;
        if (!any)
            continue;
        *event = (struct watch_event){i, d->at_ns, d->is_gone, d->news};
        d->news = (struct guest){0};
        d->is_told = true;
    }
    pthread_mutex_unlock(&w->lock);
    return any;
}

bool watch_close(struct watch *w)
{
    if (!w)
        return true;
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_signal(&w->ending);
    pthread_mutex_unlock(&w->lock);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (pthread_timedjoin_np(w->thread, NULL, &until) != 0)
        return false; /* what it uses stays until the process ends */
    release(w);
    return true;
}
