/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether sources did the same work, so that a difference between them is the target's.
 */
#ifndef IOTAPE_SAME_WORK_H
#define IOTAPE_SAME_WORK_H

#include "analyze/source.h"
#include "formats/depend.h"

/* Refuses (-EINVAL) what differs in the tape's identity, or in an option that is not known to leave the work
 * as it is, naming both files and both values. A tape among runs counts as a replay of all of it at its own
 * speed: runs of a part, at another speed, read-only or `asap` are refused beside it. */
int same_work(const struct source *const *sources, size_t count, struct err *e);

/* The timing of the runs among them (`closed` where there are only tapes), and what belongs together. */
int same_work_timing(const struct source *const *sources, size_t count, enum timing *timing,
        enum depend_group *group, struct err *e);

#endif
