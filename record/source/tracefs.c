/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Capture by the kernel's block events through tracefs, for kernels without type information (BTF). Events
 * carry no identity of a bio: I/Os are put together by their places, as those of blktrace are
 * (formats/import/blktrace_match.h).
 *
 * Events of all CPUs up to a moment are read, and those older than SLACK_NS handed on in the order of time: a
 * CPU that was interrupted may write that much later. What waits there is younger than the recorder's margin.
 *
 * Partitions: their bios are queued under their own number with the disk's sectors, and complete under the
 * disk's. So all events count as the disk's; the number that a bio was queued under is its tag.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "formats/base/cleanup.h"
#include "formats/base/units.h"
#include "formats/host_sys.h"
#include "formats/import/blktrace_match.h"
#include "formats/import/sorter.h"
#include "record/source.h"
#include "record/source/pids.h"
#include "record/source/tracefs_events.h"

#define SLACK_NS   (10 * NS_PER_MS)
#define WINDOW     (1 << 20) /* events that wait at most; memory is taken as needed */
#define MINOR_BITS 20        /* Linux, include/linux/kdev_t.h */

/* A device that events name, and the disk that it is or lies on. */
struct known_device {
    uint32_t number, disk;
    bool wanted; /* I/Os of the disk are recorded, or those of a part of it */
};

/* The latest remap of a thread from a partition to its disk. */
struct remap {
    uint64_t sector;
    uint32_t pid, disk, from;
};

#define REMAPS                                                                                               \
    64 /* threads that are between remap and queue at once: no more than CPUs and what was preempted */

struct source {
    struct remap remaps[REMAPS];
    struct block_events *events;
    struct sorter *sorter;
    struct bt_matcher *matcher;
    struct bt_watch watch;
    const struct source_target *targets;
    size_t target_count;
    uint32_t *target_disk; /* the kernel's number of each target's whole disk */
    struct known_device *devices;
    size_t device_count, last_device;
    struct pids pids;
    struct captured *done; /* have ended, wait to be drained */
    size_t done_count, done_cap;
    uint64_t start_ns, late_events;
    bool keep_names;
};

static uint32_t kernel_dev(dev_t dev)
{
    return (uint32_t)major(dev) << MINOR_BITS | (uint32_t)minor(dev);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* ---- devices ---- */

/* The whole disk of a partition, else the device itself. */
static uint32_t disk_of(uint32_t number)
{
    char dir[SYS_DIR_BYTES], text[64];
    unsigned ma, mi;

    if (!sys_block_dir(makedev(number >> MINOR_BITS, number & ((1u << MINOR_BITS) - 1)), dir))
        return number;
    sys_disk_dir(dir);
    if (!sys_text(text, sizeof text, "%s/dev", dir) || sscanf(text, "%u:%u", &ma, &mi) != 2)
        return number;
    return ma << MINOR_BITS | mi;
}

static struct known_device *device_of(struct source *s, uint32_t number)
{
    if (s->last_device < s->device_count && s->devices[s->last_device].number == number)
        return &s->devices[s->last_device];
    for (size_t i = 0; i < s->device_count; i++)
        if (s->devices[i].number == number)
            return &s->devices[s->last_device = i];
    struct known_device *more = reallocarray(s->devices, s->device_count + 1, sizeof *more);
    if (!more)
        return NULL;
    s->devices = more;
    struct known_device *d = &more[s->last_device = s->device_count++];
    *d = (struct known_device){.number = number, .disk = disk_of(number)};
    for (size_t i = 0; i < s->target_count; i++)
        d->wanted |= s->target_disk[i] == d->disk;
    return d;
}

/* ---- I/Os that the matcher knows ---- */

struct delivery {
    struct source *s;
    const struct source_sink *sink;
};

/* Delivers one I/O to each stream that it belongs to: that of the device it was queued on, and that of its
 * disk. */
static int deliver(struct source *s, const struct source_sink *sink, const struct captured *c, struct err *e)
{
    const struct known_device *d = device_of(s, c->r.stream); /* known: an event named it */
    uint32_t queued_on = c->r.stream, disk = d ? d->disk : queued_on;

    for (size_t i = 0; i < s->target_count; i++) {
        struct captured mine = *c;
        uint32_t target = kernel_dev(s->targets[i].dev);
        if (target != queued_on && target != disk)
            continue;
        mine.r.stream = (uint32_t)i;
        if (mine.r.op != BLOCK_FLUSH)
            mine.r.offset_bytes -= s->targets[i].start_bytes;
        int rc = sink->take(sink->self, &mine, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static struct captured captured_of(struct source *s, const struct block_record *r, uint64_t ordinal)
{
    struct captured c = {.id = ordinal + 1, .r = *r};

    c.r.issuer = pids_process(&s->pids, r->issuer);
    return c;
}

static int keep_done(void *self, const struct block_record *r, uint64_t ordinal, struct err *e)
{
    struct source *s = self;

    if (r->latency_ns == TAPE_UNKNOWN)
        return 0; /* still open: bt_matcher_pending has it */
    if (s->done_count == s->done_cap) {
        size_t cap = s->done_cap ? 2 * s->done_cap : 1024;
        struct captured *more = reallocarray(s->done, cap, sizeof *more);
        if (!more)
            return err_sys(e, ENOMEM, "cannot keep what was captured");
        s->done = more;
        s->done_cap = cap;
    }
    s->done[s->done_count++] = captured_of(s, r, ordinal);
    return 0;
}

/* ---- events ---- */

static struct remap *remap_of(struct source *s, uint32_t pid)
{
    return &s->remaps[pid % REMAPS];
}

static void note_remap(struct source *s, const struct bt_event *ev)
{
    const struct known_device *from = device_of(s, ev->remap.from);

    if (from && from->disk == ev->device)
        *remap_of(s, ev->pid) = (struct remap){ev->sector, ev->pid, ev->device, ev->remap.from};
}

/* What the bio was sent to, where that was a partition. */
static void tag_queue(struct source *s, struct bt_event *ev)
{
    struct remap *m = remap_of(s, ev->pid);

    if (m->from && m->pid == ev->pid && m->disk == ev->device && m->sector == ev->sector) {
        ev->tag = m->from;
        m->from = 0;
    }
}

static int match_one(struct source *s, struct err *e)
{
    struct bt_event *ev = sorter_pop(s->sorter);
    struct err bad;

    if (ev->action == BT_REMAP) {
        note_remap(s, ev);
        return 0;
    }
    if (ev->action == BT_QUEUE)
        tag_queue(s, ev);
    err_clear(&bad);
    int rc = bt_matcher_take(s->matcher, ev, &bad);
    if (rc == -EBADMSG)
        return 0; /* a place that cannot be: not of our devices' */
    if (rc && e)
        *e = bad;
    return rc;
}

static int take_event(void *self, const struct bt_event *event, const char *comm, struct err *e)
{
    struct source *s = self;
    struct bt_event ev = *event;
    struct known_device *d = device_of(s, ev.device);

    if (!d)
        return err_sys(e, ENOMEM, "cannot keep a device");
    if (!d->wanted || ev.t_ns < s->start_ns)
        return 0;
    ev.tag = ev.device;
    ev.device = d->disk;
    if (comm)
        pids_note(&s->pids, ev.pid, s->keep_names ? comm : NULL);
    while (sorter_full(s->sorter)) {
        int rc = match_one(s, e);
        if (rc)
            return rc;
    }
    int rc = sorter_push(s->sorter, ev.t_ns, &ev, NULL);
    s->late_events += rc == -EBADMSG;
    return rc == -EBADMSG ? 0 : rc ? err_sys(e, rc, "cannot sort events") : 0;
}

/* Reads and matches all events up to SLACK_NS before now. */
static int pump(struct source *s, struct err *e)
{
    uint64_t until_ns = now_ns() - SLACK_NS, t_ns;
    int rc = block_events_read(s->events, take_event, s, e);

    while (rc == 0 && sorter_earliest(s->sorter, &t_ns) && t_ns < until_ns)
        rc = match_one(s, e);
    if (rc == 0 && until_ns > s->start_ns)
        rc = bt_matcher_tick(s->matcher, until_ns, e);
    return rc < 0 ? rc : 0;
}

static int tracefs_drain(struct source *s, const struct source_sink *sink, struct err *e)
{
    int rc = pump(s, e);

    for (size_t i = 0; rc == 0 && i < s->done_count; i++)
        rc = deliver(s, sink, &s->done[i], e);
    s->done_count = 0;
    return rc < 0 ? rc : 1;
}

static int take_pending(void *self, const struct block_record *r, uint64_t ordinal, struct err *e)
{
    struct delivery *d = self;
    struct captured c = captured_of(d->s, r, ordinal);

    c.r.latency_ns = TAPE_UNKNOWN;
    return deliver(d->s, d->sink, &c, e);
}

static int tracefs_in_flight(struct source *s, const struct source_sink *sink, struct err *e)
{
    struct delivery d = {s, sink};
    int rc = pump(s, e);

    return rc ? rc : bt_matcher_pending(s->matcher, take_pending, &d, e);
}

static void tracefs_stop(struct source *s)
{
    block_events_stop_queue(s->events);
}

static bool tracefs_process_name(struct source *s, uint32_t pid, char *name)
{
    return pids_name(&s->pids, pid, name);
}

/* No event tells which device a lost one was of: see missed_arrivals. */
static uint64_t tracefs_lost(const struct source *s, size_t stream)
{
    (void)s;
    (void)stream;
    return 0;
}

static struct source_counts tracefs_counts(const struct source *s)
{
    return (struct source_counts){.unmatched = bt_matcher_unmatched(s->matcher),
            .other_ops = bt_matcher_other_ops(s->matcher),
            .missed_arrivals = block_events_lost(s->events) + s->late_events};
}

static void tracefs_close(struct source *s)
{
    if (!s)
        return;
    block_events_close(s->events);
    sorter_close(s->sorter);
    bt_matcher_close(s->matcher);
    pids_release(&s->pids);
    free(s->target_disk);
    free(s->devices);
    free(s->done);
    free(s);
}

static void cleanup_source(struct source **s)
{
    tracefs_close(*s);
}

static int tracefs_open(
        struct source **out, const struct source_config *config, uint64_t *start_ns, struct err *e)
{
    CLEANUP(cleanup_source) struct source *s = calloc(1, sizeof *s);
    if (s)
        s->target_disk = calloc(config->target_count, sizeof *s->target_disk);
    if (!s || !s->target_disk)
        return err_sys(e, ENOMEM, "cannot begin to record");
    s->targets = config->targets;
    s->target_count = config->target_count;
    s->keep_names = config->keep_names;
    for (size_t i = 0; i < config->target_count; i++)
        s->target_disk[i] = disk_of(kernel_dev(config->targets[i].dev));
    int rc = sorter_open(&s->sorter, sizeof(struct bt_event), WINDOW, e);
    if (rc == 0)
        rc = block_events_open(&s->events, e);
    if (rc)
        return rc;
    s->start_ns = *start_ns = now_ns();
    s->watch = (struct bt_watch){s, keep_done, keep_done};
    rc = bt_matcher_watch(&s->matcher, &s->watch, s->start_ns, e);
    if (rc == 0)
        *out = take_ptr(s);
    return rc;
}

const struct source_ops source_tracefs = {
        .name = "tracefs",
        .help = "the kernel's block events, by tracefs: for kernels without type information",
        .open = tracefs_open,
        .drain = tracefs_drain,
        .in_flight = tracefs_in_flight,
        .stop = tracefs_stop,
        .process_name = tracefs_process_name,
        .lost = tracefs_lost,
        .counts = tracefs_counts,
        .close = tracefs_close,
};
