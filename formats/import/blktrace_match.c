/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/units.h"
#include "formats/import/blktrace_state.h"

static int no_memory(struct err *e)
{
    return err_sys(e, ENOMEM, "cannot follow the trace's I/O");
}

static int matcher_new(struct bt_matcher **matcher, struct bt_matcher init, struct err *e)
{
    struct bt_matcher *m = malloc(sizeof *m);
    int rc;

    if (!m)
        return no_memory(e);
    *m = init;
    rc = bt_open_init(&m->open, e);
    if (rc)
        bt_matcher_close(m);
    else
        *matcher = m;
    return rc;
}

int bt_matcher_open(struct bt_matcher **matcher, struct import_out *out, bool keep_names, struct err *e)
{
    return matcher_new(matcher, (struct bt_matcher){.out = out, .keep_names = keep_names}, e);
}

int bt_matcher_watch(
        struct bt_matcher **matcher, const struct bt_watch *watch, uint64_t start_ns, struct err *e)
{
    return matcher_new(matcher, (struct bt_matcher){.watch = watch, .begun = true, .start_ns = start_ns}, e);
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

int bt_write_late(struct bt_matcher *m, struct bt_io *io, struct err *e)
{
    struct block_record *r = &io->r;
    int rc = 0;

    r->latency_ns = latency_of(io);
    if (io->state != BT_OPEN && m->watch)
        rc = m->watch->late(m->watch->self, r, io->ordinal, e);
    else if (io->state != BT_OPEN)
        rc = import_out_late(m->out, io->ordinal, r->stream, r->t_ns, r->latency_ns, r->error, e);
    bt_io_free(&m->open, io);
    return rc;
}

/* Writes the first held I/O; if it has no end yet, it may still get one. */
static int write_first(struct bt_matcher *m, struct err *e)
{
    struct bt_io *io = m->open.held.first;
    int rc;

    io->r.latency_ns = latency_of(io);
    if (m->watch) {
        io->ordinal = m->records;
        rc = m->watch->add(m->watch->self, &io->r, io->ordinal, e);
    } else {
        rc = import_out_add(m->out, &io->r, &io->ordinal, e);
    }
    m->records++;
    if (rc || io->state != BT_OPEN) {
        bt_io_free(&m->open, io);
        return rc;
    }
    if (m->open.late.count == BT_LATE_MAX) {
        m->counts.forgotten++;
        rc = bt_write_late(m, m->open.late.first, e);
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

/* ---- one function for each action ---- */

/* Each start of tracing tells the wall clock. */
static int take_wall_clock(struct bt_matcher *m, uint64_t wall_ns, struct err *e)
{
    uint64_t start_ns = wall_ns - m->now_ns;

    if (wall_ns <= m->now_ns)
        return 0; /* not set */
    if (!m->wall_start_ns)
        import_out_info(m->out)->started_unix_ns = m->wall_start_ns = start_ns;
    if (start_ns - m->wall_start_ns + BT_WALL_SLACK_NS > 2 * BT_WALL_SLACK_NS)
        return err_set(e, EINVAL,
                "by its wall clock (%" PRIu64
                " s after 1970) this is of another machine, or another boot, than what "
                "came before (at that time %" PRIu64 " s)",
                wall_ns / NS_PER_S, (m->wall_start_ns + m->now_ns) / NS_PER_S);
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
    } else if (ev->action == BT_NOTE_TIMESTAMP && !m->watch) {
        rc = take_wall_clock(m, ev->wall_ns, e);
    } else if (ev->action > BT_NOTE_MESSAGE) {
        m->counts.unknown_actions++;
    }
    return rc;
}

static int take_action(struct bt_matcher *m, const struct bt_event *ev, uint16_t device, struct err *e)
{
    switch (ev->action) {
    case BT_QUEUE:
        return bt_take_queue(m, ev, device, e);
    case BT_ISSUE:
        return bt_take_issue(m, ev, device, e);
    case BT_COMPLETE:
        return bt_take_complete(m, ev, device, e);
    case BT_SPLIT:
        return bt_take_split(m, ev, device);
    case BT_REMAP:
        return bt_take_remap(m, ev, device, e);
    case BT_REQUEUE:
        bt_mark_issued(m, ev, device, false);
        return 0;
    case BT_BACKMERGE:
    case BT_FRONTMERGE:
    case BT_GETRQ:
    case BT_INSERT: {
        enum bt_class class = bt_class_of(ev);
        struct bt_piece *p = bt_piece_expected(m, device, class, bt_place_of(class, ev->sector), ev->bytes);
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
    if (ev->category & BT_ZONES) {
        m->counts.zone_operations += ev->action == BT_QUEUE;
        return write_ready(m, e);
    }
    rc = take_action(m, ev, device, e);
    return rc ? rc : write_ready(m, e);
}

int bt_matcher_tick(struct bt_matcher *m, uint64_t t_ns, struct err *e)
{
    if (t_ns - m->start_ns > m->now_ns)
        m->now_ns = t_ns - m->start_ns;
    return write_ready(m, e);
}

int bt_matcher_pending(const struct bt_matcher *m,
        int (*take)(void *self, const struct block_record *r, uint64_t ordinal, struct err *e), void *self,
        struct err *e)
{
    uint64_t ordinal = m->records;
    int rc = 0;

    for (const struct bt_io *io = m->open.held.first; rc >= 0 && io; io = io->next)
        rc = take(self, &io->r, ordinal++, e);
    for (const struct bt_io *io = m->open.late.first; rc >= 0 && io; io = io->next)
        rc = take(self, &io->r, io->ordinal, e);
    return rc < 0 ? rc : 0;
}

uint64_t bt_matcher_unmatched(const struct bt_matcher *m)
{
    return m->counts.unmatched;
}

uint64_t bt_matcher_other_ops(const struct bt_matcher *m)
{
    return m->counts.zone_operations + m->counts.queued_passthrough;
}

static void write_counts(struct bt_matcher *m)
{
    const struct bt_counts *c = &m->counts;
    const struct {
        const char *name;
        uint64_t count;
    } counts[] = {{"passthrough", c->queued_passthrough > c->issued_passthrough ? c->queued_passthrough
                                                                                : c->issued_passthrough},
            {"unknown_actions", c->unknown_actions}, {"other_operations", c->zone_operations},
            {"from_issue", c->from_issue}, {"unmatched_completions", c->unmatched},
            {"queued_again", c->queued_again}, {"completions_not_awaited", c->forgotten}};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count)
            import_out_count(m->out, counts[i].name, counts[i].count);
    for (size_t i = 0; i < m->devices.count; i++)
        if (m->devices.list[i].lost)
            import_out_lost(m->out, m->devices.list[i].stream, m->devices.list[i].lost);
}

int bt_matcher_finish(struct bt_matcher *m, uint64_t *records, uint64_t *elapsed_ns, struct err *e)
{
    int rc = 0;

    while (!rc && m->open.held.first)
        rc = write_first(m, e);
    while (!rc && m->open.late.first)
        rc = bt_write_late(m, m->open.late.first, e);
    if (rc)
        return rc;
    write_counts(m);
    *records = m->records;
    *elapsed_ns = m->now_ns;
    return 0;
}
