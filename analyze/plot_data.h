/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What plots are drawn from: each tape and run in bins whose number does not depend on its length. All of it
 * takes two passes over the files, and memory for each repetition about 10 KiB, for each side about 200 KiB.
 */
#ifndef IOTAPE_PLOT_DATA_H
#define IOTAPE_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/systems.h"
#include "formats/base/err.h"

/* What has curves: three operations of disks; of conversations, connects and exchanges (run.h). */
enum plot_op { PLOT_READ, PLOT_WRITE, PLOT_FLUSH, PLOT_CONNECT, PLOT_EXCHANGE, PLOT_OPS };
/* "read", ..., "exchange". */
const char *plot_op_name(enum plot_op op);

/* Percentile curves: at nines i / PLOT_CURVE_STEPS, so up to 99.9999 %. From a histogram whose buckets are
 * 2^-10 of their value wide: a point is the nearest-rank percentile within 0.05 %, less than a third of a
 * pixel. */
#define PLOT_CURVE_STEPS  16
#define PLOT_CURVE_POINTS (6 * PLOT_CURVE_STEPS + 1)
double plot_curve_fraction(size_t point);

#define PLOT_TIMES 120 /* bins of time, in timelines */

/* Density of latencies over time. Rows are equal steps on logarithms, from PLOT_HEAT_LOWEST_NS; what lies
 * beyond is counted in the last row at that end. */
#define PLOT_HEAT_TIMES     240
#define PLOT_HEAT_DECADE    20
#define PLOT_HEAT_LATENCIES (9 * PLOT_HEAT_DECADE)
#define PLOT_HEAT_LOWEST_NS 100.0

/* Density of places over time, of the PLOT_STREAMS streams with the most I/O. */
#define PLOT_STREAMS 4
#define PLOT_PLACES  96

/* Depths: bin 0 is nothing in flight, bin i from 2^((i - 1) / PLOT_DEPTH_OCTAVE - 4) on. */
#define PLOT_DEPTH_OCTAVE 8
#define PLOT_DEPTHS       (20 * PLOT_DEPTH_OCTAVE + 2)
double plot_depth_from(size_t bin);

struct plot_repetition {
    uint64_t elapsed_ns;
    uint64_t counts[PLOT_OPS];
    double curve_ns[PLOT_OPS][PLOT_CURVE_POINTS]; /* NAN where there are too few I/Os behind it */
    /* By time of completion; NAN where there is nothing to say. */
    double iops[PLOT_TIMES], mb_s[PLOT_TIMES], latency_ns[PLOT_TIMES];
    double depth[PLOT_TIMES]; /* mean number in flight */
    /* Share of the time with at least plot_depth_from(bin) in flight, in slices of a 2^-20th of the
     * repetition, each with its mean. */
    double depth_at_least[PLOT_DEPTHS];
};

struct plot_side {
    const char *name;                     /* owned by the systems */
    bool is_tape;                         /* all of it */
    struct plot_repetition **repetitions; /* that count; owned */
    size_t count;
    uint32_t (*heat)[PLOT_HEAT_TIMES]; /* [PLOT_HEAT_LATENCIES], all repetitions together; owned */
};

/* One stream's places, in the first counted repetition of the first side. */
struct plot_stream {
    uint32_t id;
    char name[64];
    uint64_t low_bytes, high_bytes; /* what was touched */
    uint64_t records;
    uint32_t (*heat)[PLOT_HEAT_TIMES]; /* [PLOT_PLACES] from low_bytes on; owned */
};

struct plot_data {
    enum timing timing;
    bool exchanges; /* of conversations are drawn: the first repetition with any sample has no I/O of disks */
    struct plot_side *sides;
    size_t count;
    uint64_t time_ns, heat_time_ns; /* width of bins */
    uint64_t end_ns;                /* of the longest repetition */
    struct plot_stream streams[PLOT_STREAMS];
    size_t stream_count, stream_total;
};

/* What is counted: "I/Os" or "exchanges". Connects have latencies only. */
static inline const char *plot_things(const struct plot_data *d)
{
    return d->exchanges ? "exchanges" : "I/Os";
}

/* What the sides are: tapes and runs of one workload, each of a system. */
struct plot_sources {
    const struct systems *systems; /* opened; need not be measured */
    const struct source *const *list;
    const size_t *system; /* which one each is of */
    size_t count;
    enum timing timing;
};

/* Systems without a source among these are left out. Errors of reading; -EINVAL for a foreign result, and
 * where there is no repetition that counts; -ENOMEM. */
int plot_data_collect(struct plot_data *d, const struct plot_sources *s, struct err *e);
void plot_data_release(struct plot_data *d);

#endif
