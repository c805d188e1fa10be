/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A line on standard error that says how far a long job is and is overwritten by the next one. Nothing is
 * written where standard error is no terminal.
 */
#ifndef IOTAPE_PROGRESS_H
#define IOTAPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool on, shown;
    uint64_t next_ns;
};

void progress_init(struct progress *p);

/* True where a line is wanted now: at most five a second, none where there is no terminal. `now_ns` is any
 * monotonic clock's. */
bool progress_due(struct progress *p, uint64_t now_ns);

/* Replaces the line. */
void progress_show(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Takes the line away, before other output. */
void progress_clear(struct progress *p);

#endif
