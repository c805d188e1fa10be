/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Results of other benchmarks as sources: one source for each workload of a file, its label "TOOL WORKLOAD",
 * its repetitions the outputs that have the workload.
 */
#ifndef IOTAPE_FOREIGN_H
#define IOTAPE_FOREIGN_H

#include "analyze/source.h"
#include "formats/results.h"

/* One metric of one source. */
struct foreign_metric {
    struct figure figure; /* of the first repetition that has it; names owned by the list */
    double *values;       /* by repetition; NAN, or INFINITY for a percentile with too few I/Os behind it */
};

/* What a foreign source measured. */
struct foreign {
    struct foreign_metric *list;
    size_t count;
};
void foreign_release(struct foreign *f);

/* Appends the sources of a file that is no tape and no run. Errors as results_read. */
int foreign_open(struct source_list *list, const char *path, struct err *e);

/* The metrics of several sources of one workload, in the first one's unit, and the `stated` values
 * of all their results by these. Metrics that differ in what they are (a time and a rate) but not in name are
 * two. *metrics is freed by foreign_metrics_release, and must not outlive the sources. */
int foreign_align(struct source *const *sources, size_t count, struct metrics *metrics, struct err *e);
void foreign_metrics_release(struct metrics *m);

#endif
