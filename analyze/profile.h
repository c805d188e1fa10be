/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The character of a recorded workload, as data: what `profile` prints, and plots and reports draw. All
 * figures are exact, in bounded memory, by several passes over the tape; what each means stands here, and an
 * aspect in profile/ computes it.
 *
 * Times are ns, sizes and places bytes. "Data I/O" are reads and writes; flushes have no place, discards and
 * write-zeroes move no data. Sums that would exceed 2^64 - 1 stay there.
 */
#ifndef IOTAPE_PROFILE_H
#define IOTAPE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/tape.h"

/* Numbers by powers of two: count[0] holds zeros, count[k] what lies in 2^(k-1) .. 2^k - 1. */
#define PROFILE_LOG_BUCKETS 65
struct profile_log {
    uint64_t count[PROFILE_LOG_BUCKETS];
};

/* A distribution. Percentiles are of nearest rank (select.h); 0 where `count` is 0. */
#define PROFILE_QUANTILES(X) X(p50, 0.5) X(p90, 0.9) X(p99, 0.99) X(p999, 0.999)
struct profile_values {
    uint64_t count, min, max;
    double mean;
#define PROFILE_QUANTILE_FIELD(name, q) uint64_t name;
    PROFILE_QUANTILES(PROFILE_QUANTILE_FIELD)
#undef PROFILE_QUANTILE_FIELD
    struct profile_log log;
};

/* ---- mix: operations and flags ---- */

struct profile_op {
    uint64_t count, bytes;
    uint64_t errors;          /* that failed */
    uint64_t unknown;         /* whose completion was not recorded */
    uint64_t least, greatest; /* bytes of one I/O; 0 where there is none */
};

struct profile_mix {
    struct profile_op op[BLOCK_OPS];
    uint64_t flags[BLOCK_FLAGS]; /* records that bear flag 1 << i */
    uint64_t issuers;            /* distinct, that issued anything */
};

/* ---- sizes of reads and writes ---- */

#define PROFILE_SIZES 8
struct profile_size {
    uint64_t len_bytes, count;
};
/* The most frequent lengths, the most frequent first, among those up to 4 MiB that are whole sectors of 512
 * bytes; `others` counts all that are not in the list. log covers all. */
struct profile_sizes {
    struct profile_size list[PROFILE_SIZES];
    size_t list_count;
    uint64_t others;
    struct profile_log log;
};

/* ---- places, of one stream's data I/O in order of arrival ---- */

/* ctz of an offset or a length: 0: below 512 bytes (or odd), i: a multiple of 256 << i, and so on up to
 * PROFILE_ALIGNS - 1: of 1 MiB or more (and 0 itself). */
#define PROFILE_ALIGNS 13
#define PROFILE_NEAR   16
struct profile_places {
    uint64_t count;      /* of data I/O */
    uint64_t sequential; /* begin where the one before ended */
    uint64_t near; /* begin where any of the PROFILE_NEAR before ended: several sequential readers at once */
    struct profile_log forward, backward; /* distance from the end of the one before, the first left out */
    struct profile_log nearest;           /* least distance to the ends of the PROFILE_NEAR before */
    uint64_t lowest_bytes, end_bytes;     /* of all data I/O; end is clipped to 2^64 - 1 */
    uint64_t offset_align[PROFILE_ALIGNS], len_align[PROFILE_ALIGNS];
    uint64_t misaligned; /* that do not begin and end on whole 4 KiB */
};

/* ---- arrivals ---- */

struct profile_arrivals {
    struct profile_values gap; /* ns between one arrival and the next, of all streams together */
};

/* ---- queue depth: I/Os in flight, those whose completion was recorded ---- */

/* Depths up to PROFILE_DEPTHS - 2 have their own bucket, all above share the last. */
#define PROFILE_DEPTHS 257
struct profile_depth {
    bool known;                        /* false: no completion is in the tape, and the rest is 0 */
    uint64_t left_out;                 /* I/Os whose completion was not recorded */
    uint64_t max;                      /* an arrival counts itself; what completes at its time is gone */
    double mean;                       /* over time, from 0 to elapsed_ns */
    uint64_t time_ns[PROFILE_DEPTHS];  /* how long it was so deep; together elapsed_ns */
    uint64_t arrivals[PROFILE_DEPTHS]; /* how many found it so deep, themselves counted */
    /* Periods with nothing in flight, longer than 0: their number, sum, the longest, and their lengths. */
    uint64_t idle_periods, idle_ns, idle_longest_ns;
    struct profile_log idle;
};

/* ---- working set: what data I/O touched, in whole units ---- */

#define PROFILE_HOT        16
#define PROFILE_HOT_UNITS  64
#define PROFILE_SHARES(X)  X(1) X(5) X(10) X(20) X(50)
#define PROFILE_SHARES_MAX 5

struct profile_touched {
    uint64_t read_bytes, written_bytes; /* distinct bytes that were read, that were written */
    uint64_t bytes;                     /* distinct bytes that were read or written */
};

/* Neighbours among the 256 ranges (of PROFILE_HOT_UNITS units) that most I/Os touched, joined. */
struct profile_hot {
    uint32_t stream;
    uint64_t offset_bytes, len_bytes;
    uint64_t touches; /* an I/O that touches two ranges counts in each */
};

struct profile_working_set {
    struct profile_touched all;
    uint64_t left_out; /* reads and writes of more than 4,096 ranges at once */
    /* Of the bytes that were read: how many had been written, had been read before in the tape. */
    uint64_t read_bytes, read_after_write_bytes, read_again_bytes;
    /* Of the bytes that were written: how many had been written before. */
    uint64_t written_bytes, overwritten_bytes;
    struct profile_hot hot[PROFILE_HOT]; /* the most touched first */
    size_t hot_count;
    uint64_t ranges, touches; /* all touched ranges, and the I/Os that touched them */
    /* Of all touches, how many fall to the most touched 1, 5, 10, ... per cent of the ranges (rounded up). */
    uint64_t share_touches[PROFILE_SHARES_MAX];
};

/* ---- latency, from arrival to completion as recorded ---- */

struct profile_latency {
    struct profile_values op[BLOCK_OPS];
};

/* ---- timeline: equal slots of time; slot i begins at i * slot_ns ---- */

#define PROFILE_SLOTS_MAX 240
struct profile_slot {
    uint64_t count[BLOCK_OPS], bytes[BLOCK_OPS]; /* by arrival */
    /* Of those that arrived in it, with a known latency. */
    uint64_t known[BLOCK_OPS], latency_sum_ns[BLOCK_OPS], latency_max_ns[BLOCK_OPS];
    uint64_t depth_sum_ns; /* depth times time, so that / its length is the mean depth */
    uint64_t depth_max;
    uint64_t grown_bytes; /* that the working set grew by */
};
struct profile_timeline {
    uint64_t slot_ns; /* 1, 2 or 5 times a power of ten; the last slot may be shorter */
    size_t slots;     /* at least 1; together they cover 0 .. elapsed_ns */
    struct profile_slot slot[PROFILE_SLOTS_MAX];
};

/* ---- heat: I/Os by time and latency, by time and place ---- */

/* Row 0: below 1,024 ns; then four rows for each power of two, the last for all that is longer. */
#define PROFILE_LATENCY_ROWS 106
#define PROFILE_PLACE_ROWS   128
#define PROFILE_PLACE_MAPS   4
struct profile_place_map {
    uint32_t stream;
    uint64_t row_bytes; /* row i begins at lowest_bytes of the stream + i * row_bytes */
    uint64_t reads[PROFILE_SLOTS_MAX][PROFILE_PLACE_ROWS]; /* by where they begin */
    uint64_t writes[PROFILE_SLOTS_MAX][PROFILE_PLACE_ROWS];
};
struct profile_heat {
    uint64_t latency[PROFILE_SLOTS_MAX][PROFILE_LATENCY_ROWS]; /* by arrival; all operations */
    struct profile_place_map *place[PROFILE_PLACE_MAPS]; /* of the streams with most data I/O, those first */
    size_t places;
};
/* The latency at which row i begins, in ns; row PROFILE_LATENCY_ROWS has no end. */
uint64_t profile_latency_row_ns(size_t row);

/* ---- sockets: messages are data events, the bytes of one each ---- */

/* Of all conversations, or of a stream's. One is open from its connect to its end, else to the end of the
 * recording; what happens at one time, in the tape's order. */
struct profile_sockets_sum {
    uint64_t conversations;
    uint64_t messages[NET_SIDES], bytes[NET_SIDES]; /* sent by initiators, by responders */
    uint64_t open_max;
    double open_mean; /* over time, from 0 to elapsed_ns */
};
struct profile_sockets {
    struct profile_sockets_sum all;
    struct profile_values size[NET_SIDES];  /* bytes of a message */
    struct profile_values think[NET_SIDES]; /* ns of think time before a message (net.h) */
    struct profile_values length; /* ns from connect to close or reset, of those that began in the tape */
};

/* ---- all of it ---- */

struct profile_stream {
    char *name;              /* owned */
    uint64_t capacity_bytes; /* 0: not known */
    uint32_t sector_bytes;   /* 0: not known */
    uint32_t unit_bytes;     /* in which its working set is counted: 4096, or less where its I/O is finer, but
                                never below 512 */
    struct profile_op op[BLOCK_OPS];
    struct profile_log read_size, write_size, gap;
    struct profile_places places;
    uint64_t depth_max;
    struct profile_touched touched;
    struct profile_sockets_sum sockets;
};

struct profile {
    char *label; /* owned */
    char identity[TAPE_IDENTITY_TEXT_BYTES];
    bool finished;
    uint64_t records, lost, elapsed_ns;
    unsigned passes;                /* that were needed over the tape */
    struct profile_stream *streams; /* as the tape numbers them, interfaces included */
    size_t stream_count, disks;

    struct profile_mix mix;
    struct profile_sizes read_sizes, write_sizes;
    struct profile_arrivals arrivals;
    struct profile_depth depth;
    struct profile_working_set working_set;
    struct profile_latency latency;
    struct profile_timeline timeline;
    struct profile_heat heat;
    struct net_totals net;
    struct profile_sockets sockets;
};

/* Reads the tape at `path`, several times, and makes *p, which the caller frees. Errors are those of the
 * reader, and -ENOMEM. */
int profile_make(struct profile **p, const char *path, struct err *e);
void profile_free(struct profile *p); /* NULL is allowed */

#endif
