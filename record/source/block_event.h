/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the kernel programs of block.bpf.c and their loader bpf.c share: the table of open bios and the rings
 * of completed ones, both in memory that user space maps.
 *
 * Both are of our own making since the kernel's hash map and ring buffer cost more than all the rest: about
 * 210 and 110 ns an I/O where the whole takes 300.
 */
#ifndef IOTAPE_BLOCK_EVENT_H
#define IOTAPE_BLOCK_EVENT_H

#include <linux/types.h>

#define BLOCK_TARGETS_MAX 64     /* devices of one recording */
#define BLOCK_STREAM_NONE 0xffff /* where an I/O belongs to one stream only */

/* The table's entry, one cache line: a bio that was queued and has not completed. An entry is free where
 * `bio` is 0; it is claimed by exchanging 0 for the address, then filled, its time last. */
struct block_open {
    __u64 bio;       /* address */
    __u64 t_ns;      /* CLOCK_MONOTONIC; 0 while the entry is being filled in or emptied */
    __u64 sector;    /* of the disk, also where the bio was sent to a partition */
    __u32 len;       /* bytes */
    __u32 remaining; /* bytes that have not completed yet */
    __u32 opf;       /* bi_opf when it was queued */
    __u32 tgid;      /* who queued it */
    __u16 stream;    /* the recorded device that it belongs to */
    __u16 also;      /* the second one, where a disk and a partition of it are recorded */
    __u32 flushing;  /* parts whose data has completed and whose end in the flush machinery has not */
    __s32 error;     /* the first one: above 0 a blk_status_t, below 0 an errno */
    __u32 pad[3];
};

#define BLOCK_CGROUPS_MAX   16
#define BLOCK_PROCESSES_MAX 65536 /* that are followed at once */

/* What a process is called. `tgid` is 0 while it is written. */
#define BLOCK_NAMES 16384
struct block_name {
    __u32 tgid;
    char comm[16];
    __u32 pad;
};

/* The entries where a bio may be: that of its address, then the others of this many around it; then as many
 * around a second one. */
#define BLOCK_WAYS 8

/* One completed bio. */
struct block_event {
    __u64 turn; /* position in its ring plus 1, once the rest is there */
    __u64 bio;  /* address, to match what user space has seen as open */
    __u64 t_ns;
    __u64 sector;
    __u64 latency_ns; /* all ones: its completion was never seen, the address has been used again */
    __u32 len, opf, tgid;
    __u16 stream, also;
    __s32 error;
    __u32 pad;
};

/* Completed bios go to one of a few rings, by CPU, so that CPUs do not get into each other's way. */
#define BLOCK_RINGS_MAX  8
#define BLOCK_RING_SLACK 1024 /* CPUs that may find the last free place at once */
struct block_ends {
    __u64 head; /* the next position to be written, by programs */
    __u64 tail; /* the next one to be read, by user space, which writes it too seldom to need a line of its
                   own */
    __u64 pad[6];
};

/* Targets that were added while the programs run: their streams follow those that were there. */
struct block_joined {
    __u32 count; /* written last */
    __u32 dev[BLOCK_TARGETS_MAX];
};

/* Counted where it happens, read by user space. */
struct block_counts {
    __u64 lost[BLOCK_TARGETS_MAX]; /* arrivals without a free place, completions without room in the ring */
    __u64 unmatched;               /* completions on recorded disks whose arrival was not seen */
    __u64 other_ops;               /* zone operations and the like: not recorded */
    __u64 retried;                 /* non-blocking attempts that were told to come back (BLK_STS_AGAIN) */
    __u64 unwalked;                /* requests of more bios than are looked at */
    __u64 unattributed;            /* kernel threads' I/Os for nobody known, where I/Os are filtered */
    __u64 unfollowed;              /* children of processes, without a place in the table of these */
};

#endif
