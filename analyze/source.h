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
#include "formats/depend.h"
#include "formats/facts.h"
#include "formats/run.h"
#include "formats/tape.h"

struct source {
    char *path;          /* as given */
    enum tape_kind kind; /* TAPE_KIND_NONE: a foreign result */
    bool finished;
    char *label;       /* of the tape, or tool and workload */
    char *target_name; /* of a run; NULL for a tape */
    struct tape_identity identity;
    uint64_t lost, working_set_bytes;
    struct facts host, options,
            target;         /* of a run: where it ran; of a tape: where it was recorded, no target */
    struct result *results; /* by source_measure; of a run all repetitions, warm-ups too */
    size_t result_count;
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

/* The percentile selectors of measuring, shared by all sources, one after the other: about 8 MiB. */
struct measure;
int measure_open(struct measure **m, struct err *e);
void measure_close(struct measure *m); /* NULL is allowed */

/* Reads all records, two or three times, and fills `results`; foreign results have them already. `timing`
 * decides whether times of a run count from issue or from schedule; `group` what belongs together when a
 * tape's zero-latency time is computed. */
int source_measure(
        struct source *s, struct measure *m, enum timing timing, enum depend_group group, struct err *e);

#endif
