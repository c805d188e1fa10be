/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * I/Os in pieces that fit the server's calls: what waits, what is in flight, what is done. A write before
 * which is a flush is two calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "replay/pace.h"
#include "replay/target/nfs.h"

/* ---- pieces ---- */

struct nfs_piece *nfs_piece_new(struct nfs_target *t)
{
    struct nfs_piece *p = t->spare;
    if (p)
        t->spare = p->next;
    else
        p = malloc(sizeof *p);
    if (p)
        *p = (struct nfs_piece){.target = t};
    return p;
}

void nfs_piece_free(struct nfs_piece *p)
{
    p->next = p->target->spare;
    p->target->spare = p;
}

static void link_last(struct nfs_piece **first, struct nfs_piece **last, struct nfs_piece *p)
{
    p->next = NULL;
    p->prev = *last;
    if (*last)
        (*last)->next = p;
    else
        *first = p;
    *last = p;
}

static void link_first(struct nfs_piece **first, struct nfs_piece **last, struct nfs_piece *p)
{
    p->prev = NULL;
    p->next = *first;
    if (*first)
        (*first)->prev = p;
    else
        *last = p;
    *first = p;
}

static void unlink_piece(struct nfs_piece **first, struct nfs_piece **last, struct nfs_piece *p)
{
    *(p->prev ? &p->prev->next : first) = p->next;
    *(p->next ? &p->next->prev : last) = p->prev;
}

void nfs_piece_give(struct nfs_piece *p, struct nfs_conn *c)
{
    if (!c->first)
        c->heard_ns = pace_now_ns();
    link_last(&c->first, &c->last, p);
    p->conn = c;
    p->target->in_flight++;
    c->unsent++;
}

void nfs_piece_take(struct nfs_piece *p)
{
    unlink_piece(&p->conn->first, &p->conn->last, p);
    p->conn = NULL;
    p->refused = false;
    p->target->in_flight--;
}

void nfs_piece_again(struct nfs_piece *p)
{
    link_first(&p->target->pending, &p->target->pending_last, p);
}

/* ---- I/Os ---- */

static void io_done(struct nfs_target *t, struct target_io *io, int64_t result)
{
    io->result = result;
    io->done_ns = pace_now_ns();
    t->ios--;
    nfs_queue_done(t->queue, io);
}

/* The pieces of a read or write, or the one of a flush. */
static int cut(struct nfs_target *t, struct target_io *io, uint8_t op)
{
    struct nfs_progress *progress = nfs_progress_of(io);
    uint32_t most = op == BLOCK_READ ? t->read_max_bytes : t->write_max_bytes;
    uint64_t end = op == BLOCK_FLUSH ? 1 : io->len_bytes;
    for (uint64_t at = 0; at < end;) {
        struct nfs_piece *p = nfs_piece_new(t);
        if (!p && progress->pieces == 0)
            return -ENOMEM;
        if (!p) {
            progress->error = -ENOMEM;
            return 0;
        }
        p->io = io;
        p->op = op;
        if (op != BLOCK_FLUSH) {
            p->offset_bytes = io->offset_bytes + at;
            p->len_bytes = io->len_bytes - at < most ? (uint32_t)(io->len_bytes - at) : most;
            p->data = (char *)io->data + at;
            p->stable = io->fua || t->address.stable;
        }
        at += op == BLOCK_FLUSH ? 1 : p->len_bytes;
        progress->pieces++;
        link_last(&t->pending, &t->pending_last, p);
    }
    return 0;
}

/* All pieces of an I/O are done. */
static void step(struct nfs_target *t, struct target_io *io)
{
    struct nfs_progress *progress = nfs_progress_of(io);
    if (progress->error == 0 && progress->then_write && io->len_bytes) {
        progress->then_write = false;
        progress->error = cut(t, io, BLOCK_WRITE);
        if (progress->error == 0)
            return;
    }
    io_done(t, io, progress->error ? progress->error : (int64_t)progress->done_bytes);
}

void nfs_piece_done(struct nfs_piece *p)
{
    struct target_io *io = p->io;
    struct nfs_target *t = p->target;
    if (!io)
        t->committing = false;
    nfs_piece_free(p);
    if (io && --nfs_progress_of(io)->pieces == 0)
        step(t, io);
}

void nfs_piece_fail(struct nfs_piece *p, int error)
{
    if (p->conn)
        nfs_piece_take(p);
    if (p->entry) {
        nfs_again_done(p, error, false);
        return;
    }
    if (p->io) {
        struct nfs_progress *progress = nfs_progress_of(p->io);
        progress->error = progress->error ? progress->error : error;
    } else { /* a COMMIT that nobody asked for: the next flush tells */
        p->target->failed = error;
        nfs_log_trim(&p->target->log, p->log_seq);
    }
    nfs_piece_done(p);
}

void nfs_piece_return(struct nfs_piece *p)
{
    struct nfs_target *t = p->target;
    nfs_piece_take(p);
    if (p->entry) {
        nfs_again_done(p, 0, true);
    } else if (p->io) {
        t->events.reissued++;
        nfs_piece_again(p);
    } else {
        nfs_piece_done(p);
    }
}

void nfs_fail_pending(struct nfs_target *t, int error)
{
    while (t->pending) {
        struct nfs_piece *p = t->pending;
        unlink_piece(&t->pending, &t->pending_last, p);
        nfs_piece_fail(p, error);
    }
}

static int64_t refuse(const struct nfs_target *t, const struct target_io *io)
{
    if (io->op != BLOCK_READ && io->op != BLOCK_WRITE && io->op != BLOCK_FLUSH)
        return -EOPNOTSUPP;
    if (t->options.read_only && io->op == BLOCK_WRITE)
        return -EROFS;
    return t->gone ? -ETIMEDOUT : 0;
}

int nfs_io_start(struct nfs_target *t, struct target_io *io)
{
    struct nfs_progress *progress = nfs_progress_of(io);
    *progress = (struct nfs_progress){.then_write = io->op == BLOCK_WRITE && io->preflush};
    io->two_step = progress->then_write;
    int64_t refused = refuse(t, io);
    int r = refused ? 0 : cut(t, io, progress->then_write ? BLOCK_FLUSH : io->op);
    if (r < 0)
        return r;
    if (t->ios++ == 0)
        t->busy_ns = pace_now_ns();
    if (progress->pieces == 0)
        io_done(t, io, refused);
    return 0;
}

/* ---- sending ---- */

struct nfs_conn *nfs_conn_next(struct nfs_target *t)
{
    for (unsigned i = 0; i < t->conns; i++) {
        struct nfs_conn *c = &t->conn[t->next_conn];
        t->next_conn = t->next_conn + 1 < t->conns ? t->next_conn + 1 : 0;
        if (c->state == NFS_UP)
            return c;
    }
    return NULL;
}

/* The oldest piece that waits has to wait on. */
static bool held(const struct nfs_target *t)
{
    if (t->delayed_until_ns && pace_now_ns() < t->delayed_until_ns)
        return true;
    return t->pending->op == BLOCK_WRITE && t->log.bytes > NFS_LOG_BYTES;
}

static void commit_some(struct nfs_target *t)
{
    struct nfs_conn *c = nfs_conn_next(t);
    struct nfs_piece *p = c ? nfs_piece_new(t) : NULL;
    if (!p)
        return;
    p->op = BLOCK_FLUSH;
    t->committing = true;
    nfs_piece_issue(c, p);
}

void nfs_pump(struct nfs_target *t)
{
    if (nfs_again_busy(t))
        nfs_again_step(t);
    while (!nfs_again_busy(t) && t->up && t->pending && !held(t)) {
        struct nfs_piece *p = t->pending;
        unlink_piece(&t->pending, &t->pending_last, p);
        nfs_piece_issue(nfs_conn_next(t), p);
    }
    if (t->log.bytes > NFS_LOG_COMMIT_BYTES && !t->committing && !nfs_again_busy(t) && t->up)
        commit_some(t);
    for (unsigned i = 0; i < t->conns; i++)
        if (t->conn[i].unsent)
            nfs_conn_send(&t->conn[i]);
}
