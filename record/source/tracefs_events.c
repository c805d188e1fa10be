/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An instance that was left behind by a recorder that was killed is removed by the next one.
 */
#include "record/source/tracefs_events.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event-parse.h>
#include <kbuffer.h>
#include <tracefs.h>

#include "formats/base/cleanup.h"
#include "formats/import/blktrace_rwbs.h"

#define BUFFER_KB                                                                                            \
    16384 /* a CPU: some 80,000 I/Os of 200 bytes, a quarter of a second at 300,000 a second                 \
           */
#define PREFIX "iotape-"
#define SECTOR 512

/* Where an event's fields lie; 0 bytes: it has no such field. */
struct place {
    uint16_t at, bytes;
};

struct kind {
    const char *name;
    uint16_t action;
    bool optional;
    int id; /* -1: this kernel has none */
    struct place dev, sector, sectors, error, rwbs, comm, split, from;
};

static const struct kind kinds[] = {{.name = "block_rq_complete", .action = BT_COMPLETE},
        {.name = "block_bio_complete", .action = BT_COMPLETE}, {.name = "block_rq_issue", .action = BT_ISSUE},
        {.name = "block_rq_requeue", .action = BT_REQUEUE, .optional = true},
        {.name = "block_split", .action = BT_SPLIT, .optional = true},
        {.name = "block_bio_remap", .action = BT_REMAP},
        {.name = "block_bio_queue", .action = BT_QUEUE}}; /* last: completions are seen before arrivals */
#define KINDS (sizeof kinds / sizeof kinds[0])

struct cpu_pages {
    struct tracefs_cpu *pages;
    char *page;
};

struct block_events {
    struct tracefs_instance *instance;
    struct tep_handle *formats;
    struct kbuffer *buffer;
    struct kind kinds[KINDS];
    struct place type, pid;
    struct cpu_pages *cpus;
    int cpu_count;
};

/* ---- the instance ---- */

static int explain(struct err *e, const char *what)
{
    if (errno == EPERM || errno == EACCES)
        return err_set(e, errno, "no permission to %s: run as root, where tracefs may be used", what);
    return err_sys(e, errno ? errno : EIO, "cannot %s", what);
}

/* Removes an instance whose recorder is gone. */
static int remove_stale(const char *name, void *context)
{
    (void)context;
    long pid = strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? atol(name + strlen(PREFIX)) : 0;

    if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
        struct tracefs_instance *stale = tracefs_instance_create(name);
        if (stale && tracefs_instance_destroy(stale) == 0)
            tracefs_instance_free(stale);
    }
    return 0;
}

static int make_instance(struct block_events *b, struct err *e)
{
    char name[32];

    errno = 0;
    if (!tracefs_tracing_dir())
        return err_set(e, ENOENT, "there is no tracefs: the kernel lacks it, or it cannot be mounted here");
    tracefs_instances_walk(remove_stale, NULL);
    snprintf(name, sizeof name, PREFIX "%d", (int)getpid());
    b->instance = tracefs_instance_create(name);
    if (!b->instance)
        return explain(e, "make a tracing instance");
    if (tracefs_instance_file_write(b->instance, "trace_clock", "mono") < 0)
        return explain(e, "set the tracing clock to CLOCK_MONOTONIC");
    if (tracefs_instance_set_buffer_size(b->instance, BUFFER_KB, -1) < 0)
        return explain(e, "get memory for tracing");
    return 0;
}

/* ---- formats ---- */

static struct place place_of(struct tep_event *event, const char *name, bool common)
{
    struct tep_format_field *f = common ? tep_find_common_field(event, name) : tep_find_field(event, name);

    return f ? (struct place){(uint16_t)f->offset, (uint16_t)f->size} : (struct place){0};
}

/* Of this event only: what libtracefs reads of all of a system's comes with all symbols of the kernel. */
static struct tep_event *parse_event(struct block_events *b, const char *name)
{
    int bytes = 0;
    CLEANUP_FREE char *format = tracefs_event_file_read(b->instance, "block", name, "format", &bytes);

    if (!format || tep_parse_event(b->formats, format, (unsigned long)bytes, "block") != 0)
        return NULL;
    return tep_find_event_by_name(b->formats, "block", name);
}

static int learn_kind(struct block_events *b, struct kind *k, struct err *e)
{
    struct tep_event *event = parse_event(b, k->name);

    k->id = event ? event->id : -1;
    if (!event)
        return k->optional ? 0 : err_set(e, ENOENT, "this kernel has no event block:%s", k->name);
    k->dev = place_of(event, "dev", false);
    k->sector = place_of(event, "sector", false);
    k->sectors = place_of(event, "nr_sector", false);
    k->rwbs = place_of(event, "rwbs", false);
    k->comm = place_of(event, "comm", false);
    k->split = place_of(event, "new_sector", false);
    k->from = place_of(event, "old_dev", false);
    k->error = place_of(event, "error", false);
    if (!k->error.bytes)
        k->error = place_of(event, "errors", false); /* before Linux 4.12 */
    b->type = place_of(event, "common_type", true);
    b->pid = place_of(event, "common_pid", true);
    if (!k->dev.bytes || !k->sector.bytes || !k->rwbs.bytes || !b->type.bytes || !b->pid.bytes)
        return err_set(e, ENOTSUP, "this kernel's event block:%s lacks a field that is needed", k->name);
    return 0;
}

static int learn_formats(struct block_events *b, struct err *e)
{
    int rc = 0;

    errno = 0;
    b->formats = tep_alloc();
    b->buffer = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
    if (!b->formats || !b->buffer)
        return explain(e, "learn the formats of the kernel's block events");
    memcpy(b->kinds, kinds, sizeof kinds);
    for (size_t i = 0; rc == 0 && i < KINDS; i++)
        rc = learn_kind(b, &b->kinds[i], e);
    return rc;
}

static int open_cpus(struct block_events *b, struct err *e)
{
    long count = sysconf(_SC_NPROCESSORS_CONF);

    b->cpus = calloc((size_t)count, sizeof *b->cpus);
    if (!b->cpus)
        return err_sys(e, ENOMEM, "cannot trace");
    for (b->cpu_count = 0; b->cpu_count < count; b->cpu_count++) {
        struct cpu_pages *c = &b->cpus[b->cpu_count];
        errno = 0;
        c->pages = tracefs_cpu_open(b->instance, b->cpu_count, true);
        c->page = c->pages ? malloc((size_t)tracefs_cpu_read_size(c->pages)) : NULL;
        if (!c->page)
            return explain(e, "open a CPU's trace");
    }
    return 0;
}

static int enable(struct block_events *b, struct err *e)
{
    for (size_t i = 0; i < KINDS; i++)
        if (b->kinds[i].id >= 0 && tracefs_event_enable(b->instance, "block", b->kinds[i].name) < 0)
            return explain(e, "enable the kernel's block events");
    return 0;
}

int block_events_open(struct block_events **out, struct err *e)
{
    struct block_events *b = calloc(1, sizeof *b);
    int rc = b ? make_instance(b, e) : err_sys(e, ENOMEM, "cannot trace");

    if (rc == 0)
        rc = learn_formats(b, e);
    if (rc == 0)
        rc = open_cpus(b, e);
    if (rc == 0)
        rc = enable(b, e);
    if (rc)
        block_events_close(b);
    else
        *out = b;
    return rc;
}

void block_events_stop_queue(struct block_events *b)
{
    tracefs_event_disable(b->instance, "block", kinds[KINDS - 1].name);
}

void block_events_close(struct block_events *b)
{
    if (!b)
        return;
    for (int i = 0; b->cpus && i <= b->cpu_count && i < sysconf(_SC_NPROCESSORS_CONF); i++) {
        if (b->cpus[i].pages)
            tracefs_cpu_close(b->cpus[i].pages);
        free(b->cpus[i].page);
    }
    free(b->cpus);
    if (b->buffer)
        kbuffer_free(b->buffer);
    if (b->formats)
        tep_free(b->formats);
    if (b->instance) {
        tracefs_event_disable(b->instance, NULL, NULL);
        tracefs_instance_destroy(b->instance);
        tracefs_instance_free(b->instance);
    }
    free(b);
}

/* ---- events ---- */

static uint64_t number_at(const char *record, struct place p)
{
    uint64_t v = 0;

    if (p.bytes <= sizeof v)
        memcpy(&v, record + p.at, p.bytes); /* little-endian */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = p.bytes && p.bytes < sizeof v ? v >> 8 * (sizeof v - p.bytes) : v;
#endif
    return v;
}

static void text_at(const char *record, struct place p, char text[16])
{
    size_t len = p.bytes < 15 ? p.bytes : 15;

    memcpy(text, record + p.at, len);
    text[len] = '\0';
}

static const struct kind *kind_of(const struct block_events *b, uint64_t type)
{
    for (size_t i = 0; i < KINDS; i++)
        if (b->kinds[i].id >= 0 && (uint64_t)b->kinds[i].id == type)
            return &b->kinds[i];
    return NULL;
}

static void event_of(
        const struct block_events *b, const struct kind *k, const char *record, struct bt_event *ev)
{
    char rwbs[16];
    int32_t error = (int32_t)number_at(record, k->error);

    text_at(record, k->rwbs, rwbs);
    ev->action = k->action;
    ev->device = (uint32_t)number_at(record, k->dev);
    ev->pid = (uint32_t)number_at(record, b->pid);
    ev->sector = number_at(record, k->sector);
    ev->bytes = (uint32_t)number_at(record, k->sectors) * SECTOR;
    if (k->action == BT_REMAP)
        ev->remap.from = (uint32_t)number_at(record, k->from);
    else
        ev->split = number_at(record, k->split);
    ev->error = (uint16_t)(error < 0 ? -error : error);
    bt_category_parse(rwbs, &ev->category);
    /* Linux, blk_fill_rwbs: what is neither read, write, flush nor discard, but has a length, writes zeroes.
     */
    if (!(ev->category & (BT_READ | BT_WRITE | BT_DISCARD | BT_FLUSH)) &&
            (ev->bytes || k->action == BT_SPLIT))
        ev->category |= BT_WRITE | BT_WRITE_ZEROES;
}

static int read_page(
        struct block_events *b, const char *page, block_event_take *take, void *self, struct err *e)
{
    unsigned long long t_ns;
    char comm[16];

    if (kbuffer_load_subbuffer(b->buffer, (void *)page) < 0)
        return err_set(e, EBADMSG, "the kernel's trace has an unknown form");
    for (const char *record; (record = kbuffer_read_event(b->buffer, &t_ns));
            kbuffer_next_event(b->buffer, NULL)) {
        const struct kind *k = kind_of(b, number_at(record, b->type));
        struct bt_event ev = {.t_ns = t_ns};
        if (!k)
            continue;
        event_of(b, k, record, &ev);
        if (k->action == BT_QUEUE)
            text_at(record, k->comm, comm);
        int rc = take(self, &ev, k->action == BT_QUEUE ? comm : NULL, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int block_events_read(struct block_events *b, block_event_take *take, void *self, struct err *e)
{
    for (int i = 0; i < b->cpu_count; i++) {
        struct cpu_pages *c = &b->cpus[i];
        int got;
        while ((got = tracefs_cpu_read(c->pages, c->page, true)) > 0) {
            int rc = read_page(b, c->page, take, self, e);
            if (rc < 0)
                return rc;
        }
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return err_sys(e, errno, "cannot read the kernel's trace");
    }
    return 0;
}

/* A line "NAME: NUMBER" of a CPU's statistics. */
static uint64_t counted(const char *stats, const char *name)
{
    const char *at = strstr(stats, name);

    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

uint64_t block_events_lost(const struct block_events *b)
{
    uint64_t lost = 0;

    for (int i = 0; i < b->cpu_count; i++) {
        char path[64];
        snprintf(path, sizeof path, "per_cpu/cpu%d/stats", i);
        CLEANUP_FREE char *stats = tracefs_instance_file_read(b->instance, path, NULL);
        if (stats)
            lost += counted(stats, "\noverrun: ") + counted(stats, "\ndropped events: ");
    }
    return lost;
}
