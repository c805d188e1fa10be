/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads that do what a target's asynchronous interface cannot: each takes an I/O, blocks on it and notes
 * when it was done.
 */
#ifndef IOTAPE_HELPERS_H
#define IOTAPE_HELPERS_H

#include "formats/base/err.h"
#include "replay/target.h"

struct helpers;

/* `perform` does one I/O and returns its result as target_io.result has it. */
int helpers_open(struct helpers **h, int64_t (*perform)(const struct target_io *io), struct err *e);
void helpers_close(struct helpers *h); /* NULL is allowed; nothing may be outstanding */

/* An eventfd that is readable when something has been done. */
int helpers_fd(const struct helpers *h);

/* Hands an I/O over. A thread is started where none is idle and there are few. -errno where there is none at
 * all. */
int helpers_put(struct helpers *h, struct target_io *io, struct err *e);
/* I/Os put and not taken. */
unsigned helpers_outstanding(const struct helpers *h);
/* Takes up to `max` done ones, with done_ns and two_step set; never waits. */
unsigned helpers_take(struct helpers *h, struct target_io **done, unsigned max);

#endif
