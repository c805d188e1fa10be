/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The queue of all aio targets: one libaio context, and helper threads for what it cannot do. Quirks of
 * libaio and its kernel side: an io_submit that fails tells nothing but that its first iocb failed; a zero
 * timeout is answered in user space while the ring is empty; waiting for helper threads is a poll of their
 * eventfd as one more iocb.
 */
#include <errno.h>
#include <libaio.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "replay/helpers.h"
#include "replay/pace.h"
#include "replay/target/aio.h"

/* The most that is asked for at once. */
#define BATCH 64
/* Turns of waiting where the kernel cannot poll for helper threads. */
#define HELPER_TURN_NS 100000u

_Static_assert(sizeof(struct iocb) <= sizeof(((struct target_io *)0)->space), "an iocb fits an I/O's space");

struct target_queue {
    io_context_t context;
    struct helpers *helpers;
    struct iocb helper_poll;
    bool polling, no_poll, no_fdsync;
    struct target_io **failed; /* by io_submit, to be reaped */
    unsigned failed_count, depth, in_kernel;
};

int aio_queue_open(struct target_queue **out, unsigned depth, struct err *e)
{
    struct target_queue *q = calloc(1, sizeof *q);
    if (q)
        q->failed = calloc(depth, sizeof *q->failed);
    if (!q || !q->failed) {
        free(q);
        return err_sys(e, ENOMEM, "cannot open a queue of %u", depth);
    }
    q->depth = depth;
    int r = io_setup((int)depth + 1, &q->context);
    if (r == -EAGAIN)
        r = err_set(e, EAGAIN, "cannot open a queue of %u: the limit in /proc/sys/fs/aio-max-nr is reached",
                depth);
    else if (r < 0)
        r = err_sys(e, -r, "cannot open a queue of %u", depth);
    if (r == 0)
        r = helpers_open(&q->helpers, aio_perform, e);
    if (r < 0) {
        aio_queue_close(q);
        return r;
    }
    *out = q;
    return 0;
}

void aio_queue_close(struct target_queue *q)
{
    helpers_close(q->helpers);
    if (q->context)
        io_destroy(q->context);
    free(q->failed);
    free(q);
}

/* ---- submission ---- */

static bool needs_helper(const struct target_queue *q, const struct target_io *io)
{
    switch (io->op) {
    case BLOCK_READ:
        return false;
    case BLOCK_WRITE:
        return io->preflush;
    case BLOCK_FLUSH:
        return q->no_fdsync;
    }
    return true;
}

static struct iocb *make_iocb(struct target_io *io)
{
    struct iocb *cb = (struct iocb *)io->space;
    int fd = ((const struct aio_target *)io->target)->fd;
    if (io->op == BLOCK_READ)
        io_prep_pread(cb, fd, io->data, io->len_bytes, (long long)io->offset_bytes);
    else if (io->op == BLOCK_WRITE)
        io_prep_pwrite(cb, fd, io->data, io->len_bytes, (long long)io->offset_bytes);
    else
        io_prep_fdsync(cb, fd);
    if (io->op == BLOCK_WRITE && io->fua)
        cb->aio_rw_flags = RWF_DSYNC;
    cb->data = io;
    return cb;
}

static void note_failed(struct target_queue *q, struct target_io *io, int result)
{
    io->result = result;
    io->done_ns = pace_now_ns();
    q->failed[q->failed_count++] = io;
}

/* The first of a batch was refused: by the kernel's AIO, which may not know fdatasync, or by the target. */
static int refused(struct target_queue *q, struct target_io *io, int result, struct err *e)
{
    if (io->op == BLOCK_FLUSH && result == -EINVAL && !q->no_fdsync) {
        q->no_fdsync = true;
        return helpers_put(q->helpers, io, e);
    }
    note_failed(q, io, result);
    return 0;
}

/* Submits a run of iocbs; returns how many are dealt with. */
static int submit_run(struct target_queue *q, struct iocb **cb, unsigned count, struct err *e)
{
    unsigned done = 0;
    while (done < count) {
        int r = io_submit(q->context, (long)(count - done), cb + done);
        if (r == -EAGAIN)
            break;
        if (r == -EINTR)
            continue;
        if (r > 0) {
            done += (unsigned)r;
            q->in_kernel += (unsigned)r;
            continue;
        }
        r = refused(q, cb[done]->data, r ? r : -EIO, e);
        if (r < 0)
            return r;
        done++;
    }
    return (int)done;
}

int aio_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e)
{
    struct iocb *run[BATCH];
    unsigned taken = 0;
    while (taken < count) {
        unsigned n = 0;
        while (taken + n < count && n < BATCH && !needs_helper(q, io[taken + n])) {
            run[n] = make_iocb(io[taken + n]);
            n++;
        }
        int r = n ? submit_run(q, run, n, e) : helpers_put(q->helpers, io[taken], e);
        if (r < 0)
            return r;
        taken += n ? (unsigned)r : 1;
        if (n && (unsigned)r < n)
            break; /* the kernel takes no more for now */
    }
    return (int)taken;
}

/* ---- completion ---- */

/* Has helper threads wake the wait for the kernel. */
static void watch_helpers(struct target_queue *q)
{
    if (q->polling || q->no_poll || helpers_outstanding(q->helpers) == 0)
        return;
    struct iocb *cb = &q->helper_poll;
    io_prep_poll(cb, helpers_fd(q->helpers), POLLIN);
    cb->data = NULL;
    if (io_submit(q->context, 1, &cb) == 1)
        q->polling = true;
    else
        q->no_poll = true;
}

static unsigned take_failed(struct target_queue *q, struct target_io **done, unsigned max)
{
    unsigned n = 0;
    while (n < max && q->failed_count)
        done[n++] = q->failed[--q->failed_count];
    return n;
}

static int take_kernel(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    struct io_event event[BATCH];
    struct timespec t = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    long most = max < BATCH ? (long)max : BATCH;
    int got = io_getevents(q->context, timeout_ns ? 1 : 0, most, event, &t);
    if (got == -EINTR)
        return 0;
    if (got < 0)
        return err_sys(e, -got, "cannot wait for I/O");
    int n = 0;
    for (int i = 0; i < got; i++) {
        struct target_io *io = event[i].data;
        if (!io) {
            q->polling = false;
            continue;
        }
        io->result = (int64_t)event[i].res;
        q->in_kernel--;
        done[n++] = io;
    }
    return n;
}

int aio_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    unsigned n = take_failed(q, done, max);
    bool helped = helpers_outstanding(q->helpers) > 0;
    if (helped && n < max)
        n += helpers_take(q->helpers, done + n, max - n);
    if (n)
        return (int)n;
    if (helped && timeout_ns) {
        watch_helpers(q);
        if (q->no_poll && timeout_ns > HELPER_TURN_NS)
            timeout_ns = HELPER_TURN_NS;
    }
    int r = take_kernel(q, done, max, timeout_ns, e);
    if (r == 0 && helped)
        r = (int)helpers_take(q->helpers, done, max);
    return r;
}
