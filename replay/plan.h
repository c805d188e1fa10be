/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a replay will do, found out by one pass over the tape before any I/O.
 */
#ifndef IOTAPE_PLAN_H
#define IOTAPE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/feed.h"
#include "replay/ranges.h"

/* What is done to one target. */
struct plan_target {
    const struct target *target;
    struct ranges touched; /* by all I/O, reads included: must hold data */
    struct ranges written; /* by writes, discards and write-zeroes */
    struct ranges punched; /* by discards and write-zeroes: must be filled again between repetitions */
    uint64_t end_bytes;    /* the end of the last I/O */
};

struct plan {
    struct plan_target *target; /* each target once; owned */
    size_t targets;
    uint64_t records;        /* to be issued */
    uint64_t ops[BLOCK_OPS]; /* of these */
    uint64_t read_bytes, written_bytes;
    uint64_t span_ns;                         /* from the part's start to its last arrival */
    uint64_t depth_recorded, zero_latency_ns; /* formats/depend.h; the latter at --speed 1 */
    uint64_t known_latencies;
    uint64_t working_set_bytes;
    struct feed_counts counts;
};

/* Fails where a record does not fit its target under --fit, naming record, place and size. `streams` is the
 * number of entries in s->target. */
int plan_make(struct plan *p, const struct feed_source *s, size_t streams, struct err *e);
void plan_release(struct plan *p);

#endif
