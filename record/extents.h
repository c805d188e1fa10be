/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a file lies on the block device below its file system, and where it lay a while ago: the file system
 * moves it, makes it grow and shrink while it is recorded.
 *
 * By FIEMAP (Linux: Documentation/filesystems/fiemap.rst). A map says what is true when it is read; what was
 * true between two maps is what either says. Blocks that a file system reserves and places when it writes
 * them
 * ("delayed allocation") appear in a map that is read after the write has ended.
 */
#ifndef IOTAPE_EXTENTS_H
#define IOTAPE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/err.h"
#include "record/piece.h"

struct extents;

/* Opens the file and reads its map. Refuses, with a reason and what to do instead, a file system whose maps
 * do not name places on one block device. */
int extents_open(struct extents **x, const char *path, struct err *e);
void extents_close(struct extents *x); /* NULL is allowed */

/* The device that the places are on, and the file's own identity. */
dev_t extents_device(const struct extents *x);
ino_t extents_inode(const struct extents *x);

/* When the map was read last, on CLOCK_MONOTONIC. */
uint64_t extents_read_ns(const struct extents *x);

/* Reads the map again, unless that was done too shortly ago for what it costs (a tenth of the time at most is
 * spent on it). True where it was read. */
bool extents_refresh(struct extents *x);

/* Whether size or allocated blocks differ from what they were when the map was read. */
bool extents_stale(const struct extents *x);

/* Adds the pieces of the file that an I/O of `len_bytes` at `at_bytes` of the device touched at `t_ns`
 * (CLOCK_MONOTONIC), each with `stream`. The number of bytes that they have, or -ENOMEM. */
int64_t extents_find(const struct extents *x, uint64_t t_ns, uint64_t at_bytes, uint64_t len_bytes,
        uint32_t stream, struct pieces *p, struct err *e);

#endif
