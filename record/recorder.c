/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Memory: what waits is bounded by what can arrive between two looks at the open I/Os. Looks are a second
 * apart, and follow at once where more than a quarter of waiting_max I/Os wait. An open I/O holds back all
 * that arrived after it, for STALL_NS at most, and where more than half of waiting_max wait for MARGIN_NS at
 * most. So about that half plus what arrives in two steps and the margin can wait: at 1,000,000 I/Os a second
 * 400,000, of 128 bytes. What finds no room is counted as lost.
 */
#include "record/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "record/outlet.h"
#include "record/release.h"
#include "record/stalled.h"

#define LOOK_NS NS_PER_S
/* What an I/O takes that waits: struct captured, and its key twice while they are sorted (release.c). */
#define WAITING_BYTES 128
#define STALL_NS      (2 * NS_PER_S)
/* A program in the kernel takes the time first and enters the bio into the map then; in between, its CPU may
 * be taken away, in a virtual machine for long. What is younger than this is not released. */
#define MARGIN_NS (100 * NS_PER_MS)
/* Steps: each costs some 50 us, and the rings hold what comes in 300 ms at the least. */
#define STEP_NS      (50 * NS_PER_MS)
#define STEP_BUSY_NS (10 * NS_PER_MS)
#define STEP_BUSY    16384 /* I/Os in one step */
/* At the end, open I/Os are given this long to complete. */
#define GRACE_NS (100 * NS_PER_MS)

struct recorder {
    const struct source_ops *ops;
    struct source *source;
    const struct source_config *config;
    struct outlet outlet;
    struct release *release;
    struct stalled stalled;
    size_t waiting_max;
    uint64_t start_ns;               /* CLOCK_MONOTONIC at t = 0 */
    uint64_t released_ns;            /* all up to this t has been written */
    uint64_t looked_ns;              /* t of the last look at the open I/Os */
    uint32_t look;                   /* its number */
    uint64_t floor_ns;               /* while looking: the oldest open I/O that holds others back */
    uint64_t stall_ns;               /* while looking: the age that counts as stalled */
    uint64_t open_count;             /* while looking */
    uint64_t lost[TAPE_STREAMS_MAX]; /* as the source has said, and told to the tape */
    uint64_t lost_total, taken;
    uint64_t unended;          /* events without an end */
    uint64_t of_earlier;       /* completions of I/Os that are in tapes before this one */
    uint64_t records_before;   /* in those */
    struct source_counts told; /* to the tape */
};

static uint64_t now_ns(const struct recorder *r)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec - r->start_ns;
}

int recorder_open(struct recorder **out, const struct source_ops *ops, struct source *source,
        const struct source_config *config, uint64_t start_ns, struct streams *streams, struct tape_writer *w,
        struct err *e)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r)
        return err_sys(e, ENOMEM, "cannot begin to record");
    r->ops = ops;
    r->source = source;
    r->config = config;
    r->outlet = (struct outlet){.ops = ops, .source = source, .config = config, .streams = streams, .w = w};
    r->start_ns = start_ns;
    uint64_t memory_bytes = config->memory_bytes ? config->memory_bytes : SOURCE_MEMORY_BYTES;
    r->waiting_max = memory_bytes / 3 * 2 / WAITING_BYTES;
    int status = release_open(&r->release, e);
    if (status == 0)
        release_limit(r->release, r->waiting_max);
    if (status < 0) {
        recorder_close(r);
        return status;
    }
    *out = r;
    return 0;
}

void recorder_close(struct recorder *r)
{
    if (!r)
        return;
    release_close(r->release);
    stalled_release(&r->stalled);
    outlet_release(&r->outlet);
    free(r);
}

static void count_lost(struct recorder *r, uint32_t target, uint64_t count)
{
    outlet_lost(&r->outlet, target, count);
    r->lost_total += count;
}

/* ---- completed I/Os come in ---- */

static int put(struct recorder *r, const struct captured *c, struct err *e)
{
    int status = release_put(r->release, c, e);
    if (status == 0)
        count_lost(r, c->r.stream, 1); /* the tape is already past it */
    return status;
}

static int write_late(struct recorder *r, const struct stall *s, const struct captured *c, struct err *e)
{
    return c->r.latency_ns == TAPE_UNKNOWN ? 0 : outlet_late(&r->outlet, &s->written, c, e);
}

/* The end of an I/O that a look had found open. */
static int end_stall(struct recorder *r, struct stall *s, const struct captured *c, struct err *e)
{
    int status = 0;
    switch ((enum stall_state)s->state) {
    case STALL_NOTED:
        stalled_drop(&r->stalled, s);
        return put(r, c, e);
    case STALL_WAITING:
        s->io.r.latency_ns = c->r.latency_ns;
        s->io.r.error = c->r.error;
        return 0;
    case STALL_WRITTEN:
        status = write_late(r, s, c, e);
        stalled_drop(&r->stalled, s);
        break;
    case STALL_EARLIER:
        r->of_earlier++;
        stalled_drop(&r->stalled, s);
    }
    return status;
}

static int take_done(void *self, const struct captured *c, struct err *e)
{
    struct recorder *r = self;
    struct stall *s = stalled_find(&r->stalled, c);
    r->taken++;
    r->unended += c->r.latency_ns == TAPE_UNKNOWN;
    if (r->outlet.streams)
        streams_note(r->outlet.streams, c);
    return s ? end_stall(r, s, c, e) : put(r, c, e);
}

/* ---- sorted I/Os go out ---- */

static int write_record(void *self, const struct captured *c, struct err *e)
{
    struct recorder *r = self;
    struct captured io = *c;
    struct stall *s = c->r.latency_ns == TAPE_UNKNOWN ? stalled_find(&r->stalled, c) : NULL;
    if (s && s->state != STALL_WAITING)
        s = NULL;
    if (s) { /* may have ended while it waited to be written */
        io.r.latency_ns = s->io.r.latency_ns;
        io.r.error = s->io.r.error;
    }
    bool ends_later = s && io.r.latency_ns == TAPE_UNKNOWN;
    int status = outlet_write(&r->outlet, &io, ends_later ? &s->written : NULL, e);
    if (status < 0)
        return status;
    if (ends_later)
        s->state = STALL_WRITTEN;
    else if (s)
        stalled_drop(&r->stalled, s);
    return 0;
}

/* ---- looking at what is open ---- */

static int take_open(void *self, const struct captured *c, struct err *e)
{
    struct recorder *r = self;
    uint64_t age_ns = r->looked_ns > c->r.t_ns ? r->looked_ns - c->r.t_ns : 0;
    struct stall *s = stalled_find(&r->stalled, c);
    r->open_count++;
    if (!s && age_ns >= r->stall_ns / 2) {
        s = stalled_note(&r->stalled, c);
        if (!s)
            return err_sys(e, ENOMEM, "cannot keep an open I/O");
    } else if (s && s->state == STALL_NOTED && age_ns >= r->stall_ns) {
        int status = put(r, c, e);
        if (status < 0)
            return status;
        s->state = STALL_WAITING;
    }
    if (s)
        s->look = r->look;
    if ((!s || s->state == STALL_NOTED) && c->r.t_ns < r->floor_ns)
        r->floor_ns = c->r.t_ns;
    return 0;
}

/* Forgets what is no longer open and whose completion never came: lost, or not to be recorded. */
static void forget_gone(struct recorder *r)
{
    struct stalled *t = &r->stalled;
    for (size_t i = 0; i < t->room;) {
        struct stall *s = &t->slots[i];
        if (s->used && s->look != r->look && s->state != STALL_WAITING)
            stalled_drop(t, s); /* which may move another one here */
        else
            i++;
    }
}

static void take_lost(struct recorder *r)
{
    for (uint32_t i = 0; i < r->config->target_count; i++) {
        uint64_t lost = r->ops->lost(r->source, i);
        if (lost > r->lost[i])
            count_lost(r, i, lost - r->lost[i]);
        r->lost[i] = lost;
    }
}

/* Everything that arrived before the watermark was found open, or has been drained once this has drained. */
static int look(struct recorder *r, struct err *e)
{
    const struct source_sink open = {take_open, r}, done = {take_done, r}, tape = {write_record, r};
    r->looked_ns = now_ns(r);
    r->floor_ns = r->looked_ns > MARGIN_NS ? r->looked_ns - MARGIN_NS : 0;
    r->stall_ns = release_waiting(r->release) > r->waiting_max / 2 ? MARGIN_NS : STALL_NS;
    r->open_count = 0;
    r->look++;
    int status = r->ops->in_flight(r->source, &open, e);
    if (status < 0)
        return status;
    status = r->ops->drain(r->source, &done, e);
    if (status <= 0)
        return status;
    if (r->outlet.streams)
        streams_tick(r->outlet.streams);
    status = release_until(r->release, r->floor_ns, &tape, e);
    if (r->floor_ns > r->released_ns)
        r->released_ns = r->floor_ns;
    forget_gone(r);
    take_lost(r);
    return status;
}

int recorder_step(struct recorder *r, uint64_t *pause_ns, struct err *e)
{
    const struct source_sink done = {take_done, r};
    uint64_t before = r->taken;
    int status = r->ops->drain(r->source, &done, e);
    if (status < 0)
        return status;
    *pause_ns = r->taken - before > STEP_BUSY ? STEP_BUSY_NS : STEP_NS;
    if (now_ns(r) - r->looked_ns >= LOOK_NS || release_waiting(r->release) > r->waiting_max / 4)
        return look(r, e);
    return 0;
}

/* A tape grows by whole chunks. What is not in one yet will take what the others took, before the first one
 * about what random I/O takes. */
#define FIRST_RECORD_BYTES 7

static uint64_t finished_bytes(const struct recorder *r)
{
    const struct outlet *o = &r->outlet;
    uint64_t rest = tape_writer_records(o->w) - o->chunk_records + release_waiting(r->release);
    if (o->chunk_records == 0)
        return o->chunk_bytes + rest * FIRST_RECORD_BYTES;
    return o->chunk_bytes + (uint64_t)((double)rest * (double)o->chunk_bytes / (double)o->chunk_records);
}

struct recorder_status recorder_status(const struct recorder *r)
{
    const struct outlet *o = &r->outlet;
    return (struct recorder_status){.elapsed_ns = now_ns(r),
            .records = r->records_before + tape_writer_records(o->w) + release_waiting(r->release),
            .bytes = o->bytes,
            .lost = r->lost_total,
            .open = o->open,
            .unattributed = r->told.unattributed,
            .released_ns = r->released_ns,
            .tape_bytes = tape_writer_bytes(o->w),
            .finished_bytes = finished_bytes(r)};
}

/* ---- the end ---- */

static void pause_ns(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    nanosleep(&t, NULL);
}

/* Puts what is still open to be written as it is. */
static int put_open(struct recorder *r, struct err *e)
{
    struct stalled *t = &r->stalled;
    for (size_t i = 0; i < t->room; i++) {
        struct stall *s = &t->slots[i];
        if (!s->used || s->state != STALL_NOTED)
            continue;
        int status = put(r, &s->io, e);
        if (status < 0)
            return status;
        s->state = STALL_WAITING;
    }
    return 0;
}

static int take_last(void *self, const struct captured *c, struct err *e)
{
    struct recorder *r = self;
    struct stall *s = stalled_find(&r->stalled, c);
    if (!s && !(s = stalled_note(&r->stalled, c)))
        return err_sys(e, ENOMEM, "cannot keep an open I/O");
    s->look = r->look;
    return 0;
}

/* The second of the last looks: finds again what the first one noted. */
static int take_still(void *self, const struct captured *c, struct err *e)
{
    (void)e;
    struct recorder *r = self;
    struct stall *s = stalled_find(&r->stalled, c);
    if (s)
        s->look = r->look;
    return 0;
}

/* All that was sent. An event that a program never comes to fill in hides those behind it: how many is not
 * known, so that one stands for all. */
static int drain_last(struct recorder *r, struct err *e)
{
    const struct source_sink done = {take_done, r};
    uint64_t until_ns = now_ns(r) + GRACE_NS;
    int status;
    while ((status = r->ops->drain(r->source, &done, e)) == 0 && now_ns(r) < until_ns)
        pause_ns(GRACE_NS / 10);
    if (status == 0)
        count_lost(r, UINT32_MAX, 1);
    return status < 0 ? status : 0;
}

/* Those that the tapes before this one have not been told. */
static void write_counts(struct recorder *r)
{
    struct source_counts c = r->ops->counts(r->source), *told = &r->told;
    const struct {
        const char *name;
        uint64_t count;
    } all[] = {{"unmatched_completions", c.unmatched - told->unmatched},
            {"other_operations", c.other_ops - told->other_ops},
            {"nonblocking_retries", c.retried - told->retried},
            {"requests_too_long", c.unwalked - told->unwalked},
            {"missed_completions", r->unended + c.missed_completions - told->missed_completions},
            {"unattributed", c.unattributed - told->unattributed},
            {"unfollowed_processes", c.unfollowed - told->unfollowed},
            {"completions_of_earlier_parts", r->of_earlier}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].count)
            tape_writer_count(r->outlet.w, all[i].name, all[i].count);
    if (c.missed_arrivals > told->missed_arrivals)
        count_lost(r, UINT32_MAX, c.missed_arrivals - told->missed_arrivals);
    if (r->outlet.streams)
        streams_counts(r->outlet.streams, r->outlet.w);
    *told = c;
    r->unended = r->of_earlier = 0;
}

/* ---- the next tape ---- */

/* What has been written without its end stays so. */
static void leave_stalled(struct recorder *r)
{
    for (size_t i = 0; i < r->stalled.room; i++)
        if (r->stalled.slots[i].used && r->stalled.slots[i].state == STALL_WRITTEN)
            r->stalled.slots[i].state = STALL_EARLIER;
}

int recorder_cut(struct recorder *r, uint64_t *cut_ns, struct err *e)
{
    int status = look(r, e);
    if (status < 0)
        return status;
    write_counts(r);
    leave_stalled(r);
    *cut_ns = r->released_ns;
    return 0;
}

void recorder_continue(struct recorder *r, uint64_t cut_ns, struct tape_writer *next)
{
    r->records_before += tape_writer_records(r->outlet.w);
    outlet_continue(&r->outlet, cut_ns, next);
}

int recorder_finish(struct recorder *r, uint64_t *elapsed_ns, struct err *e)
{
    r->ops->stop(r->source);
    *elapsed_ns = now_ns(r);
    int status;
    do {
        pause_ns(GRACE_NS / 10);
        if ((status = look(r, e)) < 0)
            return status;
    } while (r->open_count > 0 && now_ns(r) < *elapsed_ns + GRACE_NS);
    const struct source_sink last = {take_last, r}, still = {take_still, r}, tape = {write_record, r};
    if ((status = r->ops->in_flight(r->source, &last, e)) < 0)
        return status;
    /* What was drained before the first look and had not left the map by then has left it by the second. */
    pause_ns(GRACE_NS / 10);
    r->look++;
    if ((status = r->ops->in_flight(r->source, &still, e)) < 0)
        return status;
    if ((status = drain_last(r, e)) < 0)
        return status;
    forget_gone(r);
    if ((status = put_open(r, e)) < 0)
        return status;
    if (r->outlet.streams)
        streams_tick(r->outlet.streams);
    if ((status = release_until(r->release, UINT64_MAX, &tape, e)) < 0)
        return status;
    take_lost(r);
    if (r->outlet.last_ns > *elapsed_ns)
        *elapsed_ns = r->outlet.last_ns;
    write_counts(r);
    return 0;
}
