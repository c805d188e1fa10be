/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the sources of both sides to what comparison_make compares: the values of each metric, for the whole
 * workload and, where they were measured, for each of its streams.
 */
#ifndef IOTAPE_CONTRAST_H
#define IOTAPE_CONTRAST_H

#include "analyze/comparison.h"
#include "analyze/source.h"

/* One system's part in a workload. */
struct party {
    const char *name; /* of the system */
    const struct source *const *sources;
    size_t count;
};

struct contrasts {
    struct contrast *list;
    size_t count;
    struct side base, cand;
    double *values;                /* what the list points into */
    const struct result **results; /* the counted ones, the base's first */
};

/* Of `metrics` those that the timing gives and that a side has, and always the primary one. All texts and
 * metrics are those of the sources and of `metrics`, and must outlive *c. -ENOMEM. */
int contrasts_make(struct contrasts *c, const struct metrics *metrics, const struct party *base,
        const struct party *cand, enum timing timing, struct err *e);
void contrasts_release(struct contrasts *c);

#endif
