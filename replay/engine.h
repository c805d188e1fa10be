/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The engine: one thread that issues records when their time has come and notes when they complete.
 */
#ifndef IOTAPE_ENGINE_H
#define IOTAPE_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/content.h"
#include "replay/feed.h"
#include "replay/settings.h"
#include "replay/target.h"
#include "replay/verify.h"
#include "replay/work.h"

struct engine_options {
    enum replay_timing timing;
    unsigned depth;               /* I/Os in flight at most: with asap what is wanted, else a bound */
    struct target *const *target; /* of each stream */
    size_t targets;
    uint64_t max_errors;
    struct content_write write;   /* seed, repetition and recipe */
    struct verify *const *verify; /* of each stream; NULL: nothing is verified */
    struct work_pool *pool;
    const volatile sig_atomic_t *stop;                 /* set by a signal: cut the repetition short */
    void (*started)(void *context, uint64_t start_ns); /* NULL, or what is to start with it (pace_now_ns) */
    void *context;
    uint64_t *progress; /* NULL, or where to count I/Os that were issued, for another thread to look at */
};

struct engine_result {
    uint64_t elapsed_ns; /* start to last completion */
    uint64_t errors, short_io, unsupported, two_step;
    uint64_t depth_max, depth_capped, starved, spun_ns;
    uint64_t serialised; /* I/Os that waited for one that they overlap */
    bool complete;
    bool too_many_errors;
    uint64_t error_record; /* the first failed record, from 1, and its errno */
    int error_code;
};

/* Replays all of `feed`. Finished blocks go to pool->done in the order in which they were finished,
 * unfinished ones, too, where the repetition was cut short; pool->done is closed at the end. -errno where the
 * engine itself or a queue broke; failed I/O is no such failure. */
int engine_run(
        const struct engine_options *o, struct feed *feed, struct engine_result *result, struct err *e);

#endif
