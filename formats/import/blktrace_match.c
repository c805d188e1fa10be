/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import/blktrace_devices.h"
#include "formats/import/blktrace_open.h"

#define SECTOR     512u
#define SEARCH_MAX 256 /* candidates at one place, or I/Os looked back at */

/* What is worth telling, in the tape's counts. */
struct match_counts {
    uint64_t queued_passthrough, issued_passthrough, unknown_actions, from_issue, unmatched, queued_again,
            forgotten;
};

struct bt_matcher {
    struct tape_writer *w;
    bool keep_names, begun;
    struct bt_open open;
    struct bt_devices devices;
    struct bt_processes processes;
    struct match_counts counts;
    uint64_t start_ns, now_ns, lost, records;
};

static int no_memory(struct err *e)
{
    return err_sys(e, ENOMEM, "cannot follow the trace's I/O");
}

int bt_matcher_open(struct bt_matcher **out, struct tape_writer *w, bool keep_names, struct err *e)
{
    struct bt_matcher *m = calloc(1, sizeof *m);
    int rc;

    if (!m)
        return no_memory(e);
    m->w = w;
    m->keep_names = keep_names;
    rc = bt_open_init(&m->open, e);
    if (rc)
        bt_matcher_close(m);
    else
        *out = m;
    return rc;
}

void bt_matcher_close(struct bt_matcher *m)
{
    if (!m)
        return;
    bt_open_release(&m->open);
    bt_devices_release(&m->devices);
    bt_processes_release(&m->processes);
    free(m);
}

/* ---- what leaves for the tape ---- */

static uint64_t latency_of(const struct bt_io *io)
{
    return io->state == BT_OPEN ? TAPE_UNKNOWN : io->end_ns - io->r.t_ns;
}

static int write_late(struct bt_matcher *m, struct bt_io *io, struct err *e)
{
    int rc = 0;

    if (io->state != BT_OPEN)
        rc = tape_writer_late(m->w, io->ordinal, io->r.stream, io->r.t_ns, latency_of(io), io->r.error, e);
    bt_io_free(&m->open, io);
    return rc;
}

/* Writes the first held I/O; if it has no end yet, it may still get one. */
static int write_first(struct bt_matcher *m, struct err *e)
{
    struct bt_io *io = m->open.held.first;
    int rc;

    io->r.latency_ns = latency_of(io);
    rc = tape_writer_add(m->w, &io->r, &io->ordinal, e);
    m->records++;
    if (rc || io->state != BT_OPEN) {
        bt_io_free(&m->open, io);
        return rc;
    }
    if (m->open.late.count == BT_LATE_MAX) {
        m->counts.forgotten++;
        rc = write_late(m, m->open.late.first, e);
    }
    bt_io_make_late(&m->open, io);
    return rc;
}

/* Whether an I/O's turn need not be waited for any longer. */
static bool may_leave(const struct bt_matcher *m, const struct bt_io *io)
{
    switch (io->state) {
    case BT_ENDED:
        return true;
    case BT_PROVISIONAL:
        return m->now_ns - io->end_ns > BT_HOLD_NS;
    case BT_OPEN:
        break;
    }
    return m->now_ns - io->r.t_ns > BT_HOLD_NS;
}

static int write_ready(struct bt_matcher *m, struct err *e)
{
    struct bt_list *held = &m->open.held;
    int rc = 0;

    while (!rc && held->first && (held->count >= BT_HELD_MAX || may_leave(m, held->first)))
        rc = write_first(m, e);
    return rc;
}

/* ---- the begin of an I/O ---- */

static enum bt_class class_of(const struct bt_event *ev)
{
    if (ev->category & BT_DISCARD)
        return BT_CLASS_DISCARD;
    if ((ev->category & BT_FLUSH) && ev->bytes == 0)
        return BT_CLASS_FLUSH;
    return ev->category & BT_WRITE ? BT_CLASS_WRITE : BT_CLASS_READ;
}

/* Where a piece is looked for. A flush lies nowhere: its sector is 0 or, in some kernels, -1. */
static uint64_t place_of(enum bt_class class, uint64_t sector)
{
    return class == BT_CLASS_FLUSH ? 0 : sector;
}

static uint16_t flags_of(const struct bt_event *ev, enum bt_class class)
{
    static const struct {
        uint16_t category, flag;
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

    if (sector > UINT64_MAX / SECTOR || __builtin_add_overflow(sector * SECTOR, (uint64_t)ev->bytes, &end))
        return err_set(e, EBADMSG, "sector %" PRIu64 " with %u bytes ends beyond 64 bits", sector, ev->bytes);
    return 0;
}

/* The record of an event, without its latency. */
static int record_of(struct bt_matcher *m, const struct bt_event *ev, struct bt_device *d,
        struct block_record *r, struct err *e)
{
    static const uint8_t ops[] = {BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH};
    enum bt_class class = class_of(ev);
    struct bt_process *process;
    uint64_t sector = ev->sector >= d->start_sector ? ev->sector - d->start_sector : ev->sector;
    int rc;

    *r = (struct block_record){.t_ns = m->now_ns, .op = ops[class], .flags = flags_of(ev, class)};
    if (class != BT_CLASS_FLUSH) {
        rc = place_check(ev, sector, e);
        if (rc)
            return rc;
        r->offset_bytes = sector * SECTOR;
        r->len_bytes = ev->bytes;
    }
    rc = bt_device_stream(d, m->w, &r->stream, e);
    if (!rc)
        rc = bt_process_find(&m->processes, ev->pid, &process, e);
    return rc ? rc : bt_process_issuer(&m->processes, process, m->w, m->keep_names, &r->issuer, e);
}

static int begin(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, bool issued, struct err *e)
{
    enum bt_class class = class_of(ev);
    struct block_record r;
    struct bt_piece *p;
    struct bt_io *io;
    int rc = record_of(m, ev, &m->devices.list[device], &r, e);

    if (rc)
        return rc;
    io = bt_io_new(&m->open);
    if (!io)
        return no_memory(e);
    io->r = r;
    io->device = device;
    p = bt_piece_new(&m->open, io, device, class, place_of(class, ev->sector), ev->bytes);
    if (p) {
        p->issued = issued;
        io->own = 1;
    }
    return 0;
}

/* ---- the pieces of a request ---- */

enum want { ANY, NOT_ISSUED, ISSUED_FIRST };

/* The oldest piece with bytes at a place. */
static struct bt_piece *piece_for(
        struct bt_matcher *m, uint16_t device, enum bt_class class, uint64_t sector, enum want want)
{
    struct bt_piece *p = bt_piece_at(&m->open, device, class, sector), *first = NULL;

    for (int i = 0; p && i < SEARCH_MAX; i++, p = bt_piece_next(p)) {
        if (!p->bytes)
            continue;
        if (want == ANY || p->issued == (want == ISSUED_FIRST))
            return p;
        if (!first)
            first = p;
    }
    return want == ISSUED_FIRST ? first : NULL;
}

/* Marks what a request consists of as issued (D) or not (R). Returns how many pieces it had. */
static size_t mark_issued(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, bool issued)
{
    enum bt_class class = class_of(ev);
    uint64_t sector = ev->sector;
    uint32_t left = ev->bytes;
    size_t found = 0;
    struct bt_piece *p;

    while (left && (p = piece_for(m, device, class, sector, issued ? NOT_ISSUED : ISSUED_FIRST))) {
        uint32_t n = p->bytes < left ? p->bytes : left;
        p->issued = issued;
        bt_piece_expect(&m->open, p, false);
        sector += n / SECTOR;
        left -= n;
        found++;
    }
    return found;
}

/* ---- the end of an I/O ---- */

/* Its last piece has completed: the final end, or one that another may follow. */
static int end(struct bt_matcher *m, struct bt_io *io, bool final, struct err *e)
{
    io->end_ns = m->now_ns;
    io->state = final ? BT_ENDED : BT_PROVISIONAL;
    if (!final)
        return 0;
    while (io->pieces)
        bt_piece_free(&m->open, io->pieces);
    return io->late ? write_late(m, io, e) : 0;
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
            below ? p->sector : io->r.offset_bytes / SECTOR + m->devices.list[device].start_sector;

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
    enum bt_class class = class_of(ev);
    uint64_t sector = ev->sector;
    uint32_t left = ev->bytes;
    int rc = 0;

    while (!rc && left) {
        struct bt_piece *p = piece_for(m, device, class, sector, ISSUED_FIRST);
        if (!p) {
            m->counts.unmatched++;
            return 0;
        }
        uint32_t n = p->bytes < left ? p->bytes : left;
        sector += n / SECTOR;
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
    q = bt_piece_at(&m->open, device, class_of(ev), place_of(class_of(ev), ev->sector));
    p = older(p, q && !q->bytes ? q : NULL);
    if (!p) {
        m->counts.unmatched++;
        return 0;
    }
    note_error(p->io, ev);
    return p->class == BT_CLASS_TAIL ? tail_ended(m, p, e) : piece_ended(m, p, ev->sector, e);
}

/* ---- one function for each action ---- */

/* The piece that was announced by a split or a remap, or NULL. */
static struct bt_piece *expected_at(
        struct bt_matcher *m, uint16_t device, enum bt_class class, uint64_t sector, uint32_t bytes)
{
    struct bt_piece *p = m->open.expected_count ? bt_piece_at(&m->open, device, class, sector) : NULL;

    for (int i = 0; p && i < SEARCH_MAX; i++, p = bt_piece_next(p))
        if (p->expected && p->bytes == bytes)
            return p;
    return NULL;
}

static int take_queue(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    enum bt_class class = class_of(ev);
    struct bt_piece *p;

    if (ev->category & BT_PASSTHROUGH) {
        m->counts.queued_passthrough++;
        return 0;
    }
    m->devices.list[device].queues = true;
    p = expected_at(m, device, class, place_of(class, ev->sector), ev->bytes);
    if (!p)
        return begin(m, ev, device, false, e);
    bt_piece_expect(&m->open, p, false);
    m->counts.queued_again++;
    return 0;
}

static int take_issue(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    struct bt_device *d = &m->devices.list[device];

    if (ev->category & BT_PASSTHROUGH) {
        m->counts.issued_passthrough++;
        return 0;
    }
    d->issues = true;
    if (mark_issued(m, ev, device, true))
        return 0;
    if (!ev->bytes && (d->queues || !(ev->category & BT_FLUSH)))
        return 0; /* a flush that was queued as such, or for a write's sake */
    /* Issued twice without a requeue between: only without Q can this be another I/O. */
    if (d->queues && piece_for(m, device, class_of(ev), ev->sector, ANY))
        return 0;
    m->counts.from_issue++;
    return begin(m, ev, device, true, e);
}

static int take_complete(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    if (ev->category & BT_PASSTHROUGH)
        return 0;
    return ev->bytes ? complete_range(m, ev, device, e) : complete_empty(m, ev, device, e);
}

/* "X 0 / 128": what is to be done from sector 128 on is another request, and before Linux 4.14 was queued
 * again. */
static int take_split(struct bt_matcher *m, const struct bt_event *ev, uint16_t device)
{
    enum bt_class class = class_of(ev);
    struct bt_piece *p = piece_for(m, device, class, ev->sector, ANY), *rest;
    uint64_t front;

    if (!p || ev->split <= ev->sector || ev->split - ev->sector >= p->bytes / SECTOR)
        return 0;
    front = (ev->split - ev->sector) * SECTOR;
    rest = bt_piece_new(&m->open, p->io, device, class, ev->split, p->bytes - (uint32_t)front);
    if (!rest)
        return 0; /* its completion will not be found */
    rest->below = p->below;
    bt_piece_expect(&m->open, rest, true);
    ++*(p->below ? &p->io->below : &p->io->own);
    bt_piece_move(&m->open, p, p->sector, (uint32_t)front);
    return 0;
}

/* The piece of the device above that a remap is about: one that has not been remapped yet if possible, else
 * one that has (a mirror's second side). A stripe begins within its I/O. */
static struct bt_piece *remapped_piece(struct bt_matcher *m, const struct bt_event *ev, uint16_t from)
{
    enum bt_class class = class_of(ev);
    uint64_t sector = place_of(class, ev->remap.from_sector);
    struct bt_piece *p = bt_piece_at(&m->open, from, class, sector), *mirror = NULL;
    struct bt_io *io = m->open.held.last;

    for (int i = 0; p && i < SEARCH_MAX; i++, p = bt_piece_next(p)) {
        if (p->bytes == ev->bytes && !p->remapped)
            return p;
        if (p->bytes >= ev->bytes)
            mirror = p;
    }
    for (int i = 0; !mirror && io && m->devices.list[from].queues && i < SEARCH_MAX; i++, io = io->prev)
        for (p = io->pieces; p; p = p->sibling)
            if (p->device == from && p->class == class && p->sector <= sector &&
                    sector - p->sector + ev->bytes / SECTOR <= p->bytes / SECTOR)
                return p;
    return mirror;
}

static int take_remap(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    enum bt_class class = class_of(ev);
    uint64_t sector = place_of(class, ev->sector);
    struct bt_piece *p, *lower;
    uint16_t from, to;
    int rc;

    if (!ev->remap.from)
        return 0; /* its payload is not there */
    rc = bt_device_find(&m->devices, ev->remap.from, &from, e);
    if (!rc)
        rc = bt_device_find(&m->devices, ev->remap.to, &to, e);
    if (rc)
        return rc;
    if (from == device) { /* the traced partition itself, on its way to the disk */
        if (ev->sector >= ev->remap.from_sector)
            m->devices.list[device].start_sector = ev->sector - ev->remap.from_sector;
        return 0;
    }
    if (!m->devices.list[to].logs)
        m->devices.list[to].logged_as = device;
    from = m->devices.list[from].logged_as;
    if (from == device) { /* a partition of the traced disk: what was remapped to it moves on */
        p = expected_at(m, device, class, place_of(class, ev->remap.from_sector), ev->bytes);
        if (p)
            bt_piece_move(&m->open, p, sector, p->bytes);
        return 0;
    }
    p = remapped_piece(m, ev, from);
    lower = p ? bt_piece_new(&m->open, p->io, device, class, sector, ev->bytes) : NULL;
    if (lower) {
        p->remapped = true;
        lower->below = true;
        bt_piece_expect(&m->open, lower, true);
        lower->io->below++;
    }
    return 0;
}

static int take_note(struct bt_matcher *m, const struct bt_event *ev, struct err *e)
{
    struct bt_process *p;
    int rc = 0;

    if (ev->action == BT_NOTE_PROCESS && m->keep_names) {
        rc = bt_process_find(&m->processes, ev->pid, &p, e);
        if (!rc)
            memcpy(p->name, ev->name, sizeof p->name);
    } else if (ev->action > BT_NOTE_MESSAGE) {
        m->counts.unknown_actions++;
    }
    return rc;
}

static int take_action(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    switch (ev->action) {
    case BT_QUEUE:
        return take_queue(m, ev, device, e);
    case BT_ISSUE:
        return take_issue(m, ev, device, e);
    case BT_COMPLETE:
        return take_complete(m, ev, device, e);
    case BT_SPLIT:
        return take_split(m, ev, device);
    case BT_REMAP:
        return take_remap(m, ev, device, e);
    case BT_REQUEUE:
        mark_issued(m, ev, device, false);
        return 0;
    case BT_BACKMERGE:
    case BT_FRONTMERGE:
    case BT_GETRQ:
    case BT_INSERT: {
        enum bt_class class = class_of(ev);
        struct bt_piece *p = expected_at(m, device, class, place_of(class, ev->sector), ev->bytes);
        if (p)
            bt_piece_expect(&m->open, p, false); /* it went on without being queued again */
        return 0;
    }
    case BT_SLEEPRQ:
    case BT_PLUG:
    case BT_UNPLUG_IO:
    case BT_UNPLUG_TIMER:
    case BT_BOUNCE:
    case BT_ABORT:
    case BT_DRV_DATA:
        return 0;
    default:
        m->counts.unknown_actions++;
        return 0;
    }
}

int bt_matcher_take(struct bt_matcher *m, const struct bt_event *ev, struct err *e)
{
    uint16_t device;
    int rc;

    if (!m->begun)
        m->start_ns = ev->t_ns;
    m->begun = true;
    m->now_ns = ev->t_ns - m->start_ns;
    if (ev->category & BT_NOTIFY)
        return take_note(m, ev, e);
    rc = bt_device_find(&m->devices, ev->device, &device, e);
    if (rc)
        return rc;
    m->devices.list[device].logs = true;
    m->devices.list[device].logged_as = device;
    m->devices.list[device].lost += ev->lost;
    rc = take_action(m, ev, device, e);
    return rc ? rc : write_ready(m, e);
}

static void write_counts(struct bt_matcher *m)
{
    const struct match_counts *c = &m->counts;
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"passthrough", c->queued_passthrough > c->issued_passthrough ? c->queued_passthrough
                                                                                : c->issued_passthrough},
            {"unknown_actions", c->unknown_actions}, {"from_issue", c->from_issue},
            {"unmatched_completions", c->unmatched}, {"queued_again", c->queued_again},
            {"completions_not_awaited", c->forgotten}};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count)
            tape_writer_count(m->w, counts[i].name, counts[i].count);
    for (size_t i = 0; i < m->devices.count; i++)
        if (m->devices.list[i].lost)
            tape_writer_lost(m->w, m->devices.list[i].stream, m->devices.list[i].lost);
}

int bt_matcher_finish(struct bt_matcher *m, uint64_t *records, uint64_t *elapsed_ns, struct err *e)
{
    int rc = 0;

    while (!rc && m->open.held.first)
        rc = write_first(m, e);
    while (!rc && m->open.late.first)
        rc = write_late(m, m->open.late.first, e);
    if (rc)
        return rc;
    write_counts(m);
    *records = m->records;
    *elapsed_ns = m->now_ns;
    return 0;
}
