/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>

#include "formats/import/blktrace_state.h"

static uint16_t flags_of(const struct bt_event *ev, enum bt_class class)
{
    static const struct {
        uint32_t category;
        uint16_t flag;
    } map[] = {{BT_FLUSH, BLOCK_PREFLUSH}, {BT_FUA, BLOCK_FUA}, {BT_SYNC, BLOCK_SYNC}, {BT_META, BLOCK_META},
            {BT_AHEAD, BLOCK_READAHEAD}};
    uint16_t flags = 0;

    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
        if (ev->category & map[i].category)
            flags |= map[i].flag;
    return class == BT_CLASS_FLUSH ? flags & (uint16_t)~BLOCK_PREFLUSH : flags;
}

static int place_check(const struct bt_event *ev, uint64_t sector, struct err *e)
{
    uint64_t end;

    if (sector > UINT64_MAX / BT_SECTOR ||
            (ev->bytes && __builtin_add_overflow(sector * BT_SECTOR, (uint64_t)ev->bytes - 1, &end)))
        return err_set(e, EBADMSG, "sector %" PRIu64 " with %u bytes ends beyond 64 bits", sector, ev->bytes);
    return 0;
}

/* The record of an event, without its latency. */
static int record_of(struct bt_matcher *m, const struct bt_event *ev, struct bt_device *d,
        struct block_record *r, struct err *e)
{
    static const uint8_t ops[] = {BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH};
    enum bt_class class = bt_class_of(ev);
    struct bt_process *process;
    uint64_t sector = ev->sector >= d->start_sector ? ev->sector - d->start_sector : ev->sector;
    int rc;

    *r = (struct block_record){.t_ns = m->now_ns, .op = ops[class], .flags = flags_of(ev, class)};
    if (class == BT_CLASS_WRITE && (ev->category & BT_WRITE_ZEROES))
        r->op = BLOCK_WRITE_ZEROES;
    if (class != BT_CLASS_FLUSH) {
        rc = place_check(ev, sector, e);
        if (rc)
            return rc;
        r->offset_bytes = sector * BT_SECTOR;
        r->len_bytes = ev->bytes;
    }
    if (m->watch) {
        r->stream = ev->tag;
        r->issuer = ev->pid;
        return 0;
    }
    rc = bt_device_stream(d, m->out, &r->stream, e);
    if (!rc)
        rc = bt_process_find(&m->processes, ev->pid, &process, e);
    return rc ? rc : bt_process_issuer(&m->processes, process, m->out, m->keep_names, &r->issuer, e);
}

static int begin(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, bool issued, struct err *e)
{
    enum bt_class class = bt_class_of(ev);
    struct block_record r;
    struct bt_piece *p;
    struct bt_io *io;
    int rc = record_of(m, ev, &m->devices.list[device], &r, e);

    if (rc)
        return rc;
    io = bt_io_new(&m->open);
    if (!io)
        return err_sys(e, ENOMEM, "cannot follow the trace's I/O");
    io->r = r;
    p = bt_piece_new(&m->open, io, device, class, bt_place_of(class, ev->sector), ev->bytes);
    if (p) {
        p->issued = issued;
        io->own = 1;
    }
    return 0;
}

/* ---- the pieces of a request ---- */

#define FITS_BEST 4

/* How well a piece fits what is wanted: 0 not at all. What is open for longer than BT_HOLD_NS (late) has
 * probably lost its completion, and must not take that of a younger one. */
static int fits(const struct bt_piece *p, enum bt_want want)
{
    switch (want) {
    case BT_ANY:
        return FITS_BEST;
    case BT_NOT_ISSUED:
        return p->issued ? 0 : FITS_BEST;
    case BT_ISSUED_FIRST:
        break;
    }
    return (p->issued ? 3 : 1) + !p->io->late;
}

struct bt_piece *bt_piece_for(
        struct bt_matcher *m, uint16_t device, enum bt_class class, uint64_t sector, enum bt_want want)
{
    struct bt_piece *p = bt_piece_at(&m->open, device, class, sector), *best = NULL;
    int best_fit = 0;

    for (int i = 0; p && i < BT_SEARCH_MAX && best_fit < FITS_BEST; i++, p = bt_piece_next(p)) {
        int fit = p->bytes ? fits(p, want) : 0;
        if (fit > best_fit) {
            best_fit = fit;
            best = p;
        }
    }
    return best;
}

size_t bt_mark_issued(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, bool issued)
{
    enum bt_class class = bt_class_of(ev);
    uint64_t sector = ev->sector;
    uint32_t left = ev->bytes;
    size_t found = 0;
    struct bt_piece *p;

    while (left && (p = bt_piece_for(m, device, class, sector, issued ? BT_NOT_ISSUED : BT_ISSUED_FIRST))) {
        uint32_t n = p->bytes < left ? p->bytes : left;
        p->issued = issued;
        bt_piece_expect(&m->open, p, false);
        sector += n / BT_SECTOR;
        left -= n;
        found++;
    }
    return found;
}

struct bt_piece *bt_piece_expected(
        struct bt_matcher *m, uint16_t device, enum bt_class class, uint64_t sector, uint32_t bytes)
{
    struct bt_piece *p = m->open.expected_count ? bt_piece_at(&m->open, device, class, sector) : NULL;

    for (int i = 0; p && i < BT_SEARCH_MAX; i++, p = bt_piece_next(p))
        if (p->expected && p->bytes == bytes)
            return p;
    return NULL;
}

/* ---- Q and D ---- */

int bt_take_queue(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    enum bt_class class = bt_class_of(ev);
    struct bt_piece *p;

    if (ev->category & BT_PASSTHROUGH) {
        m->counts.queued_passthrough++;
        return 0;
    }
    m->devices.list[device].queues = true;
    p = bt_piece_expected(m, device, class, bt_place_of(class, ev->sector), ev->bytes);
    if (!p)
        return begin(m, ev, device, false, e);
    bt_piece_expect(&m->open, p, false);
    m->counts.queued_again++;
    return 0;
}

int bt_take_issue(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    struct bt_device *d = &m->devices.list[device];

    if (ev->category & BT_PASSTHROUGH) {
        m->counts.issued_passthrough++;
        return 0;
    }
    d->issues = true;
    if (bt_mark_issued(m, ev, device, true))
        return 0;
    if (!ev->bytes && (d->queues || !(ev->category & BT_FLUSH)))
        return 0; /* a flush that was queued as such, or for a write's sake */
    /* Issued twice without a requeue between: only without Q can this be another I/O. */
    if (d->queues && bt_piece_for(m, device, bt_class_of(ev), ev->sector, BT_ANY))
        return 0;
    if (m->watch)
        return 0; /* what was queued before the watch began is not recorded */
    m->counts.from_issue++;
    return begin(m, ev, device, true, e);
}
