/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What will be touched holds data before it is measured, on every target: reads of holes flatter.
 */
#ifndef IOTAPE_FILL_H
#define IOTAPE_FILL_H

#include <signal.h>

#include "formats/base/err.h"
#include "replay/session.h"

/* Writes our data to all blocks in the `refill` sets of all targets, waits until it is on stable storage, and
 * empties the sets. -EINTR where *stop was set. */
int fill_again(struct session *s, const volatile sig_atomic_t *stop, struct err *e);

/* After a repetition of `side`: adds what it discarded or zeroed to the `refill` sets. */
int fill_mark(struct session *s, const struct session_side *side, struct err *e);

#endif
