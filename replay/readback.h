/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Reads all that a replay touched on a target, and compares it with what must be there (verify.h).
 */
#ifndef IOTAPE_READBACK_H
#define IOTAPE_READBACK_H

#include <signal.h>

#include "formats/base/err.h"
#include "replay/session.h"

/* Asks each target of a side for stable storage; -EOPNOTSUPP of a target that has no such thing is none. */
int readback_flush(
        struct session *s, const struct session_side *side, const volatile sig_atomic_t *stop, struct err *e);

/* Reads back all touched blocks of each target of a side. What is wrong is counted by verify_counts; -errno
 * is that a target could not be read, or -EINTR by *stop. */
int readback(
        struct session *s, const struct session_side *side, const volatile sig_atomic_t *stop, struct err *e);

/* What was looked at so far on all targets of a side. */
struct verify_counts readback_counts(struct session *s, const struct session_side *side);
/* As verify_outcome, for all targets of a side; the text is the first one's. */
int readback_outcome(struct session *s, const struct session_side *side, struct err *e);

/* --verify-only: reads the targets, now, and compares them with what the run must have left behind. Changes
 * nothing. 0 where all is right; says on standard output how much was checked. */
int readback_only(const struct settings *settings, const volatile sig_atomic_t *stop, struct err *e);

#endif
