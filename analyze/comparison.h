/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The candidate's metrics against the base's: ratio, percentages, interval, significance, verdict.
 * change_pct is the metric's own change, overhead_pct how much more one unit of work costs, so that
 * positive is worse whatever the metric.
 */
#ifndef IOTAPE_COMPARISON_H
#define IOTAPE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/fidelity.h"
#include "analyze/metrics.h"

/* The counted repetitions of one system. */
struct side {
    const char *name;
    const struct result *const *results;
    size_t count;
    size_t left_out; /* for errors or for being cut short; more than half of all: invalid */
};

struct comparison_options {
    double confidence; /* of interval and verdict: 0.95 */
    double margin;     /* what counts as the same: 0.05; twice that from p99 on */
    uint64_t seed;     /* of adjust_p */
};

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

/* One row. NAN is what is not known or does not exist: an empty cell. */
struct row {
    const struct metric *metric;
    const char *name;
    bool primary;
    size_t n_base, n_cand;
    double median_base, median_cand;
    double ratio_hl; /* Hodges-Lehmann ratio on logarithms, candidate / base */
    double change_pct, overhead_pct, overhead_lo, overhead_hi;
    double conf;       /* attained by overhead_lo .. overhead_hi */
    double p;          /* two-sided, for this metric alone */
    double p_adjusted; /* for looking at all of them; NAN for the primary one */
    enum verdict verdict;
    struct flags flags; /* of this row only */
};

struct comparison {
    struct row *rows;
    size_t count;
};

/* One row for each of `metrics` that the timing gives and that a side has, and always for the primary one. A
 * metric that a side lacks, or has not in all repetitions, or with too few I/Os, is a row without numbers,
 * with a flag. Metrics with a value that is not positive have no ratio: their row carries the difference as a
 * flag. -ENOMEM and what ranktest refuses. */
int comparison_make(struct comparison *c, const struct side *base, const struct side *cand,
        const struct metrics *metrics, enum timing timing, const struct comparison_options *o, struct err *e);
void comparison_release(struct comparison *c);

#endif
