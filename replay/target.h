/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where a tape can be replayed to. One file in target/ for each kind, one line in TARGETS. Guarding data and
 * filling use this interface only, so that no kind has a guard of its own.
 */
#ifndef IOTAPE_TARGET_H
#define IOTAPE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/block.h"
#include "formats/facts.h"
#include "formats/host.h"

#define TARGETS(X) X(null) X(aio) X(nbd) X(iscsi) X(nfs)

/* Data of an I/O is aligned to this. */
#define TARGET_ALIGN_BYTES 4096
/* A target without end. */
#define TARGET_ENDLESS UINT64_MAX

struct target_options {
    bool read_only; /* open for reading; held and mounted ones are allowed */
    /* A server that answers nothing for so long is gone: its I/Os fail with -ETIMEDOUT. */
    uint64_t stall_timeout_ns;
};

/* What happened to a target's connections since it was opened. */
struct target_events {
    uint64_t path_changes; /* a path (portal, connection) was dropped or came back */
    uint64_t reissued;     /* I/Os that were sent again after a path had died */
};

/* What every kind begins its own struct with. Set by open. */
struct target {
    const struct target_ops *ops;
    char *url;             /* as given, without secrets; owned by the kind */
    uint64_t size_bytes;   /* 0 where it is to be created; TARGET_ENDLESS where it has no end */
    uint32_t sector_bytes; /* a power of two, at least 512 */
    bool absent;           /* does not exist or is an empty file: create() makes it */
};

/* One I/O. The caller fills in the first part and keeps it in place until it is reaped. */
struct target_io {
    struct target *target;
    void *data; /* read into or written from; NULL for operations without data */
    uint64_t offset_bytes, len_bytes;
    uint8_t op; /* enum block_op */
    bool preflush, fua;
    bool two_step;      /* out: done as two operations or by a helper thread */
    uint32_t slot;      /* the caller's */
    int64_t result;     /* out: bytes (0 without data) or -errno; -EOPNOTSUPP: this target cannot do it */
    uint64_t done_ns;   /* out: when it completed, on CLOCK_MONOTONIC; 0: at the time of reaping */
    uint64_t space[10]; /* the kind's own */
};

/* Completions of all targets of one kind arrive here, so that one wait serves many devices. One thread. */
struct target_queue;

struct target_ops {
    const char *name;
    const char *help;            /* for --help: what the URL looks like and what it is */
    const char *const *prefixes; /* of URLs, NULL-terminated; for aio also every path */
    bool stores;                 /* false: keeps no data: nothing to guard, to fill or to generate */

    /* Opens without changing anything. A target that is mounted or held by somebody else is an error, unless
     * read-only. */
    int (*open)(struct target **t, const char *url, const struct target_options *o, struct err *e);
    void (*close)(struct target *t);

    /* Makes an absent target, filled with zeros. NULL: the kind cannot. */
    int (*create)(struct target *t, uint64_t size_bytes, struct err *e);

    /* What it is: device model, file system, ... */
    int (*describe)(struct target *t, struct facts *f, struct err *e);

    /* What signature (file system, partition table, RAID, LVM, swap, ...) is on it: 1 and the text, 0 for
     * none, -errno. NULL: none can be known. */
    int (*signature)(struct target *t, char *text, size_t text_bytes, struct err *e);

    /* Where its bytes lie on this host, or -ENOENT. NULL: not on this host. */
    int (*place)(struct target *t, struct disk_place *place, struct err *e);

    /* Before a repetition: serves connections that were idle meanwhile and brings lost ones back, within
     * bounded time, so that none of this is measured. NULL: nothing to do. */
    void (*ready)(struct target *t);

    /* Counts what happened to its connections so far. NULL: it has none. */
    void (*events)(struct target *t, struct target_events *ev);

    /* At most `depth` I/Os are in flight in a queue. */
    int (*queue_open)(struct target_queue **q, unsigned depth, struct err *e);
    void (*queue_close)(struct target_queue *q); /* nothing is in flight */

    /* Submits I/Os in order; returns how many were taken (0: none now, reap first), or -errno where the queue
     * is broken. What fails alone is reaped as failed. */
    int (*submit)(struct target_queue *q, struct target_io **io, unsigned count, struct err *e);

    /* Returns up to `max` completed I/Os in done[]. Waits for the first one until timeout_ns have passed; 0
     * only looks, in user space where nothing is there. A signal ends the wait. */
    int (*reap)(struct target_queue *q, struct target_io **done, unsigned max, uint64_t timeout_ns,
            struct err *e);
};

extern const struct target_ops *const target_list[]; /* NULL-terminated */

/* Opens what a URL names. An unknown scheme is -EINVAL with a text that lists what is known. */
int target_open(struct target **t, const char *url, const struct target_options *o, struct err *e);
void target_close(struct target *t); /* NULL is allowed */

#endif
