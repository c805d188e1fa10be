/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "replay/wake.h"

#define DEVICES_MAX 64
#define LOOK_NS     10000000u
/* The kernel tells whole milliseconds: with so many I/Os the mean is right to a fraction of 1 us. */
#define IOS_MIN 2000
/* The kernel counts an I/O as over only after it has told of it (blk_update_request, then
 * __blk_mq_end_request_acct): its statistics hold what telling takes, too, and the think time begins before.
 * By eBPF beside it 0.8 to 1.4 us an I/O where nobody has to be woken; a wake-up comes on top (3 to 5 us in
 * a guest, where it needs an interrupt to another CPU), and is measured. */
#define TOLD_NS 1000
/* What may be in the one count and not yet in the other. */
#define IOS_OFF 64

struct device {
    dev_t dev;
    int fd;           /* of its statistics */
    uint64_t ios, ms; /* when it was opened */
};

struct own {
    struct device device[DEVICES_MAX];
    unsigned devices;
    struct wake wake;
    bool *covered;            /* streams */
    uint64_t ios, latency_ns; /* of covered streams, as the replay saw them */
    uint64_t wakes;           /* how often the replay slept until a completion */
    uint64_t woken_ns;        /* what the last wait had of a wake-up */
    uint64_t looked_ns, own_ns;
    bool known;
};

/* Reads and writes that completed, and the time they took. */
static bool read_counts(int fd, uint64_t *ios, uint64_t *ms)
{
    char text[512];
    unsigned long long reads, read_ms, writes, write_ms;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return false;
    text[n] = 0;
    if (sscanf(text, "%llu %*u %*u %llu %llu %*u %*u %llu", &reads, &read_ms, &writes, &write_ms) != 4)
        return false;
    *ios = reads + writes;
    *ms = read_ms + write_ms;
    return true;
}

static bool add_device(struct own *o, dev_t dev)
{
    char path[64];
    for (unsigned i = 0; i < o->devices; i++)
        if (o->device[i].dev == dev)
            return true;
    if (o->devices == DEVICES_MAX)
        return false;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", major(dev), minor(dev));
    struct device *d = &o->device[o->devices];
    d->dev = dev;
    d->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (d->fd >= 0 && read_counts(d->fd, &d->ios, &d->ms)) {
        o->devices++;
        return true;
    }
    if (d->fd >= 0)
        close(d->fd);
    return false;
}

static bool covers(struct own *o, struct target *t)
{
    struct disk_place place;
    return t && t->ops->place && t->ops->place(t, &place, NULL) == 0 && place.is_block && place.device &&
           add_device(o, place.device);
}

int own_open(struct own **out, struct target *const *target, size_t targets, struct err *e)
{
    struct own *o = calloc(1, sizeof *o);
    if (o)
        o->covered = calloc(targets ? targets : 1, sizeof *o->covered);
    if (!o || !o->covered) {
        own_close(o);
        return err_sys(e, ENOMEM, "cannot follow the devices' statistics");
    }
    for (size_t i = 0; i < targets; i++)
        o->covered[i] = covers(o, target[i]);
    *out = o;
    return wake_measure(&o->wake, e);
}

void own_close(struct own *o)
{
    if (!o)
        return;
    for (unsigned i = 0; i < o->devices; i++)
        close(o->device[i].fd);
    free(o->covered);
    free(o);
}

void own_slept(struct own *o, uint64_t slept_ns)
{
    o->wakes += slept_ns > 0;
    o->woken_ns = slept_ns < o->wake.wake_ns ? slept_ns : o->wake.wake_ns;
}

void own_completed(struct own *o, uint32_t stream, uint64_t latency_ns)
{
    if (!o->covered[stream])
        return;
    o->ios++;
    o->latency_ns += latency_ns;
}

static void look(struct own *o)
{
    uint64_t ios = 0, ms = 0, now_ios, now_ms;
    for (unsigned i = 0; i < o->devices; i++) {
        const struct device *d = &o->device[i];
        if (!read_counts(d->fd, &now_ios, &now_ms))
            return;
        ios += now_ios - d->ios;
        ms += now_ms - d->ms;
    }
    uint64_t off = ios > o->ios ? ios - o->ios : o->ios - ios;
    uint64_t there_ns = ms * 1000000, told_ns = o->ios * TOLD_NS + o->wakes * o->wake.tell_ns;
    o->known = off <= IOS_OFF + o->ios / 64 && there_ns < o->latency_ns;
    there_ns -= there_ns > told_ns ? told_ns : 0;
    o->own_ns = o->known ? (o->latency_ns - there_ns) / o->ios : 0;
}

void own_look(struct own *o, uint64_t now_ns)
{
    if (o->ios < IOS_MIN || now_ns - o->looked_ns < LOOK_NS)
        return;
    o->looked_ns = now_ns;
    look(o);
}

uint64_t own_time_ns(const struct own *o, uint32_t stream)
{
    return o->known && o->covered[stream] ? o->own_ns : o->woken_ns;
}

double own_share(const struct own *o)
{
    return o->known ? (double)o->own_ns * (double)o->ios / (double)o->latency_ns : 0;
}
