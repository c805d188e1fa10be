/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What is not the same on both sides of a comparison, though the work is: host, target, timing, options.
 */
#ifndef IOTAPE_DIFFERENCES_H
#define IOTAPE_DIFFERENCES_H

#include "analyze/comparison.h"
#include "analyze/contrast.h"

/* Appends to c->differences each fact whose value is not the same in all sources of both sides: "host.KEY",
 * "target.KEY", "option.KEY" of runs, and "timing" where one is a recording. A recording has no target. None
 * where a side has no sources. -ENOMEM; what was added stays. */
int differences_find(struct comparison *c, const struct party *base, const struct party *cand, struct err *e);

#endif
