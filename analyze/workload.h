/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The workloads of a comparison: sources of all systems that have the same workload's name, which only are
 * compared with each other.
 */
#ifndef IOTAPE_WORKLOAD_H
#define IOTAPE_WORKLOAD_H

#include "analyze/source.h"
#include "analyze/systems.h"

struct workload {
    char *name;
    struct source **sources; /* of all systems, in their order; the sources are the systems' */
    size_t *system;          /* which one each is of */
    size_t count;
    struct metrics metrics;
    enum timing timing;
};

struct workloads {
    struct workload *list; /* in the order of the files */
    size_t count;
};

/* Groups the opened systems' sources, checks that the same work was done (same_work.h) and measures all, with
 * `by_stream` also what each stream did (measure.h). */
int workloads_open(struct workloads *w, const struct systems *s, bool by_stream, struct err *e);
void workloads_release(struct workloads *w);

/* One system's sources of a workload in `list`, which has room for all; returns how many. */
size_t workload_sources(const struct workload *w, size_t system, const struct source **list);

#endif
