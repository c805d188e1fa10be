/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Across workloads: the geometric mean of the ratios of one metric, which a comparison of several workloads
 * ends with. Reads and writes are different metrics, and so stay apart.
 */
#ifndef IOTAPE_MEAN_H
#define IOTAPE_MEAN_H

#include "analyze/comparison.h"

struct mean {
    const char *base, *cand; /* systems; all texts are the comparisons' */
    const char *name;        /* of the metric */
    const struct metric *metric;
    size_t matched, workloads; /* how many have a ratio and are valid, of how many that have the metric */
    double ratio, change_pct, overhead_pct;
    const char
            *verdict; /* "too few runs" where that is so of one of the matched; else "": it is not tested */
};

/* One for each candidate and metric that at least two workloads have a ratio of, in the order of appearance;
 * rows of single streams do not enter. *means is the caller's to free. -ENOMEM. */
int means_make(struct mean **means, size_t *count, const struct comparison *comparisons,
        size_t comparison_count, struct err *e);

#endif
