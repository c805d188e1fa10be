/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "formats/import/blktrace_devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MINOR_BITS 20 /* Linux, include/linux/kdev_t.h */

int bt_device_find(struct bt_devices *d, uint32_t number, uint16_t *index, struct err *e)
{
    struct bt_device *more;

    if (d->count && d->list[d->last].number == number) {
        *index = (uint16_t)d->last;
        return 0;
    }
    for (size_t i = 0; i < d->count; i++) {
        if (d->list[i].number == number) {
            *index = (uint16_t)(d->last = i);
            return 0;
        }
    }
    if (d->count == TAPE_STREAMS_MAX)
        return err_set(e, EBADMSG, "more than %d devices", TAPE_STREAMS_MAX);
    more = realloc(d->list, (d->count + 1) * sizeof *more);
    if (!more)
        return err_sys(e, ENOMEM, "cannot keep a device");
    d->list = more;
    more[d->count] =
            (struct bt_device){.number = number, .stream = UINT32_MAX, .logged_as = (uint16_t)d->count};
    *index = (uint16_t)(d->last = d->count++);
    return 0;
}

int bt_device_stream(struct bt_device *d, struct import_out *out, uint32_t *stream, struct err *e)
{
    char name[32];
    struct tape_stream s = {.name = name};

    if (d->stream == UINT32_MAX) {
        snprintf(name, sizeof name, "%u:%u", d->number >> MINOR_BITS, d->number & ((1u << MINOR_BITS) - 1));
        int rc = import_out_stream(out, &s, &d->stream, e);
        if (rc)
            return rc;
    }
    *stream = d->stream;
    return 0;
}

void bt_devices_release(struct bt_devices *d)
{
    free(d->list);
    *d = (struct bt_devices){0};
}

/* ---- processes ---- */

static struct bt_process *slot_of(const struct bt_processes *t, uint32_t pid)
{
    size_t i = (pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->room - 1);

    while (t->slots[i].used && t->slots[i].pid != pid)
        i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

static int grow(struct bt_processes *t, struct err *e)
{
    struct bt_processes larger = {.room = t->room ? 2 * t->room : 64};

    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return err_sys(e, ENOMEM, "cannot keep a process");
    for (size_t i = 0; i < t->room; i++)
        if (t->slots[i].used)
            *slot_of(&larger, t->slots[i].pid) = t->slots[i];
    free(t->slots);
    t->slots = larger.slots;
    t->room = larger.room;
    return 0;
}

int bt_process_find(struct bt_processes *t, uint32_t pid, struct bt_process **p, struct err *e)
{
    int rc;

    if (t->count * 2 >= t->room) {
        rc = grow(t, e);
        if (rc)
            return rc;
    }
    *p = slot_of(t, pid);
    if (!(*p)->used) {
        if (t->count == 2 * TAPE_ISSUERS_MAX)
            return err_set(e, EBADMSG, "more than %d processes", 2 * TAPE_ISSUERS_MAX);
        **p = (struct bt_process){.pid = pid, .issuer = UINT32_MAX, .used = true};
        t->count++;
    }
    return 0;
}

int bt_process_issuer(struct bt_processes *t, struct bt_process *p, struct import_out *out, bool keep_names,
        uint32_t *issuer, struct err *e)
{
    char name[64];

    if (p->issuer == UINT32_MAX && t->issuers == TAPE_ISSUERS_MAX)
        p->issuer = TAPE_ISSUERS_MAX - 1;
    if (p->issuer == UINT32_MAX) {
        if (keep_names)
            snprintf(name, sizeof name, "%s/%u", p->name[0] ? p->name : "process", p->pid);
        else
            snprintf(name, sizeof name, "process-%zu", t->issuers + 1);
        int rc = import_out_issuer(out, name, &p->issuer, e);
        if (rc)
            return rc;
        t->issuers++;
    }
    *issuer = p->issuer;
    return 0;
}

void bt_processes_release(struct bt_processes *t)
{
    free(t->slots);
    *t = (struct bt_processes){0};
}
