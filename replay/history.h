/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a verified replay must have left behind, from its run and its tape: for --verify-only.
 *
 * The run says which I/Os were done, when and with what outcome; the tape, which of them had FUA or a flush
 * before them, and what was perhaps under way when the run ended. A write must be there where it is known to
 * be on stable storage: it had FUA, or a flush was issued after it had completed, and succeeded; every whole
 * repetition ends with a flush. Any other write may be there or not.
 *
 * Memory: a byte for each record of the tape, and 56 for each I/O of a repetition that changed data.
 */
#ifndef IOTAPE_HISTORY_H
#define IOTAPE_HISTORY_H

#include "formats/base/err.h"
#include "formats/run.h"
#include "replay/session.h"

/* Sets the options that decide what was written (seed, recipe, part, fit) as the run has them; the others are
 * left. -EINVAL where the run was not verified. */
int history_settings(struct settings *set, const struct run_reader *run, struct err *e);

/* Tells the `verify` of the session's one side what the targets must hold. -EINVAL where tape, targets' sizes
 * or their number are not those of the run, -ENODATA where it holds nothing. */
int history_apply(struct session *s, struct run_reader *run, struct err *e);

#endif
