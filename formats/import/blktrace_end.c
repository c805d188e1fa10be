/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_state.h"

/* Its last piece has completed: the final end, or one that another may follow. */
static int end(struct bt_matcher *m, struct bt_io *io, bool final, struct err *e)
{
    io->end_ns = m->now_ns;
    io->state = final ? BT_ENDED : BT_PROVISIONAL;
    if (!final)
        return 0;
    while (io->pieces)
        bt_piece_free(&m->open, io->pieces);
    return io->late ? bt_write_late(m, io, e) : 0;
}

static bool has_tail(const struct bt_matcher *m, const struct bt_piece *p)
{
    const struct block_record *r = &p->io->r;

    return r->op == BLOCK_WRITE && (r->flags & (BLOCK_PREFLUSH | BLOCK_FUA)) &&
           m->devices.list[p->device].issues;
}

/* The end without bytes comes at the write's begin or, before Linux 6.6, at its end. */
static void await_tail(
        struct bt_matcher *m, struct bt_io *io, uint16_t device, bool below, uint64_t from, uint64_t to)
{
    const uint64_t sectors[] = {from, to};

    for (int i = 0; i < 2; i++) {
        struct bt_piece *p = bt_piece_new(&m->open, io, device, BT_CLASS_TAIL, sectors[i], 0);
        if (p)
            p->below = below;
    }
}

/* All of a piece has completed. `p` is gone afterwards, and perhaps its I/O. */
static int piece_ended(struct bt_matcher *m, struct bt_piece *p, uint64_t end_sector, struct err *e)
{
    struct bt_io *io = p->io;
    bool below = p->below, tail = has_tail(m, p);
    uint16_t device = p->device;
    uint64_t begin_sector =
            below ? p->sector : io->r.offset_bytes / BT_SECTOR + m->devices.list[device].start_sector;

    bt_piece_free(&m->open, p);
    if (--*(below ? &io->below : &io->own))
        return 0;
    if (tail)
        await_tail(m, io, device, below, begin_sector, end_sector);
    return end(m, io, !tail && !below, e);
}

/* The end without bytes has come: neither of its places is awaited any longer. */
static int tail_ended(struct bt_matcher *m, struct bt_piece *tail, struct err *e)
{
    struct bt_io *io = tail->io;
    bool below = tail->below;

    for (struct bt_piece *p = io->pieces, *next; p; p = next) {
        next = p->sibling;
        if (p->class == BT_CLASS_TAIL && p->below == below)
            bt_piece_free(&m->open, p);
    }
    return end(m, io, !below, e);
}

static void note_error(struct bt_io *io, const struct bt_event *ev)
{
    if (ev->error && !io->r.error)
        io->r.error = ev->error;
}

static int complete_range(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    enum bt_class class = bt_class_of(ev);
    uint64_t sector = ev->sector;
    uint32_t left = ev->bytes;
    int rc = 0;

    while (!rc && left) {
        struct bt_piece *p = bt_piece_for(m, device, class, sector, BT_ISSUED_FIRST);
        if (!p) {
            m->counts.unmatched++;
            return 0;
        }
        uint32_t n = p->bytes < left ? p->bytes : left;
        sector += n / BT_SECTOR;
        left -= n;
        note_error(p->io, ev);
        if (n == p->bytes)
            rc = piece_ended(m, p, sector, e);
        else
            bt_piece_move(&m->open, p, sector, p->bytes - n);
    }
    return rc;
}

static struct bt_piece *older(struct bt_piece *a, struct bt_piece *b)
{
    if (!a || !b)
        return a ? a : b;
    return b->io->r.t_ns < a->io->r.t_ns ? b : a;
}

/* A completion without bytes: of a flush, of a write's tail, or of an I/O that had none. */
static int complete_empty(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    const struct bt_device *d = &m->devices.list[device];
    struct bt_piece *p, *q;

    /* What the flush machinery itself sends to the disk keeps the flag, and is none of ours. */
    if ((ev->category & BT_FLUSH) && d->queues && d->issues)
        return 0;
    p = bt_piece_at(&m->open, device, BT_CLASS_FLUSH, 0);
    p = older(p, bt_piece_at(&m->open, device, BT_CLASS_TAIL, ev->sector));
    q = bt_piece_at(&m->open, device, bt_class_of(ev), bt_place_of(bt_class_of(ev), ev->sector));
    p = older(p, q && !q->bytes ? q : NULL);
    if (!p) {
        m->counts.unmatched++;
        return 0;
    }
    note_error(p->io, ev);
    return p->class == BT_CLASS_TAIL ? tail_ended(m, p, e) : piece_ended(m, p, ev->sector, e);
}

int bt_take_complete(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    if (ev->category & BT_PASSTHROUGH)
        return 0;
    return ev->bytes ? complete_range(m, ev, device, e) : complete_empty(m, ev, device, e);
}
