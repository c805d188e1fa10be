/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/engine.h"

#include <errno.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "replay/flight.h"
#include "replay/own.h"
#include "replay/pace.h"
#include "replay/waits.h"

#define NEVER UINT64_MAX
/* The most that being late is made good after an I/O. What is more has stopped the whole replay, and a
 * recorded program that was stopped would not have caught up either. */
#define LATE_MAX_NS 50000u
/* Up to which mean of others in flight a recorded program is one that sleeps for a single I/O. */
#define ALONE_DEPTH 0.25
/* Longest wait without a look at the stop flag. */
#define WAIT_MAX_NS 100000000u
/* Longest wait for a completion while the decoding thread is awaited, too. */
#define STARVED_WAIT_NS 100000u
/* Records put to their groups in one turn: enough to keep up, too few to be late for the next deadline. */
#define SORT_RECORDS 128

struct engine {
    const struct engine_options *o;
    struct feed *feed;
    struct engine_result *result;
    struct flight *flight;
    struct waits *waits; /* with `closed` */
    struct own *own;     /* with `closed` */
    struct pace pace;
    uint64_t start_ns, last_done_ns;
    struct content_write write;
    /* Where the tape is taken from: the block that is being issued (or sorted into groups) and the place in
     * it. */
    struct work *current;
    uint32_t next;
    unsigned uncounted; /* with `closed`: I/Os in flight that no watermark counts: of unknown latency in the
                           tape */
    bool feed_ended, cut, capped, starving, overlapping;
    bool put_off;           /* what is due is late because it had to stay, and has not been caught up yet */
    bool held[WORK_BLOCKS]; /* blocks that are here */
    unsigned held_count;
    /* The next I/O of a timed replay, made ready while there is time. */
    struct flight_io *staged;
};

/* ---- blocks ---- */

static void give_back(struct engine *en, struct work *w)
{
    en->held[w->index] = false;
    en->held_count--;
    work_queue_push(&en->o->pool->done, w);
}

static void settle(struct engine *en, struct work *w, uint32_t i, enum work_state state)
{
    w->state[i] = (uint8_t)state;
    if (--w->remaining == 0 && w != en->current)
        give_back(en, w);
}

/* Leaves the current block, which may be finished already. */
static void leave_current(struct engine *en)
{
    struct work *w = en->current;
    en->current = NULL;
    if (w && w->remaining == 0)
        give_back(en, w);
}

/* Makes en->current a block with records to take: 1; 0 at the end; -EAGAIN where there is none yet. */
static int need_current(struct engine *en, bool wait, struct err *e)
{
    if (en->current && en->next < en->current->count)
        return 1;
    leave_current(en);
    if (en->feed_ended)
        return 0;
    struct work *w;
    int r = feed_next(en->feed, wait, &w, e);
    if (r == 1) {
        en->current = w;
        en->next = 0;
        en->held[w->index] = true;
        en->held_count++;
    } else if (r == 0) {
        en->feed_ended = true;
    }
    return r;
}

/* ---- completions ---- */

static int note_completed(struct engine *en, struct work *w, uint32_t i, uint64_t at_ns, struct err *e)
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
        r = note_completed(en, w, i, done_ns > before_ns ? done_ns - before_ns : 0, e);
    settle(en, w, i, state);
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

/* Collects what has completed, waiting for the first until timeout_ns have passed. Returns how many, or
 * -errno. */
static int reap(struct engine *en, uint64_t timeout_ns, struct err *e)
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

/* ---- issuing ---- */

/* Reads the tape on into the groups of `closed`, a few records at a time. */
static int sort_some(struct engine *en, struct err *e)
{
    for (unsigned n = 0; n < SORT_RECORDS; n++) {
        int r = need_current(en, false, e);
        if (r != 1)
            return r == -EAGAIN ? 0 : r;
        r = waits_add(en->waits, en->current, en->next, e);
        if (r < 0)
            return r;
        en->next++;
    }
    return 0;
}

/* The next record to issue and when: 1, 0 where none is known. */
static int peek(struct engine *en, struct work **w, uint32_t *i, uint64_t *due_ns, struct err *e)
{
    if (en->waits)
        return waits_first(en->waits, w, i, due_ns);
    int r = need_current(en, false, e);
    if (r != 1)
        return r == -EAGAIN ? 0 : r;
    *w = en->current;
    *i = en->next;
    *due_ns = en->o->timing == TIMING_ASAP ? 0 : (*w)->scheduled_ns[*i];
    return 1;
}

static void take(struct engine *en, struct work *w, uint32_t i, uint64_t due_ns)
{
    if (en->waits) {
        waits_take(en->waits);
        w->scheduled_ns[i] = due_ns;
    } else {
        en->next++;
    }
}

/* The I/O of a record, ready to go; NULL where a limit of ours holds it back. */
static struct flight_io *prepare(struct engine *en, struct work *w, uint32_t i)
{
    struct flight_io *fio = en->staged;
    if (fio && fio->work == w && fio->index == i) {
        en->staged = NULL;
        return fio;
    }
    if (fio && !flight_room(en->flight)) { /* another one came first and needs its place */
        flight_drop(en->flight, fio);
        en->staged = NULL;
    }
    en->write.record = w->record[i] + 1;
    fio = flight_room(en->flight) ? flight_prepare(en->flight, w, i, &en->write) : NULL;
    if (!fio && en->staged) {
        flight_drop(en->flight, en->staged);
        en->staged = NULL;
        fio = flight_prepare(en->flight, w, i, &en->write);
    }
    return fio;
}

static void note_capped(struct engine *en)
{
    bool wanted = en->o->timing == TIMING_ASAP && !flight_room(en->flight);
    if (!en->capped && !wanted)
        en->result->depth_capped++;
    en->capped = true;
}

/* Whether a record has to wait for one that it overlaps: what is right afterwards would depend on luck. */
static bool must_wait(struct engine *en, const struct work *w, uint32_t i)
{
    bool overlaps = en->o->verify && flight_overlaps(en->flight, w, i);
    if (overlaps && !en->overlapping)
        en->result->serialised++;
    en->overlapping = overlaps;
    return overlaps;
}

/* Puts all records that are due into the batch. *due_ns is when the next one is; NEVER where that depends on
 * completions or on the tape, 0 where it is due now and had to stay. */
static int gather(struct engine *en, uint64_t now_ns, uint64_t *due_ns, struct err *e)
{
    uint64_t since_ns = now_ns - en->start_ns;
    *due_ns = 0;
    while (flight_waiting(en->flight) < FLIGHT_BATCH) {
        struct work *w;
        uint32_t i;
        int r = peek(en, &w, &i, due_ns, e);
        if (r < 1 || *due_ns > since_ns) {
            *due_ns = r == 1 ? *due_ns : NEVER;
            en->put_off = false;
            return r < 0 ? r : 0;
        }
        if (w->state[i] == WORK_DROP) {
            take(en, w, i, *due_ns);
            r = note_completed(en, w, i, *due_ns, e);
            settle(en, w, i, WORK_GONE);
            if (r < 0)
                return r;
            continue;
        }
        struct flight_io *fio = must_wait(en, w, i) ? NULL : prepare(en, w, i);
        if (!fio) {
            if (!en->overlapping)
                note_capped(en);
            en->put_off = true;
            *due_ns = 0;
            return 0;
        }
        en->capped = false;
        take(en, w, i, *due_ns);
        fio->put_off = en->put_off;
        flight_put(en->flight, fio);
        en->uncounted += en->waits && !w->counts[i];
    }
    *due_ns = 0;
    return 0;
}

static int submit(struct engine *en, struct err *e)
{
    unsigned waiting = flight_waiting(en->flight);
    if (waiting == 0)
        return 0;
    int left = flight_submit(en->flight, pace_now_ns(), en->start_ns, en->o->timing == TIMING_ASAP, e);
    if (left > 0) {
        note_capped(en);
        en->put_off = true;
    }
    if (en->o->progress)
        __atomic_store_n(en->o->progress, *en->o->progress + waiting - (left > 0 ? (unsigned)left : 0),
                __ATOMIC_RELAXED);
    unsigned depth = flight_count(en->flight);
    depth -= depth < en->uncounted ? depth : en->uncounted;
    if (depth > en->result->depth_max)
        en->result->depth_max = depth;
    return left < 0 ? left : 0;
}

/* ---- waiting ---- */

/* Makes the next I/O ready ahead of its deadline, data included. */
static void stage(struct engine *en, struct err *e)
{
    struct work *w;
    uint32_t i;
    uint64_t due_ns;
    if (en->staged || !flight_room(en->flight) || peek(en, &w, &i, &due_ns, e) != 1 || w->state[i] != WORK_DO)
        return;
    en->write.record = w->record[i] + 1;
    en->staged = flight_prepare(en->flight, w, i, &en->write);
}

/* Waits for a deadline, collecting completions; returns after the first ones. */
static int wait_until(struct engine *en, uint64_t deadline_ns, struct err *e)
{
    stage(en, e);
    uint64_t now_ns = pace_now_ns();
    uint64_t sleep_ns = pace_sleep_ns(&en->pace, now_ns, deadline_ns);
    if (sleep_ns > WAIT_MAX_NS)
        sleep_ns = WAIT_MAX_NS;
    if (sleep_ns) {
        int r = 0;
        if (flight_count(en->flight))
            r = reap(en, sleep_ns, e);
        else
            pace_sleep_until(now_ns + sleep_ns);
        if (r == 0 && sleep_ns < WAIT_MAX_NS)
            pace_learn(&en->pace, now_ns + sleep_ns, pace_now_ns());
        return r;
    }
    uint64_t began_ns = now_ns;
    int r = 0;
    while (now_ns < deadline_ns && r == 0) {
        r = flight_count(en->flight) ? reap(en, 0, e) : 0;
        now_ns = pace_now_ns();
    }
    en->pace.spun_ns += now_ns - began_ns;
    return r;
}

static bool tape_ended(const struct engine *en)
{
    return en->feed_ended && !(en->current && en->next < en->current->count) &&
           !(en->waits && waits_pending(en->waits));
}

/* Nothing is in flight and the next record is not here yet. */
static int wait_for_tape(struct engine *en, struct err *e)
{
    if (en->waits && waits_pending(en->waits) && (en->feed_ended || en->held_count == WORK_BLOCKS))
        return err_set(e, EDEADLK, "a record waits for completions that never come");
    int r = need_current(en, true, e);
    return r < 0 ? r : 0;
}

/* The next record is not known: completions may tell (`closed`), or the decoding thread is behind. */
static int wait_for_next(struct engine *en, struct err *e)
{
    bool behind = !en->feed_ended && en->held_count < WORK_BLOCKS && !(en->waits && waits_pending(en->waits));
    if (behind && !en->starving)
        en->result->starved++;
    en->starving = behind;
    if (flight_count(en->flight))
        return reap(en, behind ? STARVED_WAIT_NS : WAIT_MAX_NS, e);
    return tape_ended(en) ? 0 : wait_for_tape(en, e);
}

/* Nothing more can be issued now: waits for what can change that. `due_ns` is gather's. */
static int wait_for_something(struct engine *en, uint64_t due_ns, struct err *e)
{
    if (en->waits && en->current && en->next < en->current->count) /* records to sort: only look */
        return flight_count(en->flight) ? reap(en, 0, e) : 0;
    if (due_ns == NEVER)
        return wait_for_next(en, e);
    en->starving = false;
    if (due_ns > 0)
        return wait_until(en, due_ns < NEVER - en->start_ns ? en->start_ns + due_ns : NEVER, e);
    return flight_count(en->flight) ? reap(en, en->capped || en->overlapping ? WAIT_MAX_NS : 0, e) : 0;
}

/* ---- one repetition ---- */

static int turn(struct engine *en, struct err *e)
{
    int r = en->waits ? sort_some(en, e) : 0;
    uint64_t due_ns = NEVER;
    if (r == 0)
        r = gather(en, en->o->timing == TIMING_ASAP ? en->start_ns : pace_now_ns(), &due_ns, e);
    if (r == 0)
        r = submit(en, e);
    if (r == 0)
        r = wait_for_something(en, due_ns, e);
    return r < 0 ? r : 0;
}

/* Collects what is still in flight. */
static int drain(struct engine *en, struct err *e)
{
    while (flight_count(en->flight)) {
        int r = reap(en, WAIT_MAX_NS, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int replay(struct engine *en, struct err *e)
{
    while (!(tape_ended(en) && flight_count(en->flight) == 0 && flight_waiting(en->flight) == 0)) {
        if (*en->o->stop)
            en->cut = true;
        if (en->cut)
            return drain(en, e);
        int r = turn(en, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int prepare_engine(struct engine *en, struct err *e)
{
    const struct engine_options *o = en->o;
    en->write = o->write;
    pace_init(&en->pace, 1);
    int r = flight_open(&en->flight, o->depth, o->target, o->targets, e);
    if (r == 0 && o->timing == TIMING_CLOSED)
        r = waits_open(&en->waits, o->pool, e);
    if (r == 0 && o->timing == TIMING_CLOSED)
        r = own_open(&en->own, o->target, o->targets, e);
    if (r == 0 && o->timing != TIMING_ASAP) {
        r = need_current(en, true, e); /* decoding the beginning of the tape makes nothing late */
        r = r < 0 ? r : 0;
    }
    return r;
}

int engine_run(const struct engine_options *o, struct feed *feed, struct engine_result *result, struct err *e)
{
    struct engine en = {
            .o = o, .feed = feed, .result = result, .starving = true}; /* a begin is no starving */
    memset(result, 0, sizeof *result);
    int r = prepare_engine(&en, e);
    en.start_ns = pace_now_ns();
    if (r == 0 && o->started)
        o->started(o->context, en.start_ns);
    if (r == 0)
        r = replay(&en, e);
    if (r < 0 && en.flight)
        drain(&en, NULL);
    en.current = NULL;
    for (unsigned i = 0; i < WORK_BLOCKS; i++)
        if (en.held[i])
            give_back(&en, o->pool->block[i]);
    work_queue_close(&o->pool->done);
    flight_close(en.flight);
    waits_close(en.waits);
    own_close(en.own);
    result->elapsed_ns = en.last_done_ns;
    result->spun_ns = en.pace.spun_ns;
    result->complete = r == 0 && !en.cut;
    return r;
}
