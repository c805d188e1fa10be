/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Small reads from sysfs and procfs, shared by the files of host.h.
 */
#ifndef IOTAPE_HOST_SYS_H
#define IOTAPE_HOST_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/err.h"
#include "formats/facts.h"

/* The first line of a file without blanks at its ends. False, and "" in `text`, where it cannot be read
 * or is empty. */
bool sys_text(char *text, size_t size, const char *path_fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same as a decimal number. */
bool sys_number(uint64_t *value, const char *path_fmt, ...) __attribute__((format(printf, 2, 3)));

/* Cuts "none [kyber] bfq" down to "kyber"; a text without brackets stays. Returns `text`. */
char *sys_chosen(char *text);

/* A block device's directory below /sys/devices. False where sysfs does not have it. */
#define SYS_DIR_BYTES 512
bool sys_block_dir(dev_t device, char dir[SYS_DIR_BYTES]);

/* Whether a directory of sysfs, or a device, is a partition's. */
bool sys_is_partition(const char *dir);
bool sys_device_is_partition(dev_t device);

/* Cuts a partition's directory down to that of its disk. */
void sys_disk_dir(char dir[SYS_DIR_BYTES]);

/* Undoes the octal escapes of blanks and the like in lines of procfs (proc(5)), in place. */
void sys_unescape(char *text);

/* Overlay file systems. `path` exists; false where it is on none, or on one whose layers this mount
 * namespace does not show. sys_overlay_upper gives the directory that takes in what is written;
 * sys_overlay_real the file of a layer, through overlays upon overlays, that is read and (from its upper
 * layer) written. */
#define SYS_PATH_BYTES 4096
bool sys_overlay_upper(const char *path, char upper[SYS_PATH_BYTES]);
bool sys_overlay_real(const char *path, char real[SYS_PATH_BYTES]);

/* Adds "fs" and "fs_options" of the mounted file system with device number `device` (or, if it is not 0, with
 * the mount id `mount_id`, as statx gives it). Options that name hosts, users or paths are left out. */
int sys_describe_mount(dev_t device, uint64_t mount_id, struct facts *f, struct err *e);

/* Adds "throttle", "throttle2", ...: the rules that control groups have for a whole disk, one fact for
 * each group: "read_bps=1048576 write_iops=100". Group names are left out. */
int sys_describe_throttles(dev_t disk, struct facts *f, struct err *e);

#endif
