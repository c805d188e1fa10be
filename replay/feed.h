/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The decoding thread: reads a tape ahead of the engine and makes blocks of work of it.
 */
#ifndef IOTAPE_FEED_H
#define IOTAPE_FEED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/depend.h"
#include "formats/tape.h"
#include "replay/fit.h"
#include "replay/settings.h"
#include "replay/target.h"
#include "replay/work.h"

/* Which part of which tape, for which targets. Used by the plan and the feed alike, so that both see the same
 * work. */
struct feed_source {
    struct tape_reader *tape;
    struct target *const *target; /* of each stream */
    uint64_t from_ns, until_ns;   /* the part that is replayed, until_ns excluded */
    enum replay_timing timing;
    enum depend_group group;
    double speed;
    enum fit_policy fit;
    bool read_only;
    const volatile sig_atomic_t *stop; /* ends feed_walk; NULL: nothing does */
};

struct feed_counts {
    uint64_t wrapped, skipped, widened, readonly_skipped;
};

/* Calls `each` for every record of the part, in order, as the tape has it; stops where that returns other
 * than 0 and returns it, and with -EINTR by *s->stop. *number counts records of the tape from 0. */
int feed_walk(const struct feed_source *s,
        int (*each)(void *context, const struct block_record *r, uint64_t number, struct err *e),
        void *context, struct err *e);

/* What becomes of a record: fits it to its target and counts. FIT_REFUSED where --fit refuses it. Offset and
 * length of `r` are changed. *drop says that it is not to be issued. */
enum fit_outcome feed_fit(
        const struct feed_source *s, struct block_record *r, bool *drop, struct feed_counts *counts);

struct feed;

/* Starts the thread; it owns the tape, pool->spare's other end and pool->ready until feed_close. */
int feed_open(struct feed **f, const struct feed_source *s, struct work_pool *pool, struct err *e);

/* The next block: 1, at the end 0, or -errno. `wait` false: -EAGAIN where none is ready yet. */
int feed_next(struct feed *f, bool wait, struct work **w, struct err *e);

/* Stops the thread and says what it counted (NULL is allowed for both). */
void feed_close(struct feed *f, struct feed_counts *counts);

#endif
