/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A thread that shows how far a repetition has come, only where standard error is a terminal. The engine
 * never waits for a terminal.
 */
#ifndef IOTAPE_TICKER_H
#define IOTAPE_TICKER_H

#include <stdint.h>

#include "formats/base/err.h"

struct ticker;

/* `what` ("/dev/sdb: repetition 2 of 5") and the counter, which other threads add to, must live until
 * ticker_close. *t is NULL where there is no terminal. */
int ticker_open(struct ticker **t, const char *what, const uint64_t *done, uint64_t total, struct err *e);
void ticker_close(struct ticker *t); /* NULL is allowed; removes the line */

#endif
