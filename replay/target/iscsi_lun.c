/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * I/Os become commands, and commands go round over the paths that are up.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/pace.h"
#include "replay/target/iscsi.h"

_Static_assert(sizeof(struct isc_io) <= sizeof(((struct target_io *)0)->space), "an I/O's own space");

/* Before a command that was answered with "busy" is issued again. */
#define PAUSE_NS UINT64_C(10000000)
/* Unsolicited data of a longer write may still be queued in libiscsi when its answer comes. */
#define SHORT_WRITE_BYTES 8192

/* ---- completing ---- */

static void complete(struct isc_lun *l, struct isc_io *s)
{
    struct target_io *io = isc_target_io(s);
    bool data = io->op == BLOCK_READ || io->op == BLOCK_WRITE;
    TAILQ_REMOVE(&l->active, s, active_link);
    if (s->waits)
        TAILQ_REMOVE(&l->waiting, s, waiting_link);
    s->waits = false;
    io->result = s->error ? s->error : data ? (int64_t)(io->len_bytes - s->missing_bytes) : 0;
    io->done_ns = pace_now_ns();
    isc_queue_completed(s->queue, io);
}

/* What a step has to do: a number of bytes to be covered, or 0. A flush counts as one. */
static uint64_t step_bytes(const struct isc_lun *l, const struct target_io *io, uint8_t step)
{
    bool write = io->op == BLOCK_WRITE;
    if (step == ISC_FLUSH_BEFORE)
        return io->preflush && io->op != BLOCK_FLUSH;
    if (step == ISC_FLUSH_AFTER)
        return io->fua && write && io->len_bytes && !l->facts.fua;
    return io->op == BLOCK_FLUSH ? 1 : io->len_bytes;
}

/* Goes on to the next step that has something to do. */
static void advance(struct isc_lun *l, struct isc_io *s)
{
    bool first = s->step == ISC_BEGIN;
    do
        s->step++;
    while (s->step < ISC_END && step_bytes(l, isc_target_io(s), s->step) == 0);
    if (s->step >= ISC_END) {
        complete(l, s);
        return;
    }
    s->next_bytes = 0;
    s->waits = true;
    if (first)
        TAILQ_INSERT_TAIL(&l->waiting, s, waiting_link);
    else /* it waited its turn before */
        TAILQ_INSERT_HEAD(&l->waiting, s, waiting_link);
}

static void fail(struct isc_lun *l, struct isc_io *s, int error)
{
    if (!s->error)
        s->error = error;
    if (s->waits)
        TAILQ_REMOVE(&l->waiting, s, waiting_link);
    s->waits = false;
    if (s->commands == 0)
        complete(l, s);
}

/* ---- commands ---- */

static void put_back(struct isc_command *c)
{
    c->io = NULL;
    TAILQ_INSERT_HEAD(&c->lun->unused, c, link);
}

static void leave_path(struct isc_command *c)
{
    TAILQ_REMOVE(&c->path->running, c, link);
    c->path->commands--;
    c->path = NULL;
    c->task = NULL;
}

void isc_lun_lost(struct isc_command *c)
{
    struct isc_lun *l = c->lun;
    struct isc_io *s = isc_io_of(c->io);
    if (c->task)
        scsi_free_scsi_task(c->task);
    leave_path(c);
    c->not_before_ns = 0;
    TAILQ_INSERT_TAIL(&l->again, c, link);
    c->lost = s->lost = true;
}

static uint64_t missing_bytes(const struct scsi_task *task)
{
    return task->residual_status == SCSI_RESIDUAL_UNDERFLOW ? task->residual : 0;
}

static void part_done(struct isc_lun *l, struct isc_io *s, uint64_t missing, uint64_t now_ns)
{
    s->commands--;
    s->missing_bytes += missing;
    s->progress_ns = now_ns;
    TAILQ_REMOVE(&l->active, s, active_link);
    TAILQ_INSERT_TAIL(&l->active, s, active_link);
    if (s->commands || s->waits)
        return;
    if (s->error)
        complete(l, s);
    else
        advance(l, s);
}

static void on_answer(struct iscsi_context *context, int status, void *data, void *private)
{
    struct isc_command *c = private;
    struct isc_path *p = c->path;
    struct isc_lun *l = c->lun;
    struct isc_io *s = isc_io_of(c->io);
    struct scsi_task *task = data;
    if (status == SCSI_STATUS_CANCELLED || p->context != context) {
        p->broken = p->context == context;
        isc_lun_lost(c);
        return;
    }
    int error;
    enum isc_verdict verdict = isc_command_judge(c, status, task, &error);
    uint64_t missing = verdict == ISC_DONE ? missing_bytes(task) : 0;
    if (verdict != ISC_DONE && c->kind == ISC_WRITE && c->data.iov_len > SHORT_WRITE_BYTES &&
            iscsi_out_queue_length(context) > 0)
        p->broken = true; /* libiscsi would go on to send data of a task that is freed now */
    scsi_free_scsi_task(task);
    leave_path(c);
    if (verdict == ISC_AGAIN || verdict == ISC_LATER) {
        c->not_before_ns = verdict == ISC_LATER ? pace_now_ns() + PAUSE_NS : 0;
        TAILQ_INSERT_TAIL(&l->again, c, link);
        return;
    }
    put_back(c);
    if (verdict == ISC_FAILED)
        fail(l, s, error);
    part_done(l, s, missing, pace_now_ns());
}

/* ---- issuing ---- */

static enum isc_kind kind_of(const struct isc_lun *l, const struct target_io *io, uint8_t step)
{
    if (step != ISC_MAIN)
        return ISC_FLUSH;
    switch (io->op) {
    case BLOCK_READ:
        return ISC_READ;
    case BLOCK_WRITE:
        return ISC_WRITE;
    case BLOCK_DISCARD:
        return l->facts.unmap ? ISC_UNMAP : ISC_ERASE;
    case BLOCK_WRITE_ZEROES:
        return ISC_ZERO;
    }
    return ISC_FLUSH;
}

static uint64_t limit_blocks(const struct isc_lun *l, enum isc_kind kind)
{
    if (kind == ISC_READ || kind == ISC_WRITE)
        return l->facts.transfer_blocks;
    return kind == ISC_UNMAP ? l->facts.unmap_blocks : l->facts.same_blocks;
}

/* Makes the next command of the I/O that waits first; NULL where none does or no command is left. */
static struct isc_command *make_command(struct isc_lun *l)
{
    struct isc_io *s = TAILQ_FIRST(&l->waiting);
    struct isc_command *c = TAILQ_FIRST(&l->unused);
    if (!s || !c)
        return NULL;
    struct target_io *io = isc_target_io(s);
    uint64_t at = s->next_bytes, left = step_bytes(l, io, s->step) - at;
    TAILQ_REMOVE(&l->unused, c, link);
    *c = (struct isc_command){.lun = l, .io = io, .kind = kind_of(l, io, s->step)};
    if (c->kind != ISC_FLUSH) {
        uint64_t most = limit_blocks(l, c->kind) * l->facts.block_bytes;
        left = left < most ? left : most;
        c->lba = (io->offset_bytes + at) / l->facts.block_bytes;
        c->blocks = (uint32_t)(left / l->facts.block_bytes);
        c->data = (struct scsi_iovec){io->data ? (char *)io->data + at : NULL, left};
    }
    s->next_bytes += left;
    s->commands++;
    if (s->next_bytes == step_bytes(l, io, s->step)) {
        TAILQ_REMOVE(&l->waiting, s, waiting_link);
        s->waits = false;
    }
    return c;
}

/* Those that were lost or put off come first. */
static struct isc_command *next_command(struct isc_lun *l, uint64_t now_ns)
{
    struct isc_command *c;
    TAILQ_FOREACH(c, &l->again, link)
    {
        if (c->not_before_ns <= now_ns) {
            TAILQ_REMOVE(&l->again, c, link);
            return c;
        }
    }
    return make_command(l);
}

/* The path for the next command: they take turns. */
static struct isc_path *next_path(struct isc_lun *l)
{
    for (unsigned i = 0; i < l->paths; i++) {
        struct isc_path *p = &l->path[(l->next_path + i) % l->paths];
        if (p->state == ISC_UP && !p->broken && p->commands < ISC_PATH_COMMANDS)
            return p;
    }
    return NULL;
}

static void issue(struct isc_command *c, struct isc_path *p, uint64_t now_ns)
{
    c->path = p;
    c->lun->next_path = (unsigned)(p - c->lun->path) + 1;
    TAILQ_INSERT_TAIL(&p->running, c, link);
    if (p->commands++ == 0)
        p->busy_ns = now_ns;
    p->unsent = true;
    if (c->lost && isc_io_of(c->io)->lost) { /* once, however many commands it has */
        isc_io_of(c->io)->lost = false;
        c->lun->events.reissued++;
    }
    c->lost = false;
    if (!isc_command_issue(c, p, on_answer)) {
        p->broken = true;
        isc_lun_lost(c);
    }
}

void isc_lun_pump(struct isc_lun *l, uint64_t now_ns)
{
    uint32_t drops;
    do {
        struct isc_path *p;
        struct isc_command *c;
        drops = l->drops;
        while ((p = next_path(l)) && (c = next_command(l, now_ns)))
            issue(c, p, now_ns);
        for (unsigned i = 0; i < l->paths; i++)
            if (l->path[i].unsent)
                isc_path_service(&l->path[i], 0, now_ns);
    } while (drops != l->drops);
}

static int refusal(const struct isc_lun *l, const struct target_io *io)
{
    uint64_t mask = l->facts.block_bytes - 1;
    if (l->gone)
        return -ETIMEDOUT;
    if (io->op == BLOCK_FLUSH)
        return 0;
    if ((io->offset_bytes & mask) || (io->len_bytes & mask) || io->len_bytes > l->base.size_bytes ||
            io->offset_bytes > l->base.size_bytes - io->len_bytes)
        return -EINVAL;
    if (io->op == BLOCK_DISCARD && !l->facts.unmap && !l->facts.erase)
        return -EOPNOTSUPP;
    return io->op == BLOCK_WRITE_ZEROES && !l->facts.zero ? -EOPNOTSUPP : 0;
}

void isc_lun_begin(struct isc_lun *l, struct target_queue *q, struct target_io *io, uint64_t now_ns)
{
    struct isc_io *s = isc_io_of(io);
    l->events.path_changes += l->missing;
    l->missing = 0;
    *s = (struct isc_io){.queue = q, .progress_ns = now_ns};
    io->two_step = (step_bytes(l, io, ISC_FLUSH_BEFORE) && step_bytes(l, io, ISC_MAIN)) ||
                   step_bytes(l, io, ISC_FLUSH_AFTER);
    TAILQ_INSERT_TAIL(&l->active, s, active_link);
    int error = refusal(l, io);
    if (error)
        fail(l, s, error);
    else
        advance(l, s);
}

/* ---- giving up ---- */

/* Takes an I/O off its paths, which end with that (nothing else keeps a server from touching its data), and
 * fails it. */
static void give_up(struct isc_lun *l, struct isc_io *s, uint64_t now_ns)
{
    struct isc_command *c, *next;
    struct target_io *io = isc_target_io(s);
    for (unsigned i = 0; i < l->paths && s->commands; i++) {
        TAILQ_FOREACH(c, &l->path[i].running, link)
        if (c->io == io)
            break;
        if (c)
            isc_path_drop(&l->path[i], now_ns);
    }
    for (c = TAILQ_FIRST(&l->again); c; c = next) {
        next = TAILQ_NEXT(c, link);
        if (c->io != io)
            continue;
        TAILQ_REMOVE(&l->again, c, link);
        put_back(c);
        s->commands--;
    }
    fail(l, s, -ETIMEDOUT);
}

void isc_lun_tick(struct isc_lun *l, uint64_t now_ns)
{
    struct isc_io *s;
    for (unsigned i = 0; i < l->paths; i++)
        isc_path_tick(&l->path[i], now_ns);
    if (l->up == 0 && isc_since_ns(now_ns, l->lost_ns) >= l->stall_ns)
        l->gone = true;
    while ((s = TAILQ_FIRST(&l->active)) && (l->gone || isc_since_ns(now_ns, s->progress_ns) >= l->stall_ns))
        give_up(l, s, now_ns);
}

void isc_lun_abandon(struct isc_lun *l)
{
    struct isc_command *c;
    uint64_t now_ns = pace_now_ns();
    for (unsigned i = 0; i < l->paths; i++)
        if (l->path[i].commands)
            isc_path_drop(&l->path[i], now_ns);
    while ((c = TAILQ_FIRST(&l->again))) {
        TAILQ_REMOVE(&l->again, c, link);
        put_back(c);
    }
    TAILQ_INIT(&l->active);
    TAILQ_INIT(&l->waiting);
}
