/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Ways to capture a live workload. One file in source/ for each, one line in SOURCES.
 *
 * A source hands out I/Os that have completed, in the order of their completion, and says on request
 * which ones are open. It promises: an I/O is in what `in_flight` lists until after its completion can
 * be drained. So what neither was listed as open nor comes in a drain afterwards has been drained before.
 */
#ifndef IOTAPE_SOURCE_H
#define IOTAPE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "formats/base/err.h"
#include "formats/block.h"

#define SOURCES(X) X(bpf) X(tracefs)

/* A block device to record. Stream numbers are places in the list of targets. */
struct source_target {
    dev_t dev;
    uint64_t start_bytes; /* of a partition on its disk, else 0 */
    bool stacked;         /* what is sent to it may complete on other devices (dm, md) */
};

/* Whose I/O is wanted: that of which any of these is true. All empty: everybody's. */
#define SOURCE_CGROUPS_MAX 16
struct source_filter {
    const uint32_t *processes; /* process ids */
    size_t process_count;
    bool children;                        /* and of their children from now on, and those that they have */
    uint64_t charged[SOURCE_CGROUPS_MAX]; /* cgroups (below which others may be) that the kernel charges it to
                                           */
    uint64_t tasks[SOURCE_CGROUPS_MAX];   /* cgroups v2 of the tasks that queue it */
    size_t charged_count, task_count;
};

#define SOURCE_MEMORY_BYTES (UINT64_C(96) << 20)

struct source_config {
    const struct source_target *targets; /* must outlive the source */
    size_t target_count;
    const struct source_filter *filter; /* likewise; NULL: everybody's */
    uint64_t memory_bytes; /* for what waits: 1/6 of it in the source, 2/3 where it is sorted; 0: 96 MiB */
    uint32_t open_max;     /* places for I/Os that are open at once; those without one are lost */
    bool growing;          /* `join` may be called */
    bool keep_names;       /* learn the names of processes */
    bool verbose;          /* let libraries talk on standard error */
};

/* An I/O as it was seen. */
struct captured {
    uint64_t id;           /* with t_ns and stream: tells it from every other one */
    struct block_record r; /* t_ns since the source's start; issuer: the process id; latency_ns TAPE_UNKNOWN
                              where it is open, or where its completion was missed */
};

/* Where captured I/Os go. A negative result ends the call that delivers and becomes its result. */
struct source_sink {
    int (*take)(void *self, const struct captured *c, struct err *e);
    void *self;
};

struct source_counts {
    uint64_t unmatched;          /* completions whose arrival was not seen: queued before the start */
    uint64_t other_ops;          /* operations that are not recorded: of zones, ... */
    uint64_t retried;            /* non-blocking attempts that were told to come back */
    uint64_t unwalked;           /* requests of too many bios, some of which stay open */
    uint64_t missed_arrivals;    /* that can be put to no stream */
    uint64_t missed_completions; /* of I/Os that stay open */
    uint64_t
            unattributed; /* kernel threads' I/Os that may be of those who are asked for, or not: not taken */
    uint64_t unfollowed;  /* children of processes that could not be followed */
};

struct source;

struct source_ops {
    const char *name;
    const char *help; /* one line */

    /* Begins to capture. *start_ns is t = 0 on CLOCK_MONOTONIC. Errors say what is missing and what to do. */
    int (*open)(struct source **s, const struct source_config *config, uint64_t *start_ns, struct err *e);

    /* Delivers what completed up to now: 1; 0 where some of it cannot be read yet; -errno. */
    int (*drain)(struct source *s, const struct source_sink *sink, struct err *e);

    /* Delivers every open I/O, in no order. */
    int (*in_flight)(struct source *s, const struct source_sink *sink, struct err *e);

    /* Records `target`, too, which stands behind those of the config's list and is the next stream. NULL:
     * this source cannot. */
    int (*join)(struct source *s, const struct source_target *target, struct err *e);

    /* From now on no new I/O is taken; completions still are. */
    void (*stop)(struct source *s);

    /* The name that the process had; false where it is not known. `name` has 16 bytes. */
    bool (*process_name)(struct source *s, uint32_t pid, char *name);

    /* Events that were missed, so far. */
    uint64_t (*lost)(const struct source *s, size_t stream);
    struct source_counts (*counts)(const struct source *s);

    void (*close)(struct source *s); /* NULL is allowed */
};

#define SOURCE_DECLARE(name) extern const struct source_ops source_##name;
SOURCES(SOURCE_DECLARE)
#undef SOURCE_DECLARE

/* By name; NULL for an unknown one. The first of SOURCES is the default. */
const struct source_ops *source_find(const char *name);

/* One line for each source, for --help. Owned by the caller; NULL: no memory. */
char *source_help(void);

#endif
