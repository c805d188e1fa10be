/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The queue of all NFS targets: one poll over all their connections.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "replay/pace.h"
#include "replay/target/nfs.h"

/* How often timeouts are looked at, and how often broken connections. */
#define TICK_NS      50000000u
#define TICK_DOWN_NS 10000000u

struct target_queue {
    struct nfs_target *targets; /* those that were submitted to */
    struct target_io *first_done, *last_done;
    struct pollfd *poll;
    struct nfs_conn **polled;
    unsigned conns; /* of all targets: the length of both */
    unsigned in_flight, depth;
    uint64_t tick_ns; /* the next one */
};

int nfs_queue_open(struct target_queue **out, unsigned depth, struct err *e)
{
    struct target_queue *q = calloc(1, sizeof *q);
    if (!q)
        return err_sys(e, ENOMEM, "cannot open a queue of %u", depth);
    q->depth = depth;
    *out = q;
    return 0;
}

void nfs_queue_close(struct target_queue *q)
{
    while (q->targets)
        nfs_queue_forget(q, q->targets);
    free(q->poll);
    free(q->polled);
    free(q);
}

/* ---- targets ---- */

void nfs_queue_forget(struct target_queue *q, struct nfs_target *t)
{
    struct nfs_target **at = &q->targets;
    while (*at && *at != t)
        at = &(*at)->queue_next;
    if (!*at)
        return;
    *at = t->queue_next;
    t->queue = NULL;
    q->conns -= t->conns;
}

static int adopt(struct target_queue *q, struct nfs_target *t, struct err *e)
{
    if (t->queue && t->ios)
        return err_set(e, EBUSY, "'%s' has I/O in flight elsewhere", t->base.url);
    if (t->queue)
        nfs_queue_forget(t->queue, t);
    unsigned conns = q->conns + t->conns;
    struct pollfd *fd = realloc(q->poll, conns * sizeof *fd);
    if (fd)
        q->poll = fd;
    struct nfs_conn **polled = realloc(q->polled, conns * sizeof *polled);
    if (polled)
        q->polled = polled;
    if (!fd || !polled)
        return err_sys(e, ENOMEM, "cannot wait for '%s'", t->base.url);
    q->conns = conns;
    t->queue = q;
    t->queue_next = q->targets;
    q->targets = t;
    return 0;
}

/* ---- submission ---- */

int nfs_queue_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e)
{
    unsigned taken = 0;
    int r = 0;
    while (taken < count && q->in_flight < q->depth && r == 0) {
        struct nfs_target *t = nfs_target_of(io[taken]->target);
        if (t->queue != q)
            r = adopt(q, t, e);
        if (r == 0)
            r = nfs_io_start(t, io[taken]);
        if (r == 0) {
            taken++;
            q->in_flight++;
        }
    }
    for (struct nfs_target *t = q->targets; t; t = t->queue_next)
        nfs_pump(t);
    if (taken)
        return (int)taken;
    return r == -ENOMEM ? err_sys(e, ENOMEM, "cannot send I/O") : r;
}

/* ---- completion ---- */

void nfs_queue_done(struct target_queue *q, struct target_io *io)
{
    nfs_progress_of(io)->next = NULL;
    if (q->last_done)
        nfs_progress_of(q->last_done)->next = io;
    else
        q->first_done = io;
    q->last_done = io;
}

static int take(struct target_queue *q, struct target_io **done, unsigned max)
{
    unsigned n = 0;
    while (n < max && q->first_done) {
        done[n] = q->first_done;
        q->first_done = nfs_progress_of(done[n])->next;
        n++;
    }
    if (!q->first_done)
        q->last_done = NULL;
    q->in_flight -= n;
    return (int)n;
}

/* Timeouts and broken connections. */
static void tick(struct target_queue *q, uint64_t now_ns)
{
    if (now_ns < q->tick_ns)
        return;
    bool down = false;
    for (struct nfs_target *t = q->targets; t; t = t->queue_next) {
        nfs_conns_tick(t, now_ns);
        nfs_pump(t);
        down |= t->up < t->conns || t->delayed_until_ns > now_ns;
    }
    q->tick_ns = now_ns + (down ? TICK_DOWN_NS : TICK_NS);
}

/* Waits for the sockets and serves them. 0, or -errno. */
static int turn(struct target_queue *q, uint64_t timeout_ns, struct err *e)
{
    unsigned n = 0;
    for (struct nfs_target *t = q->targets; t; t = t->queue_next)
        for (unsigned i = 0; i < t->conns; i++) {
            short events = nfs_conn_events(&t->conn[i]);
            if (!events)
                continue;
            q->poll[n] = (struct pollfd){.fd = nfs_conn_fd(&t->conn[i]), .events = events};
            q->polled[n++] = &t->conn[i];
        }
    struct timespec wait = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    int ready = ppoll(q->poll, n, &wait, NULL);
    if (ready < 0)
        return errno == EINTR ? -EINTR : err_sys(e, errno, "cannot wait for the NFS server");
    for (unsigned i = 0; i < n && ready > 0; i++)
        if (q->poll[i].revents)
            nfs_conn_service(q->polled[i], q->poll[i].revents);
    for (struct nfs_target *t = q->targets; ready > 0 && t; t = t->queue_next)
        nfs_pump(t);
    return 0;
}

int nfs_queue_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    uint64_t now_ns = pace_now_ns(), until_ns = now_ns + timeout_ns;
    for (;;) {
        tick(q, now_ns);
        if (q->first_done)
            return take(q, done, max);
        uint64_t left_ns = until_ns - now_ns, tick_ns = q->tick_ns - now_ns;
        int r = turn(q, left_ns < tick_ns ? left_ns : tick_ns, e);
        if (r < 0)
            return r == -EINTR ? 0 : r;
        now_ns = pace_now_ns();
        if (q->first_done)
            return take(q, done, max);
        if (now_ns >= until_ns)
            return 0;
    }
}
