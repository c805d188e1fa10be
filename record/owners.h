/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which processes use which of the recorded files, so that a flush, which has no place on the device, can be
 * put to a file: by what a process has open (/proc/PID/fd), and by the I/O that it was seen to do.
 */
#ifndef IOTAPE_OWNERS_H
#define IOTAPE_OWNERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OWNERS_FILES 64  /* of one recording: a bit each */
#define OWNERS_SLOTS 256 /* processes that are remembered; one that is forgotten is looked at again */

struct owner {
    uint32_t pid; /* 0: a free slot */
    uint64_t looked_ns;
    uint64_t open, used; /* bits of files */
};

/* Zero-initialised is empty. */
struct owners {
    struct owner slots[OWNERS_SLOTS];
    struct {
        dev_t device;
        ino_t inode;
    } files[OWNERS_FILES];
    unsigned file_count;
};

/* Adds a file; its number is its bit. There is room for OWNERS_FILES. */
void owners_add(struct owners *o, dev_t device, ino_t inode);

/* Looks at all processes: what may later not be allowed any more. */
void owners_look_all(struct owners *o, uint64_t now_ns);

/* Looks which files the process has open, unless that was done less than a second ago. */
void owners_look(struct owners *o, uint32_t pid, uint64_t now_ns);

/* The process was seen to read or write these files. */
void owners_use(struct owners *o, uint32_t pid, uint64_t files);

/* The files that it has open or used. */
uint64_t owners_files(const struct owners *o, uint32_t pid);

#endif
