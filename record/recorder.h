/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Takes I/Os from a source and writes them to a tape in the order of their arrival, in bounded memory.
 */
#ifndef IOTAPE_RECORDER_H
#define IOTAPE_RECORDER_H

#include <stdint.h>

#include "formats/base/err.h"
#include "formats/tape.h"
#include "record/source.h"
#include "record/streams.h"

struct recorder;

/* What is shown while it runs. */
struct recorder_status {
    uint64_t elapsed_ns, records, bytes, lost;
    uint64_t open;           /* records without a latency: still open, or their end was missed */
    uint64_t released_ns;    /* all that arrived before this is in a tape */
    uint64_t tape_bytes;     /* written so far */
    uint64_t unattributed;   /* I/Os that were asked for, or not: nobody knows; at the end */
    uint64_t finished_bytes; /* about what the tape would have if it ended now */
};

/* `source` was opened with `config` and began at `start_ns`. `streams` says which streams of `w` the I/Os of
 * a target belong to; NULL: to that of its number. All are borrowed and must outlive the recorder. */
int recorder_open(struct recorder **r, const struct source_ops *ops, struct source *source,
        const struct source_config *config, uint64_t start_ns, struct streams *streams, struct tape_writer *w,
        struct err *e);

/* Takes what has come and writes what can be written. *pause_ns is how long to wait before the next call. */
int recorder_step(struct recorder *r, uint64_t *pause_ns, struct err *e);

struct recorder_status recorder_status(const struct recorder *r);

/* Ends this tape and goes on with `next`, in two steps, between which the tape may be finished. *cut_ns,
 * since the start: all that arrived before it is in the tape, all else will be in `next`, whose t = 0 it is.
 * An I/O that was written without a latency, since it was open for long, gets none any more. `next` is
 * borrowed and has the same streams. */
int recorder_cut(struct recorder *r, uint64_t *cut_ns, struct err *e);
void recorder_continue(struct recorder *r, uint64_t cut_ns, struct tape_writer *next);

/* Stops the source and writes all that is left; what is open then stays without a latency. *elapsed_ns is
 * the recording's length. The tape is not finished yet. */
int recorder_finish(struct recorder *r, uint64_t *elapsed_ns, struct err *e);

void recorder_close(struct recorder *r); /* NULL is allowed */

#endif
