/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What this host and its block devices are, for the description in tapes and runs, and what identifies a
 * disk without naming it.
 */
#ifndef IOTAPE_HOST_H
#define IOTAPE_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/err.h"
#include "formats/facts.h"
#include "formats/tape.h"

/* Kernel, CPU model and count, memory, virtualisation (vm and container apart, by systemd-detect-virt),
 * lockdown. Never host name or addresses. What cannot be found out is left out. */
int host_describe(struct facts *f, struct err *e);

/* Where a path's bytes lie: which whole disk, and from where on. A partition lies on its disk; a loop
 * device lies on its backing file (LO_OFFSET counted); a regular file is a disk of its own. */
struct disk_place {
    dev_t device;         /* of the block device itself; 0 for a regular file */
    char id[512];         /* what identifies the whole disk: WWID, serial, dm UUID, file's device and inode; else major:minor */
    uint64_t start_bytes; /* of the path's bytes on it */
    uint64_t size_bytes;  /* of the path's bytes */
    uint32_t sector_bytes, physical_sector_bytes; /* 512, 512 for a regular file unless its fs says more */
    bool is_block;
};

/* `path` is a block device or a regular file. */
int disk_place_of(const char *path, struct disk_place *place, struct err *e);

/* SHA-256 of salt and id, in hex. */
void disk_id_hash(const uint8_t salt[16], const char *id, char hash[65]);

/* Fills in name, capacity, sector size, disk_hash, place and description of a block device or file:
 * model, rotational, scheduler, sector sizes, throttle rules that apply to it, backing file's file
 * system and mount options (for loop devices and files). */
int host_stream(const char *path, const uint8_t salt[16], struct tape_stream *s, struct err *e);

/* Only the description, of a block device by its number. What sysfs does not know is left out. */
int host_device(dev_t device, struct facts *f, struct err *e);

#endif
