/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/bulk.h"

#include <errno.h>
#include <stdlib.h>

#define WAIT_NS 100000000u

struct bulk {
    struct target *target;
    struct target_queue *queue;
    enum block_op op;
    bulk_data *data;
    void *context;
    const volatile sig_atomic_t *stop;
    struct target_io io[BULK_DEPTH];
    void *buffer[BULK_DEPTH];
    struct target_io *free_io[BULK_DEPTH];
    unsigned free_count;
};

int bulk_open(struct bulk **out, struct target *t, enum block_op op, bulk_data *data, void *context,
        const volatile sig_atomic_t *stop, struct err *e)
{
    struct bulk *b = calloc(1, sizeof *b);
    if (!b)
        return err_sys(e, ENOMEM, "cannot %s '%s'", block_op_name(op), t->url);
    *b = (struct bulk){.target = t, .op = op, .data = data, .context = context, .stop = stop};
    for (unsigned i = 0; i < BULK_DEPTH; i++) {
        b->buffer[i] = aligned_alloc(TARGET_ALIGN_BYTES, BULK_BYTES);
        if (!b->buffer[i]) {
            bulk_close(b);
            return err_sys(e, ENOMEM, "cannot %s '%s'", block_op_name(op), t->url);
        }
        b->io[i].slot = i;
        b->free_io[b->free_count++] = &b->io[i];
    }
    int r = t->ops->queue_open(&b->queue, BULK_DEPTH, e);
    if (r < 0) {
        bulk_close(b);
        return r;
    }
    *out = b;
    return 0;
}

static int failed(const struct bulk *b, const struct target_io *io, struct err *e)
{
    if (io->result < 0)
        return err_sys(e, (int)-io->result, "cannot %s %llu bytes at %llu of '%s'", block_op_name(io->op),
                (unsigned long long)io->len_bytes, (unsigned long long)io->offset_bytes, b->target->url);
    return err_set(e, EIO, "short %s at %llu of '%s': %lld of %llu bytes", block_op_name(io->op),
            (unsigned long long)io->offset_bytes, b->target->url, (long long)io->result,
            (unsigned long long)io->len_bytes);
}

static int finish_io(struct bulk *b, struct target_io *io, struct err *e)
{
    b->free_io[b->free_count++] = io;
    if (io->op == BLOCK_FLUSH)
        return io->result < 0 && io->result != -EOPNOTSUPP ? failed(b, io, e) : 0;
    if (io->result < 0 || (uint64_t)io->result != io->len_bytes)
        return failed(b, io, e);
    return io->op == BLOCK_READ ? b->data(b->context, io->data, io->offset_bytes, io->len_bytes, e) : 0;
}

/* Collects at least one completion. Those after a failed one are collected, but not looked at. */
static int collect(struct bulk *b, struct err *e)
{
    struct target_io *done[BULK_DEPTH];
    int n = 0;
    while (n == 0) {
        n = b->target->ops->reap(b->queue, done, BULK_DEPTH, WAIT_NS, e);
        if (n < 0)
            return n;
    }
    int result = 0;
    for (int i = 0; i < n; i++) {
        if (result == 0)
            result = finish_io(b, done[i], e);
        else
            b->free_io[b->free_count++] = done[i];
    }
    return result;
}

static int start(struct bulk *b, enum block_op op, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    int r = 0;
    if (*b->stop)
        return err_set(e, EINTR, "cut short by a signal");
    while (b->free_count == 0 && r == 0)
        r = collect(b, e);
    if (r < 0)
        return r;
    struct target_io *io = b->free_io[--b->free_count];
    void *data = len_bytes ? b->buffer[io->slot] : NULL;
    *io = (struct target_io){.target = b->target,
            .data = data,
            .offset_bytes = offset_bytes,
            .len_bytes = len_bytes,
            .op = (uint8_t)op,
            .slot = io->slot};
    if (op == BLOCK_WRITE)
        r = b->data(b->context, data, offset_bytes, len_bytes, e);
    int taken = 0;
    while (r == 0 && taken == 0) {
        taken = b->target->ops->submit(b->queue, &io, 1, e);
        if (taken == 0)
            r = collect(b, e);
    }
    if (r < 0 || taken < 0)
        b->free_io[b->free_count++] = io;
    return r < 0 ? r : taken < 0 ? taken : 0;
}

int bulk_add(struct bulk *b, uint64_t offset_bytes, uint64_t len_bytes, struct err *e)
{
    return start(b, b->op, offset_bytes, len_bytes, e);
}

static int collect_all(struct bulk *b, struct err *e)
{
    int r = 0;
    while (b->free_count < BULK_DEPTH && r == 0)
        r = collect(b, e);
    return r;
}

int bulk_finish(struct bulk *b, struct err *e)
{
    int r = collect_all(b, e);
    if (r == 0 && b->op == BLOCK_WRITE)
        r = start(b, BLOCK_FLUSH, 0, 0, e);
    return r < 0 ? r : collect_all(b, e);
}

/* After a failure: nobody looks at the data any more. */
static void drain(struct bulk *b)
{
    struct target_io *done[BULK_DEPTH];
    while (b->queue && b->free_count < BULK_DEPTH) {
        int n = b->target->ops->reap(b->queue, done, BULK_DEPTH, WAIT_NS, NULL);
        if (n < 0)
            return;
        b->free_count += (unsigned)n;
    }
}

void bulk_close(struct bulk *b)
{
    if (!b)
        return;
    drain(b);
    if (b->queue)
        b->target->ops->queue_close(b->queue);
    for (unsigned i = 0; i < BULK_DEPTH; i++)
        free(b->buffer[i]);
    free(b);
}
