/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A line of progress on standard error, only where that is a terminal, a few times a second.
 */
#ifndef IOTAPE_STATUS_H
#define IOTAPE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised is valid. */
struct status {
    uint64_t shown_ns;
    bool on_line;
};

/* Shows the text in place of the one before; most calls do nothing. */
void status_show(struct status *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes it. */
void status_clear(struct status *s);

#endif
