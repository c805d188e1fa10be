/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether a file lies on a recorded disk: writing it would then be recorded, too, and go on for ever.
 */
#ifndef IOTAPE_OWN_DISK_H
#define IOTAPE_OWN_DISK_H

#include <stddef.h>
#include <sys/types.h>

#include "formats/base/err.h"

/* The block devices that writing below a path goes through, from its file system down. */
#define OWN_DISK_DEVICES 128
struct own_disk {
    dev_t devices[OWN_DISK_DEVICES];
    size_t count;
};

/* Follows the file system of `path` (a file or a directory that exists) down to disks: partitions to their
 * disk, device-mapper and md devices to what they are made of, loop devices to their file's file system,
 * overlays to their upper directory, all devices of a btrfs. What is on no block device (tmpfs, NFS) gives
 * none. */
int own_disk_of(const char *path, struct own_disk *own, struct err *e);

/* Where file `path`, which need not exist yet, would lie on `device` (called `name`): -EBUSY. */
int own_disk_refuse(const char *path, dev_t device, const char *name, struct err *e);

/* The same where it would lie in the file with this identity: a loop device shows what the file holds. */
int own_disk_refuse_file(const char *path, dev_t device, ino_t inode, const char *name, struct err *e);

#endif
