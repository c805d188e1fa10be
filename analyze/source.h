/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A tape or run as compare sees it: what it is, and what each of its repetitions measured. A tape is one
 * repetition, of production.
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
    char *path; /* as given */
    enum tape_kind kind;
    bool finished;
    char *label;       /* of the tape */
    char *target_name; /* of a run; NULL for a tape */
    struct tape_identity identity;
    uint64_t lost, working_set_bytes;
    struct facts host, options,
            target;         /* of a run: where it ran; of a tape: where it was recorded, no target */
    struct result *results; /* by source_measure; of a run all repetitions, warm-ups too */
    size_t result_count;
};

/* Reads what the file says about itself. -EINVAL for what is neither tape nor run. On failure *s is empty. */
int source_open(struct source *s, const char *path, struct err *e);
void source_release(struct source *s);

/* The percentile selectors of measuring, shared by all sources, one after the other: about 8 MiB. */
struct measure;
int measure_open(struct measure **m, struct err *e);
void measure_close(struct measure *m); /* NULL is allowed */

/* Reads all records, two or three times, and fills `results`. `timing` decides whether times of a run count
 * from issue or from schedule; `group` what belongs together when a tape's zero-latency time is computed. */
int source_measure(
        struct source *s, struct measure *m, enum timing timing, enum depend_group group, struct err *e);

#endif
