/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "replay/engine_parts.h"

/* The most that being late is made good after an I/O: what a CPU that sleeps takes to wake up, 0.2 ms in a
 * virtual machine. What is more has stopped the whole replay, and a recorded program that was stopped would
 * not have caught up either. */
#define LATE_MAX_NS 200000u
/* Up to which mean of others in flight a recorded program is one that sleeps for a single I/O. */
#define ALONE_DEPTH 0.25

int engine_counted(struct engine *en, struct work *w, uint32_t i, uint64_t at_ns, struct err *e)
{
    if (en->waits && w->counts[i])
        return waits_completed(en->waits, w->group[i], at_ns, e);
    return 0;
}

static void note_error(struct engine *en, struct work *w, uint32_t i, int code)
{
    w->error[i] = (uint16_t)code;
    if (en->result->errors++ == 0) {
        en->result->error_record = w->record[i] + 1;
        en->result->error_code = code;
    }
    if (en->result->errors > en->o->max_errors) {
        en->result->too_many_errors = true;
        en->cut = true;
    }
}

/* What this I/O says about the target's data. */
static int verify(struct engine *en, const struct flight_io *fio, struct err *e)
{
    const struct target_io *io = &fio->io;
    struct verify *v = en->o->verify[fio->work->stream[fio->index]];
    bool whole = io->result >= 0 && ((uint64_t)io->result == io->len_bytes || io->op > BLOCK_WRITE);
    struct content_write by = en->write;
    by.record = fio->work->record[fio->index] + 1;
    if (io->result == -EOPNOTSUPP)
        return 0;
    if (io->op == BLOCK_READ && whole)
        verify_look(v, io->data, io->offset_bytes, io->len_bytes);
    return verify_changed(v, io->op, io->offset_bytes, io->len_bytes, &by, whole, e);
}

/* With `closed`: how long before it was seen the think times after an I/O begin. What of its latency is the
 * replay's own comes off, and so does what it was issued late because the replay was busy: it would have
 * completed as much earlier. Where a limit or the target held it back, nothing comes off. */
static uint64_t ahead_ns(struct engine *en, const struct flight_io *fio)
{
    const struct work *w = fio->work;
    uint32_t i = fio->index;
    uint64_t late_ns = w->issued_ns[i] > w->scheduled_ns[i] ? w->issued_ns[i] - w->scheduled_ns[i] : 0;
    if (!en->own)
        return 0;
    if (fio->put_off)
        late_ns = 0;
    else if (late_ns > LATE_MAX_NS)
        late_ns = LATE_MAX_NS;
    if (fio->io.done_ns)
        return late_ns;
    if (fio->io.op <= BLOCK_WRITE && fio->io.result > 0)
        own_completed(en->own, w->stream[i], w->latency_ns[i]);
    return own_time_ns(en->own, w->stream[i]) + late_ns;
}

static int complete(struct engine *en, struct flight_io *fio, uint64_t now_ns, struct err *e)
{
    struct work *w = fio->work;
    uint32_t i = fio->index;
    uint64_t done_ns = (fio->io.done_ns ? fio->io.done_ns : now_ns) - en->start_ns;
    if (done_ns > en->last_done_ns)
        en->last_done_ns = done_ns;
    w->latency_ns[i] = done_ns > w->issued_ns[i] ? done_ns - w->issued_ns[i] : 0;
    en->result->two_step += fio->io.two_step;
    en->uncounted -= en->waits && !w->counts[i];
    enum work_state state = WORK_DONE;
    if (fio->io.result == -EOPNOTSUPP) {
        en->result->unsupported++;
        state = WORK_GONE;
    } else if (fio->io.result < 0) {
        note_error(en, w, i, (int)-fio->io.result);
    } else if ((uint64_t)fio->io.result < fio->io.len_bytes && fio->io.op <= BLOCK_WRITE) {
        en->result->short_io++;
        note_error(en, w, i, EIO);
    }
    int r = en->o->verify ? verify(en, fio, e) : 0;
    uint64_t before_ns = ahead_ns(en, fio);
    flight_drop(en->flight, fio);
    if (r == 0)
        r = engine_counted(en, w, i, done_ns > before_ns ? done_ns - before_ns : 0, e);
    engine_settle(en, w, i, state);
    return r;
}

/* How long to look before sleeping. A program with a single I/O in flight slept until it was done: meanwhile
 * its CPU was free, and a device whose work is a kernel thread's could use it. A replay that kept its CPU
 * would send that thread to another one, at the price of an interrupt. A program with more in flight hardly
 * slept. */
static uint64_t look_ns(const struct engine *en, uint64_t now_ns)
{
    bool alone = en->waits && flight_count(en->flight) == 1 && waits_recorded_depth(en->waits) < ALONE_DEPTH;
    return en->o->timing == TIMING_ASAP || alone ? 0 : pace_poll_ns(&en->pace, now_ns);
}

/* Waits for completions: looks for them for a while, then sleeps. Only what slept was woken. */
static int await(struct engine *en, struct flight_io **done, uint64_t timeout_ns, struct err *e)
{
    uint64_t began_ns = pace_now_ns(), now_ns = began_ns, poll_ns = look_ns(en, began_ns);
    int n = 0;
    for (unsigned look = 0; n == 0 && now_ns - began_ns < poll_ns && now_ns - began_ns < timeout_ns; look++) {
        uint64_t looked_ns = now_ns;
        n = flight_reap(en->flight, done, FLIGHT_BATCH, 0, e);
        if (n == 0)
            pace_pause(look);
        now_ns = pace_now_ns();
        en->pace.spun_ns += n ? now_ns - looked_ns : pace_learn_look(&en->pace, now_ns - looked_ns, now_ns);
    }
    if (n == 0 && now_ns - began_ns < timeout_ns) {
        uint64_t slept_ns = now_ns;
        n = flight_reap(en->flight, done, FLIGHT_BATCH, timeout_ns - (now_ns - began_ns), e);
        now_ns = pace_now_ns();
        if (en->own && n > 0)
            own_slept(en->own, now_ns - slept_ns);
    }
    if (n > 0)
        pace_learn_wait(&en->pace, now_ns - began_ns);
    return n;
}

int engine_reap(struct engine *en, uint64_t timeout_ns, struct err *e)
{
    struct flight_io *done[FLIGHT_BATCH];
    if (en->own)
        own_slept(en->own, 0);
    int n = timeout_ns ? await(en, done, timeout_ns, e) : flight_reap(en->flight, done, FLIGHT_BATCH, 0, e);
    if (n <= 0)
        return n;
    uint64_t now_ns = pace_now_ns();
    if (en->own) {
        own_look(en->own, now_ns);
        waits_own(en->waits, own_share(en->own));
    }
    for (int i = 0; i < n; i++) {
        int r = complete(en, done[i], now_ns, e);
        if (r < 0)
            return r;
    }
    return n;
}
