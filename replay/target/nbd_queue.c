/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The queue of all NBD targets: sends their I/O as requests, over each target's connections in turn, and
 * collects the answers. A connection that ends is made anew, and what was in flight on it is sent again: a
 * read, a write of the same data, a flush, a trim may be done twice. A target that answers nothing for its
 * stall timeout is given up: its I/Os fail, and no more are taken.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/base/units.h"
#include "replay/pace.h"
#include "replay/target/nbd.h"

/* Longest waits without a look at the clock; the short one while a connection is not up. */
#define TURN_NS      (100 * NS_PER_MS)
#define TURN_DOWN_NS (10 * NS_PER_MS)
/* A trim's or zero's length has 32 bits, and it carries no data. */
#define RANGE_MAX_BYTES UINT32_MAX

struct target_queue {
    struct nbd_target **target; /* whose I/O has been seen */
    unsigned targets, conns;    /* of all of them */
    struct pollfd *poll;        /* room for each connection */
    struct nbd_conn **polled;   /* whose they are */
    struct nbd_list done;       /* to be reaped */
    struct nbd_list stepping;   /* whose next step is to be sent */
    bool told;                  /* that a target is given up */
};

static struct nbd_target *target_of(const struct target_io *io)
{
    return (struct nbd_target *)io->target;
}

int nbd_queue_open(struct target_queue **q, unsigned depth, struct err *e)
{
    *q = calloc(1, sizeof **q);
    return *q ? 0 : err_sys(e, ENOMEM, "cannot open a queue of %u", depth);
}

/* Forgets I/Os that will not be reaped; no connection may still write into their data. */
static void abandon(struct nbd_target *t)
{
    for (unsigned i = 0; i < t->conns; i++)
        if (t->conn[i].ios.count)
            nbd_conn_drop(&t->conn[i], pace_now_ns(), NULL);
    t->waiting = (struct nbd_list){0};
    t->in_flight = 0;
}

void nbd_queue_close(struct target_queue *q)
{
    for (unsigned i = 0; i < q->targets; i++) {
        abandon(q->target[i]);
        q->target[i]->queue = NULL;
    }
    free(q->target);
    free(q->poll);
    free(q->polled);
    free(q);
}

/* Makes a target known, at its first I/O. */
static int attach(struct target_queue *q, struct nbd_target *t, struct err *e)
{
    struct nbd_target **target = reallocarray(q->target, q->targets + 1, sizeof *target);
    if (target)
        q->target = target;
    struct pollfd *poll_list = reallocarray(q->poll, q->conns + t->conns, sizeof *poll_list);
    if (poll_list)
        q->poll = poll_list;
    struct nbd_conn **polled = reallocarray(q->polled, q->conns + t->conns, sizeof(struct nbd_conn *));
    if (polled)
        q->polled = polled;
    if (!target || !poll_list || !polled)
        return err_sys(e, ENOMEM, "cannot send to '%s'", t->base.url);
    q->target[q->targets++] = t;
    q->conns += t->conns;
    t->queue = q;
    return 0;
}

/* ---- an I/O's way: steps, requests, the end ---- */

/* It is in no list. */
static void finish(struct target_io *io, int64_t result, uint64_t now_ns)
{
    struct nbd_target *t = target_of(io);
    io->result = result;
    io->done_ns = now_ns;
    t->in_flight--;
    nbd_list_add(&t->queue->done, io);
}

static bool has_data(const struct target_io *io)
{
    return io->op == BLOCK_READ || io->op == BLOCK_WRITE;
}

/* A step ended: all its requests are answered. Is called back by libnbd: must not call it. */
static void step_ended(struct target_io *io, uint64_t now_ns)
{
    struct nbd_io *n = nbd_io_of(io);
    struct nbd_target *t = target_of(io);
    if (n->lost)
        return; /* it goes where its connection's I/Os go */
    nbd_list_remove(&n->conn->ios, io);
    n->conn = NULL;
    bool last = n->step == NBD_STEP_POSTFLUSH ||
                (n->step == NBD_STEP_MAIN && !(io->fua && io->op != BLOCK_READ && !t->export.fua));
    if (n->error) {
        finish(io, -n->error, now_ns);
    } else if (last) {
        finish(io, has_data(io) ? (int64_t)io->len_bytes : 0, now_ns);
    } else {
        n->step++;
        nbd_list_add(&t->queue->stepping, io);
    }
}

static void request_ended(struct target_io *io, uint64_t now_ns)
{
    struct nbd_io *n = nbd_io_of(io);
    if (--n->requests == 0)
        step_ended(io, now_ns);
}

/* What came with an answer, at most: an error brings none, a part of an I/O less. */
static uint64_t reply_data_bytes(const struct nbd_target *t, const struct target_io *io)
{
    if (io->op != BLOCK_READ)
        return 0;
    return io->len_bytes < t->request_bytes ? io->len_bytes : t->request_bytes;
}

/* libnbd's callback. 1: it may forget the request. */
static int answered(void *user_data, int *error)
{
    struct target_io *io = user_data;
    struct nbd_io *n = nbd_io_of(io);
    struct nbd_conn *c = n->conn;
    uint64_t now_ns = pace_now_ns();
    if (*error == ENOTCONN || *error == ESHUTDOWN) {
        n->lost = true;
        c->ending = true;
    } else {
        c->consumed_bytes += NBD_REPLY_BYTES + reply_data_bytes(c->target, io);
        c->backoff_ns = 0;
        c->answered_ns = c->target->answered_ns = now_ns;
        if (*error && !n->error)
            n->error = *error;
    }
    request_ended(io, now_ns);
    return 1;
}

/* One request, of a part of an I/O. -1 as libnbd. */
static int64_t send_part(struct nbd_conn *c, struct target_io *io, uint64_t at, uint64_t len)
{
    const struct nbd_export *x = &c->target->export;
    nbd_completion_callback done = {.callback = answered, .user_data = io};
    uint32_t flags = io->fua && x->fua ? LIBNBD_CMD_FLAG_FUA : 0;
    uint64_t offset = io->offset_bytes + at;
    if (nbd_io_of(io)->step != NBD_STEP_MAIN || io->op == BLOCK_FLUSH)
        return nbd_aio_flush(c->handle, done, 0);
    switch (io->op) {
    case BLOCK_READ:
        return nbd_aio_pread(c->handle, (char *)io->data + at, len, offset, done, 0);
    case BLOCK_WRITE:
        return nbd_aio_pwrite(c->handle, (char *)io->data + at, len, offset, done, flags);
    case BLOCK_DISCARD:
        return nbd_aio_trim(c->handle, len, offset, done, flags);
    }
    /* A zeroed range may become a hole, as the kernel allows without REQ_NOUNMAP. */
    return nbd_aio_zero(c->handle, len, offset, done, flags);
}

/* A request that libnbd refused: where the connection is no more, it is lost, else it is at fault itself. */
static void refused(struct nbd_conn *c, struct nbd_io *n)
{
    int code = nbd_get_errno();
    if (nbd_aio_get_direction(c->handle) == 0) {
        n->lost = true;
        c->ending = true;
    } else if (!n->error) {
        n->error = code ? code : EIO;
    }
}

/* Sends all requests of a step; together, as a kernel would that has to split. */
static void send_step(struct nbd_conn *c, struct target_io *io, uint64_t now_ns)
{
    struct nbd_io *n = nbd_io_of(io);
    bool is_flush = n->step != NBD_STEP_MAIN || io->op == BLOCK_FLUSH;
    uint64_t len = is_flush ? 0 : io->len_bytes;
    uint64_t sector = c->target->base.sector_bytes;
    uint64_t most = has_data(io) ? c->target->request_bytes : RANGE_MAX_BYTES & ~(sector - 1);
    uint64_t at = 0;
    n->requests = 1; /* held until all are sent */
    do {
        uint64_t part = len - at < most ? len - at : most;
        n->requests++;
        if (send_part(c, io, at, part) < 0) {
            n->requests--;
            refused(c, n);
            break;
        }
        at += part;
    } while (at < len);
    request_ended(io, now_ns);
}

static struct nbd_conn *choose(struct nbd_target *t)
{
    for (unsigned k = 0; k < t->conns; k++) {
        struct nbd_conn *c = &t->conn[t->turn];
        t->turn = t->turn + 1 < t->conns ? t->turn + 1 : 0;
        if (c->state == NBD_UP && !c->ending)
            return c;
    }
    return NULL;
}

/* Sends an I/O's present step, or lets it wait for a connection. It is in no list. */
static void place(struct target_io *io, uint64_t now_ns)
{
    struct nbd_target *t = target_of(io);
    struct nbd_io *n = nbd_io_of(io);
    struct nbd_conn *c = choose(t);
    if (!c) {
        nbd_list_add(&t->waiting, io);
        return;
    }
    if (n->again)
        t->events.reissued++;
    n->again = false;
    if (c->ios.count == 0)
        c->answered_ns = now_ns;
    n->conn = c;
    nbd_list_add(&c->ios, io);
    send_step(c, io, now_ns);
}

/* ---- submission ---- */

static bool offered(const struct nbd_export *x, const struct target_io *io)
{
    if ((io->preflush || (io->fua && io->op != BLOCK_READ && !x->fua)) && !x->flush)
        return false;
    switch (io->op) {
    case BLOCK_FLUSH:
        return x->flush;
    case BLOCK_DISCARD:
        return x->trim;
    case BLOCK_WRITE_ZEROES:
        return x->zero;
    }
    return true;
}

static void take(struct target_io *io, uint64_t now_ns)
{
    struct nbd_target *t = target_of(io);
    const struct nbd_export *x = &t->export;
    bool preflush = io->preflush && io->op != BLOCK_FLUSH;
    if (t->in_flight++ == 0)
        t->answered_ns = now_ns;
    *nbd_io_of(io) = (struct nbd_io){.step = preflush ? NBD_STEP_PREFLUSH : NBD_STEP_MAIN};
    if (!offered(x, io)) {
        finish(io, -EOPNOTSUPP, now_ns);
    } else if (io->len_bytes == 0 && io->op != BLOCK_FLUSH) {
        finish(io, 0, now_ns); /* nothing to ask for */
    } else {
        io->two_step = preflush || (io->fua && !x->fua && io->op != BLOCK_READ && io->op != BLOCK_FLUSH);
        place(io, now_ns);
    }
}

int nbd_submit(struct target_queue *q, struct target_io **io, unsigned count, struct err *e)
{
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < count; i++) {
        struct nbd_target *t = target_of(io[i]);
        if (t->gone.code && i == 0)
            return err_set(e, t->gone.code, "%s", t->gone.text);
        int r = t->gone.code ? 1 : t->queue == q ? 0 : attach(q, t, e);
        if (r)
            return r < 0 && i == 0 ? r : (int)i;
        take(io[i], now_ns);
    }
    return (int)count;
}

/* ---- what time and events bring ---- */

static void fail_all(struct nbd_target *t, uint64_t now_ns)
{
    for (unsigned i = 0; i < t->conns; i++)
        if (t->conn[i].state != NBD_DOWN)
            nbd_conn_drop(&t->conn[i], now_ns, NULL);
    while (t->waiting.head) {
        struct target_io *io = t->waiting.head;
        nbd_list_remove(&t->waiting, io);
        finish(io, -t->gone.code, now_ns);
    }
}

/* One of several connections is silent while others are not: its I/Os are better off there. */
static bool is_stuck(const struct nbd_conn *c, uint64_t now_ns)
{
    const struct nbd_target *t = c->target;
    return c->ios.count && now_ns > c->answered_ns + t->stall_ns / 2 &&
           now_ns < t->answered_ns + t->stall_ns / 4;
}

static void settle_conn(struct nbd_conn *c, uint64_t now_ns)
{
    if (c->ending || c->state == NBD_CONNECTING)
        nbd_conn_check(c, now_ns);
    else if (c->state == NBD_DOWN && now_ns >= c->retry_ns)
        nbd_conn_start(c, now_ns);
    else if (c->state == NBD_UP && is_stuck(c, now_ns))
        nbd_conn_drop(c, now_ns, "a connection was silent");
}

static void settle_target(struct nbd_target *t, uint64_t now_ns)
{
    for (unsigned i = 0; i < t->conns && !t->gone.code; i++)
        settle_conn(&t->conn[i], now_ns);
    if (!t->gone.code && t->in_flight && now_ns > t->answered_ns + t->stall_ns) {
        char stall[UNITS_TEXT_BYTES];
        err_set(&t->gone, ETIMEDOUT, "'%s' answered nothing for %s%s%s", t->base.url,
                units_duration(t->stall_ns, stall), t->last[0] ? "; last: " : "", t->last);
    }
    if (t->gone.code)
        fail_all(t, now_ns);
    for (unsigned n = t->waiting.count; n > 0 && t->waiting.head; n--) {
        struct target_io *io = t->waiting.head;
        nbd_list_remove(&t->waiting, io);
        place(io, now_ns);
    }
}

static void settle(struct target_queue *q)
{
    uint64_t now_ns = pace_now_ns();
    for (unsigned n = q->stepping.count; n > 0; n--) {
        struct target_io *io = q->stepping.head;
        nbd_list_remove(&q->stepping, io);
        place(io, now_ns);
    }
    for (unsigned i = 0; i < q->targets; i++)
        settle_target(q->target[i], now_ns);
}

/* ---- completion ---- */

static int take_done(struct target_queue *q, struct target_io **done, unsigned max)
{
    unsigned n = 0;
    while (n < max && q->done.head) {
        done[n] = q->done.head;
        nbd_list_remove(&q->done, done[n++]);
    }
    return (int)n;
}

/* What is to be polled, and how. */
struct view {
    unsigned count;
    bool down;  /* a connection is not up */
    bool hurry; /* something is to be settled at once */
};

static struct view list_active(struct target_queue *q)
{
    struct view v = {.hurry = q->done.head || q->stepping.head};
    for (unsigned i = 0; i < q->targets; i++) {
        for (unsigned k = 0; k < q->target[i]->conns; k++) {
            struct nbd_conn *c = &q->target[i]->conn[k];
            v.down |= c->state != NBD_UP;
            v.hurry |= c->ending;
            if (c->ending || c->state == NBD_DOWN || (c->state == NBD_UP && c->ios.count == 0))
                continue;
            short wants = nbd_conn_wants(c);
            q->polled[v.count] = c;
            q->poll[v.count++] = (struct pollfd){nbd_aio_get_fd(c->handle), wants, 0};
        }
    }
    return v;
}

/* Waits for sockets for at most timeout_ns, a turn at most, and serves them. 1, or 0 after a signal. */
static int serve(struct target_queue *q, uint64_t timeout_ns, struct err *e)
{
    struct view v = list_active(q);
    uint64_t most_ns = v.hurry ? 0 : v.down ? TURN_DOWN_NS : TURN_NS;
    uint64_t wait_ns = timeout_ns < most_ns ? timeout_ns : most_ns;
    struct timespec t = {(time_t)(wait_ns / NS_PER_S), (long)(wait_ns % NS_PER_S)};
    int ready = ppoll(q->poll, v.count, &t, NULL);
    if (ready < 0)
        return errno == EINTR ? 0 : err_sys(e, errno, "cannot wait for NBD servers");
    for (unsigned i = 0; i < v.count && ready > 0; i++)
        if (q->poll[i].revents)
            nbd_conn_service(q->polled[i], q->poll[i].revents);
    return 1;
}

/* Says once that a target is given up, so that a replay ends also where nothing more is to be sent; after
 * that its failed I/Os can be reaped. */
static int tell(struct target_queue *q, struct err *e)
{
    for (unsigned i = 0; i < q->targets && !q->told; i++) {
        const struct err *gone = &q->target[i]->gone;
        if (gone->code) {
            q->told = true;
            return err_set(e, gone->code, "%s", gone->text);
        }
    }
    return 0;
}

int nbd_reap(
        struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    int n = take_done(q, done, max);
    uint64_t now_ns = n == 0 && timeout_ns ? pace_now_ns() : 0;
    uint64_t until_ns = timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
    while (n == 0) {
        int served = serve(q, timeout_ns ? until_ns - now_ns : 0, e);
        if (served < 0)
            return served;
        settle(q);
        int r = tell(q, e);
        if (r < 0)
            return r;
        n = take_done(q, done, max);
        now_ns = timeout_ns && n == 0 ? pace_now_ns() : 0;
        if (!served || timeout_ns == 0 || now_ns >= until_ns)
            break;
    }
    return n;
}
