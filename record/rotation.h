/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A recording in parts, of which the last ones are kept: from one tape to the next without losing an I/O, and
 * saving on demand.
 *
 * Each part is a whole tape of its own. An I/O is in the part in which it arrived; one that was open for so
 * long that it was written without its latency (recorder.h) and completes in a later part stays without, and
 * is counted there. Conversations under way are cut, and go on in the next part as those that a recording
 * meets under way.
 */
#ifndef IOTAPE_ROTATION_H
#define IOTAPE_ROTATION_H

#include "record/parts.h"
#include "record/recorder.h"
#include "record/source/net.h"
#include "record/streams.h"

/* What writes and is written; all borrowed. */
struct rotation_tape {
    struct tape_info *info;
    struct streams *streams; /* of disks and files */
    uint64_t start_ns;       /* CLOCK_MONOTONIC at t = 0 of the recording */
    struct tape_writer **w;
    struct recorder *recorder; /* NULL: no disks */
    struct net_source *net;    /* NULL: no interfaces */
};

struct rotation {
    struct parts parts;
    uint64_t start_unix_ns; /* t = 0 of the recording */
    uint64_t part_ns;       /* t at which this part begins */
    uint64_t save_ns;       /* how much is saved on demand; 0: all */
    uint64_t asked_ns;      /* t when saving was asked for; 0: it was not */
};

/* Looks at the parts that are there. Release in any case (zero-initialised is allowed). */
int rotation_init(struct rotation *r, const char *output, uint64_t keep, uint64_t save_ns, struct err *e);
void rotation_release(struct rotation *r);

/* Opens the tape of the part whose turn it is, with its streams of disks. */
int rotation_open(struct rotation *r, const struct rotation_tape *t, struct tape_writer **w, struct err *e);

/* Ends this part and begins the next; `elapsed_ns`: now. Where the next cannot be begun, this one is ended if
 * that is possible. */
int rotation_next(struct rotation *r, const struct rotation_tape *t, uint64_t elapsed_ns, struct err *e);

/* The last part has been finished. */
int rotation_ended(struct rotation *r, struct err *e);

/* Saves where SIGUSR1 has come, once all that arrived before it is written: ends this part, then renames
 * those that reach back far enough, and says so on standard error. SIGUSR1 is blocked. */
int rotation_save(struct rotation *r, const struct rotation_tape *t, uint64_t elapsed_ns, struct err *e);

#endif
