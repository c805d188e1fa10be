/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whether sources did the same work, so that a difference between them is the target's; and what else
 * differs between them.
 */
#ifndef IOTAPE_SAME_WORK_H
#define IOTAPE_SAME_WORK_H

#include "analyze/source.h"

/* Refuses (-EINVAL) what differs in the tape's identity, or in an option that is not known to leave the work
 * as it is, naming both files and both values. A tape among runs counts as a replay of all of it at its own
 * speed: runs of a part, at another speed, read-only or `asap` are refused beside it. */
int same_work(const struct source *const *sources, size_t count, struct err *e);

/* The timing of the runs among them (`closed` where there are only tapes), and what belongs together. */
int same_work_timing(const struct source *const *sources, size_t count, enum timing *timing,
        enum depend_group *group, struct err *e);

/* Calls `found` for each fact of `host` and `target` whose value is not the same in all sources, with
 * "host.kernel", "target.scheduler" and so on, once each. Tapes have no target and are left out there. */
int same_work_differences(const struct source *const *sources, size_t count,
        int (*found)(void *context, const char *key, struct err *e), void *context, struct err *e);

#endif
