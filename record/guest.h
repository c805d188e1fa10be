/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What of a virtual machine can be recorded on its host: the disks and network interfaces that it has there,
 * by the names that the guest knows them by.
 */
#ifndef IOTAPE_GUEST_H
#define IOTAPE_GUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "formats/base/err.h"
#include "formats/facts.h"
#include "record/streams.h"

struct guest_disk {
    enum stream_path is;
    char *name, *path;  /* owned */
    struct facts facts; /* how it is attached: bus, cache mode, format, ... */
};

struct guest_net {
    char *name, *interface; /* owned */
};

/* Zero-initialised is empty. */
struct guest {
    struct guest_disk *disks;
    size_t disk_count;
    struct guest_net *nets;
    size_t net_count;
    char **notes; /* what cannot be recorded, or not in full, and what to do: a line each; owned */
    size_t note_count;
};

/* Add a copy of what is passed. `disk` is the new one, valid until the next. */
int guest_add_disk(struct guest *g, enum stream_path is, const char *name, const char *path,
        struct guest_disk **disk, struct err *e);
int guest_add_net(struct guest *g, const char *name, const char *interface, struct err *e);
int guest_note(struct guest *g, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

void guest_release(struct guest *g);

/* ---- ways to find one ---- */

/* What a process, a QEMU or another one that runs a guest, has open: images, block devices, taps. */
int guest_of_process(const char *pid, struct guest *g, struct err *e);

/* Finds a volume of a storage pool: *path is the caller's. -errno where it is not known or no image of this
 * host. */
struct guest_volumes {
    int (*find)(void *self, const char *pool, const char *volume, char **path, bool *is_device);
    void *self;
};

/* From a running domain's description (libvirt: formatdomain.html). `volumes` NULL: none is known. */
int guest_of_xml(const char *xml, const struct guest_volumes *volumes, struct guest *g, struct err *e);

/* For an image with a format of its own: "qcow2", "qed", "vmdk", ...; "raw" for all others. */
const char *guest_image_format(const char *path);

#endif
