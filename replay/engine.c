/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/engine_parts.h"

#include <errno.h>
#include <string.h>

#define NEVER UINT64_MAX
/* Longest wait without a look at the stop flag. */
#define WAIT_MAX_NS 100000000u
/* Longest wait for a completion while the decoding thread is awaited, too. */
#define STARVED_WAIT_NS 100000u
/* Records put to their groups in one turn: enough to keep up, too few to be late for the next deadline. */
#define SORT_RECORDS 128

/* ---- blocks ---- */

static void give_back(struct engine *en, struct work *w)
{
    en->held[w->index] = false;
    en->held_count--;
    work_queue_push(&en->o->pool->done, w);
}

void engine_settle(struct engine *en, struct work *w, uint32_t i, enum work_state state)
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
            r = engine_counted(en, w, i, *due_ns, e);
            engine_settle(en, w, i, WORK_GONE);
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
            r = engine_reap(en, sleep_ns, e);
        else
            pace_sleep_until(now_ns + sleep_ns);
        if (r == 0 && sleep_ns < WAIT_MAX_NS)
            pace_learn(&en->pace, now_ns + sleep_ns, pace_now_ns());
        return r;
    }
    uint64_t began_ns = now_ns;
    int r = 0;
    while (now_ns < deadline_ns && r == 0) {
        r = flight_count(en->flight) ? engine_reap(en, 0, e) : 0;
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
        return engine_reap(en, behind ? STARVED_WAIT_NS : WAIT_MAX_NS, e);
    return tape_ended(en) ? 0 : wait_for_tape(en, e);
}

/* Nothing more can be issued now: waits for what can change that. `due_ns` is gather's. */
static int wait_for_something(struct engine *en, uint64_t due_ns, struct err *e)
{
    if (en->waits && en->current && en->next < en->current->count) /* records to sort: only look */
        return flight_count(en->flight) ? engine_reap(en, 0, e) : 0;
    if (due_ns == NEVER)
        return wait_for_next(en, e);
    en->starving = false;
    if (due_ns > 0)
        return wait_until(en, due_ns < NEVER - en->start_ns ? en->start_ns + due_ns : NEVER, e);
    return flight_count(en->flight) ? engine_reap(en, en->capped || en->overlapping ? WAIT_MAX_NS : 0, e) : 0;
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
        int r = engine_reap(en, WAIT_MAX_NS, e);
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
