/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One candidate's metrics against the base's in one workload: ratio, percentages, interval, significance,
 * verdict. change_pct is the metric's own change, overhead_pct how much more one unit of work costs, so that
 * positive is worse whatever the metric.
 */
#ifndef IOTAPE_COMPARISON_H
#define IOTAPE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/flags.h"
#include "analyze/metrics.h"

/* How many of one system's repetitions of a workload there are. */
struct side {
    const char *name; /* of the system */
    size_t count;     /* that count */
    size_t left_out;  /* for errors or for being cut short; more than half of all: invalid */
};

/* One metric as both sides measured it. */
struct contrast {
    const struct metric *metric;
    const char *name;   /* of the metric, as the timing calls it */
    const char *stream; /* "" for all of the workload */
    bool primary;
    /* One for each counted repetition, the base's first; the same place is the same repetition in all
     * contrasts of a comparison. NAN where not measured, INFINITY for a percentile with too few I/Os. */
    const double *values;
};

struct comparison_options {
    double confidence; /* of interval and verdict: 0.95 */
    double margin;     /* what counts as the same: 0.05; twice that from p99 on */
    double detect;     /* the difference that n_needed is for: 0.05; 0: the margin of each metric */
    uint64_t seed;     /* of adjust_p */
};
#define COMPARISON_DEFAULTS                                                                                  \
    {                                                                                                        \
        .confidence = 0.95, .margin = 0.05, .seed = 1                                                        \
    }

enum verdict {
    VERDICT_SAME,
    VERDICT_FASTER,
    VERDICT_SLOWER,
    VERDICT_UNSURE,
    VERDICT_TOO_FEW,
    VERDICT_INVALID
};
/* "same", ..., "too few runs", "invalid". */
const char *verdict_name(enum verdict v);

/* One row. NAN is what is not known or does not exist: an empty cell. Texts and the metric belong to who
 * made the contrasts. */
struct row {
    const struct metric *metric;
    const char *name;
    const char *stream; /* "" for all of the workload */
    bool primary;
    size_t n_base, n_cand; /* repetitions with a value */
    double median_base, median_cand;
    double ratio_hl; /* Hodges-Lehmann ratio on logarithms, candidate / base */
    double change_pct, overhead_pct, overhead_lo, overhead_hi;
    double conf;       /* attained by overhead_lo .. overhead_hi */
    bool wider;        /* these are, since the spreads differ; a flag says so */
    double p;          /* two-sided, for this metric alone */
    double p_adjusted; /* for looking at all of them; NAN for the primary one */
    enum verdict verdict;
    double n_needed; /* repetitions a side that would show `detect`, where the verdict is unsure; else NAN */
    double margin_pct;  /* what counts as the same for this metric */
    struct flags flags; /* of this row only */
};

/* What is not the same on both sides. */
struct difference {
    char *key;         /* "host.kernel", "target.scheduler", "option.runs", "timing"; owned */
    char *base, *cand; /* the values, several joined by " / ", "" for none; owned */
};

struct comparison {
    char *workload; /* owned */
    struct side base, cand;
    struct row *rows;
    size_t count;
    struct flags flags; /* what holds for all rows */
    struct difference *differences;
    size_t difference_count;
};

/* One row for each contrast, in their order; `workload` is copied. A metric that a side has in no repetition,
 * or with too few I/Os in any, is a row without numbers, with a flag; repetitions without a value do not
 * count in its n. Metrics with a value that is not positive have no ratio: their row carries the difference
 * as a flag. -ENOMEM and what ranktest refuses; *c is empty then. */
int comparison_make(struct comparison *c, const char *workload, const struct side *base,
        const struct side *cand, const struct contrast *contrasts, size_t count,
        const struct comparison_options *o, struct err *e);
void comparison_release(struct comparison *c);

#endif
