/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Repetitions: one, and all of a command in an order that favours no side.
 */
#ifndef IOTAPE_REPEAT_H
#define IOTAPE_REPEAT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/base/err.h"
#include "replay/session.h"

/* The order of `sides` sides in rounds of one repetition each: pairs of rounds, the second the reverse of the
 * first (ABBA), the first shuffled from `seed`. Fills in order[sides] for `round` from 0. */
void repeat_order(uint64_t seed, size_t round, size_t sides, size_t *order);

/* Runs all repetitions of all sides. 0, or -errno where one was not completed: -EINTR by a signal, -EIO by
 * too many errors. What was measured is in the runs, which stay open. Sets *stop where a run cannot be
 * written any more. */
int repeat_all(struct session *s, volatile sig_atomic_t *stop, struct err *e);

#endif
