/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Never destroy data by surprise: a target may be written to where it is ours or empty.
 */
#ifndef IOTAPE_GUARD_H
#define IOTAPE_GUARD_H

#include <signal.h>

#include "formats/base/err.h"
#include "replay/session.h"

/* Looks at all targets before anything is written: the recorded disk, signatures, both ends (1 MiB each) and
 * every 4 KiB block that will be touched must be free, i.e. hold zeros or what iotape wrote. (Mounted and
 * held ones were refused when they were opened.) -EEXIST and what was found where, unless the command line
 * overrides it. Afterwards the `refill` sets of the targets hold the touched blocks that are not filled yet.
 * With --read-only nothing is refused; where blocks that will be read hold zeros, that is said on standard
 * error. */
int guard_check(struct session *s, const volatile sig_atomic_t *stop, struct err *e);

#endif
