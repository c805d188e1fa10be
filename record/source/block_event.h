/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the kernel programs of block.bpf.c and their loader bpf.c share. Included by both, after the
 * definition of the __u types.
 */
#ifndef IOTAPE_BLOCK_EVENT_H
#define IOTAPE_BLOCK_EVENT_H

#define BLOCK_TARGETS_MAX  64         /* devices of one recording */
#define BLOCK_STREAM_NONE  0xffff     /* where an I/O belongs to one stream only */
#define BLOCK_KERNEL_FLAGS 0xffffff00 /* of bi_opf: all but the operation (REQ_OP_BITS of blk_types.h) */

/* A bio that was queued and has not completed: the in-flight map's value; the key is the bio's address. */
struct block_open {
    __u64 t_ns;      /* CLOCK_MONOTONIC */
    __u64 sector;    /* of the disk, also where the bio was sent to a partition */
    __u32 len;       /* bytes */
    __u32 remaining; /* bytes that have not completed yet */
    __u32 opf;       /* bi_opf when it was queued */
    __u32 tgid;      /* who queued it */
    __u16 stream;    /* the recorded device that it belongs to */
    __u16 also;      /* the second one, where a disk and a partition of it are recorded */
    __u32 flushing;  /* parts whose data has completed and whose end in the flush machinery has not */
    __s32 error;     /* the first one: above 0 a blk_status_t, below 0 an errno */
    __u32 pad;
};

/* One completed bio. With the ring buffer's header 64 bytes, so that none crosses the ring's end. */
struct block_event {
    __u64 bio; /* address, to match what user space has seen as open */
    __u64 t_ns;
    __u64 sector;
    __u64 latency_ns; /* all ones: its completion was never seen, the address has been used again */
    __u32 len, opf, tgid;
    __u16 stream, also;
    __s32 error;
    __u32 pad;
};

/* Counted where it happens, read by user space at the end. */
struct block_counts {
    __u64 lost[BLOCK_TARGETS_MAX]; /* arrivals without room in the map, completions without room in the ring
                                    */
    __u64 unmatched;               /* completions on recorded disks whose arrival was not seen */
    __u64 other_ops;               /* zone operations and the like: not recorded */
    __u64 retried;                 /* non-blocking attempts that were told to come back (BLK_STS_AGAIN) */
    __u64 unwalked;                /* bios of requests too long to walk */
};

#endif
