/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One repetition's state, shared by what issues (engine.c) and what takes completions in (engine_done.c). One
 * thread uses it.
 */
#ifndef IOTAPE_ENGINE_PARTS_H
#define IOTAPE_ENGINE_PARTS_H

#include "replay/engine.h"
#include "replay/flight.h"
#include "replay/own.h"
#include "replay/pace.h"
#include "replay/waits.h"

struct engine {
    const struct engine_options *o;
    struct feed *feed;
    struct engine_result *result;
    struct flight *flight;
    struct waits *waits; /* with `closed` */
    struct own *own;     /* with `closed` */
    struct pace pace;
    uint64_t start_ns, last_done_ns;
    struct content_write write;
    /* Where the tape is taken from: the block that is being issued (or sorted into groups) and the place in
     * it. */
    struct work *current;
    uint32_t next;
    unsigned uncounted; /* with `closed`: I/Os in flight that no watermark counts: of unknown latency in the
                           tape */
    bool feed_ended, cut, capped, starving, overlapping;
    bool put_off;           /* what is due is late because it had to stay, and has not been caught up yet */
    bool held[WORK_BLOCKS]; /* blocks that are here */
    unsigned held_count;
    /* The next I/O of a timed replay, made ready while there is time. */
    struct flight_io *staged;
};

/* A record has got its state for good; its block is given back where it was the last one. */
void engine_settle(struct engine *en, struct work *w, uint32_t i, enum work_state state);

/* A record completed at `at_ns` since the start, as far as those that wait for it are concerned. 0 or -errno.
 */
int engine_counted(struct engine *en, struct work *w, uint32_t i, uint64_t at_ns, struct err *e);

/* Collects what has completed, waiting for the first until timeout_ns have passed. Returns how many, or
 * -errno. */
int engine_reap(struct engine *en, uint64_t timeout_ns, struct err *e);

#endif
