/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A tape, a run or a foreign result as compare sees it: what it is, and what each of its repetitions
 * measured. A tape is one repetition, of production. A foreign result is a source for each workload in it.
 */
#ifndef IOTAPE_SOURCE_H
#define IOTAPE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/metrics.h"
#include "formats/base/err.h"
#include "formats/facts.h"
#include "formats/run.h"
#include "formats/tape.h"

/* What one of several recorded disks did in each repetition. */
struct stream_results {
    char *name;             /* owned */
    struct result *results; /* as many as the source has; owned */
};

struct source {
    char *path;          /* as given */
    enum tape_kind kind; /* TAPE_KIND_NONE: a foreign result */
    bool finished;
    char *label;       /* of the tape, or tool and workload */
    char *target_name; /* of a run; NULL for a tape */
    struct tape_identity identity;
    uint64_t lost, working_set_bytes;
    bool tape_throttled; /* a control group limited a recorded disk */
    struct facts host, options,
            target;         /* of a run: where it ran; of a tape: where it was recorded, no target */
    struct result *results; /* by measure_source; of a run all repetitions, warm-ups too */
    size_t result_count;
    struct stream_results *streams; /* by measure_source, where asked for */
    size_t stream_count;
    struct foreign *foreign; /* NULL but for a foreign result */
    double *stated;          /* of all results, by foreign_align */
};

struct source_list {
    struct source *list;
    size_t count;
};

/* Appends an empty source; NULL with -ENOMEM in *e. */
struct source *source_list_add(struct source_list *l, struct err *e);

/* Reads what a file says about itself, and of a foreign result all: appends one source, or one for each
 * workload. -EINVAL for what is none of these. */
int source_open(struct source_list *l, const char *path, struct err *e);
void source_list_release(struct source_list *l);

/* What people call the workload: the label, or the begin of a tape's identity. Owned by `buf` or the source.
 */
const char *source_workload(const struct source *s, char buf[TAPE_IDENTITY_TEXT_BYTES]);

#endif
