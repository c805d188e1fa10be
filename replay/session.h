/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One command: a tape, its targets, and the sides that are measured. A side is what one -o is about: where
 * each stream of the tape goes, and the run that is written.
 */
#ifndef IOTAPE_SESSION_H
#define IOTAPE_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "formats/run.h"
#include "formats/tape.h"
#include "replay/plan.h"
#include "replay/settings.h"
#include "replay/target.h"
#include "replay/verify.h"
#include "replay/work.h"

struct beside;

/* A target that is used, by one side or by several. */
struct session_target {
    struct target *target;
    struct ranges touched, punched; /* by all sides */
    uint64_t end_bytes;
    struct ranges refill;  /* what is to be filled before the next repetition */
    uint32_t repetitions;  /* that were done */
    struct verify *verify; /* with --verify; owned */
};

struct session_side {
    const char *output;     /* NULL with --dry-run without -o */
    char *name;             /* the targets' URLs; owned */
    struct target **target; /* of each stream; owned, the targets are the session's */
    struct verify **verify; /* of each stream, with --verify; owned, what it points to is the targets' */
    struct plan plan;       /* its ranges have been moved to the targets */
    struct run_writer *run;
    uint32_t repetitions; /* so far */
};

struct session {
    struct settings settings; /* with the timing decided */
    struct tape_reader *tape;
    struct session_target *target; /* owned */
    size_t targets;
    struct session_side *side; /* owned */
    size_t sides;
    struct work_pool *pool;
    struct beside *beside;             /* the tape's conversations; NULL: they are not replayed */
    const volatile sig_atomic_t *stop; /* what session_open was given */
    uint64_t until_ns;                 /* end of the part, excluded */
    uint64_t order;                    /* repetitions of all sides so far */
};

/* Opens the tape and the targets and plans. Nothing is changed. -EINTR by *stop. */
int session_open(
        struct session *s, const struct settings *settings, const volatile sig_atomic_t *stop, struct err *e);
void session_close(struct session *s);

/* What the feed and the plan need for a side. */
struct feed_source session_source(const struct session *s, const struct session_side *side);

/* What a target is filled with next. */
struct content_write session_fill(const struct session *s, const struct session_target *t);

/* Creates absent targets. */
int session_create(struct session *s, struct err *e);

/* Begins the runs' files. Ends them: `ended` as run_writer_finish has it. A run whose first repetition has
 * not begun is given up: no file is left. */
int session_begin_runs(struct session *s, struct err *e);
int session_finish_runs(struct session *s, const char *ended, struct err *e);

#endif
