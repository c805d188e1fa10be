/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One queue for all LUNs. It learns of them by what is submitted.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/pace.h"
#include "replay/target/iscsi.h"

/* How often deadlines are looked at. */
#define TICK_NS UINT64_C(10000000)

struct target_queue {
    unsigned depth, head, count; /* a ring of what has completed */
    struct isc_lun **lun;
    unsigned luns;
    struct pollfd *fd; /* room for all paths of all LUNs */
    struct isc_path **polled;
    uint64_t ticked_ns;
    struct target_io *ring[];
};

int isc_queue_open(struct target_queue **out, unsigned depth, struct err *e)
{
    struct target_queue *q = calloc(1, sizeof *q + depth * sizeof *q->ring);
    if (!q)
        return err_sys(e, ENOMEM, "cannot open a queue of %u", depth);
    q->depth = depth;
    *out = q;
    return 0;
}

void isc_queue_close(struct target_queue *q)
{
    for (unsigned i = 0; i < q->luns; i++)
        if (!TAILQ_EMPTY(&q->lun[i]->active))
            isc_lun_abandon(q->lun[i]);
    free(q->lun);
    free(q->fd);
    free(q->polled);
    free(q);
}

void isc_queue_completed(struct target_queue *q, struct target_io *io)
{
    unsigned at = q->head + q->count++;
    q->ring[at < q->depth ? at : at - q->depth] = io;
}

static unsigned take(struct target_queue *q, struct target_io **done, unsigned max)
{
    unsigned n = max < q->count ? max : q->count;
    for (unsigned i = 0; i < n; i++) {
        done[i] = q->ring[q->head];
        q->head = q->head + 1 < q->depth ? q->head + 1 : 0;
    }
    q->count -= n;
    return n;
}

/* ---- submitting ---- */

static int know(struct target_queue *q, struct isc_lun *l, struct err *e)
{
    for (unsigned i = 0; i < q->luns; i++)
        if (q->lun[i] == l)
            return 0;
    size_t count = q->luns + 1, paths = count * ISC_PORTALS_MAX;
    void *lun = realloc(q->lun, count * sizeof *q->lun);
    q->lun = lun ? lun : q->lun;
    void *fd = realloc(q->fd, paths * sizeof *q->fd);
    q->fd = fd ? fd : q->fd;
    void *polled = realloc(q->polled, paths * sizeof *q->polled);
    q->polled = polled ? polled : q->polled;
    if (!lun || !fd || !polled)
        return err_sys(e, ENOMEM, "cannot serve another LUN");
    q->lun[q->luns++] = l;
    return 0;
}

static void pump(struct target_queue *q, uint64_t now_ns)
{
    for (unsigned i = 0; i < q->luns; i++)
        if (!TAILQ_EMPTY(&q->lun[i]->waiting) || !TAILQ_EMPTY(&q->lun[i]->again))
            isc_lun_pump(q->lun[i], now_ns);
}

int isc_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e)
{
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < count; i++) {
        struct isc_lun *l = isc_lun_of(io[i]->target);
        int r = know(q, l, e);
        if (r < 0)
            return i ? (int)i : r;
        isc_lun_begin(l, q, io[i], now_ns);
    }
    pump(q, now_ns);
    return (int)count;
}

/* ---- waiting ---- */

static unsigned outstanding(const struct target_queue *q)
{
    unsigned n = 0;
    for (unsigned i = 0; i < q->luns; i++)
        for (unsigned k = 0; k < q->lun[i]->paths; k++)
            n += q->lun[i]->path[k].commands;
    return n;
}

/* Reads what has arrived, without asking poll first. */
static void serve(struct target_queue *q, uint64_t now_ns)
{
    for (unsigned i = 0; i < q->luns; i++)
        for (unsigned k = 0; k < q->lun[i]->paths; k++)
            if (q->lun[i]->path[k].state == ISC_UP)
                isc_path_service(&q->lun[i]->path[k], POLLIN, now_ns);
}

static void tick(struct target_queue *q, uint64_t now_ns)
{
    if (isc_since_ns(now_ns, q->ticked_ns) < TICK_NS)
        return;
    q->ticked_ns = now_ns;
    for (unsigned i = 0; i < q->luns; i++) {
        struct isc_lun *l = q->lun[i];
        if (l->up < l->paths)
            isc_paths_serve(l, 0);
        isc_lun_tick(l, now_ns);
    }
}

/* Waits for the sockets of all LUNs; -errno. */
static int wait_for_any(struct target_queue *q, uint64_t timeout_ns)
{
    struct timespec t = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    unsigned n = 0;
    for (unsigned i = 0; i < q->luns; i++)
        for (unsigned k = 0; k < q->lun[i]->paths; k++) {
            q->polled[n] = &q->lun[i]->path[k];
            q->fd[n] = isc_path_poll(q->polled[n]);
            n += q->fd[n].fd >= 0;
        }
    if (ppoll(q->fd, n, &t, NULL) < 0)
        return -errno;
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < n; i++)
        if (q->fd[i].revents)
            isc_path_service(q->polled[i], q->fd[i].revents, now_ns);
    return 0;
}

int isc_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    (void)e;
    unsigned n = take(q, done, max);
    uint64_t now_ns = pace_now_ns(), end_ns = now_ns + timeout_ns;
    /* What was asked for only now cannot be there yet. */
    bool look = timeout_ns == 0 || outstanding(q) > 2;
    while (n == 0) {
        if (look)
            serve(q, now_ns);
        tick(q, now_ns);
        pump(q, now_ns);
        n = take(q, done, max);
        now_ns = pace_now_ns();
        if (n || now_ns >= end_ns)
            break;
        uint64_t left_ns = end_ns - now_ns;
        int r = q->count ? 0 : wait_for_any(q, left_ns < TICK_NS ? left_ns : TICK_NS);
        if (r == -EINTR)
            break;
        look = false;
        n = take(q, done, max);
        now_ns = pace_now_ns();
    }
    if (n)
        pump(q, now_ns);
    return (int)n;
}
