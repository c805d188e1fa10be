/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/flight.h"

#include <errno.h>
#include <stdlib.h>

#include "replay/buffers.h"
#include "replay/pace.h"

/* How long one kind's queue is waited for while another's has I/O in flight, too. */
#define TURN_NS 50000

/* The queue of one kind of target. */
struct lane {
    const struct target_ops *ops;
    struct target_queue *queue;
    struct target_io *batch[FLIGHT_BATCH];
    unsigned batched, in_flight;
};

#define LANES_MAX 8

struct flight {
    struct target *const *target; /* of each stream */
    uint8_t *lane_of;             /* of each stream */
    struct lane lane[LANES_MAX];
    unsigned lanes, depth, in_flight, waiting;
    struct flight_io *slot;
    uint32_t *free_slot;
    unsigned free_slots;
    unsigned slots_used; /* slots beyond were never taken */
    struct buffers *buffers;
};

static int add_lane(struct flight *f, const struct target_ops *ops, uint8_t *index, struct err *e)
{
    for (unsigned i = 0; i < f->lanes; i++) {
        if (f->lane[i].ops == ops) {
            *index = (uint8_t)i;
            return 0;
        }
    }
    if (f->lanes == LANES_MAX)
        return err_set(e, E2BIG, "too many kinds of target");
    int r = ops->queue_open(&f->lane[f->lanes].queue, f->depth, e);
    if (r < 0)
        return r;
    f->lane[f->lanes].ops = ops;
    *index = (uint8_t)f->lanes++;
    return 0;
}

int flight_open(
        struct flight **out, unsigned depth, struct target *const *target, size_t targets, struct err *e)
{
    struct flight *f = calloc(1, sizeof *f);
    if (f) {
        f->target = target;
        f->depth = depth;
        f->lane_of = calloc(targets + 1, 1);
        f->slot = calloc(depth, sizeof *f->slot);
        f->free_slot = calloc(depth, sizeof *f->free_slot);
    }
    int r = 0;
    if (!f || !f->lane_of || !f->slot || !f->free_slot)
        r = err_sys(e, ENOMEM, "cannot keep %u I/Os in flight", depth);
    if (r == 0)
        r = buffers_open(&f->buffers, BUFFERS_BOUND_BYTES, e);
    for (size_t i = 0; r == 0 && i < targets; i++)
        r = add_lane(f, target[i]->ops, &f->lane_of[i], e);
    if (r < 0) {
        flight_close(f);
        return r;
    }
    for (unsigned i = 0; i < depth; i++) {
        f->slot[i].io.slot = i;
        f->free_slot[f->free_slots++] = depth - 1 - i;
    }
    *out = f;
    return 0;
}

void flight_close(struct flight *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < f->lanes; i++)
        f->lane[i].ops->queue_close(f->lane[i].queue);
    for (unsigned i = 0; f->slot && i < f->depth; i++)
        if (f->slot[i].io.data)
            buffers_put(f->buffers, f->slot[i].io.data, f->slot[i].io.len_bytes);
    buffers_close(f->buffers);
    free(f->lane_of);
    free(f->slot);
    free(f->free_slot);
    free(f);
}

bool flight_room(const struct flight *f)
{
    return f->free_slots > 0;
}

unsigned flight_count(const struct flight *f)
{
    return f->in_flight;
}

unsigned flight_waiting(const struct flight *f)
{
    return f->waiting;
}

static bool has_data(unsigned op)
{
    return op == BLOCK_READ || op == BLOCK_WRITE;
}

struct flight_io *flight_prepare(struct flight *f, struct work *w, uint32_t i, const struct content_write *by)
{
    uint32_t stream = w->stream[i];
    struct target *t = f->target[stream];
    uint8_t op = w->op[i];
    void *data = NULL;
    if (t->ops->stores && has_data(op) && w->len_bytes[i]) {
        data = buffers_get(f->buffers, w->len_bytes[i]);
        if (!data)
            return NULL;
        if (op == BLOCK_WRITE)
            content_make(data, w->offset_bytes[i], w->len_bytes[i], by);
    }
    uint32_t slot = f->free_slot[--f->free_slots];
    struct flight_io *fio = &f->slot[slot];
    if (slot >= f->slots_used)
        f->slots_used = slot + 1;
    fio->io.target = t;
    fio->io.data = data;
    fio->io.offset_bytes = w->offset_bytes[i];
    fio->io.len_bytes = w->len_bytes[i];
    fio->io.op = op;
    fio->io.preflush = w->flags[i] & BLOCK_PREFLUSH;
    fio->io.fua = w->flags[i] & BLOCK_FUA;
    fio->io.two_step = false;
    fio->io.done_ns = 0;
    fio->work = w;
    fio->index = i;
    fio->lane = f->lane_of[stream];
    fio->touched = fio->active = false;
    return fio;
}

void flight_drop(struct flight *f, struct flight_io *fio)
{
    if (fio->io.data)
        buffers_put(f->buffers, fio->io.data, fio->io.len_bytes);
    fio->io.data = NULL;
    fio->active = false;
    f->free_slot[f->free_slots++] = fio->io.slot;
}

void flight_put(struct flight *f, struct flight_io *fio)
{
    struct lane *l = &f->lane[fio->lane];
    l->batch[l->batched++] = &fio->io;
    f->waiting++;
    fio->active = true;
}

bool flight_overlaps(const struct flight *f, const struct work *w, uint32_t i)
{
    const struct target *t = f->target[w->stream[i]];
    uint64_t begin = w->offset_bytes[i];
    uint64_t end = begin + w->len_bytes[i];
    for (unsigned k = 0; k < f->slots_used; k++) {
        const struct target_io *io = &f->slot[k].io;
        if (f->slot[k].active && io->target == t && (io->op != BLOCK_READ || w->op[i] != BLOCK_READ) &&
                io->offset_bytes < end && begin < io->offset_bytes + io->len_bytes)
            return true;
    }
    return false;
}

static struct flight_io *fio_of(struct target_io *io)
{
    return (struct flight_io *)io;
}

static int submit_lane(struct flight *f, struct lane *l, struct err *e)
{
    int taken = l->ops->submit(l->queue, l->batch, l->batched, e);
    if (taken < 0)
        return taken;
    l->in_flight += (unsigned)taken;
    f->in_flight += (unsigned)taken;
    f->waiting -= (unsigned)taken;
    l->batched -= (unsigned)taken;
    for (unsigned i = 0; i < l->batched; i++)
        l->batch[i] = l->batch[i + (unsigned)taken];
    return 0;
}

int flight_submit(struct flight *f, uint64_t now_ns, uint64_t start_ns, bool scheduled_now, struct err *e)
{
    for (unsigned k = 0; k < f->lanes; k++) {
        struct lane *l = &f->lane[k];
        if (l->batched == 0)
            continue;
        for (unsigned i = 0; i < l->batched; i++) {
            struct flight_io *fio = fio_of(l->batch[i]);
            if (fio->touched)
                continue; /* its time began with the first attempt */
            fio->touched = true;
            fio->work->issued_ns[fio->index] = now_ns - start_ns;
            if (scheduled_now)
                fio->work->scheduled_ns[fio->index] = now_ns - start_ns;
        }
        int r = submit_lane(f, l, e);
        if (r < 0)
            return r;
    }
    return (int)f->waiting;
}

static int reap_lane(struct flight *f, struct lane *l, struct flight_io **done, unsigned max,
        uint64_t timeout_ns, struct err *e)
{
    struct target_io *io[FLIGHT_BATCH];
    int n = l->ops->reap(l->queue, io, max < FLIGHT_BATCH ? max : FLIGHT_BATCH, timeout_ns, e);
    for (int i = 0; i < n; i++)
        done[i] = fio_of(io[i]);
    if (n > 0) {
        l->in_flight -= (unsigned)n;
        f->in_flight -= (unsigned)n;
    }
    return n;
}

int flight_reap(struct flight *f, struct flight_io **done, unsigned max, uint64_t timeout_ns, struct err *e)
{
    unsigned busy = 0;
    for (unsigned k = 0; k < f->lanes; k++)
        busy += f->lane[k].in_flight > 0;
    uint64_t until_ns = busy > 1 && timeout_ns ? pace_now_ns() + timeout_ns : 0;
    for (;;) {
        for (unsigned k = 0; k < f->lanes; k++) {
            struct lane *l = &f->lane[k];
            if (l->in_flight == 0)
                continue;
            uint64_t turn_ns = busy > 1 && timeout_ns > TURN_NS ? TURN_NS : timeout_ns;
            int n = reap_lane(f, l, done, max, turn_ns, e);
            if (n != 0)
                return n;
        }
        if (busy <= 1 || timeout_ns == 0 || pace_now_ns() >= until_ns)
            return 0;
    }
}
